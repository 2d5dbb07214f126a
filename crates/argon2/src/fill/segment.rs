//! Filling one segment, block by block.

use super::Position;
use super::addresses::Addresses;
use crate::block::Block;
use crate::index::{Reference, SLICES, Segment};
use crate::kernel::{self, Memory, Next};
use sealstone_lanes::{Cpu, Place, Portable};

/// A segment being filled.
pub(super) struct Filling<'m> {
    cpu: Cpu,
    /// This segment.
    blocks: &'m mut [Block],
    past: Past<'m>,
    segment: Segment<u64>,
    memory: Memory,
    adds: bool,
    source: Source,
}

/// What was there before this segment.
struct Past<'m> {
    /// The other slices with all their lanes; the current one is empty here.
    slices: Slices<'m>,
    slice: usize,
    /// The number of the first block of this segment within its slice.
    start: usize,
    /// Blocks in a segment.
    length: usize,
}

/// The slices, each in pieces of `piece` blocks; the last of them may have fewer.
#[derive(Clone, Copy)]
pub(super) struct Slices<'m> {
    pub(super) pieces: [&'m [&'m [Block]]; SLICES],
    pub(super) piece: usize,
}

impl<'m> Slices<'m> {
    #[inline]
    fn block(&self, slice: usize, block: usize) -> &'m Block {
        match self.pieces[slice] {
            [all] => &all[block],
            // Numbers of blocks in a slice are below 2^30, and short divisions are quick.
            pieces => {
                let (block, piece) = (block as u32, self.piece as u32);
                &pieces[(block / piece) as usize][(block % piece) as usize]
            }
        }
    }
}

/// Where references come from.
#[expect(
    clippy::large_enum_variant,
    reason = "it is on the stack, once or twice for each thread"
)]
enum Source {
    /// The block before: this is the reference of the next block.
    Data(Reference<u64>),
    /// A counter.
    Counter(Addresses),
}

impl<'m> Filling<'m> {
    pub(super) fn new(
        cpu: Cpu,
        position: Position,
        blocks: &'m mut [Block],
        slices: Slices<'m>,
        start: Place,
    ) -> Self {
        let (segment, first, length) = (position.segment(), position.first(), position.length());
        let past = Past {
            slices,
            slice: position.slice,
            start: position.start(),
            length,
        };
        let memory = Memory {
            start,
            width: u64::from(position.params.lanes()) * length as u64,
        };
        let source = if position.is_independent() {
            Source::Counter(Addresses::new(&position))
        } else {
            let before = past.before(&blocks[..first]);
            let reference = segment.reference(Portable, first as u64, before[0].0[0]);
            memory.prefetch(reference);
            Source::Data(reference)
        };
        Self {
            cpu,
            blocks,
            past,
            segment,
            memory,
            adds: position.adds(),
            source,
        }
    }

    /// Fills block `index`, when all before it are filled.
    #[inline]
    pub(super) fn step(&mut self, index: usize) {
        let Source::Data(reference) = &mut self.source else {
            self.step_in_turn(index, self.memory.start);
            return;
        };
        let (done, rest) = self.blocks.split_at_mut(index);
        let Some(out) = rest.first_mut() else { return };
        let (x, y) = (self.past.before(done), self.past.find(done, *reference));
        let next = Next {
            segment: &self.segment,
            index: index as u64 + 1,
            memory: self.memory,
        };
        let compress = if self.adds {
            kernel::add_ahead
        } else {
            kernel::replace_ahead
        };
        *reference = compress(self.cpu, x, y, out, &next);
    }

    /// As [`step`](Self::step), where other lanes come between this block and the next. What they need `soon` is prefetched; the
    /// place of what this one needs is returned.
    #[inline]
    pub(super) fn step_in_turn(&mut self, index: usize, soon: Place) -> Place {
        let Self {
            cpu,
            past,
            segment,
            memory,
            ..
        } = self;
        let (done, rest) = self.blocks.split_at_mut(index);
        let Some(out) = rest.first_mut() else {
            return soon;
        };
        let (reference, soon) = match &mut self.source {
            Source::Data(reference) => (*reference, soon),
            Source::Counter(addresses) => addresses.reference(*cpu, segment, index, *memory),
        };
        let (x, y) = (past.before(done), past.find(done, reference));
        let compress = if self.adds {
            kernel::add
        } else {
            kernel::replace
        };
        compress(*cpu, x, y, out, soon);
        if let Source::Data(reference) = &mut self.source {
            *reference = segment.reference(Portable, index as u64 + 1, out[0].0[0]);
            memory.place(*reference)
        } else {
            soon
        }
    }
}

impl Past<'_> {
    /// The block just before the next one, when `done` is filled.
    fn before<'b>(&'b self, done: &'b [Block]) -> &'b Block {
        let slice = (self.slice + SLICES - 1) % SLICES;
        let earlier = || self.slices.block(slice, self.start + self.length - 1);
        done.last().unwrap_or_else(earlier)
    }

    /// The block that is referred to, which may be in this segment.
    fn find<'b>(&'b self, done: &'b [Block], reference: Reference<u64>) -> &'b Block {
        let (slice, block) = (reference.slice as usize, reference.block as usize);
        if slice == self.slice {
            &done[block - self.start]
        } else {
            self.slices.block(slice, block)
        }
    }
}
