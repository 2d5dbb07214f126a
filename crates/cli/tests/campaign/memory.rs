//! The use of memory, for every size of the content.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::content::OPEN;
use crate::scale::{long_tests, say, scaled};
use crate::world::{Checked, World, finish};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
/// The memory that the command may use beside key derivation and its own code.
const LIMIT: u64 = 64 * MIB;
/// Key derivation in these tests.
const DERIVATION: u64 = 7 * MIB;
/// Code, libraries and stacks.
const PROGRAM: u64 = 10 * MIB;
/// The allowed growth for content that is many times as long.
const DRIFT: u64 = 6 * MIB;

#[test]
fn does_not_depend_on_the_length() {
    let world = World::new();
    let (short, long) = (
        piped(&world, 64 * MIB),
        piped(&world, scaled(1, 8) * 1024 * MIB),
    );
    for (verb, short, long) in [("seal", short.0, long.0), ("open", short.1, long.1)] {
        say(&format!(
            "{verb}: {} MiB for 64 MiB, {} MiB for {} GiB",
            short / MIB,
            long / MIB,
            scaled(1, 8)
        ));
        constant(short, long).unwrap_or_else(|e| panic!("{verb}: {e}"));
    }
}

/// Checks that `long` is within the limit, and about `short`.
pub(crate) fn constant(short: u64, long: u64) -> Checked {
    within_limit(short)?;
    within_limit(long)?;
    match long.saturating_sub(short) <= DRIFT {
        true => Ok(()),
        false => Err(format!(
            "{short} bytes of memory, but {long} for longer content"
        )),
    }
}

pub(crate) fn within_limit(peak: u64) -> Checked {
    match peak {
        0 => Err("nothing was measured".into()),
        _ if peak <= LIMIT + DERIVATION + PROGRAM => Ok(()),
        _ => Err(format!("{peak} bytes of memory")),
    }
}

/// Seals zeros into a pipe and opens them from it. Returns the memory that each took.
fn piped(world: &World, len: u64) -> (u64, u64) {
    let mut seal = world.sealstone(&["seal", "--unsigned", "-r", "../keys/bob.pub", "-o", "-"]);
    let mut seal = seal.stdin(Stdio::piped()).spawn().unwrap();
    let mut open = world.sealstone(&[&OPEN[..5], &["-o", "-"]].concat());
    let mut open = open
        .stdin(seal.stdout.take().unwrap())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let peaks = (peak(&mut seal), peak(&mut open));
    let mut stdin = seal.stdin.take().unwrap();
    let block = vec![0; MIB as usize];
    (0..len / MIB).for_each(|_| stdin.write_all(&block).unwrap());
    drop(stdin);
    for child in [seal, open] {
        finish(child).succeeded().unwrap();
    }
    (peaks.0.join().unwrap(), peaks.1.join().unwrap())
}

/// Runs a command to its end, and returns its peak memory.
pub(crate) fn measured(mut command: Command) -> Checked<u64> {
    let mut child = command.spawn().unwrap();
    let peak = peak(&mut child);
    finish(child).succeeded()?;
    Ok(peak.join().unwrap())
}

/// Watches the process until it ends. Unlike the figure of `wait4`, this does not include the
/// memory of the test itself.
fn peak(child: &mut Child) -> JoinHandle<u64> {
    let status = format!("/proc/{}/status", child.id());
    thread::spawn(move || {
        let mut peak = 0;
        while let Some(now) = high_water_mark(&status) {
            peak = now;
            thread::sleep(Duration::from_millis(2));
        }
        peak
    })
}

/// `None` once the process has ended.
fn high_water_mark(status: &str) -> Option<u64> {
    let status = std::fs::read_to_string(status).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * KIB)
}

long_tests!(does_not_depend_on_the_length,);
