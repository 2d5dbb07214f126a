//! The issuer: answers requests for tokens that pass its gate (`spec/service.md`).
//!
//! ```no_run
//! use std::sync::Arc;
//! use sealstone_server::http::RouteLimits;
//! use sealstone_server::issuer::Issuer;
//!
//! fn routes(issuer: Arc<Issuer>) -> axum::Router {
//!     issuer.router(&RouteLimits::default())
//! }
//! ```

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sealstone_primitives::hash::sha256;
use sealstone_token::privacypass::{RequestHead, directory};
use serde_json::json;
use tokio::sync::Semaphore;

use crate::bodies::{
    Always, Divide, Divided, GateAnswer, IssueBatch, IssueOne, Issued, IssuedBatch, OfGate, Vouch,
    Vouched,
};
use crate::clock::Clock;
use crate::gate::{Ask, Failure, Gates, Network, Proofs};
use crate::http::{Body, Peer, Proxies, RouteLimits, answer_json, guarded, media_type};
use crate::keys::{Form, Keyring, REQUEST_PATH};
use crate::problem::{Kind, Problem};
use crate::store::{Change, Outcome, Refusal, Store};
use crate::telemetry::Span;

pub use crate::http::GATE_HEADER;

/// Where the signed directory is found.
pub const SIGNED_DIRECTORY_PATH: &str = "/.well-known/sealstone-token-directory";
/// Where the issuer's public passport is found.
pub const PASSPORT_PATH: &str = "/.well-known/sealstone-passport";
/// The media type of a statement.
pub const STATEMENT_TYPE: &str = "application/sealstone-statement";

const DIRECTORY_SECONDS: &str = "max-age=300";
const REQUEST_TYPES: [(&str, &str, Form); 3] = [
    (
        "application/private-token-request",
        "application/private-token-response",
        Form::One,
    ),
    (
        "application/private-token-amortized-batch-request",
        "application/private-token-amortized-batch-response",
        Form::Amortized,
    ),
    (
        "application/private-token-generic-batch-request",
        "application/private-token-generic-batch-response",
        Form::Generic,
    ),
];

/// An issuer.
pub struct Issuer {
    /// The keys.
    pub keyring: Arc<Keyring>,
    /// The store of used proofs and quotas.
    pub store: Arc<dyn Store>,
    /// The gate.
    pub gates: Gates,
    /// Proxies that tell clients' addresses.
    pub proxies: Proxies,
    /// The time.
    pub clock: Clock,
    /// The most tokens in one request.
    pub max_batch: usize,
    /// Cryptographic work at the same time.
    workers: Arc<Semaphore>,
}

