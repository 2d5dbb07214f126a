//! The issuer's directory (RFC 9578 section 4): where to ask, and with which keys.

use base64::Engine;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::{Deserialize, Serialize};

use super::{IssuerPublicKey, TokenType};
use crate::Error;

/// Where a directory is found on the issuer's host.
pub const WELL_KNOWN_PATH: &str = "/.well-known/private-token-issuer-directory";
/// The media type of a directory.
pub const MEDIA_TYPE: &str = "application/private-token-issuer-directory";
/// The longest directory that is read.
pub const MAX_LEN: usize = 256 * 1024;

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Where to send requests, and the keys, the preferred one first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory {
    /// A URL, or a path on the host that the directory came from.
    pub request_uri: String,
    /// The keys, the preferred one first.
    pub keys: Vec<DirectoryKey>,
}

/// A key of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryKey {
    /// The key.
    pub key: IssuerPublicKey,
    /// The time before which no client should use the key, in seconds since 1970.
    pub not_before: Option<u64>,
    /// The additions of Sealstone's issuers (`spec/token.md`, "Directory").
    pub lifetime: Option<Lifetime>,
}

/// When an epoch's key does what. Times are seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// The number of the epoch.
    pub epoch: u64,
    /// When the epoch begins.
    pub not_before: u64,
    /// The time from which the key does not issue any more.
    pub issue_until: u64,
    /// The time from which tokens of the key are refused.
    pub redeem_until: u64,
}

/// The names in the JSON text.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Json {
    issuer_request_uri: String,
    token_keys: Vec<JsonKey>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct JsonKey {
    token_type: u16,
    token_key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_before: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    issue_until: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    redeem_until: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    epoch: Option<u64>,
}

impl JsonKey {
    /// The additions of Sealstone's issuers, if they are complete.
    fn lifetime(&self) -> Option<Lifetime> {
        Some(Lifetime {
            epoch: self.epoch?,
            not_before: self.not_before?,
            issue_until: self.issue_until?,
            redeem_until: self.redeem_until?,
        })
    }
}

impl Directory {
    /// The JSON text.
    #[must_use]
    pub fn to_json(&self) -> String {
        let key = |entry: &DirectoryKey| JsonKey {
            token_type: entry.key.token_type().number(),
            token_key: BASE64.encode(entry.key.as_bytes()),
            not_before: entry.not_before,
            issue_until: entry.lifetime.map(|lifetime| lifetime.issue_until),
            redeem_until: entry.lifetime.map(|lifetime| lifetime.redeem_until),
            epoch: entry.lifetime.map(|lifetime| lifetime.epoch),
        };
        let json = Json {
            issuer_request_uri: self.request_uri.clone(),
            token_keys: self.keys.iter().map(key).collect(),
        };
        serde_json::to_string_pretty(&json).expect("text and numbers have a JSON form")
    }

    /// The directory of a JSON text. Fields and types that are unknown here are passed over.
    ///
    /// # Errors
    /// If the text is longer than [`MAX_LEN`] or anything else, or a key of a known type is
    /// malformed.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        if text.len() > MAX_LEN {
            return Err(Error::TooLong("directory"));
        }
        let json: Json = serde_json::from_str(text).map_err(|_| Error::Malformed("directory"))?;
        let mut keys = Vec::new();
        for entry in json.token_keys {
            let Ok(token_type) = TokenType::from_number(entry.token_type) else {
                continue;
            };
            let bytes = BASE64
                .decode(&entry.token_key)
                .map_err(|_| Error::Malformed("directory"))?;
            let key = IssuerPublicKey::decode(token_type, &bytes)?;
            let lifetime = entry.lifetime();
            keys.push(DirectoryKey {
                key,
                not_before: entry.not_before,
                lifetime,
            });
        }
        Ok(Self {
            request_uri: json.issuer_request_uri,
            keys,
        })
    }

    /// The first key of this type that a client may use at `now`, in seconds since 1970.
    #[must_use]
    pub fn key(&self, token_type: TokenType, now: u64) -> Option<&IssuerPublicKey> {
        self.usable_keys(token_type, now).next()
    }

    /// The keys of this type that a client may use at `now`, in seconds since 1970: the first two
    /// that issue by then, and still do, as far as the directory says.
    ///
    /// These are the keys of this epoch and of the one before. A longer list would let an issuer
    /// and an origin tell many clients apart: the origin names another of its keys to each.
    pub fn usable_keys(
        &self,
        token_type: TokenType,
        now: u64,
    ) -> impl Iterator<Item = &IssuerPublicKey> {
        let issues = move |entry: &&DirectoryKey| {
            entry.key.token_type() == token_type
                && entry.not_before.is_none_or(|time| time <= now)
                && entry.lifetime.is_none_or(|it| now < it.issue_until)
        };
        self.keys
            .iter()
            .filter(issues)
            .map(|entry| &entry.key)
            .take(2)
    }
}
