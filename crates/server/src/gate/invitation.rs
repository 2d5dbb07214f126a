//! Invitations: authentic, with quotas, in trees (`spec/service.md`, "Invitations").
//!
//! ```
//! use sealstone_primitives::secret::Secret;
//! use sealstone_server::gate::invitation::{Invitations, Options};
//!
//! let gate = Invitations::new("friends", &Options::default(), &Secret::random());
//! let now = 1_767_225_600;
//! let alice = gate.invite(10, now, now + 86_400);
//! let (bob, _change) = gate.divide(&alice.to_string(), 3, now + 3600, now).expect("alice's");
//! assert_eq!((bob.quota(), bob.ids().len()), (3, 2));
//! ```

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sealstone_primitives::hash::sha3_256;
use sealstone_primitives::rng;
use sealstone_primitives::secret::Secret;
use serde::Deserialize;
use serde_json::{Value, json};

use super::mac::{Mac, label};
use super::{Account, Ask, Failure, Gate, Way};
use crate::store::{Change, Count, Mark, Set};

/// Version 1 does not say when an invitation was made.
const VERSIONS: [u8; 2] = [1, 2];
pub(super) const MAX_DEPTH: usize = 8;
const ID_LEN: usize = 16;
const TAG_LEN: usize = 32;
/// Counters of invitations that end on the same day are dropped together.
const DAY: u64 = 24 * 60 * 60;
/// Marks of requests are needed as long as a request may be repeated.
const HOUR: u64 = 3600;

/// The name of one invitation.
pub type Id = [u8; ID_LEN];

/// Options of the gate `invitation`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Options {
    /// Seconds before a holder may invite others.
    pub divide_after: u64,
}

/// A gate for those who hold an invitation.
#[derive(Clone)]
pub struct Invitations {
    name: String,
    options: Options,
    mac: Mac,
}

/// An authentic invitation. Its text is a secret of its holder.
#[derive(Clone, PartialEq, Eq)]
pub struct Invitation {
    ids: Vec<Id>,
    quota: u64,
    made: Option<u64>,
    until: u64,
    tag: [u8; TAG_LEN],
}

impl Invitation {
    /// From the first inviter to the holder.
    #[must_use]
    pub fn ids(&self) -> &[Id] {
        &self.ids
    }

    /// For how many tokens it is.
    #[must_use]
    pub fn quota(&self) -> u64 {
        self.quota
    }

    fn holder(&self) -> &Id {
        self.ids.last().expect("one id at least")
    }

    /// Everything but the tag.
    fn body(&self) -> Vec<u8> {
        let depth = u8::try_from(self.ids.len()).expect("at most eight");
        let mut body = vec![VERSIONS[usize::from(self.made.is_some())], depth];
        body.extend(self.ids.iter().flatten());
        body.extend(self.quota.to_be_bytes());
        body.extend(self.made.iter().flat_map(|time| time.to_be_bytes()));
        body.extend(self.until.to_be_bytes());
        body
    }

    fn decode(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (head, mut rest) = bytes.split_first_chunk::<2>()?;
        let depth = usize::from(head[1]);
        if !VERSIONS.contains(&head[0]) || !(1..=MAX_DEPTH).contains(&depth) {
            return None;
        }
        let mut ids = Vec::with_capacity(depth);
        for _ in 0..depth {
            let (id, after) = rest.split_first_chunk::<ID_LEN>()?;
            ids.push(*id);
            rest = after;
        }
        let (quota, rest) = rest.split_first_chunk::<8>()?;
        let (made, rest) = match head[0] {
            1 => (None, rest),
            _ => {
                let (made, rest) = rest.split_first_chunk::<8>()?;
                (Some(u64::from_be_bytes(*made)), rest)
            }
        };
        let (until, tag) = rest.split_first_chunk::<8>()?;
        Some(Self {
            ids,
            quota: u64::from_be_bytes(*quota),
            made,
            until: u64::from_be_bytes(*until),
            tag: tag.try_into().ok()?,
        })
    }
}

impl fmt::Display for Invitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = [&self.body()[..], &self.tag].concat();
        f.write_str(&URL_SAFE_NO_PAD.encode(bytes))
    }
}

impl fmt::Debug for Invitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Invitation(quota {}, until {})", self.quota, self.until)
    }
}

