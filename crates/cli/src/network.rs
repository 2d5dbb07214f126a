//! HTTP: the only place of the command that uses the network, and only with `--tsa`.

use std::sync::Arc;
use std::time::Duration;

use sealstone::timestamp::MAX_LEN;
use ureq::http::{Response, StatusCode, header};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body};

const QUERY: &str = "application/timestamp-query";
const REPLY: &str = "application/timestamp-reply";

/// The wait before the second attempt; it doubles with every further one.
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// How long one attempt may take, and how often to retry.
#[derive(Clone, Copy)]
pub(crate) struct RetryPolicy {
    /// The longest time of one attempt.
    pub(crate) timeout: Duration,
    /// How often to retry if the server cannot be reached or is overloaded.
    pub(crate) retries: u32,
}

/// Asks HTTP servers.
pub(crate) struct Client {
    agent: Agent,
    retries: u32,
}

/// Why a server gave no answer.
struct Failed {
    why: String,
    /// Whether a retry may help.
    is_transient: bool,
}

impl Failed {
    fn transient(why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            is_transient: true,
        }
    }

    fn permanent(why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            is_transient: false,
        }
    }
}

impl Client {
    /// A client that uses the proxy of the environment and the system's roots.
    pub(crate) fn new(policy: RetryPolicy) -> Self {
        let config = Agent::config_builder()
            .timeout_global(Some(policy.timeout))
            .http_status_as_error(false)
            // A redirected request would go to a server that the user did not name.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent("sealstone")
            .tls_config(tls())
            .build();
        Self {
            agent: config.new_agent(),
            retries: policy.retries,
        }
    }

    /// Sends a request for a timestamp to `url`, and retries if that may help. Returns the bytes of
    /// the response, or an error message.
    pub(crate) fn stamp(&self, url: &str, query: &[u8]) -> Result<Vec<u8>, String> {
        let mut wait = FIRST_WAIT;
        for _ in 0..self.retries {
            match self.post(url, query) {
                Err(failed) if failed.is_transient => {}
                done => return done.map_err(|failed| failed.why),
            }
            std::thread::sleep(wait);
            wait *= 2;
        }
        self.post(url, query).map_err(|failed| failed.why)
    }

    fn post(&self, url: &str, query: &[u8]) -> Result<Vec<u8>, Failed> {
        let request = self.agent.post(url);
        let request = request.header(header::CONTENT_TYPE, QUERY);
        let sent = request.header(header::ACCEPT, REPLY).send(query);
        let mut response = sent.map_err(explain)?;
        check_status(&response)?;
        let kind = response.body().mime_type().unwrap_or("none").to_owned();
        if !kind.eq_ignore_ascii_case(REPLY) {
            return Err(Failed::permanent(format!(
                "the answer is not a timestamp: its type is {kind}"
            )));
        }
        let body = response.body_mut().with_config().limit(MAX_LEN as u64);
        body.read_to_vec().map_err(explain)
    }
}

fn check_status(response: &Response<Body>) -> Result<(), Failed> {
    let status = response.status();
    if status.is_success() {
        return Ok(());
    }
    let why = format!("the server answers {status}");
    if status.is_redirection() {
        let target = response.headers().get(header::LOCATION);
        let target = target.and_then(|target| target.to_str().ok());
        let target = target.unwrap_or("an unknown address");
        return Err(Failed::permanent(format!(
            "{why}, a redirect to {target}: give that address if you trust it"
        )));
    }
    match status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
        true => Err(Failed::transient(why)),
        false => Err(Failed::permanent(why)),
    }
}

fn explain(error: ureq::Error) -> Failed {
    match error {
        ureq::Error::BodyExceedsLimit(limit) => {
            Failed::permanent(format!("the answer is longer than {limit} bytes"))
        }
        ureq::Error::Timeout(_) => Failed::transient("no answer in time"),
        ureq::Error::HostNotFound => Failed::transient("there is no host of this name"),
        // An error of TLS, for example of a certificate.
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            Failed::permanent(error.to_string())
        }
        ureq::Error::Io(error) => Failed::transient(sealstone_files::plain(&error)),
        ureq::Error::ConnectionFailed => Failed::transient("it cannot be reached"),
        error => Failed::permanent(error.to_string()),
    }
}

/// TLS by aws-lc, with the roots that the system trusts (or those of `SSL_CERT_FILE`).
fn tls() -> TlsConfig {
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let native = rustls_native_certs::load_native_certs();
    let roots = native.certs.iter();
    let roots = roots.map(|der| Certificate::from_der(der).to_owned());
    TlsConfig::builder()
        .unversioned_rustls_crypto_provider(Arc::new(provider))
        .root_certs(RootCerts::Specific(Arc::new(roots.collect())))
        .build()
}
