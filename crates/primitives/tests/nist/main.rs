//! NIST's vectors, as collected by pyca/cryptography (`scripts/fetch-vectors` downloads them).

mod aes_gcm;
mod ed25519;
mod ml_dsa;
mod ml_kem;
mod sha3;
mod x25519;

#[path = "../shared/common.rs"]
mod common;
mod records;
