//! Which web pages of other origins may ask: their browsers ask first (the Fetch standard, "CORS").

use axum::Router;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderName, HeaderValue, Method};
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::{Error, Result};

/// Seconds that a browser remembers the answer.
const REMEMBERED: std::time::Duration = std::time::Duration::from_secs(3600);

/// Web pages whose scripts may ask a service, by their origins. Cookies are never sent with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pages(Vec<HeaderValue>);

impl Pages {
    /// Origins such as `https://shop.example`, or `*` for all pages.
    ///
    /// # Errors
    /// If a text is not an origin.
    pub fn parse(texts: &[String]) -> Result<Self> {
        let parse = |text: &String| {
            let rest = text
                .strip_prefix("https://")
                .or(text.strip_prefix("http://"));
            let is_host = |rest: &str| {
                let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
                !rest.is_empty() && rest.bytes().all(allowed)
            };
            let is_origin = text == "*" || rest.is_some_and(is_host);
            let value = HeaderValue::from_str(&text.to_ascii_lowercase()).ok();
            value.filter(|_| is_origin).ok_or_else(|| {
                Error::Config(format!(
                    "pages: an origin has the form https://shop.example, unlike {text:?}"
                ))
            })
        };
        Ok(Self(texts.iter().map(parse).collect::<Result<_>>()?))
    }

    /// Answers the browsers of these pages before `router` does.
    pub fn before(&self, router: Router) -> Router {
        let origins = match self.0.as_slice() {
            [] => return router,
            some if some.iter().any(|origin| origin == "*") => AllowOrigin::any(),
            some => AllowOrigin::list(some.iter().cloned()),
        };
        let gate = HeaderName::from_static(super::GATE_HEADER);
        let cors = CorsLayer::new()
            .allow_origin(origins)
            .allow_methods([Method::GET, Method::POST])
            .allow_headers([AUTHORIZATION, CONTENT_TYPE, gate])
            .expose_headers([WWW_AUTHENTICATE, RETRY_AFTER])
            .max_age(REMEMBERED);
        router.layer(cors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_hosts_with_a_scheme() {
        let parse = |text: &str| Pages::parse(&[text.to_owned()]);
        for text in [
            "*",
            "https://shop.example",
            "http://127.0.0.1:8080",
            "http://[::1]:1",
        ] {
            assert!(parse(text).is_ok(), "{text}");
        }
        for text in [
            "",
            "shop.example",
            "https://",
            "https://a/b",
            "https://a b",
            "null",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
