//! The store in PostgreSQL, for any number of processes.
//!
//! `spec/service.md`, "Tables of PostgreSQL". A token is spent by one `INSERT`. Any other change
//! locks its marks and counters, and is then decided as in the embedded store (`evaluate.rs`).

mod change;
mod hosts;
mod link;
mod transfer;

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use deadpool_postgres::Transaction;

use self::link::{Link, Query, failed, is_missing};
use super::evaluate::{decode_made, encode_made, is_repetition};
use super::options::StoreOptions;
use super::{Answer, Change, Mark, Outcome, Refusal, Replace, Set, Store, StoreError, keeps_logs};

/// How often a set is looked up if it is closed or created between two steps.
const ATTEMPTS: usize = 4;
const SPENT: Outcome = Outcome::Refused(Refusal::Spent);
const CLOSED: Outcome = Outcome::Refused(Refusal::Closed);

/// A store in PostgreSQL 15 or later.
pub struct PostgresStore {
    link: Link,
    /// The numbers of sets that were open when this process looked, and until when they matter.
    known: RwLock<HashMap<String, (i64, u64)>>,
    /// One registration at a time: many first spends of a set arrive together.
    turn: tokio::sync::Mutex<()>,
}

/// Where a set is.
#[derive(Clone, Copy)]
enum Place {
    Open(i64),
    Closed,
    Nowhere,
}

impl PostgresStore {
    /// Connects, makes the tables, and looks at what the server keeps.
    ///
    /// # Errors
    /// If no server answers, it is too old, or keeps less than is asked for.
    pub async fn open(options: &StoreOptions, role: &str) -> crate::Result<Self> {
        let link = Link::open(options, &options.name(role)).await?;
        let known = RwLock::default();
        let turn = tokio::sync::Mutex::default();
        Ok(Self { link, known, turn })
    }

    /// The number of an open set. If `make`, it is there afterwards.
    async fn place(&self, set: &Set, make: bool) -> Result<Place, StoreError> {
        if let Some(number) = self.known(set, make) {
            return Ok(Place::Open(number));
        }
        let _turn = self.turn.lock().await;
        if let Some(number) = self.known(set, make) {
            return Ok(Place::Open(number));
        }
        let found = match make {
            true => self.register(set).await?,
            false => self.look_up(set.name()).await?,
        };
        if let Place::Open(number) = found {
            let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
            known.insert(set.name().to_owned(), (number, set.until()));
        }
        Ok(found)
    }

