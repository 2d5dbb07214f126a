//! The end of a sealed file: its lengths and the sender's signatures, encrypted.

use super::header::TAG_LEN;
use crate::sign::{SIGNATURE_LEN, Signature};
use crate::{Error, Result};

/// Lengths of the payload (ciphertext) and of the content.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Trailer {
    pub(crate) payload_len: u64,
    pub(crate) content_len: u64,
}

const LENGTHS_LEN: usize = 16;

/// Bytes of the trailer in the file.
pub(crate) const fn sealed_len(signed: bool) -> usize {
    LENGTHS_LEN + TAG_LEN + if signed { SIGNATURE_LEN } else { 0 }
}

impl Trailer {
    /// What the sender signs: header, lengths, root of the ciphertext.
    pub(crate) fn signed_message(&self, header_digest: &[u8; 64], root: &[u8; 64]) -> Vec<u8> {
        [&header_digest[..], &self.lengths(), &root[..]].concat()
    }

    /// The plaintext of the trailer.
    pub(crate) fn encode(&self, signature: Option<&Signature>) -> Vec<u8> {
        let mut bytes = self.lengths().to_vec();
        if let Some(signature) = signature {
            bytes.extend(signature.to_bytes());
        }
        bytes
    }

    pub(crate) fn decode(plaintext: &[u8], signed: bool) -> Result<(Self, Option<Signature>)> {
        const BAD: Error = Error::Malformed("trailer");
        let (payload_len, rest) = plaintext.split_first_chunk().ok_or(BAD)?;
        let (content_len, rest) = rest.split_first_chunk().ok_or(BAD)?;
        let signature = match signed {
            true => Some(Signature::from_bytes(rest)?),
            false if rest.is_empty() => None,
            false => return Err(BAD),
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
