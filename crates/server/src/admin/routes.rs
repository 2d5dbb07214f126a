//! The table of all routes, with the least role that may use each.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::http::Method;
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};
use axum::{Extension, Router};
use sealstone_primitives::secret::SecretVec;
use serde::Deserialize;
use serde_json::json;

use super::actions::{Invite, Uninvite};
use super::{Actions, Identity, login, page};
use crate::audit::{Event, Head};
use crate::http::{Body, RouteLimits, answer_json, guarded, with_fallbacks};
use crate::operators::Role;
use crate::problem::{Kind, Problem};

/// Entries of the audit log in one answer.
const PAGE: u64 = 50;
const LIMITS: RouteLimits = RouteLimits {
    body: 16 * 1024,
    seconds: 60,
    concurrency: 16,
    only: BTreeMap::new(),
};

type Answer = Result<Response, Problem>;
type Handler = fn() -> MethodRouter<Arc<Actions>>;

/// The least role that a route needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Everybody who reaches the listener: the page itself, and logging in.
    Everybody,
    /// Operators with at least this role.
    AtLeast(Role),
}

/// One route.
pub(super) struct Route {
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) access: Access,
    name: &'static str,
    handler: Handler,
}

const fn route(
    method: Method,
    path: &'static str,
    access: Access,
    name: &'static str,
    handler: Handler,
) -> Route {
    Route {
        method,
        path,
        access,
        name,
        handler,
    }
}

const EVERYBODY: Access = Access::Everybody;
const VIEWER: Access = Access::AtLeast(Role::Viewer);
const OPERATOR: Access = Access::AtLeast(Role::Operator);
const ADMIN: Access = Access::AtLeast(Role::Admin);

/// All routes. `spec/service.md` has the same table.
pub(super) const ROUTES: &[Route] = &[
    route(Method::GET, "/", EVERYBODY, "admin-page", || {
        get(page::html)
    }),
    route(Method::GET, "/page.js", EVERYBODY, "admin-page", || {
        get(page::script)
    }),
    route(Method::GET, "/page.css", EVERYBODY, "admin-page", || {
        get(page::style)
    }),
    route(Method::POST, "/api/login", EVERYBODY, "admin-login", || {
        post(login::log_in)
    }),
    route(Method::POST, "/api/logout", VIEWER, "admin-logout", || {
        post(login::log_out)
    }),
    route(Method::GET, "/api/session", VIEWER, "admin-session", || {
        get(session)
    }),
    route(Method::GET, "/api/status", VIEWER, "admin-status", || {
        get(status)
    }),
    route(
        Method::GET,
        "/api/invitations",
        VIEWER,
        "admin-invitations",
        || get(invitations),
    ),
    route(Method::GET, "/api/audit", VIEWER, "admin-audit", || {
        get(audit)
    }),
    route(
        Method::GET,
        "/api/audit/verify",
        VIEWER,
        "admin-audit-verify",
        || get(audit_verify),
    ),
    route(
        Method::POST,
        "/api/invite",
        OPERATOR,
        "admin-invite",
        || post(invite),
    ),
    route(
        Method::POST,
        "/api/uninvite",
        OPERATOR,
        "admin-uninvite",
        || post(uninvite),
    ),
    route(
        Method::POST,
        "/api/rotate-keys",
        OPERATOR,
        "admin-rotate-keys",
        || post(rotate),
    ),
    route(
        Method::POST,
        "/api/revoke-keys",
        ADMIN,
        "admin-revoke-keys",
        || post(revoke),
    ),
    route(
        Method::GET,
        "/api/operators",
        ADMIN,
        "admin-operators",
        || get(operators),
    ),
    route(
        Method::POST,
        "/api/operators/set",
        ADMIN,
        "admin-operator-set",
        || post(set_operator),
    ),
    route(
        Method::POST,
        "/api/operators/remove",
        ADMIN,
        "admin-operator-remove",
        || post(remove_operator),
    ),
    route(
        Method::POST,
        "/api/operators/end-sessions",
        ADMIN,
        "admin-end-sessions",
        || post(end_sessions),
    ),
];

/// The routes, without a guard: the caller adds one that identifies the operator.
pub(super) fn router(actions: Arc<Actions>) -> Router {
    let add = |router: Router<Arc<Actions>>, route: &Route| {
        router.route(route.path, guarded(route.name, &LIMITS, (route.handler)()))
    };
    with_fallbacks(ROUTES.iter().fold(Router::new(), add).with_state(actions))
}

async fn session(Extension(who): Extension<Identity>) -> Response {
    answer_json(&json!({"name": who.name, "role": who.role}))
}

async fn status(State(actions): State<Arc<Actions>>) -> Answer {
    Ok(answer_json(&actions.status().await?))
}

