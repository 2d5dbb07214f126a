//! Skein as a MAC (Skein 1.3, section 4.3).

use crate::parameters::Parameters;
use crate::skein::Skein;
use crate::threefish::Block;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// A message being authenticated, with a state of `N` words (8 for Skein-512). It needs no HMAC.
///
/// ```
/// use sealstone_skein::Mac;
///
/// let key = [7; 32];
/// let tag = Mac::<8>::new(&key, 256).chain(b"message").finish();
/// assert!(Mac::<8>::new(&key, 256).chain(b"message").verify(&tag));
/// assert!(!Mac::<8>::new(&key, 256).chain(b"massage").verify(&tag));
/// ```
#[derive(Clone)]
pub struct Mac<const N: usize>(Skein<N>)
where
    [u64; N]: Block<u64>;

impl<const N: usize> Mac<N>
where
    [u64; N]: Block<u64>,
{
    /// A tag of `tag_bits` bits under `key`. Tags of different lengths are unrelated.
    ///
    /// # Panics
    /// If the key is empty, because the tag would be a plain hash. If `tag_bits` is 0, because
    /// every tag would be right.
    pub fn new(key: &[u8], tag_bits: u64) -> Self {
        Self::with(key, &Parameters::new().output_bits(tag_bits))
    }

    /// A tag with further parameters.
    ///
    /// # Panics
    /// As [`Mac::new`].
    pub fn with(key: &[u8], parameters: &Parameters<'_>) -> Self {
        assert!(!key.is_empty(), "a MAC without a key");
        assert!(parameters.bits::<N>() > 0, "a tag of no bits");
        Self(Skein::with(&parameters.key(key)))
    }

    /// Adds bytes to the message.
    pub fn update(&mut self, message: &[u8]) {
        self.0.update(message);
    }

    /// [`Mac::update`] by value.
    pub fn chain(self, message: &[u8]) -> Self {
        Self(self.0.chain(message))
    }

    /// The tag.
    pub fn finish(self) -> Vec<u8> {
        self.0.finish()
    }

    /// Whether `tag` is the tag, in a time that does not depend on where they differ.
    #[must_use]
    pub fn verify(self, tag: &[u8]) -> bool {
        Zeroizing::new(self.finish()).ct_eq(tag).into()
    }
}
