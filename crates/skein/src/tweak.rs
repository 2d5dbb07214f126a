//! The tweak of a UBI block (Skein 1.3, section 3.4, table 5).

use crate::threefish::Block;
use sealstone_lanes::Word;

/// The type of a UBI invocation (table 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Type {
    /// A secret key.
    Key = 0,
    /// The configuration block.
    Config = 4,
    /// A personalisation string.
    Personalization = 8,
    /// A public key.
    PublicKey = 12,
    /// The identifier of a derived key.
    KeyId = 16,
    /// A nonce, for randomised hashing.
    Nonce = 20,
    /// The message.
    Message = 48,
    /// The output transform.
    Output = 63,
}

const LEVEL: u32 = 112;
const BIT_PAD: u128 = 1 << 119;
const TYPE: u32 = 120;
const FIRST: u128 = 1 << 126;
const FINAL: u128 = 1 << 127;

/// The tweak of one block: the bytes processed so far, including this block, and the type of the
/// block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tweak(u128);

/// A tweak as UBI uses it: that of table 5, or a symbolic one. UBI cannot look at it.
pub trait UbiTweak<W: Word>: Copy {
    /// Adds `bytes` to the position.
    #[must_use]
    fn advance(self, bytes: usize) -> Self;
    /// After the first block.
    #[must_use]
    fn after_first(self) -> Self;
    /// For the last block.
    #[must_use]
    fn last(self) -> Self;
    /// For a last block whose last byte is not full.
    #[must_use]
    fn bit_padded(self) -> Self;
    /// E(`key`, this tweak, `block`).
    fn encrypt<const N: usize>(self, cpu: W::Cpu, key: &[W; N], block: [W; N]) -> [W; N]
    where
        [W; N]: Block<W>;
}

impl<W: Word> UbiTweak<W> for Tweak {
    #[inline(always)]
    fn advance(self, bytes: usize) -> Self {
        Self::advance(self, bytes)
    }
    #[inline(always)]
    fn after_first(self) -> Self {
        Self::after_first(self)
    }
    #[inline(always)]
    fn last(self) -> Self {
        Self::last(self)
    }
    #[inline(always)]
    fn bit_padded(self) -> Self {
        Self::bit_padded(self)
    }
    #[inline(always)]
    fn encrypt<const N: usize>(self, cpu: W::Cpu, key: &[W; N], block: [W; N]) -> [W; N]
    where
        [W; N]: Block<W>,
    {
        block.encrypt(cpu, key, &self.words().map(|word| W::splat(cpu, word)))
    }
}

impl Tweak {
    /// Before the first block of a UBI invocation.
    #[inline(always)]
    pub(crate) const fn new(kind: Type) -> Self {
        Self((kind as u128) << TYPE | FIRST)
    }

    /// In level `level` of a tree, starting at byte `position` of the level.
    #[inline(always)]
    pub(crate) const fn in_tree(self, level: u8, position: u128) -> Self {
        Self(self.0 | ((level & 0x7f) as u128) << LEVEL | position)
    }

    /// Adds `bytes` to the position.
    #[inline(always)]
    pub(crate) const fn advance(self, bytes: usize) -> Self {
        Self(self.0.wrapping_add(bytes as u128))
    }

    /// After the first block.
    #[inline(always)]
    pub(crate) const fn after_first(self) -> Self {
        Self(self.0 & !FIRST)
    }

    /// For the last block.
    #[inline(always)]
    pub(crate) const fn last(self) -> Self {
        Self(self.0 | FINAL)
    }

    /// For a last block whose last byte is not full.
    #[inline(always)]
    pub(crate) const fn bit_padded(self) -> Self {
        Self(self.0 | BIT_PAD)
    }

    /// T0 and T1.
    #[inline(always)]
    pub(crate) const fn words(self) -> [u64; 2] {
        [self.0 as u64, (self.0 >> 64) as u64]
    }
}
