//! A directory with Alice, Bob and a file, and the command in this environment.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// The least allowed cost, so that tests are fast.
pub(crate) const PROFILE: &str = "--profile=custom:m=7MiB,t=5,p=1";
pub(crate) const PASSPHRASE: &str = "correct horse battery staple";

pub(crate) struct World(TempDir);

impl World {
    /// Alice and Bob have passports; Bob has approved Alice.
    pub(crate) fn new() -> Self {
        let world = Self::empty();
        for name in ["alice", "bob"] {
            let passport = format!("{name}.passport");
            world.done(&[
                "passport", "new", "-q", "-o", &passport, "--label", name, PROFILE,
            ]);
        }
        world.done(&["trust", "approve", "-q", "--yes", "alice.pub"]);
        world.write("plan.txt", b"attack at dawn\n");
        world
    }

    /// Bob is approved too, so sealing to him gives no warning.
    pub(crate) fn with_bob_approved() -> Self {
        let world = Self::new();
        world.done(&["trust", "approve", "-q", "--yes", "bob.pub"]);
        world
    }

    /// An empty world.
    pub(crate) fn empty() -> Self {
        let world = Self(tempfile::tempdir().unwrap());
        world.write("passphrase", PASSPHRASE.as_bytes());
        fs::set_permissions(world.path("passphrase"), fs::Permissions::from_mode(0o600)).unwrap();
        world
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Everything in the directory, hidden files too.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    pub(crate) fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.path(name)).unwrap().permissions().mode() & 0o7777
    }

    /// The command with these arguments.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = self.bare(env!("CARGO_BIN_EXE_sealstone"));
        command.args(args).env("SEALSTONE_PASSPHRASE", PASSPHRASE);
        command
    }

    /// The command with no ignored signals. `nohup` and background jobs of scripts ignore some.
    pub(crate) fn heeding_signals(&self, args: &[&str]) -> Command {
        let mut command = self.bare("env");
        command
            .arg("--default-signal=HUP,INT,TERM")
            .arg(env!("CARGO_BIN_EXE_sealstone"))
            .args(args);
        command
    }

    /// A line for bash, in which `sealstone` is the command.
    pub(crate) fn bash(&self, line: &str) -> Command {
        let directory = Path::new(env!("CARGO_BIN_EXE_sealstone")).parent().unwrap();
        let path = format!("{}:{}", directory.display(), std::env::var("PATH").unwrap());
        let mut command = self.bare("bash");
        command
            .args(["-c", line])
            .env("PATH", path)
            .env("SEALSTONE_PASSPHRASE", PASSPHRASE);
        command
    }

    /// Runs a line with the directory `disk` as a new file system in memory with these options.
    /// Returns exit code and messages; `None` if this machine does not allow it.
    pub(crate) fn on_a_disk(
        &self,
        disk: &str,
        options: &str,
        line: &str,
        environment: &[(&str, Option<&OsStr>)],
    ) -> Option<(i32, String)> {
        let line = format!(
            "unshare -rm bash -c 'mount -t tmpfs -o mode=700,{options} none {disk} || exit 99\n{line}'"
        );
        let mut command = self.bash(&line);
        for (name, value) in environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let output = command.output().unwrap();
        let said = said(&output);
        match output.status.code() {
            Some(99) | None => {
                println!("skipped: no file system of its own: {said}");
                None
            }
            Some(1) if said.contains("unshare") => {
                println!("skipped: no name space of its own: {said}");
                None
            }
            Some(code) => Some((code, said)),
        }
    }

    fn bare(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.0.path()).env_clear();
        command
            .env("HOME", self.0.path())
            .env("XDG_DATA_HOME", self.path("data"))
            .env("PATH", "/usr/bin:/bin");
        command.stdin(Stdio::null());
        command
    }

    /// Runs it; it must succeed.
    #[track_caller]
    pub(crate) fn done<S: AsRef<OsStr>>(&self, args: &[S]) -> Vec<u8> {
        succeed(&mut self.command(args))
    }

    /// Runs it. It must fail with this code. Returns its messages.
    #[track_caller]
    pub(crate) fn refused<S: AsRef<OsStr>>(&self, args: &[S], code: i32) -> String {
        refuse(&mut self.command(args), code)
    }
}

/// Runs it; returns its standard output.
#[track_caller]
pub(crate) fn succeed(command: &mut Command) -> Vec<u8> {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{:?}\n{}",
        output.status,
        said(&output)
    );
    output.stdout
}

/// The output for machines.
pub(crate) fn json(printed: &[u8]) -> Value {
    serde_json::from_slice(printed).unwrap()
}

/// Runs it. It must fail with this code and write nothing to standard output. Returns its messages.
#[track_caller]
pub(crate) fn refuse(command: &mut Command, code: i32) -> String {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{}", said(&output));
    assert!(
        output.stdout.is_empty(),
        "it wrote {} bytes",
        output.stdout.len()
    );
    said(&output)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Makes a program that tests run. Another process writes it: where this one does, a child that
/// another thread starts meanwhile holds the file open, and the system runs no file that is open
/// for writing (ETXTBSY).
pub(crate) fn executable(path: impl AsRef<OsStr>, content: &[u8]) {
    let mut install = Command::new("install");
    install.args(["-m", "755", "/dev/stdin"]).arg(path);
    let mut install = install.stdin(Stdio::piped()).spawn().unwrap();
    install.stdin.take().unwrap().write_all(content).unwrap();
    assert!(install.wait().unwrap().success());
}
