//! The specifications: each kernel as its standard says it, step by step, with no thought of speed.
//!
//! They are written once, over the arithmetic of [`Algebra`]. On [`Numbers`] they run against
//! published vectors; on [`Terms`] they give the formulas that machine code is compared with. They
//! share nothing with the implementation: no constant, no table, no helper.

pub mod argon2;
pub mod blake2b;
pub mod chacha20;
pub mod keccak;
pub mod sha256;
pub mod sha512;
pub mod skein;
pub mod threefish;
