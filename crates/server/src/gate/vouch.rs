//! Vouching: independent holders of invitations stand for a newcomer
//! (`spec/service.md`, "Vouching").
//!
//! ```
//! use sealstone_primitives::secret::Secret;
//! use sealstone_server::gate::invitation::{self, Invitations};
//! use sealstone_server::gate::vouch::{Newcomer, Options, Vouches};
//!
//! let secret = Secret::random();
//! let friends = Invitations::new("friends", &invitation::Options::default(), &secret);
//! let options = Options { of: "friends".to_owned(), threshold: 2, quota: 10, lifetime: 86_400 };
//! let gate = Vouches::new("newcomers", &options, friends.clone(), &secret)?;
//! let now = 1_767_225_600;
//!
//! let newcomer = Newcomer::random(now + 3600);
//! let alice = friends.invite(20, now, now + 86_400);
//! let (vouch, _takes) = gate.vouch(&alice.to_string(), &newcomer.to_string(), now).expect("a vouch");
//! assert!(!vouch.contains('.'));
//! # Ok::<(), sealstone_server::Error>(())
//! ```

use std::collections::HashSet;
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sealstone_primitives::hash::sha3_256;
use sealstone_primitives::rng;
use sealstone_primitives::secret::Secret;
use serde::Deserialize;
use serde_json::{Value, json};

use super::invitation::{Id, Invitations, MAX_DEPTH};
use super::mac::{Mac, label};
use super::{Account, Ask, Failure, Gate, Way};
use crate::store::{Change, Count, Mark, Set};
use crate::{Error, Result};

const VERSION: u8 = 1;
const TAG_LEN: usize = 32;
/// More are not looked at.
const MOST: usize = 8;
const HOUR: u64 = 3600;
/// Counters of newcomers that end on the same day are dropped together.
const DAY: u64 = 24 * HOUR;

/// Options of the gate `vouch`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The gate whose invitations vouch.
    pub of: String,
    /// How many holders must vouch.
    pub threshold: usize,
    /// Tokens of a newcomer. Each holder who vouches gives an equal part of them.
    pub quota: u64,
    /// Seconds that a newcomer may stay.
    pub lifetime: u64,
}

/// The name that a newcomer chooses, with its end in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Newcomer {
    until: u64,
    id: Id,
}

impl Newcomer {
    /// A new name.
    #[must_use]
    pub fn random(until: u64) -> Self {
        Self {
            until,
            id: rng::array(),
        }
    }

    fn to_bytes(self) -> [u8; 24] {
        let mut bytes = [0; 24];
        bytes[..8].copy_from_slice(&self.until.to_be_bytes());
        bytes[8..].copy_from_slice(&self.id);
        bytes
    }

    fn from_bytes(bytes: &[u8; 24]) -> Self {
        let (mut until, mut id) = ([0; 8], [0; 16]);
        until.copy_from_slice(&bytes[..8]);
        id.copy_from_slice(&bytes[8..]);
        Self {
            until: u64::from_be_bytes(until),
            id,
        }
    }
}

impl fmt::Display for Newcomer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.to_bytes()))
    }
}

/// An authentic vouch.
struct Vouch {
    newcomer: Newcomer,
    made: u64,
    /// The ids of the invitation that vouches.
    ids: Vec<Id>,
}

impl Vouch {
    fn body(&self) -> Vec<u8> {
        let depth = u8::try_from(self.ids.len()).expect("at most eight");
        let mut body = vec![VERSION, depth];
        body.extend(self.newcomer.to_bytes());
        body.extend(self.made.to_be_bytes());
        body.extend(self.ids.iter().flatten());
        body
    }

    /// The vouch, and its tag.
    fn decode(text: &str) -> Option<(Self, [u8; TAG_LEN])> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (head, rest) = bytes.split_first_chunk::<2>()?;
        let (newcomer, rest) = rest.split_first_chunk::<24>()?;
        let (made, rest) = rest.split_first_chunk::<8>()?;
        let (ids, tag) = rest.split_last_chunk::<TAG_LEN>()?;
        let (ids, odd) = ids.as_chunks::<16>();
        let is_right = head[0] == VERSION && usize::from(head[1]) == ids.len() && odd.is_empty();
        let vouch = Self {
            newcomer: Newcomer::from_bytes(newcomer),
            made: u64::from_be_bytes(*made),
            ids: ids.to_vec(),
        };
        (is_right && (1..=MAX_DEPTH).contains(&ids.len())).then_some((vouch, *tag))
    }
}

/// The gate for newcomers.
#[derive(Clone)]
pub struct Vouches {
    name: String,
    options: Options,
    invitations: Invitations,
    mac: Mac,
}

