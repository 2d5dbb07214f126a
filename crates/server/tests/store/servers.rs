//! The suite on real servers: `make test-services`.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex};

use sealstone_server::store::{Durability, Store, StoreKind, StoreOptions, open};
use sealstone_testing::servers::{Postgres, Redis, RedisCluster};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::planted::Bug;
use crate::{Kind, SUITE, conformance};

/// Opens a store with a separate name for each directory.
fn open_named(options: StoreOptions, directory: &Path, runtime: &Runtime) -> Arc<dyn Store> {
    let mut hasher = DefaultHasher::new();
    directory.hash(&mut hasher);
    let options = StoreOptions {
        name: Some(format!("test_{:016x}", hasher.finish())),
        seconds: 20,
        ..options
    };
    let opened = runtime.block_on(open(&options, directory, "verifier"));
    opened.expect("a store")
}

/// Runs all requirements, one after the other.
fn passes(kind: &dyn Kind) {
    for (name, requirement) in SUITE {
        println!("{name}");
        requirement(kind);
    }
}

fn redis_options(urls: Vec<String>) -> StoreOptions {
    StoreOptions {
        kind: StoreKind::Redis,
        urls,
        ..StoreOptions::default()
    }
}

struct OneRedis(Mutex<Redis>);

impl OneRedis {
    fn options(&self) -> StoreOptions {
        redis_options(vec![self.0.lock().expect("a server").url()])
    }
}

impl Kind for OneRedis {
    fn open(&self, directory: &Path, runtime: &Runtime) -> Arc<dyn Store> {
        open_named(self.options(), directory, runtime)
    }

    fn restart(&self) {
        let mut server = self.0.lock().expect("a server");
        server.kill();
        server.revive();
    }
}

#[test]
#[ignore = "starts redis-server: make test-services"]
fn with_redis_it_passes() {
    passes(&OneRedis(Mutex::new(Redis::start("always"))));
}

#[test]
#[ignore = "starts redis-server: make test-services"]
fn with_redis_planted_bugs_are_caught() {
    let redis = OneRedis(Mutex::new(Redis::start("always")));
    for bug in [Bug::AnswersEarly, Bug::Forgets, Bug::RewritesLogs] {
        assert!(bug.is_caught(&redis));
    }
}

/// Hundreds of first spends at once write the set into its 256 slots once.
#[test]
#[ignore = "starts redis-server: make test-services"]
fn with_redis_a_set_is_registered_once() {
    let redis = OneRedis(Mutex::new(Redis::start("always")));
    conformance::one_of_many_spread_at_once_wins(&redis);
    let server = redis.0.lock().expect("a server");
    let stats = server.ask("INFO commandstats").expect("an answer");
    assert!(stats.contains("cmdstat_hsetnx:calls=256,"), "{stats}");
}

/// Redis without a log, and a service that does not check that.
struct Forgetful(OneRedis);

impl Kind for Forgetful {
    fn open(&self, directory: &Path, runtime: &Runtime) -> Arc<dyn Store> {
        let options = StoreOptions {
            durability: Some(Durability::Unchecked),
            ..self.0.options()
        };
        open_named(options, directory, runtime)
    }

    fn restart(&self) {
        self.0.restart();
    }
}

#[test]
#[ignore = "starts redis-server: make test-services"]
fn with_a_redis_that_forgets_it_fails() {
    let server = Redis::with(&["--appendonly", "no"]);
    let forgetful = Forgetful(OneRedis(Mutex::new(server)));
    let run = AssertUnwindSafe(|| conformance::acknowledged_changes_survive(&forgetful));
    assert!(catch_unwind(run).is_err());
}

struct Cluster(Mutex<RedisCluster>);

impl Kind for Cluster {
    fn open(&self, directory: &Path, runtime: &Runtime) -> Arc<dyn Store> {
        let urls = self.0.lock().expect("a cluster").urls();
        let options = StoreOptions {
            cluster: true,
            ..redis_options(urls)
        };
        open_named(options, directory, runtime)
    }

    fn restart(&self) {
        self.0.lock().expect("a cluster").restart(1);
    }
}

#[test]
#[ignore = "starts a cluster of Redis: make test-services"]
fn with_a_redis_cluster_it_passes() {
    passes(&Cluster(Mutex::new(RedisCluster::start())));
}

struct OnePostgres(Mutex<Postgres>);

impl Kind for OnePostgres {
    fn open(&self, directory: &Path, runtime: &Runtime) -> Arc<dyn Store> {
        let options = StoreOptions {
            kind: StoreKind::Postgres,
            urls: vec![self.0.lock().expect("a server").url()],
            ..StoreOptions::default()
        };
        open_named(options, directory, runtime)
    }

