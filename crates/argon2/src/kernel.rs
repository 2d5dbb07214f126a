//! G as the machine runs it: functions without a loop or a way to panic, each of which only picks the instruction set.
//!
//! They are what a proof of the machine code is about, and are never inlined, so that it can find them.
//!
//! Computing a block takes about as long as memory takes to answer, so all of them ask for what comes next while they compute: a line
//! now and then, as a core keeps only so many questions open and waits when there is one more. What comes next is, always, what is in
//! memory behind `out`: the next new block goes there, and is added to what is there.

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

/// `out` = G(`x`, `y`); and the reference of the block after `out`, which is prefetched as soon as it is known.
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

/// `out` = `out` ⊕ G(`x`, `y`); and the reference of the block after `out`, which is prefetched as soon as it is known.
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

/// `out` = G(`x`, `y`), and the reference of the block after `out`; the block at `soon` is prefetched, since other lanes come first.
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

/// `out` = `out` ⊕ G(`x`, `y`), and the reference of the block after `out`; the block at `soon` is prefetched, since other lanes
/// come first.
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

/// G(0, `y`).
pub(crate) fn with_zero(cpu: Cpu, y: &Block) -> Block {
    let mut out = ZERO_BLOCK;
    replace(cpu, &ZERO_BLOCK, y, &mut out, Place::of(y));
    out
}

/// A block whose reference depends on word 0 of the block before.
#[derive(Clone, Copy, Debug)]
pub struct Next<'a> {
    /// Its segment.
    pub segment: &'a Segment<u64>,
    /// Its index in the segment.
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

/// Lines in a block.
const LINES: usize = 16;

impl Memory {
    /// Asks for a block before it is needed.
    #[inline(always)]
    pub(crate) fn prefetch(self, reference: Reference<u64>) {
        self.place(reference).prefetch::<LINES>();
    }

    /// Where a block is.
    #[inline(always)]
    pub(crate) fn place(self, reference: Reference<u64>) -> Place {
        let block = reference
            .slice
            .wrapping_mul(self.width)
            .wrapping_add(reference.block);
        self.start.line((block as usize).wrapping_mul(LINES))
    }
}

/// Asks for a quarter of the block at `place`.
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
    /// Prefetched if `IN_TURN`, and of the reference only the first line, for the place of its page; else the reference is.
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
