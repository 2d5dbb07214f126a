//! Files that would cost their reader much memory or time. A command with little of both must
//! refuse them immediately.

use std::ffi::OsString;
use std::fs::{self, File};
use std::time::{Duration, Instant};

use base64::prelude::{BASE64_STANDARD, Engine};

use crate::world::{Checked, OLD, Outcome, World, finish, sealstone};

const MIB: u64 = 1 << 20;
/// The limit of the address space. It has room for code, libraries and stacks, but not for a key
/// derivation of the usual size.
const SPACE: u64 = 128 * MIB;
/// The time limit, for a busy machine.
const SOON: Duration = Duration::from_secs(5);

/// `sealstone open` with a passphrase, in limited memory.
pub(crate) fn open(world: &World, file: &str) -> Outcome {
    limited(
        world,
        &["open", "-p", "--passphrase-file", OLD, "-o", "out", file],
    )
}

fn limited(world: &World, args: &[&str]) -> Outcome {
    let prlimit = ["prlimit".into(), format!("--as={SPACE}"), "--".into()].map(OsString::from);
    let argv: Vec<OsString> = prlimit.into_iter().chain(sealstone(args)).collect();
    finish(world.command(&argv).spawn().unwrap())
}

/// Checks that it was refused with this code and message, without output.
pub(crate) fn refused(world: &World, outcome: &Outcome, code: i32, what: &str) -> Checked {
    outcome.refused(&[code], what)?;
    world.holds_only("work", &["hostile"])
}

fn prefix(header_len: usize) -> Vec<u8> {
    let len = u32::try_from(header_len).unwrap();
    [&b"\x89SEAL\r\n\x1a\n\x01\x01\x00"[..], &len.to_be_bytes()].concat()
}

/// A sealed file up to the header. No reader gets further.
fn sealed(header: &[u8]) -> Vec<u8> {
    [&prefix(header.len())[..], header, &[0; 5000]].concat()
}

fn bytes(value: &[u8]) -> Vec<u8> {
    [&[0x58, u8::try_from(value.len()).unwrap()], value].concat()
}

fn header(count: &[u8], stanzas: &[u8]) -> Vec<u8> {
    let private = [&[0x01][..], &bytes(&[3; 80])].concat();
    [&[0xa2, 0x00][..], count, stanzas, &private].concat()
}

/// A passphrase stanza with an encoded memory size and number of passes.
fn stanza(memory: &[u8], passes: &[u8]) -> Vec<u8> {
    let rest = [bytes(&[1; 32]), bytes(&[4; 32]), bytes(&[2; 48])].concat();
    [&[0x87, 0x02][..], memory, passes, &[1], &rest].concat()
}

const MOST: [u8; 5] = [0x1a, 0xff, 0xff, 0xff, 0xff];

#[test]
fn sealed_files() {
    let million = [0x9a, 0x00, 0x0f, 0x42, 0x40];
    let small = [0x1a, 0, 1, 0, 0];
    let derivation =
        |memory: &[u8], passes: &[u8]| sealed(&header(&[0x81], &stanza(memory, passes)));
    let malformed = (4, "malformed: sealed file header");
    let cases: [(&str, Vec<u8>, (i32, &str)); 11] = [
        (
            "2^32 - 1 bytes of header",
            prefix(u32::MAX as usize),
            (4, "malformed: sealed file prefix"),
        ),
        (
            "a million recipients",
            sealed(&header(&million, &[0x80; 1_000_000])),
            malformed,
        ),
        (
            "2^64 - 1 recipients",
            sealed(&header(
                &[0x9b, 255, 255, 255, 255, 255, 255, 255, 255],
                &[],
            )),
            malformed,
        ),
        (
            "a recipient of 2^63 bytes",
            sealed(&header(
                &[0x81, 0x85, 1],
                &[0x5b, 127, 255, 255, 255, 255, 255, 255, 255],
            )),
            malformed,
        ),
        ("arrays in arrays", sealed(&[0x81; 4_000_000]), malformed),
        ("maps in maps", sealed(&[0xa1; 4_000_000]), malformed),
        ("arrays without end", sealed(&[0x9f; 4_000_000]), malformed),
        (
            "4 TiB but for a KiB",
            derivation(&MOST, &small),
            (9, "asks for 4294967295 KiB of memory; the limit is"),
        ),
        (
            "4 TiB",
            derivation(&[0x1b, 0, 0, 0, 1, 0, 0, 0, 0], &small),
            malformed,
        ),
        (
            "2^32 - 1 passes",
            derivation(&small, &MOST),
            (9, "KiB of work; the limit is"),
        ),
        (
            "numbers in long form",
            sealed(&header(&[0x98, 0x01], &stanza(&small, &small))),
            malformed,
        ),
    ];
    let world = World::new();
    for (name, file, (code, what)) in cases {
        fs::write(world.work("hostile"), file).unwrap();
        let start = Instant::now();
        refused(&world, &open(&world, "hostile"), code, what)
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(start.elapsed() < SOON, "{name}: {:?}", start.elapsed());
    }
}

/// A header of the length of a million recipients.
#[test]
fn header_of_gigabytes() {
    let world = World::new();
    let len = 1_000_000 * 1694;
    fs::write(world.work("hostile"), prefix(len)).unwrap();
    let file = File::options()
        .write(true)
        .open(world.work("hostile"))
        .unwrap();
    file.set_len(len as u64 + 5000).unwrap();
    let start = Instant::now();
    let outcome = open(&world, "hostile");
    refused(&world, &outcome, 4, "malformed: sealed file prefix").unwrap();
    assert!(start.elapsed() < SOON);
}

#[test]
fn passports() {
    let world = World::new();
    let armor = fs::read_to_string(world.path("keys/alice.passport")).unwrap();
    let lines: Vec<&str> = armor.lines().collect();
    let body = BASE64_STANDARD
        .decode(lines[1..lines.len() - 1].concat())
        .unwrap();
    let at = body
        .windows(3)
        .position(|three| three == [0x19, 0x1c, 0x00])
        .expect("m = 7168");
    let mut body = [&body[..at], &MOST, &body[at + 3..]].concat();
    // The length of the byte string around it.
    body[2] += 2;
    let text = BASE64_STANDARD.encode(body);
    let text: Vec<&str> = text
        .as_bytes()
        .chunks(64)
        .map(|line| std::str::from_utf8(line).unwrap())
        .collect();
    let altered = [&lines[..1], &text, &lines[lines.len() - 1..]]
        .concat()
        .join("\n");
    fs::write(world.work("hostile"), altered).unwrap();
    let start = Instant::now();
    let export = [
        "passport",
        "export",
        "hostile",
        "--passphrase-file",
        OLD,
        "-o",
        "out",
    ];
    let what = "asks for 4294967295 KiB of memory; the limit is";
    refused(&world, &limited(&world, &export), 9, what).unwrap();
    assert!(start.elapsed() < SOON);
}
