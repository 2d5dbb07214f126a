//! The specifications of the kernels. They follow the standards step by step and ignore speed.
//!
//! They are written once, over an [algebra](sealstone_prover::algebra). On numbers they run against
//! published vectors. On formulas they are compared with machine code. They share nothing with the
//! implementation: no constant, no table, no helper.

pub mod aes;
pub mod argon2;
pub mod blake2b;
pub mod blake3;
pub mod chacha20;
pub mod ghash;
pub mod keccak;
pub mod poly1305;
pub mod sha256;
pub mod sha512;
pub mod skein;
pub mod threefish;
