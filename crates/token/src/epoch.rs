//! Epochs: keys with lifetimes that overlap, from one root (`spec/token.md`, "Epochs").
//!
//! ```
//! use sealstone_token::epoch::{Issuer, Root, Schedule};
//! use sealstone_token::privacypass::{Pending, TokenChallenge, TokenType};
//!
//! const DAY: u64 = 24 * 60 * 60;
//! let schedule = Schedule::new(1_767_225_600, 7 * DAY, DAY, 7 * DAY)?;
//! let now = 1_767_300_000;
//! let mut issuer = Issuer::new(Root::generate(), schedule, &[TokenType::VoprfP384])?;
//! issuer.advance(now)?;
//!
//! let directory = issuer.directory("/token-request", now);
//! let key = directory.key(TokenType::VoprfP384, now).expect("a key of this epoch");
//! let challenge = TokenChallenge::new(TokenType::VoprfP384, "issuer.example", None, &[])?;
//! let (pending, request) = Pending::one(key, &challenge)?;
//! let token = pending.finalize(&issuer.issue(&request, now)?)?.remove(0);
//!
//! let redemption = issuer.redeem(&token, &challenge, now)?;
//! assert_eq!(redemption.epoch, 0);
//! # Ok::<(), sealstone_token::Error>(())
//! ```

use std::fmt;
use std::ops::RangeInclusive;

use sealstone_primitives::kdf;
use sealstone_primitives::secret::Secret;

use crate::Error;
use crate::privacypass::directory::{Directory, DirectoryKey, Lifetime};
use crate::privacypass::{IssuerKey, RequestHead, Token, TokenChallenge, TokenType, issue_generic};

const LABEL: &[u8] = b"sealstone.token.epoch.v1";
/// This many consecutive epochs have different truncated key ids.
const DISTINCT: u64 = 8;
/// The longest grace, in lengths of an epoch. With the present and the next epoch it makes
/// [`DISTINCT`].
const MAX_GRACE: u64 = DISTINCT - 2;

/// When each epoch is valid. Times are seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    start: u64,
    length: u64,
    issue_grace: u64,
    redeem_grace: u64,
}

impl Schedule {
    /// Epoch 0 begins at `start`. Each key is preferred for `length` seconds. After that it still
    /// issues for `issue_grace` seconds, and redeems for `redeem_grace` seconds.
    ///
    /// # Errors
    /// Unless `0 < length` and `issue_grace ≤ redeem_grace ≤ 6 · length`.
    pub fn new(
        start: u64,
        length: u64,
        issue_grace: u64,
        redeem_grace: u64,
    ) -> Result<Self, Error> {
        let most = length.checked_mul(MAX_GRACE);
        let is_possible = issue_grace <= redeem_grace && most.is_some_and(|m| redeem_grace <= m);
        if length == 0 || !is_possible {
            return Err(Error::Malformed("schedule"));
        }
        Ok(Self {
            start,
            length,
            issue_grace,
            redeem_grace,
        })
    }

    /// The epoch whose key is preferred at `now`; none before the first.
    #[must_use]
    pub fn epoch(&self, now: u64) -> Option<u64> {
        now.checked_sub(self.start).map(|since| since / self.length)
    }

    /// The epochs whose keys issue at `now`.
    #[must_use]
    pub fn issuing(&self, now: u64) -> Option<RangeInclusive<u64>> {
        self.valid(now, self.issue_grace)
    }

    /// The epochs whose tokens are accepted at `now`.
    #[must_use]
    pub fn redeeming(&self, now: u64) -> Option<RangeInclusive<u64>> {
        self.valid(now, self.redeem_grace)
    }

    fn valid(&self, now: u64, grace: u64) -> Option<RangeInclusive<u64>> {
        let last = self.epoch(now)?;
        let since = now - self.start;
        // Epoch e is valid while since < (e + 1) · length + grace.
        let first = since
            .checked_sub(grace)
            .map_or(0, |since| since / self.length);
        Some(first..=last)
    }

    /// The same epochs, but the next one begins at `now`. Grace grows by the time that is saved,
    /// so that no token expires before the announced end of its key.
    ///
    /// # Errors
    /// Before the first epoch, or if the grace would exceed 6 lengths.
    pub fn rotate(&self, now: u64) -> Result<Self, Error> {
        let next = self.epoch(now).ok_or(Error::NoEpoch)?.saturating_add(1);
        let saved = self.lifetime(next).not_before.saturating_sub(now);
        let start = self.start.checked_sub(saved);
        Self::new(
            start.ok_or(Error::Malformed("schedule"))?,
            self.length,
            self.issue_grace.saturating_add(saved),
            self.redeem_grace.saturating_add(saved),
        )
    }

    /// Epoch 0 begins then, in seconds since 1970.
    #[must_use]
    pub fn start(&self) -> u64 {
        self.start
    }

