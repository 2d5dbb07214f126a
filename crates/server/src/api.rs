//! The JSON that clients send and get, and its OpenAPI document (`spec/service.md`).
//!
//! ```
//! use sealstone_server::api;
//!
//! let document = api::issuer();
//! assert!(document.paths.paths.contains_key("/v1/issue"));
//! ```

mod page;
#[cfg(test)]
mod tests;

use axum::Router;
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::Value;
use utoipa::OpenApi;
use utoipa::openapi::OpenApi as Document;

use crate::bodies::Always;
use crate::http::{RouteLimits, guarded};

/// Where the document is.
pub const DOCUMENT_PATH: &str = "/openapi.json";
/// Where the same is for people.
pub const PAGE_PATH: &str = "/docs";
/// The page needs its own style, and nothing else.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Sealstone issuer",
        description = "Issues anonymous tokens to those who pass \
        its gate."
    ),
    paths(
        crate::issuer::send_directory,
        crate::issuer::send_statement,
        crate::issuer::send_passport,
        crate::issuer::send_gate,
        crate::issuer::answer_request,
        crate::issuer::issue_json,
        crate::issuer::issue_json_batch,
        crate::issuer::divide_invitation,
        crate::issuer::vouch,
    )
)]
struct Issuer;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Sealstone verifier",
        description = "Accepts each anonymous token once."
    ),
    paths(
        crate::verifier::verify_header,
        crate::verifier::verify_forwarded,
        crate::verifier::verify_json,
        crate::verifier::verify_batch,
        crate::verifier::check_json,
    )
)]
struct Verifier;

#[derive(OpenApi)]
#[openapi(paths(
    crate::health::alive,
    crate::health::readiness,
    send_document,
    send_page
))]
struct Common;

/// The document of an issuer.
#[must_use]
pub fn issuer() -> Document {
    Issuer::openapi().merge_from(Common::openapi())
}

/// The document of a verifier.
#[must_use]
pub fn verifier() -> Document {
    Verifier::openapi().merge_from(Common::openapi())
}

/// The document of an issuer that verifies its own tokens.
#[must_use]
pub fn both() -> Document {
    issuer().merge_from(Verifier::openapi())
}

/// The routes of a document.
pub fn router(document: &Document) -> Router {
    let json = document.to_pretty_json().unwrap_or_default();
    let value: Value = serde_json::from_str(&json).unwrap_or_default();
    let html = page::render(&value);
    let limits = RouteLimits::default();
    Router::new()
        .route(
            DOCUMENT_PATH,
            guarded("openapi", &limits, get(move || send_document(json.clone()))),
        )
        .route(
            PAGE_PATH,
            guarded("docs", &limits, get(move || send_page(html.clone()))),
        )
}

/// This document
#[utoipa::path(get, path = "/openapi.json", responses(
    (status = 200, description = "OpenAPI 3.1", content_type = "application/json", body = Object),
    Always,
))]
pub(crate) async fn send_document(json: String) -> Response {
    let media_type = HeaderValue::from_static("application/json");
    ([(CONTENT_TYPE, media_type)], json).into_response()
}

/// This document, for people
#[utoipa::path(get, path = "/docs", responses(
    (status = 200, description = "A page", content_type = "text/html", body = String),
    Always,
))]
pub(crate) async fn send_page(html: String) -> Response {
    let headers = [
        (
            CONTENT_TYPE,
            HeaderValue::from_static("text/html; charset=utf-8"),
        ),
        (CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
    ];
    (headers, html).into_response()
}
