//! Common parts of all routes: limits, the body, the client's address, errors.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{FromRequest, MatchedPath, Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;
use serde::Deserialize;
use tokio::sync::Semaphore;
use tower_http::catch_panic::CatchPanicLayer;

use crate::gate::Network;
use crate::problem::{Kind, Problem};
use crate::telemetry::Span;

/// The names of the routes for clients, which are those of the label `route`.
pub const ROUTES: [&str; 14] = [
    "directory",
    "signed-directory",
    "passport",
    "gate",
    "token-request",
    "issue",
    "issue-batch",
    "invitations",
    "vouches",
    "forward-auth",
    "verify",
    "verify-json",
    "verify-batch",
    "check",
];

/// Limits of each route.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct RouteLimits {
    /// Bytes of a body.
    pub body: usize,
    /// Seconds from the head of a request to its answer.
    pub seconds: u64,
    /// The most requests at the same time. Others wait for a second and are then refused.
    pub concurrency: usize,
    /// Other limits, for the route of this name.
    pub only: BTreeMap<String, OwnLimits>,
}

/// Limits of one route, where they differ from those of all.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct OwnLimits {
    /// Bytes of a body.
    pub body: Option<usize>,
    /// Seconds from the head of a request to its answer.
    pub seconds: Option<u64>,
    /// Requests at the same time.
    pub concurrency: Option<usize>,
}

impl RouteLimits {
    /// The name of a route that does not exist, if there is one.
    #[must_use]
    pub fn unknown(&self) -> Option<&str> {
        let mut names = self.only.keys().map(String::as_str);
        names.find(|name| !ROUTES.contains(name))
    }

    fn guard(&self, name: &'static str) -> Guard {
        let own = self.only.get(name).cloned().unwrap_or_default();
        let seconds = own.seconds.unwrap_or(self.seconds);
        let turns = own.concurrency.unwrap_or(self.concurrency);
        Guard {
            name,
            body: own.body.unwrap_or(self.body),
            time: Duration::from_secs(seconds.max(1)),
            turns: Arc::new(Semaphore::new(turns.clamp(1, Semaphore::MAX_PERMITS))),
        }
    }
}

impl Default for RouteLimits {
    fn default() -> Self {
        Self {
            body: 64 * 1024,
            seconds: 10,
            concurrency: 512,
            only: BTreeMap::new(),
        }
    }
}

/// How long a request waits for its turn.
const TURN: Duration = Duration::from_secs(1);

/// The address of the other end of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub IpAddr);

/// Networks of proxies whose `X-Forwarded-For` counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxies(Vec<(IpAddr, u8)>);

impl Proxies {
    /// Reads addresses with an optional length of prefix, such as `10.0.0.0/8`.
    ///
    /// # Errors
    /// The text that is not an address.
    pub fn parse(texts: &[String]) -> Result<Self, String> {
        let parse = |text: &String| {
            let (address, length) = match text.split_once('/') {
                Some((address, length)) => (address, Some(length)),
                None => (text.as_str(), None),
            };
            let address: IpAddr = address.parse().ok()?;
            let most = if address.is_ipv4() { 32 } else { 128 };
            let length = length.map_or(Some(most), |length| length.parse().ok())?;
            (length <= most).then_some((address, length))
        };
        let entries = texts
            .iter()
            .map(|text| parse(text).ok_or_else(|| text.clone()));
        Ok(Self(entries.collect::<Result<_, _>>()?))
    }

    fn contain(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0
            .iter()
            .any(|(network, length)| match (network, address) {
                (IpAddr::V4(network), IpAddr::V4(address)) => {
                    let differ = u32::from(*network) ^ u32::from(address);
                    differ.leading_zeros() >= u32::from(*length)
                }
                (IpAddr::V6(network), IpAddr::V6(address)) => {
                    let differ = u128::from(*network) ^ u128::from(address);
                    differ.leading_zeros() >= u32::from(*length)
                }
                _ => false,
            })
    }

    /// The client's network: that of the peer, or of the last address that the proxies tell and
    /// that is not a proxy itself.
    #[must_use]
    pub fn network(&self, peer: Option<Peer>, headers: &HeaderMap) -> Option<Network> {
        let Peer(peer) = peer?;
        let mut client = peer;
        let told = headers.get_all("x-forwarded-for").iter();
        let told: Vec<&str> = told
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .collect();
        for address in told.iter().rev() {
            if !self.contain(client) {
                break;
            }
            match address.trim().parse() {
                Ok(address) => client = address,
                Err(_) => break,
            }
        }
        Some(client.into())
    }
}

