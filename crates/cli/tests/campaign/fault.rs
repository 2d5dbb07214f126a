//! A kill or an error of the system at every step that changes something. `strace` counts the
//! system calls.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use crate::content::{Open, Seal};
use crate::rotation::Rotation;
use crate::scale::{long_tests, say, scaled, skip};
use crate::slots::{self, NewPassport, Slot};
use crate::store::{self, Store};
use crate::victim::{End, Leftover, Victim};
use crate::world::{Checked, Outcome, finish};

/// The fault at a system call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The process is killed instead.
    Kill,
    /// The disk is full.
    NoSpace,
}

/// Calls that change files, with their names on all machines. A question mark means: if this
/// machine has the call.
const CHANGES: &str = "write,writev,pwrite64,fsync,fdatasync,?rename,?renameat,renameat2,?link,linkat,fchmod,ftruncate";
/// All calls on files, including reading and the loading of libraries.
const EVERYTHING: &str = "%file,%desc";
/// A few chunks.
const LEN: u64 = 3 << 20;

#[test]
fn killed_at_every_step_of_a_passport() {
    let victims = [slots::Verb::Add, slots::Verb::Change, slots::Verb::Remove];
    let slots = victims.map(|verb| Slot::new(verb, Leftover::Nothing));
    let chosen = scaled(&slots[1..2], &slots[..]);
    chosen
        .iter()
        .for_each(|victim| campaign(victim, scaled(CHANGES, EVERYTHING), Fault::Kill));
    campaign(&NewPassport::new(Leftover::Nothing), CHANGES, Fault::Kill);
}

#[test]
fn killed_at_every_step_of_a_rotation() {
    campaign(&Rotation::new(), CHANGES, Fault::Kill);
}

#[test]
fn killed_at_every_step_of_a_trust_store() {
    for verb in [store::Verb::Approve, store::Verb::Rekey] {
        campaign(&Store::new(verb), scaled(CHANGES, EVERYTHING), Fault::Kill);
    }
}

#[test]
fn no_space_at_every_step() {
    campaign(
        &Slot::new(slots::Verb::Change, Leftover::Nothing),
        CHANGES,
        Fault::NoSpace,
    );
    campaign(
        &NewPassport::new(Leftover::Nothing),
        CHANGES,
        Fault::NoSpace,
    );
    campaign(&Rotation::new(), CHANGES, Fault::NoSpace);
    for verb in [store::Verb::Approve, store::Verb::Rekey] {
        campaign(&Store::new(verb), CHANGES, Fault::NoSpace);
    }
}

#[test]
fn killed_at_every_step_of_a_file() {
    let (seal, open) = (
        Seal::of_len(LEN, Leftover::Nothing),
        Open::of_len(LEN, Leftover::Nothing),
    );
    // The many writes of long content are alike.
    let calls = "linkat,fchmod,fsync,openat";
    campaign(&seal, calls, Fault::Kill);
    campaign(&open, calls, Fault::Kill);
}

fn campaign(victim: &dyn Victim, calls: &str, fault: Fault) {
    if let Err(why) = can_trace() {
        return skip("faults at every step", &why);
    }
    let steps =
        everywhere(victim, calls, fault).unwrap_or_else(|e| panic!("{}: {e}", victim.name()));
    say(&format!(
        "{}: {} at each of {steps} steps",
        victim.name(),
        fault.name()
    ));
    assert!(steps > 0, "{}: no step was found", victim.name());
}

/// Tries all `calls` of the command, one run for each. Returns their number.
pub(crate) fn everywhere(victim: &dyn Victim, calls: &str, fault: Fault) -> Checked<u32> {
    let mut steps = 0;
    for (call, most) in calls_made(victim, calls)? {
        for nth in 1..=most.unwrap_or(u32::MAX) {
            let hit = at(victim, &call, nth, fault);
            if !hit.map_err(|e| format!("{call} number {nth}: {e}"))? {
                break;
            }
            steps += 1;
        }
    }
    Ok(steps)
}

/// Which of `calls` the command makes, and how often. If it has several threads, the number is not
/// known: each run may share the work in another way.
fn calls_made(victim: &dyn Victim, calls: &str) -> Checked<BTreeMap<String, Option<u32>>> {
    victim.reset();
    let (outcome, log) = run(victim, &format!("trace={calls}"));
    outcome.succeeded()?;
    Ok(counted(&log))
}

/// The calls of a log, and how often each was made if one thread alone is in the log.
fn counted(log: &str) -> BTreeMap<String, Option<u32>> {
    // THREAD NAME(ARGUMENTS…
    let call = |line| {
        let (thread, rest) = str::split_once(line, ' ')?;
        let name = rest.split_once('(')?.0.trim();
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        is_name.then_some((thread, name))
    };
    let made: Vec<(&str, &str)> = log.lines().filter_map(call).collect();
    let is_alone = made.windows(2).all(|two| two[0].0 == two[1].0);
    let mut counts = BTreeMap::new();
    for (_, name) in made {
        *counts.entry(name.to_owned()).or_insert(0) += 1;
    }
    let counts = counts.into_iter();
    counts
        .map(|(name, count)| (name, is_alone.then_some(count)))
        .collect()
}

