//! The designers' known-answer tests, `skein_golden_kat.txt`: all three states, bit lengths, MACs
//! and trees.
//!
//! `scripts/fetch-vectors` puts the file into `.tools/skein`. Without it, these tests say that they
//! are skipped.

#[path = "shared/designers.rs"]
mod designers;

use sealstone_skein::tree::{Shape, TreeSkein};
use sealstone_skein::{Parameters, Skein};
use sealstone_testing::skein as spec;

#[test]
fn the_crate() {
    let ran = for_each_case(|case| assert_eq!(case.by_crate(), case.result, "{}", case.header));
    if ran > 0 {
        println!("skein_golden_kat.txt: {ran} cases, 0 disagreements");
    }
}

/// The other tests compare with this specification, so it must be right.
#[test]
fn the_specification_in_tests() {
    for_each_case(|case| assert_eq!(case.by_specification(), case.result, "{}", case.header));
}

struct Case {
    header: String,
    state_bits: usize,
    output_bits: u64,
    message_bits: usize,
    tree: Option<[u8; 3]>,
    message: Vec<u8>,
    key: Vec<u8>,
    result: Vec<u8>,
}

/// Runs `check` on each case. Returns the number of cases, 0 without the file.
fn for_each_case(check: impl Fn(&Case)) -> usize {
    let Some(text) = designers::text("skein_golden_kat.txt") else {
        return 0;
    };
    let cases: Vec<Case> = text
        .split("--------------------------------")
        .filter_map(Case::parse)
        .collect();
    assert_eq!(cases.len(), 491);
    assert_eq!(
        cases
            .iter()
            .filter(|case| case.header.contains("MAC"))
            .count(),
        114
    );
    assert_eq!(cases.iter().filter(|case| case.tree.is_some()).count(), 35);
    cases.iter().for_each(check);
    cases.len()
}

impl Case {
    fn parse(text: &str) -> Option<Self> {
        let header = text
            .lines()
            .find(|line| line.starts_with(":Skein-"))?
            .to_owned();
        let numbers: Vec<usize> = header
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|n| n.parse().ok())
            .collect();
        let tree = header.split_once("Tree: ").map(|(_, tree)| {
            let mut fields = tree
                .split(", ")
                .map(|field| u8::from_str_radix(&field[field.len() - 2..], 16).unwrap());
            std::array::from_fn(|_| fields.next().unwrap())
        });
        let section = |start: &str| -> Vec<u8> {
            let lines = text
                .lines()
                .skip_while(|line| !line.starts_with(start))
                .skip(1);
            let lines = lines.take_while(|line| line.starts_with("    "));
            lines
                .flat_map(str::split_whitespace)
                .filter_map(|byte| u8::from_str_radix(byte, 16).ok())
                .collect()
        };
        Some(Self {
            state_bits: numbers[0],
            output_bits: numbers[1] as u64,
            message_bits: numbers[2],
            tree,
            message: section("Message data"),
            key: section("MAC key"),
            result: section("Result"),
            header,
        })
    }

    fn by_specification(&self) -> Vec<u8> {
        let skein = spec::Skein {
            block: self.state_bits / 8,
            output_bits: self.output_bits,
            key: &self.key,
            arguments: Vec::new(),
            tree: self.tree.unwrap_or_default(),
        };
        skein.hash(&self.message, self.message_bits)
    }

    fn by_crate(&self) -> Vec<u8> {
        match self.state_bits {
            256 => self.hash::<4>(),
            512 => self.hash::<8>(),
            _ => self.hash::<16>(),
        }
    }

    fn hash<const N: usize>(&self) -> Vec<u8>
    where
        [u64; N]: sealstone_skein::threefish::Block<u64>,
    {
        let parameters = Parameters::new()
            .key(&self.key)
            .output_bits(self.output_bits);
        let (whole, last) = self.message.split_at(self.message_bits / 8);
        if let Some([leaf, fan_out, height]) = self.tree {
            let mut tree =
                TreeSkein::<N>::with(&parameters, Shape::new(leaf, fan_out, height).unwrap());
            tree.update(whole);
            return tree.finish();
        }
        let skein = Skein::<N>::with(&parameters).chain(whole);
        match last {
            [] => skein.finish(),
            last => skein.finish_bits(last[0], (self.message_bits % 8) as u32),
        }
    }
}
