//! The length of a sealed file before it is sealed, and of a content before it is opened.

use std::io::Read;

use crate::common::*;
use sealstone::file::{Dearmored, Sealer, Workers};
use sealstone::{KdfParams, Passphrase};

#[test]
fn lengths_are_known_beforehand() {
    let passphrase = Passphrase::new(b"correct horse").unwrap();
    let cheap = KdfParams::new(7168, 5, 1).unwrap();
    for len in [0, 1, 2000, CONTENT_LEN, CONTENT_LEN + 1, 2 * CONTENT_LEN] {
        for choices in 0..17u32 {
            let mut sealer = Sealer::new();
            sealer.to_anonymous(BOB.contact());
            choose(&mut sealer, choices);
            if choices & 16 != 0 {
                sealer.to_passphrase(&passphrase, cheap);
            }
            lengths_are_right(&sealer, &content(len), choices & 4 != 0);
        }
    }
}

fn lengths_are_right(sealer: &Sealer<'_>, content: &[u8], hidden: bool) {
    let mut file = Vec::new();
    let prepared = sealer.prepare().unwrap();
    let sealed_len = prepared.sealed_len(content.len() as u64);
    let receipt = prepared.seal(content, &mut file, Workers::new(2)).unwrap();
    assert_eq!(file.len() as u64, sealed_len);

    let mut binary = Vec::new();
    let mut dearmored = Dearmored::detect(&file[..]).unwrap();
    dearmored.read_to_end(&mut binary).unwrap();
    assert_eq!(binary.len() as u64, receipt.sealed_len);
    let opening = unlock(&binary, &BOB).unwrap();
    let known = (!hidden).then_some(content.len() as u64);
    assert_eq!(opening.content_len(receipt.sealed_len), known);
    assert_eq!(opening.content_len(0), None);
}
