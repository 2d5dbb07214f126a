//! Random inputs through aws-lc and through independent implementations (RustCrypto, dalek), which
//! must agree.

mod curve25519;
mod ml_dsa;
mod ml_kem;
mod symmetric;

#[path = "../shared/common.rs"]
mod common;