impl Issuer {
    /// An issuer that uses all processors.
    #[must_use]
    pub fn new(
        keyring: Arc<Keyring>,
        store: Arc<dyn Store>,
        gates: Gates,
        proxies: Proxies,
        clock: Clock,
        max_batch: usize,
    ) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, |count| count.get());
        Self {
            keyring,
            store,
            gates,
            proxies,
            clock,
            max_batch,
            workers: Arc::new(Semaphore::new(2 * processors)),
        }
    }

    /// Its routes.
    pub fn router(self: Arc<Self>, limits: &RouteLimits) -> Router {
        let guard = |name, route| guarded(name, limits, route);
        Router::new()
            .route(
                directory::WELL_KNOWN_PATH,
                guard("directory", get(send_directory)),
            )
            .route(
                SIGNED_DIRECTORY_PATH,
                guard("signed-directory", get(send_statement)),
            )
            .route(PASSPORT_PATH, guard("passport", get(send_passport)))
            .route("/gate", guard("gate", get(send_gate)))
            .route(REQUEST_PATH, guard("token-request", post(answer_request)))
            .route("/v1/issue", guard("issue", post(issue_json)))
            .route(
                "/v1/issue/batch",
                guard("issue-batch", post(issue_json_batch)),
            )
            .route(
                "/v1/invitations",
                guard("invitations", post(divide_invitation)),
            )
            .route("/v1/vouches", guard("vouches", post(vouch)))
            .with_state(self)
    }

    /// Answers requests together: all of them pass the gate, or none is answered.
    ///
    /// # Errors
    /// A problem for the client. Then no proof is used.
    pub async fn issue(
        self: &Arc<Self>,
        requests: Vec<(Form, Vec<u8>)>,
        subject: [u8; 32],
        proofs: Proofs,
        network: Option<Network>,
    ) -> Result<Vec<Vec<u8>>, Problem> {
        let now = self.clock.now();
        let tokens = self.count(&requests)?;
        let work = self.clone();
        let shown = proofs.clone();
        // Checking Argon2id takes as long as issuing.
        let checked = self.work(move || {
            work.gates.check(&Ask {
                subject,
                tokens,
                network,
                now,
                proofs: &shown,
            })
        });
        let ways = checked.await?.map_err(|failure| self.refused(failure))?;
        let way = self.first_open(ways, &proofs).await?;
        let work = self.clone();
        let computed = self.work(move || work.compute(&requests, now));
        let responses = computed.await??;
        match self.store.apply(way).await? {
            Outcome::Done | Outcome::Repeated => {
                metrics::counter!("sealstone_tokens_issued_total").increment(tokens);
                Ok(responses)
            }
            Outcome::Refused(refusal) => Err(self.used(refusal)),
        }
    }

    /// The number of tokens that are asked for.
    fn count(&self, requests: &[(Form, Vec<u8>)]) -> Result<u64, Problem> {
        let invalid = || Problem::new(Kind::InvalidRequest).detail("it is malformed or empty");
        let mut tokens = 0_usize;
        for (form, request) in requests {
            tokens += tokens_in(*form, request)
                .filter(|&n| n > 0)
                .ok_or_else(invalid)?;
        }
        if tokens == 0 {
            return Err(invalid());
        }
        if tokens > self.max_batch {
            let most = format!("a request is for at most {} tokens", self.max_batch);
            return Err(Problem::new(Kind::TooLarge).detail(most));
        }
        Ok(tokens as u64)
    }

    /// The first way that the store would accept now.
    async fn first_open(&self, ways: Vec<Change>, proofs: &Proofs) -> Result<Change, Problem> {
        let mut refused = None;
        for way in ways {
            match self.store.probe(way.clone()).await? {
                Outcome::Done | Outcome::Repeated => return Ok(way),
                Outcome::Refused(refusal) => refused = refused.or(Some(refusal)),
            }
        }
        Err(match refused {
            // A client that shows nothing learns what else it could show.
            Some(Refusal::Limit) if proofs.is_empty() => self.used(Refusal::Limit),
            Some(refusal) => self.used(refusal),
            None => self.refused(Failure::Missing),
        })
    }

    fn compute(&self, requests: &[(Form, Vec<u8>)], now: u64) -> Result<Vec<Vec<u8>>, Problem> {
        let _span = Span::of("token", "issue");
        let answer = |(form, request): &(Form, Vec<u8>)| {
            let response = self.keyring.issue(*form, request, self.max_batch, now);
            response.map_err(|error| Problem::new(Kind::InvalidRequest).detail(error.to_string()))
        };
        requests.iter().map(answer).collect()
    }

    /// Runs `work` where it blocks nobody, when it is its turn.
    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let internal = |_| Problem::new(Kind::Internal);
        let turn = self.workers.clone().acquire_owned().await;
        let turn = turn.map_err(|_| Problem::new(Kind::Internal))?;
        let span = Span::current();
        let done = tokio::task::spawn_blocking(move || {
            let done = span.within(work);
            drop(turn);
            done
        });
        done.await.map_err(internal)
    }

    /// Takes from a quota, durably.
    async fn take(&self, change: Change) -> Result<(), Problem> {
        match self.store.apply(change).await? {
            Outcome::Refused(refusal) => Err(self.used(refusal)),
            Outcome::Done | Outcome::Repeated => Ok(()),
        }
    }

    fn refused(&self, failure: Failure) -> Problem {
        let (kind, name) = match failure {
            Failure::Missing => (Kind::GateRequired, "missing"),
            Failure::Wrong(_) => (Kind::GateRefused, "wrong"),
        };
        metrics::counter!("sealstone_gate_refused_total", "kind" => name).increment(1);
        let problem = Problem::new(kind).member("gate", self.gates.describe(self.clock.now()));
        match failure {
            Failure::Missing => problem.challenges(vec!["SealstoneGate".to_owned()]),
            Failure::Wrong(detail) => problem.detail(detail),
        }
    }

    fn used(&self, refusal: Refusal) -> Problem {
        let (kind, name, detail) = match refusal {
            Refusal::Spent => (Kind::GateRefused, "used", "the proof was used before"),
            Refusal::Limit => (Kind::RateLimited, "limit", "the quota is used up"),
            Refusal::Present => (Kind::GateRefused, "revoked", "the invitation is revoked"),
            Refusal::Closed => (Kind::GateRefused, "closed", "the proof is too old"),
        };
        metrics::counter!("sealstone_gate_refused_total", "kind" => name).increment(1);
        let problem = Problem::new(kind)
            .detail(detail)
            .member("gate", self.gates.describe(self.clock.now()));
        match refusal {
            Refusal::Limit => problem.retry_after(60),
            _ => problem,
        }
    }
}

