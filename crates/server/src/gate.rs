//! Gates: who gets tokens (`spec/service.md`, "Gates").
//!
//! ```
//! use std::collections::BTreeMap;
//! use sealstone_primitives::secret::Secret;
//! use sealstone_server::gate::{Ask, GateOptions, Gates, Proofs, pow};
//!
//! let options = GateOptions::Pow(pow::Options { bits: 8, ..pow::Options::default() });
//! let configured = BTreeMap::from([("work".to_owned(), options)]);
//! let gates = Gates::new("work", &configured, &Secret::random())?;
//! let now = 1_767_225_600;
//!
//! let work = pow::Work::from_json(&gates.describe(now)).expect("a challenge");
//! let subject = [7; 32]; // The digest of the request.
//! let proof = work.solve(&subject, 1, || true).expect("not given up");
//! let proofs = Proofs::parse([format!("work {proof}")]);
//! let ask = Ask { subject, tokens: 1, network: None, now, proofs: &proofs };
//! assert_eq!(gates.check(&ask).map(|ways| ways.len()), Ok(1));
//! # Ok::<(), sealstone_server::Error>(())
//! ```

pub mod attestation;
mod compose;
pub mod invitation;
mod mac;
pub mod pow;
mod public_key;
pub mod rate;
mod shown;
pub mod trust;
pub mod vouch;
pub mod webauthn;

use std::collections::BTreeMap;

use sealstone_primitives::secret::Secret;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::store::Change;
use crate::{Error, Result};

pub use rate::Network;

/// For how many seconds the same request with the same proofs is answered again.
pub const REPEAT_GRACE: u64 = 30;
/// A gate that may pass in more ways is refused when the service starts.
const MAX_WAYS: usize = 32;
/// The greatest depth of gates within gates.
const MAX_DEPTH: usize = 8;

/// A gate of the configuration.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum GateOptions {
    /// Everybody passes.
    None {},
    /// Proof of work.
    Pow(pow::Options),
    /// A limit of tokens for each network, or each account of a gate, in each period.
    Rate(rate::Options),
    /// Invitations with quotas.
    Invitation(invitation::Options),
    /// Several holders of invitations stand for a newcomer.
    Vouch(vouch::Options),
    /// The older an account of a gate, the more tokens in each period.
    Trust(trust::Options),
    /// Another service attests, for one request.
    Attestation(attestation::Options),
    /// An authenticator makes a credential, for one request.
    Webauthn(webauthn::Options),
    /// All of these gates.
    All {
        /// Their names.
        of: Vec<String>,
    },
    /// One of these gates.
    Any {
        /// Their names.
        of: Vec<String>,
    },
    /// At least `threshold` of these gates.
    AtLeast {
        /// How many.
        threshold: usize,
        /// Their names.
        of: Vec<String>,
    },
}

impl GateOptions {
    /// The name of the kind.
    fn kind(&self) -> &'static str {
        match self {
            Self::None {} => "none",
            Self::Pow(_) => "pow",
            Self::Rate(_) => "rate",
            Self::Invitation(_) => "invitation",
            Self::Vouch(_) => "vouch",
            Self::Trust(_) => "trust",
            Self::Attestation(_) => "attestation",
            Self::Webauthn(_) => "webauthn",
            Self::All { .. } => "all",
            Self::Any { .. } => "any",
            Self::AtLeast { .. } => "at-least",
        }
    }
}

/// A client's request, and its proofs.
#[derive(Clone, Debug)]
pub struct Ask<'a> {
    /// The digest of the request: proofs are bound to it.
    pub subject: [u8; 32],
    /// How many tokens the request is for.
    pub tokens: u64,
    /// Where the request comes from, if the transport tells.
    pub network: Option<Network>,
    /// The time, in seconds since 1970.
    pub now: u64,
    /// The client's proofs.
    pub proofs: &'a Proofs,
}

/// Proofs by the name of their gate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proofs(Vec<(String, String)>);

impl Proofs {
    /// The values of headers or of a JSON list: a name, a space, a proof. Others are passed over.
    pub fn parse(values: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let split = |value: &str| {
            let (name, proof) = value.trim().split_once(' ')?;
            Some((name.to_owned(), proof.trim().to_owned()))
        };
        Self(
            values
                .into_iter()
                .filter_map(|v| split(v.as_ref()))
                .collect(),
        )
    }

