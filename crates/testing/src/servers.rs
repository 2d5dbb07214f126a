//! Real servers from the distribution's packages, each on a free port with a temporary directory.
//!
//! A server ends with its value, and with the thread that started it, so that none is left behind.

mod pair;
mod postgres;
mod redis;

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub use pair::PostgresPair;
pub use postgres::Postgres;
pub use redis::{Redis, RedisCluster};

/// How long a slow machine may need to start a server.
const PATIENCE: Duration = Duration::from_secs(60);

/// A TCP port of this machine that nobody uses now.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

/// Waits until `condition` holds.
///
/// # Panics
/// If it does not in a minute; `what` says what was waited for.
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < until, "waited too long until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A program that gets SIGKILL when the thread that starts it ends.
fn killed_with_parent(program: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--", program]);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command
}

/// A child that is killed with this value.
struct Killed(Child);

impl Killed {
    fn start(mut command: Command) -> Self {
        let child = command.spawn();
        Self(child.unwrap_or_else(|e| panic!("{command:?}: {e}: run scripts/setup services")))
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
