//! The trust store (`spec/trust.md`): which passports a person has met, and what they decided about
//! each.
//!
//! The store is a log of changes, chained by hashes and authenticated under a secret of its own, so
//! that whatever was not changed through it is noticed. It works on any [`Storage`]; each change is
//! durable when the call returns, and a crash at any moment leaves the store before or after it.
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

mod entry;
mod head;
mod key;
mod log;
mod record;
mod state;
mod storage;

#[cfg(test)]
mod tests;

use minicbor::bytes::ByteVec;

pub use entry::Entry;
pub use record::{Record, Status};
pub use state::Interrupted;
pub use storage::{File, Memory, ReadSession, Storage, WriteSession};

use entry::Event;
use log::MAX_LOG;
use state::{State, Unlocked};

use crate::passport::{Contact, Fingerprint};
use crate::{Error, Result};

/// The trust store in a [`Storage`].
///
/// What is read is what was there when it was opened, [refreshed](TrustStore::refresh), or last
/// changed. Every change begins with what is there then: of several programs that write at once,
/// none loses what another wrote.
pub struct TrustStore<S> {
    storage: S,
    state: State,
}

/// When, by whom and why something is changed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Change<'a> {
    /// Seconds since 1970.
    pub time: u64,
    /// Who makes it: 0 to 64 bytes of printable text.
    pub operator: &'a str,
    /// What to note, 0 to 1024 bytes of printable text; `None` leaves the record's note as it is, beside a new status
    /// too. A note is about one decision: give `Some("")` with another one.
    pub note: Option<&'a str>,
}

/// What [`TrustStore::check`] found; by then everything has been verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Entries in the log.
    pub count: u64,
    /// What they hash to. Kept elsewhere together with `count`, it shows later that nothing was
    /// taken back ([`TrustStore::extends`]).
    pub link: [u8; 32],
    /// What a writer that was stopped left behind.
    pub interrupted: Interrupted,
}

/// The version of the format.
const VERSION: u8 = 1;
/// Meeting strangers stops at this many bytes of log, so that however many come, there is room for
/// the user's decisions.
const MAX_LOG_FOR_STRANGERS: usize = MAX_LOG / 4 * 3;
/// The shortest beginning of a fingerprint that [`TrustStore::find`] takes.
const MIN_PREFIX_DIGITS: usize = 8;

impl<S: Storage> TrustStore<S> {
    /// Reads and verifies the store in `storage`; one that does not exist is empty, and made by the
    /// first change.
    ///
    /// # Errors
    /// [`Error::StoreAltered`] if something else than this code changed it; [`Error::Io`].
    pub fn open(storage: S) -> Result<Self> {
        let state = Unlocked::load(&storage.read()?)?.state;
        Ok(Self { storage, state })
    }

    /// Reads and verifies the store again, as other programs may have changed it.
    ///
    /// # Errors
    /// As [`TrustStore::open`].
    pub fn refresh(&mut self) -> Result<()> {
        self.state = Unlocked::load(&self.storage.read()?)?.state;
        Ok(())
    }