    fn of(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(other, _)| other == name);
        found.map(|(_, proof)| proof.as_str())
    }

    /// Whether the client shows nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Why a gate does not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The client shows no proof for it.
    Missing,
    /// The proof is wrong.
    Wrong(&'static str),
}

/// The client, as far as a gate can tell one from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    key: [u8; 32],
    /// Since when there is this account, in seconds since 1970.
    since: Option<u64>,
}

/// One way in which a gate passes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Way {
    /// To be made as a whole.
    change: Change,
    account: Option<Account>,
}

impl Way {
    fn new(change: Change, account: Option<Account>) -> Self {
        Self { change, account }
    }

    /// The same way with more to do.
    fn with(self, more: impl FnOnce(Change) -> Change) -> Self {
        Self {
            change: more(self.change),
            ..self
        }
    }

    /// Both ways together. The account is that of the first that has one.
    fn and(self, other: Self) -> Self {
        Self {
            change: self.change.and(other.change),
            account: self.account.or(other.account),
        }
    }
}

/// One gate. It checks proofs without the store, and says what the store has to check and
/// remember.
pub(crate) trait Gate: Send + Sync {
    /// The proofs that a client must show, with fresh challenges.
    fn describe(&self, now: u64) -> Value;

    /// The ways in which it passes, the preferred one first; not empty.
    fn check(&self, ask: &Ask<'_>) -> std::result::Result<Vec<Way>, Failure>;

    /// The most ways that [`Gate::check`] returns.
    fn ways(&self) -> usize {
        1
    }

    /// Whether its ways have accounts.
    fn has_accounts(&self) -> bool {
        false
    }

    /// Whether its accounts have ages.
    fn has_ages(&self) -> bool {
        false
    }
}

/// The gate of an issuer, with all that stand within it.
pub struct Gates {
    root: Box<dyn Gate>,
    invitations: Vec<invitation::Invitations>,
    vouches: Vec<vouch::Vouches>,
}

impl Gates {
    /// The gate `name` of the configuration. `none` and `pow` exist without one.
    ///
    /// # Errors
    /// If a name is unknown, a gate contains itself, or an option is out of range.
    pub fn new(
        name: &str,
        configured: &BTreeMap<String, GateOptions>,
        secret: &Secret<32>,
    ) -> Result<Self> {
        let mut builder = Builder {
            configured,
            secret,
            invitations: Vec::new(),
            vouches: Vec::new(),
        };
        let root = builder.build(name, 0)?;
        if root.ways() > MAX_WAYS {
            return Err(Error::Config(format!(
                "the gate {name} can pass in {} ways, and {MAX_WAYS} are allowed: use fewer gates",
                root.ways()
            )));
        }
        Ok(Self {
            root,
            invitations: builder.invitations,
            vouches: builder.vouches,
        })
    }

    /// The proofs that a client must show.
    #[must_use]
    pub fn describe(&self, now: u64) -> Value {
        self.root.describe(now)
    }

    /// The ways in which the proofs pass, without the store: see [`Ask`].
    ///
    /// # Errors
    /// If no way is left.
    pub fn check(&self, ask: &Ask<'_>) -> std::result::Result<Vec<Change>, Failure> {
        let ways = self.root.check(ask)?;
        let with_grace = |way: Way| way.change.with_grace(REPEAT_GRACE);
        Ok(ways.into_iter().map(with_grace).collect())
    }

    /// The gates that take invitations.
    #[must_use]
    pub fn invitations(&self) -> &[invitation::Invitations] {
        &self.invitations
    }

    /// The gates for newcomers.
    #[must_use]
    pub fn vouches(&self) -> &[vouch::Vouches] {
        &self.vouches
    }
}

struct Builder<'a> {
    configured: &'a BTreeMap<String, GateOptions>,
    secret: &'a Secret<32>,
    invitations: Vec<invitation::Invitations>,
    vouches: Vec<vouch::Vouches>,
}

