//! The size of a spent token in each store, and how the sets grow and are dropped
//! (`spec/service.md`, "Sizing").

use std::path::Path;
use std::time::Instant;

use sealstone_server::store::{
    Durability, Page, RedbStore, StoreKind, StoreOptions, Transfer, open,
};
use sealstone_testing::servers::{Postgres, Redis};
use tokio::runtime::Runtime;

const DAY: u64 = 24 * 60 * 60;
/// Marks that arrive together in a busy service.
const GROUP: usize = 1024;

/// Keys that look like digests.
struct Keys(u64);

impl Keys {
    fn next(&mut self) -> [u8; 32] {
        let mut key = [0; 32];
        for part in key.chunks_exact_mut(8) {
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            part.copy_from_slice(&(mixed ^ (mixed >> 31)).to_be_bytes());
        }
        key
    }
}

async fn spend(store: &dyn Transfer, set: &str, until: u64, count: u64, keys: &mut Keys) {
    let page = Page::Set {
        name: set.to_owned(),
        until,
        is_open: true,
    };
    store.load(page).await.expect("a store");
    let mut left = count;
    while left > 0 {
        let len = left.min(GROUP as u64);
        let marks = (0..len).map(|_| (keys.next(), Vec::new())).collect();
        let set = set.to_owned();
        store.load(Page::Marks { set, marks }).await.expect("room");
        left -= len;
    }
}

/// A scaled month of an issuer with epochs of a week: the embedded store grows to the size of its
/// content, and reuses the space of dropped sets.
#[test]
fn a_month_of_tokens_fits_where_three_weeks_did() {
    const A_DAY: u64 = 4000;
    let (runtime, directory) = (Runtime::new().expect("a runtime"), tempfile::tempdir());
    let path = directory.expect("a directory").keep().join("store.redb");
    let store = RedbStore::open(&path).expect("a store");
    let (mut keys, mut lens) = (Keys(1), Vec::new());
    runtime.block_on(async {
        for day in 0..42 {
            let epoch = day / 7;
            // A week of issuing, a week of redeeming, a day for clocks that jump.
            let until = (epoch + 2) * 7 * DAY;
            let set = format!("spent-0-{epoch}");
            spend(&store, &set, until, A_DAY, &mut keys).await;
            use sealstone_server::store::Store;
            let dropped = (day * DAY).saturating_sub(DAY);
            store.close_sets(dropped).await.expect("a store");
            let sets = store.sets().await.expect("sets");
            let marks: u64 = sets.iter().map(|(_, marks)| marks).sum();
            assert!(
                marks <= 22 * A_DAY && sets.len() <= 4,
                "{marks} in {}",
                sets.len()
            );
            lens.push(path.metadata().expect("a file").len());
        }
    });
    assert!(
        lens[41] <= lens[23] * 3 / 2,
        "the file grows without end: {lens:?}"
    );
    std::fs::remove_dir_all(path.parent().expect("a directory")).expect("a directory");
}

/// The largest number of days of tokens that are kept at the same time, in a simulated year. An
/// epoch lasts `epoch` days, its tokens are redeemed for `redeem` more days, and are dropped a day
/// later.
fn most_days(epoch: u64, redeem: u64) -> u64 {
    let kept = |today: u64| {
        let is_kept = |spent: &u64| {
            // It is a token of the newest epoch, whose set is kept longest.
            let dropped = (spent / epoch + 1) * epoch + redeem + 1;
            today <= dropped
        };
        (0..=today).filter(is_kept).count() as u64
    };
    (0..365).map(kept).max().unwrap_or(0)
}

