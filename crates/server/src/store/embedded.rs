//! The embedded store: one redb file, for one process.
//!
//! All changes go through one thread ([`super::writer`]), which commits many in one transaction.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use redb::{Database, ReadTransaction, ReadableDatabase, ReadableTable, ReadableTableMetadata};
use tokio::sync::{mpsc, oneshot};

use crate::clock::Clock;

use super::copy::{Reader, Ticket};
use super::evaluate::{Made, State, decode_made, evaluate};
use super::tables::{
    Counts, RECORDS, SETS, Shared, counts_name, counts_of, failed, marks_of, open_database,
};
use super::transfer::{Page, Sink, Transfer};
use super::writer::{Copying, Job, Writer};
use super::{Answer, Change, Key, Outcome, Replace, Set, Store, StoreError};

/// The most changes that may wait. More are refused at once: the client tries again.
const MAX_WAITING: usize = 8192;

/// A store in one file, which one process may open.
///
/// Changes of many tasks are committed together: one durable commit (two-phase, each phase
/// synced to the disk) for all that arrived while the one before was written.
pub struct RedbStore {
    database: Shared,
    jobs: mpsc::Sender<Job>,
}

impl RedbStore {
    /// Opens the file, or makes it.
    ///
    /// # Errors
    /// If another process has it open, it is not a store, or the system refuses.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let database = Arc::new(RwLock::new(Some(open_database(path)?)));
        let (jobs, waiting) = mpsc::channel(MAX_WAITING);
        let writer = Writer::new(path.to_owned(), database.clone());
        std::thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || writer.run(waiting))
            .map_err(failed)?;
        Ok(Self { database, jobs })
    }

    /// Sends a job to the writer and waits for its answer.
    async fn ask<T>(
        &self,
        job: impl FnOnce(oneshot::Sender<Result<T, StoreError>>) -> Job,
    ) -> Result<T, StoreError> {
        let (sender, answer) = oneshot::channel();
        self.jobs
            .try_send(job(sender))
            .map_err(|error| match error {
                mpsc::error::TrySendError::Full(_) => StoreError::Busy,
                mpsc::error::TrySendError::Closed(_) => failed("its thread has ended"),
            })?;
        answer
            .await
            .unwrap_or_else(|_| Err(failed("it was interrupted")))
    }

    fn read<T>(
        &self,
        work: impl FnOnce(&ReadTransaction) -> Result<T, redb::Error>,
    ) -> Result<T, StoreError> {
        let guard = read_lock(&self.database);
        let database = guard.as_ref().ok_or_else(|| failed("it is closed"))?;
        let transaction = database.begin_read().map_err(failed)?;
        work(&transaction).map_err(failed)
    }
}

/// A thread that panicked left no half-written database: transactions are whole or absent.
fn read_lock(database: &Shared) -> RwLockReadGuard<'_, Option<Database>> {
    database.read().unwrap_or_else(PoisonError::into_inner)
}

impl Store for RedbStore {
    fn apply(&self, change: Change) -> Answer<'_, Outcome> {
        Box::pin(async move {
            match change.is_empty() {
                true => Ok(Outcome::Done),
                false => self.ask(|answer| Job::Apply(change, answer)).await,
            }
        })
    }

    fn probe(&self, change: Change) -> Answer<'_, Outcome> {
        Box::pin(async move {
            self.read(|transaction| {
                let mut snapshot = Snapshot(transaction);
                evaluate(&mut snapshot, &change)
            })
        })
    }

    fn get(&self, name: &str) -> Answer<'_, Option<Vec<u8>>> {
        let value = self.read(|transaction| {
            let table = transaction.open_table(RECORDS)?;
            Ok(table.get(name)?.map(|value| value.value().to_vec()))
        });
        Box::pin(async move { value })
    }

    fn update(&self, records: Vec<Replace>) -> Answer<'_, bool> {
        Box::pin(self.ask(|answer| Job::Update(records, answer)))
    }

    fn close_sets(&self, before: u64) -> Answer<'_, u64> {
        Box::pin(self.ask(move |answer| Job::CloseSets(before, answer)))
    }

    fn sets(&self) -> Answer<'_, Vec<(Set, u64)>> {
        let sets = self.read(|transaction| {
            let mut sets = Vec::new();
            for entry in transaction.open_table(SETS)?.iter()? {
                let (name, value) = entry?;
                let (until, is_open) = value.value();
                if is_open {
                    let marks = marks_of(transaction, name.value())?;
                    let len = marks.map_or(Ok(0), |marks| marks.len())?;
                    sets.push((Set::new(name.value(), until), len));
                }
            }
            Ok(sets)
        });
        Box::pin(async move { sets })
    }
}

impl Transfer for RedbStore {
    fn pages(&self, sink: Sink) -> Answer<'_, u64> {
        Box::pin(async move {
            let ticket = Ticket::new();
            let begin = |answer| Job::Copy(Copying::Begin(ticket.clone(), answer));
            let reader = Reader {
                snapshot: self.ask(begin).await?,
                sink: sink.clone(),
                ticket: ticket.clone(),
            };
            blocking(move || reader.marks()).await?;
            let moment = Clock::system().now();
            let (snapshot, made_since) = self.ask(|answer| Job::Copy(Copying::End(answer))).await?;
            let reader = Reader {
                snapshot,
                sink,
                ticket,
            };
            blocking(move || reader.rest(&made_since)).await?;
            Ok(moment)
        })
    }

    fn copies_at_work(&self) -> bool {
        true
    }

    fn load(&self, page: Page) -> Answer<'_, ()> {
        Box::pin(self.ask(|answer| Job::Load(page, answer)))
    }
}

async fn blocking(
    work: impl FnOnce() -> Result<(), StoreError> + Send + 'static,
) -> Result<(), StoreError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(failed("it was interrupted")))
}

/// A state that does not change while it is read.
struct Snapshot<'a>(&'a ReadTransaction);

impl State for Snapshot<'_> {
    type Error = redb::Error;

    fn is_closed(&mut self, set: &Set) -> Result<bool, redb::Error> {
        let sets = self.0.open_table(SETS)?;
        let entry = sets.get(set.name())?;
        Ok(entry.is_some_and(|entry| !entry.value().1))
    }

    fn mark(&mut self, set: &Set, key: &Key) -> Result<Option<Made>, redb::Error> {
        match marks_of(self.0, set.name())? {
            Some(marks) => Ok(marks.get(key)?.map(|value| decode_made(value.value()))),
            None => Ok(None),
        }
    }

    fn count(&mut self, set: &Set, key: &Key) -> Result<u64, redb::Error> {
        let name = counts_name(set.name());
        match counts_of(self.0, Counts::new(&name))? {
            Some(counts) => Ok(counts.get(key)?.map_or(0, |value| value.value())),
            None => Ok(0),
        }
    }
}
