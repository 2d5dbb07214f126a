//! Logging in and out.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use sealstone_primitives::hash::sha3_256;
use sealstone_primitives::secret::SecretVec;
use serde::Deserialize;
use serde_json::json;

use super::site::{Secret, Site};
use super::{Actions, Identity};
use crate::audit::Event;
use crate::http::{Body, Peer, answer_json};
use crate::problem::{Kind, Problem};
use crate::store::{Change, Count, Outcome, Set};

/// The period in seconds in which attempts are counted.
const PERIOD: u64 = 600;
/// Attempts for one name in a period.
const FOR_NAME: u64 = 10;
/// Attempts from one network in a period.
const FOR_NETWORK: u64 = 30;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LogIn {
    name: String,
    password: String,
}

pub(super) async fn log_in(
    State(actions): State<Arc<Actions>>,
    Extension(site): Extension<Site>,
    peer: Option<Extension<Peer>>,
    body: Body,
) -> Result<Response, Problem> {
    let LogIn { name, password } = body.json()?;
    let password = SecretVec::from_vec(password.into_bytes());
    // A password may stand in the field of the name: unknown names are not logged.
    let who = match actions.operators.role(&name).await? {
        Some(_) => name.as_str(),
        None => "unknown",
    };
    throttle(&actions, &name, peer.map(|peer| peer.0)).await?;
    let Some(role) = actions.operators.log_in(&name, password.expose()).await? else {
        actions.log.append(who, &Event::LoginRefused).await?;
        return Err(Problem::new(Kind::LoginRefused));
    };
    actions.log.append(&name, &Event::LoggedIn).await?;
    let now = actions.service.clock.now();
    let secret = actions.sessions.open(&name, &site.host, now).await?;
    let answer = answer_json(&json!({"name": name, "role": role}));
    Ok(with_cookie(answer, &site.cookie(&secret)))
}

pub(super) async fn log_out(
    State(actions): State<Arc<Actions>>,
    Extension(who): Extension<Identity>,
    site: Option<Extension<Site>>,
    secret: Option<Extension<Secret>>,
) -> Result<Response, Problem> {
    let (Some(Extension(site)), Some(Extension(Secret(secret)))) = (site, secret) else {
        return Err(Problem::new(Kind::Malformed).detail("the socket has no sessions"));
    };
    actions.log.append(&who.name, &Event::LoggedOut).await?;
    actions.sessions.close(&secret).await?;
    let answer = answer_json(&json!({"ended": true}));
    Ok(with_cookie(answer, &site.no_cookie()))
}

fn with_cookie(mut answer: Response, cookie: &str) -> Response {
    let headers: &mut HeaderMap = answer.headers_mut();
    if let Ok(value) = HeaderValue::from_str(cookie) {
        headers.insert(SET_COOKIE, value);
    }
    answer
}

/// Counts an attempt before the password is looked at: attempts at the same time count too.
async fn throttle(actions: &Actions, name: &str, peer: Option<Peer>) -> Result<(), Problem> {
    let now = actions.service.clock.now();
    let period = now / PERIOD;
    let until = period.saturating_add(1).saturating_mul(PERIOD);
    let set = Set::new(format!("login-{period}"), until);
    let key = |kind: &[u8], value: &[u8]| sha3_256(&[kind, b"\0", value].concat());
    let of_name = Count::new(&set, key(b"name", name.as_bytes()), 1, FOR_NAME);
    let mut change = Change::new(now).count(of_name);
    if let Some(Peer(address)) = peer {
        let network = address.to_canonical().to_string();
        let network = key(b"network", network.as_bytes());
        change = change.count(Count::new(&set, network, 1, FOR_NETWORK));
    }
    match actions.service.store.apply(change).await? {
        Outcome::Done | Outcome::Repeated => Ok(()),
        Outcome::Refused(_) => {
            let wait = until.saturating_sub(now).max(1);
            let text = "too many attempts to log in: the socket of the data directory still works";
            Err(Problem::new(Kind::TooManyAttempts)
                .detail(text)
                .retry_after(wait))
        }
    }
}
