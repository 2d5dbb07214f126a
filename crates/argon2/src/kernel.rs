//! G as the machine runs it: functions without a loop or a panic, which only choose the instruction
//! set.
//!
//! The proofs of machine code are about these functions. They are never inlined, so that the prover
//! finds them. Computing a block takes about as long as a read from memory. So all of these
//! functions prefetch the next blocks while they compute, a few cache lines at a time: a core can
//! have a limited number of prefetches open, and waits if there is one more. One of the next blocks
//! is always the one behind `out`, where the next new block is stored or added.

use crate::block::{Block, ZERO_BLOCK};
use crate::compress::compress;
use crate::index::{Reference, Segment};
use sealstone_lanes::{Cpu, Place, Portable, Row, RowKernel, RowPair};

/// `out` = G(`x`, `y`); the block at `soon` is prefetched.
#[inline(never)]
pub fn replace(cpu: Cpu, x: &Block, y: &Block, out: &mut Block, soon: Place) {
    cpu.run_rows(Compress::<false> { x, y, out, soon });
}

/// `out` = `out` ⊕ G(`x`, `y`); the block at `soon` is prefetched.
#[inline(never)]
pub fn add(cpu: Cpu, x: &Block, y: &Block, out: &mut Block, soon: Place) {
    cpu.run_rows(Compress::<true> { x, y, out, soon });
}

/// `out` = G(`x`, `y`). Returns the reference of the block after `out`, which is prefetched as soon
/// as it is known.
#[inline(never)]
pub fn replace_ahead(
    cpu: Cpu,
    x: &Block,
    y: &Block,
    out: &mut Block,
    next: &Next<'_>,
) -> Reference<u64> {
    ahead::<false, false>(cpu, x, y, out, next, next.memory.start)
}

/// `out` = `out` ⊕ G(`x`, `y`). Returns the reference of the block after `out`, which is prefetched
/// as soon as it is known.
#[inline(never)]
pub fn add_ahead(
    cpu: Cpu,
    x: &Block,
    y: &Block,
    out: &mut Block,
    next: &Next<'_>,
) -> Reference<u64> {
    ahead::<true, false>(cpu, x, y, out, next, next.memory.start)
}

/// `out` = G(`x`, `y`). Returns the reference of the block after `out`. The block at `soon` is
/// prefetched instead, because other lanes come first.
#[inline(never)]
pub fn replace_in_turn(
    cpu: Cpu,
    x: &Block,
    y: &Block,
    out: &mut Block,
    next: &Next<'_>,
    soon: Place,
) -> Reference<u64> {
    ahead::<false, true>(cpu, x, y, out, next, soon)
}

/// `out` = `out` ⊕ G(`x`, `y`). Returns the reference of the block after `out`. The block at `soon`
/// is prefetched instead, because other lanes come first.
#[inline(never)]
pub fn add_in_turn(
    cpu: Cpu,
    x: &Block,
    y: &Block,
    out: &mut Block,
    next: &Next<'_>,
    soon: Place,
) -> Reference<u64> {
    ahead::<true, true>(cpu, x, y, out, next, soon)
}

#[inline(always)]
fn ahead<const ADD: bool, const IN_TURN: bool>(
    cpu: Cpu,
    x: &Block,
    y: &Block,
    out: &mut Block,
    next: &Next<'_>,
    soon: Place,
) -> Reference<u64> {
    cpu.run_rows(CompressAhead::<ADD, IN_TURN> {
        x,
        y,
        out,
        next,
        soon,
    })
}

/// All of these functions: what the fill loop calls. Those of a CPU, or of a prover, which looks at
/// the blocks that they get.
pub trait Kernels: Copy {
    /// [`replace`].
    fn replace(self, x: &Block, y: &Block, out: &mut Block, soon: Place);
    /// [`add`].
    fn add(self, x: &Block, y: &Block, out: &mut Block, soon: Place);
    /// [`replace_ahead`]; with `soon` [`replace_in_turn`].
    fn replace_and_refer(
        self,
        x: &Block,
        y: &Block,
        out: &mut Block,
        next: &Next<'_>,
        soon: Option<Place>,
    ) -> Reference<u64>;
    /// [`add_ahead`]; with `soon` [`add_in_turn`].
    fn add_and_refer(
        self,
        x: &Block,
        y: &Block,
        out: &mut Block,
        next: &Next<'_>,
        soon: Option<Place>,
    ) -> Reference<u64>;
}