/// How many tokens a request is for; none if its beginning is malformed. Issuing checks the rest.
fn tokens_in(form: Form, request: &[u8]) -> Option<usize> {
    let len = |bytes: &[u8]| Some(RequestHead::of(bytes).ok()?.token_type.blinded_len());
    match form {
        Form::One => len(request).map(|_| 1),
        // A length of one to four bytes stands before the elements, which are longer.
        Form::Amortized => Some(request.len().checked_sub(3)? / len(request)?),
        Form::Generic => {
            let mut rest = request.get(1 << (request.first()? >> 6)..)?;
            let mut count = 0;
            while !rest.is_empty() {
                rest = rest.get(3 + len(rest)?..)?;
                count += 1;
            }
            Some(count)
        }
    }
}

/// The values of all headers with proofs.
fn proofs_of(headers: &HeaderMap) -> Proofs {
    let values = headers.get_all(GATE_HEADER).iter();
    Proofs::parse(values.filter_map(|value| value.to_str().ok()))
}

/// The directory of the issuer's keys
///
/// RFC 9578, section 4, with lifetimes.
#[utoipa::path(get, path = "/.well-known/private-token-issuer-directory", responses(
    (status = 200, description = "The directory", body = Object,
        content_type = "application/private-token-issuer-directory"),
    (status = 304, description = "It has not changed"),
    Always,
))]
pub(crate) async fn send_directory(
    State(issuer): State<Arc<Issuer>>,
    headers: HeaderMap,
) -> Response {
    let published = issuer.keyring.published();
    let body = published.json.clone().into_bytes();
    cached(&headers, directory::MEDIA_TYPE, &published.etag, body)
}

/// The same directory, signed by the issuer's passport
#[utoipa::path(get, path = "/.well-known/sealstone-token-directory", responses(
    (status = 200, description = "A statement", body = String,
        content_type = "application/sealstone-statement"),
    (status = 304, description = "It has not changed"),
    Always,
))]
pub(crate) async fn send_statement(
    State(issuer): State<Arc<Issuer>>,
    headers: HeaderMap,
) -> Response {
    let published = issuer.keyring.published();
    let body = published.statement.clone();
    cached(&headers, STATEMENT_TYPE, &published.etag, body)
}

/// The issuer's public passport
#[utoipa::path(get, path = "/.well-known/sealstone-passport", responses(
    (status = 200, description = "It is armored", content_type = "text/plain", body = String),
    Always,
))]
pub(crate) async fn send_passport(State(issuer): State<Arc<Issuer>>) -> Response {
    let text = issuer.keyring.vault().passport().public().to_armor();
    ([(CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
}

/// The demands of the gate
#[utoipa::path(get, path = "/gate", responses(
    (status = 200, description = "The gate, with fresh challenges", body = GateAnswer),
    Always,
))]
pub(crate) async fn send_gate(State(issuer): State<Arc<Issuer>>) -> Response {
    let gate = issuer.gates.describe(issuer.clock.now());
    answer_json(&json!(GateAnswer { gate }))
}

/// An answer that caches keep for five minutes.
fn cached(headers: &HeaderMap, media_type: &'static str, etag: &str, body: Vec<u8>) -> Response {
    let is_known = headers
        .get(IF_NONE_MATCH)
        .is_some_and(|known| known.as_bytes() == etag.as_bytes());
    let (status, body) = match is_known {
        true => (StatusCode::NOT_MODIFIED, Vec::new()),
        false => (StatusCode::OK, body),
    };
    let values = [
        (CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (CACHE_CONTROL, HeaderValue::from_static(DIRECTORY_SECONDS)),
        (
            ETAG,
            HeaderValue::from_str(etag).unwrap_or(HeaderValue::from_static("\"\"")),
        ),
    ];
    (status, values, body).into_response()
}

/// A token for a request
///
/// RFC 9578, and batches of draft-ietf-privacypass-batched-tokens, by the media type.
#[utoipa::path(post, path = "/token-request",
    params(("sealstone-gate" = Option<String>, Header,
        description = "A gate's name, a space, a proof; may stand several times")),
    request_body(content(
        (String = "application/private-token-request"),
        (String = "application/private-token-amortized-batch-request"),
        (String = "application/private-token-generic-batch-request"),
    )),
    responses(
        (status = 200, description = "The response", content(
            (String = "application/private-token-response"),
            (String = "application/private-token-amortized-batch-response"),
            (String = "application/private-token-generic-batch-response"),
        )),
        (status = 415, description = "Another media type is needed",
            body = crate::bodies::ProblemBody, content_type = "application/problem+json"),
        OfGate,
    ))]
