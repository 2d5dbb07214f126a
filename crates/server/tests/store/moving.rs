//! Moves between the three stores, killed in the middle: no content is lost or duplicated.

use std::fs::File;
use std::io::Read;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use sealstone_server::store::{
    INCOMING, MOVED, Page, RedbStore, Replace, Store, StoreKind, StoreOptions, Tally, Transfer,
    open, tally,
};
use sealstone_testing::servers::{Postgres, Redis, wait_until};
use tokio::runtime::Runtime;

use crate::throttle::Throttle;

const MARKS: u32 = 60_000;

fn key(set: u8, number: u32) -> [u8; 32] {
    let mut key = [set; 32];
    // The first byte chooses the slot of Redis.
    key[..4].copy_from_slice(&number.wrapping_mul(0x9E37_79B9).to_be_bytes());
    key
}

/// Content of each kind.
fn content() -> Vec<Page> {
    let spent = "spent-0123456789abcdef-7".to_owned();
    let set = |name: &str, is_open| Page::Set {
        name: name.to_owned(),
        until: 1_900_000_000,
        is_open,
    };
    let made = |number: u32| match number % 10 {
        0 => [&1_800_000_000_u64.to_be_bytes()[..], &[9; 32]].concat(),
        _ => Vec::new(),
    };
    let marks: Vec<_> = (0..MARKS).map(|n| (key(1, n), made(n))).collect();
    let counts = (0..500).map(|n| (key(2, n), u64::from(n) << 50)).collect();
    let entry = |n: u32| (format!("log/audit/{n:020}"), vec![n as u8; 300]);
    let mut records: Vec<_> = (1..=5000).map(entry).collect();
    records.push(("service/role".to_owned(), b"verifier".to_vec()));
    let mut pages = vec![
        set(&spent, true),
        set("spent-0123456789abcdef-6", false),
        set("rate-5", true),
    ];
    pages.extend(marks.chunks(4096).map(|marks| Page::Marks {
        set: spent.clone(),
        marks: marks.to_vec(),
    }));
    let set = "rate-5".to_owned();
    pages.push(Page::Counts { set, counts });
    pages.extend(
        records
            .chunks(1000)
            .map(|part| Page::Records(part.to_vec())),
    );
    pages
}

/// A configuration, and the store that it names.
struct Place {
    config: String,
    data: String,
    options: StoreOptions,
}

impl Place {
    fn new(directory: &Path, name: &str, options: StoreOptions) -> Self {
        let path = |end: &str| directory.join(format!("{name}{end}")).display().to_string();
        let place = Self {
            config: path(".toml"),
            data: path(""),
            options,
        };
        place.write_config(&place.config, &place.options.urls);
        std::fs::create_dir_all(&place.data).expect("a directory");
        place
    }

    /// Writes a configuration that reaches the store at `urls`.
    fn write_config(&self, path: &str, urls: &[String]) {
        let kind = match self.options.kind {
            StoreKind::Redb => "redb",
            StoreKind::Redis => "redis",
            StoreKind::Postgres => "postgres",
        };
        let data = &self.data;
        let text = format!("data = \"{data}\"\n[store]\nkind = \"{kind}\"\nurls = {urls:?}\n");
        std::fs::write(path, text).expect("a file");
    }

    fn is_server(&self) -> bool {
        self.options.kind != StoreKind::Redb
    }

    /// A throttle before this server, and a configuration that reaches the server through it.
    fn throttle(&self) -> (Throttle, String) {
        let url = &self.options.urls[0];
        let mut parts = url.split(['/', '@']);
        let address = parts.find_map(|part| part.parse().ok());
        let address: SocketAddr = address.expect("an address in the URL");
        let throttle = Throttle::new(address);
        let config = format!("{}-throttled.toml", self.data);
        let url = url.replace(&address.to_string(), &throttle.address().to_string());
        self.write_config(&config, &[url]);
        (throttle, config)
    }

    /// Waits until this process has closed an embedded store, which it does in the background.
    fn wait_until_closed(&self) {
        let file = Path::new(&self.data).join("store.redb");
        wait_until("the store is closed", || match File::open(&file) {
            Ok(file) => file.try_lock().is_ok(),
            Err(_) => true,
        });
    }

