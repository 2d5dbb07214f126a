//! A message that comes in parts, cut into blocks.
//!
//! A hash marks its last block, so it hashes a full block only when it knows that more bytes
//! follow. Until then, the block waits in a buffer. BLAKE2b and Skein use the same cut.

use crate::{Index, Portable};

/// The sizes of the cut of one more part, in a message of which `filled` bytes wait.
///
/// Generic over the numbers, so that a prover can run it on expressions.
#[derive(Clone, Copy, Debug)]
pub struct Cut<I: Index> {
    /// Whether the part has more bytes than there is room in the waiting block. Otherwise the whole
    /// part waits, and the other numbers are zero.
    pub ends_block: I::Truth,
    /// The bytes that complete the waiting block; zero if no byte waits.
    pub head: I,
    /// The whole blocks behind them without the last block, which may not be whole.
    pub blocks: I,
}

impl<I: Index> Cut<I> {
    /// Cuts `length` bytes. `filled` is at most `block`, the bytes in a block: 32, 64 or 128.
    ///
    /// # Panics
    /// If `block` has another size.
    #[inline(always)]
    pub fn new(cpu: I::Cpu, block: usize, filled: I, length: I) -> Self {
        let [zero, one] = [0, 1].map(|n| I::splat(cpu, n));
        let room = I::splat(cpu, block as u64).sub(filled);
        let ends_block = room.is_below(length);
        let missing = I::select(filled.is_equal(zero), zero, room);
        // One byte or more must wait.
        let whole = divided(length.sub(missing).sub(one), block);
        Self {
            ends_block,
            head: I::select(ends_block, missing, zero),
            blocks: I::select(ends_block, whole, zero),
        }
    }
}

/// `n` / `block`, rounded down.
#[inline(always)]
fn divided<I: Index>(n: I, block: usize) -> I {
    match block {
        32 => n.shift_right::<5>(),
        64 => n.shift_right::<6>(),
        128 => n.shift_right::<7>(),
        _ => unreachable!("a block of {block} bytes"),
    }
}

/// One more part of a message. `R` has its whole blocks: a slice, or a prover's unknown number.
#[derive(Clone, Copy, Debug)]
pub struct Part<'m, B, R> {
    /// Whether the waiting block is not the last one.
    pub ends_block: bool,
    /// The bytes that complete the waiting block.
    pub head: &'m [B],
    /// The blocks behind it without the last one.
    pub blocks: R,
    /// The bytes that wait afterwards.
    pub rest: &'m [B],
}

/// A block of `N` words.
type Block<B, const N: usize> = [[B; 8]; N];

impl<'m, B, const N: usize> Part<'m, B, &'m [Block<B, N>]> {
    /// Cuts `message`, if `filled` bytes of a block of `N` words wait.
    #[inline(always)]
    pub fn new(filled: usize, message: &'m [B]) -> Self {
        let cut = Cut::new(Portable, 8 * N, filled as u64, message.len() as u64);
        let (head, behind) = message.split_at(cut.head as usize);
        let (whole, rest) = behind.split_at(8 * N * cut.blocks as usize);
        Self {
            ends_block: cut.ends_block,
            head,
            blocks: whole.as_chunks().0.as_chunks().0,
            rest,
        }
    }
}

/// A state that blocks change, one after the other.
pub trait Absorb<B> {
    /// One more block.
    fn absorb(&mut self, block: &B);
}

/// Blocks: a slice, or a prover's unknown number of them.
pub trait Blocks<C> {
    /// Changes `chain` by each block.
    fn absorb_into(self, chain: &mut C);
}

/// The loop of a hash. It calls `absorb` for each block, and keeps nothing else.
impl<B, C: Absorb<B>> Blocks<C> for &[B] {
    #[inline(always)]
    fn absorb_into(self, chain: &mut C) {
        for block in self {
            chain.absorb(block);
        }
    }
}
