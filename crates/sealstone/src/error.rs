//! Errors, in words that help a user to act.

use std::fmt;
use std::io;

use crate::lifecycle::Refusal;

/// Every failure of this crate.
///
/// Cryptographic failures say which part of the object failed and nothing about how: an attacker
/// who sees the message learns nothing that the object itself does not show.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Reading or writing failed.
    Io(io::Error),
    /// The bytes break a rule of the format; the text names it.
    Malformed(&'static str),
    /// The bytes are of another kind than the caller wants.
    OtherKind {
        /// The kind that is wanted, as "a sealed file".
        wanted: &'static str,
        /// The kind that was found, if it is known: "this is a public passport", "it is empty".
        found: Option<&'static str>,
    },
    /// Armored text breaks a rule, as if a part of it was lost; the text names the rule.
    Armor(&'static str),
    /// More text follows an armored object than may.
    TooMuchAfterArmor,
    /// The bytes follow a newer version of the format than this one reads.
    Unsupported(&'static str),
    /// No passphrase or recovery key that was given opens any slot or stanza.
    WrongPassphrase,
    /// None of the passports that were given is a recipient of the file.
    NotRecipient,
    /// The named part was changed, cut, or exchanged after it was made.
    Altered(&'static str),
    /// Argon2id would need more memory (KiB) or work (KiB × passes) than the limits allow.
    KdfLimit {
        /// The amount that the object asks for.
        wanted: u64,
        /// The most that the caller allows.
        allowed: u64,
        /// Which of the two is exceeded: `"memory"` or `"work"`.
        what: &'static str,
    },
    /// The system has not the memory that Argon2id needs, in KiB.
    OutOfMemory(u32),
    /// An argument of the caller is out of range; the text says which one, and its range.
    Invalid(&'static str),
    /// The word at this place, counted from 1, is not on the list that it must be from.
    UnknownWord(usize),
    /// The file was signed by somebody other than the caller expects, or not at all.
    WrongSender,
    /// The user's own key may not sign, or its lifecycle may not change in this way.
    KeyLifecycle(Refusal),
    /// A trust store that was changed by something other than this program; the text says where.
    StoreAltered(&'static str),
    /// The trust store, or the part of it that is for strangers, has no room for another entry.
    StoreFull,
}

/// The part that [`Error::Altered`] names if a file ends too early.
pub(crate) const END_OF_FILE: &str = "end of the file";

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(e) => write!(f, "{e}"),
            Self::Malformed(what) => write!(f, "malformed: {what}"),
            Self::OtherKind {
                wanted,
                found: None,
            } => write!(f, "not {wanted}"),
            Self::OtherKind {
                wanted,
                found: Some(found),
            } => write!(f, "not {wanted}: {found}"),
            Self::Armor(what) => write!(f, "malformed: armor: {what}"),
            Self::TooMuchAfterArmor => {
                write!(f, "malformed: armor: too much follows the END line")
            }
            Self::Unsupported(what) => write!(f, "made by a newer version: {what}"),
            Self::WrongPassphrase => write!(f, "wrong passphrase"),
            Self::NotRecipient => write!(
                f,
                "sealed for somebody else: none of the given passports is a recipient"
            ),
            Self::Altered(END_OF_FILE) => write!(f, "the file is cut short"),
            // If the end was cut off, the last part that remains does not fit.
            Self::Altered(part @ ("content" | "trailer")) => {
                write!(
                    f,
                    "the {part} was altered or damaged, or the file is cut short"
                )
            }
            Self::Altered(part) => write!(f, "the {part} was altered or damaged"),
            Self::KdfLimit {
                wanted,
                allowed,
                what,
            } => {
                write!(
                    f,
                    "the key derivation asks for {wanted} KiB of {what}; the limit is {allowed} KiB"
                )
            }
            Self::OutOfMemory(kib) => write!(
                f,
                "the key derivation needs {kib} KiB of memory, which the system does not have"
            ),
            Self::Invalid(what) => write!(f, "{what}"),
            Self::UnknownWord(place) => write!(f, "word {place} is not on the BIP-39 English list"),
            Self::WrongSender => write!(f, "signed by somebody else than expected"),
            Self::KeyLifecycle(refusal) => write!(f, "{refusal}"),
            Self::StoreAltered(what) => write!(f, "the trust store was altered: {what}"),
            Self::StoreFull => write!(f, "the trust store is full"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(e) => Some(e),
            _ => None,
        }
    }
}

impl From<io::Error> for Error {
    /// Unpacks an [`Error`] inside an [`io::Error`], as our own [`std::io::Read`] returns it.
    fn from(e: io::Error) -> Self {
        e.downcast::<Error>().unwrap_or_else(Self::Io)
    }
}

impl From<Error> for io::Error {
    fn from(e: Error) -> Self {
        match e {
            Error::Io(e) => e,
            other => Self::new(io::ErrorKind::InvalidData, other),
        }
    }
}
