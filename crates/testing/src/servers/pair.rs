//! PostgreSQL with a standby that confirms each commit, and takes over.

use std::path::Path;
use std::process::{Command, Stdio};

use super::{Postgres, wait_until};

/// The settings of both servers: whichever is the first waits for the other.
const OPTIONS: [&str; 2] = ["-c", "synchronous_standby_names=*"];

/// A primary and a standby.
pub struct PostgresPair {
    primary: Postgres,
    standby: Postgres,
}

impl PostgresPair {
    /// Starts both. Each commit of the primary waits for the standby's disk.
    ///
    /// # Panics
    /// If one does not start.
    #[must_use]
    pub fn start() -> Self {
        let primary = Postgres::start(&OPTIONS);
        let standby = Postgres::follow(&primary, &OPTIONS);
        let pair = Self { primary, standby };
        pair.wait_for_standby();
        pair
    }

    /// The URLs of both, in an order that does not say which is the primary.
    #[must_use]
    pub fn urls(&self) -> Vec<String> {
        let mut urls = vec![self.primary.url(), self.standby.url()];
        urls.sort();
        urls
    }

    /// Kills the primary. The standby takes over, and the killed one follows it with new files.
    ///
    /// # Panics
    /// If one of these steps fails.
    pub fn fail_over(&mut self) {
        self.primary.kill();
        let promoted = self.standby.ask("SELECT pg_promote()");
        assert_eq!(promoted, "t", "the standby does not take over");
        std::mem::swap(&mut self.primary, &mut self.standby);
        self.standby.copy(&self.primary);
        self.standby.revive();
        self.wait_for_standby();
    }

    fn wait_for_standby(&self) {
        let states = "SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'";
        wait_until("the standby follows", || self.primary.ask(states) == "sync");
    }
}

impl Postgres {
    /// A standby of `primary`.
    fn follow(primary: &Self, options: &[&str]) -> Self {
        let mut server = Self::prepare(options);
        server.copy(primary);
        server.revive();
        server
    }

    /// Replaces its files by those of `primary`, whose standby it is from then on.
    fn copy(&self, primary: &Self) {
        remove(&self.data());
        let mut copy = self.command("pg_basebackup");
        copy.args(["--dbname", &primary.url(), "--write-recovery-conf"]);
        copy.args(["--checkpoint=fast", "--no-sync", "--pgdata"]);
        let copied = copy.arg(self.data()).status().expect("pg_basebackup");
        assert!(copied.success(), "no copy of the primary");
    }

    /// The answer to a query, as text; nothing if there is none.
    fn ask(&self, query: &str) -> String {
        let mut ask = self.command("psql");
        let ask = ask.args(["--no-psqlrc", "-tA", "-d", &self.url(), "-c", query]);
        let answer = ask.stdout(Stdio::piped()).output().expect("psql");
        String::from_utf8_lossy(&answer.stdout).trim().to_owned()
    }
}

/// Removes files whose server may still be about to end.
fn remove(directory: &Path) {
    wait_until("the earlier files are gone", || {
        let mut remove = Command::new("rm");
        let removed = remove.arg("-rf").arg(directory).stderr(Stdio::null());
        removed.status().is_ok_and(|status| status.success())
    });
}
