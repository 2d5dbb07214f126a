//! A change of any form in one transaction: locks, reads, decides, writes.

use std::collections::HashMap;

use deadpool_postgres::Transaction;
use tokio_postgres::Error;

use crate::store::evaluate::{Made, State, evaluate};
use crate::store::evaluate::{decode_made, encode_made};
use crate::store::{Change, Count, Key, Outcome, Set};

/// Makes `change`, if `make` and it is possible. Returns nothing if another process was faster:
/// then the transaction ends without a change, and the caller tries again.
pub(super) async fn run(
    transaction: &Transaction<'_>,
    change: &Change,
    places: &HashMap<&str, i64>,
    make: bool,
) -> Result<Option<Outcome>, Error> {
    if make {
        lock(transaction, change, places).await?;
    }
    let mut loaded = Loaded::read(transaction, change, places).await?;
    let outcome = match evaluate(&mut loaded, change) {
        Ok(outcome) => outcome,
        Err(never) => match never {},
    };
    if outcome != Outcome::Done || !make {
        return Ok(Some(outcome));
    }
    let is_whole = write(transaction, change, places, &loaded).await?;
    Ok(is_whole.then_some(outcome))
}

/// Locks marks and counters in one order, so that no two changes wait for each other.
async fn lock(
    transaction: &Transaction<'_>,
    change: &Change,
    places: &HashMap<&str, i64>,
) -> Result<(), Error> {
    // The same in every version of this program. Two keys with one lock wait for each other, and
    // no more.
    let place = |set: &Set, key: &Key, what: i64| {
        let start = key
            .first_chunk()
            .map_or(0, |bytes| i64::from_be_bytes(*bytes));
        let number = places.get(set.name()).copied().unwrap_or(0);
        start.wrapping_add(number.wrapping_mul(2).wrapping_add(what))
    };
    let mut locks: Vec<(i64, bool)> = Vec::new();
    locks.extend(
        change
            .marks
            .iter()
            .map(|m| (place(&m.set, &m.key, 0), false)),
    );
    locks.extend(
        change
            .absent
            .iter()
            .map(|m| (place(&m.set, &m.key, 0), true)),
    );
    locks.extend(
        change
            .counts
            .iter()
            .map(|c| (place(&c.set, &c.key, 1), false)),
    );
    // An exclusive lock comes before a shared one of the same key.
    locks.sort_unstable();
    locks.dedup_by_key(|lock| lock.0);
    let (keys, shared): (Vec<i64>, Vec<bool>) = locks.into_iter().unzip();
    let locking = "SELECT CASE WHEN is_shared THEN pg_advisory_xact_lock_shared(key) \
                   ELSE pg_advisory_xact_lock(key) END \
                   FROM unnest($1::bigint[], $2::boolean[]) AS locks (key, is_shared)";
    transaction.query(locking, &[&keys, &shared]).await?;
    Ok(())
}

/// The database's state of a change's keys.
struct Loaded {
    marks: HashMap<(String, Key), Made>,
    counts: HashMap<(String, Key), u64>,
}

impl Loaded {
    async fn read(
        transaction: &Transaction<'_>,
        change: &Change,
        places: &HashMap<&str, i64>,
    ) -> Result<Self, Error> {
        let (mut marks, mut counts) = (HashMap::new(), HashMap::new());
        for (&set, number) in places {
            let wanted = change.marks.iter().chain(&change.absent);
            let keys: Vec<&[u8]> = wanted
                .filter(|mark| mark.set.name() == set)
                .map(|mark| mark.key.as_slice())
                .collect();
            let query = format!("SELECT key, made FROM marks_{number} WHERE key = ANY ($1)");
            for row in transaction.query(&query, &[&keys]).await? {
                marks.insert((set.to_owned(), key(row.get(0))), decode_made(row.get(1)));
            }
            let wanted = change.counts.iter().filter(|count| count.set.name() == set);
            let keys: Vec<&[u8]> = wanted.map(|count| count.key.as_slice()).collect();
            let query = format!("SELECT key, count FROM counts_{number} WHERE key = ANY ($1)");
            for row in transaction.query(&query, &[&keys]).await? {
                let count: i64 = row.get(1);
                counts.insert((set.to_owned(), key(row.get(0))), count.cast_unsigned());
            }
        }
        Ok(Self { marks, counts })
    }

    fn before(&self, count: &Count) -> u64 {
        let place = (count.set.name().to_owned(), count.key);
        self.counts.get(&place).copied().unwrap_or(0)
    }
}

/// The tables hold keys of 32 bytes only.
fn key(bytes: &[u8]) -> Key {
    bytes.try_into().unwrap_or_default()
}

impl State for Loaded {
    type Error = std::convert::Infallible;

    fn is_closed(&mut self, _: &Set) -> Result<bool, Self::Error> {
        // A closed set has no table, and was refused before.
        Ok(false)
    }

    fn mark(&mut self, set: &Set, key: &Key) -> Result<Option<Made>, Self::Error> {
        Ok(self.marks.get(&(set.name().to_owned(), *key)).copied())
    }

    fn count(&mut self, set: &Set, key: &Key) -> Result<u64, Self::Error> {
        let found = self.counts.get(&(set.name().to_owned(), *key));
        Ok(found.copied().unwrap_or(0))
    }
}

/// Whether all could be written: a mark that was made meanwhile, without a lock, is in the way.
async fn write(
    transaction: &Transaction<'_>,
    change: &Change,
    places: &HashMap<&str, i64>,
    loaded: &Loaded,
) -> Result<bool, Error> {
    for mark in &change.marks {
        let Some(number) = places.get(mark.set.name()) else {
            return Ok(false);
        };
        let made = encode_made(change.now, mark.operation.as_ref());
        let insert = format!("INSERT INTO marks_{number} VALUES ($1, $2) ON CONFLICT DO NOTHING");
        let key = mark.key.as_slice();
        if transaction.execute(&insert, &[&key, &made]).await? != 1 {
            return Ok(false);
        }
    }
    // The locks are held: nobody else counts.
    let mut totals: HashMap<(&str, &Key), u64> = HashMap::new();
    for count in &change.counts {
        let Some(number) = places.get(count.set.name()) else {
            return Ok(false);
        };
        let total = totals
            .entry((count.set.name(), &count.key))
            .or_insert_with(|| loaded.before(count));
        *total = total.saturating_add(count.add);
        let put = format!(
            "INSERT INTO counts_{number} VALUES ($1, $2) \
             ON CONFLICT (key) DO UPDATE SET count = excluded.count"
        );
        let key = count.key.as_slice();
        transaction
            .execute(&put, &[&key, &total.cast_signed()])
            .await?;
    }
    Ok(true)
}