    fn restart(&self) {
        let mut server = self.0.lock().expect("a server");
        server.kill();
        server.revive();
    }
}

#[test]
#[ignore = "starts postgres: make test-services"]
fn with_postgres_it_passes() {
    let postgres = OnePostgres(Mutex::new(Postgres::start(&[])));
    passes(&postgres);
    for bug in [Bug::AnswersEarly, Bug::Forgets, Bug::RewritesLogs] {
        assert!(bug.is_caught(&postgres));
    }
}

#[test]
#[ignore = "starts postgres: make test-services"]
fn with_a_postgres_that_keeps_less_it_says_so() {
    let hasty = Postgres::start(&["-c", "fsync=off"]);
    let options = StoreOptions {
        kind: StoreKind::Postgres,
        urls: vec![hasty.url()],
        ..StoreOptions::default()
    };
    let error = refusal(&options);
    assert!(error.contains("fsync off"), "{error}");
}

/// A silent host that accepts connections gets a quarter of the time.
#[test]
#[ignore = "starts postgres: make test-services"]
fn with_a_postgres_behind_a_silent_host_it_works() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let silent = silent.local_addr().expect("an address");
    let postgres = Postgres::start(&[]);
    let options = |seconds| StoreOptions {
        kind: StoreKind::Postgres,
        urls: vec![
            format!("postgres://postgres@{silent}/postgres"),
            postgres.url(),
            format!("postgres://postgres@{silent}/postgres"),
        ],
        seconds,
        ..StoreOptions::default()
    };
    let runtime = Runtime::new().expect("a runtime");
    let opened = runtime.block_on(open(&options(8), Path::new("/nowhere"), "verifier"));
    let store = opened.expect("the second host");
    let begun = std::time::Instant::now();
    // The second host is the primary from now on, also for new connections.
    let asked = (0..8).map(|_| {
        let store = store.clone();
        async move { store.get("a").await.map(drop) }
    });
    let asked: JoinSet<_> = runtime.block_on(async { asked.collect() });
    for answer in runtime.block_on(asked.join_all()) {
        answer.expect("an answer");
    }
    let elapsed = begun.elapsed();
    assert!(
        elapsed < std::time::Duration::from_millis(1900),
        "{elapsed:?}"
    );
    let both = StoreOptions {
        urls: vec![format!("postgres://postgres@{silent},127.0.0.1/postgres")],
        ..options(3)
    };
    let error = refusal(&both);
    assert!(error.contains("a URL of its own"), "{error}");
}

/// Why a store is refused.
fn refusal(options: &StoreOptions) -> String {
    let runtime = Runtime::new().expect("a runtime");
    let opened = runtime.block_on(open(options, Path::new("/nowhere"), "verifier"));
    opened.err().expect("a refusal").to_string()
}

#[test]
#[ignore = "starts redis-server: make test-services"]
fn with_a_redis_that_keeps_less_it_says_so() {
    let forgetful = Redis::with(&["--appendonly", "no"]);
    let error = refusal(&redis_options(vec![forgetful.url()]));
    assert!(error.contains("appendonly no"), "{error}");
    let eager = Redis::with(&["--appendonly", "yes", "--maxmemory-policy", "allkeys-lru"]);
    let error = refusal(&redis_options(vec![eager.url()]));
    assert!(error.contains("allkeys-lru"), "{error}");
    let lazy = Redis::start("everysec");
    let error = refusal(&redis_options(vec![lazy.url()]));
    assert!(error.contains("appendfsync everysec"), "{error}");
    let accepted = StoreOptions {
        durability: Some(Durability::Everysec),
        ..redis_options(vec![lazy.url()])
    };
    let directory = tempfile::tempdir().expect("a directory");
    open_named(
        accepted,
        directory.path(),
        &Runtime::new().expect("a runtime"),
    );
    let locked = Redis::with(&[
        "--appendonly",
        "yes",
        "--appendfsync",
        "always",
        "--requirepass",
        "s3",
    ]);
    let error = refusal(&redis_options(vec![locked.url()]));
    assert!(error.to_lowercase().contains("auth"), "{error}");
    let password = directory.path().join("password");
    std::fs::write(&password, "s3\n").expect("a file");
    let accepted = StoreOptions {
        password_file: Some(password),
        ..redis_options(vec![locked.url()])
    };
    open_named(
        accepted,
        directory.path(),
        &Runtime::new().expect("a runtime"),
    );
}

#[test]
fn a_server_that_does_not_answer_is_named() {
    let port = sealstone_testing::servers::free_port();
    let error = refusal(&redis_options(vec![format!("redis://127.0.0.1:{port}")]));
    assert!(error.contains(&port.to_string()), "{error}");
}
