//! The verifier: accepts each token once (`spec/service.md`, "Redemption").
//!
//! ```
//! use sealstone_server::verifier::Reason;
//!
//! assert_eq!(Reason::Spent.name(), "spent");
//! ```

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, CACHE_CONTROL};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, get, on, post};
use sealstone::passport::Fingerprint;
use sealstone_primitives::hash::sha3_256;
use sealstone_token::Error as TokenError;
use sealstone_token::epoch::Redemption;
use sealstone_token::privacypass::{Token, TokenChallenge, TokenType, header};
use serde_json::json;

use crate::bodies::{
    Always, CheckOne, Checked, OfBody, Verified, VerifiedBatch, VerifyBatch, VerifyOne,
};
use crate::clock::Clock;
use crate::http::{Body, RouteLimits, answer_json, guarded};
use crate::issuer::decode;
use crate::keys::Keyring;
use crate::pinned::Pinned;
use crate::problem::{Kind, Problem};
use crate::store::{Change, Mark, Outcome, Set, Store};
use crate::telemetry::Span;

/// For how many seconds an operation of an origin may be repeated.
pub const OPERATION_GRACE: u64 = 30;
/// For how many seconds a client may count on a challenge, which is always the same.
const CHALLENGE_SECONDS: u64 = 300;
/// The most tokens in one request.
const MAX_BATCH: usize = 1000;
const MAX_OPERATION: usize = 64;
/// The methods of requests that a proxy may ask about. HEAD goes with GET.
const FORWARDED: MethodFilter = MethodFilter::GET
    .or(MethodFilter::POST)
    .or(MethodFilter::PUT)
    .or(MethodFilter::DELETE)
    .or(MethodFilter::PATCH)
    .or(MethodFilter::OPTIONS)
    .or(MethodFilter::HEAD);

/// Where the keys come from.
pub enum Source {
    /// The issuer is in this process.
    Own(Arc<Keyring>),
    /// The directory of an issuer elsewhere.
    Pinned(Arc<Pinned>),
}

/// Why a token is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The request has no token.
    Missing,
    /// It cannot be read.
    Malformed,
    /// It answers another challenge.
    WrongChallenge,
    /// It is of a key that is unknown, or not accepted at this time.
    UnknownKey,
    /// Its authenticator is wrong.
    Forged,
    /// It was spent before.
    Spent,
}

impl Reason {
    /// The name in answers and metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Malformed => "malformed",
            Self::WrongChallenge => "wrong-challenge",
            Self::UnknownKey => "unknown-key",
            Self::Forged => "forged",
            Self::Spent => "spent",
        }
    }
}

impl From<TokenError> for Reason {
    fn from(error: TokenError) -> Self {
        match error {
            TokenError::WrongChallenge | TokenError::WrongType { .. } => Self::WrongChallenge,
            TokenError::NoEpoch | TokenError::WrongKey | TokenError::NotPublic => Self::UnknownKey,
            TokenError::Forged => Self::Forged,
            _ => Self::Malformed,
        }
    }
}

/// A token that is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The epoch of its key.
    pub epoch: u64,
    /// Whether the same operation spent it before.
    pub is_repeated: bool,
}

/// Whether a token is accepted, or why not.
pub type Verdict = Result<Accepted, Reason>;

/// A verifier.
pub struct Verifier {
    source: Source,
    store: Arc<dyn Store>,
    challenges: Vec<TokenChallenge>,
    issuer: Fingerprint,
    clock: Clock,
}

impl Verifier {
    /// A verifier of tokens for `origins`, which must not be empty, from the issuer of this name.
    ///
    /// # Errors
    /// If a name cannot stand in a challenge.
    pub fn new(
        source: Source,
        store: Arc<dyn Store>,
        issuer_name: &str,
        origins: &[String],
        clock: Clock,
    ) -> crate::Result<Self> {
        if origins.is_empty() {
            let text = "a verifier needs a name in origins: its tokens are for it alone";
            return Err(crate::Error::Config(text.to_owned()));
        }
        let types = match &source {
            Source::Own(keyring) => keyring.types().to_vec(),
            Source::Pinned(_) => vec![TokenType::BlindRsa2048],
        };
        let issuer = match &source {
            Source::Own(keyring) => keyring.vault().passport().fingerprint(),
            Source::Pinned(pinned) => pinned.issuer(),
        };
        let origins: Vec<&str> = origins.iter().map(String::as_str).collect();
        let challenge = |kind: TokenType| TokenChallenge::new(kind, issuer_name, None, &origins);
        let challenges = types.into_iter().map(challenge);
        Ok(Self {
            challenges: challenges.collect::<Result<_, _>>()?,
            source,
            store,
            issuer,
            clock,
        })
    }

