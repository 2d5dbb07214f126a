//! Pseudo-random words that do not depend on data (RFC 9106, section 3.4.1.2): Argon2i, and the first half pass of Argon2id.

use super::Position;
use crate::block::{Block, WORDS, ZERO_BLOCK, place, to_words};
use crate::index::{Reference, Segment};
use crate::kernel::{Memory, with_zero};
use sealstone_lanes::{Cpu, Portable};

/// The references of the blocks of one segment, as many at a time as one address block holds.
pub(super) struct Addresses {
    /// Z: what the address blocks are made of. Word 6 counts them.
    input: Block,
    references: [Reference<u64>; WORDS],
}

/// Blocks between asking for a reference and using it.
const AHEAD: usize = 3;

impl Addresses {
    pub(super) fn new(position: &Position) -> Self {
        let mut input = ZERO_BLOCK;
        let params = &position.params;
        let numbers = [
            position.pass.into(),
            position.lane,
            position.slice as u64,
            params.blocks(),
            params.passes().into(),
            params.variant() as u64,
        ];
        for (word, number) in numbers.into_iter().enumerate() {
            *word_of(&mut input, word) = number;
        }
        Self {
            input,
            references: [Reference { slice: 0, block: 0 }; WORDS],
        }
    }

    /// The reference of block `index`. To be called for every block of the segment in order, from one of the first 128 on.
    pub(super) fn reference(
        &mut self,
        cpu: Cpu,
        segment: &Segment<u64>,
        index: usize,
        memory: Memory,
    ) -> Reference<u64> {
        if index.is_multiple_of(WORDS) || *word_of(&mut self.input, 6) == 0 {
            self.refill(cpu, segment, index / WORDS * WORDS);
            self.references[..AHEAD]
                .iter()
                .for_each(|reference| memory.prefetch(*reference));
        }
        let at = index % WORDS;
        if let Some(reference) = self.references.get(at + AHEAD) {
            memory.prefetch(*reference);
        }
        self.references[at]
    }

    /// The next address block, for the blocks from `start` on.
    fn refill(&mut self, cpu: Cpu, segment: &Segment<u64>, start: usize) {
        *word_of(&mut self.input, 6) += 1;
        let words = to_words(&with_zero(cpu, &with_zero(cpu, &self.input)));
        for (i, (reference, word)) in self.references.iter_mut().zip(words).enumerate() {
            *reference = segment.reference(Portable, (start + i) as u64, word);
        }
    }
}

fn word_of(block: &mut Block, word: usize) -> &mut u64 {
    let (line, lane) = place(word);
    &mut block[line].0[lane]
}