#[test]
fn calls_are_counted_for_one_thread_alone() {
    let log = "7 write(2, \"a\", 1) = 1\n7 fsync(3) = 0\n7 write(2, \"b\", 1) = 1\n\
               7 +++ exited with 0 +++\n";
    let name = |name: &str, count| (name.to_owned(), count);
    let alone = [name("fsync", Some(1)), name("write", Some(2))];
    assert_eq!(counted(log), BTreeMap::from(alone));
    let more = format!("{log}8 write(2, \"b\", 1) = 1\n");
    let several = [name("fsync", None), name("write", None)];
    assert_eq!(counted(&more), BTreeMap::from(several));
}

/// Whether there is an `nth` such call. If so, the fault was in it, and the check passed after it.
fn at(victim: &dyn Victim, call: &str, nth: u32, fault: Fault) -> Checked<bool> {
    victim.reset();
    let (outcome, log) = run(
        victim,
        &format!("inject={call}:{}:when={nth}", fault.effect()),
    );
    let hit = log.lines().position(|line| fault.shows_in(line));
    let hit = hit.map(|at| beginning(&log, at));
    let end = fault.check(&outcome, hit)?;
    victim.check(end).map(|()| hit.is_some())
}

/// The line in which the call of line `at` begins: the line itself, or an earlier line of its
/// process if lines of another process are between.
fn beginning(log: &str, at: usize) -> &str {
    let lines: Vec<&str> = log.lines().take(at + 1).collect();
    let (last, before) = lines.split_last().expect("a line");
    let Some((process, _)) = last.split_once(" <... ") else {
        return last;
    };
    let process = format!("{} ", process.trim());
    let is_begun = |line: &&&str| {
        line.trim_start().starts_with(&process) && line.ends_with("<unfinished ...>")
    };
    before.iter().rev().find(is_begun).unwrap_or(last)
}

#[test]
fn a_call_begins_before_another_process_comes_between() {
    let log = "7 write(2, \"a\", 1 <unfinished ...>\n77 fsync(3 <unfinished ...>\n\
               8 write(3, \"b\", 1) = 1\n\
               7 <... write resumed>)  = -1 ENOSPC (No space left) (INJECTED)\n\
               8 write(1, \"c\", 1) = -1 ENOSPC (No space left) (INJECTED)";
    assert!(beginning(log, 3).starts_with("7 write(2,"));
    assert!(beginning(log, 4).starts_with("8 write(1,"));
}

/// Runs the command under `strace`, and returns the log.
fn run(victim: &dyn Victim, expression: &str) -> (Outcome, String) {
    let world = victim.world();
    let log = world.path("strace.log");
    let strace = ["strace", "-f", "-qq", "-o"].map(OsString::from);
    let options = [
        log.clone().into(),
        "-e".into(),
        expression.into(),
        "--".into(),
    ];
    let argv: Vec<OsString> = strace
        .into_iter()
        .chain(options)
        .chain(victim.argv())
        .collect();
    let outcome = finish(world.command(&argv).spawn().unwrap());
    (outcome, fs::read_to_string(log).unwrap())
}

impl Fault {
    fn name(self) -> &'static str {
        match self {
            Self::Kill => "killed",
            Self::NoSpace => "no space",
        }
    }

    fn effect(self) -> &'static str {
        match self {
            Self::Kill => "signal=KILL",
            Self::NoSpace => "error=ENOSPC",
        }
    }

    fn shows_in(self, line: &str) -> bool {
        match self {
            Self::Kill => line.contains("killed by SIGKILL"),
            Self::NoSpace => line.contains("(INJECTED)"),
        }
    }

    /// The end of the command, if it is an allowed one.
    fn check(self, outcome: &Outcome, hit: Option<&str>) -> Checked<End> {
        match (self, hit) {
            (_, None) => outcome.succeeded().map(|()| End::Done),
            (Self::Kill, _) if outcome.status.signal() == Some(9) => Ok(End::Cut),
            (Self::Kill, _) => Err(format!("killed, but ended with {}", outcome.status)),
            // A message that cannot be written is no reason to fail, and no message is needed.
            (Self::NoSpace, Some(line)) if line.contains("write(2,") => {
                Ok(match outcome.status.success() {
                    true => End::Done,
                    false => End::Cut,
                })
            }
            (Self::NoSpace, Some(_)) => outcome
                .refused(&[3], "No space left on device")
                .map(|()| End::Cut),
        }
    }
}

/// Whether processes can be traced here.
pub(crate) fn can_trace() -> Checked {
    let mut strace = Command::new("strace");
    strace.args([
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        "inject=write:signal=KILL:when=1000",
        "true",
    ]);
    match strace.stderr(Stdio::piped()).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(e) => Err(format!("strace: {e}; apt-get install strace")),
    }
}

long_tests!(
    killed_at_every_step_of_a_passport,
    killed_at_every_step_of_a_rotation,
    killed_at_every_step_of_a_trust_store,
    no_space_at_every_step,
    killed_at_every_step_of_a_file,
);
