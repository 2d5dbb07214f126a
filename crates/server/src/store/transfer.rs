//! The whole content of a store, as it moves to another one or into a backup
//! (`spec/service.md`, "Moving").
//!
//! ```
//! use sealstone_server::store::{Page, Tally};
//!
//! let mut tally = Tally::default();
//! tally.add(&Page::Set { name: "pow-1".to_owned(), until: 5, is_open: true });
//! let marks = vec![([7; 32], Vec::new())];
//! tally.add(&Page::Marks { set: "pow-1".to_owned(), marks });
//! assert_eq!(tally.marks(), 1);
//! ```

use std::collections::BTreeMap;

use sealstone_primitives::hash::sha256;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use super::{Answer, Key, Store, StoreError};

/// The most entries on one page.
pub(super) const PAGE_LEN: usize = 4096;
/// A record that tells a store that its content is not whole yet; its value says what comes in.
pub const INCOMING: &str = "service/incoming";
/// A record that tells a store that its content is elsewhere from now on.
pub const MOVED: &str = "service/moved";
/// The record with a copy of the passport, which is moved separately.
pub const PASSPORT: &str = "service/passport";

/// Where pages go.
pub type Sink = mpsc::Sender<Page>;

/// A part of the content. The page of a set stands before the first page of its content. A later
/// page counts more than an earlier one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Page {
    /// A set. One that is not open has no content.
    Set {
        /// The name.
        name: String,
        /// Until when it matters, in seconds since 1970.
        until: u64,
        /// Whether it takes marks.
        is_open: bool,
    },
    /// Marks: nothing, or when and by which operation each was made.
    Marks {
        /// The set.
        set: String,
        /// Its marks.
        marks: Vec<(Key, Vec<u8>)>,
    },
    /// Counters.
    Counts {
        /// The set.
        set: String,
        /// Its counters.
        counts: Vec<(Key, u64)>,
    },
    /// Records by name.
    Records(Vec<(String, Vec<u8>)>),
}

/// A store whose content can move.
pub trait Transfer: Store {
    /// Sends all content, and returns a time in seconds since 1970: the content holds all that was
    /// acknowledged before it. Ends early if the receiver is gone.
    ///
    /// During this, no other process may write, unless [`Transfer::copies_at_work`].
    fn pages(&self, sink: Sink) -> Answer<'_, u64>;

    /// Whether the store may change while [`Transfer::pages`] reads it.
    fn copies_at_work(&self) -> bool {
        false
    }

    /// Puts a page over what is there. It is durable when the answer arrives. The same page may
    /// come again.
    fn load(&self, page: Page) -> Answer<'_, ()>;
}

/// Whether a record belongs to its store, and not to the content.
pub(super) fn stays(record: &str) -> bool {
    [INCOMING, MOVED, PASSPORT].contains(&record)
}

/// Sends a page. Whether somebody listens.
pub(super) async fn send(sink: &Sink, page: Page) -> Result<(), StoreError> {
    let nobody = |_| StoreError::Unavailable("nobody listens any more".to_owned());
    sink.send(page).await.map_err(nobody)
}

/// The content of all pages, so that two stores can be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    sets: BTreeMap<String, SetTally>,
    records: Sum,
}

/// The content of a set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct SetTally {
    until: u64,
    is_open: bool,
    marks: Sum,
    counts: Sum,
}

/// How many entries, and the sum of their digests, which does not depend on their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Sum {
    len: u64,
    sum: [u64; 4],
}

impl Sum {
    fn add(&mut self, key: &[u8], value: &[u8]) {
        let len = (key.len() as u64).to_be_bytes();
        let digest = sha256(&[&len, key, value]);
        self.len += 1;
        for (sum, part) in self.sum.iter_mut().zip(digest.chunks_exact(8)) {
            let part = part.try_into().map_or(0, u64::from_be_bytes);
            *sum = sum.wrapping_add(part);
        }
    }
}

impl Tally {
    /// Counts a page, which must not repeat entries of others.
    pub fn add(&mut self, page: &Page) {
        match page {
            Page::Set {
                name,
                until,
                is_open,
            } => {
                let set = self.sets.entry(name.clone()).or_default();
                (set.until, set.is_open) = (*until, *is_open);
                if !is_open {
                    (set.marks, set.counts) = (Sum::default(), Sum::default());
                }
            }
            Page::Marks { set, marks } => {
                let set = self.sets.entry(set.clone()).or_default();
                marks
                    .iter()
                    .for_each(|(key, made)| set.marks.add(key, made));
            }
            Page::Counts { set, counts } => {
                let set = self.sets.entry(set.clone()).or_default();
                let mut add = |(key, count): &(Key, u64)| set.counts.add(key, &count.to_be_bytes());
                counts.iter().for_each(&mut add);
            }
            Page::Records(records) => {
                let mut add =
                    |(name, value): &(String, Vec<u8>)| self.records.add(name.as_bytes(), value);
                records.iter().for_each(&mut add);
            }
        }
    }

    /// Whether there is nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// How many marks: spent tokens, used proofs.
    #[must_use]
    pub fn marks(&self) -> u64 {
        self.sets.values().map(|set| set.marks.len).sum()
    }

    /// How many marks of spent tokens.
    #[must_use]
    pub fn spent(&self) -> u64 {
        let spent = self
            .sets
            .iter()
            .filter(|(name, _)| name.starts_with(super::SPREAD));
        spent.map(|(_, set)| set.marks.len).sum()
    }

    /// How many sets, records and counters.
    #[must_use]
    pub fn others(&self) -> [u64; 3] {
        let counts = self.sets.values().map(|set| set.counts.len).sum();
        [self.sets.len() as u64, self.records.len, counts]
    }

    /// The differences from another one.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<String> {
        if self.records != other.records {
            let (here, there) = (self.records.len, other.records.len);
            return Some(format!("records: {here} and {there}"));
        }
        let names = self.sets.keys().chain(other.sets.keys());
        let mut different = names.filter(|name| self.sets.get(*name) != other.sets.get(*name));
        different.next().map(|name| {
            let marks = |tally: &Self| tally.sets.get(name).map_or(0, |set| set.marks.len);
            format!("the set {name}: {} and {} marks", marks(self), marks(other))
        })
    }
}

/// Counts all content of a store.
///
/// # Errors
/// If the store fails.
pub async fn tally(store: &dyn Transfer) -> Result<Tally, StoreError> {
    let (sink, mut pages) = mpsc::channel(2);
    let mut tally = Tally::default();
    let count = async {
        while let Some(page) = pages.recv().await {
            tally.add(&page);
        }
    };
    let (sent, ()) = tokio::join!(store.pages(sink), count);
    sent.map(|_| tally)
}
