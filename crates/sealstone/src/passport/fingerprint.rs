//! Fingerprints: 256 bits that name a passport.

use std::fmt;
use std::str::FromStr;

use data_encoding::HEXLOWER;
use minicbor::{Decode, Encode};
use sealstone_primitives::hash::sha3_256;

use crate::wire::text;
use crate::{Error, Result};

/// The name of a passport: a hash over all of its public keys (`spec/passport.md`).
///
/// Shown as 16 groups of 4 hexadecimal digits. Reading ignores case, dashes, white space and
/// invisible characters.
///
/// ```
/// use sealstone::passport::Fingerprint;
/// let shown = "0123-4567-89ab-cdef-0123-4567-89ab-cdef-0123-4567-89ab-cdef-0123-4567-89ab-cdef";
/// let fingerprint: Fingerprint = shown.parse()?;
/// assert_eq!(fingerprint.to_string(), shown);
/// assert_eq!(fingerprint.brief(), "0123-4567-89ab-cdef");
/// assert_eq!(fingerprint.half(), "0123-4567-89ab-cdef-0123-4567-89ab-cdef");
/// # Ok::<(), sealstone::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
#[cbor(transparent)]
pub struct Fingerprint(#[cbor(n(0), with = "minicbor::bytes")] [u8; 32]);

/// Characters of 16 digits in groups of 4.
const BRIEF_LEN: usize = 19;
/// Characters of 32 digits in groups of 4.
const HALF_LEN: usize = 39;
const DOMAIN: &[u8] = b"sealstone.fingerprint.v1\0";

impl Fingerprint {
    /// From the SHA3-256 of each public key, in the order of the specification.
    pub(crate) fn of_digests(digests: &[[u8; 32]; 5]) -> Self {
        Self(sha3_256(&Self::input_of(digests)))
    }

    /// The bytes that are hashed.
    pub(crate) fn input_of(digests: &[[u8; 32]; 5]) -> Vec<u8> {
        [DOMAIN, digests.as_flattened()].concat()
    }

    /// The 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// From its 32 bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The first 8 digits, for the names of files. They are too few for people to rely on: use
    /// [`Fingerprint::brief`].
    pub fn short(&self) -> String {
        HEXLOWER.encode(&self.0[..4])
    }

    /// The first 16 digits in groups of 4, for messages that also name the passport by its label.
    pub fn brief(&self) -> String {
        self.to_string()[..BRIEF_LEN].to_owned()
    }

    /// The first 32 digits in groups of 4, for commands that a message tells people to type. Nobody
    /// can find another passport that begins with them.
    pub fn half(&self) -> String {
        self.to_string()[..HALF_LEN].to_owned()
    }

    /// All digits without dashes.
    pub(crate) fn digits(&self) -> String {
        HEXLOWER.encode(&self.0)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, pair) in self.0.chunks_exact(2).enumerate() {
            write!(
                f,
                "{}{:02x}{:02x}",
                if i == 0 { "" } else { "-" },
                pair[0],
                pair[1]
            )?;
        }
        Ok(())
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

impl FromStr for Fingerprint {
    type Err = Error;

    fn from_str(typed: &str) -> Result<Self> {
        let bytes = HEXLOWER.decode(text::typed_digits(typed).as_bytes());
        let bytes = bytes.ok().and_then(|bytes| bytes.try_into().ok());
        bytes
            .map(Self)
            .ok_or(Error::Invalid("a fingerprint is 64 hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_spellings_are_read() {
        let plain = "00112233445566778899aabbccddeeff".repeat(2);
        let fingerprint: Fingerprint = plain.parse().unwrap();
        assert_eq!(
            fingerprint.to_string().parse::<Fingerprint>().unwrap(),
            fingerprint
        );
        assert_eq!(
            plain.to_uppercase().parse::<Fingerprint>().unwrap(),
            fingerprint
        );
        assert_eq!(
            fingerprint
                .to_string()
                .replace('-', " ")
                .parse::<Fingerprint>()
                .unwrap(),
            fingerprint
        );
    }

    #[test]
    fn other_text_is_refused() {
        for bad in ["", "00", &"0".repeat(63), &"0".repeat(66), &"g".repeat(64)] {
            assert!(bad.parse::<Fingerprint>().is_err(), "{bad}");
        }
    }
}
