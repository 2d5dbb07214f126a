//! Spans of requests, for a collector of OpenTelemetry (`spec/service.md`, "Traces").
//!
//! Names, keys and values of all spans are written in this crate. Of a client's request, only the
//! method can get into a span, and only if it is one of HTTP's.
//!
//! ```
//! use sealstone_server::telemetry::{Span, TelemetryOptions, start};
//!
//! assert!(start(&TelemetryOptions::default(), "issuer")?.is_none(), "off by default");
//! let runtime = tokio::runtime::Runtime::new().expect("a runtime");
//! let span = Span::of("gate", "pow");
//! assert_eq!(runtime.block_on(span.around(async { 7 })), 7);
//! # Ok::<(), sealstone_server::Error>(())
//! ```

mod collector;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use axum::http::{Method, StatusCode, Uri};
use opentelemetry::trace::{
    FutureExt, SpanKind, Status, TraceContextExt, Tracer, TracerProvider as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::{Protocol, RetryPolicy, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracer, SdkTracerProvider,
};
use serde::Deserialize;

use self::collector::Collector;
use crate::{Error, Result, network};

/// Where a collector takes spans, if the URL has no path.
const TRACES_PATH: &str = "/v1/traces";
/// Spans that wait; more are dropped.
const QUEUE: usize = 2048;
/// Spans in one message.
const GROUP: usize = 512;
/// How long a span waits for others.
const DELAY: Duration = Duration::from_secs(2);
/// The collector's time limit for one message.
const PATIENCE: Duration = Duration::from_secs(5);
/// The time limit for the last message when the service ends.
const END: Duration = Duration::from_secs(1);

/// Set once, when the service starts.
static TRACER: OnceLock<SdkTracer> = OnceLock::new();

/// Where spans go.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct TelemetryOptions {
    /// The collector's URL.
    pub otlp: Option<String>,
    /// PEM certificates that the collector's certificate must come from.
    pub ca_file: Option<PathBuf>,
    /// One request has spans among this number of requests.
    pub one_in: u32,
}

impl Default for TelemetryOptions {
    fn default() -> Self {
        Self {
            otlp: None,
            ca_file: None,
            one_in: 1,
        }
    }
}

impl TelemetryOptions {
    /// Where messages go; none if there is no collector.
    ///
    /// # Errors
    /// If the URL is not one of HTTP, has a password, or no request would have spans.
    pub fn url(&self) -> Result<Option<String>> {
        let wrong = |text: &str| Err(Error::Config(format!("telemetry: {text}")));
        if self.one_in == 0 {
            return wrong("one-in is at least 1");
        }
        let Some(text) = &self.otlp else {
            return Ok(None);
        };
        let url: Uri = match text.parse() {
            Ok(url) => url,
            Err(_) => return wrong("otlp is not a URL"),
        };
        let is_http = matches!(url.scheme_str(), Some("http" | "https"));
        let Some(authority) = url.authority().filter(|_| is_http) else {
            return wrong("otlp is a URL such as http://127.0.0.1:4318");
        };
        if authority.as_str().contains('@') {
            return wrong("a password does not belong into the URL of a collector");
        }
        let path = match url.path() {
            "" | "/" => TRACES_PATH,
            path => path,
        };
        let scheme = url.scheme_str().unwrap_or("http");
        Ok(Some(format!("{scheme}://{authority}{path}")))
    }
}

/// Sends spans until it is dropped. Dropping it sends the rest, for a second at most.
#[derive(Debug)]
pub struct Telemetry(SdkTracerProvider);

impl Drop for Telemetry {
    fn drop(&mut self) {
        // A collector that does not take the last spans does not keep the service from its end.
        drop(self.0.shutdown_with_timeout(END));
    }
}

/// Starts to send spans of a service with this role, if there is a collector.
///
/// # Errors
/// If the options do not fit, or spans are sent already.
pub fn start(options: &TelemetryOptions, role: &'static str) -> Result<Option<Telemetry>> {
    let Some(url) = options.url()? else {
        return Ok(None);
    };
    let provider = provider(options.ca_file.as_deref(), &url, role, options.one_in)?;
    let set = TRACER.set(provider.tracer("sealstone-server"));
    set.map_err(|_| Error::Config("telemetry: it runs already".to_owned()))?;
    Ok(Some(Telemetry(provider)))
}

fn provider(
    ca_file: Option<&Path>,
    url: &str,
    role: &'static str,
    one_in: u32,
) -> Result<SdkTracerProvider> {
    let collector = Collector::new(network::agent(ca_file, PATIENCE)?);
    let exporter = SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(url)
        .with_timeout(PATIENCE)
        // A message that fails is dropped: newer spans wait.
        .with_retry_policy(RetryPolicy::disabled())
        .with_http_client(collector)
        .build()
        .map_err(|error| Error::Config(format!("telemetry: {error}")))?;
    let config = BatchConfigBuilder::default()
        .with_max_queue_size(QUEUE)
        .with_max_export_batch_size(GROUP)
        .with_scheduled_delay(DELAY)
        .build();
    let groups = BatchSpanProcessor::builder(exporter).with_batch_config(config);
    // Nothing of the environment: a resource's attributes are these two.
    let resource = Resource::builder_empty()
        .with_service_name(format!("sealstone-{role}"))
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .build();
    let sampler = Sampler::TraceIdRatioBased(1.0 / f64::from(one_in));
    Ok(SdkTracerProvider::builder()
        .with_span_processor(groups.build())
        .with_sampler(Sampler::ParentBased(Box::new(sampler)))
        .with_resource(resource)
        .build())
}