    async fn open(&self) -> Arc<dyn Transfer> {
        for _ in 0..200 {
            if let Ok(store) = open(&self.options, Path::new(&self.data), "verifier").await {
                return store;
            }
            // A store that was just dropped may still be locked.
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        open(&self.options, Path::new(&self.data), "verifier")
            .await
            .expect("a store")
    }

    async fn tally(&self) -> Tally {
        tally(&*self.open().await).await.expect("a tally")
    }

    async fn has(&self, record: &str) -> bool {
        self.open()
            .await
            .get(record)
            .await
            .expect("a store")
            .is_some()
    }
}

fn command(from: &str, to: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealstone-server"));
    command.args(["migrate", "verifier", "--wait", "0"]);
    command.args(["--from", from, "--to", to]);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// The numbers of bytes after which a move is killed. The content has more than the last.
const KILLED_AT: [u64; 5] = [100, 1 << 10, 1 << 17, 1 << 20, 2 << 20];

/// Starts the move and kills it after `limit` transferred bytes.
fn kill_after(limit: u64, throttle: &Throttle, mut move_all: Command) {
    throttle.allow(limit);
    let mut child = move_all.spawn().expect("a program");
    wait_until("the move is held", || {
        let is_held = throttle.is_full();
        let end = child.try_wait().expect("a process");
        if let (false, Some(end)) = (is_held, end) {
            let mut said = String::new();
            let stderr = child.stderr.as_mut().expect("it is piped");
            stderr.read_to_string(&mut said).expect("text");
            panic!("it ended before, with {end}: {said}");
        }
        is_held
    });
    child.kill().expect("a process");
    child.wait().expect("a process");
    // The server's connections close, too.
    throttle.allow(0);
}

/// Kills the move at each moment of [`KILLED_AT`], then lets it end.
fn move_with_kills(from: &Place, to: &Place, runtime: &Runtime) {
    let before = runtime.block_on(from.tally());
    // A repeated move must name the same stores.
    let server = if to.is_server() { to } else { from };
    let (throttle, config) = server.throttle();
    let move_all = || {
        from.wait_until_closed();
        to.wait_until_closed();
        match to.is_server() {
            true => command(&from.config, &config),
            false => command(&config, &to.config),
        }
    };
    for limit in KILLED_AT {
        kill_after(limit, &throttle, move_all());
        // No service accepts a partial copy.
        let content = runtime.block_on(to.tally());
        assert!(content.is_empty() || runtime.block_on(to.has(INCOMING)));
    }
    throttle.allow(u64::MAX);
    let done = move_all().output().expect("a program");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{said}");
    assert_eq!(runtime.block_on(to.tally()), before);
    assert!(!runtime.block_on(to.has(INCOMING)));
    assert!(
        runtime.block_on(from.has(MOVED)),
        "the old store refuses services"
    );
    assert_eq!(
        runtime.block_on(from.tally()),
        before,
        "the old store is as it was"
    );
}

fn server(kind: StoreKind, url: String) -> StoreOptions {
    StoreOptions {
        kind,
        urls: vec![url],
        ..StoreOptions::default()
    }
}

#[test]
#[ignore = "starts redis-server and postgres: make test-services"]
fn with_servers_a_killed_move_is_run_again() {
    let (redis, postgres) = (Redis::start("always"), Postgres::start(&[]));
    let (runtime, directory) = (Runtime::new().expect("a runtime"), tempfile::tempdir());
    let directory = directory.expect("a directory");
    let place = |name, options| Place::new(directory.path(), name, options);
    let redb = place("redb", StoreOptions::default());
    let redis_place = place("redis", server(StoreKind::Redis, redis.url()));
    let postgres_place = place("postgres", server(StoreKind::Postgres, postgres.url()));
    let back = place("back", StoreOptions::default());
    runtime.block_on(async {
        let store = redb.open().await;
        for page in content() {
            store.load(page).await.expect("room");
        }
    });
    move_with_kills(&redb, &redis_place, &runtime);
    move_with_kills(&redis_place, &postgres_place, &runtime);
    move_with_kills(&postgres_place, &back, &runtime);
    assert_eq!(
        runtime.block_on(back.tally()),
        runtime.block_on(redb.tally())
    );
}

/// The comparison notices a copy with a missing mark, an altered counter or a reopened set.
#[test]
fn copies_that_differ_are_told() {
    let runtime = Runtime::new().expect("a runtime");
    let directory = tempfile::tempdir().expect("a directory");
    let copy = |name: &str, change: fn(&mut Page)| {
        let store = RedbStore::open(&directory.path().join(name)).expect("a store");
        runtime.block_on(async {
            for mut page in content() {
                change(&mut page);
                store.load(page).await.expect("room");
            }
            tally(&store).await.expect("a tally")
        })
    };
    let whole = copy("whole", |_| {});
    assert_eq!(whole.difference(&copy("same", |_| {})), None);
    type Bug = (&'static str, fn(&mut Page));
    let bugs: [Bug; 4] = [
        ("mark", |page| {
            if let Page::Marks { marks, .. } = page
                && marks.len() < 4096
            {
                marks.pop();
            }
        }),
        ("made", |page| {
            if let Page::Marks { marks, .. } = page {
                marks[0].1 = vec![1; 40];
            }
        }),
        ("count", |page| {
            if let Page::Counts { counts, .. } = page {
                counts[7].1 += 1;
            }
        }),
        ("closed", |page| {
            if let Page::Set { is_open, .. } = page {
                *is_open = true;
            }
        }),
    ];
    for (name, bug) in bugs {
        assert!(whole.difference(&copy(name, bug)).is_some(), "{name}");
    }
}

/// A copy contains marks that are made while it is read, if they were answered before its time.
#[test]
fn a_copy_holds_what_was_made_meanwhile() {
    let runtime = Runtime::new().expect("a runtime");
    let directory = tempfile::tempdir().expect("a directory");
    let store = RedbStore::open(&directory.path().join("a")).expect("a store");
    runtime.block_on(async {
        for page in content() {
            store.load(page).await.expect("room");
        }
        let (sink, mut pages) = tokio::sync::mpsc::channel(1);
        let late = sealstone_server::store::Set::new("spent-0123456789abcdef-7", 1_900_000_000);
        let read = async {
            let (mut tally, mut made) = (Tally::default(), 0_u32);
            while let Some(page) = pages.recv().await {
                tally.add(&page);
                // The first pages have been read, so all of these are new to the copy.
                if made < 10 {
                    let mark = sealstone_server::store::Mark::new(&late, key(5, made));
                    let change = sealstone_server::store::Change::new(5).mark(mark);
                    store.apply(change).await.expect("a store");
                    let name = format!("new/{made}");
                    let record = Replace::create(name, vec![1]);
                    assert!(store.update(vec![record]).await.expect("a store"));
                    made += 1;
                }
            }
            tally
        };
        let (sent, copied) = tokio::join!(store.pages(sink), read);
        sent.expect("a copy");
        let now = tally(&store).await.expect("a tally");
        assert_eq!(copied.difference(&now), None);
        assert_eq!(copied.marks(), u64::from(MARKS) + 10);
    });
}
