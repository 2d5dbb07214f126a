//! What an operator does while the issuer runs: a socket in the data directory, which only its
//! owner can enter, and the commands that use it.
//!
//! ```no_run
//! use std::path::Path;
//! use sealstone_server::admin;
//!
//! let data = Path::new("/var/lib/sealstone-issuer");
//! let status = admin::ask(data, "GET", "/status", &serde_json::json!({}))?;
//! println!("{}", status["keys"]);
//! # Ok::<(), sealstone_server::Error>(())
//! ```

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use sealstone_token::privacypass::directory::Directory;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::UnixListener;
use tower::ServiceExt;

use crate::gate::invitation::{Id, Invitations};
use crate::http::{Body, RouteLimits, Stop, answer_json, guarded, with_fallbacks};
use crate::issuer::Issuer;
use crate::problem::{Kind, Problem};
use crate::store::Outcome;
use crate::{Error, Result};

const SOCKET: &str = "admin.sock";
const DAY: u64 = 24 * 60 * 60;
const PATIENCE: Duration = Duration::from_secs(60);

/// The socket file, which is removed with this value.
pub struct Socket(PathBuf);

impl Drop for Socket {
    fn drop(&mut self) {
        // The next start removes it too.
        drop(std::fs::remove_file(&self.0));
    }
}

/// Serves operators until `stop`. The store's lock keeps other processes out of the directory.
///
/// # Errors
/// If the system refuses.
pub fn listen(data: &Path, issuer: Arc<Issuer>, stop: &Stop) -> Result<Socket> {
    let path = data.join(SOCKET);
    match std::fs::remove_file(&path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(Error::io(&path, e)),
        _ => {}
    }
    let listener = UnixListener::bind(&path).map_err(|e| Error::io(&path, e))?;
    let (router, stop) = (router(issuer), stop.clone());
    tokio::spawn(async move {
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = stop.wait() => break,
            };
            if let Ok((stream, _)) = accepted {
                let service = router
                    .clone()
                    .map_request(|request: axum::http::Request<_>| {
                        request.map(axum::body::Body::new)
                    });
                let service = TowerToHyperService::new(service);
                let io = TokioIo::new(stream);
                tokio::spawn(http1::Builder::new().serve_connection(io, service));
            }
        }
    });
    Ok(Socket(path))
}

fn router(issuer: Arc<Issuer>) -> Router {
    let limits = RouteLimits {
        seconds: PATIENCE.as_secs(),
        ..RouteLimits::default()
    };
    let guard = |name, route| guarded(name, &limits, route);
    let router = Router::new()
        .route("/status", guard("admin-status", get(status)))
        .route(
            "/revoke-keys",
            guard("admin-revoke-keys", post(revoke_keys)),
        )
        .route("/invite", guard("admin-invite", post(invite)))
        .route("/uninvite", guard("admin-uninvite", post(uninvite)));
    with_fallbacks(router.with_state(issuer))
}

async fn status(State(issuer): State<Arc<Issuer>>) -> std::result::Result<Response, Problem> {
    let directory = Directory::from_json(&issuer.keyring.published().json);
    let directory = directory.map_err(|_| Problem::new(Kind::Internal))?;
    let key = |entry: &sealstone_token::privacypass::directory::DirectoryKey| {
        let id: String = entry
            .key
            .id()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let lifetime = entry.lifetime;
        json!({
            "type": entry.key.token_type().number(), "key-id": id,
            "epoch": lifetime.map(|l| l.epoch), "not-before": lifetime.map(|l| l.not_before),
            "issue-until": lifetime.map(|l| l.issue_until),
            "redeem-until": lifetime.map(|l| l.redeem_until),
        })
    };
    let keys: Vec<Value> = directory.keys.iter().map(key).collect();
    let sets = issuer.store.sets().await?;
    let sets: Vec<Value> = sets
        .iter()
        .map(|(set, marks)| json!({"name": set.name(), "until": set.until(), "marks": marks}))
        .collect();
    Ok(answer_json(&json!({"keys": keys, "sets": sets})))
}

async fn revoke_keys(State(issuer): State<Arc<Issuer>>) -> std::result::Result<Response, Problem> {
    let revoked = issuer.keyring.revoke(issuer.clock.now()).await;
    revoked.map_err(|error| Problem::new(Kind::Internal).detail(error.to_string()))?;
    Ok(answer_json(&json!({"revoked": true})))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Invite {
    gate: String,
    quota: u64,
    days: u64,
}

fn gate<'i>(issuer: &'i Issuer, name: &str) -> std::result::Result<&'i Invitations, Problem> {
    let mut gates = issuer.gates.invitations().iter();
    let found = gates.find(|gate| gate.name() == name);
    found.ok_or_else(|| {
        let text = format!("the gate {name} takes no invitations, or is not in use");
        Problem::new(Kind::NotFound).detail(text)
    })
}

async fn invite(
    State(issuer): State<Arc<Issuer>>,
    body: Body,
) -> std::result::Result<Response, Problem> {
    let asked: Invite = body.json()?;
    let until = issuer
        .clock
        .now()
        .saturating_add(asked.days.saturating_mul(DAY));
    let invitation = gate(&issuer, &asked.gate)?.invite(asked.quota, until);
    let id: String = invitation.ids()[0]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Ok(answer_json(
        &json!({"invitation": invitation.to_string(), "id": id, "until": until}),
    ))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Uninvite {
    gate: String,
    id: String,
}

async fn uninvite(
    State(issuer): State<Arc<Issuer>>,
    body: Body,
) -> std::result::Result<Response, Problem> {
    let asked: Uninvite = body.json()?;
    let malformed = || Problem::new(Kind::Malformed).detail("an id has 32 hexadecimal digits");
    let id = parse_id(&asked.id).ok_or_else(malformed)?;
    let change = gate(&issuer, &asked.gate)?.revoke(&id, issuer.clock.now());
    let is_new = issuer.store.apply(change).await? == Outcome::Done;
    Ok(answer_json(&json!({"revoked": true, "new": is_new})))
}

fn parse_id(text: &str) -> Option<Id> {
    let number = (text.len() == 32).then(|| u128::from_str_radix(text, 16).ok())??;
    Some(number.to_be_bytes())
}

/// Asks the issuer whose data directory this is.
///
/// # Errors
/// If it does not run, or refuses.
pub fn ask(data: &Path, method: &str, path: &str, body: &Value) -> Result<Value> {
    let socket = data.join(SOCKET);
    let failed = |e| Error::io(&socket, e);
    let mut stream = UnixStream::connect(&socket).map_err(failed)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
    let body = body.to_string();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: admin\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).map_err(failed)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(failed)?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    match head.split(' ').nth(1) {
        Some("200") => Ok(value),
        _ => Err(Error::Config(format!("the service refused: {value}"))),
    }
}
