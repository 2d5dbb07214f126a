//! Errors.

use core::fmt;

/// The reason why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A parameter that RFC 9106 does not allow.
    Parameter(&'static str),
    /// An input of 2^32 bytes or more.
    TooLong(&'static str),
    /// The system does not give this much memory, in KiB.
    OutOfMemory(u64),
    /// The memory of the caller has fewer blocks than this.
    MemoryTooSmall(u64),
    /// The cancel flag was set.
    Cancelled,
    /// The pool did not do its tasks.
    Pool,
    /// The system gives no random bytes.
    Random,
    /// Not a canonical PHC string of Argon2.
    Malformed(&'static str),
    /// A string asks for more than the limits allow.
    Limit {
        /// The quantity, with its unit.
        what: &'static str,
        /// How much the string asks for.
        wanted: u64,
        /// How much is allowed.
        allowed: u64,
    },
    /// The password is not the one that was hashed.
    Mismatch,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameter(rule) => write!(f, "Argon2 parameters: {rule}"),
            Self::TooLong(input) => write!(f, "{input} is too long: Argon2 takes less than 4 GiB"),
            Self::OutOfMemory(kib) => write!(f, "not enough memory: Argon2 needs {kib} KiB"),
            Self::MemoryTooSmall(blocks) => write!(
                f,
                "too little memory was given: Argon2 needs {blocks} blocks of 1 KiB"
            ),
            Self::Cancelled => f.write_str("cancelled"),
            Self::Pool => f.write_str("the thread pool did not do its work"),
            Self::Random => f.write_str("the system gives no random bytes"),
            Self::Malformed(what) => write!(f, "not an Argon2 password hash: {what}"),
            Self::Limit {
                what,
                wanted,
                allowed,
            } => {
                write!(
                    f,
                    "the password hash asks for {wanted} {what}, more than the {allowed} that are allowed"
                )
            }
            Self::Mismatch => f.write_str("wrong password"),
        }
    }
}

impl core::error::Error for Error {}
