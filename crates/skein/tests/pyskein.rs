//! Random cases against `pyskein` (PyPI), which has every argument, bit lengths, trees and
//! Threefish.
//!
//! `scripts/fetch-vectors` puts it into `.tools/skein`. Without it, the test says that it is
//! skipped. `SEALSTONE_CASES` is the number of cases, by default 2,000.

use sealstone_skein::threefish::{Block, Threefish256, Threefish512, Threefish1024};
use sealstone_skein::tree::{Shape, TreeSkein};
use sealstone_skein::{Parameters, Prng, Skein};
use sealstone_testing::hex;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

#[test]
fn random_cases() {
    let python = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.tools/skein/bin/python");
    let has_pyskein = Command::new(python)
        .args(["-c", "import _skein"])
        .stderr(Stdio::null())
        .status();
    if !has_pyskein.is_ok_and(|status| status.success()) {
        println!("skipped: pyskein is not there; run scripts/fetch-vectors");
        return;
    }
    let count =
        std::env::var("SEALSTONE_CASES").map_or(2000, |count| count.parse().expect("a number"));
    let mut random = Random(Prng::new(b"seed of tests/pyskein.rs"));
    let mut cases = String::new();
    for i in 0..count {
        match i % 8 {
            0 => threefish(&mut random, &mut cases),
            1 | 2 => hash::<4>(&mut random, &mut cases),
            3 | 4 => hash::<16>(&mut random, &mut cases),
            _ => hash::<8>(&mut random, &mut cases),
        }
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pyskein.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(cases.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(
        String::from_utf8(output.stdout).unwrap().trim(),
        format!("{count} cases agree")
    );
    println!("{count} random cases of pyskein agree");
}

struct Random(Prng<8>);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        (u64::from_le_bytes(bytes) % limit as u64) as usize
    }

    fn bytes(&mut self, limit: usize) -> Vec<u8> {
        let mut bytes = vec![0; self.below(limit)];
        self.0.fill(&mut bytes);
        bytes
    }

    /// Empty half of the time.
    fn argument(&mut self) -> Vec<u8> {
        let limit = [1, 200][self.below(2)];
        self.bytes(limit)
    }

    fn array<const L: usize>(&mut self) -> [u8; L] {
        let mut bytes = [0; L];
        self.0.fill(&mut bytes);
        bytes
    }
}

fn hash<const N: usize>(random: &mut Random, cases: &mut String)
where
    [u64; N]: Block<u64>,
{
    let output_bits = 1 + random.below(2000) as u64;
    let arguments: [Vec<u8>; 5] = core::array::from_fn(|_| random.argument());
    let [key, personalization, public_key, key_id, nonce] = &arguments;
    let message = random.bytes(2500);
    let last_bits = 1 + random.below(8) as u32;
    let shape = [
        1 + random.below(4) as u8,
        1 + random.below(4) as u8,
        2 + random.below(4) as u8,
    ];

    let parameters = Parameters::new()
        .output_bits(output_bits)
        .key(key)
        .personalization(personalization);
    let parameters = parameters
        .public_key(public_key)
        .key_id(key_id)
        .nonce(nonce);
    let in_tree = random.below(3) == 0;
    // pyskein's trees accept whole bytes only.
    let last_bits = if in_tree { 8 } else { last_bits };
    let hash = if in_tree {
        let mut tree = TreeSkein::<N>::with(
            &parameters,
            Shape::new(shape[0], shape[1], shape[2]).unwrap(),
        );
        tree.update(&message);
        tree.finish()
    } else if let Some((last, whole)) = message.split_last() {
        Skein::<N>::with(&parameters)
            .chain(whole)
            .finish_bits(*last, last_bits)
    } else {
        Skein::<N>::with(&parameters).finish()
    };

    let message_bits = if message.is_empty() {
        0
    } else {
        8 * message.len() - 8 + last_bits as usize
    };
    write!(cases, "skein {} {output_bits} {message_bits}", 64 * N).unwrap();
    arguments
        .iter()
        .chain([&message, &hash])
        .for_each(|bytes| write!(cases, " x{}", hex(bytes)).unwrap());
    writeln!(
        cases,
        " {}",
        if in_tree { hex(&shape) } else { "none".into() }
    )
    .unwrap();
}

fn threefish(random: &mut Random, cases: &mut String) {
    macro_rules! case {
        ($cipher:ident, $bytes:literal) => {{
            let (key, tweak, plain) = (
                random.array::<$bytes>(),
                random.array::<16>(),
                random.array::<$bytes>(),
            );
            let mut cipher = plain;
            $cipher::new(&key).encrypt(tweak, &mut cipher);
            writeln!(
                cases,
                "threefish {} {} {} {}",
                hex(&key),
                hex(&tweak),
                hex(&plain),
                hex(&cipher)
            )
            .unwrap();
        }};
    }
    match random.below(3) {
        0 => case!(Threefish256, 32),
        1 => case!(Threefish512, 64),
        _ => case!(Threefish1024, 128),
    }
}