    /// For how many seconds a key issues after its epoch.
    #[must_use]
    pub fn issue_grace(&self) -> u64 {
        self.issue_grace
    }

    /// For how many seconds tokens are accepted after their epoch.
    #[must_use]
    pub fn redeem_grace(&self) -> u64 {
        self.redeem_grace
    }

    /// When an epoch begins, and until when it issues and redeems.
    #[must_use]
    pub fn lifetime(&self, epoch: u64) -> Lifetime {
        let at = |epoch: u64| self.start.saturating_add(epoch.saturating_mul(self.length));
        let end = at(epoch.saturating_add(1));
        Lifetime {
            epoch,
            not_before: at(epoch),
            issue_until: end.saturating_add(self.issue_grace),
            redeem_until: end.saturating_add(self.redeem_grace),
        }
    }
}

/// The secret that all epochs' keys come from.
#[derive(Debug)]
pub struct Root(Secret<32>);

impl Root {
    /// A new random root.
    #[must_use]
    pub fn generate() -> Self {
        Self(Secret::random())
    }

    /// A root that was stored.
    #[must_use]
    pub fn new(secret: Secret<32>) -> Self {
        Self(secret)
    }

    /// The 32 bytes, to be stored.
    #[must_use]
    pub fn secret(&self) -> &Secret<32> {
        &self.0
    }

    /// The key of an epoch. Each root, type and epoch has one, which all replicas find.
    ///
    /// # Errors
    /// For RSA, whose keys are not derived.
    pub fn key(&self, token_type: TokenType, epoch: u64) -> Result<IssuerKey, Error> {
        let prk = kdf::extract(LABEL, &[self.0.expose()]);
        for attempt in 0..=u16::MAX {
            let info: [&[u8]; 4] = [
                b"seed",
                &token_type.to_bytes(),
                &epoch.to_be_bytes(),
                &attempt.to_be_bytes(),
            ];
            let seed = prk.expand_secret::<32>(&info);
            let key = IssuerKey::derive(token_type, seed.expose(), LABEL)?;
            if belongs(&key, epoch) {
                return Ok(key);
            }
        }
        unreachable!("65,536 attempts, of which one in eight succeeds")
    }
}

/// Whether a key's truncated id is one of those for `epoch`.
#[must_use]
pub fn belongs(key: &IssuerKey, epoch: u64) -> bool {
    u64::from(key.public_key().truncated_key_id()) % DISTINCT == epoch % DISTINCT
}

/// A random RSA key for `epoch`, to be stored and given to all replicas.
///
/// # Errors
/// Only without memory.
pub fn generate_rsa(epoch: u64) -> Result<IssuerKey, Error> {
    loop {
        let key = IssuerKey::generate(TokenType::BlindRsa2048)?;
        if belongs(&key, epoch) {
            return Ok(key);
        }
    }
}

/// A token that was accepted, if its nullifier is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redemption {
    /// The epoch, to whose set of spent tokens the nullifier belongs.
    pub epoch: u64,
    /// The value to remember.
    pub nullifier: [u8; 32],
    /// The time from which the epoch's set may be dropped.
    pub redeem_until: u64,
}

/// An issuer with the keys of all epochs that are valid.
#[derive(Debug)]
pub struct Issuer {
    root: Root,
    schedule: Schedule,
    derived: Vec<TokenType>,
    keys: Vec<EpochKey>,
}

struct EpochKey {
    epoch: u64,
    key: IssuerKey,
}

impl fmt::Debug for EpochKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "epoch {}: {:?}", self.epoch, self.key)
    }
}

impl Issuer {
    /// An issuer of tokens of the types `derived`, whose keys come from `root`. It has no key
    /// before [`Issuer::advance`].
    ///
    /// # Errors
    /// If RSA is among the types: its keys are given by [`Issuer::insert`].
    pub fn new(root: Root, schedule: Schedule, derived: &[TokenType]) -> Result<Self, Error> {
        if derived.contains(&TokenType::BlindRsa2048) {
            return Err(Error::NotDerived);
        }
        Ok(Self {
            root,
            schedule,
            derived: derived.to_vec(),
            keys: Vec::new(),
        })
    }

    /// The schedule.
    #[must_use]
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Takes another schedule for the same epochs: one of them begins before its time. The keys
    /// stay.
    pub fn reschedule(&mut self, schedule: Schedule) {
        self.schedule = schedule;
    }

    /// Drops the keys of epochs that ended before `now`, derives those of epochs that are valid,
    /// and that of the next. It costs about a millisecond a new key; to call it often is free.
    ///
    /// # Errors
    /// No error can happen to the types of [`Issuer::new`].
    pub fn advance(&mut self, now: u64) -> Result<(), Error> {
        let (first, next) = match self.schedule.redeeming(now) {
            Some(valid) => (*valid.start(), valid.end().saturating_add(1)),
            None => (0, 0),
        };
        self.keys
            .retain(|entry| (first..=next).contains(&entry.epoch));
        for token_type in self.derived.clone() {
            for epoch in first..=next {
                if self.find(token_type, epoch).is_none() {
                    let key = self.root.key(token_type, epoch)?;
                    self.keys.push(EpochKey { epoch, key });
                }
            }
        }
        Ok(())
    }

