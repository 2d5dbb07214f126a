//! An altered file is refused with a message and leaves no output.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::content::{OPEN, SEAL, write_pattern};
use crate::scale::{Random, long_tests, scaled};
use crate::world::{Checked, OLD, Outcome, World};

/// Sealed content of a few chunks.
struct Sealed {
    world: World,
    bytes: Vec<u8>,
    header_len: usize,
}

const CHUNK_LEN: usize = 1 << 20;
/// Not a multiple of the chunk length.
const LEN: u64 = 3 * (1 << 20) + 12_345;
const SUITES: [&str; 2] = ["xchacha20poly1305", "aes256gcm"];

impl Sealed {
    fn new(suite: &str) -> Self {
        let world = World::new();
        write_pattern(&world.work("in"), LEN);
        world
            .run(&[&SEAL[..], &["--suite", suite, "-o", "in.sealed", "in"]].concat())
            .succeeded()
            .unwrap();
        let seen = world.run(&["inspect", "--json", "in.sealed"]);
        let seen: Value = serde_json::from_slice(&seen.stdout).unwrap();
        let header_len = usize::try_from(seen["header_bytes"].as_u64().unwrap()).unwrap();
        let bytes = fs::read(world.work("in.sealed")).unwrap();
        Self {
            world,
            bytes,
            header_len,
        }
    }

    /// Opens `bytes` to a file or to a pipe.
    fn attempt(&self, bytes: &[u8], output: &str) -> Checked {
        fs::write(self.world.work("altered"), bytes).unwrap();
        let outcome = self
            .world
            .run(&[&OPEN[..], &["-o", output, "altered"]].concat());
        refused(&self.world, &outcome)
    }

    /// The start of every chunk, and the end.
    fn boundaries(&self) -> Vec<usize> {
        let chunks = (self.header_len..self.bytes.len()).step_by(CHUNK_LEN);
        chunks.chain([self.bytes.len()]).collect()
    }
}

/// Checks that the altered file was refused without output.
pub(crate) fn refused(world: &World, outcome: &Outcome) -> Checked {
    outcome.refused(&[4, 5], "altered")?;
    if !outcome.stdout.is_empty() {
        return Err(format!("{} bytes were released", outcome.stdout.len()));
    }
    world.holds_only("work", &["in", "in.sealed", "altered"])?;
    world.holds_only("tmp", &[])
}

#[test]
fn cut_off() {
    for suite in SUITES {
        let sealed = Sealed::new(suite);
        let near = |place: usize| [place.saturating_sub(1), place, place + 1];
        let places = sealed
            .boundaries()
            .into_iter()
            .flat_map(near)
            .chain([0, 1, 16, 100]);
        for len in places.filter(|len| *len < sealed.bytes.len()) {
            for output in ["out", "-"] {
                sealed
                    .attempt(&sealed.bytes[..len], output)
                    .unwrap_or_else(|e| panic!("{suite}, {len} bytes: {e}"));
            }
        }
    }
}

#[test]
fn one_byte_is_another() {
    let mut random = Random::new();
    for suite in SUITES {
        let sealed = Sealed::new(suite);
        let len = sealed.bytes.len();
        let random_places = (0..scaled(20, 500)).map(|_| random.below(len));
        let header = (0..sealed.header_len).step_by(scaled(211, 7));
        let chunks = sealed
            .boundaries()
            .into_iter()
            .flat_map(|place| [place - 1, place]);
        let places: Vec<usize> = header
            .chain(chunks)
            .chain(random_places)
            .filter(|place| *place < len)
            .collect();
        for place in places {
            let mut bytes = sealed.bytes.clone();
            bytes[place] ^= 1 << (place % 8);
            sealed
                .attempt(&bytes, "out")
                .unwrap_or_else(|e| panic!("{suite}, byte {place}: {e}"));
        }
    }
}

#[test]
fn more_than_there_was() {
    for suite in SUITES {
        let sealed = Sealed::new(suite);
        let whole = &sealed.bytes;
        for more in [
            &b"\0"[..],
            b"\n",
            &[0xff; 100],
            &whole[whole.len() - 100..],
            &whole[..],
            &vec![0; CHUNK_LEN],
        ] {
            let bytes = [whole, more].concat();
            sealed
                .attempt(&bytes, "out")
                .unwrap_or_else(|e| panic!("{suite}, {} more: {e}", more.len()));
            sealed
                .attempt(&bytes, "-")
                .unwrap_or_else(|e| panic!("{suite}, {} more: {e}", more.len()));
        }
    }
}

