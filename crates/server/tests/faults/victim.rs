//! The processes that are killed: the program, or this test with a planted store.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sealstone_files::TrustDirectory;
use sealstone_server::clock::Clock;
use sealstone_server::http::{self, Connections, RouteLimits, Stop};
use sealstone_server::pinned::Pinned;
use sealstone_server::store::{Answer, Change, Outcome, RedbStore, Refusal, Replace, Set, Store};
use sealstone_server::verifier::{Source, Verifier};
use serde_json::Value;

/// The verifier that is killed.
#[derive(Clone, Copy)]
pub(crate) enum Victim {
    /// The program.
    Program,
    /// A verifier that answers before the commit, and is otherwise right.
    Early,
}

/// A process that is killed when this value is dropped.
pub(crate) struct Process {
    child: Child,
    ready: Value,
}

impl Process {
    /// Starts the program.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sealstone-server"));
        command.args(arguments);
        Self::run(command)
    }

    /// Starts a command that runs the program. If it does not start, its message says why.
    pub(crate) fn run(mut command: Command) -> Self {
        let command = command.stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().expect("a process");
        let mut line = String::new();
        let output = child.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut line).expect("a line");
        let ready = serde_json::from_str(&line).expect("a service that is ready");
        Self { child, ready }
    }

    pub(crate) fn url(&self) -> &str {
        self.ready["url"].as_str().expect("a URL")
    }

    pub(crate) fn address(&self) -> &str {
        self.ready["listen"].as_str().expect("an address")
    }
}

pub(crate) fn spawn(command: &mut Command) -> Child {
    let command = command.stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().expect("a process")
}

impl Drop for Process {
    /// SIGKILL.
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Victim {
    /// A verifier in `data` at `listen`.
    pub(crate) fn start(self, data: &Path, issuer: &str, listen: &str) -> Process {
        match self {
            Self::Program => {
                let data = data.display().to_string();
                let arguments = [
                    "verifier", "--data", &data, "--listen", listen, "--issuer", issuer,
                ];
                Process::start(&arguments)
            }
            Self::Early => planted(data, issuer, listen),
        }
    }
}

const PLANTED: &str = "SEALSTONE_PLANTED_VERIFIER";

/// This test as a separate process, which reports in a file that it is ready.
fn planted(data: &Path, issuer: &str, listen: &str) -> Process {
    std::fs::create_dir_all(data).expect("a directory");
    let told = data.join("ready.json");
    drop(std::fs::remove_file(&told));
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command
        .args([
            "--exact",
            "victim::planted_verifier",
            "--ignored",
            "--nocapture",
        ])
        .env(PLANTED, format!("{}\n{issuer}\n{listen}", data.display()));
    let mut process = Process {
        child: spawn(&mut command),
        ready: Value::Null,
    };
    for _ in 0..1000 {
        let text = std::fs::read_to_string(&told).unwrap_or_default();
        if let Ok(ready) = serde_json::from_str(&text) {
            process.ready = ready;
            return process;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("the planted verifier does not start");
}

#[test]
#[ignore = "the process that a_verifier_that_answers_early_is_caught kills"]
fn planted_verifier() {
    let Ok(told) = std::env::var(PLANTED) else {
        return;
    };
    let parts: Vec<&str> = told.lines().collect();
    let (data, issuer, listen) = (PathBuf::from(parts[0]), parts[1], parts[2]);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(serve_planted(&data, issuer, listen));
}

async fn serve_planted(data: &Path, issuer: &str, listen: &str) {
    let inner = Arc::new(RedbStore::open(&data.join("store.redb")).expect("a store"));
    let store: Arc<dyn Store> = Arc::new(Early {
        inner,
        seen: Mutex::default(),
    });
    let (clock, trust) = (Clock::system(), TrustDirectory::new(data.join("trust")));
    let pinned = Pinned::open(
        issuer,
        ureq::agent(),
        None,
        trust,
        store.clone(),
        clock.now(),
    )
    .await;
    let source = Source::Pinned(Arc::new(pinned.expect("an issuer")));
    let listener = http::bind(listen).await.expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let origins = [address.clone()];
    let verifier = Verifier::new(source, store, "issuer", &origins, clock).expect("names");
    let router = Arc::new(verifier).router(&RouteLimits::default());
    let ready = serde_json::json!({"url": format!("http://{address}"), "listen": address});
    let (half, whole) = (data.join("ready.half"), data.join("ready.json"));
    std::fs::write(&half, ready.to_string()).expect("a file");
    std::fs::rename(half, whole).expect("a file");
    http::serve(listener, router, &Connections::default(), &Stop::default()).await;
}

/// Answers from memory, and commits a moment later: right until it is killed.
struct Early {
    inner: Arc<RedbStore>,
    seen: Mutex<Vec<Change>>,
}

impl Store for Early {
    fn apply(&self, change: Change) -> Answer<'_, Outcome> {
        Box::pin(async move {
            let timeless = |change: &Change| change.clone().at(0);
            {
                let mut seen = self.seen.lock().expect("a list");
                if seen.contains(&timeless(&change)) {
                    return Ok(Outcome::Refused(Refusal::Spent));
                }
                seen.push(timeless(&change));
            }
            let outcome = self.inner.probe(change.clone()).await;
            let inner = self.inner.clone();
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(100)).await;
                inner.apply(change).await
            });
            outcome
        })
    }

    fn probe(&self, change: Change) -> Answer<'_, Outcome> {
        self.inner.probe(change)
    }

    fn get(&self, name: &str) -> Answer<'_, Option<Vec<u8>>> {
        self.inner.get(name)
    }

    fn update(&self, records: Vec<Replace>) -> Answer<'_, bool> {
        self.inner.update(records)
    }

    fn close_sets(&self, before: u64) -> Answer<'_, u64> {
        self.inner.close_sets(before)
    }

    fn sets(&self) -> Answer<'_, Vec<(Set, u64)>> {
        self.inner.sets()
    }
}