impl Kernels for Cpu {
    #[inline(always)]
    fn replace(self, x: &Block, y: &Block, out: &mut Block, soon: Place) {
        replace(self, x, y, out, soon);
    }
    #[inline(always)]
    fn add(self, x: &Block, y: &Block, out: &mut Block, soon: Place) {
        add(self, x, y, out, soon);
    }
    #[inline(always)]
    fn replace_and_refer(
        self,
        x: &Block,
        y: &Block,
        out: &mut Block,
        next: &Next<'_>,
        soon: Option<Place>,
    ) -> Reference<u64> {
        match soon {
            None => replace_ahead(self, x, y, out, next),
            Some(soon) => replace_in_turn(self, x, y, out, next, soon),
        }
    }
    #[inline(always)]
    fn add_and_refer(
        self,
        x: &Block,
        y: &Block,
        out: &mut Block,
        next: &Next<'_>,
        soon: Option<Place>,
    ) -> Reference<u64> {
        match soon {
            None => add_ahead(self, x, y, out, next),
            Some(soon) => add_in_turn(self, x, y, out, next, soon),
        }
    }
}

/// G(0, `y`).
pub(crate) fn with_zero(kernels: impl Kernels, y: &Block) -> Block {
    let mut out = ZERO_BLOCK;
    kernels.replace(&ZERO_BLOCK, y, &mut out, Place::of(y));
    out
}

/// A block whose reference depends on word 0 of the block before.
#[derive(Clone, Copy, Debug)]
pub struct Next<'a> {
    /// Its segment.
    pub segment: &'a Segment<u64>,
    /// Its index in the segment.
    pub index: u64,
    /// The memory that its reference is in.
    pub memory: Memory,
}

/// The place of the slices, for prefetching.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// The place of the first block.
    pub start: Place,
    /// Blocks in a slice.
    pub width: u64,
}

/// Cache lines in a block.
const LINES: usize = 16;

impl Memory {
    /// Prefetches a block.
    #[inline(always)]
    pub(crate) fn prefetch(self, reference: Reference<u64>) {
        self.place(reference).prefetch::<LINES>();
    }

    /// The place of a block.
    #[inline(always)]
    pub(crate) fn place(self, reference: Reference<u64>) -> Place {
        let block = reference
            .slice
            .wrapping_mul(self.width)
            .wrapping_add(reference.block);
        self.start.line((block as usize).wrapping_mul(LINES))
    }
}

/// Prefetches a quarter of the block at `place`.
#[inline(always)]
fn prefetch_quarter(place: Place, quarter: usize) {
    const QUARTER: usize = LINES / 4;
    place.line(QUARTER * quarter).prefetch::<QUARTER>();
}

struct Compress<'a, const ADD: bool> {
    x: &'a Block,
    y: &'a Block,
    out: &'a mut Block,
    soon: Place,
}

impl<const ADD: bool> RowKernel for Compress<'_, ADD> {
    type Output = ();

    #[inline(always)]
    fn run<R, P>(self, cpu: R::Cpu)
    where
        R: Row<Lane = u64>,
        P: RowPair<Lane = u64, Cpu = R::Cpu>,
    {
        let after = Place::of(self.out).line(LINES);
        compress::<P, ADD>(
            cpu,
            self.x,
            self.y,
            self.out,
            #[inline(always)]
            |_| (),
            #[inline(always)]
            |quarter| {
                prefetch_quarter(self.soon, quarter);
                prefetch_quarter(after, quarter);
            },
        );
    }
}

struct CompressAhead<'a, const ADD: bool, const IN_TURN: bool> {
    x: &'a Block,
    y: &'a Block,
    out: &'a mut Block,
    next: &'a Next<'a>,
    /// With `IN_TURN`, this block is prefetched, and only the first line of the reference, for its
    /// page's translation. Without, the whole reference is prefetched.
    soon: Place,
}

impl<const ADD: bool, const IN_TURN: bool> RowKernel for CompressAhead<'_, ADD, IN_TURN> {
    type Output = Reference<u64>;

    #[inline(always)]
    fn run<R, P>(self, cpu: R::Cpu) -> Reference<u64>
    where
        R: Row<Lane = u64>,
        P: RowPair<Lane = u64, Cpu = R::Cpu>,
    {
        let mut reference = Reference { slice: 0, block: 0 };
        let after = Place::of(self.out).line(LINES);
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
                if IN_TURN {
                    memory.place(reference).prefetch::<1>();
                } else {
                    memory.prefetch(reference);
                }
            },
            #[inline(always)]
            |quarter| {
                if IN_TURN {
                    prefetch_quarter(self.soon, quarter);
                }
                prefetch_quarter(after, quarter);
            },
        );
        reference
    }
}
