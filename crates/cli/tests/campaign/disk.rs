//! A full disk, and a limit on the size of files.

use std::ffi::OsString;
use std::fs::{self, File};

use rustix::fs::{FallocateFlags, fallocate, statvfs};

use crate::content::{OPEN, Open, SEAL, Seal, write_pattern};
use crate::directories::Directory;
use crate::namespace::{self, Place};
use crate::pipes;
use crate::scale::{long_tests, say, scaled, skip};
use crate::slots::{self, NewPassport, Slot};
use crate::store::{self, Store};
use crate::victim::{End, Leftover, Victim};
use crate::world::{Checked, Outcome, World, finish, words};

/// How often the room was too small, and how often it was enough.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    refused: u32,
    done: u32,
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const LEN: u64 = 8 * MIB;
const NO_SPACE: &str = "No space left on device";

#[test]
fn full_disk() {
    match namespace::enter("disk", "full_disk") {
        Place::Inside => fill_up(),
        Place::Done => {}
        Place::Refused(why) => skip(
            "a full disk (limits on the file size stand in for it)",
            &why,
        ),
    }
}

fn fill_up() {
    namespace::limit_disk(64 * MIB);
    let long: &[u64] = &[0, 4 * KIB, MIB, LEN / 2, LEN - 4 * KIB, 2 * LEN];
    report(&Seal::of_len(LEN, Leftover::Nothing), long, leave_room);
    report(&Open::of_len(LEN, Leftover::Nothing), long, leave_room);
    report(&Directory::unpacking(), long, leave_room);
    let short: Vec<u64> = (0..12)
        .step_by(scaled(3, 1))
        .map(|pages| pages * 4 * KIB)
        .collect();
    report(
        &Slot::new(slots::Verb::Change, Leftover::Nothing),
        &short,
        leave_room,
    );
    report(&NewPassport::new(Leftover::Nothing), &short, leave_room);
    for verb in [store::Verb::Approve, store::Verb::Rekey] {
        report(&Store::new(verb), &short, leave_room);
    }
    copy_of_a_pipe(&World::new()).unwrap();
}

#[test]
fn limited_file_size() {
    let long: &[u64] = &[0, 4 * KIB, MIB, LEN - 1, 2 * LEN];
    report(&Seal::of_len(LEN, Leftover::Nothing), long, limit_size);
    report(&Open::of_len(LEN, Leftover::Nothing), long, limit_size);
    let short: &[u64] = scaled(&[0, 100, MIB], &[0, 1, 50, 100, 200, 300, 350, MIB]);
    report(
        &Slot::new(slots::Verb::Change, Leftover::Nothing),
        short,
        limit_size,
    );
    report(&NewPassport::new(Leftover::Nothing), short, limit_size);
    // Its log is a few KiB long, most of it one public passport.
    let log: Vec<u64> = (0..12)
        .step_by(scaled(3, 1))
        .map(|i| 6 * KIB + i * KIB / 2)
        .collect();
    let store = [&[0, 30, 60], &log[..], &[MIB]].concat();
    for verb in [store::Verb::Approve, store::Verb::Rekey] {
        report(&Store::new(verb), &store, limit_size);
    }
}

#[test]
fn device_that_is_always_full() {
    let world = pipes::world();
    let to_full = |words: &[&str]| {
        let mut command = world.sealstone(words);
        finish(
            command
                .stdout(File::create("/dev/full").unwrap())
                .spawn()
                .unwrap(),
        )
    };
    let full = |words: &[&str]| {
        let refused = to_full(words).refused(&[3], NO_SPACE);
        refused.unwrap_or_else(|e| panic!("{words:?}: {e}"));
    };
    for (command, input) in [(&SEAL[..], "in"), (&OPEN[..], "in.sealed")] {
        full(&[command, &["-o", "/dev/full", input]].concat());
        full(&[command, &["-o", "-", input]].concat());
    }
    for line in pipes::LISTINGS {
        full(&words(line));
    }
    for asked in ["--help", "--version"] {
        assert_eq!(to_full(&[asked]).status.code(), Some(3), "{asked}");
    }
    world.holds_only("work", &["in", "in.sealed"]).unwrap();
}

/// A method to limit the room for a command.
type Limit = fn(&dyn Victim, u64) -> Outcome;

fn report(victim: &dyn Victim, rooms: &[u64], limit: Limit) {
    let tally = in_rooms(victim, rooms, limit).unwrap_or_else(|e| panic!("{}: {e}", victim.name()));
    say(&format!(
        "{}: too little room {} times, enough {} times",
        victim.name(),
        tally.refused,
        tally.done
    ));
    assert!(
        tally.refused > 0 && tally.done > 0,
        "{}: the limits were not where they should be",
        victim.name()
    );
}

/// Runs the command with each amount of room.
pub(crate) fn in_rooms(victim: &dyn Victim, rooms: &[u64], limit: Limit) -> Checked<Tally> {
    let mut tally = Tally::default();
    for &room in rooms {
        victim.reset();
        let outcome = limit(victim, room);
        let end = if outcome.status.success() {
            End::Done
        } else {
            End::Cut
        };
        let refused = match end {
            End::Done => Ok(()),
            End::Cut => outcome
                .refused(&[3], NO_SPACE)
                .or_else(|_| outcome.refused(&[3], "File too large")),
        };
        refused
            .and_then(|()| victim.check(end))
            .map_err(|e| format!("with room for {room} bytes: {e}"))?;
        tally.refused += u32::from(end == End::Cut);
        tally.done += u32::from(end == End::Done);
    }
    Ok(tally)
}

/// Fills the disk except for `room` bytes.
fn leave_room(victim: &dyn Victim, room: u64) -> Outcome {
    let world = victim.world();
    let filler = world.path("filler");
    take_room(world, room);
    let outcome = finish(world.command(&victim.argv()).spawn().unwrap());
    fs::remove_file(filler).unwrap();
    outcome
}

fn take_room(world: &World, room: u64) {
    let file = File::create(world.path("filler")).unwrap();
    let disk = statvfs(world.path("filler")).unwrap();
    fallocate(
        &file,
        FallocateFlags::empty(),
        0,
        disk.f_bavail * disk.f_frsize - room,
    )
    .unwrap();
}

/// Lets no file grow beyond `room` bytes.
pub(crate) fn limit_size(victim: &dyn Victim, room: u64) -> Outcome {
    let prlimit = ["prlimit".into(), format!("--fsize={room}"), "--".into()].map(OsString::from);
    let argv: Vec<OsString> = prlimit.into_iter().chain(victim.argv()).collect();
    finish(victim.world().command(&argv).spawn().unwrap())
}

/// Content from a pipe is kept until its signatures are verified.
fn copy_of_a_pipe(world: &World) -> Checked {
    write_pattern(&world.work("in"), LEN);
    world.run(&[&SEAL[..], &["in"]].concat()).succeeded()?;
    let open = format!("cat in.sealed | \"$SEALSTONE\" {} -o -", OPEN.join(" "));
    take_room(world, MIB);
    let outcome = world.shell(&open);
    outcome.refused(&[3], NO_SPACE)?;
    if !outcome.stdout.is_empty() {
        return Err("content was released before it was verified".into());
    }
    fs::remove_file(world.path("filler")).unwrap();
    world.holds_only("tmp", &[])?;
    world.shell(&open).succeeded()
}

long_tests!(full_disk, limited_file_size,);
