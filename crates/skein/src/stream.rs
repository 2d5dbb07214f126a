//! Skein as a stream cipher (Skein 1.3, section 4.10).

use crate::output::Output;
use crate::parameters::Parameters;
use crate::skein::Skein;
use crate::threefish::Block;

/// A key stream, with a state of `N` words. Seekable. Wiped when dropped.
///
/// It hides data, but does not detect changes: add a [`Mac`](crate::Mac).
///
/// ```
/// use sealstone_skein::StreamCipher;
///
/// let mut data = *b"attack at dawn";
/// StreamCipher::<8>::new(&[7; 32], b"nonce 1").apply(&mut data);
/// StreamCipher::<8>::new(&[7; 32], b"nonce 1").apply(&mut data);
/// assert_eq!(&data, b"attack at dawn");
/// ```
#[derive(Clone)]
pub struct StreamCipher<const N: usize>(Output<N>)
where
    [u64; N]: Block<u64>;

/// Whole bytes of a key stream.
const LENGTH: u64 = u64::MAX / 8;

impl<const N: usize> StreamCipher<N>
where
    [u64; N]: Block<u64>,
{
    /// The key stream of this key and nonce. Never use the same pair for two messages.
    ///
    /// # Panics
    /// If the key is empty.
    pub fn new(key: &[u8], nonce: &[u8]) -> Self {
        assert!(!key.is_empty(), "a stream cipher without a key");
        // This length means "not known in advance".
        let parameters = Parameters::new()
            .key(key)
            .nonce(nonce)
            .output_bits(u64::MAX);
        Self(Skein::with(&parameters).output())
    }

    /// Encrypts or decrypts `data` in place, and moves on by its length.
    ///
    /// # Panics
    /// After 2^61 - 1 bytes of key stream. (The length that means "not known" is one bit less than
    /// 2^61 bytes.)
    pub fn apply(&mut self, data: &mut [u8]) {
        let left = LENGTH - self.0.position();
        assert!(
            data.len() as u64 <= left,
            "{} bytes of {left} left",
            data.len()
        );
        self.0.xor_into(data);
    }

    /// Goes to byte `position` of the key stream.
    ///
    /// # Panics
    /// Beyond 2^61 - 1.
    pub fn seek(&mut self, position: u64) {
        assert!(position <= LENGTH, "byte {position} of {LENGTH}");
        self.0.seek(position);
    }
}
