//! Threefish as a block cipher with bytes for keys, tweaks and blocks.

use super::Block;
use sealstone_lanes::Portable;
use zeroize::Zeroize;

/// Threefish with blocks and keys of 256 bits.
pub type Threefish256 = Threefish<4>;
/// Threefish with blocks and keys of 512 bits.
pub type Threefish512 = Threefish<8>;
/// Threefish with blocks and keys of 1024 bits.
pub type Threefish1024 = Threefish<16>;

/// A key of `N` words. Wiped when dropped. A block cipher encrypts one block only. To encrypt data,
/// you need a mode, and usually authentication: see [`StreamCipher`](crate::StreamCipher) and
/// [`Mac`](crate::Mac).
///
/// ```
/// use sealstone_skein::threefish::Threefish512;
///
/// let cipher = Threefish512::new(&[7; 64]);
/// let mut block = [1; 64];
/// cipher.encrypt([3; 16], &mut block);
/// cipher.decrypt([3; 16], &mut block);
/// assert_eq!(block, [1; 64]);
/// ```
#[derive(Clone)]
pub struct Threefish<const N: usize> {
    key: [u64; N],
}

macro_rules! cipher {
    ($words:literal, $bytes:literal) => {
        impl Threefish<$words> {
            /// The cipher with this key.
            pub fn new(key: &[u8; $bytes]) -> Self {
                Self { key: load(key) }
            }

            /// Encrypts a block in place.
            pub fn encrypt(&self, tweak: [u8; 16], block: &mut [u8; $bytes]) {
                let [t0, t1] = load(&tweak);
                store(encrypt(load(block), &self.key, t0, t1), block);
            }

            /// Decrypts a block in place.
            pub fn decrypt(&self, tweak: [u8; 16], block: &mut [u8; $bytes]) {
                let [t0, t1] = load(&tweak);
                store(decrypt(load(block), &self.key, t0, t1), block);
            }
        }
    };
}
cipher!(4, 32);
cipher!(8, 64);
cipher!(16, 128);

impl<const N: usize> Drop for Threefish<N> {
    fn drop(&mut self) {
        self.key.zeroize();
    }
}

// The proof of the machine code is about these two functions, so they are never inlined. The tweak
// is two numbers, because the compiler may pass it in that way anyway.

#[inline(never)]
fn encrypt<const N: usize>(block: [u64; N], key: &[u64; N], t0: u64, t1: u64) -> [u64; N]
where
    [u64; N]: Block<u64>,
{
    block.encrypt(Portable, key, &[t0, t1])
}

#[inline(never)]
fn decrypt<const N: usize>(block: [u64; N], key: &[u64; N], t0: u64, t1: u64) -> [u64; N]
where
    [u64; N]: Block<u64>,
{
    block.decrypt(Portable, key, &[t0, t1])
}

fn load<const N: usize>(bytes: &[u8]) -> [u64; N] {
    let (words, _) = bytes.as_chunks();
    core::array::from_fn(|i| u64::from_le_bytes(words[i]))
}

fn store<const N: usize>(words: [u64; N], bytes: &mut [u8]) {
    let (to, _) = bytes.as_chunks_mut();
    to.iter_mut()
        .zip(words)
        .for_each(|(to, word)| *to = word.to_le_bytes());
}