    /// [Refreshes](TrustStore::refresh) and tells what was found.
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
            link: *log.link(),
            interrupted: *interrupted,
        })
    }

    /// Whether the first `count` entries are those that a [`Report`] told of: false if the store
    /// was put back to an earlier state since.
    #[must_use]
    pub fn extends(&self, count: u64, link: &[u8; 32]) -> bool {
        self.state.log.link_at(count) == Some(link)
    }

    /// The record of a passport, if it was ever met.
    #[must_use]
    pub fn get(&self, fingerprint: &Fingerprint) -> Option<Record<'_>> {
        self.state.get(fingerprint)
    }

    /// The one record that `name` means: a fingerprint, the first 8 or more of its digits, or a
    /// label.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is none or more than one; [`TrustStore::find_all`] tells them.
    pub fn find(&self, name: &str) -> Result<Record<'_>> {
        match self.find_all(name)[..] {
            [record] => Ok(record),
            [] => Err(Error::Invalid("the trust store has no record of that name")),
            _ => Err(Error::Invalid(
                "more than one trust record has that name: use the fingerprint",
            )),
        }
    }

    /// All records that `name` may mean. A whole fingerprint never means a label.
    #[must_use]
    pub fn find_all(&self, name: &str) -> Vec<Record<'_>> {
        let whole: Option<Fingerprint> = name.parse().ok();
        let digits = fingerprint_digits(name);
        let meant = |record: &Record<'_>| match (whole, &digits) {
            (Some(fingerprint), _) => record.fingerprint() == fingerprint,
            (None, Some(digits)) if hex(&record.fingerprint()).starts_with(digits) => true,
            _ => !name.is_empty() && record.label() == name,
        };
        self.iter().filter(meant).collect()
    }

    /// All records, in the order in which the passports were met.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Record<'_>> {
        self.state.records()
    }

    /// All changes, oldest first.
    pub fn log(&self) -> impl DoubleEndedIterator<Item = &Entry> + ExactSizeIterator {
        self.state.log.entries().iter()
    }

    /// Remembers a passport whose signatures were verified: as pending if it is new, else with the
    /// status that it has. Keys that the store has not, or only in part, are added. Changes nothing
    /// if there is nothing new.
    ///
    /// # Errors
    /// As [`TrustStore::open`]; [`Error::Invalid`] if a text of `change` is not allowed, or the
    /// store is full.
    pub fn meet(&mut self, contact: &Contact, change: &Change<'_>) -> Result<Record<'_>> {
        let fingerprint = contact.fingerprint();
        if self.state.news(contact)?.is_some() {
            self.change(MAX_LOG_FOR_STRANGERS, |state| {
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

    /// Decides about a passport; one that was never met gets a record without keys and label.
    ///
    /// # Errors
    /// As [`TrustStore::meet`]; [`Error::Invalid`] if it is revoked and `status` is another.
    pub fn set_status(
        &mut self,
        fingerprint: &Fingerprint,
        status: Status,
        change: &Change<'_>,
    ) -> Result<Record<'_>> {
        self.change(MAX_LOG, |state| {
            let revoked = state
                .get(fingerprint)
                .is_some_and(|record| record.status() == Status::Revoked);
            if revoked && status != Status::Revoked {
                return Err(Error::Invalid(
                    "the passport is revoked: reinstate it first",
                ));
            }
            Ok(Some(Entry {
                event: status.into(),
                ..state.draft(fingerprint, change)
            }))
        })?;
        Ok(self.known(fingerprint))
    }

    /// Takes a revocation back: the passport is pending again.
    ///
    /// # Errors
    /// As [`TrustStore::meet`]; [`Error::Invalid`] if it is not revoked.
    pub fn reinstate(
        &mut self,
        fingerprint: &Fingerprint,
        change: &Change<'_>,
    ) -> Result<Record<'_>> {
        self.change(MAX_LOG, |state| {
            match state.get(fingerprint).map(|record| record.status()) {
                Some(Status::Revoked) => Ok(Some(Entry {
                    event: Event::Pending,
                    ..state.draft(fingerprint, change)
                })),
                _ => Err(Error::Invalid("the passport is not revoked")),
            }
        })?;
        Ok(self.known(fingerprint))
    }

    /// Calls the owner of a passport `label`: 0 to 64 bytes of printable text.
    ///
    /// # Errors
    /// As [`TrustStore::meet`]; [`Error::Invalid`] if there is no record of it.
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

    /// Gives the store a new secret, for when the old one may be in other hands. All records stay.
    ///
    /// # Errors
    /// As [`TrustStore::meet`]; [`Error::Invalid`] if there is no store.
    pub fn rekey(&mut self, change: &Change<'_>) -> Result<()> {
        let mut session = self.storage.write()?;
        let mut unlocked = Unlocked::load(&session)?;
        if !unlocked.exists() {
            return Err(Error::Invalid("there is no trust store yet"));
        }
        let nobody = Fingerprint::from_bytes(entry::NOBODY);
        let entry = Entry {
            event: Event::Rekeyed,
            ..State::default().draft(&nobody, change)
        };
        unlocked.rekey(&mut session, entry)?;
        self.state = unlocked.state;
        Ok(())
    }

    /// Adds the entry that `draft` makes of the present state, if any.
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
        Ok((!enough).then(|| contact.encoded_body().into()))
    }
}

/// The digits of the beginning of a fingerprint, if `name` can be one.
fn fingerprint_digits(name: &str) -> Option<String> {
    let digits: String = name
        .chars()
        .filter(|c| *c != '-' && !c.is_whitespace())
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let hexadecimal = digits.chars().all(|c| c.is_ascii_hexdigit());
    (hexadecimal && digits.len() >= MIN_PREFIX_DIGITS).then_some(digits)
}

fn hex(fingerprint: &Fingerprint) -> String {
    data_encoding::HEXLOWER.encode(fingerprint.as_bytes())
}

fn altered(what: &'static str) -> Error {
    Error::StoreAltered(what)
}
