//! Helpers for tests. Crates have this one as a dev-dependency.
//!
//! | for | use |
//! |---|---|
//! | BLAKE2b as in its RFC, with the vectors | [`rfc7693`] |
//! | Argon2 as in its RFC, with the vectors | [`rfc9106`] |
//! | the vectors of Argon2 that others collected | [`pyca`] |
//! | Skein as in its specification | [`skein`] |
//! | timestamps of a local authority | [`tsa`] |
//! | Redis and PostgreSQL | [`servers`] |
//! | secrets in the memory of this process | [`own_memory`] |
//!
//! The specifications share no code with the crates that they test.
#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
pub mod own_memory;
pub mod pyca;
pub mod rfc7693;
pub mod rfc9106;
#[cfg(target_os = "linux")]
pub mod servers;
pub mod skein;
pub mod tsa;

/// The bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of hexadecimal digits. All other characters are ignored.
pub fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
    let pairs = digits.chunks(2);
    pairs.map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
}

/// Whether an emulator runs this process, as `scripts/test-platforms` says by `SEALSTONE_EMULATED`.
pub fn is_emulated() -> bool {
    std::env::var_os("SEALSTONE_EMULATED").is_some()
}

/// [`is_emulated`], for tests that cannot run there: says that the test is skipped.
///
/// Such a process can neither look into its own memory from outside, which is the emulator's, nor
/// start itself again.
pub fn skipped_by_emulator() -> bool {
    if is_emulated() {
        println!("skipped: an emulator runs this process");
    }
    is_emulated()
}
