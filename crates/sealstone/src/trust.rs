//! The trust store (`spec/trust.md`): the passports that a person has seen, and a decision about
//! each.
//!
//! The store is a log of changes, chained by hashes and authenticated under a secret of its own.
//! Reading notices every other change, unless the tamperer can read that secret; the owner's
//! passport can countersign the log against such a tamperer ([`TrustStore::sign`]). The store works
//! on any [`Storage`]. Each change is durable when the call returns, and a crash at any moment
//! leaves the store as it was before or after the change.
//!
//! ```
//! use sealstone::passport::Fingerprint;
//! use sealstone::trust::{Change, Memory, Status, TrustStore};
//!
//! let mut store = TrustStore::open(Memory::default())?;
//! let alice = Fingerprint::from_bytes([0xa1; 32]);
//! assert!(store.get(&alice).is_none());
//!
//! let change = Change { time: 1_790_000_000, operator: "bob", note: Some("read to me on the phone") };
//! store.set_status(&alice, Status::Approved, &change)?;
//! store.relabel(&alice, "Alice", &change)?;
//!
//! let record = store.find("a1a1-a1a1")?;
//! assert_eq!((record.label(), record.status()), ("Alice", Status::Approved));
//! # Ok::<(), sealstone::Error>(())
//! ```

mod checkpoint;
mod decide;
mod decision;
mod entry;
mod head;
mod json;
mod key;
mod lifecycle;
mod lifecycle_entry;
mod lifecycles;
mod link;
mod log;
mod name;
mod record;
mod retire;
mod signature;
mod standing;
mod state;
mod status;
mod storage;

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use minicbor::bytes::ByteVec;

pub use checkpoint::{Checkpoint, NoCheckpoint};
pub use decide::Decision;
pub use decision::{Claim, Ground, KnownSender, Own, Refused, Verdict};
pub use entry::Entry;
pub use lifecycle::Reservation;
pub use name::Name;
pub use record::Record;
pub use signature::Countersignature;
pub use standing::Standing;
pub use state::Interrupted;
pub use status::Status;
pub use storage::{File, Memory, ReadSession, Storage, WriteSession};

use entry::Event;
use log::MAX_LOG;
use state::{State, Unlocked};

use crate::passport::{Contact, Fingerprint, Passport};
use crate::{Error, Result};

/// The trust store in a [`Storage`].
///
/// Readers see the state at the time of opening, of the last [refresh](TrustStore::refresh), or of
/// the last change. Every change reads the files first, so that several programs can write at once
/// without losing each other's changes.
pub struct TrustStore<S> {
    storage: S,
    state: State,
}

/// Time, author and reason of a change.
#[derive(Clone, Copy, Debug, Default)]
pub struct Change<'a> {
    /// Seconds since 1970.
    pub time: u64,
    /// The person who makes it: 0 to 64 bytes of printable text.
    pub operator: &'a str,
    /// A note of 0 to 1024 bytes of printable text. `None` keeps the record's note, even with a new
    /// status. A note is about one decision: pass `Some("")` with another one.
    pub note: Option<&'a str>,
}

/// The result of [`TrustStore::check`], which has verified everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Entries that were ever written to the log.
    pub count: u64,
    /// How many of them were pruned.
    pub pruned: u64,
    /// The hash of all entries. Kept elsewhere together with `count`, it shows later that no change
    /// was taken back ([`TrustStore::extends`]).
    pub link: [u8; 32],
    /// The remains of a writer that was stopped.
    pub interrupted: Interrupted,
}

/// The version of the format.
const VERSION: u8 = 1;
/// Introducing strangers stops at this many bytes of log, so that room is left for the user's
/// decisions.
const MAX_LOG_FOR_STRANGERS: usize = MAX_LOG / 4 * 3;

impl<S: Storage> TrustStore<S> {
    /// Reads and verifies the store in `storage`. A store that does not exist is empty; the first
    /// change creates it.
    ///
    /// # Errors
    /// [`Error::StoreAltered`] if the files were changed by another program; [`Error::Io`].
    pub fn open(storage: S) -> Result<Self> {
        let state = Unlocked::load(&storage.read()?)?.state;
        Ok(Self { storage, state })
    }

