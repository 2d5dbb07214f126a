//! The state that a service must not forget: spent tokens, used proofs, counters, sealed keys
//! (`spec/service.md`, "Store").
//!
//! A store offers two atomic operations. [`Store::apply`] spends and counts, all or nothing.
//! [`Store::update`] compares and replaces records. Both are durable when their answer arrives.
//!
//! ```
//! use sealstone_server::store::{Change, Mark, Outcome, RedbStore, Refusal, Set, Store};
//!
//! let directory = tempfile::tempdir()?;
//! let store = RedbStore::open(&directory.path().join("store.redb"))?;
//! let set = Set::new("spent-1", 1_800_000_000);
//! let spend = Change::new(1_767_225_600).mark(Mark::new(&set, [7; 32]));
//!
//! let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! runtime.block_on(async {
//!     assert_eq!(store.apply(spend.clone()).await?, Outcome::Done);
//!     assert_eq!(store.apply(spend).await?, Outcome::Refused(Refusal::Spent));
//!     Ok::<(), Box<dyn std::error::Error>>(())
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod copy;
mod embedded;
mod evaluate;
mod open;
mod options;
mod postgres;
mod redis;
mod tables;
mod transfer;
mod writer;

use std::future::Future;
use std::pin::Pin;

pub use crate::error::StoreError;

pub use self::postgres::PostgresStore;
pub use self::redis::RedisStore;
pub use embedded::RedbStore;
pub use open::open;
pub use options::{Durability, FILE, StoreKind, StoreOptions};
pub use transfer::{INCOMING, MOVED, PASSPORT, Page, Sink, Tally, Transfer, tally};

/// A key of a mark or a counter: a digest.
pub type Key = [u8; 32];

/// A store's answer, later.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A store. Any number of tasks, and for stores on other machines any number of processes, use
/// one at the same time.
pub trait Store: Send + Sync + 'static {
    /// Makes all of `change`, or nothing of it. The answer [`Outcome::Done`] is durable.
    ///
    /// After an error, the change was made or was not made.
    fn apply(&self, change: Change) -> Answer<'_, Outcome>;

    /// The answer that [`Store::apply`] would give now. It changes nothing.
    fn probe(&self, change: Change) -> Answer<'_, Outcome>;

    /// The record of this name.
    fn get(&self, name: &str) -> Answer<'_, Option<Vec<u8>>>;

    /// Replaces records if each of them is as expected; else returns false and changes nothing.
    /// The answer is durable. It returns false too if not [`keeps_logs`].
    fn update(&self, records: Vec<Replace>) -> Answer<'_, bool>;

    /// Drops the content of all sets that ended before `before`, for ever: they refuse all marks
    /// from then on. Returns how many.
    fn close_sets(&self, before: u64) -> Answer<'_, u64>;

    /// The sets that are open, with the number of their marks.
    fn sets(&self) -> Answer<'_, Vec<(Set, u64)>>;
}

/// A named set of marks and counters that is dropped as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Set {
    name: String,
    until: u64,
}

/// Names of spread sets begin with this.
const SPREAD: &str = "spent-";

impl Set {
    /// The set `name`, whose content matters until `until`, in seconds since 1970.
    #[must_use]
    pub fn new(name: impl Into<String>, until: u64) -> Self {
        Self {
            name: name.into(),
            until,
        }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether changes that mark in this set contain one mark and nothing else, so that a store
    /// may keep its marks on several machines. Stores refuse other changes, or make them whole.
    #[must_use]
    pub fn is_spread(&self) -> bool {
        self.name.starts_with(SPREAD)
    }

    /// The time from which the set may be dropped, in seconds since 1970.
    #[must_use]
    pub fn until(&self) -> u64 {
        self.until
    }
}

/// Something that happens once: a token is spent, a proof of work is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    set: Set,
    key: Key,
    operation: Option<Key>,
}

impl Mark {
    /// The mark `key` in `set`.
    #[must_use]
    pub fn new(set: &Set, key: Key) -> Self {
        Self {
            set: set.clone(),
            key,
            operation: None,
        }
    }

