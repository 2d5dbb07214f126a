//! The native half of the Python package `sealstone`.
//!
//! It converts arguments and errors, and gives up Python's lock while the crates below it work.
//! `package/sealstone/_native.pyi` specifies what Python sees; the modules beside that file are the
//! public interface.
//!
//! | module | what |
//! |---|---|
//! | `argon2` | Argon2, and memory that is kept from hash to hash |
//! | `data` | bytes that Python holds |
//! | `hashes` | Skein, its tree, and BLAKE2b |
//! | `watch` | progress, signals and cancellation of long calls |
#![forbid(unsafe_code)]

mod argon2;
mod data;
mod hashes;
mod watch;

use pyo3::prelude::*;

/// The module `sealstone._native`.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::argon2::{Memory, Pepper, argon2_calibrate, argon2_hash, argon2_verify};

    #[pymodule_export]
    use crate::hashes::{Blake2b, PySkein256, PySkein512, PySkein1024, SkeinTree, verify_piece};

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
