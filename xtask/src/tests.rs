//! Runs the workspace's tests, and says at the end which of them were skipped.
//!
//! cargo runs one program of tests after the other, and many of them wait half of their time: for
//! servers, for clocks, for commands that are killed. Scripts that test use one core of several.
//! This runs three at a time: the programs from the longest on, beside the commands of `--also`. It
//! prints what each of them said when it has ended.
//!
//! A test that lacks its vectors or a tool prints `skipped: …` and ends; the program calls that
//! "ok" and hides the line. This shows it. The published vectors that the tests ran are compared
//! with the table of ASSURANCE.md: what the tests print is hidden too.

use crate::assurance::{self, Set};
use crate::programs::{self, Program};
use std::collections::VecDeque;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The slowest programs, the slowest last. The run begins with the slowest one, beside the first
/// command, so that neither of them runs alone at the end.
const LONG: &[&str] = &[
    "timestamp",
    "wiped",
    "others",
    "loops",
    "models",
    "faults",
    "sealstone_proofs",
    "c",
    "service",
    "campaign",
    "behaviour",
];

/// The programs and commands to run.
#[derive(Default)]
struct Plan<'a> {
    /// Whether the vectors that the tests ran are compared with those of ASSURANCE.md: then the
    /// options must not leave tests out.
    checks_vectors: bool,
    /// Commands of the shell that need the workspace built.
    also: Vec<&'a str>,
    options: &'a [&'a str],
}

impl<'a> Plan<'a> {
    fn parse(mut words: &'a [&'a str]) -> Self {
        let mut plan = Self::default();
        loop {
            match words {
                ["--check-vectors", rest @ ..] => (plan.checks_vectors, words) = (true, rest),
                ["--also", command, rest @ ..] => {
                    plan.also.push(command);
                    words = rest;
                }
                _ => {
                    plan.options = words;
                    return plan;
                }
            }
        }
    }
}

/// Whether everything passed.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<bool, String> {
    let Plan {
        checks_vectors,
        also,
        options,
    } = Plan::parse(words);
    let mut programs = programs::build(root, options)?;
    programs.sort_by_key(|program| LONG.iter().position(|long| *long == program.target));
    let also = also.iter().map(|command| Job::shell(root, command));
    let documentation = Job::documentation(root, options);
    let programs = programs.iter().map(Job::program);
    let report = side_by_side(also.chain([documentation]).chain(programs).collect())?;
    print(&report.summary())?;
    let passed = report.failed.is_empty();
    if passed && checks_vectors {
        assurance::check_vectors(root, report.vectors)?;
    }
    Ok(passed)
}

/// A job that runs beside others.
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

    fn shell(root: &Path, text: &str) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", text]).current_dir(root);
        Self {
            name: text.into(),
            command,
        }
    }

    /// The examples in the documentation, which rustdoc builds as it runs them: those of a crate as
    /// one program, but with `--show-output` each as one of its own. No example skips anything.
    fn documentation(root: &Path, options: &[&str]) -> Self {
        let mut command = Command::new("cargo");
        command
            .args(["test", "--workspace", "--doc", "--no-fail-fast"])
            .args(options)
            .current_dir(root);
        Self {
            name: "examples in the documentation".into(),
            command,
        }
    }

    fn run(mut self, report: &Mutex<Report>) -> Result<(), String> {
        let begun = Instant::now();
        let done = self.command.output();
        let done = done.map_err(|e| format!("{}: {e}", self.name))?;
        lock(report).add(&self.name, &done, begun.elapsed())
    }
}

/// Takes one of the jobs that are left.
type Next = fn(&mut VecDeque<Job>) -> Option<Job>;

/// The jobs that run at a time: one more than the processors of a small machine, because each waits
/// now and then. One thread takes the first of those that are left, the others the last.
const AT_A_TIME: [Next; 3] = [VecDeque::pop_front, VecDeque::pop_back, VecDeque::pop_back];

/// Runs the jobs, some at a time.
fn side_by_side(jobs: VecDeque<Job>) -> Result<Report, String> {
    let (jobs, report) = (Mutex::new(jobs), Mutex::default());
    let work = |next: Next| {
        loop {
            // A `while let` would hold the lock while the job runs.
            let job = next(&mut lock(&jobs));
            match job {
                Some(job) => job.run(&report)?,
                None => return Ok::<_, String>(()),
            }
        }
    };
    std::thread::scope(|scope| {
        let threads = AT_A_TIME.map(|next| scope.spawn(move || work(next)));
        let ended = threads.map(|thread| thread.join().expect("the thread returns its errors"));
        ended.into_iter().collect::<Result<(), _>>()
    })?;
    Ok(report.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// No thread panics while it holds a lock here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Default)]
struct Report {
    /// Each skipped test, and the reason.
    skipped: Vec<String>,
    vectors: Vec<Set>,
    /// Each failed program, and its result.
    failed: Vec<String>,
}

impl Report {
    /// Records the result of a program, and prints its output without `--show-output`.
    fn add(&mut self, name: &str, done: &Output, time: Duration) -> Result<(), String> {
        if !done.status.success() {
            self.failed.push(format!("{name}: {}", done.status));
        }
        let said = self.shown(name, &String::from_utf8_lossy(&done.stdout));
        let errors = String::from_utf8_lossy(&done.stderr);
        let seconds = time.as_secs_f64();
        print(&format!(
            "\n{name}, {seconds:.1} s, {}\n{said}{errors}",
            done.status
        ))
    }

    /// The shown part of a program's output. Records its vectors and skipped tests. A program
    /// without headings of tests counts as one test.
    fn shown(&mut self, program: &str, said: &str) -> String {
        let (mut test, mut is_hidden, mut shown) = (program, false, String::new());
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