    /// The number of a set that is known, with an end that is late enough to `make` marks.
    fn known(&self, set: &Set, make: bool) -> Option<i64> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let (number, until) = known.get(set.name()).copied()?;
        (until >= set.until() || !make).then_some(number)
    }

    fn forget(&self, set: &Set) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.remove(set.name());
    }

    async fn look_up(&self, name: &str) -> Result<Place, StoreError> {
        let query = Query::new("SELECT number, is_open FROM sets WHERE name = $1");
        let row = self.link.one(&query, &[&name]).await?;
        Ok(row.map_or(Place::Nowhere, |row| match row.get(1) {
            true => Place::Open(row.get(0)),
            false => Place::Closed,
        }))
    }

    async fn register(&self, set: &Set) -> Result<Place, StoreError> {
        let until = set.until().cast_signed();
        self.link
            .transaction(async |transaction| {
                lock_sets(transaction).await?;
                let row = transaction
                    .query_one(
                        "INSERT INTO sets (name, until) VALUES ($1, $2) ON CONFLICT (name) DO \
                         UPDATE SET until = greatest(sets.until, excluded.until) \
                         RETURNING number, is_open",
                        &[&set.name(), &until],
                    )
                    .await?;
                let (number, is_open): (i64, bool) = (row.get(0), row.get(1));
                if !is_open {
                    return Ok(Place::Closed);
                }
                transaction.batch_execute(&tables(number)).await?;
                Ok(Place::Open(number))
            })
            .await
    }

    /// Makes one mark, and nothing else.
    async fn spend(&self, change: &Change, mark: &Mark) -> Result<Outcome, StoreError> {
        let made = encode_made(change.now, mark.operation.as_ref());
        for _ in 0..ATTEMPTS {
            let Place::Open(number) = self.place(&mark.set, true).await? else {
                return Ok(CLOSED);
            };
            let insert = Query::new(format!(
                "INSERT INTO marks_{number} VALUES ($1, $2) ON CONFLICT DO NOTHING"
            ));
            let key = mark.key.as_slice();
            match self.link.execute(&insert, &[&key, &made]).await {
                Ok(1) => return Ok(Outcome::Done),
                Ok(_) => {
                    if let Some(outcome) = self.repeated(change, mark, number).await? {
                        return Ok(outcome);
                    }
                }
                Err(error) if is_missing(&error) => self.forget(&mark.set),
                Err(error) => return Err(failed(&error)),
            }
        }
        Err(changed())
    }

    /// The meaning of an existing mark; `None` if it is gone.
    async fn repeated(
        &self,
        change: &Change,
        mark: &Mark,
        number: i64,
    ) -> Result<Option<Outcome>, StoreError> {
        let query = Query::new(format!("SELECT made FROM marks_{number} WHERE key = $1"));
        let found = self.link.one(&query, &[&mark.key.as_slice()]).await;
        let found = match found {
            Err(_) if !matches!(self.look_up(mark.set.name()).await?, Place::Open(_)) => {
                return Ok(Some(CLOSED));
            }
            found => found?,
        };
        Ok(found.map(|row| {
            let made = decode_made(row.get(0));
            match is_repetition(mark, &made, change) {
                true => Outcome::Repeated,
                false => SPENT,
            }
        }))
    }

    /// Any change.
    async fn decide(&self, change: &Change, make: bool) -> Result<Outcome, StoreError> {
        if change.is_empty() {
            return Ok(Outcome::Done);
        }
        for _ in 0..ATTEMPTS {
            let mut places = HashMap::new();
            for set in change.sets() {
                match self.place(set, make).await? {
                    Place::Open(number) => drop(places.insert(set.name(), number)),
                    Place::Closed => return Ok(CLOSED),
                    Place::Nowhere => {}
                }
            }
            let run = async |transaction: &Transaction<'_>| {
                change::run(transaction, change, &places, make).await
            };
            match self.link.try_transaction(run).await {
                Ok(Some(outcome)) => return Ok(outcome),
                Ok(None) => {}
                Err(error) if is_missing(&error) => {
                    change.sets().for_each(|set| self.forget(set));
                }
                Err(error) => return Err(failed(&error)),
            }
        }
        Err(changed())
    }

    async fn count_marks(&self, number: i64) -> Result<u64, StoreError> {
        let size = Query::new(
            "SELECT relpages::bigint, reltuples::float8 FROM pg_class WHERE oid = to_regclass($1)",
        );
        let table = format!("marks_{number}");
        let row = self.link.one(&size, &[&table]).await?;
        let (pages, estimate): (i64, f64) = row.map_or((0, 0.0), |row| (row.get(0), row.get(1)));
        // Counting goes through the whole table: a large one is estimated.
        if pages > LARGE && estimate >= 0.0 {
            return Ok(estimate as u64);
        }
        let count = Query::new(format!("SELECT count(*) FROM {table}"));
        let row = self.link.one(&count, &[]).await?;
        Ok(row.map_or(0, |row| row.get::<_, i64>(0).cast_unsigned()))
    }
}

/// Pages of 8 KiB: about a million marks.
const LARGE: i64 = 10_000;

fn changed() -> StoreError {
    StoreError::Unavailable("a set changes all the time".to_owned())
}