    /// Its routes.
    pub fn router(self: Arc<Self>, limits: &RouteLimits) -> Router {
        let guard = |name, route| guarded(name, limits, route);
        let forward = guard("forward-auth", on(FORWARDED, verify_forwarded));
        Router::new()
            .route("/verify", guard("verify", get(verify_header)))
            .route("/forward-auth", forward.clone())
            // Envoy asks so about the path "/", which is not a part of the next route.
            .route("/forward-auth/", forward.clone())
            .route("/forward-auth/{*path}", forward)
            .route("/v1/verify", guard("verify-json", post(verify_json)))
            .route(
                "/v1/verify/batch",
                guard("verify-batch", post(verify_batch)),
            )
            .route("/v1/check", guard("check", post(check_json)))
            .with_state(self)
    }

    /// Spends a token. An operation that is named may do it again for a short time.
    ///
    /// # Errors
    /// If the store does not answer. Then the token may be spent.
    pub async fn spend(&self, token: &Token, operation: Option<&str>) -> Result<Verdict, Problem> {
        let span = Span::of("token", "redeem");
        let verdict = count(span.around(self.try_spend(token, operation)).await?);
        span.became(kind(&verdict));
        Ok(verdict)
    }

    async fn try_spend(&self, token: &Token, operation: Option<&str>) -> Result<Verdict, Problem> {
        let now = self.clock.now();
        let redemption = match self.redeem(token, now).await {
            Ok(redemption) => redemption,
            Err(reason) => return Ok(Err(reason)),
        };
        let mark = self.mark(&redemption);
        let mark = match operation {
            Some(operation) => mark.of_operation(operation_key(operation)),
            None => mark,
        };
        let change = Change::new(now).with_grace(OPERATION_GRACE).mark(mark);
        let outcome = self.store.apply(change).await?;
        let epoch = redemption.epoch;
        Ok(match outcome {
            Outcome::Done => Ok(Accepted {
                epoch,
                is_repeated: false,
            }),
            Outcome::Repeated => Ok(Accepted {
                epoch,
                is_repeated: true,
            }),
            Outcome::Refused(_) => Err(Reason::Spent),
        })
    }

    /// The answer that [`Verifier::spend`] would give, without an operation. It spends nothing.
    ///
    /// # Errors
    /// If the store does not answer.
    pub async fn check(&self, token: &Token) -> Result<Verdict, Problem> {
        let now = self.clock.now();
        let redemption = match self.redeem(token, now).await {
            Ok(redemption) => redemption,
            Err(reason) => return Ok(Err(reason)),
        };
        let change = Change::new(now).mark(self.mark(&redemption));
        Ok(match self.store.probe(change).await? {
            Outcome::Done => Ok(Accepted {
                epoch: redemption.epoch,
                is_repeated: false,
            }),
            _ => Err(Reason::Spent),
        })
    }

    /// Checks everything but whether the token was spent.
    async fn redeem(&self, token: &Token, now: u64) -> Result<Redemption, Reason> {
        let asked = self
            .challenges
            .iter()
            .find(|asked| token.answers(asked).is_ok());
        let challenge = asked.ok_or(Reason::WrongChallenge)?.clone();
        match &self.source {
            // As fast as the hash of the mark.
            Source::Pinned(pinned) => pinned.redeem(token, now).await.map_err(Reason::from),
            Source::Own(keyring) => {
                let (keyring, token) = (keyring.clone(), token.clone());
                let redeem = move || keyring.redeem(&token, &challenge, now);
                let redeemed = tokio::task::spawn_blocking(redeem).await;
                redeemed
                    .map_err(|_| Reason::Malformed)?
                    .map_err(Reason::from)
            }
        }
    }

