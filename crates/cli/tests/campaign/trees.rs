//! Directories of many files, and of large ones with holes.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use crate::content::OPEN;
use crate::memory::{constant, measured};
use crate::scale::{long_tests, say, scaled};
use crate::world::{OLD, World};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
/// The memory limit per member of the index of an archive that is being sealed, with a name of ten
/// bytes. A growing vector takes up to twice its content, and keeps the old memory while it moves.
const OF_A_MEMBER: u64 = 3 * 45;
/// The names of one directory are sorted in memory.
const OF_A_NAME: u64 = 96;

const SEAL: [&str; 9] = [
    "seal",
    "--no-sync",
    "--from",
    "../keys/alice.passport",
    "-r",
    "../keys/bob.pub",
    "--passphrase-file",
    OLD,
    "tree",
];

#[test]
fn of_many_files() {
    let few = many(1000);
    let (files, many) = (scaled(5000, 100_000), many(scaled(5000, 100_000)));
    let names = files * (OF_A_MEMBER + OF_A_NAME);
    // The index takes at most `names`. It often takes less. Then there is nothing to compare.
    for (verb, few, many) in [
        ("seal", few[0], many[0].saturating_sub(names).max(few[0])),
        ("open", few[1], many[1]),
        ("open a part", few[2], many[2]),
    ] {
        constant(few, many).unwrap_or_else(|e| panic!("{verb} of {files} files: {e}"));
    }
}

/// Seals a directory with this number of files, and unpacks all and a part of it. Returns the
/// memory of each step.
fn many(files: u64) -> [u64; 3] {
    let world = World::new();
    let tree = world.work("tree/all");
    for i in 0..files {
        let directory = tree.join((i / 1000).to_string());
        if i % 1000 == 0 {
            fs::create_dir_all(&directory).unwrap();
        }
        fs::write(directory.join(i.to_string()), i.to_string()).unwrap();
    }
    let peaks = round_trip(&world);
    let part = [
        &OPEN[..],
        &["--no-sync", "-o", "part", "tree.sealed", "all"],
    ]
    .concat();
    let part = measured(world.sealstone(&part)).unwrap();
    let count = |path: &Path| -> u64 {
        let directories = fs::read_dir(path).unwrap();
        let files = directories.map(|entry| fs::read_dir(entry.unwrap().path()).unwrap().count());
        files.sum::<usize>() as u64
    };
    let last = format!("{}/{}", (files - 1) / 1000, files - 1);
    for directory in ["new/all", "part"].map(|name| world.work(name)) {
        assert_eq!(count(&directory), files);
        let content = fs::read(directory.join(&last)).unwrap();
        assert_eq!(content, (files - 1).to_string().as_bytes());
    }
    let list = world.run(&[&["list"], &OPEN[1..], &["tree.sealed"]].concat());
    list.succeeded().unwrap();
    say(&format!(
        "{files} files: seal {} MiB, open {} MiB, a part {} MiB",
        peaks.0 / MIB,
        peaks.1 / MIB,
        part / MIB
    ));
    [peaks.0, peaks.1, part]
}

fn round_trip(world: &World) -> (u64, u64) {
    let sealed = measured(world.sealstone(&SEAL));
    let open = [&OPEN[..], &["--no-sync", "-o", "new", "tree.sealed"]].concat();
    let opened = measured(world.sealstone(&open));
    (sealed.unwrap(), opened.unwrap())
}

#[test]
fn of_a_file_with_holes() {
    let world = World::new();
    fs::create_dir(world.work("tree")).unwrap();
    let len = scaled(GIB, 20 * GIB);
    let file = File::create(world.work("tree/large")).unwrap();
    file.set_len(len).unwrap();
    let places = [0, MIB - 8, GIB / 2, 4 * GIB - 8, 9 * GIB, len - 16];
    let places = places.into_iter().filter(|place| *place < len);
    for place in places.clone() {
        file.write_all_at(&place.to_be_bytes(), place).unwrap();
    }
    let peaks = round_trip(&world);
    constant(peaks.0, peaks.1).unwrap();
    let new = File::open(world.work("new/large")).unwrap();
    let metadata = new.metadata().unwrap();
    assert_eq!(metadata.len(), len);
    assert!(metadata.blocks() * 512 < 16 * MIB, "the holes were filled");
    for place in places {
        let mut bytes = [0; 8];
        new.read_exact_at(&mut bytes, place).unwrap();
        assert_eq!(u64::from_be_bytes(bytes), place);
    }
    let sealed = world.work("tree.sealed").metadata().unwrap().len();
    say(&format!(
        "{len} bytes with holes: {sealed} sealed, {} MiB of memory",
        peaks.1 / MIB
    ));
}

long_tests!(of_many_files, of_a_file_with_holes);
