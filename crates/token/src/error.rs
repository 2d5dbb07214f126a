//! Errors. No variant depends on a secret.

use std::fmt;

/// Why a request, an answer, a token or a key is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Bytes that are not the canonical encoding of what they should be.
    Malformed(&'static str),
    /// An input that does not fit its length field.
    TooLong(&'static str),
    /// A batch that is empty or too long, or an answer with another number of elements.
    BatchLength(usize),
    /// An input that the protocol cannot use; this practically never happens by chance.
    InvalidInput,
    /// The issuer's proof or signature is wrong: another key, or a changed answer.
    Proof,
    /// A token type that is not known here.
    UnknownType(u16),
    /// A token type other than the one expected.
    WrongType {
        /// The type asked for.
        expected: u16,
        /// The type found.
        found: u16,
    },
    /// A request or token for a key other than the one given.
    WrongKey,
    /// A token for another challenge.
    WrongChallenge,
    /// A token whose authenticator the key does not confirm.
    Forged,
    /// RSA's keys are random: they cannot be derived from a seed.
    NotDerived,
    /// RSA has no requests for many tokens with one proof.
    NoBatch,
    /// Only the issuer can verify tokens of this type.
    NotPublic,
    /// The issuer refused this part of a request.
    Refused,
    /// No epoch accepts this at this time.
    NoEpoch,
    /// The caller of [`cancellable`](crate::cancellable) said that the work is not wanted any more.
    Cancelled,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(what) => write!(f, "malformed {what}"),
            Self::TooLong(what) => write!(f, "the {what} is too long"),
            Self::BatchLength(len) => write!(f, "a batch of {len} is not possible here"),
            Self::InvalidInput => f.write_str("this input cannot be used; take another"),
            Self::Proof => f.write_str("the issuer's proof is wrong"),
            Self::UnknownType(found) => write!(f, "unknown token type 0x{found:04x}"),
            Self::WrongType { expected, found } => {
                write!(
                    f,
                    "token type 0x{found:04x} where 0x{expected:04x} is expected"
                )
            }
            Self::WrongKey => f.write_str("this is for another issuer key"),
            Self::WrongChallenge => f.write_str("the token answers another challenge"),
            Self::Forged => f.write_str("the token is not one of this issuer key"),
            Self::NotDerived => f.write_str("RSA keys cannot be derived from a seed"),
            Self::NoBatch => f.write_str("RSA tokens cannot share one proof: ask one by one"),
            Self::NotPublic => f.write_str("only the issuer can verify tokens of this type"),
            Self::Refused => f.write_str("the issuer refused this part of the request"),
            Self::Cancelled => f.write_str("cancelled"),
            Self::NoEpoch => f.write_str("no key of the issuer accepts this now"),
        }
    }
}

impl std::error::Error for Error {}

impl From<sealstone_primitives::Error> for Error {
    /// The operations on groups fail only at the identity, which is not a valid element.
    fn from(_: sealstone_primitives::Error) -> Self {
        Self::Malformed("element")
    }
}
