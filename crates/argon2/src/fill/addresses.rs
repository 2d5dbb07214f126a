//! Pseudo-random words that do not depend on data (RFC 9106, section 3.4.1.2): Argon2i, and the
//! first half pass of Argon2id.

use super::Position;
use crate::block::{WORDS, from_words, to_words};
use crate::index::{Reference, Segment};
use crate::kernel::{Kernels, Memory, with_zero};
use sealstone_lanes::{Place, Portable};

/// The references of one segment's blocks, as many at a time as one address block holds.
pub(super) struct Addresses {
    /// The words of Z that are not zero. Address blocks are computed from them. The last word
    /// counts the address blocks.
    input: [u64; 7],
    /// With 32 bits each, which is enough, because these are on the stack for several lanes at
    /// once.
    references: [Reference<u32>; WORDS],
}

/// Blocks between prefetching a reference and using it. Six instead of three make one lane 1 to 2 %
/// faster on Zen 5 (bench/README.md).
const AHEAD: usize = 6;

impl Addresses {
    pub(super) fn new(position: &Position) -> Self {
        let params = &position.params;
        Self {
            input: [
                position.pass.into(),
                position.lane,
                position.slice as u64,
                params.blocks(),
                params.passes().into(),
                params.variant() as u64,
                0,
            ],
            references: [Reference { slice: 0, block: 0 }; WORDS],
        }
    }

    /// The reference of block `index`, and the place of a later one. Called for every block of the
    /// segment in order, from one of the first 128 on.
    pub(super) fn reference(
        &mut self,
        kernels: impl Kernels,
        segment: &Segment<u64>,
        index: usize,
        memory: Memory,
    ) -> (Reference<u64>, Place) {
        if index.is_multiple_of(WORDS) || self.input[6] == 0 {
            self.refill(kernels, segment, index / WORDS * WORDS);
            (0..AHEAD).for_each(|at| memory.prefetch(self.at(at)));
        }
        let at = index % WORDS;
        let later = self.at((at + AHEAD).min(WORDS - 1));
        (self.at(at), memory.place(later))
    }

    fn at(&self, index: usize) -> Reference<u64> {
        let Reference { slice, block } = self.references[index];
        Reference {
            slice: slice.into(),
            block: block.into(),
        }
    }

    /// The next address block, for the blocks from `start` on.
    fn refill(&mut self, kernels: impl Kernels, segment: &Segment<u64>, start: usize) {
        self.input[6] += 1;
        let mut words = [0; WORDS];
        words[..self.input.len()].copy_from_slice(&self.input);
        let input = from_words(&words);
        let words = to_words(&with_zero(kernels, &with_zero(kernels, &input)));
        for (i, (reference, word)) in self.references.iter_mut().zip(words).enumerate() {
            let Reference { slice, block } = segment.reference(Portable, (start + i) as u64, word);
            *reference = Reference {
                slice: slice as u32,
                block: block as u32,
            };
        }
    }
}
