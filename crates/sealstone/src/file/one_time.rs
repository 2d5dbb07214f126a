//! Encryption under keys that are used once.

use sealstone_primitives::aead::XChaCha20Poly1305;
use sealstone_primitives::secret::Secret;
use zeroize::Zeroizing;

/// XChaCha20-Poly1305 under a key that encrypts one message only: zero nonce, no associated data.
pub(crate) struct OneTime(XChaCha20Poly1305);

const ZERO_NONCE: [u8; 24] = [0; 24];
/// Bytes of an AEAD tag.
pub(crate) const TAG_LEN: usize = 16;

impl OneTime {
    pub(crate) fn new(key: &Secret<32>) -> Self {
        Self(XChaCha20Poly1305::new(key))
    }

    /// Ciphertext ‖ tag. Consumes the key: it must not encrypt anything else.
    pub(crate) fn seal(self, plaintext: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(plaintext.len() + TAG_LEN);
        out.extend_from_slice(plaintext);
        let tag = self.0.seal_in_place(&ZERO_NONCE, b"", &mut out);
        out.extend_from_slice(&tag);
        out
    }

    /// The plaintext, or nothing.
    pub(crate) fn open(&self, sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let (ciphertext, tag) = sealed.split_last_chunk::<TAG_LEN>()?;
        let mut out = Zeroizing::new(ciphertext.to_vec());
        self.0.open_in_place(&ZERO_NONCE, b"", &mut out, tag).ok()?;
        Some(out)
    }
}
