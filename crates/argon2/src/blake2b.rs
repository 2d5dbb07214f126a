//! BLAKE2b (RFC 7693): with a key or without, of any output length, in one piece or streaming.

mod compress;
mod engine;
mod stream;

pub use compress::{IV, Input, compress};
pub use engine::{Byte, Count, Engine, compress_on};
pub use stream::{BLOCK, Block, Chain, LONGEST, Stream};

use sealstone_lanes::Cpu;
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// A message being hashed. Wiped on drop.
///
/// ```
/// use sealstone_argon2::blake2b::Blake2b;
///
/// let whole = Blake2b::hash(b"one part, and another");
/// let mut parts = Blake2b::new(64);
/// parts.update(b"one part, ");
/// parts.update(b"and another");
/// assert_eq!(parts.finish().as_ref(), whole);
///
/// let tag = Blake2b::keyed(&[7; 32], 16).chain(b"message").finish();
/// assert_eq!(tag.as_ref().len(), 16);
/// assert!(Blake2b::keyed(&[7; 32], 16).chain(b"message").verify(tag.as_ref()));
/// ```
#[derive(Clone)]
pub struct Blake2b {
    stream: Stream<Cpu>,
    output: usize,
}

/// A hash of 1 to 64 bytes, which [`AsRef`] gives. It may be a MAC or a key, so it is wiped on
/// drop, not shown by `Debug`, and compared in constant time.
#[derive(Clone)]
pub struct Digest {
    bytes: [u8; LONGEST],
    len: usize,
}

impl Blake2b {
    /// A hash of `output` bytes. Hashes of different lengths are unrelated.
    ///
    /// # Panics
    /// If `output` is not 1 to 64.
    pub fn new(output: usize) -> Self {
        Self::keyed(&[], output)
    }

    /// A hash of `output` bytes under `key`: a MAC (section 2.9). An empty key means no key.
    ///
    /// # Panics
    /// If `output` is not 1 to 64, or the key is longer than 64 bytes.
    pub fn keyed(key: &[u8], output: usize) -> Self {
        Self::on(Cpu::best(), key, output)
    }

    /// [`Blake2b::keyed`] on this instruction set: for tests and measurements.
    ///
    /// # Panics
    /// As [`Blake2b::keyed`].
    pub fn on(cpu: Cpu, key: &[u8], output: usize) -> Self {
        assert!((1..=LONGEST).contains(&output), "1 to 64 bytes of output");
        assert!(key.len() <= LONGEST, "a key of at most 64 bytes");
        Self {
            stream: Stream::new(cpu, key, output),
            output,
        }
    }

    /// The 64-byte hash of a message in one piece.
    pub fn hash(message: &[u8]) -> [u8; LONGEST] {
        Self::new(LONGEST).chain(message).finish().bytes
    }

    /// Adds bytes to the message.
    pub fn update(&mut self, message: &[u8]) {
        self.stream.update(message);
    }

    /// [`Blake2b::update`] by value.
    #[must_use]
    pub fn chain(mut self, message: &[u8]) -> Self {
        self.update(message);
        self
    }

    /// The hash.
    pub fn finish(mut self) -> Digest {
        let mut digest = Digest {
            bytes: [0; LONGEST],
            len: self.output,
        };
        self.stream.finish_into(&mut digest.bytes);
        digest.bytes[self.output..].zeroize();
        digest
    }

    /// Whether `tag` is the hash, in a time that does not depend on where they differ.
    #[must_use]
    pub fn verify(self, tag: &[u8]) -> bool {
        let digest = self.finish();
        digest.as_ref().ct_eq(tag).into()
    }
}

impl core::fmt::Debug for Blake2b {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Blake2b(..)")
    }
}

impl AsRef<[u8]> for Digest {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl PartialEq for Digest {
    /// Compares in a time that does not depend on where they differ.
    fn eq(&self, other: &Self) -> bool {
        self.as_ref().ct_eq(other.as_ref()).into()
    }
}

impl Eq for Digest {}

impl core::fmt::Debug for Digest {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Digest({} bytes)", self.len)
    }
}

impl Drop for Digest {
    fn drop(&mut self) {
        self.zeroize();
    }
}

impl ZeroizeOnDrop for Digest {}

impl Zeroize for Digest {
    fn zeroize(&mut self) {
        self.bytes.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_equal_if_all_is_and_show_nothing() {
        let hash = |message: &[u8], output| Blake2b::new(output).chain(message).finish();
        assert_eq!(hash(b"a", 32), hash(b"a", 32));
        assert_ne!(hash(b"a", 32), hash(b"b", 32));
        assert_ne!(hash(b"a", 32), hash(b"a", 33));
        let mut digest = hash(b"a", 32);
        for i in 0..32 {
            digest.bytes[i] ^= 1;
            assert_ne!(digest, hash(b"a", 32), "byte {i}");
            digest.bytes[i] ^= 1;
        }
        assert_eq!(format!("{digest:?}"), "Digest(32 bytes)");
    }
}