    /// Takes a key that was not derived: RSA's.
    ///
    /// # Errors
    /// If its truncated id is not one of the epoch's, or the epoch has another key of this type.
    pub fn insert(&mut self, epoch: u64, key: IssuerKey) -> Result<(), Error> {
        if !belongs(&key, epoch) || self.find(key.token_type(), epoch).is_some() {
            return Err(Error::WrongKey);
        }
        self.keys.push(EpochKey { epoch, key });
        Ok(())
    }

    /// The key of an epoch, if it is there.
    #[must_use]
    pub fn find(&self, token_type: TokenType, epoch: u64) -> Option<&IssuerKey> {
        let is_it =
            |entry: &&EpochKey| entry.epoch == epoch && entry.key.token_type() == token_type;
        self.keys.iter().find(is_it).map(|entry| &entry.key)
    }

    /// Answers a request for one token.
    ///
    /// # Errors
    /// As [`IssuerKey::issue`]; and if no key that issues at `now` is the request's.
    pub fn issue(&self, request: &[u8], now: u64) -> Result<Vec<u8>, Error> {
        self.issuing(&RequestHead::of(request)?, now)
            .ok_or(Error::NoEpoch)?
            .issue(request)
    }

    /// Answers a request for at most `limit` tokens of one key.
    ///
    /// # Errors
    /// As [`IssuerKey::issue_batch`]; and if no key that issues at `now` is the request's.
    pub fn issue_batch(&self, request: &[u8], limit: usize, now: u64) -> Result<Vec<u8>, Error> {
        let key = self
            .issuing(&RequestHead::of(request)?, now)
            .ok_or(Error::NoEpoch)?;
        key.issue_batch(request, limit)
    }

    /// Answers a request for at most `limit` tokens of several keys.
    ///
    /// # Errors
    /// As [`issue_generic`].
    pub fn issue_generic(&self, request: &[u8], limit: usize, now: u64) -> Result<Vec<u8>, Error> {
        issue_generic(request, limit, |head| self.issuing(head, now))
    }

    /// The key that a request's head means, if it issues at `now`.
    fn issuing(&self, head: &RequestHead, now: u64) -> Option<&IssuerKey> {
        let valid = self.schedule.issuing(now)?;
        let is_it = |entry: &&EpochKey| {
            valid.contains(&entry.epoch)
                && entry.key.token_type() == head.token_type
                && entry.key.public_key().truncated_key_id() == head.truncated_key_id
        };
        self.keys.iter().find(is_it).map(|entry| &entry.key)
    }

    /// Checks a token. The caller then remembers the nullifier durably, and refuses the token if
    /// it was there.
    ///
    /// # Errors
    /// If the token answers another challenge, is forged, or of no epoch that redeems at `now`.
    pub fn redeem(
        &self,
        token: &Token,
        challenge: &TokenChallenge,
        now: u64,
    ) -> Result<Redemption, Error> {
        token.answers(challenge)?;
        let valid = self.schedule.redeeming(now).ok_or(Error::NoEpoch)?;
        let is_it = |entry: &&EpochKey| {
            valid.contains(&entry.epoch)
                && entry.key.token_type() == token.token_type()
                && entry.key.public_key().id() == token.key_id()
        };
        let entry = self.keys.iter().find(is_it).ok_or(Error::NoEpoch)?;
        entry.key.verify(token)?;
        Ok(Redemption {
            epoch: entry.epoch,
            nullifier: token.nullifier(),
            redeem_until: self.schedule.lifetime(entry.epoch).redeem_until,
        })
    }

    /// The directory at `now`: the preferred keys, then those of the next epoch, then older ones,
    /// as long as they redeem: verifiers learn all keys from it.
    #[must_use]
    pub fn directory(&self, request_uri: &str, now: u64) -> Directory {
        let current = self.schedule.epoch(now).unwrap_or(0);
        let first = self
            .schedule
            .redeeming(now)
            .map_or(0, |valid| *valid.start());
        let mut listed: Vec<&EpochKey> = self
            .keys
            .iter()
            .filter(|entry| entry.epoch >= first)
            .collect();
        listed.sort_by_key(|entry| match entry.epoch.checked_sub(current) {
            Some(ahead) => (0, ahead),
            None => (1, current - entry.epoch),
        });
        let key = |entry: &&EpochKey| {
            let lifetime = self.schedule.lifetime(entry.epoch);
            DirectoryKey {
                key: entry.key.public_key(),
                not_before: Some(lifetime.not_before),
                lifetime: Some(lifetime),
            }
        };
        Directory {
            request_uri: request_uri.to_owned(),
            keys: listed.iter().map(key).collect(),
        }
    }
}
