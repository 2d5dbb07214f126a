//! G as the machine runs it: four functions for each instruction set, each without a branch, a loop or a way to panic.

use crate::block::{Block, ZERO_BLOCK};
use crate::compress::compress;
use crate::index::{Reference, Segment};
use sealstone_lanes::{Cpu, Place, Portable, Row, RowKernel, RowPair};

/// `out` = G(`x`, `y`), ⊕ what was in `out` if `ADD`.
pub(super) struct Compress<'a, const ADD: bool> {
    pub(super) x: &'a Block,
    pub(super) y: &'a Block,
    pub(super) out: &'a mut Block,
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

/// [`Compress`], which also gives the reference of the block after `out`, and prefetches it as soon as it is known.
pub(super) struct CompressAhead<'a, const ADD: bool> {
    pub(super) x: &'a Block,
    pub(super) y: &'a Block,
    pub(super) out: &'a mut Block,
    pub(super) segment: &'a Segment<u64>,
    /// The index of the block after `out` in the segment. At its end, the answer is not used.
    pub(super) next: u64,
    pub(super) memory: Memory,
}

/// Where the slices are, for hints.
#[derive(Clone, Copy)]
pub(super) struct Memory {
    /// Where the first block is.
    pub(super) start: Place,
    /// Blocks in a slice.
    pub(super) width: u64,
}

impl Memory {
    /// Asks for a block before it is needed.
    #[inline(always)]
    pub(super) fn prefetch(self, reference: Reference<u64>) {
        let block = reference
            .slice
            .wrapping_mul(self.width)
            .wrapping_add(reference.block);
        self.start.prefetch::<16>((block as usize).wrapping_mul(16));
    }
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
                reference = self.segment.reference(Portable, self.next, word);
                self.memory.prefetch(reference);
            },
        );
        reference
    }
}

/// G(0, `y`).
pub(super) fn compress_with_zero(cpu: Cpu, y: &Block) -> Block {
    let mut out = ZERO_BLOCK;
    cpu.run_rows(Compress::<false> {
        x: &ZERO_BLOCK,
        y,
        out: &mut out,
    });
    out
}