    /// Names the client's operation. The same operation may make the same mark again within the
    /// change's grace.
    #[must_use]
    pub fn of_operation(self, operation: Key) -> Self {
        Self {
            operation: Some(operation),
            ..self
        }
    }
}

/// Something that happens a limited number of times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    set: Set,
    key: Key,
    add: u64,
    limit: u64,
}

impl Count {
    /// Adds `add` to the counter `key` in `set`, which may reach `limit`.
    #[must_use]
    pub fn new(set: &Set, key: Key, add: u64, limit: u64) -> Self {
        Self {
            set: set.clone(),
            key,
            add,
            limit,
        }
    }
}

/// A change that is made as a whole or not at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    now: u64,
    grace: u64,
    marks: Vec<Mark>,
    counts: Vec<Count>,
    absent: Vec<Mark>,
}

impl Change {
    /// An empty change at the time `now`, in seconds since 1970.
    #[must_use]
    pub fn new(now: u64) -> Self {
        Self {
            now,
            ..Self::default()
        }
    }

    /// The same at another time.
    #[must_use]
    pub fn at(self, now: u64) -> Self {
        Self { now, ..self }
    }

    /// For how many seconds an operation may be repeated.
    #[must_use]
    pub fn with_grace(self, seconds: u64) -> Self {
        Self {
            grace: seconds,
            ..self
        }
    }

    /// Requires that `mark` is new, and makes it.
    #[must_use]
    pub fn mark(mut self, mark: Mark) -> Self {
        self.marks.push(mark);
        self
    }

    /// Requires that `count` stays within its limit, and counts.
    #[must_use]
    pub fn count(mut self, count: Count) -> Self {
        self.counts.push(count);
        self
    }

    /// Requires that nobody made `mark`, and does not make it.
    #[must_use]
    pub fn absent(mut self, mark: Mark) -> Self {
        self.absent.push(mark);
        self
    }

    /// Both changes together.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.marks.extend(other.marks);
        self.counts.extend(other.counts);
        self.absent.extend(other.absent);
        self
    }

    /// Whether the store has nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty() && self.counts.is_empty() && self.absent.is_empty()
    }

    /// Whether it is one mark and nothing else.
    fn is_single(&self) -> bool {
        self.marks.len() == 1 && self.counts.is_empty() && self.absent.is_empty()
    }

    fn sets(&self) -> impl Iterator<Item = &Set> {
        let marks = self.marks.iter().chain(&self.absent).map(|mark| &mark.set);
        marks.chain(self.counts.iter().map(|count| &count.set))
    }
}

/// A record to replace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replace {
    /// The name.
    pub name: String,
    /// The present value; `None` if there is none.
    pub expected: Option<Vec<u8>>,
    /// The new value; `None` to remove it.
    pub value: Option<Vec<u8>>,
}

impl Replace {
    /// Makes a record that must not exist.
    #[must_use]
    pub fn create(name: impl Into<String>, value: Vec<u8>) -> Self {
        Self {
            name: name.into(),
            expected: None,
            value: Some(value),
        }
    }
}

/// Records whose names begin with this are written once.
pub const LOG: &str = "log/";

/// Whether `records` replaces and removes no record of a log. Each store asks first.
#[must_use]
pub fn keeps_logs(records: &[Replace]) -> bool {
    let adds = |record: &Replace| record.expected.is_none() && record.value.is_some();
    let mut of_logs = records.iter().filter(|record| record.name.starts_with(LOG));
    of_logs.all(adds)
}

/// The outcome of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is made, durably.
    Done,
    /// The same operation made it before, within the grace. Nothing was changed.
    Repeated,
    /// Nothing was changed.
    Refused(Refusal),
}

/// Why a change is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A mark was made before.
    Spent,
    /// A counter would exceed its limit.
    Limit,
    /// A mark that must be absent is there.
    Present,
    /// A set was dropped.
    Closed,
}
