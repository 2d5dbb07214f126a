//! Runs the workspace's tests, and says at the end which of them were skipped.
//!
//! cargo runs one program of tests after the other, and many of them wait most of their time: for
//! servers, for clocks, for commands that are killed. This runs two programs at a time, and prints
//! what a program said when it has ended.
//!
//! A test that lacks its vectors or a tool prints `skipped: …` and ends; the program calls that
//! "ok" and hides the line. This shows it. The published vectors that the tests ran are compared
//! with the table of ASSURANCE.md: what the tests print is hidden too.

use crate::assurance::{self, Set};
use crate::programs::{self, Program};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many programs run at a time. Each runs as many tests at a time as there are cores.
const AT_A_TIME: usize = 2;

/// The programs that take longest. They start first, so that none of them runs alone at the end.
const LONGEST: &[&str] = &["behaviour", "service", "campaign", "c", "sealstone_proofs"];

/// Whether the tests passed, and ran the vectors of ASSURANCE.md if those are checked: then the
/// options must not leave tests out.
pub(crate) fn run(root: &Path, options: &[&str], checks_vectors: bool) -> Result<bool, String> {
    let mut programs = programs::build(root, options)?;
    let place = |target: &str| LONGEST.iter().position(|long| *long == target);
    programs.sort_by_key(|program| place(&program.target).unwrap_or(LONGEST.len()));
    let programs = programs.iter().map(Job::program);
    let queue = Mutex::new(programs.chain([Job::documentation(root, options)]));
    let report = Mutex::default();
    std::thread::scope(|scope| {
        let workers = [(); AT_A_TIME].map(|()| scope.spawn(|| work(&queue, &report)));
        let ended = workers.map(|worker| worker.join().expect("a worker returns its errors"));
        ended.into_iter().collect::<Result<(), String>>()
    })?;
    let report = report.into_inner().unwrap_or_else(PoisonError::into_inner);
    print(&report.summary())?;
    let passed = report.failed.is_empty();
    if passed && checks_vectors {
        assurance::check_vectors(root, report.vectors)?;
    }
    Ok(passed)
}

/// What runs beside others.
struct Job {
    name: String,
    command: Command,
}

impl Job {
    fn program(program: &Program) -> Self {
        let mut command = program.command();
        command.arg("--show-output");
        Self {
            name: format!("{} of {}", program.target, program.package),
            command,
        }
    }

    /// The examples in the documentation, which cargo builds as it runs them.
    fn documentation(root: &Path, options: &[&str]) -> Self {
        let mut command = Command::new("cargo");
        command
            .args(["test", "--workspace", "--doc", "--no-fail-fast"])
            .args(options)
            .args(["--", "--show-output"])
            .current_dir(root);
        Self {
            name: "examples in the documentation".into(),
            command,
        }
    }
}

/// Runs jobs until none is left.
fn work(queue: &Mutex<impl Iterator<Item = Job>>, report: &Mutex<Report>) -> Result<(), String> {
    while let Some(mut job) = lock(queue).next() {
        let begun = Instant::now();
        let done = job.command.output();
        let done = done.map_err(|e| format!("{}: {e}", job.name))?;
        lock(report).add(&job.name, &done, begun.elapsed())?;
    }
    Ok(())
}

/// No thread panics while it holds a lock here.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Default)]
struct Report {
    /// Each test, and why.
    skipped: Vec<String>,
    vectors: Vec<Set>,
    /// Each program, and how it ended.
    failed: Vec<String>,
}

impl Report {
    /// Notes how a program ended, and prints what it says without `--show-output`.
    fn add(&mut self, name: &str, done: &Output, time: Duration) -> Result<(), String> {
        if !done.status.success() {
            self.failed.push(format!("{name}: {}", done.status));
        }
        let said = self.shown(&String::from_utf8_lossy(&done.stdout));
        let errors = String::from_utf8_lossy(&done.stderr);
        let seconds = time.as_secs_f64();
        print(&format!(
            "\n{name}, {seconds:.1} s, {}\n{said}{errors}",
            done.status
        ))
    }

    /// What is shown of a program's output. The vectors and the skipped tests in it are noted.
    fn shown(&mut self, said: &str) -> String {
        let (mut test, mut is_hidden, mut shown) = ("", false, String::new());
        for line in said.lines() {
            let heading = line
                .strip_prefix("---- ")
                .and_then(|rest| rest.strip_suffix(" stdout ----"));
            test = heading.unwrap_or(test);
            if line.starts_with("successes:") {
                is_hidden = true;
            } else if line.starts_with("failures:") || line.starts_with("test result:") {
                is_hidden = false;
            }
            if let Some(reason) = line.strip_prefix("skipped: ") {
                self.skipped.push(format!("{test}: {}", reason.trim()));
            }
            self.vectors.extend(Set::read(line));
            if !is_hidden {
                shown.extend([line, "\n"]);
            }
        }
        shown
    }

    fn summary(&self) -> String {
        let skipped = list(&self.skipped, "tests were skipped");
        match self.failed.as_slice() {
            [] => skipped,
            failed => skipped + &list(failed, "programs failed"),
        }
    }
}

fn list(items: &[String], what: &str) -> String {
    let colon = if items.is_empty() { "" } else { ":" };
    let lines: String = items.iter().map(|item| format!("  {item}\n")).collect();
    format!("\n{} {what}{colon}\n{lines}", items.len())
}

fn print(text: &str) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    let printed = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    printed.map_err(|e| format!("standard output: {e}"))
}
