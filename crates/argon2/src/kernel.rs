//! G as the machine runs it: functions without a loop or a way to panic, each of which only picks the instruction set.
//!
//! They are what a proof of the machine code is about, and are never inlined, so that it can find them.

use crate::block::{Block, ZERO_BLOCK};
use crate::compress::compress;
use crate::index::{Reference, Segment};
use sealstone_lanes::{Cpu, Place, Portable, Row, RowKernel, RowPair};

/// `out` = G(`x`, `y`).
#[inline(never)]
pub fn replace(cpu: Cpu, x: &Block, y: &Block, out: &mut Block) {
    cpu.run_rows(Compress::<false> { x, y, out });
}

/// `out` = `out` ⊕ G(`x`, `y`).
#[inline(never)]
pub fn add(cpu: Cpu, x: &Block, y: &Block, out: &mut Block) {
    cpu.run_rows(Compress::<true> { x, y, out });
}

/// [`replace`]; and the reference of the block after `out`.
#[inline(never)]
pub fn replace_ahead(
    cpu: Cpu,
    x: &Block,
    y: &Block,
    out: &mut Block,
    next: &Next<'_>,
) -> Reference<u64> {
    cpu.run_rows(CompressAhead::<false> { x, y, out, next })
}

/// [`add`]; and the reference of the block after `out`.
#[inline(never)]
pub fn add_ahead(
    cpu: Cpu,
    x: &Block,
    y: &Block,
    out: &mut Block,
    next: &Next<'_>,
) -> Reference<u64> {
    cpu.run_rows(CompressAhead::<true> { x, y, out, next })
}

/// G(0, `y`).
pub(crate) fn with_zero(cpu: Cpu, y: &Block) -> Block {
    let mut out = ZERO_BLOCK;
    replace(cpu, &ZERO_BLOCK, y, &mut out);
    out
}

/// A block whose reference depends on word 0 of the block before. It is prefetched as soon as it is known.
#[derive(Clone, Copy, Debug)]
pub struct Next<'a> {
    /// Its segment.
    pub segment: &'a Segment<u64>,
    /// Its index in the segment. Behind the end, the answer is of no use.
    pub index: u64,
    /// Where its reference will be.
    pub memory: Memory,
}

/// Where the slices are, for hints.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Where the first block is.
    pub start: Place,
    /// Blocks in a slice.
    pub width: u64,
}

impl Memory {
    /// Asks for a block before it is needed.
    #[inline(always)]
    pub(crate) fn prefetch(self, reference: Reference<u64>) {
        let block = reference
            .slice
            .wrapping_mul(self.width)
            .wrapping_add(reference.block);
        self.start.prefetch::<16>((block as usize).wrapping_mul(16));
    }
}

struct Compress<'a, const ADD: bool> {
    x: &'a Block,
    y: &'a Block,
    out: &'a mut Block,
}

impl<const ADD: bool> RowKernel for Compress<'_, ADD> {
    type Output = ();

    #[inline(always)]
    fn run<R, P>(self, cpu: R::Cpu)
    where
        R: Row<Lane = u64>,
        P: RowPair<Lane = u64, Cpu = R::Cpu>,
    {
        compress::<P, ADD>(
            cpu,
            self.x,
            self.y,
            self.out,
            #[inline(always)]
            |_| (),
        );
    }
}

struct CompressAhead<'a, const ADD: bool> {
    x: &'a Block,
    y: &'a Block,
    out: &'a mut Block,
    next: &'a Next<'a>,
}

impl<const ADD: bool> RowKernel for CompressAhead<'_, ADD> {
    type Output = Reference<u64>;

    #[inline(always)]
    fn run<R, P>(self, cpu: R::Cpu) -> Reference<u64>
    where
        R: Row<Lane = u64>,
        P: RowPair<Lane = u64, Cpu = R::Cpu>,
    {
        let mut reference = Reference { slice: 0, block: 0 };
        compress::<P, ADD>(
            cpu,
            self.x,
            self.y,
            self.out,
            #[inline(always)]
            |word| {
                let Next {
                    segment,
                    index,
                    memory,
                } = self.next;
                reference = segment.reference(Portable, *index, word);
                memory.prefetch(reference);
            },
        );
        reference
    }
}
