//! The places of memory: symbolic addresses, and the addresses of native runs.

use crate::contract::{Access, Argument, Buffer, Cell, Contents, Contract, Parity};
use crate::exec::Base;
use crate::image::Image;
use crate::term::{Bit, Terms, Word, constant};
use std::ops::Range;

/// The addresses of native runs. In runs on formulas these numbers only name places.
pub(super) struct Layout {
    pub(super) ranges: Vec<Range<u64>>,
    /// The symbolic address of each buffer; for a variable, its number.
    pub(super) words: Vec<Word>,
    pub(super) stack: u64,
}

const BUFFERS: u64 = 0x1200_0000_0000;
const STACK: u64 = 0x1000_0000_0000;
/// The known low bits, if a contract gives the stack pointer modulo 32.
pub(super) const KNOWN_STACK_BITS: u32 = 5;
/// Each buffer has a slot of addresses of its own.
const SLOT: u64 = 1 << 40;
/// The number of slots below those of the program.
const MOST_BUFFERS: usize = 22;
/// The largest alignment of a contract.
const MOST_ALIGNED: u64 = 1 << 32;
/// Distances from an address with many zero bits, in units of the alignment. They differ between
/// buffers.
const SHIFTS: [u64; 7] = [1, 0, 3, 5, 2, 7, 6];

/// The length of a buffer in bytes.
///
/// # Panics
/// If a byte is in another place than at the end of a variable that is only read.
pub(super) fn length_of(buffer: &Buffer) -> u64 {
    let is_byte = |cell: &Cell| matches!(cell, Cell::Byte(_));
    let cells = 8 * buffer.cells.len() as u64;
    let Some(first) = buffer.cells.iter().position(is_byte) else {
        return cells;
    };
    let is_read = buffer.variable.is_some() && buffer.access == Access::Read;
    assert!(
        is_read && first + 1 == buffer.cells.len(),
        "`{}`: a byte ends a variable",
        buffer.name
    );
    cells - 7
}

impl Layout {
    /// # Errors
    /// The name of a variable that the program does not have.
    pub(super) fn new(
        image: &Image,
        contract: &Contract,
        mut base: impl FnMut(u64, u32) -> Word,
    ) -> Result<Self, String> {
        assert!(contract.buffers.len() <= MOST_BUFFERS, "a slot for each");
        let (mut ranges, mut words): (Vec<Range<u64>>, Vec<Word>) = (Vec::new(), Vec::new());
        for (i, buffer) in contract.buffers.iter().enumerate() {
            let known = buffer.alignment;
            assert!(
                known.is_power_of_two() && known <= MOST_ALIGNED,
                "{}",
                buffer.name
            );
            let length = length_of(buffer);
            if let Some(name) = buffer.variable {
                let start = image.variable(name, length)?;
                let range = start..start + length;
                let is_apart = |other: &Range<u64>| other.end <= start || range.end <= other.start;
                assert!(ranges.iter().all(is_apart), "`{name}` is there once");
                ranges.push(range);
                words.push(constant(start.into(), 64));
                continue;
            }
            let (range, word) = match buffer.same_as.map(|other| contract.index(other)) {
                Some(other) => (ranges[other].clone(), words[other].clone()),
                None => {
                    let shift = SHIFTS[i % SHIFTS.len()] * buffer.alignment;
                    let start = Self::slot(i, buffer.alignment) + shift;
                    let range = start..start + length;
                    (range, base(start, buffer.alignment.trailing_zeros()))
                }
            };
            ranges.push(range);
            words.push(word);
        }
        let stack = STACK + contract.stack.unwrap_or(0);
        Ok(Self {
            ranges,
            words,
            stack,
        })
    }

    /// The same layout, with only the first `bytes` bytes of these buffers.
    pub(super) fn with_begin_of(&self, buffers: &[usize], bytes: u64) -> Self {
        let mut ranges = self.ranges.clone();
        for buffer in buffers {
            ranges[*buffer].end = ranges[*buffer].start + bytes;
        }
        Self {
            ranges,
            words: self.words.clone(),
            stack: self.stack,
        }
    }

    /// The first address of a buffer in its slot. Its known low bits are zeros, as in every address
    /// of this alignment.
    pub(super) fn slot(buffer: usize, alignment: u64) -> u64 {
        assert!(buffer < MOST_BUFFERS, "a slot for each");
        (BUFFERS + SLOT * buffer as u64 + 0x1000).next_multiple_of(alignment)
    }

    /// The bases of all buffers that are neither the same memory as another buffer nor a variable
    /// of the program. A variable is at a distance from the program's base.
    pub(super) fn bases(&self, contract: &Contract) -> Vec<Base> {
        let places = contract.buffers.iter().zip(&self.ranges).zip(&self.words);
        let own =
            places.filter(|((buffer, _), _)| buffer.same_as.is_none() && buffer.variable.is_none());
        let bases = own.map(|((buffer, range), word)| Base {
            name: buffer.name.into(),
            word: word.clone(),
            start: range.start,
            known: buffer.alignment.trailing_zeros(),
        });
        bases.collect()
    }

    pub(super) fn argument(
        &self,
        terms: &mut Terms,
        contract: &Contract,
        argument: &Argument,
        contents: &Contents<Word>,
    ) -> Word {
        match argument {
            Argument::Address(name) => self.words[contract.index(name)].clone(),
            Argument::Byte(number) => {
                let mut word = constant((*number).into(), 8);
                word.extend(terms.junk(56));
                word
            }
            Argument::Number(number) => constant((*number).into(), 64),
            Argument::Twice(name, parity) => {
                let cells = &contents[contract.index(name)];
                let is_small = matches!(&cells[..], [word] if word[63] == Bit::ZERO);
                assert!(is_small, "`{name}` has one cell, which is below 2^63");
                let word = &cells[0];
                [&[Bit::from(*parity == Parity::Odd)], &word[..63]].concat()
            }
            Argument::Value(name, cell) => contents[contract.index(name)][*cell].clone(),
        }
    }
}
