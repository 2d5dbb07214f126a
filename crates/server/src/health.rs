//! Whether a service is alive, and whether it is ready.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use serde_json::json;

use crate::Result;
use crate::bodies::{Always, Ready};
use crate::http::{RouteLimits, Stop, answer_json, guarded};
use crate::problem::{Kind, Problem};
use crate::store::{Replace, Store};

/// A record that is written to see whether the store can write.
const PROBE: &str = "service/probe";
/// As large as many tokens: an embedded store whose disk is almost full has no room for it.
pub(crate) const PROBE_LEN: usize = 64 * 1024;
/// For a server, which looks after its disk and is asked by many processes.
pub(crate) const SHARED_PROBE_LEN: usize = 64;
/// A store that needs longer is not ready.
const STORE_TIME: Duration = Duration::from_secs(3);

/// The state that the answers depend on.
pub(crate) struct Health {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) probe_len: usize,
    pub(crate) stop: Stop,
    pub(crate) is_ready: Box<dyn Fn() -> bool + Send + Sync>,
}

pub(crate) fn router(health: Arc<Health>) -> Router {
    let limits = RouteLimits::default();
    Router::new()
        .route("/healthz", guarded("healthz", &limits, get(alive)))
        .route("/readyz", guarded("readyz", &limits, get(readiness)))
        .with_state(health)
}

/// Whether the process serves
#[utoipa::path(get, path = "/healthz", responses(
    (status = 200, description = "It does", content_type = "text/plain", body = String),
    Always,
))]
pub(crate) async fn alive() -> &'static str {
    ""
}

/// Whether the service can do its work
///
/// Ready means that a write becomes durable now, and that there are keys for this moment.
#[utoipa::path(get, path = "/readyz", responses(
    (status = 200, description = "It is ready", body = Ready),
    Always,
))]
pub(crate) async fn readiness(
    State(health): State<Arc<Health>>,
) -> std::result::Result<Response, Problem> {
    if health.stop.is_ending() {
        return Err(Problem::new(Kind::NotReady).detail("it is ending"));
    }
    if !(health.is_ready)() {
        return Err(Problem::new(Kind::NotReady).detail("it has no key for this moment"));
    }
    match tokio::time::timeout(STORE_TIME, write_probe(&*health.store, health.probe_len)).await {
        Ok(Ok(())) => Ok(answer_json(&json!(Ready { ready: true }))),
        _ => Err(Problem::new(Kind::StoreUnavailable)),
    }
}

/// Writes a record.
async fn write_probe(store: &dyn Store, len: usize) -> Result<()> {
    let expected = store.get(PROBE).await?;
    let turn = expected.as_ref().and_then(|bytes| bytes.first().copied());
    let probe = Replace {
        name: PROBE.to_owned(),
        expected,
        value: Some(vec![turn.unwrap_or(0).wrapping_add(1); len]),
    };
    // If another probe was faster, this one saw a durable write too.
    store.update(vec![probe]).await?;
    Ok(())
}
