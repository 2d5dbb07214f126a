//! The bodies of requests and answers, and the answers that several routes give. The OpenAPI
//! document describes them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoResponses, ToSchema};

/// A request for one token.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct IssueOne {
    /// A token request of RFC 9578, in base64url.
    #[schema(pattern = "^[A-Za-z0-9_-]*={0,2}$")]
    pub request: String,
    /// Proofs for the gate: a gate's name, a space, a proof.
    #[serde(default)]
    pub proofs: Vec<String>,
}

/// A request for several tokens: all are issued, or none.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct IssueBatch {
    /// Token requests of RFC 9578, in base64url.
    pub requests: Vec<String>,
    /// Proofs for the gate: a gate's name, a space, a proof.
    #[serde(default)]
    pub proofs: Vec<String>,
}

/// A response for one token.
#[derive(Debug, Serialize, ToSchema)]
pub struct Issued {
    /// A token response of RFC 9578, in base64url.
    pub response: String,
}

/// Responses, in the order of the requests.
#[derive(Debug, Serialize, ToSchema)]
pub struct IssuedBatch {
    /// Token responses of RFC 9578, in base64url.
    pub responses: Vec<String>,
}

/// A request for an invitation that takes its quota from the holder's.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Divide {
    /// The holder's invitation.
    pub invitation: String,
    /// For how many tokens the new one is.
    pub quota: u64,
    /// When it ends, in seconds since 1970; never later than the holder's.
    pub until: u64,
}

/// A new invitation.
#[derive(Debug, Serialize, ToSchema)]
pub struct Divided {
    /// The invitation, a secret of its holder.
    pub invitation: String,
}

/// A holder of an invitation stands for a newcomer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Vouch {
    /// The gate for newcomers.
    pub gate: String,
    /// The holder's invitation.
    pub invitation: String,
    /// The newcomer's name: the time when it ends, as a u64, and 16 random bytes, in base64url.
    pub newcomer: String,
}

/// A vouch.
#[derive(Debug, Serialize, ToSchema)]
pub struct Vouched {
    /// The vouch, a secret of the newcomer.
    pub vouch: String,
}

/// The demands of the gate, with fresh challenges.
#[derive(Debug, Serialize, ToSchema)]
pub struct GateAnswer {
    /// The gate, and the gates within it.
    #[schema(value_type = Object)]
    pub gate: Value,
}

/// A token to spend.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct VerifyOne {
    /// The token, in base64url.
    pub token: String,
    /// The origin's name for its operation: 1 to 64 bytes. The same operation with the same token
    /// is accepted again for 30 seconds.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 64)]
    pub operation: Option<String>,
}

/// Tokens to spend, each by itself.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct VerifyBatch {
    /// The tokens.
    #[schema(max_items = 1000)]
    pub tokens: Vec<VerifyOne>,
}

/// The result for a token.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct Verified {
    /// Whether it is accepted.
    pub accepted: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// The epoch of its key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    /// Whether the same operation spent it before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated: Option<bool>,
    /// A problem with this token alone, in a batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<ProblemBody>)]
    pub problem: Option<Value>,
}

/// The result for each token, in the order of the request.
#[derive(Debug, Serialize, ToSchema)]
pub struct VerifiedBatch {
    /// The results.
    pub results: Vec<Verified>,
}

/// A token to look at.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckOne {
    /// The token, in base64url.
    pub token: String,
}

/// The findings about a token.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct Checked {
    /// Whether it is authentic, and of a key that redeems now.
    pub valid: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// Whether it was spent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent: Option<bool>,
    /// The epoch of its key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
}

/// Whether the service is ready.
#[derive(Debug, Serialize, ToSchema)]
pub struct Ready {
    /// Always true: it answers with a problem if not.
    pub ready: bool,
}

/// A problem (RFC 9457).
#[derive(Debug, Serialize, ToSchema)]
pub struct ProblemBody {
    /// `urn:sealstone:problem:` and the kind.
    #[serde(rename = "type")]
    #[schema(pattern = "^urn:sealstone:problem:[a-z-]+$")]
    pub kind: String,
    /// The kind in words.
    pub title: String,
    /// The status of the answer.
    pub status: u16,
    /// The mistake in this request.
    pub detail: Option<String>,
    /// Why a token is not accepted.
    pub reason: Option<String>,
    /// The demands of the gate, with fresh challenges.
    #[schema(value_type = Option<Object>)]
    pub gate: Option<Value>,
}

/// Possible answers of every route.
#[derive(IntoResponses)]
pub enum Always {
    /// The request did not arrive in time.
    #[response(status = 408, content_type = "application/problem+json")]
    Timeout(#[to_schema] ProblemBody),
    /// Too much to do, a store that does not answer, or a service that begins or ends.
    #[response(status = 503, content_type = "application/problem+json")]
    Unavailable(#[to_schema] ProblemBody),
}

/// Possible answers of every route with a body.
#[derive(IntoResponses)]
pub enum OfBody {
    /// The body does not have the required form.
    #[response(status = 400, content_type = "application/problem+json")]
    Malformed(#[to_schema] ProblemBody),
    /// The request did not arrive in time.
    #[response(status = 408, content_type = "application/problem+json")]
    Timeout(#[to_schema] ProblemBody),
    /// The body, or what it asks for, is too large.
    #[response(status = 413, content_type = "application/problem+json")]
    TooLarge(#[to_schema] ProblemBody),
    /// Too much to do, a store that does not answer, or a service that begins or ends.
    #[response(status = 503, content_type = "application/problem+json")]
    Unavailable(#[to_schema] ProblemBody),
}

/// Further answers of a gated route.
#[derive(IntoResponses)]
pub enum OfGate {
    /// The body does not have the required form.
    #[response(status = 400, content_type = "application/problem+json")]
    Malformed(#[to_schema] ProblemBody),
    /// The gate wants a proof.
    #[response(status = 401, content_type = "application/problem+json")]
    Required(#[to_schema] ProblemBody),
    /// The proofs are wrong, used, or exhausted.
    #[response(status = 403, content_type = "application/problem+json")]
    Refused(#[to_schema] ProblemBody),
    /// The request did not arrive in time.
    #[response(status = 408, content_type = "application/problem+json")]
    Timeout(#[to_schema] ProblemBody),
    /// The body, or what it asks for, is too large.
    #[response(status = 413, content_type = "application/problem+json")]
    TooLarge(#[to_schema] ProblemBody),
    /// A request that cannot be answered, or of an unknown key.
    #[response(status = 422, content_type = "application/problem+json")]
    Invalid(#[to_schema] ProblemBody),
    /// A limit is reached, for now.
    #[response(status = 429, content_type = "application/problem+json")]
    Limited(#[to_schema] ProblemBody),
    /// Too much to do, a store that does not answer, or a service that begins or ends.
    #[response(status = 503, content_type = "application/problem+json")]
    Unavailable(#[to_schema] ProblemBody),
}
