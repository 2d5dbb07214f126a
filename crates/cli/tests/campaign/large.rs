//! Round trips of all sizes.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::fs::statvfs;

use crate::content::{OPEN, SEAL, same_content, same_stream};
use crate::memory;
use crate::scale::{is_long, long_tests, say, skip};
use crate::world::{World, finish};

/// Content in a chunk.
const CHUNK: u64 = (1 << 20) - 16;
const GIB: u64 = 1 << 30;

#[test]
fn through_files() {
    let everyday = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 64 << 20];
    everyday.into_iter().for_each(round_trip_of_files);
    if is_long() {
        [(2 * GIB) - 1, 2 * GIB, 2 * GIB + 1, 5 * GIB]
            .into_iter()
            .for_each(round_trip_of_files);
    }
}

#[test]
fn through_pipes() {
    let everyday = [0, 1, CHUNK, 2 * CHUNK + 1, 64 << 20];
    everyday.into_iter().for_each(round_trip_of_pipes);
    if is_long() {
        [2 * GIB - 1, 2 * GIB, 2 * GIB + 1, 5 * GIB]
            .into_iter()
            .for_each(round_trip_of_pipes);
    }
}

/// Signed, from file to file. Checks the memory of both steps too.
fn round_trip_of_files(len: u64) {
    let Some(directory) = room_for(2 * len) else {
        return skip(
            "a round trip of files",
            &format!("no room for twice {len} bytes"),
        );
    };
    let world = World::under(&directory);
    write_sparse(&world.work("in"), len);
    let steps = [
        [&SEAL[..], &["-o", "out.sealed", "in"]].concat(),
        [&OPEN[..], &["-o", "out", "out.sealed"]].concat(),
    ];
    for step in steps {
        let peak =
            memory::measured(world.sealstone(&step)).unwrap_or_else(|e| panic!("{len} bytes: {e}"));
        if len >= 64 << 20 {
            memory::within_limit(peak)
                .unwrap_or_else(|e| panic!("{} of {len} bytes: {e}", step[0]));
        }
    }
    same_content(&world.work("out"), &world.work("in"))
        .unwrap_or_else(|e| panic!("{len} bytes: {e}"));
    done("files", len);
}

/// Unsigned, because a pipe can be read only once.
fn round_trip_of_pipes(len: u64) {
    let world = World::new();
    write_sparse(&world.work("in"), len);
    let mut seal = world.sealstone(&["seal", "--unsigned", "-r", "../keys/bob.pub", "-o", "-"]);
    let mut seal = seal
        .stdin(File::open(world.work("in")).unwrap())
        .spawn()
        .unwrap();
    let mut open = world.sealstone(&[&OPEN[..5], &["-o", "-"]].concat());
    let mut open = open
        .stdin(Stdio::from(seal.stdout.take().unwrap()))
        .spawn()
        .unwrap();
    same_stream(
        open.stdout.take().unwrap(),
        File::open(world.work("in")).unwrap(),
    )
    .unwrap_or_else(|e| panic!("{len} bytes: {e}"));
    for child in [seal, open] {
        finish(child)
            .succeeded()
            .unwrap_or_else(|e| panic!("{len} bytes: {e}"));
    }
    done("pipes", len);
}

fn done(through: &str, len: u64) {
    if len >= GIB {
        say(&format!("round trip through {through} of {len} bytes"));
    }
}

/// A sparse file. It takes room only at the written places, where counters may overflow.
fn write_sparse(path: &Path, len: u64) {
    let file = File::create(path).unwrap();
    file.set_len(len).unwrap();
    let places = [
        0,
        CHUNK - 8,
        GIB,
        2 * GIB - 8,
        4 * GIB - 8,
        len.saturating_sub(16),
    ];
    for (i, place) in places.into_iter().enumerate() {
        let mark = format!("mark number {i:04}");
        let fits = len.saturating_sub(place).min(mark.len() as u64);
        file.write_all_at(&mark.as_bytes()[..fits as usize], place)
            .unwrap();
    }
    assert_eq!(file.metadata().unwrap().len(), len);
}

/// A directory with this much room, in memory if there is enough.
pub(crate) fn room_for(bytes: u64) -> Option<PathBuf> {
    let has_room = |directory: &Path| {
        statvfs(directory).is_ok_and(|disk| disk.f_bavail * disk.f_frsize >= bytes + bytes / 10)
    };
    let memory = Path::new("/dev/shm");
    if available_memory() / 4 * 3 > bytes && has_room(memory) {
        return Some(memory.to_owned());
    }
    Some(std::env::temp_dir()).filter(|directory| has_room(directory))
}

fn available_memory() -> u64 {
    let told = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = told
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}

long_tests!(through_files, through_pipes,);