pub(crate) async fn answer_request(
    State(issuer): State<Arc<Issuer>>,
    peer: Option<axum::Extension<Peer>>,
    headers: HeaderMap,
    Body(body): Body,
) -> Result<Response, Problem> {
    let asked = media_type(&headers);
    let known = REQUEST_TYPES.iter().find(|(request, ..)| *request == asked);
    let &(_, response_type, form) =
        known.ok_or_else(|| Problem::new(Kind::UnsupportedMediaType))?;
    let network = issuer.proxies.network(peer.map(|peer| peer.0), &headers);
    let subject = sha256(&[&body]);
    let requests = vec![(form, body.to_vec())];
    let issued = issuer.issue(requests, subject, proofs_of(&headers), network);
    let response = issued.await?.concat();
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(response_type)),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, response).into_response())
}

/// A token
#[utoipa::path(post, path = "/v1/issue", request_body = IssueOne, responses(
    (status = 200, description = "The response", body = Issued),
    OfGate,
))]
pub(crate) async fn issue_json(
    State(issuer): State<Arc<Issuer>>,
    peer: Option<axum::Extension<Peer>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let asked: IssueOne = body.json()?;
    let request = decode(&asked.request)?;
    let network = issuer.proxies.network(peer.map(|peer| peer.0), &headers);
    let subject = sha256(&[&request]);
    let proofs = Proofs::parse(&asked.proofs);
    let issued = issuer.issue(vec![(Form::One, request)], subject, proofs, network);
    let response = encode(&issued.await?.concat());
    Ok(answer_json(&json!(Issued { response })))
}

/// Several tokens: all, or none
#[utoipa::path(post, path = "/v1/issue/batch", request_body = IssueBatch, responses(
    (status = 200, description = "The responses, in the order of the requests", body = IssuedBatch),
    OfGate,
))]
pub(crate) async fn issue_json_batch(
    State(issuer): State<Arc<Issuer>>,
    peer: Option<axum::Extension<Peer>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let asked: IssueBatch = body.json()?;
    let requests: Vec<Vec<u8>> = asked
        .requests
        .iter()
        .map(|text| decode(text))
        .collect::<Result<_, _>>()?;
    let digests: Vec<u8> = requests
        .iter()
        .flat_map(|request| sha256(&[request]))
        .collect();
    let network = issuer.proxies.network(peer.map(|peer| peer.0), &headers);
    let requests = requests
        .into_iter()
        .map(|request| (Form::One, request))
        .collect();
    let proofs = Proofs::parse(&asked.proofs);
    let issued = issuer.issue(requests, sha256(&[&digests]), proofs, network);
    let issued = issued.await?;
    let responses = issued.iter().map(|response| encode(response)).collect();
    Ok(answer_json(&json!(IssuedBatch { responses })))
}

/// An invitation from an invitation
///
/// A holder of an invitation invites somebody: the new one takes its quota from the holder's.
#[utoipa::path(post, path = "/v1/invitations", request_body = Divide, responses(
    (status = 200, description = "The new invitation", body = Divided),
    OfGate,
))]
pub(crate) async fn divide_invitation(
    State(issuer): State<Arc<Issuer>>,
    body: Body,
) -> Result<Response, Problem> {
    let asked: Divide = body.json()?;
    let now = issuer.clock.now();
    let mut failure = Failure::Wrong("this issuer has no gate for invitations");
    for gate in issuer.gates.invitations() {
        match gate.divide(&asked.invitation, asked.quota, asked.until, now) {
            Err(other) => failure = other,
            Ok((invitation, change)) => {
                issuer.take(change).await?;
                let invitation = invitation.to_string();
                return Ok(answer_json(&json!(Divided { invitation })));
            }
        }
    }
    Err(issuer.refused(failure))
}

/// A vouch of an invitation's holder
///
/// A holder of an invitation stands for a newcomer, who shows several vouches at a gate.
#[utoipa::path(post, path = "/v1/vouches", request_body = Vouch, responses(
    (status = 200, description = "The vouch", body = Vouched),
    OfGate,
))]
pub(crate) async fn vouch(
    State(issuer): State<Arc<Issuer>>,
    body: Body,
) -> Result<Response, Problem> {
    let asked: Vouch = body.json()?;
    let mut gates = issuer.gates.vouches().iter();
    let gate = gates.find(|gate| gate.name() == asked.gate);
    let none = Failure::Wrong("this issuer has no such gate for newcomers");
    let gate = gate.ok_or_else(|| issuer.refused(none))?;
    let now = issuer.clock.now();
    let made = gate.vouch(&asked.invitation, &asked.newcomer, now);
    let (vouch, change) = made.map_err(|failure| issuer.refused(failure))?;
    issuer.take(change).await?;
    Ok(answer_json(&json!(Vouched { vouch })))
}

fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

pub(crate) fn decode(text: &str) -> Result<Vec<u8>, Problem> {
    let malformed = || Problem::new(Kind::Malformed).detail("a value is not base64url");
    URL_SAFE_NO_PAD
        .decode(text.trim_end_matches('='))
        .map_err(|_| malformed())
}
