//! Proof of work: bound to the request, used once (`spec/service.md`, "Proof of work").
//!
//! ```
//! use sealstone_server::gate::pow::{Algorithm, Work};
//!
//! let work = Work { challenge: vec![1; 56], algorithm: Algorithm::Sha256, bits: 8 };
//! let proof = work.solve(&[7; 32], 1, || true).expect("not given up");
//! assert!(proof.starts_with("AQEB"));
//! ```

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sealstone_argon2::{Arena, Argon2, Params};
use sealstone_primitives::hash::{sha3_256, sha256};
use sealstone_primitives::rng;
use sealstone_primitives::secret::Secret;
use serde::Deserialize;
use serde_json::{Value, json};

use super::mac::{Mac, label};
use super::{Ask, Failure, Gate, Way};
use crate::store::{Change, Mark, Set};
use crate::{Error, Result};

/// Marks of challenges that expire in the same hour are dropped together.
const HOUR: u64 = 3600;
const CHALLENGE_LEN: usize = 8 + 16 + 32;
/// Above, no client would finish.
const MAX_BITS: u8 = 48;
/// Above, the verification would be an attack on the issuer.
const MAX_MEMORY_KIB: u32 = 256 * 1024;

/// Options of the gate `pow`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Options {
    /// `sha256`, or `argon2id`, which takes memory too.
    pub algorithm: AlgorithmName,
    /// Leading zero bits: each one more doubles the work.
    pub bits: u8,
    /// Argon2id's memory in KiB.
    pub memory_kib: u32,
    /// Argon2id's passes.
    pub passes: u32,
    /// For how many seconds a challenge is good.
    pub lifetime: u64,
}

impl Default for Options {
    /// About a million hashes: a tenth of a second for a program, some seconds for a web page.
    fn default() -> Self {
        Self {
            algorithm: AlgorithmName::Sha256,
            bits: 20,
            memory_kib: 16 * 1024,
            passes: 1,
            lifetime: 300,
        }
    }
}

/// The name of an algorithm.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum AlgorithmName {
    /// SHA-256.
    Sha256,
    /// Argon2id.
    Argon2id,
}

/// An algorithm with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// SHA-256.
    Sha256,
    /// Argon2id with one lane.
    Argon2id(Params),
}

/// The client's task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// The issuer's challenge.
    pub challenge: Vec<u8>,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Leading zero bits for one token.
    pub bits: u8,
}

impl Work {
    /// The work that the description of a gate asks for: its own, or the first within it.
    #[must_use]
    pub fn from_json(gate: &Value) -> Option<Self> {
        if let Some(parts) = gate["of"].as_array() {
            return parts.iter().find_map(Self::from_json);
        }
        let number = |name: &str| gate[name].as_u64().and_then(|n| u32::try_from(n).ok());
        let algorithm = match gate["algorithm"].as_str()? {
            "sha256" => Algorithm::Sha256,
            "argon2id" => {
                let params = Params::new(number("memory-kib")?, number("passes")?, 1);
                Algorithm::Argon2id(params.ok()?)
            }
            _ => return None,
        };
        Some(Self {
            challenge: URL_SAFE_NO_PAD.decode(gate["challenge"].as_str()?).ok()?,
            algorithm,
            bits: u8::try_from(number("bits")?).ok()?,
        })
    }

    /// Searches for the counter that passes for `subject` and `tokens`, until `goes_on` says no.
    /// The client shows the resulting proof.
    pub fn solve(
        &self,
        subject: &[u8; 32],
        tokens: u64,
        goes_on: impl Fn() -> bool,
    ) -> Option<String> {
        let mut arena = Arena::new();
        for counter in 0..u64::MAX {
            if counter % 1024 == 0 && !goes_on() {
                return None;
            }
            if self.is_done(subject, tokens, counter, &mut arena) {
                let challenge = URL_SAFE_NO_PAD.encode(&self.challenge);
                return Some(format!("{challenge}.{counter}"));
            }
        }
        None
    }

    fn is_done(&self, subject: &[u8; 32], tokens: u64, counter: u64, arena: &mut Arena) -> bool {
        let counter = counter.to_be_bytes();
        let digest = match &self.algorithm {
            Algorithm::Sha256 => sha256(&[&self.challenge, subject, &counter]),
            Algorithm::Argon2id(params) => {
                let (password, mut tag) = ([&subject[..], &counter].concat(), [0; 32]);
                let argon2 = Argon2::new(*params).threads(1);
                if argon2
                    .hash(&password, &self.challenge, &mut tag, arena)
                    .is_err()
                {
                    return false;
                }
                tag
            }
        };
        leading_zeros(&digest) >= u32::from(self.bits) + batch_bits(tokens)
    }
}

fn leading_zeros(digest: &[u8; 32]) -> u32 {
    let zeros = digest.iter().take_while(|byte| **byte == 0).count();
    let next = digest.get(zeros).map_or(0, |byte| byte.leading_zeros());
    8 * u32::try_from(zeros).unwrap_or(0) + next
}

/// ⌈log2 n⌉: a request for n tokens costs n times as much, rounded up.
fn batch_bits(tokens: u64) -> u32 {
    u64::BITS - tokens.saturating_sub(1).leading_zeros()
}

