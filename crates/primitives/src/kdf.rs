//! HKDF with SHA3-256 (RFC 5869).
//!
//! Inputs are given in parts that are hashed one after the other, so that callers need not
//! concatenate secrets on the heap. The parts are *not* separated: a caller whose parts vary in
//! length encodes the lengths.

use crate::Error;
use crate::ffi::hmac::{Context, TAG_LEN};
use crate::secret::Secret;

/// The most bytes that one expansion yields: 255 blocks (RFC 5869 section 2.3).
pub const MAX_OUTPUT_LEN: usize = 255 * TAG_LEN;

/// Extracts a pseudorandom key from the concatenated parts of `ikm` (RFC 5869 section 2.2).
///
/// ```
/// use sealstone_primitives::kdf;
///
/// let prk = kdf::extract(b"salt", &[b"input ", b"keying material"]);
/// let encryption = prk.expand_secret::<32>(&[b"encryption"]);
/// let authentication = prk.expand_secret::<32>(&[b"authentication"]);
/// assert_ne!(encryption, authentication);
/// ```
#[must_use]
pub fn extract(salt: &[u8], ikm: &[&[u8]]) -> Prk {
    let mut hmac = Context::new(salt);
    for part in ikm {
        hmac.update(part);
    }
    Prk(Secret::with(|prk| hmac.finish_into(prk)))
}

/// A pseudorandom key, from which any number of independent keys are expanded, one per `info`.
#[derive(Debug)]
pub struct Prk(Secret<TAG_LEN>);

impl Prk {
    /// Fills `out` with key material bound to the concatenated parts of `info` (RFC 5869 section
    /// 2.3).
    ///
    /// # Errors
    /// If `out` is longer than [`MAX_OUTPUT_LEN`].
    pub fn expand(&self, info: &[&[u8]], out: &mut [u8]) -> Result<(), Error> {
        if out.len() > MAX_OUTPUT_LEN {
            return Err(Error);
        }
        let mut hmac = Context::new(self.0.expose());
        let mut block = Secret::<TAG_LEN>::zeroed();
        for (counter, chunk) in (1_u8..=255).zip(out.chunks_mut(TAG_LEN)) {
            if counter > 1 {
                hmac.reset();
                hmac.update(block.expose());
            }
            for part in info {
                hmac.update(part);
            }
            hmac.update(&[counter]);
            hmac.finish_into(block.expose_mut());
            chunk.copy_from_slice(&block.expose()[..chunk.len()]);
        }
        Ok(())
    }

    /// `N` bytes of key material, at most [`MAX_OUTPUT_LEN`] (checked when compiling), bound to the
    /// concatenated parts of `info`.
    #[must_use]
    pub fn expand_secret<const N: usize>(&self, info: &[&[u8]]) -> Secret<N> {
        const { assert!(N <= MAX_OUTPUT_LEN) };
        Secret::with(|out| self.expand(info, out).expect("the length is in bounds"))
    }
}