impl Builder<'_> {
    fn build(&mut self, name: &str, depth: usize) -> Result<Box<dyn Gate>> {
        if depth > MAX_DEPTH {
            return Err(Error::Config(format!("the gate {name} contains itself")));
        }
        let is_name = !name.is_empty() && name.len() <= 64;
        if !is_name
            || !name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        {
            return Err(Error::Config(format!(
                "a gate's name has 1 to 64 letters, digits, dots and dashes, which {name:?} has not"
            )));
        }
        let options = match self.configured.get(name) {
            Some(options) => options.clone(),
            None => standard(name)?,
        };
        let kind = options.kind();
        let gate: Box<dyn Gate> = match options {
            GateOptions::None {} => Box::new(Open),
            GateOptions::Pow(options) => Box::new(pow::Pow::new(name, &options, self.secret)?),
            GateOptions::Rate(options) => {
                let of = options.of.as_ref().map(|of| self.build(of, depth + 1));
                let of = of.transpose()?;
                Box::new(rate::Rate::new(name, &options, of, self.secret)?)
            }
            GateOptions::Invitation(options) => Box::new(self.invitations(name, &options)),
            GateOptions::Vouch(options) => Box::new(self.vouches(name, &options)?),
            GateOptions::Trust(options) => {
                let of = self.build(&options.of, depth + 1)?;
                Box::new(trust::Trust::new(name, &options, of, self.secret)?)
            }
            GateOptions::Attestation(options) => {
                Box::new(attestation::Attestation::new(name, &options, self.secret)?)
            }
            GateOptions::Webauthn(options) => {
                Box::new(webauthn::WebAuthn::new(name, &options, self.secret)?)
            }
            GateOptions::All { of } => self.threshold(name, &of, of.len(), depth)?,
            GateOptions::Any { of } => self.threshold(name, &of, 1, depth)?,
            GateOptions::AtLeast { threshold, of } => {
                self.threshold(name, &of, threshold, depth)?
            }
        };
        Ok(Box::new(shown::Shown { kind, gate }))
    }

    fn invitations(
        &mut self,
        name: &str,
        options: &invitation::Options,
    ) -> invitation::Invitations {
        let gate = invitation::Invitations::new(name, options, self.secret);
        // A gate may stand in several places.
        if self.invitations.iter().all(|other| other.name() != name) {
            self.invitations.push(gate.clone());
        }
        gate
    }

    fn vouches(&mut self, name: &str, options: &vouch::Options) -> Result<vouch::Vouches> {
        let Some(GateOptions::Invitation(of)) = self.configured.get(&options.of) else {
            return Err(Error::Config(format!(
                "the gate {name}: {} is not a gate of the kind invitation",
                options.of
            )));
        };
        let invitations = self.invitations(&options.of, of);
        let gate = vouch::Vouches::new(name, options, invitations, self.secret)?;
        if self.vouches.iter().all(|other| other.name() != name) {
            self.vouches.push(gate.clone());
        }
        Ok(gate)
    }

    fn threshold(
        &mut self,
        name: &str,
        of: &[String],
        threshold: usize,
        depth: usize,
    ) -> Result<Box<dyn Gate>> {
        if !(1..=of.len()).contains(&threshold) {
            return Err(Error::Config(format!(
                "the gate {name} needs {threshold} of {} gates",
                of.len()
            )));
        }
        let parts = of.iter().map(|part| self.build(part, depth + 1));
        let parts = parts.collect::<Result<_>>()?;
        Ok(Box::new(compose::AtLeast::new(threshold, parts)))
    }
}

/// Gates that need no configuration.
fn standard(name: &str) -> Result<GateOptions> {
    match name {
        "none" => Ok(GateOptions::None {}),
        "pow" => Ok(GateOptions::Pow(pow::Options::default())),
        _ => Err(Error::Config(format!(
            "there is no gate {name}: describe it under [gates.{name}], or use none or pow"
        ))),
    }
}

/// Everybody passes.
struct Open;

impl Gate for Open {
    fn describe(&self, _now: u64) -> Value {
        json!({"kind": "none"})
    }

    fn check(&self, ask: &Ask<'_>) -> std::result::Result<Vec<Way>, Failure> {
        Ok(vec![Way::new(Change::new(ask.now), None)])
    }
}
