//! The one error of this crate.

use std::fmt;

/// A cryptographic operation failed.
///
/// Deliberately flat: it does not say whether a key, a length, a tag or a signature was wrong,
/// because that is what an attacker would like to know. Callers who owe the user an explanation
/// know what they were doing and say so themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cryptographic operation failed")
    }
}

impl std::error::Error for Error {}
