//! Errors that clients get: RFC 9457 problems (`spec/service.md`, "Errors").
//!
//! ```
//! use sealstone_server::problem::{Kind, Problem};
//!
//! let problem = Problem::new(Kind::TooLarge).detail("at most 65536 bytes");
//! assert_eq!(problem.status(), 413);
//! assert!(problem.to_json().to_string().contains("urn:sealstone:problem:too-large"));
//! ```

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, Response, StatusCode};
use axum::response::IntoResponse;
use serde_json::{Map, Value};

use crate::Error;
use crate::store::StoreError;

/// The media type of a problem.
pub const MEDIA_TYPE: &str = "application/problem+json";

/// The failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The body does not have the required form.
    Malformed,
    /// A request for tokens that cannot be answered.
    InvalidRequest,
    /// No such path.
    NotFound,
    /// The path has other methods.
    MethodNotAllowed,
    /// Another media type.
    UnsupportedMediaType,
    /// A body above the limit.
    TooLarge,
    /// The request did not arrive in time.
    Timeout,
    /// The gate wants a proof.
    GateRequired,
    /// The gate does not pass.
    GateRefused,
    /// A limit of the gate is reached, for now.
    RateLimited,
    /// The token is missing, wrong or spent.
    TokenRefused,
    /// An operator has to log in.
    LoginRequired,
    /// The operator's name or password is wrong.
    LoginRefused,
    /// Too many attempts to log in.
    TooManyAttempts,
    /// The operator's role does not allow it.
    RoleTooLow,
    /// The request comes from a page of another host.
    ForeignPage,
    /// Too much to do at this moment.
    Busy,
    /// The store failed.
    StoreUnavailable,
    /// The service is starting or ending.
    NotReady,
    /// A fault of the service.
    Internal,
}

impl Kind {
    /// The last part of the problem's type.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.entry().1
    }

    /// Status, name, title.
    fn entry(self) -> (u16, &'static str, &'static str) {
        match self {
            Self::Malformed => (400, "malformed", "The body does not have the required form"),
            Self::InvalidRequest => (422, "invalid-request", "This request cannot be answered"),
            Self::NotFound => (404, "not-found", "There is nothing at this path"),
            Self::MethodNotAllowed => (405, "method-not-allowed", "Another method is needed"),
            Self::UnsupportedMediaType => (
                415,
                "unsupported-media-type",
                "Another media type is needed",
            ),
            Self::TooLarge => (413, "too-large", "The body is too large"),
            Self::Timeout => (408, "timeout", "The request took too long"),
            Self::GateRequired => (401, "gate-required", "The gate wants a proof"),
            Self::GateRefused => (403, "gate-refused", "The gate does not pass"),
            Self::RateLimited => (429, "rate-limited", "Too many tokens for now"),
            Self::TokenRefused => (401, "token-refused", "The token is not accepted"),
            Self::LoginRequired => (401, "login-required", "Log in first"),
            Self::LoginRefused => (401, "login-refused", "The name or the password is wrong"),
            Self::TooManyAttempts => (429, "too-many-attempts", "Too many attempts to log in"),
            Self::RoleTooLow => (403, "role-too-low", "Your role does not allow this"),
            Self::ForeignPage => (403, "foreign-page", "Only pages of this host may ask this"),
            Self::Busy => (503, "busy", "Too much to do at this moment"),
            Self::StoreUnavailable => (503, "store-unavailable", "The store does not answer"),
            Self::NotReady => (503, "not-ready", "The service is not ready"),
            Self::Internal => (500, "internal", "The service has a fault"),
        }
    }
}

/// A problem with its details.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    kind: Kind,
    members: Map<String, Value>,
    retry_after: Option<u64>,
    challenges: Vec<String>,
}

impl Problem {
    /// A problem of this kind.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            members: Map::new(),
            retry_after: None,
            challenges: Vec::new(),
        }
    }

    /// Says more.
    #[must_use]
    pub fn detail(self, detail: impl Into<String>) -> Self {
        self.member("detail", detail.into())
    }

    /// Adds a member of the problem's kind.
    #[must_use]
    pub fn member(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.members.insert(name.to_owned(), value.into());
        self
    }

    /// When to come back, in seconds.
    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Self {
        Self {
            retry_after: Some(seconds),
            ..self
        }
    }

    /// Values for `WWW-Authenticate`.
    #[must_use]
    pub fn challenges(self, challenges: Vec<String>) -> Self {
        Self { challenges, ..self }
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The status.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.kind.entry().0
    }

    /// The body.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let (status, name, title) = self.kind.entry();
        let mut members = self.members.clone();
        members.insert(
            "type".to_owned(),
            format!("urn:sealstone:problem:{name}").into(),
        );
        members.insert("title".to_owned(), title.into());
        members.insert("status".to_owned(), status.into());
        Value::Object(members)
    }
}

impl From<StoreError> for Problem {
    /// The cause is for the operator's log only.
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Busy => Self::new(Kind::Busy).retry_after(1),
            StoreError::Unavailable(cause) => {
                tracing::error!(%cause, "the store does not work");
                Self::new(Kind::StoreUnavailable).retry_after(5)
            }
        }
    }
}

impl From<Error> for Problem {
    /// For operators, who may know what is wrong with what they asked for.
    fn from(error: Error) -> Self {
        match error {
            Error::Store(error) => error.into(),
            Error::Config(text) => Self::new(Kind::Malformed).detail(text),
            error => {
                tracing::error!(%error, "an operator's request failed");
                Self::new(Kind::Internal).detail(error.to_string())
            }
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response<Body> {
        let mut response = Response::new(Body::from(self.to_json().to_string()));
        *response.status_mut() =
            StatusCode::from_u16(self.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, seconds.into());
        }
        for challenge in self.challenges {
            if let Ok(value) = HeaderValue::try_from(challenge) {
                headers.append(WWW_AUTHENTICATE, value);
            }
        }
        response
    }
}
