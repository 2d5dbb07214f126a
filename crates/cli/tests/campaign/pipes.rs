//! The other end of a pipe closes.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::process::{Command, Stdio};
use std::thread;

use crate::content::{OPEN, SEAL, write_pattern};
use crate::world::{Checked, Outcome, World, finish, sealstone, words};

const LEN: u64 = 8 << 20;
/// The options that may follow [`world`].
pub(crate) const LISTINGS: [&str; 10] = [
    "passport show ../keys/bob.pub",
    "passport show ../keys/bob.passport",
    "passport slot list ../keys/bob.passport",
    "trust list",
    "trust log",
    "trust check",
    "inspect in.sealed",
    "completions bash",
    "man",
    "passport export ../keys/bob.passport --passphrase-file ../keys/old",
];

pub(crate) fn world() -> World {
    let world = World::new();
    write_pattern(&world.work("in"), LEN);
    world
        .run(&[&SEAL[..], &["in"]].concat())
        .succeeded()
        .unwrap();
    world
        .run(&["trust", "approve", "--yes", "../keys/bob.pub"])
        .succeeded()
        .unwrap();
    world
}

/// The command, whose reader closes after `len` bytes.
pub(crate) fn read_only(mut command: Command, len: usize) -> Outcome {
    let mut child = command.spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut vec![0; len]).unwrap();
    drop(stdout);
    finish(child)
}

/// The command without a reader of its messages.
fn to_nobody(mut command: Command) -> Outcome {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    finish(command.stdout(writer).spawn().unwrap())
}

/// Checks its exit code, and that it left no files.
pub(crate) fn check(world: &World, outcome: &Outcome) -> Checked {
    outcome.quiet(&[3])?;
    world.holds_only("work", &["in", "in.sealed"])?;
    world.holds_only("tmp", &[])
}

#[test]
fn reader_that_has_enough() {
    let world = world();
    for (command, input) in [(&SEAL[..], "in"), (&OPEN[..], "in.sealed")] {
        for len in [0, 10, 100_000] {
            let whole = world.sealstone(&[command, &["-o", "-", input]].concat());
            check(&world, &read_only(whole, len)).unwrap_or_else(|e| panic!("{command:?}: {e}"));
            let mut piped = world.sealstone(&[command, &["-o", "-"]].concat());
            piped.stdin(fs::File::open(world.work(input)).unwrap());
            check(&world, &read_only(piped, len)).unwrap_or_else(|e| panic!("{command:?}: {e}"));
        }
    }
}

#[test]
fn reader_of_what_came_through_a_pipe() {
    let world = world();
    let script = format!("cat in.sealed | \"$SEALSTONE\" {} -o -", OPEN.join(" "));
    let mut shell = world.command(&["sh", "-c", &script].map(Into::into));
    shell.env("SEALSTONE", crate::world::SEALSTONE);
    check(&world, &read_only(shell, 10)).unwrap();
}

#[test]
fn nobody_reads() {
    let world = world();
    let (seal, open) = (
        SEAL.join(" ") + " -o - in",
        OPEN.join(" ") + " -o - in.sealed",
    );
    for line in LISTINGS.into_iter().chain([
        "inspect --json in.sealed",
        "--help",
        "--version",
        &seal,
        &open,
    ]) {
        let outcome = to_nobody(world.sealstone(&words(line)));
        check(&world, &outcome).unwrap_or_else(|e| panic!("{line}: {e}"));
    }
}

/// The command completes its work without a reader of messages.
#[test]
fn nobody_reads_messages() {
    let world = world();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut seal = world.sealstone(&[&SEAL[..], &["-o", "out", "in"]].concat());
    finish(seal.stderr(writer).spawn().unwrap())
        .succeeded()
        .unwrap();
    crate::content::open(&world, "out", "opened").unwrap();
}

#[test]
fn writer_that_stops_half_way() {
    let world = world();
    let sealed = fs::read(world.work("in.sealed")).unwrap();
    for len in [0, 10, 1000, 1 << 20, sealed.len() - 1] {
        let (outcome, written) = fed(&world, &sealed[..len]);
        outcome
            .refused(&[4, 5], "in.fifo")
            .unwrap_or_else(|e| panic!("{len} bytes: {e}"));
        written.unwrap();
        assert!(!world.work("out").exists());
    }
    let (outcome, written) = fed(&world, &sealed);
    outcome.succeeded().unwrap();
    written.unwrap();
}

/// The command does not wait for the rest of useless input.
#[test]
fn writer_that_nobody_needs() {
    let world = world();
    let (outcome, written) = fed(&world, &vec![b'x'; LEN as usize]);
    outcome.refused(&[4], "in.fifo").unwrap();
    assert_eq!(written.unwrap_err().kind(), ErrorKind::BrokenPipe);
    assert!(!world.work("out").exists());
}

/// Opens the content of a named pipe. Also returns the result of writing to it.
fn fed(world: &World, bytes: &[u8]) -> (Outcome, std::io::Result<()>) {
    let fifo = world.work("in.fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    let argv = sealstone(&[&OPEN[..], &["-o", "out", "in.fifo"]].concat());
    let child = world.command(&argv).stdin(Stdio::null()).spawn().unwrap();
    let written = thread::scope(|scope| {
        scope
            .spawn(|| OpenOptions::new().write(true).open(&fifo)?.write_all(bytes))
            .join()
            .unwrap()
    });
    let outcome = finish(child);
    fs::remove_file(fifo).unwrap();
    (outcome, written)
}
