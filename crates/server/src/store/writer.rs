//! The one thread that changes the embedded store: many changes in one durable commit.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use redb::{
    Database, Durability, ReadTransaction, ReadableDatabase, ReadableTable, Table, WriteTransaction,
};
use tokio::sync::{mpsc, oneshot};

use super::copy::{Noted, Ticket};
use super::evaluate::{Made, State, decode_made, encode_made, evaluate};
use super::tables::{
    Counts, Marks, RECORDS, SETS, Shared, counts_name, failed, marks_name, open_database,
};
use super::transfer::Page;
use super::{Change, Key, Outcome, Replace, Set, StoreError, keeps_logs};

/// The most jobs in one commit.
const MAX_GROUP: usize = 4096;

type Sender<T> = oneshot::Sender<Result<T, StoreError>>;

/// Work for the writer, and where the answer goes.
pub(super) enum Job {
    Apply(Change, Sender<Outcome>),
    Update(Vec<Replace>, Sender<bool>),
    CloseSets(u64, Sender<u64>),
    Load(Page, Sender<()>),
    Copy(Copying),
}

/// A part of a copy, done after the commit.
pub(super) enum Copying {
    Begin(Ticket, Sender<ReadTransaction>),
    End(Sender<Copied>),
}

/// The snapshot at the end of a copy, and the marks that were made since its beginning.
pub(super) type Copied = (ReadTransaction, Vec<(Arc<str>, Key)>);

/// An answer that waits for the commit.
enum Waiting {
    Apply(Outcome, Sender<Outcome>),
    Update(bool, Sender<bool>),
    CloseSets(u64, Sender<u64>),
    Load(Sender<()>),
    Copy(Copying),
}

pub(super) struct Writer {
    path: PathBuf,
    database: Shared,
    /// The notes for the copy that is being made.
    noted: Option<Noted>,
}

impl Writer {
    pub(super) fn new(path: PathBuf, database: Shared) -> Self {
        Self {
            path,
            database,
            noted: None,
        }
    }

    /// Works until nobody can send jobs any more.
    pub(super) fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        while let Some(first) = jobs.blocking_recv() {
            let mut group = vec![first];
            while group.len() < MAX_GROUP {
                match jobs.try_recv() {
                    Ok(job) => group.push(job),
                    Err(_) => break,
                }
            }
            metrics::histogram!("sealstone_store_group").record(group.len() as f64);
            self.commit(group);
        }
    }

    /// A snapshot holds all of the commit before it, which noted what it made.
    fn copy(&mut self, copying: Copying) {
        match copying {
            Copying::Begin(ticket, answer) => reply(answer, self.begin_copy(ticket)),
            Copying::End(answer) => reply(answer, self.end_copy()),
        }
    }

    fn begin_copy(&mut self, ticket: Ticket) -> Result<ReadTransaction, StoreError> {
        if self.noted.as_ref().is_some_and(Noted::is_wanted) {
            return Err(failed("another copy is being made: wait for its end"));
        }
        let snapshot = self.snapshot()?;
        self.noted = Some(Noted::new(ticket));
        Ok(snapshot)
    }

    fn end_copy(&mut self) -> Result<Copied, StoreError> {
        let noted = self.noted.take().filter(Noted::is_wanted);
        let noted = noted.ok_or_else(|| failed("the copy was interrupted: begin it again"))?;
        Ok((self.snapshot()?, noted.into_marks()))
    }

    fn snapshot(&self) -> Result<ReadTransaction, StoreError> {
        let guard = self.lock_read();
        let database = guard.as_ref().ok_or_else(|| failed("it is closed"))?;
        database.begin_read().map_err(failed)
    }

    /// Does all jobs in one transaction. Answers follow once it is on the disk.
    fn commit(&mut self, group: Vec<Job>) {
        let begun = std::time::Instant::now();
        self.noted = self.noted.take().filter(Noted::is_wanted);
        let mut noted = self.noted.take();
        let (mut waiting, mut rest) = (Vec::new(), group.into_iter());
        let done = self.with_database(|database| {
            let mut transaction = database.begin_write()?;
            transaction.set_durability(Durability::Immediate)?;
            // Without it, a crash at a chosen time could bring content that clients chose to
            // pass for a committed tree: redb's checksum is not cryptographic.
            transaction.set_two_phase_commit(true);
            let mut tables = Tables::open(&transaction, noted.as_mut())?;
            for job in rest.by_ref() {
                waiting.push(tables.work(job)?);
            }
            drop(tables);
            transaction.commit()?;
            Ok(())
        });
        metrics::histogram!("sealstone_store_commit_seconds").record(begun.elapsed());
        if done.is_err()
            && let Some(noted) = noted.take()
        {
            // Its snapshot keeps the file open.
            noted.void();
        }
        self.noted = noted;
        match done {
            Ok(()) => waiting.into_iter().for_each(|job| match job {
                Waiting::Copy(copying) => self.copy(copying),
                job => job.answer(),
            }),
            Err(error) => {
                tracing::error!(%error, "the store failed");
                waiting.into_iter().for_each(|job| job.fail(&error));
                rest.for_each(|job| job.fail(&error));
            }
        }
    }

    /// Reopens the file after a failure: redb refuses a database that had one.
    fn with_database(
        &self,
        work: impl FnOnce(&Database) -> Result<(), redb::Error>,
    ) -> Result<(), StoreError> {
        let needs_opening = self.lock_read().is_none();
        if needs_opening {
            let opened = open_database(&self.path)?;
            *self.lock_write() = Some(opened);
        }
        let done = match self.lock_read().as_ref() {
            Some(database) => work(database).map_err(failed),
            None => Err(failed("it is closed")),
        };
        if done.is_err() {
            *self.lock_write() = None;
        }
        done
    }

    fn lock_read(&self) -> std::sync::RwLockReadGuard<'_, Option<Database>> {
        self.database.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_write(&self) -> std::sync::RwLockWriteGuard<'_, Option<Database>> {
        self.database
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Job {
    fn fail(self, error: &StoreError) {
        match self {
            Self::Apply(_, answer) => reply(answer, Err(error.clone())),
            Self::Update(_, answer) => reply(answer, Err(error.clone())),
            Self::CloseSets(_, answer) => reply(answer, Err(error.clone())),
            Self::Load(_, answer) => reply(answer, Err(error.clone())),
            Self::Copy(copying) => copying.fail(error),
        }
    }
}