    /// Reads and verifies the store again, because other programs may have changed it.
    ///
    /// # Errors
    /// As [`TrustStore::open`].
    pub fn refresh(&mut self) -> Result<()> {
        self.state = Unlocked::load(&self.storage.read()?)?.state;
        Ok(())
    }

    /// [Refreshes](TrustStore::refresh) the store and reports on it.
    ///
    /// # Errors
    /// As [`TrustStore::open`]; also if the public keys in a record are not those of its
    /// fingerprint.
    pub fn check(&mut self) -> Result<Report> {
        self.refresh()?;
        self.iter()
            .try_for_each(|record| record.contact().map(drop))?;
        let State {
            log, interrupted, ..
        } = &self.state;
        Ok(Report {
            count: log.len(),
            pruned: log.pruned(),
            link: *log.link(),
            interrupted: *interrupted,
        })
    }

    /// Whether the first `count` entries are those of an earlier [`Report`]. False if an older copy
    /// of the store was put back since.
    #[must_use]
    pub fn extends(&self, count: u64, link: &[u8; 32]) -> bool {
        self.state.log.link_at(count) == Some(link)
    }

    /// The record of a passport, if there is one.
    #[must_use]
    pub fn get(&self, fingerprint: &Fingerprint) -> Option<Record<'_>> {
        self.state.get(fingerprint)
    }

    /// Whether a signature of a passport counts that existed at the time `at`: the latest moment
    /// that its timestamp allows, in seconds since 1970. Without a timestamp, the present status
    /// counts.
    ///
    /// ```
    /// # use sealstone::passport::Fingerprint;
    /// # use sealstone::trust::{Change, Memory, Standing, Status, TrustStore};
    /// let mut store = TrustStore::open(Memory::default())?;
    /// let alice = Fingerprint::from_bytes([0xa1; 32]);
    /// let change = |time| Change { time, ..Change::default() };
    /// store.set_status(&alice, Status::Approved, &change(1000))?;
    /// store.set_status_since(&alice, Status::Compromised, 2000, &change(3000))?;
    /// assert_eq!(store.standing(&alice, Some(1999)), Standing::Approved);
    /// assert_eq!(store.standing(&alice, Some(2000)), Standing::Compromised { since: Some(2000) });
    /// assert!(!store.standing(&alice, None).is_good());
    /// # Ok::<(), sealstone::Error>(())
    /// ```
    #[must_use]
    pub fn standing(&self, fingerprint: &Fingerprint, at: Option<u64>) -> Standing {
        self.get(fingerprint)
            .map_or(Standing::Unknown, |record| record.standing(at))
    }

    /// The only record that `name` can mean; see [`Name`].
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is none or more than one; [`TrustStore::find_all`] returns them.
    pub fn find(&self, name: &str) -> Result<Record<'_>> {
        match self.find_all(name)[..] {
            [record] => Ok(record),
            [] => Err(Error::Invalid("the trust store has no record of that name")),
            _ => Err(Error::Invalid(
                "more than one trust record has that name: use the fingerprint",
            )),
        }
    }

    /// All records that `name` can mean; see [`Name`].
    #[must_use]
    pub fn find_all(&self, name: &str) -> Vec<Record<'_>> {
        let name = Name::parse(name);
        let meant = |record: &Record<'_>| name.means(&record.fingerprint(), record.label());
        self.iter().filter(meant).collect()
    }

    /// All records, in the order in which the passports were seen.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Record<'_>> {
        self.state.records()
    }

    /// All changes, oldest first.
    pub fn log(&self) -> impl DoubleEndedIterator<Item = &Entry> + ExactSizeIterator {
        self.state.log.entries().iter()
    }

    /// Remembers a stranger whose signatures were verified: pending if new, else with the present
    /// status. Adds keys that the store does not have, or has only in part. Writes nothing if there
    /// is nothing new.
    ///
    /// # Errors
    /// As [`TrustStore::open`]; [`Error::Invalid`] if a text of `change` is not allowed;
    /// [`Error::StoreFull`] if the part of the store that is for strangers is.
    pub fn record_stranger(
        &mut self,
        contact: &Contact,
        change: &Change<'_>,
    ) -> Result<Record<'_>> {
        self.remember(contact, change, MAX_LOG_FOR_STRANGERS)
    }

    /// As [`TrustStore::record_stranger`] for a passport that the user brings: the quota of
    /// strangers does not limit it.
    ///
    /// # Errors
    /// As [`TrustStore::open`]; [`Error::Invalid`] if a text of `change` is not allowed;
    /// [`Error::StoreFull`].
    pub fn introduce(&mut self, contact: &Contact, change: &Change<'_>) -> Result<Record<'_>> {
        self.remember(contact, change, MAX_LOG)
    }

    fn remember(
        &mut self,
        contact: &Contact,
        change: &Change<'_>,
        limit: usize,
    ) -> Result<Record<'_>> {
        let fingerprint = contact.fingerprint();
        if self.state.news(contact)?.is_some() {
            self.change(limit, |state| {
                let Some(body) = state.news(contact)? else {
                    return Ok(None);
                };
                let mut entry = state.draft(&fingerprint, change);
                entry.body = Some(body);
                if entry.label.is_empty() {
                    contact.label().clone_into(&mut entry.label);
                }
                Ok(Some(entry))
            })?;
        }
        Ok(self.known(&fingerprint))
    }

    /// Decides about a passport. One without a record gets a record without keys and label. A
    /// revocation holds from the time of `change`, unless one is in force already; the time of a
    /// compromise is unknown. [`TrustStore::set_status_since`] names another time.
    ///
    /// # Errors
    /// As [`TrustStore::introduce`]; [`Error::Invalid`] if the record is revoked or compromised and
    /// `status` does not say the same or worse.
    pub fn set_status(
        &mut self,
        fingerprint: &Fingerprint,
        status: Status,
        change: &Change<'_>,
    ) -> Result<Record<'_>> {
        self.set(fingerprint, status, None, change)
    }

    /// As [`TrustStore::set_status`] for [`Status::Revoked`] and [`Status::Compromised`], which
    /// hold from `since` (seconds since 1970).
    ///
    /// # Errors
    /// As [`TrustStore::set_status`]; [`Error::Invalid`] if `status` is another, or `since` is
    /// later than the time of `change`.
    pub fn set_status_since(
        &mut self,
        fingerprint: &Fingerprint,
        status: Status,
        since: u64,
        change: &Change<'_>,
    ) -> Result<Record<'_>> {
        if !status.is_final() {
            return Err(Error::Invalid(
                "only a revocation or a compromise holds from a date",
            ));
        }
        if since > change.time {
            return Err(Error::Invalid("the date lies in the future"));
        }
        self.set(fingerprint, status, Some(since), change)
    }

    fn set(
        &mut self,
        fingerprint: &Fingerprint,
        status: Status,
        since: Option<u64>,
        change: &Change<'_>,
    ) -> Result<Record<'_>> {
        self.change(MAX_LOG, |state| {
            let before = state.get(fingerprint).map(|record| record.status());
            refuse_better(before, status)?;
            let kept = state.draft(fingerprint, change);
            let since = match status {
                Status::Revoked if before == Some(Status::Revoked) => since.or(kept.since),
                Status::Revoked => since.or(Some(change.time)),
                _ => since,
            };
            Ok(Some(Entry {
                event: status.into(),
                since,
                ..kept
            }))
        })?;
        Ok(self.known(fingerprint))
    }

    /// Takes a revocation or a compromise back: the passport is pending again.
    ///
    /// # Errors
    /// As [`TrustStore::introduce`]; [`Error::Invalid`] if it is neither.
    pub fn reinstate(
        &mut self,
        fingerprint: &Fingerprint,
        change: &Change<'_>,
    ) -> Result<Record<'_>> {
        self.change(MAX_LOG, |state| {
            let status = state.get(fingerprint).map(|record| record.status());
            match status.is_some_and(Status::is_final) {
                true => Ok(Some(Entry {
                    event: Event::Pending,
                    since: None,
                    ..state.draft(fingerprint, change)
                })),
                false => Err(Error::Invalid("the passport is not revoked")),
            }
        })?;
        Ok(self.known(fingerprint))
    }

    /// Sets the label of a record: 0 to 64 bytes of printable text.
    ///
    /// # Errors
    /// As [`TrustStore::introduce`]; [`Error::Invalid`] if there is no record of it.
    pub fn relabel(
        &mut self,
        fingerprint: &Fingerprint,
        label: &str,
        change: &Change<'_>,
    ) -> Result<Record<'_>> {
        self.change(MAX_LOG, |state| match state.get(fingerprint) {
            Some(_) => Ok(Some(Entry {
                label: label.to_owned(),
                ..state.draft(fingerprint, change)
            })),
            None => Err(Error::Invalid(
                "the trust store has no record of that passport",
            )),
        })?;
        Ok(self.known(fingerprint))
    }

    /// Gives the store a new secret. Use it if the old secret may be known to others. All records
    /// stay.
    ///
    /// # Errors
    /// As [`TrustStore::introduce`]; [`Error::Invalid`] if there is no store.
    pub fn rekey(&mut self, change: &Change<'_>) -> Result<()> {
        let mut session = self.storage.write()?;
        let mut unlocked = Unlocked::existing(&session)?;
        unlocked.rekey(&mut session, State::about_the_store(Event::Rekeyed, change))?;
        self.state = unlocked.state;
        Ok(())
    }

    /// Removes the records of passports that were only seen, the last time before `before` (seconds
    /// since 1970). Returns their number; if it is 0, nothing is written. Every link stays what it
    /// was, so that earlier checks and countersignatures still hold.
    ///
    /// # Errors
    /// As [`TrustStore::introduce`]; [`Error::Invalid`] if there is no store.
    pub fn prune(&mut self, before: u64, change: &Change<'_>) -> Result<usize> {
        let mut session = self.storage.write()?;
        let mut unlocked = Unlocked::existing(&session)?;
        let has_lifecycle =
            |record: &Record<'_>| unlocked.state.lifecycles.contains(&record.fingerprint());
        let old = |record: &Record<'_>| {
            record.is_only_met() && record.changed() < before && !has_lifecycle(record)
        };
        let gone: HashSet<Fingerprint> = unlocked
            .state
            .records()
            .filter(old)
            .map(|record| record.fingerprint())
            .collect();
        if !gone.is_empty() {
            let entry = State::about_the_store(Event::Pruned, change);
            unlocked.prune(&mut session, entry, |entry| {
                gone.contains(&entry.fingerprint)
            })?;
        }
        self.state = unlocked.state;
        Ok(gone.len())
    }

    /// Whether unsigned files are to be refused.
    pub fn is_signed_only(&self) -> bool {
        self.state.is_signed_only()
    }

    /// Decides whether unsigned files are to be refused. Writes nothing if that is decided already.
    ///
    /// # Errors
    /// As [`TrustStore::introduce`].
    pub fn set_signed_only(&mut self, signed_only: bool, change: &Change<'_>) -> Result<()> {
        let event = match signed_only {
            true => Event::SignedOnly,
            false => Event::UnsignedToo,
        };
        self.change(MAX_LOG, |state| {
            let news = state.is_signed_only() != signed_only;
            Ok(news.then(|| Entry {
                sequence: state.log.len(),
                ..State::about_the_store(event, change)
            }))
        })
    }

    /// Countersigns the log with the owner's passport: from then on,
    /// [`TrustStore::verify_signed`] notices entries that another program made, even one that can
    /// read the store's secret.
    ///
    /// # Errors
    /// As [`TrustStore::open`]; [`Error::Invalid`] if there is no store, or it changed since it was
    /// last read.
    pub fn sign(&mut self, passport: &Passport, time: u64) -> Result<()> {
        let mut session = self.storage.write()?;
        let mut unlocked = Unlocked::existing(&session)?;
        let (count, link) = (self.state.log.len(), *self.state.log.link());
        if (unlocked.state.log.len(), unlocked.state.log.link()) != (count, &link) {
            return Err(Error::Invalid("the trust store was changed meanwhile"));
        }
        let signature = Countersignature::new(passport, count, link, time)?;
        session.replace(File::Signature, &signature.encode())?;
        unlocked.state.signature = Some(signature);
        self.state = unlocked.state;
        Ok(())
    }

    /// The countersignature, if there is one. It is a claim until
    /// [`TrustStore::verify_signed`] has checked it.
    #[must_use]
    pub fn signature(&self) -> Option<&Countersignature> {
        self.state.signature.as_ref()
    }

    /// Checks the countersignature of `signer`. Returns the entries after it, oldest first, except
    /// those of strangers that were only seen and those of uses of keys: nobody has countersigned
    /// them.
    ///
    /// # Errors
    /// [`Error::StoreAltered`] if there is no countersignature, or not one of `signer`.
    pub fn verify_signed(&self, signer: &Contact) -> Result<Vec<&Entry>> {
        let signature = self.signature();
        let signature = signature.ok_or(Error::StoreAltered("it is not countersigned"))?;
        signature.verify(signer)?;
        let later = |entry: &&Entry| entry.sequence >= signature.count() && entry.is_decision();
        Ok(self.state.log.entries().iter().filter(later).collect())
    }

    /// Adds the entry that `draft` makes from the present state, if any.
    fn change(
        &mut self,
        limit: usize,
        draft: impl FnOnce(&State) -> Result<Option<Entry>>,
    ) -> Result<()> {
        let mut session = self.storage.write()?;
        let mut unlocked = Unlocked::load(&session)?;
        if let Some(entry) = draft(&unlocked.state)? {
            unlocked.append(&mut session, entry, limit)?;
        }
        self.state = unlocked.state;
        Ok(())
    }

    /// The record that a change has just made or found.
    fn known(&self, fingerprint: &Fingerprint) -> Record<'_> {
        self.get(fingerprint).expect("records never vanish")
    }
}

