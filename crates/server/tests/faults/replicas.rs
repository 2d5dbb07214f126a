//! Three issuers and three verifiers over one server. They and the server are killed at random
//! under load.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use sealstone_server::client::Client;
use sealstone_testing::servers::{Postgres, PostgresPair, Redis, RedisCluster, wait_until};

use crate::keys::keys;
use crate::load::Load;
use crate::victim::Process;

const REPLICAS: usize = 3;

/// A server that is killed and restarted by `revive`.
trait Server {
    fn kind(&self) -> &'static str;
    fn urls(&self) -> Vec<String>;
    /// More options of the table `[store]`.
    fn more(&self) -> &'static str {
        ""
    }
    fn kill_and_revive(&mut self, turn: usize);
}

/// A master is killed, and its replica takes over.
impl Server for RedisCluster {
    fn kind(&self) -> &'static str {
        "redis"
    }

    fn urls(&self) -> Vec<String> {
        self.urls()
    }

    fn more(&self) -> &'static str {
        "cluster = true\nreplicas = 1\n"
    }

    fn kill_and_revive(&mut self, turn: usize) {
        self.fail_over(turn);
    }
}

impl Server for Redis {
    fn kind(&self) -> &'static str {
        "redis"
    }

    fn urls(&self) -> Vec<String> {
        vec![self.url()]
    }

    fn kill_and_revive(&mut self, _: usize) {
        self.kill();
        self.revive();
    }
}

impl Server for Postgres {
    fn kind(&self) -> &'static str {
        "postgres"
    }

    fn urls(&self) -> Vec<String> {
        vec![self.url()]
    }

    fn kill_and_revive(&mut self, _: usize) {
        self.kill();
        self.revive();
    }
}

/// The primary is killed, and the standby takes over.
impl Server for PostgresPair {
    fn kind(&self) -> &'static str {
        "postgres"
    }

    fn urls(&self) -> Vec<String> {
        self.urls()
    }

    fn kill_and_revive(&mut self, _: usize) {
        self.fail_over();
    }
}

/// The processes to kill.
#[derive(Clone, Copy, PartialEq)]
enum Target {
    Replicas,
    Server,
}

/// One process with its data directory and address, so that it can be started again.
struct Replica {
    arguments: Vec<String>,
    process: Option<Process>,
}

impl Replica {
    fn start(arguments: &[&str]) -> Self {
        let mut replica = Self {
            arguments: arguments.iter().map(ToString::to_string).collect(),
            process: None,
        };
        replica.revive();
        let listen = replica.process().address().to_owned();
        replica.arguments.extend(["--listen".to_owned(), listen]);
        replica
    }

    fn process(&self) -> &Process {
        self.process.as_ref().expect("a process")
    }

    fn kill(&mut self) {
        self.process = None;
    }

    fn revive(&mut self) {
        let mut arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        if !arguments.contains(&"--listen") {
            arguments.extend(["--listen", "127.0.0.1:0"]);
        }
        self.process = Some(Process::start(&arguments));
    }
}

struct World {
    replicas: Vec<Replica>,
    seen: BTreeSet<String>,
    _directory: tempfile::TempDir,
}

impl World {
    fn new(server: &dyn Server) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let path = |name: &str| directory.path().join(name).display().to_string();
        let config = path("service.toml");
        write_config(Path::new(&config), &path("passphrase"), server);
        let mut replicas = Vec::new();
        for number in 0..REPLICAS {
            let data = path(&format!("issuer-{number}"));
            let arguments = [
                "issuer", "--config", &config, "--data", &data, "--gate", "none",
            ];
            replicas.push(Replica::start(&arguments));
        }
        for number in 0..REPLICAS {
            let data = path(&format!("verifier-{number}"));
            let url = replicas[number].process().url().to_owned();
            let arguments = [
                "verifier", "--config", &config, "--data", &data, "--issuer", &url,
            ];
            replicas.push(Replica::start(&arguments));
        }
        Self {
            replicas,
            seen: BTreeSet::new(),
            _directory: directory,
        }
    }

    fn processes(&self) -> Vec<&Process> {
        self.replicas.iter().map(Replica::process).collect()
    }

    /// All issuers list all keys that any of them ever listed.
    fn check_keys(&mut self) {
        for issuer in &self.replicas[..REPLICAS] {
            let url = issuer.process().url();
            // A key of another issuer is listed after the next read of the store.
            let found = keys(url).expect("a directory");
            self.seen.extend(found);
        }
        for issuer in &mut self.replicas[..REPLICAS] {
            issuer.kill();
            issuer.revive();
            let found = keys(issuer.process().url()).expect("a directory");
            let lost: Vec<_> = self.seen.difference(&found).collect();
            assert!(lost.is_empty(), "lost keys: {lost:?}");
        }
    }

    /// Waits until every process works again by itself.
    fn wait(&self) {
        for process in self.processes() {
            let url = format!("{}/readyz", process.url());
            wait_until("a process is ready", || {
                let answer = Client::new("").get(&url, None);
                answer.is_ok_and(|answer| answer.status == 200)
            });
        }
    }
}

