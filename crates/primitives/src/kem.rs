//! Key encapsulation.

pub mod ml_kem_1024;