/// A route with its limits, under a name for metrics.
pub fn guarded<S: Clone + Send + Sync + 'static>(
    name: &'static str,
    limits: &RouteLimits,
    route: MethodRouter<S>,
) -> MethodRouter<S> {
    route.layer(middleware::from_fn_with_state(limits.guard(name), pass))
}

#[derive(Clone)]
struct Guard {
    name: &'static str,
    body: usize,
    time: Duration,
    turns: Arc<Semaphore>,
}

/// The limit for a request's body.
#[derive(Clone, Copy)]
struct BodyLimit(usize);

async fn pass(State(guard): State<Guard>, mut request: Request, next: Next) -> Response {
    let begun = Instant::now();
    request.extensions_mut().insert(BodyLimit(guard.body));
    let path = request.extensions().get::<MatchedPath>();
    let span = Span::of_request(
        request.method(),
        path.map_or(guard.name, MatchedPath::as_str),
    );
    let response = match tokio::time::timeout(TURN, guard.turns.acquire()).await {
        Ok(Ok(_turn)) => {
            let answering = span.around(next.run(request));
            match tokio::time::timeout(guard.time, answering).await {
                Ok(response) => response,
                Err(_) => Problem::new(Kind::Timeout).into_response(),
            }
        }
        _ => Problem::new(Kind::Busy).retry_after(1).into_response(),
    };
    span.answered(response.status());
    let status = response.status().as_u16().to_string();
    metrics::counter!("sealstone_requests_total", "route" => guard.name, "status" => status)
        .increment(1);
    metrics::histogram!("sealstone_request_seconds", "route" => guard.name).record(begun.elapsed());
    response
}

/// A whole body within the route's limit.
#[derive(Clone, Debug)]
pub struct Body(pub Bytes);

impl<S: Send + Sync> FromRequest<S> for Body {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let limit = request
            .extensions()
            .get::<BodyLimit>()
            .map_or(0, |limit| limit.0);
        let too_large = || {
            Problem::new(Kind::TooLarge).detail(format!("a body has at most {limit} bytes here"))
        };
        let announced = request.headers().get(CONTENT_LENGTH);
        let announced = announced.and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
        if announced.is_some_and(|length| length > limit) {
            return Err(too_large());
        }
        match axum::body::to_bytes(request.into_body(), limit).await {
            Ok(bytes) => Ok(Self(bytes)),
            // The connection broke, or the body is longer than it may be.
            Err(_) => Err(too_large()),
        }
    }
}

impl Body {
    /// The value of a JSON body.
    ///
    /// # Errors
    /// A problem that says what is wrong.
    pub fn json<T: for<'de> Deserialize<'de>>(&self) -> Result<T, Problem> {
        serde_json::from_slice(&self.0)
            .map_err(|error| Problem::new(Kind::Malformed).detail(error.to_string()))
    }
}

/// The media type of a request, without parameters, in lower case.
#[must_use]
pub fn media_type(headers: &HeaderMap) -> String {
    let value = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let name = value.unwrap_or("").split(';').next().unwrap_or("");
    name.trim().to_ascii_lowercase()
}

/// An answer that no cache keeps.
#[must_use]
pub fn answer_json(value: &serde_json::Value) -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (headers, value.to_string()).into_response()
}

