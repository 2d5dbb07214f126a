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
//! | `errors` | errors of the crates as exceptions, and exceptions through `std::io` |
//! | `file` | sealed files |
//! | `hashes` | Skein, its tree, and BLAKE2b |
//! | `lock` | locks for which nobody waits for ever |
//! | `named` | files of a path, whose errors name it |
//! | `nested` | a mutex that refuses the thread that holds it |
//! | `number` | numbers of Python, which may be out of range |
//! | `output` | the `bytes` object that a call returns |
//! | `package` | packages: signing, verifying, evidence |
//! | `passport` | passports |
//! | `place` | where a new file goes, and what it replaces |
//! | `process` | the process that holds a secret, and its processors |
//! | `stream` | paths, file objects and memory |
//! | `timestamp` | timestamps of third parties |
//! | `token` | anonymous tokens |
//! | `trust` | the trust store |
//! | `view` | buffers of Python, read and written in pieces |
//! | `watch` | progress, signals and cancellation of long calls |
#![deny(unsafe_code)]

mod argon2;
mod data;
mod errors;
mod file;
mod hashes;
mod lock;
mod named;
mod nested;
mod number;
mod output;
mod package;
mod passport;
mod place;
mod process;
mod stream;
mod timestamp;
mod token;
mod trust;
mod view;
mod watch;

use pyo3::prelude::*;

/// The module `sealstone._native`.
#[pymodule(gil_used = false)]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::argon2::{Memory, Pepper, argon2_calibrate, argon2_hash, argon2_verify};

    #[pymodule_export]
    use crate::file::{Reader, open, recipients, seal};

    #[pymodule_export]
    use crate::passport::{Passport, PublicPassport, public_passport};

    #[pymodule_export]
    use crate::package::{Checked, Package, package_check, package_sign};

    #[pymodule_export]
    use crate::timestamp::{
        Roots, timestamp_answer, timestamp_renewal, timestamp_request, timestamp_verify,
    };

    #[pymodule_export]
    use crate::token::{
        Challenge, IssuerKey, IssuerPublicKey, Pending, Token, token_challenge_header,
        token_challenges, token_directory,
    };

    #[pymodule_export]
    use crate::trust::TrustStore;

    #[pymodule_export]
    use crate::hashes::{Blake2b, PySkein256, PySkein512, PySkein1024, SkeinTree, verify_piece};

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::lock::notice_forks(module.py())
    }
}