impl State {
    fn is_signed_only(&self) -> bool {
        let mut entries = self.log.entries().iter().rev();
        entries.find_map(Entry::signed_only).unwrap_or(false)
    }

    /// An entry about the store itself.
    fn about_the_store(event: Event, change: &Change<'_>) -> Entry {
        let nobody = Fingerprint::from_bytes(entry::NOBODY);
        Entry {
            event,
            ..Self::default().draft(&nobody, change)
        }
    }

    /// An entry that leaves the record of `fingerprint` as it is, or makes a pending one without
    /// label.
    fn draft(&self, fingerprint: &Fingerprint, change: &Change<'_>) -> Entry {
        let record = self.get(fingerprint);
        Entry {
            sequence: self.log.len(),
            time: change.time,
            event: record.map_or(Event::Pending, |record| record.status().into()),
            fingerprint: *fingerprint,
            label: record.map_or("", |record| record.label()).to_owned(),
            operator: change.operator.to_owned(),
            note: change
                .note
                .unwrap_or_else(|| record.map_or("", |record| record.note()))
                .to_owned(),
            body: None,
            since: record.and_then(|record| record.since()),
            lifecycle: None,
            uses: None,
        }
    }

    /// The `passport-body` of `contact` if it says more than the store knows.
    fn news(&self, contact: &Contact) -> Result<Option<ByteVec>> {
        let known = self
            .get(&contact.fingerprint())
            .map(|record| record.contact())
            .transpose()?
            .flatten();
        let enough = known.is_some_and(|known| known.is_complete() || !contact.is_complete());
        Ok((!enough).then(|| contact.encode().into()))
    }
}

/// A final status changes only into a worse one.
fn refuse_better(before: Option<Status>, status: Status) -> Result<()> {
    match (before, status) {
        (Some(Status::Revoked), Status::Revoked | Status::Compromised)
        | (Some(Status::Compromised), Status::Compromised) => Ok(()),
        (Some(Status::Revoked), _) => Err(Error::Invalid(
            "the passport is revoked: reinstate it first",
        )),
        (Some(Status::Compromised), _) => Err(Error::Invalid(
            "the passport is compromised: reinstate it first",
        )),
        _ => Ok(()),
    }
}

fn altered(what: &'static str) -> Error {
    Error::StoreAltered(what)
}
