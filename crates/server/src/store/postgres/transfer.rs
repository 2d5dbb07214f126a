//! The whole content of a store in PostgreSQL. No other process may write during this.

use deadpool_postgres::Transaction;

use super::link::Query;
use super::{Place, PostgresStore, lock_sets, tables};
use crate::clock::Clock;
use crate::store::transfer::{PAGE_LEN, Page, Sink, Transfer, send, stays};
use crate::store::{Answer, Key, Set, StoreError};

fn altered() -> StoreError {
    StoreError::Unavailable("a key has a length that none of ours has".to_owned())
}

/// A set with its number and whether it is open.
type Known = (Set, i64, bool);

impl PostgresStore {
    async fn all_sets(&self) -> Result<Vec<Known>, StoreError> {
        let query = Query::new("SELECT name, until, number, is_open FROM sets ORDER BY number");
        let rows = self.link.all(&query, &[]).await?;
        let set = |row: &tokio_postgres::Row| {
            let until: i64 = row.get(1);
            let set = Set::new(row.get::<_, String>(0), until.cast_unsigned());
            (set, row.get(2), row.get(3))
        };
        Ok(rows.iter().map(set).collect())
    }

    /// Sends a table of keys and values, in the order of keys.
    async fn send_table<V>(
        &self,
        table: String,
        column: &str,
        sink: &Sink,
        page: impl Fn(Vec<(Key, V)>) -> Page + Send + Sync,
    ) -> Result<(), StoreError>
    where
        V: for<'a> tokio_postgres::types::FromSql<'a> + Send,
    {
        let query = Query::new(format!(
            "SELECT key, {column} FROM {table} WHERE key > $1 ORDER BY key LIMIT {PAGE_LEN}"
        ));
        let mut last: Vec<u8> = Vec::new();
        loop {
            let rows = self.link.all(&query, &[&last]).await?;
            let mut entries = Vec::with_capacity(rows.len());
            for row in &rows {
                let key: Vec<u8> = row.get(0);
                entries.push((
                    key.as_slice().try_into().map_err(|_| altered())?,
                    row.get(1),
                ));
                last = key;
            }
            let is_last = rows.len() < PAGE_LEN;
            send(sink, page(entries)).await?;
            if is_last {
                return Ok(());
            }
        }
    }

    async fn send_all(&self, sink: &Sink) -> Result<(), StoreError> {
        for (set, number, is_open) in self.all_sets().await? {
            let (name, until) = (set.name().to_owned(), set.until());
            let page = Page::Set {
                name: name.clone(),
                until,
                is_open,
            };
            send(sink, page).await?;
            if !is_open {
                continue;
            }
            let set = name.clone();
            let marks = move |marks| Page::Marks {
                set: set.clone(),
                marks,
            };
            let table = format!("marks_{number}");
            self.send_table(table, "made", sink, marks).await?;
            let counts = move |counts: Vec<(Key, i64)>| {
                let counts = counts.into_iter();
                let counts = counts.map(|(key, count)| (key, count.cast_unsigned()));
                Page::Counts {
                    set: name.clone(),
                    counts: counts.collect(),
                }
            };
            let table = format!("counts_{number}");
            self.send_table(table, "count", sink, counts).await?;
        }
        self.send_records(sink).await
    }

    async fn send_records(&self, sink: &Sink) -> Result<(), StoreError> {
        let query = Query::new(format!(
            "SELECT name, value FROM records WHERE name > $1 ORDER BY name LIMIT {PAGE_LEN}"
        ));
        let mut last = String::new();
        loop {
            let rows = self.link.all(&query, &[&last]).await?;
            let records: Vec<(String, Vec<u8>)> =
                rows.iter().map(|row| (row.get(0), row.get(1))).collect();
            let Some((name, _)) = records.last() else {
                return Ok(());
            };
            last.clone_from(name);
            let records = records
                .into_iter()
                .filter(|(name, _)| !stays(name))
                .collect();
            send(sink, Page::Records(records)).await?;
        }
    }

    async fn put(&self, page: Page) -> Result<(), StoreError> {
        match page {
            Page::Set {
                name,
                until,
                is_open,
            } => self.put_set(&Set::new(name, until), is_open).await,
            Page::Marks { set, marks } => {
                let (keys, made) = marks
                    .into_iter()
                    .map(|(key, made)| (key.to_vec(), made))
                    .unzip();
                let (keys, made): (Vec<Vec<u8>>, Vec<Vec<u8>>) = (keys, made);
                let number = self.number(&set).await?;
                let insert = format!(
                    "INSERT INTO marks_{number} SELECT * FROM unnest($1::bytea[], $2::bytea[]) \
                     ON CONFLICT (key) DO UPDATE SET made = excluded.made"
                );
                self.link
                    .transaction(async |transaction| {
                        transaction.execute(&insert, &[&keys, &made]).await
                    })
                    .await
                    .map(drop)
            }
            Page::Counts { set, counts } => {
                let counts = counts.into_iter();
                let (keys, counts): (Vec<Vec<u8>>, Vec<i64>) = counts
                    .map(|(key, count)| (key.to_vec(), count.cast_signed()))
                    .unzip();
                let number = self.number(&set).await?;
                let insert = format!(
                    "INSERT INTO counts_{number} SELECT * FROM unnest($1::bytea[], $2::bigint[]) \
                     ON CONFLICT (key) DO UPDATE SET count = excluded.count"
                );
                self.link
                    .transaction(async |transaction| {
                        transaction.execute(&insert, &[&keys, &counts]).await
                    })
                    .await
                    .map(drop)
            }
            Page::Records(records) => {
                let (names, values): (Vec<String>, Vec<Vec<u8>>) = records.into_iter().unzip();
                let insert = "INSERT INTO records SELECT * FROM unnest($1::text[], $2::bytea[]) \
                              ON CONFLICT (name) DO UPDATE SET value = excluded.value";
                self.link
                    .transaction(async |transaction| {
                        transaction.execute(insert, &[&names, &values]).await
                    })
                    .await
                    .map(drop)
            }
        }
    }

    async fn number(&self, set: &str) -> Result<i64, StoreError> {
        match self.look_up(set).await? {
            Place::Open(number) => Ok(number),
            _ => {
                let text = format!("the set {set} is not open");
                Err(StoreError::Unavailable(text))
            }
        }
    }

    async fn put_set(&self, set: &Set, is_open: bool) -> Result<(), StoreError> {
        let (name, until) = (set.name(), set.until().cast_signed());
        self.link
            .transaction(async |transaction: &Transaction<'_>| {
                lock_sets(transaction).await?;
                let put = "INSERT INTO sets (name, until, is_open) VALUES ($1, $2, $3) \
                           ON CONFLICT (name) DO UPDATE SET until = excluded.until, \
                           is_open = excluded.is_open RETURNING number";
                let row = transaction
                    .query_one(put, &[&name, &until, &is_open])
                    .await?;
                let number: i64 = row.get(0);
                let run = match is_open {
                    true => tables(number),
                    false => format!(
                        "DROP TABLE IF EXISTS marks_{number}; DROP TABLE IF EXISTS counts_{number}"
                    ),
                };
                transaction.batch_execute(&run).await
            })
            .await
    }
}

impl Transfer for PostgresStore {
    fn pages(&self, sink: Sink) -> Answer<'_, u64> {
        Box::pin(async move {
            let now = Clock::system().now();
            self.send_all(&sink).await.map(|()| now)
        })
    }

    fn load(&self, page: Page) -> Answer<'_, ()> {
        Box::pin(self.put(page))
    }
}