impl Invitations {
    /// The gate of this name.
    #[must_use]
    pub fn new(name: &str, options: &Options, secret: &Secret<32>) -> Self {
        Self {
            name: name.to_owned(),
            options: options.clone(),
            mac: Mac::new(secret, "invitation", name),
        }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The operator's invitation for `quota` tokens until a time in seconds since 1970.
    #[must_use]
    pub fn invite(&self, quota: u64, now: u64, until: u64) -> Invitation {
        self.sign(vec![rng::array()], quota, now, until)
    }

    /// An invitation that takes `quota` from that of its holder, and the change that takes it.
    ///
    /// # Errors
    /// If the holder's is wrong, has ended, is too young, or has eight ids.
    pub fn divide(
        &self,
        holder: &str,
        quota: u64,
        until: u64,
        now: u64,
    ) -> Result<(Invitation, Change), Failure> {
        let parent = self.parse(holder, now)?;
        if parent.ids.len() == MAX_DEPTH {
            return Err(Failure::Wrong("the invitation cannot be divided further"));
        }
        let age = now.saturating_sub(parent.made.unwrap_or(now));
        if age < self.options.divide_after {
            return Err(Failure::Wrong("the invitation is too young to invite"));
        }
        if quota == 0 || until <= now {
            return Err(Failure::Wrong("an invitation has a quota and some time"));
        }
        let ids = parent.ids.iter().copied().chain([rng::array()]).collect();
        let invitation = self.sign(ids, quota, now, until.min(parent.until));
        Ok((invitation, self.take(&parent, quota, now)))
    }

    /// The change that revokes an invitation and all below it.
    #[must_use]
    pub fn revoke(&self, id: &Id, now: u64) -> Change {
        Change::new(now).mark(self.revocation(id))
    }

    fn sign(&self, ids: Vec<Id>, quota: u64, made: u64, until: u64) -> Invitation {
        let mut invitation = Invitation {
            ids,
            quota,
            made: Some(made),
            until,
            tag: [0; TAG_LEN],
        };
        invitation.tag = self.mac.tag(&[&invitation.body()]);
        invitation
    }

    pub(super) fn parse(&self, text: &str, now: u64) -> Result<Invitation, Failure> {
        let wrong = Failure::Wrong("the invitation is not of this gate");
        let invitation = Invitation::decode(text).ok_or(wrong)?;
        if !self.mac.is_right(&[&invitation.body()], &invitation.tag) {
            return Err(wrong);
        }
        match now < invitation.until {
            true => Ok(invitation),
            false => Err(Failure::Wrong("the invitation has ended")),
        }
    }

    /// Takes `tokens` from the quota, unless the invitation or one above it is revoked.
    pub(super) fn take(&self, invitation: &Invitation, tokens: u64, now: u64) -> Change {
        let day = invitation.until / DAY;
        let until = day.saturating_add(1).saturating_mul(DAY);
        let set = Set::new(format!("invitation-{}-{day}", self.name), until);
        let key = self.key("quota", invitation.holder());
        let count = Count::new(&set, key, tokens, invitation.quota);
        let revoked = invitation.ids.iter().map(|id| self.revocation(id));
        revoked.fold(Change::new(now).count(count), Change::absent)
    }

    /// Revocations are few, and kept for ever.
    pub(super) fn revocation(&self, id: &Id) -> Mark {
        let set = Set::new(format!("revoked-{}", self.name), u64::MAX);
        Mark::new(&set, self.key("revoked", id))
    }

    fn key(&self, kind: &str, id: &[u8]) -> [u8; 32] {
        sha3_256(&[&label(&format!("invitation.{kind}")), id].concat())
    }
}

impl Gate for Invitations {
    fn describe(&self, _now: u64) -> Value {
        json!({"kind": "invitation", "name": self.name})
    }

    fn check(&self, ask: &Ask<'_>) -> Result<Vec<Way>, Failure> {
        let text = ask.proofs.of(&self.name).ok_or(Failure::Missing)?;
        let invitation = self.parse(text, ask.now)?;
        // The same request, repeated, counts once.
        let hour = ask.now / HOUR;
        let set = Set::new(format!("asked-{hour}"), (hour + 1).saturating_mul(HOUR));
        let place = [&invitation.holder()[..], &ask.subject].concat();
        let mark = Mark::new(&set, self.key("asked", &place)).of_operation(ask.subject);
        let account = Account {
            key: self.key("account", invitation.holder()),
            since: invitation.made,
        };
        let change = self.take(&invitation, ask.tokens, ask.now).mark(mark);
        Ok(vec![Way::new(change, Some(account))])
    }

    fn has_accounts(&self) -> bool {
        true
    }

    fn has_ages(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_767_225_600;

    /// An invitation of version 1 is good, and as young as can be.
    #[test]
    fn the_first_version_stays_good() {
        let options = Options { divide_after: 60 };
        let gate = Invitations::new("friends", &options, &Secret::random());
        let mut old = gate.invite(5, NOW, NOW + 100);
        old.made = None;
        old.tag = gate.mac.tag(&[&old.body()]);
        let text = old.to_string();
        assert_eq!(gate.parse(&text, NOW).map(|read| read.made), Ok(None));
        let young = Failure::Wrong("the invitation is too young to invite");
        assert_eq!(
            gate.divide(&text, 1, NOW + 100, NOW + 90).err(),
            Some(young)
        );
        // The time cannot be taken out of one that has it.
        let mut new = gate.invite(5, NOW, NOW + 100);
        new.made = None;
        assert!(gate.parse(&new.to_string(), NOW).is_err());
    }

    #[test]
    fn only_grown_invitations_invite() {
        let gate = Invitations::new("f", &Options { divide_after: 60 }, &Secret::random());
        let text = gate.invite(5, NOW, NOW + 1000).to_string();
        let divide = |now| {
            gate.divide(&text, 1, NOW + 900, now)
                .map(|(child, _)| child)
        };
        assert!(divide(NOW + 59).is_err());
        let child = divide(NOW + 60).expect("grown").to_string();
        assert!(
            gate.divide(&child, 1, NOW + 900, NOW + 119).is_err(),
            "its age is its own"
        );
        assert!(gate.divide(&child, 1, NOW + 900, NOW + 120).is_ok());
    }
}
