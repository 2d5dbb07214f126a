//! Diffie-Hellman key agreement.

pub mod x25519;