impl Waiting {
    fn answer(self) {
        match self {
            Self::Apply(outcome, answer) => reply(answer, Ok(outcome)),
            Self::Update(done, answer) => reply(answer, Ok(done)),
            Self::CloseSets(count, answer) => reply(answer, Ok(count)),
            Self::Load(answer) => reply(answer, Ok(())),
            // The writer does it.
            Self::Copy(_) => {}
        }
    }

    fn fail(self, error: &StoreError) {
        match self {
            Self::Apply(_, answer) => reply(answer, Err(error.clone())),
            Self::Update(_, answer) => reply(answer, Err(error.clone())),
            Self::CloseSets(_, answer) => reply(answer, Err(error.clone())),
            Self::Load(answer) => reply(answer, Err(error.clone())),
            Self::Copy(copying) => copying.fail(error),
        }
    }
}

impl Copying {
    fn fail(self, error: &StoreError) {
        match self {
            Self::Begin(_, answer) => reply(answer, Err(error.clone())),
            Self::End(answer) => reply(answer, Err(error.clone())),
        }
    }
}

/// A caller that does not wait any more needs no answer.
fn reply<T>(answer: Sender<T>, result: Result<T, StoreError>) {
    drop(answer.send(result));
}

/// The tables of one transaction, each opened once.
struct Tables<'t> {
    transaction: &'t WriteTransaction,
    sets: Table<'t, &'static str, (u64, bool)>,
    records: Table<'t, &'static str, &'static [u8]>,
    marks: HashMap<String, Table<'t, &'static Key, &'static [u8]>>,
    counts: HashMap<String, Table<'t, &'static Key, u64>>,
    noted: Option<&'t mut Noted>,
}

impl<'t> Tables<'t> {
    fn open(
        transaction: &'t WriteTransaction,
        noted: Option<&'t mut Noted>,
    ) -> Result<Self, redb::Error> {
        Ok(Self {
            transaction,
            sets: transaction.open_table(SETS)?,
            records: transaction.open_table(RECORDS)?,
            marks: HashMap::new(),
            counts: HashMap::new(),
            noted,
        })
    }

    fn work(&mut self, job: Job) -> Result<Waiting, redb::Error> {
        Ok(match job {
            Job::Apply(change, answer) => Waiting::Apply(self.apply(&change)?, answer),
            Job::Update(records, answer) => Waiting::Update(self.update(&records)?, answer),
            Job::CloseSets(before, answer) => Waiting::CloseSets(self.close_sets(before)?, answer),
            Job::Load(page, answer) => {
                self.load(page)?;
                Waiting::Load(answer)
            }
            Job::Copy(copying) => Waiting::Copy(copying),
        })
    }

