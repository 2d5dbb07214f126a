//! PostgreSQL.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::{Killed, free_port, wait_until};

/// A server with one database, `postgres`, of the user `postgres`, without a password.
pub struct Postgres {
    programs: PathBuf,
    directory: TempDir,
    port: u16,
    options: Vec<String>,
    process: Option<Killed>,
}

impl Postgres {
    /// Makes a database and starts the server, with these options.
    ///
    /// # Panics
    /// If that fails.
    #[must_use]
    pub fn start(options: &[&str]) -> Self {
        let mut server = Self::prepare(options);
        let mut init = server.command("initdb");
        init.args(["--auth", "trust", "--username", "postgres"]);
        init.arg(server.data()).stdout(Stdio::null());
        let made = init.status().expect("initdb");
        assert!(made.success(), "no database");
        server.revive();
        server
    }

    /// A server without files.
    pub(super) fn prepare(options: &[&str]) -> Self {
        let server = Self {
            programs: programs(),
            port: free_port(),
            options: options.iter().map(ToString::to_string).collect(),
            directory: tempfile::tempdir().expect("a directory"),
            process: None,
        };
        if is_root() {
            let owned = Command::new("chown")
                .arg("postgres")
                .arg(server.home())
                .status();
            assert!(
                owned.is_ok_and(|status| status.success()),
                "no user postgres"
            );
        }
        server
    }

    /// `postgres://…`
    #[must_use]
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// Sends SIGKILL to the server; its processes end by themselves.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// Starts it again, with the same port and files, and waits until it answers.
    ///
    /// # Panics
    /// If it does not start.
    pub fn revive(&mut self) {
        // After a kill, it refuses to start until the last of the earlier processes is gone.
        wait_until("PostgreSQL answers", || {
            let is_gone = |killed: &mut Killed| killed.0.try_wait().is_ok_and(|end| end.is_some());
            if self.process.as_mut().is_none_or(is_gone) {
                self.process = Some(self.spawn());
            }
            self.is_up()
        });
    }

    fn spawn(&self) -> Killed {
        let mut command = self.command("postgres");
        command
            .arg("-D")
            .arg(self.data())
            .arg("-k")
            .arg(self.home());
        command.args([
            "-p",
            &self.port.to_string(),
            "-c",
            "listen_addresses=127.0.0.1",
        ]);
        command.args(["-c", "max_connections=200", "-c", "log_min_messages=fatal"]);
        command.args(&self.options);
        Killed::start(command)
    }

    /// A program of PostgreSQL, which refuses to run as root.
    pub(super) fn command(&self, program: &str) -> Command {
        let mut outer = Command::new("setpriv");
        if is_root() {
            outer.args([
                "--reuid",
                "postgres",
                "--regid",
                "postgres",
                "--clear-groups",
            ]);
        }
        outer.args(["--pdeathsig", "KILL"]);
        outer.arg("--").arg(self.programs.join(program));
        outer.stdin(Stdio::null()).stderr(Stdio::null());
        outer
    }

    fn is_up(&self) -> bool {
        let port = self.port.to_string();
        let mut ready = Command::new(self.programs.join("pg_isready"));
        let ready = ready.args(["-q", "-h", "127.0.0.1", "-p", &port]).status();
        ready.is_ok_and(|status| status.success())
            && TcpStream::connect(("127.0.0.1", self.port)).is_ok()
    }

    fn home(&self) -> &Path {
        self.directory.path()
    }

    pub(super) fn data(&self) -> PathBuf {
        self.home().join("data")
    }
}

/// Debian keeps the programs of each version beside each other; the newest counts.
fn programs() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten();
    let versions = versions.filter_map(|entry| Some(entry.ok()?.path().join("bin")));
    let newest = versions.filter(|path| path.join("initdb").exists()).max();
    newest.expect("PostgreSQL: run scripts/setup services")
}

fn is_root() -> bool {
    std::fs::read_dir("/root").is_ok()
}
