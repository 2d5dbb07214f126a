//! Why a service does not start, or an operator's command fails.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The text for operators.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A file or a socket.
    Io(PathBuf, io::Error),
    /// The passport cannot be unlocked.
    Passport(PathBuf, sealstone::Error),
    /// A cryptographic operation on files or passports.
    Sealstone(sealstone::Error),
    /// A key or a token.
    Token(sealstone_token::Error),
    /// The store.
    Store(StoreError),
    /// Something in the store is not what it was.
    Damaged(String),
    /// The configuration, with what to change.
    Config(String),
    /// The issuer of a verifier: it does not answer, or not with what it should.
    Issuer(String),
    /// The challenge of an origin: it is not answered.
    Challenge(String),
}

/// The result of what an operator starts.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A failure of the system with a file.
    #[must_use]
    pub fn io(path: &Path, error: io::Error) -> Self {
        Self::Io(path.to_owned(), error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Passport(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Sealstone(error) => write!(f, "{error}"),
            Self::Token(error) => write!(f, "{error}"),
            Self::Store(error) => write!(f, "{error}"),
            Self::Damaged(what) => write!(f, "{what} in the store was altered"),
            Self::Config(what) => write!(f, "configuration: {what}"),
            Self::Issuer(what) => write!(f, "the issuer: {what}"),
            Self::Challenge(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Error {}

impl From<sealstone::Error> for Error {
    fn from(error: sealstone::Error) -> Self {
        Self::Sealstone(error)
    }
}

impl From<sealstone_token::Error> for Error {
    fn from(error: sealstone_token::Error) -> Self {
        Self::Token(error)
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// A store that cannot answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreError {
    /// More changes wait than the store takes: try again soon.
    Busy,
    /// The store failed. An operator has to look at it.
    Unavailable(String),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy => f.write_str("the store is busy: try again soon"),
            Self::Unavailable(cause) => write!(f, "the store does not work: {cause}"),
        }
    }
}

impl std::error::Error for StoreError {}
