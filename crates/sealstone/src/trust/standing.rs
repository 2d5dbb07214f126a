//! Whether a signature counts, at the time at which it is known to have existed (`spec/trust.md`,
//! "Standing").

use std::fmt;

use super::entry::Entry;
use super::status::Status;

/// The user's decision about a signer, applied to a signature of a certain time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Standing {
    /// The passport was never seen.
    Unknown,
    /// It was seen; the user has not decided.
    Pending,
    /// The signature counts.
    Approved,
    /// The user does not want it, whatever its time.
    Denied,
    /// The signature is not known to be older than the revocation.
    Revoked {
        /// From when the revocation holds: seconds since 1970.
        since: u64,
    },
    /// The signature is not known to be older than the compromise.
    Compromised {
        /// From when others had the keys, in seconds since 1970; `None` if that is unknown.
        since: Option<u64>,
    },
}

/// The last decision of a record, and what came after it.
#[derive(Clone, Copy)]
pub(super) struct End {
    /// Pending, approved or denied.
    decision: Status,
    /// From when the revocation holds.
    revoked: Option<u64>,
    /// From when the compromise holds, if that is known.
    compromised: Option<Option<u64>>,
}

impl Standing {
    /// Whether the signature counts: only if its signer is approved.
    #[must_use]
    pub fn is_good(self) -> bool {
        self == Self::Approved
    }

    /// The word for it in messages, lists and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Pending => Status::Pending.name(),
            Self::Approved => Status::Approved.name(),
            Self::Denied => Status::Denied.name(),
            Self::Revoked { .. } => Status::Revoked.name(),
            Self::Compromised { .. } => Status::Compromised.name(),
        }
    }

    /// From when the signer is revoked or compromised: seconds since 1970.
    #[must_use]
    pub fn since(self) -> Option<u64> {
        match self {
            Self::Revoked { since } => Some(since),
            Self::Compromised { since } => since,
            _ => None,
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl End {
    /// After the first entry of a record.
    pub(super) fn of_first(entry: &Entry) -> Self {
        let mut end = Self::new(Status::Pending);
        end.add(entry);
        end
    }

    fn new(decision: Status) -> Self {
        Self {
            decision,
            revoked: None,
            compromised: None,
        }
    }

    /// Takes the next entry of the record.
    pub(super) fn add(&mut self, entry: &Entry) {
        match entry.status() {
            Some(Status::Revoked) => self.revoked = entry.since,
            Some(Status::Compromised) => self.compromised = Some(entry.since),
            Some(decision) => *self = Self::new(decision),
            None => {}
        }
    }

    /// The rules of the specification, from the second on.
    pub(super) fn standing(&self, at: Option<u64>) -> Standing {
        let holds = |since: u64| at.is_none_or(|at| since <= at);
        if self.decision == Status::Denied {
            return Standing::Denied;
        }
        if let Some(since) = self.compromised
            && since.is_none_or(holds)
        {
            return Standing::Compromised { since };
        }
        if let Some(since) = self.revoked
            && holds(since)
        {
            return Standing::Revoked { since };
        }
        match self.decision {
            Status::Approved => Standing::Approved,
            _ => Standing::Pending,
        }
    }
}
