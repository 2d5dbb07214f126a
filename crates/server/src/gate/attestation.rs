//! Attestations of another service: signed, for one request, used once (`spec/service.md`,
//! "Attestation").

mod jws;
mod keys;

use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sealstone_primitives::hash::sha3_256;
use sealstone_primitives::secret::Secret;
use serde::Deserialize;
use serde_json::{Value, json};

use self::jws::Jws;
use self::keys::Keys;
use super::mac::{Mac, label};
use super::{Account, Ask, Failure, Gate, Way};
use crate::store::{Change, Mark, Set};
use crate::{Error, Result};

/// Marks of attestations that expire in the same hour are dropped together.
const HOUR: u64 = 3600;
/// An attestation is for a moment, and marks are kept as long as it is good.
const MAX_LIFETIME: u64 = 24 * HOUR;
/// Seconds by which the attester's clock may be ahead.
const AHEAD: u64 = 60;
/// The longest name of an attestation, in bytes.
const MAX_JTI: usize = 256;
/// The longest attestation, in bytes.
const MAX_LEN: usize = 8 * 1024;

/// Options of the gate `attestation`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Options {
    /// The attester: the claim `iss`.
    pub issuer: String,
    /// For whom: the claim `aud`.
    pub audience: String,
    /// The file with the attester's keys, a JWK set.
    #[serde(default)]
    pub keys_file: Option<PathBuf>,
    /// Where the attester publishes its keys.
    #[serde(default)]
    pub keys_url: Option<String>,
    /// Seconds between two looks at the keys.
    #[serde(default = "five_minutes")]
    pub refresh: u64,
    /// Seconds for which an attestation may be good.
    #[serde(default = "ten_minutes")]
    pub lifetime: u64,
}

fn five_minutes() -> u64 {
    300
}

fn ten_minutes() -> u64 {
    600
}

/// The claims of an attestation. A claim that stands twice is an error.
#[derive(Deserialize)]
struct Claims {
    iss: String,
    aud: Audience,
    exp: f64,
    #[serde(default)]
    nbf: Option<f64>,
    #[serde(default)]
    iat: Option<f64>,
    jti: String,
    #[serde(default)]
    sub: Option<String>,
    /// SHA-256 of the request, in base64url.
    #[serde(rename = "sealstone-request")]
    request: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

impl Audience {
    fn contains(&self, name: &str) -> bool {
        match self {
            Self::One(one) => one == name,
            Self::Several(several) => several.iter().any(|other| other == name),
        }
    }
}

pub(super) struct Attestation {
    name: String,
    options: Options,
    keys: Keys,
    mac: Mac,
}

impl Attestation {
    pub(super) fn new(name: &str, options: &Options, secret: &Secret<32>) -> Result<Self> {
        let wrong = |what: &str| Err(Error::Config(format!("the gate {name}: {what}")));
        if options.issuer.is_empty() || options.audience.is_empty() {
            return wrong("issuer and audience are texts that are not empty");
        }
        if !(1..=MAX_LIFETIME).contains(&options.lifetime) || options.refresh == 0 {
            return wrong("a lifetime has 1 to 86400 seconds, refresh at least 1");
        }
        let keys = match (&options.keys_file, &options.keys_url) {
            (Some(path), None) => Keys::of_file(path, options.refresh),
            (None, Some(url)) => Keys::of_url(url, options.refresh),
            _ => return wrong("either keys-file or keys-url says where the attester's keys are"),
        };
        let named = |error| Error::Config(format!("the gate {name}: {error}"));
        Ok(Self {
            name: name.to_owned(),
            options: options.clone(),
            keys: keys.map_err(named)?,
            mac: Mac::new(secret, "attestation", name),
        })
    }

    /// The claims of an attestation that is authentic.
    fn authentic(&self, text: &str, now: u64) -> std::result::Result<Claims, Failure> {
        if text.len() > MAX_LEN {
            return Err(Failure::Wrong("the attestation is too long"));
        }
        let jws = Jws::parse(text)?;
        let is_signed = self
            .keys
            .any(jws.key_id(), now, |key| jws.is_signed_by(key));
        match is_signed {
            Some(true) => {}
            Some(false) => return Err(Failure::Wrong("the attestation is not authentic")),
            None => return Err(Failure::Wrong("no key of the attester is known at present")),
        }
        let malformed = |_| Failure::Wrong("a claim of the attestation is missing or malformed");
        serde_json::from_slice(jws.payload()).map_err(malformed)
    }

    /// When the attestation expires, if it is for this request at this moment.
    fn checked(&self, claims: &Claims, ask: &Ask<'_>) -> std::result::Result<u64, Failure> {
        let wrong = |what| Err(Failure::Wrong(what));
        if claims.iss != self.options.issuer {
            return wrong("the attestation is of another issuer");
        }
        if !claims.aud.contains(&self.options.audience) {
            return wrong("the attestation is for another audience");
        }
        let now = to_f64(ask.now);
        if now >= claims.exp {
            return wrong("the attestation has expired");
        }
        if claims.exp - now > to_f64(self.options.lifetime) {
            return wrong("the attestation is good for too long");
        }
        let is_early = |time: Option<f64>| time.is_some_and(|time| time > now + to_f64(AHEAD));
        if is_early(claims.nbf) || is_early(claims.iat) {
            return wrong("the attestation is not good yet");
        }
        if claims.jti.is_empty() || claims.jti.len() > MAX_JTI {
            return wrong("the attestation's jti has 1 to 256 bytes");
        }
        let request = URL_SAFE_NO_PAD.decode(claims.request.trim_end_matches('='));
        if request.ok().as_deref() != Some(&ask.subject[..]) {
            return wrong("the attestation is for another request");
        }
        // It is between the present and a day later.
        Ok(claims.exp.ceil() as u64)
    }
}

/// Seconds have fewer than 53 bits.
fn to_f64(seconds: u64) -> f64 {
    seconds as f64
}

impl Gate for Attestation {
    fn describe(&self, _now: u64) -> Value {
        json!({
            "kind": "attestation", "name": self.name,
            "issuer": self.options.issuer, "audience": self.options.audience,
        })
    }

    fn check(&self, ask: &Ask<'_>) -> std::result::Result<Vec<Way>, Failure> {
        let text = ask.proofs.of(&self.name).ok_or(Failure::Missing)?;
        let claims = self.authentic(text, ask.now)?;
        let expires = self.checked(&claims, ask)?;
        let label = label("attestation.mark");
        let name = [
            label.as_slice(),
            self.name.as_bytes(),
            &[0],
            claims.jti.as_bytes(),
        ]
        .concat();
        let hour = expires / HOUR;
        let set = Set::new(
            format!("attestation-{hour}"),
            (hour + 1).saturating_mul(HOUR),
        );
        let mark = Mark::new(&set, sha3_256(&name)).of_operation(ask.subject);
        let account = claims.sub.map(|sub| Account {
            key: self.mac.tag(&[sub.as_bytes()]),
            since: None,
        });
        Ok(vec![Way::new(Change::new(ask.now).mark(mark), account)])
    }

    fn has_accounts(&self) -> bool {
        true
    }
}