pub(super) struct Pow {
    name: String,
    options: Options,
    algorithm: Algorithm,
    mac: Mac,
}

impl Pow {
    pub(super) fn new(name: &str, options: &Options, secret: &Secret<32>) -> Result<Self> {
        let wrong = |what: &str| Err(Error::Config(format!("the gate {name}: {what}")));
        if !(1..=MAX_BITS).contains(&options.bits) {
            return wrong("bits are 1 to 48");
        }
        if options.lifetime == 0 {
            return wrong("a lifetime has at least 1 second");
        }
        let algorithm = match options.algorithm {
            AlgorithmName::Sha256 => Algorithm::Sha256,
            AlgorithmName::Argon2id if options.memory_kib > MAX_MEMORY_KIB => {
                return wrong("memory-kib is at most 262144, because the issuer needs it too");
            }
            AlgorithmName::Argon2id => match Params::new(options.memory_kib, options.passes, 1) {
                Ok(params) => Algorithm::Argon2id(params),
                Err(_) => return wrong("memory-kib is at least 8, passes at least 1"),
            },
        };
        Ok(Self {
            name: name.to_owned(),
            options: options.clone(),
            algorithm,
            mac: Mac::new(secret, "pow", name),
        })
    }

    fn parameters(&self) -> Vec<u8> {
        let bits = [self.options.bits];
        match &self.algorithm {
            Algorithm::Sha256 => [b"sha256", &bits[..]].concat(),
            Algorithm::Argon2id(_) => [
                b"argon2id",
                &bits[..],
                &self.options.memory_kib.to_be_bytes(),
                &self.options.passes.to_be_bytes(),
            ]
            .concat(),
        }
    }

    fn challenge(&self, now: u64) -> Vec<u8> {
        let expires = now.saturating_add(self.options.lifetime).to_be_bytes();
        let random: [u8; 16] = rng::array();
        let tag = self.mac.tag(&[&self.parameters(), &expires, &random]);
        [&expires[..], &random, &tag].concat()
    }

    /// When a challenge of ours expires.
    fn expires(&self, challenge: &[u8]) -> Option<u64> {
        let (expires, rest) = challenge.split_first_chunk::<8>()?;
        let (random, tag) = rest.split_first_chunk::<16>()?;
        let is_ours = challenge.len() == CHALLENGE_LEN
            && self
                .mac
                .is_right(&[&self.parameters(), expires, random], tag);
        is_ours.then(|| u64::from_be_bytes(*expires))
    }
}

impl Gate for Pow {
    fn describe(&self, now: u64) -> Value {
        let mut described = json!({
            "kind": "pow", "name": self.name, "bits": self.options.bits,
            "challenge": URL_SAFE_NO_PAD.encode(self.challenge(now)),
            "expires-in": self.options.lifetime, "algorithm": "sha256",
        });
        if let Algorithm::Argon2id(_) = self.algorithm {
            described["algorithm"] = "argon2id".into();
            described["memory-kib"] = self.options.memory_kib.into();
            described["passes"] = self.options.passes.into();
        }
        described
    }

    fn check(&self, ask: &Ask<'_>) -> std::result::Result<Vec<Way>, Failure> {
        let proof = ask.proofs.of(&self.name).ok_or(Failure::Missing)?;
        let malformed = Failure::Wrong("the proof is not CHALLENGE.COUNTER");
        let (challenge, counter) = proof.split_once('.').ok_or(malformed)?;
        let counter = counter.parse().map_err(|_| malformed)?;
        let challenge = URL_SAFE_NO_PAD.decode(challenge).map_err(|_| malformed)?;
        let expires = self
            .expires(&challenge)
            .ok_or(Failure::Wrong("the challenge is not of this gate"))?;
        if ask.now >= expires {
            return Err(Failure::Wrong("the challenge has expired"));
        }
        let work = Work {
            challenge,
            algorithm: self.algorithm,
            bits: self.options.bits,
        };
        if !work.is_done(&ask.subject, ask.tokens, counter, &mut Arena::new()) {
            return Err(Failure::Wrong(
                "the work is not done, or for another request",
            ));
        }
        let key = sha3_256(&[&label("pow.mark"), &work.challenge[..]].concat());
        let hour = expires / HOUR;
        let set = Set::new(format!("pow-{hour}"), (hour + 1).saturating_mul(HOUR));
        let mark = Mark::new(&set, key).of_operation(ask.subject);
        Ok(vec![Way::new(Change::new(ask.now).mark(mark), None)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_costs_as_much_as_its_tokens() {
        let costs = [(1, 0), (2, 1), (3, 2), (4, 2), (100, 7), (65_535, 16)];
        for (tokens, bits) in costs {
            assert_eq!(batch_bits(tokens), bits, "{tokens}");
        }
    }

    #[test]
    fn zero_bits_are_counted() {
        assert_eq!(leading_zeros(&[0xff; 32]), 0);
        assert_eq!(leading_zeros(&[0; 32]), 256);
        let mut digest = [0xff; 32];
        digest[..2].copy_from_slice(&[0, 0x1f]);
        assert_eq!(leading_zeros(&digest), 11);
    }
}
