//! The user's decision about a passport.

use std::fmt;

/// The user's decision about a passport.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Seen, not yet decided: its files are withheld.
    Pending,
    /// The user has compared the fingerprint: its files open.
    Approved,
    /// The user does not want it: its files never open.
    Denied,
    /// Its owner no longer uses it, or may have lost control of it: its files never open, and only
    /// [`super::TrustStore::reinstate`] changes that.
    Revoked,
    /// Somebody else has its secret keys: its files never open, and only
    /// [`super::TrustStore::reinstate`] changes that.
    Compromised,
}

impl Status {
    /// The word for it in messages, lists and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Revoked => "revoked",
            Self::Compromised => "compromised",
        }
    }
}

impl Status {
    /// Whether only [`super::TrustStore::reinstate`] leads away from it.
    #[must_use]
    pub fn is_final(self) -> bool {
        matches!(self, Self::Revoked | Self::Compromised)
    }

    /// Whether files of this sender must never open.
    #[must_use]
    pub fn is_barred(self) -> bool {
        self == Self::Denied || self.is_final()
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
