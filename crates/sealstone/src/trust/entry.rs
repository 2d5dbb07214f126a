//! One change: an entry of the log (`spec/trust.md`, CDDL `entry`).

use minicbor::bytes::ByteVec;
use minicbor::{Decode, Encode};

use super::lifecycle_entry::LifecycleEntry;
use super::status::Status;
use crate::lifecycle::{Limits, MAX_USES, Stage};
use crate::passport::Fingerprint;
use crate::wire::{cbor, text};
use crate::{Error, Result};

/// One change of the store, as `trust log` shows it.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(map)]
pub struct Entry {
    #[n(0)]
    pub(super) sequence: u64,
    #[n(1)]
    pub(super) time: u64,
    #[n(2)]
    pub(super) event: Event,
    #[n(3)]
    pub(super) fingerprint: Fingerprint,
    #[n(4)]
    pub(super) label: String,
    #[n(5)]
    pub(super) operator: String,
    #[n(6)]
    pub(super) note: String,
    /// A `passport-body`.
    #[n(7)]
    pub(super) body: Option<ByteVec>,
    /// From when a revocation or a compromise holds.
    #[n(8)]
    pub(super) since: Option<u64>,
    #[n(9)]
    pub(super) lifecycle: Option<LifecycleEntry>,
    /// How many uses of a key are reserved.
    #[n(10)]
    pub(super) uses: Option<u64>,
}

/// The subject of an entry (field 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub(super) enum Event {
    #[n(0)]
    Pending,
    #[n(1)]
    Approved,
    #[n(2)]
    Denied,
    #[n(3)]
    Revoked,
    #[n(4)]
    Rekeyed,
    #[n(5)]
    Pruned,
    #[n(6)]
    Compromised,
    #[n(7)]
    Lifecycle,
    #[n(8)]
    Used,
    #[n(9)]
    SignedOnly,
    #[n(10)]
    UnsignedToo,
}

/// Bytes of the longest encoded entry.
pub(super) const MAX_ENTRY: usize = 16_384;
/// Field 3 of an entry that is about the store and not about a passport.
pub(super) const NOBODY: [u8; 32] = [0; 32];

const MAX_LABEL: usize = 64;
const MAX_OPERATOR: usize = 64;
const MAX_NOTE: usize = 1024;

impl Entry {
    /// The place in the log: 0, 1, 2, …
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The time of the change by the writer's clock: seconds since 1970.
    #[must_use]
    pub fn time(&self) -> u64 {
        self.time
    }

    /// The status after this entry; `None` if the entry is about the store, which was given a new
    /// key, a policy or pruned, or about the lifecycle of a key.
    #[must_use]
    pub fn status(&self) -> Option<Status> {
        match self.event {
            Event::Pending => Some(Status::Pending),
            Event::Approved => Some(Status::Approved),
            Event::Denied => Some(Status::Denied),
            Event::Revoked => Some(Status::Revoked),
            Event::Compromised => Some(Status::Compromised),
            Event::Rekeyed
            | Event::Pruned
            | Event::Lifecycle
            | Event::Used
            | Event::SignedOnly
            | Event::UnsignedToo => None,
        }
    }

