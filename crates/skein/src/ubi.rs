//! UBI, Unique Block Iteration (Skein 1.3, section 3.4): Threefish as a hash of arbitrary strings.

use crate::threefish::Block;
use crate::tweak::{Tweak, Type, UbiTweak};
use core::hint::black_box;
use sealstone_lanes::{Part, Scalar, Word};

/// One invocation of UBI, for a message that comes in parts. Generic over word and tweak, so that a
/// prover can run it on symbols. Wiped when dropped.
#[derive(Clone)]
pub struct Ubi<S: Scalar, const N: usize, T = Tweak>
where
    [S; N]: Block<S>,
{
    cpu: S::Cpu,
    chain: [S; N],
    tweak: T,
    /// The last bytes of the message so far. A full block stays here too, because it gets a flag if
    /// it is the last one.
    block: [[S::Byte; 8]; N],
    filled: usize,
}

impl<S: Scalar, const N: usize> Ubi<S, N>
where
    [S; N]: Block<S>,
{
    /// Begins at chaining value `start`.
    pub fn new(cpu: S::Cpu, start: [S; N], kind: Type) -> Self {
        Self::with_tweak(cpu, start, Tweak::new(kind))
    }
}

impl<S: Scalar, const N: usize, T: UbiTweak<S>> Ubi<S, N, T>
where
    [S; N]: Block<S>,
{
    /// Begins with this tweak: that of a node of a tree, or a prover's.
    pub fn with_tweak(cpu: S::Cpu, start: [S; N], tweak: T) -> Self {
        Self {
            cpu,
            chain: start,
            tweak,
            block: [[S::byte(cpu, 0); 8]; N],
            filled: 0,
        }
    }

    /// Adds bytes to the message.
    #[inline]
    pub fn update(&mut self, message: &[S::Byte]) {
        self.add(Part::<_, &[[_; N]]>::new(self.filled, message));
    }

    /// Adds a part that is cut for the number of waiting bytes. A prover adds one with an unknown
    /// number of blocks.
    #[inline]
    pub fn add(&mut self, part: Part<'_, S::Byte, impl UbiBlocks<S, N, T>>) {
        if part.ends_block {
            if self.filled > 0 {
                self.fill(part.head);
                self.tweak = absorb(self.cpu, &mut self.chain, self.tweak, &[self.block]);
                self.filled = 0;
            }
            self.tweak = part.blocks.absorb(self.cpu, &mut self.chain, self.tweak);
        }
        self.fill(part.rest);
    }

    /// Ends the message and returns its hash. The state must not be used again.
    pub fn finish(&mut self) -> [S; N] {
        self.block.as_flattened_mut()[self.filled..].fill(S::byte(self.cpu, 0));
        absorb_last(self.cpu, self.chain, self.tweak, &self.block, self.filled)
    }

    /// Ends a message of which only the `bits` most significant bits of the last byte count, 1 to
    /// 8.
    ///
    /// # Panics
    /// If `bits` is 0 or more than 8.
    pub fn finish_bits(&mut self, bits: u32) -> [S; N] {
        assert!((1..=8).contains(&bits), "{bits} bits of a byte");
        if let Some(last) = self.filled.checked_sub(1).filter(|_| bits < 8) {
            let bytes = self.block.as_flattened_mut();
            bytes[last] = S::pad(bytes[last], bits);
            self.tweak = self.tweak.bit_padded();
        }
        self.finish()
    }

    fn fill(&mut self, bytes: &[S::Byte]) {
        self.block.as_flattened_mut()[self.filled..][..bytes.len()].copy_from_slice(bytes);
        self.filled += bytes.len();
    }
}

impl<S: Scalar, const N: usize, T> Drop for Ubi<S, N, T>
where
    [S; N]: Block<S>,
{
    fn drop(&mut self) {
        self.chain = [S::splat(self.cpu, 0); N];
        self.block = [[S::byte(self.cpu, 0); 8]; N];
        // The optimiser must assume that they are read.
        black_box((&mut self.chain, &mut self.block));
    }
}

/// Full blocks, none of which is the last of the message: a slice, or a prover's unknown number of
/// them.
pub trait UbiBlocks<S: Scalar, const N: usize, T> {
    /// Hashes them, and returns the tweak after them.
    fn absorb(self, cpu: S::Cpu, chain: &mut [S; N], tweak: T) -> T;
}

impl<S: Scalar, const N: usize, T: UbiTweak<S>> UbiBlocks<S, N, T> for &[[[S::Byte; 8]; N]]
where
    [S; N]: Block<S>,
{
    #[inline(always)]
    fn absorb(self, cpu: S::Cpu, chain: &mut [S; N], tweak: T) -> T {
        absorb(cpu, chain, tweak, self)
    }
}

/// Hashes full blocks, none of which is the last of the message. Serial hashing spends its time
/// here.
#[inline(never)]
fn absorb<S: Scalar, const N: usize, T: UbiTweak<S>>(
    cpu: S::Cpu,
    chain: &mut [S; N],
    mut tweak: T,
    blocks: &[[[S::Byte; 8]; N]],
) -> T
where
    [S; N]: Block<S>,
{
    let mut value = *chain;
    for block in blocks {
        tweak = tweak.advance(8 * N);
        value = compress(cpu, value, tweak, block);
        tweak = tweak.after_first();
    }
    *chain = value;
    tweak
}

/// Hashes the last block, which has `filled` bytes of the message; the others are zero.
#[inline(never)]
fn absorb_last<S: Scalar, const N: usize, T: UbiTweak<S>>(
    cpu: S::Cpu,
    chain: [S; N],
    tweak: T,
    block: &[[S::Byte; 8]; N],
    filled: usize,
) -> [S; N]
where
    [S; N]: Block<S>,
{
    compress(cpu, chain, tweak.advance(filled).last(), block)
}

/// E(chain, tweak, block) ⊕ block.
#[inline(always)]
fn compress<S: Scalar, const N: usize, T: UbiTweak<S>>(
    cpu: S::Cpu,
    chain: [S; N],
    tweak: T,
    block: &[[S::Byte; 8]; N],
) -> [S; N]
where
    [S; N]: Block<S>,
{
    let block = block.map(S::from_le_bytes);
    let cipher = tweak.encrypt(cpu, &chain, block);
    core::array::from_fn(|i| Word::xor(cipher[i], block[i]))
}
