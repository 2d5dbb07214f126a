//! Strings of password hashes.

use arbitrary::Unstructured;
use sealstone_argon2::{Arena, Error, Limits, Params, PasswordHasher, PhcString};

use crate::PLANTED;
use crate::edit::edited;

/// A string of each kind: the example of C2SP's specification, old strings with and without a
/// version, and one with all fields.
const GOLDEN: [&str; 4] = [
    "$argon2id$v=19$m=65536,t=2,p=1$gZiV/M1gPc22ElAH/Jh1Hw$CWOrkoo7oJBQ/iyh7uJ0LO2aLEfrHwTWllSAxT0zRno",
    "$argon2d$v=16$m=256,t=2,p=2$c29tZXNhbHQ$gwTB7J3R6/4M1i2G6Yyd6K70l3Q5kTzM",
    "$argon2i$m=256,t=2,p=1$c29tZXNhbHQ$/U3YPXYsSb3q9XxHvc0MLxur+GP960kN9j7emXX8zwY",
    "$argon2i$v=19$m=8,t=1,p=1,keyid=Zm9v,data=Zm9vYg$c29tZXNhbHQ$c29tZXRhZ3NvbWV0",
];

/// The largest cost of verifying a string here.
const LIMITS: Limits = Limits {
    memory_kib: 256,
    work_kib: 512,
};

/// An accepted string is the canonical one of its hash, except for the version. A string that costs
/// too much is refused.
pub fn phc_string(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let mode = bytes.arbitrary::<u8>().map_or(0, usize::from);
    let text = match GOLDEN.get(mode % 5) {
        Some(golden) => edited(golden.as_bytes(), &mut bytes),
        None => bytes.take_rest().to_vec(),
    };
    let text = String::from_utf8_lossy(&text);
    // PLANTED: leading zeros are accepted.
    let read = if PLANTED {
        text.replacen("t=0", "t=", 1)
    } else {
        text.clone().into_owned()
    };
    let Ok(hash) = read.parse::<PhcString>() else {
        return;
    };
    // Only version 1.0 may be omitted.
    let canonical = hash.to_string();
    assert!(text == canonical || text == canonical.replacen("$v=16", "", 1));
    assert!((8..=48).contains(&hash.salt().len()) && (12..=64).contains(&hash.tag().len()));
    let params = hash.params();
    assert!(Params::new(params.memory_kib(), params.passes(), params.lanes()).is_ok());
    let mut arena = Arena::new();
    let hasher = PasswordHasher::new(Params::INTERACTIVE).limits(LIMITS);
    match hasher.verify(b"fuzzer's guess", &text, &mut arena) {
        Err(Error::Mismatch) => assert!(LIMITS.check(params).is_ok()),
        Err(Error::Limit { .. }) => assert_eq!(arena.kib(), 0),
        other => panic!("{other:?}"),
    }
}