    /// The word for what happened, in lists and JSON.
    #[must_use]
    pub fn event(&self) -> &'static str {
        match (self.status(), self.event) {
            (Some(status), _) => status.name(),
            (None, Event::Pruned) => "pruned",
            (None, Event::Lifecycle) => "key lifecycle",
            (None, Event::Used) => "key used",
            (None, Event::SignedOnly) => "signed only",
            (None, Event::UnsignedToo) => "unsigned too",
            (None, _) => "rekeyed",
        }
    }

    /// Whether the entry only remembers the keys of a passport about which nothing is decided. Such
    /// entries may be pruned, and need no countersignature.
    #[must_use]
    pub fn is_introduction(&self) -> bool {
        self.event == Event::Pending && self.body.is_some()
    }

    /// The passport whose record or lifecycle changed; `None` if the entry is about the store.
    #[must_use]
    pub fn fingerprint(&self) -> Option<Fingerprint> {
        (!self.is_about_the_store()).then_some(self.fingerprint)
    }

    /// The lifecycle of the user's own key after this entry: stage, limits and successor.
    #[must_use]
    pub fn lifecycle(&self) -> Option<(Stage, Limits, Option<Fingerprint>)> {
        let lifecycle = self.lifecycle.as_ref()?;
        Some((lifecycle.stage(), lifecycle.limits(), lifecycle.successor))
    }

    /// How many uses of the user's own key the entry reserved.
    #[must_use]
    pub fn uses(&self) -> Option<u64> {
        self.uses
    }

    /// Whether the user decided something: about a passport, a key's lifecycle, or unsigned files.
    pub(super) fn is_decision(&self) -> bool {
        let decides = self.status().is_some() || self.event == Event::Lifecycle;
        (decides && !self.is_introduction()) || self.signed_only().is_some()
    }

    /// Whether unsigned files are refused after this entry; `None` if it does not decide that.
    pub(super) fn signed_only(&self) -> Option<bool> {
        match self.event {
            Event::SignedOnly => Some(true),
            Event::UnsignedToo => Some(false),
            _ => None,
        }
    }

    fn is_about_the_store(&self) -> bool {
        matches!(self.event, Event::Rekeyed | Event::Pruned) || self.signed_only().is_some()
    }

    /// The label after this entry: 0 to 64 bytes of printable text.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The person who made the change: 0 to 64 bytes of printable text.
    #[must_use]
    pub fn operator(&self) -> &str {
        &self.operator
    }

    /// The note after this entry: 0 to 1024 bytes of printable text.
    #[must_use]
    pub fn note(&self) -> &str {
        &self.note
    }

    /// From when a revocation or a compromise holds: seconds since 1970. `None` for a compromise at
    /// an unknown time, and for every other status.
    #[must_use]
    pub fn since(&self) -> Option<u64> {
        self.since
    }

    /// Whether the entry brought public keys that were new to the store.
    #[must_use]
    pub fn brings_keys(&self) -> bool {
        self.body.is_some()
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        cbor::encode(self)
    }

    /// Reads the only encoding of an entry.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self> {
        let entry: Self = cbor::decode(bytes, "entry")?;
        entry.check().map(|()| entry)
    }

    /// Succeeds if the format allows these fields.
    pub(super) fn check(&self) -> Result<()> {
        text::check(&self.label, 0, MAX_LABEL, "label")?;
        text::check(&self.operator, 0, MAX_OPERATOR, "operator")?;
        text::check_line(&self.note, 0, MAX_NOTE, "note")?;
        let about_a_passport =
            !self.label.is_empty() || self.body.is_some() || self.fingerprint.as_bytes() != &NOBODY;
        if self.is_about_the_store() && about_a_passport {
            return Err(Error::Malformed("entry about the store"));
        }
        self.check_since()?;
        self.check_lifecycle()
    }

    fn check_since(&self) -> Result<()> {
        match (self.event, self.since) {
            (Event::Compromised, _) | (Event::Revoked, Some(_)) => Ok(()),
            (Event::Revoked, None) => Err(Error::Malformed("revocation without a time")),
            (_, None) => Ok(()),
            (_, Some(_)) => Err(Error::Malformed("time of no revocation")),
        }
    }

    fn check_lifecycle(&self) -> Result<()> {
        let fits = match (self.event, &self.lifecycle, self.uses) {
            (Event::Lifecycle, Some(lifecycle), None) => {
                lifecycle.is_valid() && self.body.is_none()
            }
            (Event::Used, None, Some(uses)) => {
                (1..=MAX_USES).contains(&uses) && self.label.is_empty() && self.body.is_none()
            }
            (Event::Lifecycle | Event::Used, ..) => false,
            (_, lifecycle, uses) => lifecycle.is_none() && uses.is_none(),
        };
        match fits {
            true => Ok(()),
            false => Err(Error::Malformed("entry about the lifecycle of a key")),
        }
    }
}

impl From<Status> for Event {
    fn from(status: Status) -> Self {
        match status {
            Status::Pending => Self::Pending,
            Status::Approved => Self::Approved,
            Status::Denied => Self::Denied,
            Status::Revoked => Self::Revoked,
            Status::Compromised => Self::Compromised,
        }
    }
}