fn write_config(path: &Path, passphrase: &str, server: &dyn Server) {
    std::fs::write(passphrase, "a passphrase that all issuers read\n").expect("a file");
    let text = format!(
        "[store]\nkind = \"{}\"\nurls = {:?}\n{}\
         [passport]\npassphrase-file = \"{passphrase}\"\n\
         [verifier]\nname = \"issuer.test\"\norigins = [\"origin.test\"]\nrefresh = 1\n",
        server.kind(),
        server.urls(),
        server.more(),
    );
    std::fs::write(path, text).expect("a file");
}

/// Kills the victim `kills` times. Returns the number of accepted tokens.
fn campaign(server: &mut dyn Server, target: Target, kills: usize) -> usize {
    let mut world = World::new(server);
    let (issuers, verifiers) = world.replicas.split_at(REPLICAS);
    let issuers: Vec<&Process> = issuers.iter().map(Replica::process).collect();
    let verifiers: Vec<&Process> = verifiers.iter().map(Replica::process).collect();
    let mut load = Load::across(&issuers, &verifiers);
    for kill in 0..kills {
        load.fetch();
        let running = load.start();
        running.wait_for(5 + kill * 13 % 90);
        match target {
            Target::Server => server.kill_and_revive(kill),
            Target::Replicas => {
                // Two at once, with the load on the remaining ones.
                let victims = [kill * 7 % 6, (kill * 7 + 1 + kill % 4) % 6];
                victims
                    .iter()
                    .for_each(|&victim| world.replicas[victim].kill());
                std::thread::sleep(Duration::from_millis(20 + (kill as u64 * 37) % 100));
                victims
                    .iter()
                    .for_each(|&victim| world.replicas[victim].revive());
            }
        }
        running.stop();
        world.wait();
    }
    world.check_keys();
    world.wait();
    load.check().expect("a right history")
}

#[test]
#[ignore = "starts redis-server: make test-services"]
fn with_redis_killed_replicas_lose_nothing() {
    let accepted = campaign(&mut Redis::start("always"), Target::Replicas, 6);
    assert!(accepted > 100, "{accepted} tokens were accepted");
}

#[test]
#[ignore = "starts postgres: make test-services"]
fn with_postgres_killed_replicas_lose_nothing() {
    let accepted = campaign(&mut Postgres::start(&[]), Target::Replicas, 6);
    assert!(accepted > 100, "{accepted} tokens were accepted");
}

#[test]
#[ignore = "starts redis-server: make test-services"]
fn with_redis_killed_nothing_is_lost() {
    let accepted = campaign(&mut Redis::start("always"), Target::Server, 5);
    assert!(accepted > 100, "{accepted} tokens were accepted");
}

#[test]
#[ignore = "starts postgres: make test-services"]
fn with_postgres_killed_nothing_is_lost() {
    let accepted = campaign(&mut Postgres::start(&[]), Target::Server, 5);
    assert!(accepted > 100, "{accepted} tokens were accepted");
}

/// Prints the number of accepted tokens.
fn long_campaign(server: &mut dyn Server, target: Target) {
    let accepted = campaign(server, target, 50);
    println!("50 times, {accepted} tokens accepted once, no key lost");
}

#[test]
#[ignore = "a campaign of some minutes: 50 times two replicas over Redis"]
fn fifty_kills_of_replicas_over_redis() {
    long_campaign(&mut Redis::start("always"), Target::Replicas);
}

#[test]
#[ignore = "a campaign of some minutes: 50 times two replicas over PostgreSQL"]
fn fifty_kills_of_replicas_over_postgres() {
    long_campaign(&mut Postgres::start(&[]), Target::Replicas);
}

#[test]
#[ignore = "a campaign of some minutes: 50 times Redis"]
fn fifty_kills_of_redis() {
    long_campaign(&mut Redis::start("always"), Target::Server);
}

#[test]
#[ignore = "a campaign of some minutes: 50 times PostgreSQL"]
fn fifty_kills_of_postgres() {
    long_campaign(&mut Postgres::start(&[]), Target::Server);
}

#[test]
#[ignore = "starts a cluster of Redis with replicas: make test-services"]
fn with_a_redis_cluster_failover_loses_nothing() {
    let accepted = campaign(&mut RedisCluster::with_replicas(1), Target::Server, 2);
    assert!(accepted > 50, "{accepted} tokens were accepted");
}

#[test]
#[ignore = "a campaign of some minutes: 50 failovers in a cluster of Redis"]
fn fifty_failovers_of_redis() {
    long_campaign(&mut RedisCluster::with_replicas(1), Target::Server);
}

#[test]
#[ignore = "starts postgres with a standby: make test-services"]
fn with_a_postgres_standby_failover_loses_nothing() {
    let accepted = campaign(&mut PostgresPair::start(), Target::Server, 2);
    assert!(accepted > 50, "{accepted} tokens were accepted");
}

#[test]
#[ignore = "a campaign of some minutes: 50 failovers to a standby of PostgreSQL"]
fn fifty_failovers_of_postgres() {
    long_campaign(&mut PostgresPair::start(), Target::Server);
}
