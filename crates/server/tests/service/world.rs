//! Starts the programs, and gets tokens from them.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use sealstone_server::client::Client;
use sealstone_token::privacypass::{Token, header};
use serde_json::Value;
use tempfile::TempDir;

/// A running program. It is killed when this value is dropped.
pub(crate) struct Service {
    process: Child,
    /// The line that it printed when it was ready.
    pub(crate) ready: Value,
}

impl Service {
    /// Waits until it is ready.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::try_start(arguments).unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
    }

    /// Waits until it is ready; its standard error goes elsewhere.
    pub(crate) fn start_with_errors(arguments: &[&str], errors: Stdio) -> Self {
        let (process, line) = spawn(program(arguments).stderr(errors));
        let ready = serde_json::from_str(&line).expect("JSON");
        Self { process, ready }
    }

    /// Waits until it is ready, or has ended. The error is its output.
    pub(crate) fn try_start(arguments: &[&str]) -> Result<Self, String> {
        Self::try_run(&mut program(arguments))
    }

    fn try_run(command: &mut Command) -> Result<Self, String> {
        let (mut process, line) = spawn(command.stderr(Stdio::piped()));
        let mut errors = process.stderr.take().expect("a pipe");
        if line.is_empty() {
            let mut said = String::new();
            errors.read_to_string(&mut said).expect("text");
            process.wait().expect("an end");
            return Err(said);
        }
        std::thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
        let ready = serde_json::from_str(&line).expect("JSON");
        Ok(Self { process, ready })
    }

    pub(crate) fn url(&self) -> &str {
        self.ready["url"].as_str().expect("a URL")
    }

    pub(crate) fn address(&self) -> &str {
        self.ready["listen"].as_str().expect("an address")
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(pid, signal).expect("a process");
    }

    /// SIGTERM. Returns the exit code.
    pub(crate) fn stop(mut self) -> Option<i32> {
        self.signal(rustix::process::Signal::TERM);
        self.process.wait().expect("an end").code()
    }
}

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealstone-server"));
    command.args(arguments);
    command
}

/// A program, and the first line that it prints.
fn spawn(command: &mut Command) -> (Child, String) {
    let command = command.stdout(Stdio::piped());
    let mut process = command.spawn().expect("a program");
    let mut line = String::new();
    let output = process.stdout.take().expect("a pipe");
    BufReader::new(output).read_line(&mut line).expect("a line");
    (process, line)
}

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Directories for an issuer and a verifier.
pub(crate) struct World {
    directory: TempDir,
    has_rsa: bool,
}

impl World {
    /// `issuer` and `configured` start one with tokens of type 1 only, whatever the configuration
    /// says. An RSA key takes a second of a processor.
    pub(crate) fn new() -> Self {
        Self {
            directory: tempfile::tempdir().expect("a directory"),
            has_rsa: false,
        }
    }

    /// Its issuer has the types of its configuration: by default also tokens that another verifier
    /// can verify, which needs RSA.
    pub(crate) fn with_rsa() -> Self {
        Self {
            has_rsa: true,
            ..Self::new()
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// An issuer with more options.
    pub(crate) fn issuer(&self, more: &[&str]) -> Service {
        let data = self.text("issuer");
        let arguments = [&["issuer", "--data", &data], listen(more), more].concat();
        let mut command = program(&arguments);
        if !self.has_rsa {
            command.env("SEALSTONE_SERVER_KEYS__TYPES", "[1]");
        }
        Service::try_run(&mut command).unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
    }

    /// An issuer with the text of a configuration.
    pub(crate) fn configured(&self, text: &str) -> Service {
        let config = self.path("config.toml");
        std::fs::write(&config, text).expect("a file");
        self.issuer(&["--config", &config.display().to_string()])
    }

    pub(crate) fn verifier(&self, issuer: &str, more: &[&str]) -> Service {
        self.try_verifier(issuer, more).expect("a verifier")
    }

    pub(crate) fn try_verifier(&self, issuer: &str, more: &[&str]) -> Result<Service, String> {
        let data = self.text("verifier");
        let first = ["verifier", "--data", &data, "--issuer", issuer];
        Service::try_start(&[&first, listen(more), more].concat())
    }
}

/// A free port, unless the test needs the earlier one.
fn listen(more: &[&str]) -> &'static [&'static str] {
    match more.contains(&"--listen") {
        true => &[],
        false => &["--listen", "127.0.0.1:0"],
    }
}

pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("a time after 1970").as_secs()
}

/// A token for the verifier's challenge.
pub(crate) fn token(issuer: &str, verifier: &str) -> Token {
    let client = Client::new(issuer);
    let offer = client
        .challenge(&format!("{verifier}/verify"))
        .expect("a challenge");
    client.token(&offer.challenge, now()).expect("a token")
}

/// The status and the reason of `GET /verify` with this token.
pub(crate) fn redeem(verifier: &str, token: &Token) -> (u16, String) {
    let url = format!("{verifier}/verify");
    let shown = Client::new("").get(&url, Some(&header::authorization(token)));
    let answer = shown.expect("an answer");
    let reason = answer.json()["reason"].as_str().unwrap_or("").to_owned();
    (answer.status, reason)
}

/// Posts JSON; the status and the value of the answer.
pub(crate) fn post(url: &str, body: &Value) -> (u16, Value) {
    let body = body.to_string();
    let answer = Client::new("").post(url, "application/json", body.as_bytes(), &[]);
    let answer = answer.expect("an answer");
    (answer.status, answer.json())
}

pub(crate) fn get(url: &str) -> (u16, Value) {
    let answer = Client::new("").get(url, None).expect("an answer");
    (answer.status, answer.json())
}

/// The last part of a problem's type.
pub(crate) fn problem(value: &Value) -> &str {
    let name = value["type"].as_str().unwrap_or("");
    name.strip_prefix("urn:sealstone:problem:").unwrap_or("")
}

pub(crate) fn mode_of(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    let metadata = path.metadata().expect("a file");
    metadata.permissions().mode() & 0o777
}