/// One process at a time registers and closes sets.
async fn lock_sets(transaction: &Transaction<'_>) -> Result<(), tokio_postgres::Error> {
    let lock = "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || '/sets', 0))";
    transaction.batch_execute(lock).await
}

fn tables(number: i64) -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS marks_{number} (key bytea PRIMARY KEY, made bytea NOT NULL);
         CREATE TABLE IF NOT EXISTS counts_{number} (key bytea PRIMARY KEY, count bigint NOT NULL)"
    )
}

impl Store for PostgresStore {
    fn apply(&self, change: Change) -> Answer<'_, Outcome> {
        Box::pin(async move {
            match (change.marks.as_slice(), change.is_single()) {
                ([mark], true) => self.spend(&change, mark).await,
                _ => self.decide(&change, true).await,
            }
        })
    }

    fn probe(&self, change: Change) -> Answer<'_, Outcome> {
        Box::pin(async move { self.decide(&change, false).await })
    }

    fn get(&self, name: &str) -> Answer<'_, Option<Vec<u8>>> {
        let name = name.to_owned();
        Box::pin(async move {
            let query = Query::new("SELECT value FROM records WHERE name = $1");
            let row = self.link.one(&query, &[&name]).await?;
            Ok(row.map(|row| row.get(0)))
        })
    }

    fn update(&self, records: Vec<Replace>) -> Answer<'_, bool> {
        Box::pin(async move {
            if !keeps_logs(&records) {
                return Ok(false);
            }
            let run = async |transaction: &Transaction<'_>| replace(transaction, &records).await;
            self.link.transaction(run).await
        })
    }

    fn close_sets(&self, before: u64) -> Answer<'_, u64> {
        Box::pin(async move {
            let before = before.cast_signed();
            let run = async |transaction: &Transaction<'_>| {
                lock_sets(transaction).await?;
                let close = "UPDATE sets SET is_open = false WHERE is_open AND until < $1 \
                             RETURNING number";
                let rows = transaction.query(close, &[&before]).await?;
                for row in &rows {
                    let number: i64 = row.get(0);
                    let drop = format!("DROP TABLE marks_{number}; DROP TABLE counts_{number}");
                    transaction.batch_execute(&drop).await?;
                }
                Ok(rows.len() as u64)
            };
            self.link.transaction(run).await
        })
    }

    fn sets(&self) -> Answer<'_, Vec<(Set, u64)>> {
        Box::pin(async move {
            let query = Query::new("SELECT name, until, number FROM sets WHERE is_open");
            let mut sets = Vec::new();
            for row in self.link.all(&query, &[]).await? {
                let (name, until, number): (String, i64, i64) =
                    (row.get(0), row.get(1), row.get(2));
                let marks = self.count_marks(number).await?;
                sets.push((Set::new(name, until.cast_unsigned()), marks));
            }
            Ok(sets)
        })
    }
}

/// Replaces records if each is as expected. Updates take turns: there are few.
async fn replace(
    transaction: &Transaction<'_>,
    records: &[Replace],
) -> Result<bool, tokio_postgres::Error> {
    transaction
        .batch_execute("LOCK TABLE records IN SHARE ROW EXCLUSIVE MODE")
        .await?;
    for record in records {
        let query = "SELECT value FROM records WHERE name = $1";
        let row = transaction.query_opt(query, &[&record.name]).await?;
        if row.map(|row| row.get::<_, Vec<u8>>(0)) != record.expected {
            return Ok(false);
        }
    }
    for record in records {
        let written = match &record.value {
            Some(value) => {
                let put = "INSERT INTO records VALUES ($1, $2) \
                           ON CONFLICT (name) DO UPDATE SET value = excluded.value";
                transaction.execute(put, &[&record.name, value]).await
            }
            None => {
                let remove = "DELETE FROM records WHERE name = $1";
                transaction.execute(remove, &[&record.name]).await
            }
        };
        written?;
    }
    Ok(true)
}
