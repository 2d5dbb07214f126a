//! The address that a browser is at, and its cookie.

use axum::http::HeaderMap;
use axum::http::header::COOKIE;

/// Where a browser is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) origin: String,
    pub(super) host: String,
    pub(super) is_secure: bool,
}

impl Site {
    /// Browsers do not keep cookies of two ports apart: the name does. With TLS, the prefix binds
    /// the cookie to the host.
    fn cookie_name(&self) -> String {
        match (self.is_secure, self.host.rsplit_once(':')) {
            (true, _) => "__Host-sealstone".to_owned(),
            (false, Some((_, port))) => format!("sealstone-{port}"),
            (false, None) => "sealstone".to_owned(),
        }
    }

    pub(super) fn cookie(&self, secret: &str) -> String {
        let secure = if self.is_secure { "; Secure" } else { "" };
        let name = self.cookie_name();
        format!("{name}={secret}; Path=/; HttpOnly; SameSite=Strict{secure}")
    }

    pub(super) fn no_cookie(&self) -> String {
        format!("{}; Max-Age=0", self.cookie(""))
    }

    pub(super) fn secret(&self, headers: &HeaderMap) -> Option<Secret> {
        let name = self.cookie_name();
        let values = headers.get_all(COOKIE).iter();
        let mut pairs = values
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='));
        let found = pairs.find(|(other, _)| *other == name);
        found.map(|(_, secret)| Secret(secret.to_owned()))
    }
}

/// The cookie's value.
#[derive(Clone)]
pub(super) struct Secret(pub(super) String);
