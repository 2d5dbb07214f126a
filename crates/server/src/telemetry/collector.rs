//! Sends messages to the collector, on the thread of the SDK that does nothing else.

use std::fmt;
use std::io::Read;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};

use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};

/// Bytes of an answer that are read; the rest is of no use.
const MOST: u64 = 64 * 1024;

/// The other end. It says once that it does not work, and once that it works again.
pub(super) struct Collector {
    agent: ureq::Agent,
    is_failing: AtomicBool,
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Collector")
    }
}

impl Collector {
    pub(super) fn new(agent: ureq::Agent) -> Self {
        Self {
            agent,
            is_failing: AtomicBool::new(false),
        }
    }

    fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (head, body) = request.into_parts();
        let mut asked = self.agent.post(head.uri.to_string());
        for (name, value) in &head.headers {
            asked = asked.header(name, value);
        }
        let answer = asked.send(&body[..])?;
        let status = answer.status();
        let mut read = Vec::new();
        let limited = answer.into_body().into_reader().take(MOST);
        { limited }.read_to_end(&mut read)?;
        let mut response = Response::new(Bytes::from(read));
        *response.status_mut() = status;
        Ok(response)
    }

    /// Counts, and says what has changed. The text of an answer is not said: others wrote it.
    fn note(&self, failure: Option<&dyn fmt::Display>) {
        let kind = if failure.is_some() { "failed" } else { "done" };
        metrics::counter!("sealstone_trace_exports_total", "kind" => kind).increment(1);
        let was_failing = self.is_failing.swap(failure.is_some(), Ordering::Relaxed);
        match failure {
            Some(why) if !was_failing => {
                tracing::warn!(%why, "the collector takes no spans: they are dropped");
            }
            None if was_failing => tracing::info!("the collector takes spans again"),
            _ => {}
        }
    }
}

type Sending<'a> = Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'a>>;

impl HttpClient for Collector {
    fn send_bytes<'life0, 'async_trait>(
        &'life0 self,
        request: Request<Bytes>,
    ) -> Sending<'async_trait>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        Box::pin(async move {
            let sent = self.send(request);
            match &sent {
                Ok(answer) if answer.status().is_success() => self.note(None),
                Ok(answer) => self.note(Some(&answer.status())),
                Err(error) => self.note(Some(error)),
            }
            sent
        })
    }
}