impl Vouches {
    /// The gate of this name.
    ///
    /// # Errors
    /// If an option is out of range.
    pub fn new(
        name: &str,
        options: &Options,
        invitations: Invitations,
        secret: &Secret<32>,
    ) -> Result<Self> {
        if !(2..=MOST).contains(&options.threshold) || options.quota == 0 || options.lifetime == 0 {
            return Err(Error::Config(format!(
                "the gate {name}: threshold is 2 to {MOST}, quota and lifetime are at least 1"
            )));
        }
        Ok(Self {
            name: name.to_owned(),
            options: options.clone(),
            invitations,
            mac: Mac::new(secret, "vouch", name),
        })
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The vouch of an invitation's holder for a newcomer, and the change that takes its part of
    /// the quota from the invitation.
    ///
    /// # Errors
    /// If the invitation or the newcomer's name is wrong, or has ended.
    pub fn vouch(
        &self,
        holder: &str,
        newcomer: &str,
        now: u64,
    ) -> std::result::Result<(String, Change), Failure> {
        let wrong = Failure::Wrong("a newcomer's name has 24 bytes in base64url");
        let bytes = URL_SAFE_NO_PAD.decode(newcomer).map_err(|_| wrong)?;
        let newcomer = Newcomer::from_bytes(bytes.as_slice().try_into().map_err(|_| wrong)?);
        let most = now.saturating_add(self.options.lifetime);
        if newcomer.until <= now || newcomer.until > most {
            return Err(Failure::Wrong(
                "the newcomer's name ends in the past, or later than it may",
            ));
        }
        let invitation = self.invitations.parse(holder, now)?;
        let threshold = u64::try_from(self.options.threshold).unwrap_or(u64::MAX);
        let part = self.options.quota.div_ceil(threshold);
        let change = self.invitations.take(&invitation, part, now);
        let vouch = Vouch {
            newcomer,
            made: now,
            ids: invitation.ids().to_vec(),
        };
        let body = vouch.body();
        let tag = self.mac.tag(&[&body]);
        let text = URL_SAFE_NO_PAD.encode([body.as_slice(), &tag].concat());
        Ok((text, change))
    }

    fn parse(&self, text: &str) -> std::result::Result<Vouch, Failure> {
        let wrong = Failure::Wrong("a vouch is not of this gate");
        let (vouch, tag) = Vouch::decode(text).ok_or(wrong)?;
        match self.mac.is_right(&[&vouch.body()], &tag) {
            true => Ok(vouch),
            false => Err(wrong),
        }
    }

    /// The newcomer for whom enough independent holders vouch, and since when.
    fn enough(&self, vouches: &[Vouch], now: u64) -> std::result::Result<Account, Failure> {
        let newcomer = vouches[0].newcomer;
        if vouches.iter().any(|vouch| vouch.newcomer != newcomer) {
            return Err(Failure::Wrong("the vouches are for several newcomers"));
        }
        if now >= newcomer.until {
            return Err(Failure::Wrong("the vouches have ended"));
        }
        let trees: HashSet<&Id> = vouches.iter().map(|vouch| &vouch.ids[0]).collect();
        if trees.len() < self.options.threshold {
            return Err(Failure::Wrong("too few independent holders vouch"));
        }
        Ok(Account {
            key: self.key("newcomer", &newcomer.to_bytes()),
            since: vouches.iter().map(|vouch| vouch.made).max(),
        })
    }

    fn key(&self, kind: &str, bytes: &[u8]) -> [u8; 32] {
        sha3_256(
            &[
                &label(&format!("vouch.{kind}")),
                self.name.as_bytes(),
                &[0],
                bytes,
            ]
            .concat(),
        )
    }
}

impl Gate for Vouches {
    fn describe(&self, _now: u64) -> Value {
        json!({
            "kind": "vouch", "name": self.name, "invitations": self.options.of,
            "threshold": self.options.threshold, "quota": self.options.quota,
            "lifetime": self.options.lifetime,
        })
    }

    fn check(&self, ask: &Ask<'_>) -> std::result::Result<Vec<Way>, Failure> {
        let shown = ask.proofs.of(&self.name).ok_or(Failure::Missing)?;
        let texts: Vec<&str> = shown.split('.').collect();
        if texts.len() > MOST {
            return Err(Failure::Wrong("more than eight vouches"));
        }
        let vouches = texts.into_iter().map(|text| self.parse(text));
        let vouches = vouches.collect::<std::result::Result<Vec<_>, _>>()?;
        let account = self.enough(&vouches, ask.now)?;
        let day = vouches[0].newcomer.until / DAY;
        let set = Set::new(format!("vouch-{day}"), (day + 1).saturating_mul(DAY));
        let count = Count::new(&set, account.key, ask.tokens, self.options.quota);
        // The same request, repeated, counts once.
        let hour = ask.now / HOUR;
        let asked = Set::new(format!("asked-{hour}"), (hour + 1).saturating_mul(HOUR));
        let place = self.key("asked", &[account.key, ask.subject].concat());
        let mark = Mark::new(&asked, place).of_operation(ask.subject);
        let ids: HashSet<&Id> = vouches.iter().flat_map(|vouch| &vouch.ids).collect();
        let revoked = ids.into_iter().map(|id| self.invitations.revocation(id));
        let change = Change::new(ask.now).count(count).mark(mark);
        Ok(vec![Way::new(
            revoked.fold(change, Change::absent),
            Some(account),
        )])
    }

    fn has_accounts(&self) -> bool {
        true
    }

    fn has_ages(&self) -> bool {
        true
    }
}
