//! HMAC-SHA3-256 (FIPS 198-1 over FIPS 202).

use std::fmt;

use crate::ffi::hmac::Context;
use crate::secret::Secret;
use crate::{Error, ct};

/// A message authentication code over data that arrives in pieces. The key lives on locked pages.
///
/// ```
/// use sealstone_primitives::mac::HmacSha3_256;
///
/// let mut mac = HmacSha3_256::new(b"key");
/// mac.update(b"message");
/// let tag = mac.finish();
///
/// let mut mac = HmacSha3_256::new(b"key");
/// mac.update(b"message");
/// assert!(mac.verify(&tag).is_ok());
/// ```
pub struct HmacSha3_256(Context);

impl HmacSha3_256 {
    /// The length of a tag in bytes.
    pub const TAG_LEN: usize = 32;

    /// A code under a key of any length; 32 bytes is the right one.
    #[must_use]
    pub fn new(key: &[u8]) -> Self {
        Self(Context::new(key))
    }

    /// Appends `data` to the message.
    pub fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    /// The tag of everything appended.
    #[must_use]
    pub fn finish(mut self) -> [u8; 32] {
        let mut tag = [0; 32];
        self.0.finish_into(&mut tag);
        tag
    }

    /// The tag as a secret, for use as a key.
    #[must_use]
    pub fn finish_secret(mut self) -> Secret<32> {
        Secret::with(|tag| self.0.finish_into(tag))
    }

    /// Compares the tag of everything appended with `tag` in constant time.
    ///
    /// # Errors
    /// If they differ. Truncated tags are not accepted.
    pub fn verify(self, tag: &[u8]) -> Result<(), Error> {
        if ct::eq(self.finish_secret().expose(), tag) {
            Ok(())
        } else {
            Err(Error)
        }
    }
}

impl fmt::Debug for HmacSha3_256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HmacSha3_256(..)")
    }
}
