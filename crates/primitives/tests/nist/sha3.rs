//! SHA3-256 and SHA3-512: short, long and Monte Carlo messages (CAVS 19.0).

use sealstone_primitives::hash::{Sha3_256, Sha3_512, sha3_256, sha3_512};

use crate::common::{counted, vectors};
use crate::records::parse;

type Hash = fn(&[u8]) -> Vec<u8>;

const SHA3_256: Hash = |data| sha3_256(data).to_vec();
const SHA3_512: Hash = |data| sha3_512(data).to_vec();

#[test]
fn sha3_256_messages() {
    messages(
        "hashes/SHA3/SHA3_256ShortMsg.rsp",
        137,
        [SHA3_256, sha3_256_in_pieces],
    );
    messages(
        "hashes/SHA3/SHA3_256LongMsg.rsp",
        100,
        [SHA3_256, sha3_256_in_pieces],
    );
}

#[test]
fn sha3_512_messages() {
    messages(
        "hashes/SHA3/SHA3_512ShortMsg.rsp",
        73,
        [SHA3_512, sha3_512_in_pieces],
    );
    messages(
        "hashes/SHA3/SHA3_512LongMsg.rsp",
        100,
        [SHA3_512, sha3_512_in_pieces],
    );
}

#[test]
fn sha3_256_monte_carlo() {
    monte_carlo("hashes/SHA3/SHA3_256Monte.rsp", SHA3_256);
}

#[test]
fn sha3_512_monte_carlo() {
    monte_carlo("hashes/SHA3/SHA3_512Monte.rsp", SHA3_512);
}

fn messages(file: &str, expected: usize, hashes: [Hash; 2]) {
    let Some(text) = vectors(file) else { return };
    let mut executed = 0;
    for record in parse(&text, "Len") {
        let mut message = record.bytes("Msg");
        message.truncate(record.number("Len") / 8);
        for hash in hashes {
            assert_eq!(
                hash(&message),
                record.bytes("MD"),
                "{file}: length {}",
                record.text("Len")
            );
        }
        executed += 1;
    }
    counted(file, executed, expected);
}

/// The SHA-3 validation system's section 6.2.3: each digest is the message of the next, a thousand
/// times per record.
fn monte_carlo(file: &str, hash: Hash) {
    let Some(text) = vectors(file) else { return };
    let mut digest = Vec::new();
    let mut executed = 0;
    for record in parse(&text, "COUNT") {
        if digest.is_empty() {
            digest = record.bytes("Seed");
        }
        for _ in 0..1000 {
            digest = hash(&digest);
        }
        assert_eq!(
            digest,
            record.bytes("MD"),
            "{file}: {}",
            record.text("COUNT")
        );
        executed += 1;
    }
    counted(file, executed, 100);
}

fn sha3_256_in_pieces(data: &[u8]) -> Vec<u8> {
    let mut hash = Sha3_256::new();
    data.chunks(61).for_each(|piece| hash.update(piece));
    hash.finish().to_vec()
}

fn sha3_512_in_pieces(data: &[u8]) -> Vec<u8> {
    let mut hash = Sha3_512::new();
    data.chunks(61).for_each(|piece| hash.update(piece));
    hash.finish().to_vec()
}
