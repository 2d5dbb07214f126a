//! The listener's guard: a request passes if it comes from a page of this host, with a session
//! whose operator has the role that the route asks for. A route outside the table is refused.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, ORIGIN, REFERRER_POLICY,
    STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};

use super::routes::{self, Access, ROUTES};
use super::site::{Secret, Site};
use super::{Actions, Identity};
use crate::http::media_type;
use crate::problem::{Kind, Problem};
use crate::{Error, Result};

/// A page of another host can send this header only after the browser has asked this service.
const OWN_HEADER: &str = "sealstone-admin";
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/// The origins at which browsers reach the listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origins(Vec<String>);

impl Origins {
    /// The configured origins, and those of a loopback address.
    ///
    /// # Errors
    /// If an entry is not an origin, or others can reach the address and no origin is configured.
    pub fn new(address: SocketAddr, configured: &[String]) -> Result<Self> {
        let mut origins: Vec<String> = Vec::new();
        for text in configured {
            let rest = text
                .strip_prefix("https://")
                .or(text.strip_prefix("http://"));
            let is_origin = rest.is_some_and(|rest| !rest.is_empty() && !rest.contains('/'));
            if !is_origin {
                return Err(Error::Config(format!(
                    "admin: an origin has the form https://admin.example.org, unlike {text:?}"
                )));
            }
            origins.push(text.to_ascii_lowercase());
        }
        if address.ip().is_loopback() {
            origins.push(format!("http://{address}"));
            origins.push(format!("http://localhost:{}", address.port()));
        } else if origins.is_empty() {
            return Err(Error::Config(format!(
                "admin: others can reach {address}: use a proxy with TLS and a loopback address, \
                 or say with origins at which addresses browsers reach it"
            )));
        }
        Ok(Self(origins))
    }

    /// The site that a request asks for. Other names for the same address are refused: an
    /// attacker's page may have made its own name point here (DNS rebinding).
    fn site(&self, headers: &HeaderMap) -> Option<Site> {
        let host = headers.get(HOST)?.to_str().ok()?.to_ascii_lowercase();
        let is_it = |origin: &&String| origin.split_once("://").is_some_and(|o| o.1 == host);
        let origin = self.0.iter().find(is_it)?;
        Some(Site {
            is_secure: origin.starts_with("https://"),
            origin: origin.clone(),
            host,
        })
    }
}

/// The checks before the routes.
#[derive(Clone)]
pub struct Guard {
    actions: Arc<Actions>,
    origins: Origins,
}

impl Guard {
    /// A guard for browsers at these origins.
    #[must_use]
    pub fn new(actions: Arc<Actions>, origins: Origins) -> Self {
        Self { actions, origins }
    }

    /// The routes behind this guard.
    pub fn router(self) -> Router {
        let routes = routes::router(self.actions.clone());
        self.before(routes)
    }

    /// Adds the checks before these routes.
    pub(super) fn before(self, routes: Router) -> Router {
        routes.layer(middleware::from_fn_with_state(self, pass))
    }

    /// The facts about the request that the route needs, or why the request is refused.
    async fn check(&self, request: &Parts) -> std::result::Result<Passed, Problem> {
        let headers = &request.headers;
        let foreign = || Problem::new(Kind::ForeignPage);
        let site = self.origins.site(headers).ok_or_else(foreign)?;
        let access = access(&request.method, request.uri.path())?;
        if request.method == Method::POST {
            check_sender(headers, &site)?;
        }
        let Access::AtLeast(least) = access else {
            return Ok(Passed { site, login: None });
        };
        let refused = || Problem::new(Kind::LoginRequired);
        let secret = site.secret(headers).ok_or_else(refused)?;
        let now = self.actions.service.clock.now();
        let name = self
            .actions
            .sessions
            .find(&secret.0, &site.host, now)
            .await?;
        let name = name.ok_or_else(refused)?;
        // The role of this moment, not that of the login.
        let role = self
            .actions
            .operators
            .role(&name)
            .await?
            .ok_or_else(refused)?;
        if role < least {
            return Err(Problem::new(Kind::RoleTooLow));
        }
        let login = Some((Identity { name, role }, secret));
        Ok(Passed { site, login })
    }
}

struct Passed {
    site: Site,
    login: Option<(Identity, Secret)>,
}

/// The least role that a route needs.
fn access(method: &Method, path: &str) -> std::result::Result<Access, Problem> {
    let mut of_path = ROUTES.iter().filter(|route| route.path == path).peekable();
    if of_path.peek().is_none() {
        return Err(Problem::new(Kind::NotFound));
    }
    let method = if *method == Method::HEAD {
        &Method::GET
    } else {
        method
    };
    let found = of_path.find(|route| route.method == *method);
    found
        .map(|route| route.access)
        .ok_or_else(|| Problem::new(Kind::MethodNotAllowed))
}

/// Requests that change something come from our own page, or from no page at all.
fn check_sender(headers: &HeaderMap, site: &Site) -> std::result::Result<(), Problem> {
    let is_own = headers.contains_key(OWN_HEADER)
        && headers
            .get(ORIGIN)
            .is_some_and(|origin| origin.as_bytes() == site.origin.as_bytes());
    if !is_own {
        return Err(Problem::new(Kind::ForeignPage));
    }
    match media_type(headers).as_str() {
        "application/json" => Ok(()),
        _ => Err(Problem::new(Kind::UnsupportedMediaType)),
    }
}

async fn pass(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let (mut head, body) = request.into_parts();
    let checked = guard.check(&head).await;
    let is_secure = checked.as_ref().is_ok_and(|passed| passed.site.is_secure);
    let mut response = match checked {
        Err(problem) => problem.into_response(),
        Ok(passed) => {
            head.extensions.insert(passed.site);
            if let Some((identity, secret)) = passed.login {
                head.extensions.insert(identity);
                head.extensions.insert(secret);
            }
            next.run(Request::from_parts(head, body)).await
        }
    };
    protect(response.headers_mut(), is_secure);
    response
}

/// Headers that limit what browsers do with the answer.
fn protect(headers: &mut HeaderMap, is_secure: bool) {
    let same_origin = HeaderValue::from_static("same-origin");
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            same_origin.clone(),
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            same_origin,
        ),
    ] {
        headers.insert(name, value);
    }
    if is_secure {
        let value = HeaderValue::from_static("max-age=31536000");
        headers.insert(STRICT_TRANSPORT_SECURITY, value);
    }
    headers
        .entry(CONTENT_TYPE)
        .or_insert(HeaderValue::from_static("text/plain; charset=utf-8"));
}
