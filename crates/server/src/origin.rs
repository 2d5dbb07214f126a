//! A layer for any axum or tower application: requests pass with a token that is accepted, all
//! others get the verifier's challenge (RFC 9577).
//!
//! ```no_run
//! use std::sync::Arc;
//! use axum::{Router, routing::get};
//! use sealstone_server::origin::TokenLayer;
//! use sealstone_server::verifier::Verifier;
//!
//! fn protected(verifier: Arc<Verifier>) -> Router {
//!     let pages = Router::new().route("/", get(|| async { "welcome" }));
//!     pages.layer(TokenLayer::new(verifier))
//! }
//! ```

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::http::header::AUTHORIZATION;
use axum::response::{IntoResponse, Response};
use tower::{Layer, Service};

use crate::verifier::Verifier;

/// Puts [`TokenService`] around a service.
#[derive(Clone)]
pub struct TokenLayer(Arc<Verifier>);

impl TokenLayer {
    /// Asks this verifier.
    #[must_use]
    pub fn new(verifier: Arc<Verifier>) -> Self {
        Self(verifier)
    }
}

impl<S> Layer<S> for TokenLayer {
    type Service = TokenService<S>;

    fn layer(&self, inner: S) -> TokenService<S> {
        TokenService {
            inner,
            verifier: self.0.clone(),
        }
    }
}

/// Spends a token for each request. The inner service sees [`crate::verifier::Accepted`] among the
/// extensions of the request, and not the token.
#[derive(Clone)]
pub struct TokenService<S> {
    inner: S,
    verifier: Arc<Verifier>,
}

impl<S> Service<Request> for TokenService<S>
where
    S: Service<Request> + Clone + Send + 'static,
    S::Response: IntoResponse,
    S::Future: Send,
{
    type Response = Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        // The service that is ready is this one, not its clone.
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        let verifier = self.verifier.clone();
        Box::pin(async move {
            match verifier.admit(request.headers()).await {
                Ok(accepted) => {
                    request.headers_mut().remove(AUTHORIZATION);
                    request.extensions_mut().insert(accepted);
                    Ok(inner.call(request).await?.into_response())
                }
                Err(problem) => Ok(problem.into_response()),
            }
        })
    }
}