/// Problems for unknown paths and methods, and for panics.
pub fn with_fallbacks<S: Clone + Send + Sync + 'static>(router: Router<S>) -> Router<S> {
    let internal = |_| Problem::new(Kind::Internal).into_response();
    router
        .fallback(|| async { Problem::new(Kind::NotFound) })
        .method_not_allowed_fallback(|| async { Problem::new(Kind::MethodNotAllowed) })
        .layer(CatchPanicLayer::custom(internal))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(proxies: &[&str], peer: &str, forwarded: &[&str]) -> Network {
        let texts: Vec<String> = proxies.iter().map(|&text| text.to_owned()).collect();
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append(
                "x-forwarded-for",
                HeaderValue::from_str(value).expect("text"),
            );
        }
        let peer = Peer(peer.parse().expect("an address"));
        let proxies = Proxies::parse(&texts).expect("networks");
        proxies.network(Some(peer), &headers).expect("a network")
    }

    fn address(text: &str) -> Network {
        text.parse::<IpAddr>().expect("an address").into()
    }

    #[test]
    fn headers_of_clients_do_not_count() {
        let network = network(&[], "192.0.2.1", &["198.51.100.1"]);
        assert_eq!(network, address("192.0.2.1"));
    }

    #[test]
    fn the_last_address_before_the_proxies_counts() {
        let proxies = ["10.0.0.0/8", "2001:db8::/32"];
        for (forwarded, client) in [
            (&["198.51.100.1"][..], "198.51.100.1"),
            (&["203.0.113.9, 198.51.100.1, 10.2.3.4"], "198.51.100.1"),
            (&["203.0.113.9", "198.51.100.1"], "198.51.100.1"),
            (&["203.0.113.9, nonsense"], "10.0.0.1"),
            (&[], "10.0.0.1"),
            (&["198.51.100.1, 2001:db8::7"], "198.51.100.1"),
        ] {
            assert_eq!(
                network(&proxies, "10.0.0.1", forwarded),
                address(client),
                "{forwarded:?}"
            );
        }
    }

    #[test]
    fn networks_end_at_their_last_bit() {
        for (network, within, beyond) in [
            ("10.128.0.0/9", "10.128.0.0", "10.127.255.255"),
            ("192.0.2.7", "192.0.2.7", "192.0.2.6"),
            ("2001:db8::/33", "2001:db8:7fff::1", "2001:db8:8000::1"),
            ("2001:db8::7", "2001:db8::7", "2001:db8::6"),
            // A listener for both families names addresses of IPv4 so.
            ("10.128.0.0/9", "::ffff:10.128.0.1", "::ffff:10.127.0.1"),
        ] {
            let proxies = Proxies::parse(&[network.to_owned()]).expect("a network");
            let contains = |text: &str| proxies.contain(text.parse().expect("an address"));
            assert_eq!(
                (contains(within), contains(beyond)),
                (true, false),
                "{network}"
            );
        }
    }

    #[test]
    fn media_types_have_no_case_and_no_parameters() {
        let mut headers = HeaderMap::new();
        assert_eq!(media_type(&headers), "");
        let value = HeaderValue::from_static("Application/JSON ; charset=utf-8");
        headers.insert(CONTENT_TYPE, value);
        assert_eq!(media_type(&headers), "application/json");
    }

    /// A body may be as long as the limit, whether its length is announced or not.
    #[tokio::test]
    async fn a_body_may_fill_its_limit() {
        for is_announced in [false, true] {
            for (len, is_taken) in [(0, true), (7, true), (8, false)] {
                let mut request = Request::new(axum::body::Body::from(vec![b'x'; len]));
                request.extensions_mut().insert(BodyLimit(7));
                if is_announced {
                    request
                        .headers_mut()
                        .insert(CONTENT_LENGTH, HeaderValue::from(len));
                }
                let taken = Body::from_request(request, &()).await;
                assert_eq!(taken.is_ok(), is_taken, "{len}, {is_announced}");
            }
        }
    }

    #[test]
    fn a_route_may_have_limits_of_its_own() {
        let own = OwnLimits {
            body: Some(7),
            seconds: Some(0),
            ..OwnLimits::default()
        };
        let limits = RouteLimits {
            only: BTreeMap::from([("issue".to_owned(), own)]),
            ..RouteLimits::default()
        };
        let figures = |name| {
            let guard = limits.guard(name);
            (guard.body, guard.time, guard.turns.available_permits())
        };
        assert_eq!(figures("issue"), (7, Duration::from_secs(1), 512));
        assert_eq!(figures("gate"), (65536, Duration::from_secs(10), 512));
    }

    /// Routes that the two services make with a guard.
    #[test]
    fn all_routes_are_named() {
        let sources = [include_str!("../issuer.rs"), include_str!("../verifier.rs")];
        let joined = sources.concat().split_whitespace().collect::<String>();
        let made = joined.split("guard(\"").skip(1);
        let made: Vec<&str> = made.filter_map(|rest| rest.split('"').next()).collect();
        assert_eq!(made, ROUTES);
    }

    #[test]
    fn networks_that_are_none_are_named() {
        for text in ["", "10.0.0.0/33", "10.0.0/8", "2001:db8::/129", "a"] {
            assert_eq!(Proxies::parse(&[text.to_owned()]), Err(text.to_owned()));
        }
    }
}
