//! The vectors that pyca/cryptography collected from RFC 9106, OpenSSL and the `argon2` command, if
//! scripts/fetch-vectors has fetched them.

use sealstone_argon2::{Arena, Argon2, Cpu, Params, Variant};
use std::collections::HashMap;
use std::path::PathBuf;

#[test]
fn pyca_vectors() {
    let tools = || concat!(env!("CARGO_MANIFEST_DIR"), "/../../.tools").into();
    let directory = std::env::var_os("SEALSTONE_VECTORS").map_or_else(tools, PathBuf::from);
    for variant in Variant::ALL {
        let path = directory.join(format!("vectors/KDF/{}.txt", variant.name()));
        let Ok(text) = std::fs::read_to_string(path) else {
            println!(
                "skipped: the vectors of {} are not there; run scripts/fetch-vectors",
                variant.name()
            );
            continue;
        };
        let cases: Vec<Case> = text.split("COUNT").skip(1).map(Case::parse).collect();
        let expected = match variant {
            Variant::Argon2d => 4,
            Variant::Argon2i => 5,
            Variant::Argon2id => 6,
        };
        assert_eq!(cases.len(), expected, "every case is executed");
        cases.iter().for_each(|case| case.check(variant));
        println!(
            "KDF/{}.txt: {} cases, 0 disagreements",
            variant.name(),
            cases.len()
        );
    }
}

struct Case<'a>(HashMap<&'a str, &'a str>);

impl<'a> Case<'a> {
    fn parse(text: &'a str) -> Self {
        Self(
            text.lines()
                .filter_map(|line| line.split_once('='))
                .map(|(name, value)| (name.trim(), value.trim()))
                .collect(),
        )
    }

    fn number(&self, name: &str) -> u32 {
        self.0[name].parse().unwrap()
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        let digits = self.0.get(name).copied().unwrap_or_default();
        (0..digits.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
            .collect()
    }

    fn check(&self, variant: Variant) {
        let params = Params::new(
            self.number("memcost"),
            self.number("iter"),
            self.number("lanes"),
        )
        .unwrap();
        let (secret, data) = (self.bytes("secret"), self.bytes("ad"));
        for cpu in Cpu::available() {
            let argon2 = Argon2::new(params.with_variant(variant))
                .secret(&secret)
                .associated_data(&data)
                .on(cpu);
            let mut tag = vec![0; self.number("length") as usize];
            argon2
                .hash(
                    &self.bytes("pass"),
                    &self.bytes("salt"),
                    &mut tag,
                    &mut Arena::new(),
                )
                .unwrap();
            assert_eq!(
                tag,
                self.bytes("output"),
                "{variant:?} {cpu:?} {:?}",
                self.0
            );
        }
    }
}