/// The table of sizes in the specification follows from the measured bytes.
#[test]
fn the_table_of_sizes_follows_from_the_measured_bytes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |name: &str| std::fs::read_to_string(root.join(name)).expect("a page");
    let (results, page) = (read("bench/results/service.md"), read("spec/service.md"));
    let bytes = |store: &str| -> f64 {
        let line = results.lines().find(|line| line.starts_with(store));
        let cell = line.and_then(|line| line.split('|').nth(2));
        cell.and_then(|cell| cell.trim().parse().ok()).expect(store)
    };
    let each = ["| redb: the file", "| redis: memory", "| postgres: tables"].map(bytes);
    // The specification's numbers. A year without early rotations needs less.
    let (long, short) = (22, 4);
    assert!(most_days(7, 7) <= long && most_days(1, 1) <= short);
    // A size, and its rounding error.
    let size = |text: &str| -> (f64, f64) {
        let (number, unit) = text.trim().split_once(' ').expect("a unit");
        let factor = if unit == "TB" { 1e12 } else { 1e9 };
        let digits = number.split_once('.').map_or(0, |(_, rest)| rest.len());
        let half = 0.5 / 10_f64.powi(i32::try_from(digits).expect("a few digits"));
        let number: f64 = number.parse().expect("a number");
        (number * factor, half * factor)
    };
    for power in 5..=9 {
        let begin = format!("| 10^{power} |");
        let row = page.lines().find(|line| line.starts_with(&begin));
        let cells: Vec<&str> = row.expect("a row").split('|').skip(4).collect();
        let rate = 10_f64.powi(power);
        let expected = [
            (each[0], long),
            (each[1], long),
            (each[2], long),
            (each[1], short),
        ];
        for (cell, (bytes, days)) in cells.iter().zip(expected) {
            let expected = rate * bytes * days as f64;
            let (said, half) = size(cell);
            let is_right = (said - expected).abs() <= half;
            assert!(is_right, "10^{power}: {cell}, not {expected:.3e}");
        }
    }
}

fn print(store: &str, marks: u64, bytes: u64, seconds: f64) {
    let (each, rate) = (bytes as f64 / marks as f64, marks as f64 / seconds);
    println!("| {store} | {each:.0} | {rate:.0} |");
}

fn server(kind: StoreKind, url: String) -> StoreOptions {
    StoreOptions {
        kind,
        urls: vec![url],
        durability: (kind == StoreKind::Redis).then_some(Durability::Everysec),
        seconds: 60,
        ..StoreOptions::default()
    }
}

/// The value of a line `name:value`.
fn info(redis: &Redis, section: &str, name: &str) -> u64 {
    let text = redis.ask(&format!("INFO {section}")).expect("an answer");
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.trim_start_matches(':').trim().parse().ok())
        .expect("a number")
}

/// Prints a table. SEALSTONE_SIZING_MARKS is the number of marks, by default a million.
#[test]
#[ignore = "measures for some minutes, with redis-server and postgres"]
fn bytes_of_a_spent_token_in_each_store() {
    let marks = std::env::var("SEALSTONE_SIZING_MARKS");
    let marks: u64 = marks.map_or(1_000_000, |text| text.parse().expect("a number"));
    let (runtime, directory) = (Runtime::new().expect("a runtime"), tempfile::tempdir());
    let directory = directory.expect("a directory");
    let until = u64::MAX >> 2;
    println!(
        "| store, {marks} marks in groups of {GROUP} | bytes each | marks a second |\n|---|---|---|"
    );
    let fill = |store: &dyn Transfer| {
        let begun = Instant::now();
        runtime.block_on(spend(store, "spent-0-1", until, marks, &mut Keys(7)));
        begun.elapsed().as_secs_f64()
    };
    let path = directory.path().join("store.redb");
    let store = RedbStore::open(&path).expect("a store");
    let seconds = fill(&store);
    print(
        "redb: the file",
        marks,
        path.metadata().expect("a file").len(),
        seconds,
    );
    drop(store);
    let redis = Redis::start("everysec");
    let connect = |options: StoreOptions| {
        let opened = runtime.block_on(open(&options, Path::new("/nowhere"), "verifier"));
        opened.expect("a store")
    };
    let store = connect(server(StoreKind::Redis, redis.url()));
    let before = info(&redis, "memory", "used_memory");
    let seconds = fill(&*store);
    let memory = info(&redis, "memory", "used_memory") - before;
    print("redis: memory", marks, memory, seconds);
    print(
        "redis: the log, before it is rewritten",
        marks,
        info(&redis, "persistence", "aof_current_size"),
        seconds,
    );
    let postgres = Postgres::start(&[]);
    let url = postgres.url();
    let store = connect(server(StoreKind::Postgres, url.clone()));
    let seconds = fill(&*store);
    let size = runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.expect("a connection");
        tokio::spawn(connection);
        let query = "SELECT sum(pg_total_relation_size(relid))::bigint FROM pg_catalog.pg_statio_user_tables";
        client.query_one(query, &[]).await.expect("a row").get::<_, i64>(0)
    });
    print(
        "postgres: tables and indexes",
        marks,
        size.cast_unsigned(),
        seconds,
    );
}
