//! Filling one segment, block by block.

use super::Position;
use super::addresses::Addresses;
use crate::block::Block;
use crate::index::{Reference, SLICES, Segment};
use crate::kernel::{Kernels, Memory, Next};
use core::ops::Range;
use sealstone_lanes::{Place, Portable};

/// A segment being filled.
pub(super) struct Filling<'m, K> {
    kernels: K,
    /// This segment.
    blocks: &'m mut [Block],
    past: Past<'m>,
    segment: Segment<u64>,
    memory: Memory,
    adds: bool,
    source: Source,
}

/// The blocks that were filled before this segment.
struct Past<'m> {
    /// The other slices with all their lanes; the current slice is empty here.
    slices: Slices<'m>,
    slice: usize,
    /// The number of the first block of this segment within its slice.
    start: usize,
    /// Blocks in a segment.
    length: usize,
}

/// The slices, each in pieces of `piece` blocks; the last piece may have fewer.
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
            // Numbers of blocks in a slice are below 2^30, and divisions of 32 bits are faster.
            pieces => {
                let (block, piece) = (block as u32, self.piece as u32);
                &pieces[(block / piece) as usize][(block % piece) as usize]
            }
        }
    }
}

/// The source of references.
#[expect(
    clippy::large_enum_variant,
    reason = "it is on the stack, a few times for each thread"
)]
enum Source {
    /// The block before. The value is the reference of the next block.
    Data(Reference<u64>),
    /// A counter.
    Counter(Addresses),
}

impl<'m, K: Kernels> Filling<'m, K> {
    pub(super) fn new(
        kernels: K,
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
            kernels,
            blocks,
            past,
            segment,
            memory,
            adds: position.adds(),
            source,
        }
    }

    /// Some blocks of the segment.
    pub(super) fn blocks(&mut self, range: Range<usize>) -> &mut [Block] {
        &mut self.blocks[range]
    }

    /// Fills block `index`; all blocks before it are filled. If blocks of other lanes come before
    /// the next one of this lane, the block at `soon`, which they need, is prefetched. Returns the
    /// place of the block that this lane needs next.
    #[inline]
    pub(super) fn step(&mut self, index: usize, soon: Option<Place>) -> Place {
        let Self {
            kernels,
            past,
            segment,
            memory,
            ..
        } = self;
        let (done, rest) = self.blocks.split_at_mut(index);
        let Some((out, later)) = rest.split_first_mut() else {
            return memory.start;
        };
        let x = past.before(done);
        let compress = if self.adds { K::add } else { K::replace };
        let reference = match &mut self.source {
            Source::Data(reference) => reference,
            Source::Counter(addresses) => {
                let (reference, soon) = addresses.reference(*kernels, segment, index, *memory);
                compress(*kernels, x, past.find(done, reference), out, soon);
                return soon;
            }
        };
        let y = past.find(done, *reference);
        if later.is_empty() {
            // The next segment finds its own first reference; and the very last block must not make
            // an address.
            compress(*kernels, x, y, out, soon.unwrap_or(memory.start));
            return memory.start;
        }
        let next = Next {
            segment,
            index: index as u64 + 1,
            memory: *memory,
        };
        *reference = if self.adds {
            kernels.add_and_refer(x, y, out, &next, soon)
        } else {
            kernels.replace_and_refer(x, y, out, &next, soon)
        };
        memory.place(*reference)
    }
}

impl Past<'_> {
    /// The block before the next one, when `done` is filled.
    fn before<'b>(&'b self, done: &'b [Block]) -> &'b Block {
        let slice = (self.slice + SLICES - 1) % SLICES;
        let earlier = || self.slices.block(slice, self.start + self.length - 1);
        done.last().unwrap_or_else(earlier)
    }

    /// The block of a reference, which may be in this segment.
    fn find<'b>(&'b self, done: &'b [Block], reference: Reference<u64>) -> &'b Block {
        let (slice, block) = (reference.slice as usize, reference.block as usize);
        if slice == self.slice {
            &done[block - self.start]
        } else {
            self.slices.block(slice, block)
        }
    }
}
