//! Every change of a byte of a package with all parts is rejected, by the right layer.

use std::ops::Range;

use sealstone::package::{Json, Package, Verdict, Verifier};

use crate::common::{self, HMAC_KEY, POLICY, SECRET, TIME, passport};

const RESPONSE: &[u8] = b"some bytes that a time-stamping authority sent";
const ED25519_LEN: usize = 64;
const ML_DSA_65_LEN: usize = 3309;

/// A signer, a counter-signer and a timestamp without roots.
fn package() -> Vec<u8> {
    let mut package = common::package();
    package.countersign(&passport(2), TIME + 1).unwrap();
    package.attach_timestamp(RESPONSE).unwrap();
    package.encode()
}

/// The verdict on a package: `format`, or the bad layers, or an empty text if it is good.
fn say(bytes: &[u8]) -> String {
    let Ok(package) = Package::decode(bytes) else {
        return "format".to_owned();
    };
    let signer = passport(1);
    let report = Verifier::new()
        .signer(signer.contact())
        .hmac_key(HMAC_KEY)
        .secret(SECRET)
        .verify(&package);
    let bad = report.layers.iter().filter(|it| it.verdict == Verdict::Bad);
    let bad: Vec<&str> = bad.map(|it| it.layer.name()).collect();
    assert_eq!(bad.is_empty(), report.verdict == Verdict::Good);
    bad.join(" ")
}

/// The range of occurrence number `nth` of `part` in `whole`.
fn place(whole: &[u8], part: &[u8], nth: usize) -> Range<usize> {
    let mut windows = whole.windows(part.len()).enumerate();
    let start = windows
        .by_ref()
        .filter(|(_, found)| *found == part)
        .nth(nth)
        .unwrap()
        .0;
    start..start + part.len()
}

/// The parts of a package in order, and the possible verdicts after a change of one of their bytes.
/// Bytes between them are heads of CBOR and small numbers.
fn parts(bytes: &[u8]) -> Vec<(&'static str, Range<usize>, Vec<&'static str>)> {
    let package = Package::decode(bytes).unwrap();
    let (manifest, policy) = (package.manifest().encode(), Json::parse(POLICY).unwrap());
    let manifest = place(bytes, &manifest, 0);
    let policy = place(bytes, policy.as_str().as_bytes(), 0);
    let embedded = place(bytes, b"content", 0);
    let response = place(bytes, RESPONSE, 0);
    // A map's key and the head of a byte string of 32.
    let tag = policy.end + 3..policy.end + 35;
    let confirmation = tag.end + 3..tag.end + 35;
    let ml_dsa = [0x59, 0x0c, 0xed];
    let post_quantum = [0, 1].map(|i| {
        let head = place(bytes, &ml_dsa, i);
        head.end..head.end + ML_DSA_65_LEN
    });
    let [ed25519, ed25519_2] = post_quantum
        .clone()
        .map(|it| it.start - 3 - ED25519_LEN..it.start - 3);
    let [ml_dsa, ml_dsa_2] = post_quantum;
    let (both, last) = ("ed25519 ml-dsa-65", response.end + 2);
    vec![
        ("prefix", 0..10, vec!["format"]),
        // The policy, required layers, or digests may no longer fit too.
        (
            "manifest",
            manifest,
            vec![
                "format",
                "hmac ed25519 ml-dsa-65 keys",
                "content hmac ed25519 ml-dsa-65 keys",
                "hmac ed25519 ml-dsa-65 keys timestamp",
            ],
        ),
        ("policy", policy, vec!["content"]),
        ("tag", tag, vec!["hmac ed25519 ml-dsa-65"]),
        ("confirmation", confirmation, vec!["ed25519 ml-dsa-65 keys"]),
        // The counter-signature covers the signature before it.
        (
            "signer",
            confirmation_end(bytes)..ed25519.start - 2,
            vec!["format", both],
        ),
        ("ed25519", ed25519, vec![both]),
        ("ml-dsa-65", ml_dsa.clone(), vec![both]),
        (
            "counter-signer",
            ml_dsa.end..ed25519_2.start - 2,
            vec!["format", both],
        ),
        ("its ed25519", ed25519_2, vec!["ed25519"]),
        ("its ml-dsa-65", ml_dsa_2, vec!["ml-dsa-65"]),
        ("response", response, vec!["timestamp"]),
        ("its digest", last..last + 32, vec!["timestamp"]),
        ("embedded", embedded, vec!["content"]),
    ]
}

fn confirmation_end(bytes: &[u8]) -> usize {
    let policy = Json::parse(POLICY).unwrap();
    place(bytes, policy.as_str().as_bytes(), 0).end + 70
}

#[test]
fn every_change_of_a_byte_is_rejected_by_the_layer_that_should() {
    let bytes = package();
    assert_eq!(say(&bytes), "");
    let parts = parts(&bytes);
    assert!(parts.is_sorted_by(|a, b| a.1.end <= b.1.start), "{parts:?}");
    for at in 0..bytes.len() {
        let part = parts.iter().find(|(_, range, _)| range.contains(&at));
        let (name, expected) = part.map_or(("structure", None), |it| (it.0, Some(&it.2)));
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        let found = say(&changed);
        let right = expected.map_or(!found.is_empty(), |it| it.contains(&found.as_str()));
        assert!(right, "{name}, byte {at}: {found:?}");
    }
}
