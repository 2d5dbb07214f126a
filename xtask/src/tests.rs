//! Runs the workspace's tests, and says at the end which of them were skipped.
//!
//! A test that lacks its vectors or a tool prints `skipped: …` and ends; cargo calls that "ok" and
//! hides the line. This shows it. The published vectors that the tests ran are compared with the
//! table of ASSURANCE.md: what the tests print is hidden too.

use crate::assurance::{self, Set};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Whether the tests passed, and ran the vectors of ASSURANCE.md if those are checked: then the
/// options must not leave tests out.
pub(crate) fn run(root: &Path, options: &[&str], checks_vectors: bool) -> Result<bool, String> {
    let mut cargo = Command::new("cargo");
    cargo
        .args(["test", "--workspace", "--no-fail-fast"])
        .args(options);
    cargo
        .args(["--", "--show-output"])
        .current_dir(root)
        .stdout(Stdio::piped());
    let mut child = cargo.spawn().map_err(|e| format!("cargo: {e}"))?;
    let mut relay = Relay::default();
    let mut out = std::io::stdout().lock();
    let said = BufReader::new(child.stdout.take().ok_or("cargo has no output")?);
    for line in said.split(b'\n') {
        let line = line.map_err(|e| format!("cargo: {e}"))?;
        if relay.shows(&String::from_utf8_lossy(&line)) {
            let shown = out.write_all(&line).and_then(|()| out.write_all(b"\n"));
            shown
                .and_then(|()| out.flush())
                .map_err(|e| format!("standard output: {e}"))?;
        }
    }
    let passed = child.wait().map_err(|e| format!("cargo: {e}"))?.success();
    relay
        .tell(&mut out)
        .map_err(|e| format!("standard output: {e}"))?;
    if passed && checks_vectors {
        assurance::check_vectors(root, relay.vectors)?;
    }
    Ok(passed)
}

/// Passes on what cargo prints without `--show-output`, and notes what was skipped.
#[derive(Default)]
struct Relay {
    test: String,
    is_hidden: bool,
    /// Each test, and why.
    skipped: Vec<String>,
    vectors: Vec<Set>,
}

impl Relay {
    fn shows(&mut self, line: &str) -> bool {
        let heading = line
            .strip_prefix("---- ")
            .and_then(|rest| rest.strip_suffix(" stdout ----"));
        if let Some(test) = heading {
            self.test = test.into();
        }
        if line.starts_with("successes:") {
            self.is_hidden = true;
        } else if line.starts_with("failures:") || line.starts_with("test result:") {
            self.is_hidden = false;
        }
        if let Some(reason) = line.strip_prefix("skipped: ") {
            self.skipped
                .push(format!("{}: {}", self.test, reason.trim()));
        }
        self.vectors.extend(Set::read(line));
        !self.is_hidden
    }

    fn tell(&self, out: &mut impl Write) -> std::io::Result<()> {
        let colon = if self.skipped.is_empty() { "" } else { ":" };
        writeln!(out, "\n{} tests were skipped{colon}", self.skipped.len())?;
        self.skipped
            .iter()
            .try_for_each(|line| writeln!(out, "  {line}"))
    }
}