    fn mark(&self, redemption: &Redemption) -> Mark {
        let issuer = &self.issuer.as_bytes()[..8];
        let issuer: String = issuer.iter().map(|byte| format!("{byte:02x}")).collect();
        let name = format!("spent-{issuer}-{}", redemption.epoch);
        Mark::new(
            &Set::new(name, redemption.redeem_until),
            redemption.nullifier,
        )
    }

    /// The challenges for a client without a token, as values of `WWW-Authenticate`.
    #[must_use]
    pub fn challenges(&self) -> Vec<String> {
        let now = self.clock.now();
        let offer = |challenge: &TokenChallenge| {
            let kind = challenge.token_type().ok()?;
            let token_key = match &self.source {
                Source::Own(keyring) => keyring.public_key(kind, now),
                Source::Pinned(pinned) => pinned.public_key(kind, now),
            };
            Some(header::challenge(&header::Offer {
                challenge: challenge.clone(),
                token_key: Some(token_key?),
                max_age: Some(CHALLENGE_SECONDS),
            }))
        };
        self.challenges.iter().filter_map(offer).collect()
    }

    /// Whether there is a key for this moment.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        let now = self.clock.now();
        match &self.source {
            Source::Own(keyring) => keyring.is_ready(now),
            Source::Pinned(pinned) => pinned.public_key(TokenType::BlindRsa2048, now).is_some(),
        }
    }

    /// Spends the token of an `Authorization` header.
    ///
    /// # Errors
    /// A problem with challenges, if there is no token that is accepted.
    pub async fn admit(&self, headers: &HeaderMap) -> Result<Accepted, Problem> {
        let values: Vec<_> = headers.get_all(AUTHORIZATION).iter().collect();
        let token = match values.as_slice() {
            [] => Err(Reason::Missing),
            [value] => value
                .to_str()
                .ok()
                .and_then(|text| header::parse_authorization(text).ok())
                .ok_or(Reason::Malformed),
            _ => Err(Reason::Malformed),
        };
        let verdict = match token {
            Ok(token) => self.spend(&token, None).await?,
            Err(reason) => count(Err(reason)),
        };
        verdict.map_err(|reason| self.refusal(reason))
    }

    fn refusal(&self, reason: Reason) -> Problem {
        Problem::new(Kind::TokenRefused)
            .member("reason", reason.name())
            .challenges(self.challenges())
    }
}

fn kind(verdict: &Verdict) -> &'static str {
    match verdict {
        Ok(Accepted {
            is_repeated: true, ..
        }) => "repeated",
        Ok(_) => "accepted",
        Err(reason) => reason.name(),
    }
}

fn count(verdict: Verdict) -> Verdict {
    let kind = kind(&verdict);
    metrics::counter!("sealstone_redemptions_total", "kind" => kind).increment(1);
    verdict
}

fn operation_key(operation: &str) -> [u8; 32] {
    let text = [b"sealstone.service.operation\0", operation.as_bytes()].concat();
    sha3_256(&text)
}

/// Spends a token
///
/// For clients, and for proxies that ask before they forward. The token stands in
/// `Authorization: PrivateToken token="…"` (RFC 9577).
#[utoipa::path(get, path = "/verify",
    params(("authorization" = Option<String>, Header, description = "The token")),
    responses(
        (status = 200, description = "It is accepted"),
        (status = 401, description = "It is not accepted; `WWW-Authenticate` has challenges",
            body = crate::bodies::ProblemBody, content_type = "application/problem+json"),
        Always,
    ))]
pub(crate) async fn verify_header(
    State(verifier): State<Arc<Verifier>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    verifier.admit(&headers).await?;
    Ok(([(CACHE_CONTROL, "no-store")], "").into_response())
}

/// Spends the token of a request that a proxy asks about
///
/// As `/verify`, with any method and any path below: some proxies ask with those of the request.
/// The body is not read.
#[utoipa::path(method(get, post, put, delete, patch, options, head), path = "/forward-auth",
    params(("authorization" = Option<String>, Header, description = "The token")),
    responses(
        (status = 200, description = "It is accepted: forward the request"),
        (status = 401, description = "It is not accepted; answer with these headers",
            body = crate::bodies::ProblemBody, content_type = "application/problem+json"),
        Always,
    ))]
