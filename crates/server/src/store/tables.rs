//! The file of the embedded store, and the tables in it.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Arc, RwLock};

use redb::backends::FileBackend;
use redb::{Database, DatabaseError, ReadOnlyTable, ReadTransaction, TableDefinition, TableError};
use sealstone_files::PRIVATE;

use super::{Key, StoreError};

/// Marks of a set: no value, or the time and the operation.
pub(super) type Marks<'a> = TableDefinition<'a, &'static Key, &'static [u8]>;
/// Counters of a set.
pub(super) type Counts<'a> = TableDefinition<'a, &'static Key, u64>;
/// All sets that ever were: until when they matter, and whether they are open.
pub(super) const SETS: TableDefinition<'_, &str, (u64, bool)> = TableDefinition::new("sets");
/// Records by name.
pub(super) const RECORDS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("records");

pub(super) fn marks_name(set: &str) -> String {
    format!("marks/{set}")
}

pub(super) fn counts_name(set: &str) -> String {
    format!("counts/{set}")
}

pub(super) fn failed(error: impl std::fmt::Display) -> StoreError {
    StoreError::Unavailable(error.to_string())
}

/// The database, absent between a failure and the next opening.
pub(super) type Shared = Arc<RwLock<Option<Database>>>;

/// Opens a file whose tables for sets and records exist afterwards.
pub(super) fn open_database(path: &Path) -> Result<Database, StoreError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let file = options.mode(PRIVATE).open(path).map_err(failed)?;
    let refused = |error| match error {
        DatabaseError::DatabaseAlreadyOpen => {
            let path = path.display();
            StoreError::Unavailable(format!("another process uses {path}"))
        }
        error => failed(error),
    };
    let backend = FileBackend::new(file).map_err(refused)?;
    let database = Database::builder().create_with_backend(backend);
    let database = database.map_err(refused)?;
    let transaction = database.begin_write().map_err(failed)?;
    transaction.open_table(SETS).map_err(failed)?;
    transaction.open_table(RECORDS).map_err(failed)?;
    transaction.commit().map_err(failed)?;
    Ok(database)
}

type MarksTable = ReadOnlyTable<&'static Key, &'static [u8]>;

type CountsTable = ReadOnlyTable<&'static Key, u64>;

pub(super) fn counts_of(
    transaction: &ReadTransaction,
    counts: Counts<'_>,
) -> Result<Option<CountsTable>, redb::Error> {
    existing(transaction.open_table(counts))
}

pub(super) fn marks_of(
    transaction: &ReadTransaction,
    set: &str,
) -> Result<Option<MarksTable>, redb::Error> {
    let name = marks_name(set);
    existing(transaction.open_table(Marks::new(&name)))
}

/// A table that need not exist.
fn existing<T>(opened: Result<T, TableError>) -> Result<Option<T>, redb::Error> {
    match opened {
        Ok(table) => Ok(Some(table)),
        Err(TableError::TableDoesNotExist(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
