//! The end of a sealed file: its lengths and the sender's signatures, encrypted.

use super::one_time::TAG_LEN;
use super::private::Private;
use crate::sign::{SIGNATURE_LEN, Signature};
use crate::{Error, Result};

/// Lengths of the payload (ciphertext) and of the content.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Trailer {
    pub(crate) payload_len: u64,
    pub(crate) content_len: u64,
}

/// The part of a trailer after the lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// The sender's signatures.
    Signatures,
    /// As many zeros: a uniform file without a sender.
    Zeros,
    Nothing,
}

/// Bytes of the longest trailer.
pub(crate) const MAX_LEN: usize = LENGTHS_LEN + SIGNATURE_LEN + TAG_LEN;

const LENGTHS_LEN: usize = 16;
const BAD: Error = Error::Malformed("trailer");

impl Tail {
    pub(crate) fn of(private: &Private) -> Self {
        match (private.sender.is_signed(), private.uniform) {
            (true, _) => Self::Signatures,
            (false, true) => Self::Zeros,
            (false, false) => Self::Nothing,
        }
    }

    /// Bytes of the trailer in the file.
    pub(crate) fn sealed_len(self) -> usize {
        match self {
            Self::Signatures | Self::Zeros => MAX_LEN,
            Self::Nothing => LENGTHS_LEN + TAG_LEN,
        }
    }
}

impl Trailer {
    /// The bytes that the sender signs: header, lengths, root of the ciphertext.
    pub(crate) fn signed_message(&self, header_digest: &[u8; 64], root: &[u8; 64]) -> Vec<u8> {
        [&header_digest[..], &self.lengths(), &root[..]].concat()
    }

    /// The plaintext of the trailer; zeros stand for a signature in a uniform file.
    pub(crate) fn encode(&self, signature: Option<&Signature>, uniform: bool) -> Vec<u8> {
        let mut bytes = self.lengths().to_vec();
        match signature {
            Some(signature) => bytes.extend(signature.to_bytes()),
            None if uniform => bytes.resize(LENGTHS_LEN + SIGNATURE_LEN, 0),
            None => {}
        }
        bytes
    }

    pub(crate) fn decode(plaintext: &[u8], tail: Tail) -> Result<(Self, Option<Signature>)> {
        let (payload_len, rest) = plaintext.split_first_chunk().ok_or(BAD)?;
        let (content_len, rest) = rest.split_first_chunk().ok_or(BAD)?;
        let signature = match tail {
            Tail::Signatures => Some(Signature::from_bytes(rest)?),
            Tail::Zeros if rest == [0; SIGNATURE_LEN] => None,
            Tail::Nothing if rest.is_empty() => None,
            Tail::Zeros | Tail::Nothing => return Err(BAD),
        };
        let trailer = Self {
            payload_len: u64::from_be_bytes(*payload_len),
            content_len: u64::from_be_bytes(*content_len),
        };
        Ok((trailer, signature))
    }

    fn lengths(&self) -> [u8; LENGTHS_LEN] {
        let mut bytes = [0; LENGTHS_LEN];
        bytes[..8].copy_from_slice(&self.payload_len.to_be_bytes());
        bytes[8..].copy_from_slice(&self.content_len.to_be_bytes());
        bytes
    }
}