#[test]
fn chunks_are_exchanged() {
    for suite in SUITES {
        let sealed = Sealed::new(suite);
        let (start, bytes) = (sealed.header_len, &sealed.bytes);
        let chunk = |i: usize| &bytes[start + i * CHUNK_LEN..start + (i + 1) * CHUNK_LEN];
        let (header, rest) = (&bytes[..start], &bytes[start + 2 * CHUNK_LEN..]);
        for (first, second) in [
            (chunk(1), chunk(0)),
            (chunk(0), chunk(0)),
            (chunk(1), chunk(1)),
        ] {
            let altered = [header, first, second, rest].concat();
            sealed
                .attempt(&altered, "out")
                .unwrap_or_else(|e| panic!("{suite}: {e}"));
        }
        let dropped = [header, chunk(1), rest].concat();
        sealed
            .attempt(&dropped, "out")
            .unwrap_or_else(|e| panic!("{suite}: {e}"));
    }
}

#[test]
fn wrong_passphrase_and_wrong_recipient() {
    let sealed = Sealed::new(SUITES[0]);
    let open = |passport: &str, passphrase: &str| {
        let outcome = sealed.world.run(&[
            "open",
            "-i",
            passport,
            "--passphrase-file",
            passphrase,
            "-o",
            "out",
            "in.sealed",
        ]);
        outcome.refused(&[5], "").unwrap();
        sealed
            .world
            .holds_only("work", &["in", "in.sealed"])
            .unwrap();
    };
    open("../keys/bob.passport", "../keys/wrong");
    open("../keys/alice.passport", OLD);
}

#[test]
fn passports() {
    let sealed = Sealed::new(SUITES[0]);
    let world = &sealed.world;
    let secret = fs::read(world.path("keys/bob.passport")).unwrap();
    let open = [
        "open",
        "-i",
        "../keys/altered",
        "--passphrase-file",
        OLD,
        "--from",
        "../keys/alice.pub",
        "-o",
        "out",
        "in.sealed",
    ];
    alter_text(world, &secret, scaled(9, 1), &open);
    let public = fs::read(world.path("keys/bob.pub")).unwrap();
    let seal = [
        "seal",
        "--unsigned",
        "-r",
        "../keys/altered",
        "-o",
        "out",
        "in",
    ];
    alter_text(world, &public, scaled(307, 17), &seal);
    world.holds_only("work", &["in", "in.sealed"]).unwrap();
}

/// Replaces every `step`th character by another one of its kind, and cuts there. Altered parameters
/// of key derivation may exceed the limit before the alteration is found (code 9).
fn alter_text(world: &World, text: &[u8], step: usize, command: &[&str]) {
    let attempt = |bytes: &[u8], what: &str| {
        fs::write(world.path("keys/altered"), bytes).unwrap();
        let outcome = world.run(command);
        outcome
            .refused(&[4, 5, 9], "")
            .unwrap_or_else(|e| panic!("{what}: {e}"));
    };
    for place in (0..text.len()).step_by(step) {
        let mut altered = text.to_vec();
        altered[place] = if text[place] == b'A' { b'B' } else { b'A' };
        attempt(&altered, &format!("character {place}"));
        // The last line may lack its ending.
        if place < text.trim_ascii_end().len() {
            attempt(&text[..place], &format!("{place} characters"));
        }
    }
}

#[test]
fn trust_records() {
    let sealed = Sealed::new(SUITES[0]);
    let world = &sealed.world;
    world
        .run(&[
            "trust",
            "approve",
            "--yes",
            // Both have the user's name as their label.
            "--same-label",
            "../keys/alice.pub",
            "../keys/bob.pub",
        ])
        .succeeded()
        .unwrap();
    for (name, step) in [
        ("key", scaled(5, 1)),
        ("head", scaled(7, 1)),
        ("log", scaled(997, 41)),
    ] {
        let path = world.path("trust").join(name);
        let whole = fs::read(&path).unwrap();
        for place in (0..whole.len()).step_by(step) {
            let mut altered = whole.clone();
            altered[place] ^= 1 << (place % 8);
            fs::write(&path, altered).unwrap();
            store_is_refused(world).unwrap_or_else(|e| panic!("{name}, byte {place}: {e}"));
            fs::write(&path, &whole[..place]).unwrap();
            store_is_refused(world).unwrap_or_else(|e| panic!("{name}, {place} bytes: {e}"));
        }
        fs::remove_file(&path).unwrap();
        store_is_refused(world).unwrap_or_else(|e| panic!("no {name}: {e}"));
        fs::write(&path, &whole).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        world.run(&["trust", "check"]).succeeded().unwrap();
    }
}

/// Checks that all commands that need the store are refused.
pub(crate) fn store_is_refused(world: &World) -> Checked {
    let open = [
        "open",
        "-i",
        "../keys/bob.passport",
        "--passphrase-file",
        OLD,
        "-o",
        "out",
        "in.sealed",
    ];
    for command in [
        &["trust", "list"][..],
        &["trust", "deny", "../keys/bob.pub"],
        &open,
    ] {
        world
            .run(command)
            .refused(&[8], "")
            .map_err(|e| format!("{command:?}: {e}"))?;
    }
    world.holds_only("work", &["in", "in.sealed"])
}

long_tests!(one_byte_is_another, passports, trust_records,);
