//! A new credential of WebAuthn, made for one request (`spec/service.md`, "WebAuthn").

mod policy;
mod registration;
mod statement;

use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sealstone_primitives::hash::{sha3_256, sha256};
use sealstone_primitives::rng;
use sealstone_primitives::secret::Secret;
use serde::Deserialize;
use serde_json::{Value, json};

use self::policy::Policy;
use self::registration::Registration;
use self::statement::Roots;
use super::mac::{Mac, label};
use super::{Ask, Failure, Gate, Way};
use crate::store::{Change, Mark, Set};
use crate::{Error, Result};

/// Marks of challenges that expire in the same hour are dropped together.
const HOUR: u64 = 3600;
const CHALLENGE_LEN: usize = 8 + 16 + 32;
/// The longest proof, in bytes.
const MAX_LEN: usize = 16 * 1024;
/// The algorithms that credentials may have: ES256, EdDSA, RS256.
const ALGORITHMS: [i64; 3] = [-7, -8, -257];

/// Options of the gate `webauthn`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Options {
    /// The domain of the credential.
    pub rp_id: String,
    /// The pages that may ask, as `https://host` or `https://host:port`.
    pub origins: Vec<String>,
    /// Whether the authenticator must know its user, by a PIN or a finger.
    #[serde(default)]
    pub user_verification: bool,
    /// Certificates (PEM) of the makers of authenticators. Without it, any authenticator passes,
    /// also one of software.
    #[serde(default)]
    pub roots_file: Option<PathBuf>,
    /// The models that pass, as their AAGUID. Empty: all of the makers.
    #[serde(default)]
    pub models: Vec<String>,
    /// For how many seconds a challenge is good.
    #[serde(default = "five_minutes")]
    pub lifetime: u64,
}

fn five_minutes() -> u64 {
    300
}

pub(super) struct WebAuthn {
    name: String,
    options: Options,
    policy: Policy,
    mac: Mac,
}

impl WebAuthn {
    pub(super) fn new(name: &str, options: &Options, secret: &Secret<32>) -> Result<Self> {
        let wrong = |what: &str| Error::Config(format!("the gate {name}: {what}"));
        if options.rp_id.is_empty() || options.origins.is_empty() {
            return Err(wrong("rp-id and origins are not empty"));
        }
        if options.lifetime == 0 {
            return Err(wrong("a lifetime has at least 1 second"));
        }
        let roots = options.roots_file.as_deref().map(Roots::read);
        let roots = roots.transpose().map_err(|error| wrong(&error))?;
        if roots.is_none() && !options.models.is_empty() {
            return Err(wrong(
                "models need a roots-file: others can claim any model",
            ));
        }
        let models = options.models.iter().map(|model| parse_model(model));
        let models = models.collect::<Option<_>>();
        Ok(Self {
            name: name.to_owned(),
            policy: Policy {
                rp_id_hash: sha256(&[options.rp_id.as_bytes()]),
                origins: options.origins.clone(),
                is_user_verified: options.user_verification,
                roots,
                models: models.ok_or_else(|| wrong("a model is 32 hexadecimal digits"))?,
            },
            options: options.clone(),
            mac: Mac::new(secret, "webauthn", name),
        })
    }

    fn challenge(&self, now: u64) -> Vec<u8> {
        let expires = now.saturating_add(self.options.lifetime).to_be_bytes();
        let random: [u8; 16] = rng::array();
        let tag = self.mac.tag(&[&expires, &random]);
        [&expires[..], &random, &tag].concat()
    }

    /// When a challenge of ours expires.
    fn expires(&self, challenge: &[u8]) -> Option<u64> {
        let (expires, rest) = challenge.split_first_chunk::<8>()?;
        let (random, tag) = rest.split_first_chunk::<16>()?;
        let is_ours =
            challenge.len() == CHALLENGE_LEN && self.mac.is_right(&[expires, random], tag);
        is_ours.then(|| u64::from_be_bytes(*expires))
    }
}

/// 16 bytes in hexadecimal, with dashes or without.
fn parse_model(text: &str) -> Option<[u8; 16]> {
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    let is_right = digits.len() == 32 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    is_right.then_some(())?;
    Some(u128::from_str_radix(&digits, 16).ok()?.to_be_bytes())
}

/// The challenge that the page gives to the authenticator: it binds the credential to the request.
fn bound(challenge: &[u8], subject: &[u8; 32]) -> [u8; 32] {
    sha256(&[&label("webauthn.challenge"), challenge, subject])
}

/// The three parts of a proof.
fn parts(proof: &str) -> Option<[Vec<u8>; 3]> {
    let parts = proof.split('.').map(|part| URL_SAFE_NO_PAD.decode(part));
    let parts: Vec<_> = parts.collect::<std::result::Result<_, _>>().ok()?;
    parts.try_into().ok()
}

impl Gate for WebAuthn {
    fn describe(&self, now: u64) -> Value {
        json!({
            "kind": "webauthn", "name": self.name,
            "challenge": URL_SAFE_NO_PAD.encode(self.challenge(now)),
            "expires-in": self.options.lifetime,
            "rp-id": self.options.rp_id,
            "algorithms": ALGORITHMS,
            "user-verification": self.options.user_verification,
            "attestation": self.policy.roots.is_some(),
        })
    }

    fn check(&self, ask: &Ask<'_>) -> std::result::Result<Vec<Way>, Failure> {
        let proof = ask.proofs.of(&self.name).ok_or(Failure::Missing)?;
        if proof.len() > MAX_LEN {
            return Err(Failure::Wrong("the credential is too long"));
        }
        let malformed = Failure::Wrong("the proof is not CHALLENGE.CLIENT-DATA.ATTESTATION");
        let [challenge, client_data, object] = parts(proof).ok_or(malformed)?;
        let expires = self
            .expires(&challenge)
            .ok_or(Failure::Wrong("the challenge is not of this gate"))?;
        if ask.now >= expires {
            return Err(Failure::Wrong("the challenge has expired"));
        }
        let registration = Registration::parse(&client_data, &object)?;
        registration.check(&bound(&challenge, &ask.subject), &self.policy, ask.now)?;
        let key = sha3_256(&[&label("webauthn.mark"), &challenge[..]].concat());
        let hour = expires / HOUR;
        let set = Set::new(format!("webauthn-{hour}"), (hour + 1).saturating_mul(HOUR));
        let mark = Mark::new(&set, key).of_operation(ask.subject);
        Ok(vec![Way::new(Change::new(ask.now).mark(mark), None)])
    }
}

#[cfg(test)]
mod tests;