/// A piece of work. It ends when this value is dropped.
#[derive(Debug)]
pub struct Span(Option<Context>);

impl Span {
    /// A request, named by its route: the template of the path, without the values in the path. Its
    /// span has no parent: the client's `traceparent` does not count.
    #[must_use]
    pub fn of_request(method: &Method, route: &str) -> Self {
        let Some(tracer) = TRACER.get() else {
            return Self(None);
        };
        let method = known(method);
        let span = tracer
            .span_builder(format!("{method} {route}"))
            .with_kind(SpanKind::Server)
            .with_attributes([
                KeyValue::new("http.request.method", method),
                KeyValue::new("http.route", route.to_owned()),
            ])
            .start_with_context(tracer, &Context::new());
        Self(Some(Context::new().with_span(span)))
    }

    /// A part of the work around it, such as `store`, of a kind, such as `apply`.
    #[must_use]
    pub fn of(part: &'static str, kind: &'static str) -> Self {
        let Some(tracer) = TRACER.get() else {
            return Self(None);
        };
        let around = Context::current();
        let span = tracer
            .span_builder(format!("{part} {kind}"))
            .start_with_context(tracer, &around);
        Self(Some(around.with_span(span)))
    }

    /// The work around this place, for taking it to another thread.
    #[must_use]
    pub fn current() -> Self {
        Self(TRACER.get().map(|_| Context::current()))
    }

    /// Does `work`; spans that begin in it are parts of this one.
    pub async fn around<T>(&self, work: impl Future<Output = T>) -> T {
        match &self.0 {
            Some(context) => work.with_context(context.clone()).await,
            None => work.await,
        }
    }

    /// The same for work that does not wait.
    pub fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        let _attached = self.0.clone().map(Context::attach);
        work()
    }

    /// The outcome of the request.
    pub fn answered(&self, status: StatusCode) {
        if let Some(context) = &self.0 {
            let span = context.span();
            let value = i64::from(status.as_u16());
            span.set_attribute(KeyValue::new("http.response.status_code", value));
            if status.is_server_error() {
                span.set_status(Status::error(""));
            }
        }
    }

    /// The outcome of the work.
    pub fn became(&self, outcome: &'static str) {
        if let Some(context) = &self.0 {
            let outcome = KeyValue::new("sealstone.outcome", outcome);
            context.span().set_attribute(outcome);
        }
    }

    /// The work did not come to its end.
    pub fn failed(&self, outcome: &'static str) {
        self.became(outcome);
        if let Some(context) = &self.0 {
            context.span().set_status(Status::error(""));
        }
    }
}

/// The name of a method. Others than those of HTTP have one name.
fn known(method: &Method) -> &'static str {
    let all = [
        (Method::GET, "GET"),
        (Method::POST, "POST"),
        (Method::PUT, "PUT"),
        (Method::DELETE, "DELETE"),
        (Method::PATCH, "PATCH"),
        (Method::OPTIONS, "OPTIONS"),
        (Method::HEAD, "HEAD"),
        (Method::CONNECT, "CONNECT"),
        (Method::TRACE, "TRACE"),
    ];
    let found = all.iter().find(|(known, _)| known == method);
    found.map_or("_OTHER", |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Result<Option<String>> {
        let options = TelemetryOptions {
            otlp: Some(text.to_owned()),
            ..TelemetryOptions::default()
        };
        options.url()
    }

    #[test]
    fn urls_get_the_path_of_traces() {
        for (text, expected) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            ("https://a.example/", "https://a.example/v1/traces"),
            ("https://a.example/otlp/x", "https://a.example/otlp/x"),
        ] {
            assert_eq!(url(text).expect("a URL").as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_text_that_is_no_url_of_a_collector_is_refused() {
        for text in ["", "a", "ftp://a", "http://", "/v1/traces", "http://u:p@a"] {
            let error = url(text).expect_err(text).to_string();
            assert!(error.contains("telemetry"), "{text}: {error}");
        }
        let none = TelemetryOptions {
            one_in: 0,
            ..TelemetryOptions::default()
        };
        assert!(none.url().is_err());
    }

    #[test]
    fn methods_of_clients_have_one_name() {
        let own = Method::from_bytes(b"SECRET").expect("a method");
        assert_eq!((known(&own), known(&Method::PUT)), ("_OTHER", "PUT"));
    }
}