async fn invitations(State(actions): State<Arc<Actions>>) -> Answer {
    Ok(answer_json(&actions.invitations().await?))
}

/// The value of a parameter.
fn parameter<'q>(query: &'q RawQuery, name: &str) -> Option<&'q str> {
    let mut pairs = query
        .0
        .as_deref()?
        .split('&')
        .filter_map(|pair| pair.split_once('='));
    pairs
        .find(|(other, _)| *other == name)
        .map(|(_, value)| value)
}

async fn audit(State(actions): State<Arc<Actions>>, query: RawQuery) -> Answer {
    let malformed = |_| Problem::new(Kind::Malformed).detail("before is a number");
    let before = parameter(&query, "before").map(str::parse).transpose();
    let entries = actions.log.page(before.map_err(malformed)?, PAGE).await?;
    Ok(answer_json(&json!({"entries": entries})))
}

async fn audit_verify(State(actions): State<Arc<Actions>>, query: RawQuery) -> Answer {
    let expected: Option<Head> = parameter(&query, "expect").map(str::parse).transpose()?;
    Ok(answer_json(
        &match actions.log.verify(expected.as_ref()).await {
            Ok(end) => json!({"whole": true, "end": end.to_string()}),
            Err(crate::Error::Damaged(what)) => json!({"whole": false, "altered": what}),
            Err(error) => return Err(error.into()),
        },
    ))
}

async fn invite(
    State(actions): State<Arc<Actions>>,
    Extension(who): Extension<Identity>,
    body: Body,
) -> Answer {
    let asked: Invite = body.json()?;
    Ok(answer_json(&actions.invite(&who, asked).await?))
}

async fn uninvite(
    State(actions): State<Arc<Actions>>,
    Extension(who): Extension<Identity>,
    body: Body,
) -> Answer {
    let asked: Uninvite = body.json()?;
    Ok(answer_json(&actions.uninvite(&who, asked).await?))
}

async fn rotate(
    State(actions): State<Arc<Actions>>,
    Extension(who): Extension<Identity>,
) -> Answer {
    actions.rotate(&who).await?;
    Ok(answer_json(&json!({"rotated": true})))
}

async fn revoke(
    State(actions): State<Arc<Actions>>,
    Extension(who): Extension<Identity>,
) -> Answer {
    actions.revoke(&who).await?;
    Ok(answer_json(&json!({"revoked": true})))
}

async fn operators(State(actions): State<Arc<Actions>>) -> Answer {
    Ok(answer_json(
        &json!({"operators": actions.operators.list().await?}),
    ))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SetOperator {
    name: String,
    role: Role,
    password: Option<String>,
}

/// A change of an operator ends its sessions.
async fn set_operator(
    State(actions): State<Arc<Actions>>,
    Extension(who): Extension<Identity>,
    body: Body,
) -> Answer {
    let asked: SetOperator = body.json()?;
    let password = asked
        .password
        .map(|text| SecretVec::from_vec(text.into_bytes()));
    let event = Event::OperatorSet {
        name: crate::operators::checked_name(&asked.name)?.to_owned(),
        role: asked.role,
    };
    actions.log.append(&who.name, &event).await?;
    let password = password.as_ref().map(|password| password.expose());
    let set = actions.operators.set(&asked.name, asked.role, password);
    set.await?;
    actions.sessions.close_all(&asked.name).await?;
    Ok(answer_json(
        &json!({"name": asked.name, "role": asked.role}),
    ))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    name: String,
}

async fn remove_operator(
    State(actions): State<Arc<Actions>>,
    Extension(who): Extension<Identity>,
    body: Body,
) -> Answer {
    let Named { name } = body.json()?;
    known(&actions, &name).await?;
    let event = Event::OperatorRemoved { name: name.clone() };
    actions.log.append(&who.name, &event).await?;
    actions.operators.remove(&name).await?;
    actions.sessions.close_all(&name).await?;
    Ok(answer_json(&json!({"removed": true})))
}

async fn end_sessions(
    State(actions): State<Arc<Actions>>,
    Extension(who): Extension<Identity>,
    body: Body,
) -> Answer {
    let Named { name } = body.json()?;
    known(&actions, &name).await?;
    let event = Event::SessionsEnded { name: name.clone() };
    actions.log.append(&who.name, &event).await?;
    actions.sessions.close_all(&name).await?;
    Ok(answer_json(&json!({"ended": true})))
}

/// An operator may type anything: only known names are logged.
async fn known(actions: &Actions, name: &str) -> Result<(), Problem> {
    match actions.operators.role(name).await? {
        Some(_) => Ok(()),
        None => Err(Problem::new(Kind::NotFound).detail("there is no such operator")),
    }
}
