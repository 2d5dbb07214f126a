//! One passport's record, gathered from the log.

use std::collections::HashMap;
use std::fmt;

use super::altered;
use super::entry::Entry;
use super::standing::{End, Standing};
use super::status::Status;
use crate::Result;
use crate::passport::{Contact, Fingerprint};

/// The state of one passport in the store.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    first: &'a Entry,
    last: &'a Entry,
    body: Option<&'a Entry>,
    only_introduced: bool,
    end: End,
}

/// The places in the log of the parts of each record, in the order of their introductions.
#[derive(Default)]
pub(super) struct Index {
    records: Vec<Places>,
    by_fingerprint: HashMap<Fingerprint, usize>,
}

/// Positions in the log.
struct Places {
    first: usize,
    last: usize,
    body: Option<usize>,
    /// Whether all entries only remember keys, so that nothing was ever decided.
    only_introduced: bool,
    end: End,
}

impl<'a> Record<'a> {
    /// The name of the passport.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.last.fingerprint
    }

    /// The user's decision.
    #[must_use]
    pub fn status(&self) -> Status {
        self.last
            .status()
            .expect("the index leaves out entries without a status")
    }

    /// From when the revocation or the compromise holds: seconds since 1970. `None` for a
    /// compromise at an unknown time, and for every other status.
    #[must_use]
    pub fn since(&self) -> Option<u64> {
        self.last.since
    }

    /// Whether a signature of this passport counts; see [`super::TrustStore::standing`].
    #[must_use]
    pub fn standing(&self, at: Option<u64>) -> Standing {
        self.end.standing(at)
    }

    /// The user's name for the owner; at first the owner's own label. May be empty.
    #[must_use]
    pub fn label(&self) -> &'a str {
        &self.last.label
    }

    /// When the record was made: seconds since 1970.
    #[must_use]
    pub fn first_seen(&self) -> u64 {
        self.first.time
    }

    /// When it was last changed: seconds since 1970.
    #[must_use]
    pub fn changed(&self) -> u64 {
        self.last.time
    }

    /// The person who changed it last.
    #[must_use]
    pub fn operator(&self) -> &'a str {
        &self.last.operator
    }

    /// The operator's note. May be empty.
    #[must_use]
    pub fn note(&self) -> &'a str {
        &self.last.note
    }

    /// Whether the passport was only seen: the user never changed anything in its record.
    #[must_use]
    pub fn is_only_met(&self) -> bool {
        self.only_introduced
    }

    /// The public keys, if the store has ever seen them.
    ///
    /// # Errors
    /// [`crate::Error::StoreAltered`] if they are not those of the fingerprint.
    pub fn contact(&self) -> Result<Option<Contact>> {
        let body = self.body.and_then(|entry| entry.body.as_ref());
        let contact = body.map(|body| Contact::decode(body)).transpose();
        match contact {
            Ok(Some(contact)) if contact.fingerprint() != self.fingerprint() => {
                Err(altered("a record holds the keys of another passport"))
            }
            Ok(contact) => Ok(contact),
            Err(_) => Err(altered("the keys in a record are malformed")),
        }
    }
}

impl fmt::Debug for Record<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Record({}, {:?}, {})",
            self.status(),
            self.label(),
            self.fingerprint()
        )
    }
}

impl Index {
    /// Adds `entry`, which is at `position` of the log.
    pub(super) fn add(&mut self, position: usize, entry: &Entry) {
        if entry.status().is_none() {
            return;
        }
        let fingerprint = entry.fingerprint;
        let body = entry.body.is_some().then_some(position);
        let number = *self
            .by_fingerprint
            .entry(fingerprint)
            .or_insert(self.records.len());
        match self.records.get_mut(number) {
            Some(places) => {
                places.last = position;
                places.body = body.or(places.body);
                places.only_introduced &= entry.is_introduction();
                places.end.add(entry);
            }
            None => self.records.push(Places {
                first: position,
                last: position,
                body,
                only_introduced: entry.is_introduction(),
                end: End::of_first(entry),
            }),
        }
    }

    pub(super) fn get<'a>(
        &self,
        entries: &'a [Entry],
        fingerprint: &Fingerprint,
    ) -> Option<Record<'a>> {
        let number = *self.by_fingerprint.get(fingerprint)?;
        Some(self.records[number].record(entries))
    }

    pub(super) fn iter<'a>(
        &'a self,
        entries: &'a [Entry],
    ) -> impl ExactSizeIterator<Item = Record<'a>> {
        self.records.iter().map(|places| places.record(entries))
    }
}

impl Places {
    fn record<'a>(&self, entries: &'a [Entry]) -> Record<'a> {
        Record {
            first: &entries[self.first],
            last: &entries[self.last],
            body: self.body.map(|at| &entries[at]),
            only_introduced: self.only_introduced,
            end: self.end,
        }
    }
}
