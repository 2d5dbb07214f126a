//! The content of the embedded store while it works.
//!
//! A copy has two snapshots. The marks of the first one are read while the store takes changes;
//! the writer notes which marks are made meanwhile. The second snapshot gives these marks and all
//! that may have changed. So the copy shows the moment of the second snapshot.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use redb::{ReadTransaction, ReadableTable};

use super::tables::{Counts, RECORDS, SETS, counts_name, counts_of, failed, marks_of};
use super::transfer::{PAGE_LEN, Page, Sink, stays};
use super::{Change, Key, StoreError};

/// More marks during one copy would need too much memory.
const MAX_NOTED: usize = 1 << 23;

/// The marks that were made since a copy began.
pub(super) struct Noted {
    marks: Vec<(Arc<str>, Key)>,
    /// Set names, each once in memory.
    names: BTreeSet<Arc<str>>,
    ticket: Ticket,
}

/// A copier holds this; the writer stops noting when it is gone.
#[derive(Clone)]
pub(super) struct Ticket(Arc<AtomicBool>);

impl Ticket {
    pub(super) fn new() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }

    /// Ends the copy: its snapshot would keep the file from being opened again.
    fn void(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    fn check(&self) -> Result<(), StoreError> {
        match self.0.load(Ordering::Relaxed) {
            true => Ok(()),
            false => Err(failed("a copy was interrupted: begin it again")),
        }
    }
}

impl Noted {
    pub(super) fn new(ticket: Ticket) -> Self {
        Self {
            marks: Vec::new(),
            names: BTreeSet::new(),
            ticket,
        }
    }

    /// Whether somebody still copies.
    pub(super) fn is_wanted(&self) -> bool {
        Arc::strong_count(&self.ticket.0) > 1 && self.ticket.check().is_ok()
    }

    pub(super) fn add(&mut self, change: &Change) {
        for mark in &change.marks {
            let name = match self.names.get(mark.set.name()) {
                Some(name) => name.clone(),
                None => {
                    let name: Arc<str> = mark.set.name().into();
                    self.names.insert(name.clone());
                    name
                }
            };
            self.marks.push((name, mark.key));
        }
        if self.marks.len() > MAX_NOTED {
            self.ticket.void();
        }
    }

    /// The store failed.
    pub(super) fn void(&self) {
        self.ticket.void();
    }

    pub(super) fn into_marks(self) -> Vec<(Arc<str>, Key)> {
        self.marks
    }
}

/// Sends pages of one snapshot, from a thread that may block.
pub(super) struct Reader {
    pub(super) snapshot: ReadTransaction,
    pub(super) sink: Sink,
    pub(super) ticket: Ticket,
}

impl Reader {
    fn send(&self, page: Page) -> Result<(), StoreError> {
        self.ticket.check()?;
        let nobody = |_| failed("nobody listens any more");
        self.sink.blocking_send(page).map_err(nobody)
    }

    /// All sets. The names of those that are open.
    fn sets(&self) -> Result<Vec<String>, StoreError> {
        let mut open = Vec::new();
        let table = self.snapshot.open_table(SETS).map_err(failed)?;
        for entry in table.iter().map_err(failed)? {
            let (name, value) = entry.map_err(failed)?;
            let (name, (until, is_open)) = (name.value().to_owned(), value.value());
            if is_open {
                open.push(name.clone());
            }
            self.send(Page::Set {
                name,
                until,
                is_open,
            })?;
        }
        Ok(open)
    }

    /// All sets, and the marks of those that are open.
    pub(super) fn marks(&self) -> Result<(), StoreError> {
        for set in self.sets()? {
            let Some(table) = marks_of(&self.snapshot, &set).map_err(failed)? else {
                continue;
            };
            let mut marks = Vec::with_capacity(PAGE_LEN);
            for entry in table.iter().map_err(failed)? {
                let (key, made) = entry.map_err(failed)?;
                marks.push((*key.value(), made.value().to_vec()));
                if marks.len() == PAGE_LEN {
                    let marks = std::mem::replace(&mut marks, Vec::with_capacity(PAGE_LEN));
                    let set = set.clone();
                    self.send(Page::Marks { set, marks })?;
                }
            }
            self.send(Page::Marks { set, marks })?;
        }
        Ok(())
    }

    /// All sets, the marks that were made since, counters and records.
    pub(super) fn rest(&self, made_since: &[(Arc<str>, Key)]) -> Result<(), StoreError> {
        let open = self.sets()?;
        for set in open {
            self.marks_since(&set, made_since)?;
            self.counts(&set)?;
        }
        let table = self.snapshot.open_table(RECORDS).map_err(failed)?;
        let mut records = Vec::new();
        for entry in table.iter().map_err(failed)? {
            let (name, value) = entry.map_err(failed)?;
            if !stays(name.value()) {
                records.push((name.value().to_owned(), value.value().to_vec()));
            }
            if records.len() == PAGE_LEN {
                self.send(Page::Records(std::mem::take(&mut records)))?;
            }
        }
        self.send(Page::Records(records))
    }

    fn marks_since(&self, set: &str, since: &[(Arc<str>, Key)]) -> Result<(), StoreError> {
        let Some(table) = marks_of(&self.snapshot, set).map_err(failed)? else {
            return Ok(());
        };
        let of_set: Vec<&Key> = since
            .iter()
            .filter(|(name, _)| &**name == set)
            .map(|(_, key)| key)
            .collect();
        for keys in of_set.chunks(PAGE_LEN) {
            let mut marks = Vec::with_capacity(keys.len());
            for key in keys {
                let made = table.get(*key).map_err(failed)?;
                let made = made.ok_or_else(|| failed("a mark is gone that was just made"))?;
                marks.push((**key, made.value().to_vec()));
            }
            let set = set.to_owned();
            self.send(Page::Marks { set, marks })?;
        }
        Ok(())
    }

    fn counts(&self, set: &str) -> Result<(), StoreError> {
        let name = counts_name(set);
        let Some(table) = counts_of(&self.snapshot, Counts::new(&name)).map_err(failed)? else {
            return Ok(());
        };
        let mut counts = Vec::new();
        for entry in table.iter().map_err(failed)? {
            let (key, count) = entry.map_err(failed)?;
            counts.push((*key.value(), count.value()));
            if counts.len() == PAGE_LEN {
                let counts = std::mem::take(&mut counts);
                let set = set.to_owned();
                self.send(Page::Counts { set, counts })?;
            }
        }
        let set = set.to_owned();
        self.send(Page::Counts { set, counts })
    }
}