    fn apply(&mut self, change: &Change) -> Result<Outcome, redb::Error> {
        let outcome = evaluate(self, change)?;
        if outcome != Outcome::Done {
            return Ok(outcome);
        }
        if let Some(noted) = &mut self.noted {
            noted.add(change);
        }
        for mark in &change.marks {
            let made = encode_made(change.now, mark.operation.as_ref());
            self.note_set(&mark.set)?;
            let marks = self.marks_of(mark.set.name())?;
            marks.insert(&mark.key, made.as_slice())?;
        }
        for count in &change.counts {
            self.note_set(&count.set)?;
            let counts = self.counts_of(count.set.name())?;
            let before = counts.get(&count.key)?.map_or(0, |value| value.value());
            counts.insert(&count.key, before.saturating_add(count.add))?;
        }
        Ok(Outcome::Done)
    }

    fn update(&mut self, records: &[Replace]) -> Result<bool, redb::Error> {
        if !keeps_logs(records) {
            return Ok(false);
        }
        for record in records {
            let found = self.records.get(record.name.as_str())?;
            if found.map(|value| value.value().to_vec()) != record.expected {
                return Ok(false);
            }
        }
        for record in records {
            match &record.value {
                Some(value) => self
                    .records
                    .insert(record.name.as_str(), value.as_slice())?,
                None => self.records.remove(record.name.as_str())?,
            };
        }
        Ok(true)
    }

    fn close_sets(&mut self, before: u64) -> Result<u64, redb::Error> {
        let mut ended = Vec::new();
        for entry in self.sets.iter()? {
            let (name, value) = entry?;
            let (until, is_open) = value.value();
            if is_open && until < before {
                ended.push((name.value().to_owned(), until));
            }
        }
        for (name, until) in &ended {
            self.close(name, *until)?;
        }
        Ok(ended.len() as u64)
    }

    fn close(&mut self, name: &str, until: u64) -> Result<(), redb::Error> {
        self.sets.insert(name, (until, false))?;
        self.marks.remove(name);
        self.counts.remove(name);
        let (marks, counts) = (marks_name(name), counts_name(name));
        self.transaction.delete_table(Marks::new(&marks))?;
        self.transaction.delete_table(Counts::new(&counts))?;
        Ok(())
    }

    fn load(&mut self, page: Page) -> Result<(), redb::Error> {
        match page {
            Page::Set {
                name,
                until,
                is_open: false,
            } => self.close(&name, until)?,
            Page::Set { name, until, .. } => {
                self.sets.insert(name.as_str(), (until, true))?;
            }
            Page::Marks { set, marks } => {
                let table = self.marks_of(&set)?;
                for (key, made) in &marks {
                    table.insert(key, made.as_slice())?;
                }
            }
            Page::Counts { set, counts } => {
                let table = self.counts_of(&set)?;
                for (key, count) in &counts {
                    table.insert(key, count)?;
                }
            }
            Page::Records(records) => {
                for (name, value) in &records {
                    self.records.insert(name.as_str(), value.as_slice())?;
                }
            }
        }
        Ok(())
    }

    /// Remembers until when a set matters.
    fn note_set(&mut self, set: &Set) -> Result<(), redb::Error> {
        let known = self.sets.get(set.name())?.map(|value| value.value().0);
        if known.is_none_or(|until| until < set.until()) {
            self.sets.insert(set.name(), (set.until(), true))?;
        }
        Ok(())
    }

    fn marks_of(
        &mut self,
        set: &str,
    ) -> Result<&mut Table<'t, &'static Key, &'static [u8]>, redb::Error> {
        Ok(match self.marks.entry(set.to_owned()) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let name = marks_name(set);
                entry.insert(self.transaction.open_table(Marks::new(&name))?)
            }
        })
    }

    fn counts_of(&mut self, set: &str) -> Result<&mut Table<'t, &'static Key, u64>, redb::Error> {
        Ok(match self.counts.entry(set.to_owned()) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let name = counts_name(set);
                entry.insert(self.transaction.open_table(Counts::new(&name))?)
            }
        })
    }
}

impl State for Tables<'_> {
    type Error = redb::Error;

    fn is_closed(&mut self, set: &Set) -> Result<bool, redb::Error> {
        let entry = self.sets.get(set.name())?;
        Ok(entry.is_some_and(|entry| !entry.value().1))
    }

    fn mark(&mut self, set: &Set, key: &Key) -> Result<Option<Made>, redb::Error> {
        let marks = self.marks_of(set.name())?;
        Ok(marks.get(key)?.map(|value| decode_made(value.value())))
    }

    fn count(&mut self, set: &Set, key: &Key) -> Result<u64, redb::Error> {
        let counts = self.counts_of(set.name())?;
        Ok(counts.get(key)?.map_or(0, |value| value.value()))
    }
}
