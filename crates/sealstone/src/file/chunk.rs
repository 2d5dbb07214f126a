//! One chunk of the payload: STREAM (Hoang, Reyhanitabar, Rogaway, Vizár 2015) with the counter and
//! the last-flag in the nonce.

use sealstone_primitives::aead::{Aes256Gcm, XChaCha20Poly1305};
use sealstone_primitives::secret::Secret;

use super::header::Suite;
use super::one_time::TAG_LEN;
use crate::wire::pad;
use crate::{Error, Result};

/// Bytes of every chunk but the last, in the file.
pub(crate) const CHUNK_LEN: usize = 1 << 20;
/// Plaintext of a full chunk: content and padding.
pub(crate) const PLAIN_LEN: usize = CHUNK_LEN - TAG_LEN;
/// The most content of one chunk: one byte of the plaintext marks its end.
pub(crate) const CONTENT_LEN: usize = PLAIN_LEN - 1;
/// The shortest last chunk: no content, the mark, the tag.
pub(crate) const MIN_CHUNK_LEN: usize = 1 + TAG_LEN;
/// The most chunks of one file (256 TiB).
pub(crate) const MAX_CHUNKS: u64 = 1 << 28;

/// The payload cipher of a suite under one file's payload key. Shared by all worker threads.
pub(crate) enum ChunkCipher {
    XChaCha(XChaCha20Poly1305),
    AesGcm(Aes256Gcm),
}

impl ChunkCipher {
    pub(crate) fn new(suite: Suite, key: &Secret<32>) -> Self {
        match suite {
            Suite::XChaCha20Poly1305 => Self::XChaCha(XChaCha20Poly1305::new(key)),
            Suite::Aes256Gcm => Self::AesGcm(Aes256Gcm::new(key)),
        }
    }

    /// Encrypts the padded plaintext of chunk `index` in place.
    ///
    /// `chunk` ends with room for the tag. Returns the length of `chunk`.
    pub(crate) fn seal(&self, index: u64, last: bool, chunk: &mut [u8]) -> usize {
        let (body, room) = chunk.split_at_mut(chunk.len() - TAG_LEN);
        let tag = match self {
            Self::XChaCha(cipher) => cipher.seal_in_place(&nonce(index, last), b"", body),
            Self::AesGcm(cipher) => cipher.seal_in_place(&nonce(index, last), b"", body),
        };
        room.copy_from_slice(&tag);
        chunk.len()
    }

    /// Decrypts a chunk in place. Returns the bytes of content in it.
    pub(crate) fn open(&self, index: u64, last: bool, chunk: &mut [u8]) -> Result<usize> {
        let (body, tag) = chunk.split_last_chunk_mut::<TAG_LEN>().ok_or(ALTERED)?;
        let opened = match self {
            Self::XChaCha(cipher) => cipher.open_in_place(&nonce(index, last), b"", body, tag),
            Self::AesGcm(cipher) => cipher.open_in_place(&nonce(index, last), b"", body, tag),
        };
        opened.map_err(|_| ALTERED)?;
        pad::content_len(body)
    }
}

/// The length of the payload for a number of bytes of content and padding.
pub(crate) fn payload_len(padded_len: u64) -> u64 {
    let chunks = padded_len.div_ceil(CONTENT_LEN as u64).max(1);
    padded_len.saturating_add(chunks * MIN_CHUNK_LEN as u64)
}

/// Bytes of content and padding in a payload of this length; `None` if it is too short.
pub(crate) fn padded_len(payload_len: u64) -> Option<u64> {
    let chunks = payload_len.div_ceil(CHUNK_LEN as u64).max(1);
    payload_len.checked_sub(chunks * MIN_CHUNK_LEN as u64)
}

const ALTERED: Error = Error::Altered("content");

/// `zeros ‖ u64(index) ‖ last`.
fn nonce<const N: usize>(index: u64, last: bool) -> [u8; N] {
    let mut nonce = [0; N];
    nonce[N - 9..N - 1].copy_from_slice(&index.to_be_bytes());
    nonce[N - 1] = u8::from(last);
    nonce
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_lead_back_to_each_other() {
        let full = CONTENT_LEN as u64;
        for len in [
            0,
            1,
            full - 1,
            full,
            full + 1,
            2 * full,
            2 * full + 1,
            1 << 40,
        ] {
            assert_eq!(padded_len(payload_len(len)), Some(len));
        }
        assert_eq!(payload_len(0), MIN_CHUNK_LEN as u64);
        assert_eq!(payload_len(full), CHUNK_LEN as u64);
        assert_eq!(
            payload_len(full + 1),
            (CHUNK_LEN + MIN_CHUNK_LEN + 1) as u64
        );
        assert_eq!(padded_len(MIN_CHUNK_LEN as u64 - 1), None);
        assert_eq!(payload_len(u64::MAX), u64::MAX);
    }

    #[test]
    fn nonces_are_those_of_the_specification() {
        assert_eq!(
            nonce::<12>(0x0102, true),
            [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 1]
        );
        assert_eq!(nonce::<24>(1, false)[15..], [0, 0, 0, 0, 0, 0, 0, 1, 0]);
        assert_eq!(
            nonce::<24>(u64::MAX, false)[..16],
            [&[0; 15][..], &[0xff]].concat()
        );
    }
}
