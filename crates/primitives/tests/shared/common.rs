//! Helpers of several test binaries.
#![allow(dead_code, reason = "no test binary uses everything")]

use std::path::PathBuf;

use sealstone_primitives::secret::Secret;
pub(crate) use sealstone_testing::unhex as hex;

/// The bytes of a hexadecimal string of a fixed length.
pub(crate) fn hex_array<const N: usize>(text: &str) -> [u8; N] {
    array(&hex(text))
}

/// A slice of a fixed length.
pub(crate) fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("the right length")
}

/// A secret of a fixed length.
pub(crate) fn secret<const N: usize>(bytes: &[u8]) -> Secret<N> {
    Secret::from_slice(bytes).expect("the right length")
}

/// `len` bytes that repeat with an odd period, so that swapped blocks show.
pub(crate) fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8).collect()
}

/// The downloaded file `name`. Without it, prints that the test is skipped
/// (`scripts/fetch-vectors`).
pub(crate) fn vectors(name: &str) -> Option<String> {
    let tools = || concat!(env!("CARGO_MANIFEST_DIR"), "/../../.tools").into();
    let directory = std::env::var_os("SEALSTONE_VECTORS").map_or_else(tools, PathBuf::from);
    let path = directory.join("vectors").join(name);
    if !path.exists() {
        println!("skipped: {name} is not there; run scripts/fetch-vectors");
        return None;
    }
    Some(std::fs::read_to_string(path).expect("a readable file of vectors"))
}

/// Prints the number of agreeing cases of a set. Fails if it is not the whole set.
pub(crate) fn counted(set: &str, executed: usize, expected: usize) {
    assert_eq!(executed, expected, "{set}: every case is executed");
    println!("{set}: {executed} cases, 0 disagreements");
}