pub(crate) async fn verify_forwarded(
    State(verifier): State<Arc<Verifier>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    verifier.admit(&headers).await?;
    Ok(([(CACHE_CONTROL, "no-store")], "").into_response())
}

impl VerifyOne {
    fn check(&self) -> Result<(), Problem> {
        let length = self.operation.as_ref().map_or(1, String::len);
        match (1..=MAX_OPERATION).contains(&length) {
            true => Ok(()),
            false => {
                let text = "an operation has 1 to 64 bytes";
                Err(Problem::new(Kind::Malformed).detail(text))
            }
        }
    }

    async fn run(&self, verifier: &Verifier) -> Result<Verified, Problem> {
        self.check()?;
        let verdict = match Token::decode(&decode(&self.token)?) {
            Ok(token) => verifier.spend(&token, self.operation.as_deref()).await?,
            Err(_) => count(Err(Reason::Malformed)),
        };
        Ok(match verdict {
            Ok(accepted) => Verified {
                accepted: true,
                epoch: Some(accepted.epoch),
                repeated: Some(accepted.is_repeated),
                ..Verified::default()
            },
            Err(reason) => Verified {
                reason: Some(reason.name()),
                ..Verified::default()
            },
        })
    }
}

/// Spends a token for an operation of an origin
#[utoipa::path(post, path = "/v1/verify", request_body = VerifyOne, responses(
    (status = 200, description = "The result", body = Verified),
    OfBody,
))]
pub(crate) async fn verify_json(
    State(verifier): State<Arc<Verifier>>,
    body: Body,
) -> Result<Response, Problem> {
    let asked: VerifyOne = body.json()?;
    Ok(answer_json(&json!(asked.run(&verifier).await?)))
}

/// Spends several tokens
///
/// Each token has a verdict of its own. All share the store's commits.
#[utoipa::path(post, path = "/v1/verify/batch", request_body = VerifyBatch, responses(
    (status = 200, description = "The results, in the order of the request",
        body = VerifiedBatch),
    OfBody,
))]
pub(crate) async fn verify_batch(
    State(verifier): State<Arc<Verifier>>,
    body: Body,
) -> Result<Response, Problem> {
    let asked: VerifyBatch = body.json()?;
    if asked.tokens.len() > MAX_BATCH {
        let text = format!("a request has at most {MAX_BATCH} tokens");
        return Err(Problem::new(Kind::TooLarge).detail(text));
    }
    // A request that is wrong as a whole spends nothing.
    asked.tokens.iter().try_for_each(VerifyOne::check)?;
    let mut tasks = tokio::task::JoinSet::new();
    for (index, token) in asked.tokens.into_iter().enumerate() {
        let verifier = verifier.clone();
        let span = Span::current();
        tasks.spawn(async move { (index, span.around(token.run(&verifier)).await) });
    }
    let mut results = tasks.join_all().await;
    results.sort_by_key(|(index, _)| *index);
    // A token whose own check failed does not hide what became of the others.
    let results = results.into_iter().map(|(_, result)| match result {
        Ok(value) => value,
        Err(problem) => Verified {
            problem: Some(problem.to_json()),
            ..Verified::default()
        },
    });
    let results = results.collect();
    Ok(answer_json(&json!(VerifiedBatch { results })))
}

/// Looks at a token, and spends nothing
#[utoipa::path(post, path = "/v1/check", request_body = CheckOne, responses(
    (status = 200, description = "What it is", body = Checked),
    OfBody,
))]
pub(crate) async fn check_json(
    State(verifier): State<Arc<Verifier>>,
    body: Body,
) -> Result<Response, Problem> {
    let asked: CheckOne = body.json()?;
    let verdict = match Token::decode(&decode(&asked.token)?) {
        Ok(token) => verifier.check(&token).await?,
        Err(_) => Err(Reason::Malformed),
    };
    Ok(answer_json(&json!(match verdict {
        Ok(accepted) => Checked {
            valid: true,
            spent: Some(false),
            epoch: Some(accepted.epoch),
            reason: None,
        },
        Err(Reason::Spent) => Checked {
            valid: true,
            spent: Some(true),
            ..Checked::default()
        },
        Err(reason) => Checked {
            reason: Some(reason.name()),
            ..Checked::default()
        },
    })))
}
