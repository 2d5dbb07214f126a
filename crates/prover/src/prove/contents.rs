//! The contents of buffers at the entry of a function.

use super::{Layout, Session, layout};
use crate::contract::{Cell, Contents, Contract};
use crate::term::{Word, constant};

/// Only names the unknown number of elements; no base of memory has this number.
const ELEMENTS: u64 = 5;

impl Session {
    /// The content of all buffers at the entry.
    pub(super) fn contents(&mut self, contract: &Contract, layout: &Layout) -> Contents<Word> {
        let mut contents = Contents::new();
        for buffer in &contract.buffers {
            let name = buffer.same_as.unwrap_or(buffer.name);
            let mut words: Vec<Word> = Vec::with_capacity(buffer.cells.len());
            for (i, cell) in buffer.cells.iter().enumerate() {
                let word = match cell {
                    // Contracts of one session may have other cells here. An input always has 64
                    // bits.
                    Cell::Input => self.input(name, i),
                    Cell::Partly { known, value } => partly(&self.input(name, i), *known, *value),
                    Cell::Small(bits) => self.number(name, i, *bits, 0),
                    Cell::Count(bits) => self.number(name, i, *bits, 1),
                    Cell::Elements => self.elements(),
                    Cell::Many(bits) => self.number(name, i, *bits, 2),
                    Cell::Number(number) => constant((*number).into(), 64),
                    Cell::Byte(number) => constant((*number).into(), 64),
                    Cell::Inside(of, distance) => {
                        let buffer = &contract.buffers[contract.index(of)];
                        let length = layout::length_of(buffer);
                        assert!(
                            *distance <= length,
                            "`{name}`: {distance} bytes are more than `{}` has",
                            buffer.name
                        );
                        let base = &layout.words[contract.index(of)];
                        self.terms.sum(64, &[(1, base)], (*distance).into())
                    }
                    Cell::Address(of) => layout.words[contract.index(of)].clone(),
                    Cell::Xor([a, b]) => {
                        let pairs = words[*a].iter().zip(&words[*b]);
                        pairs.map(|(a, b)| self.terms.xor(*a, *b)).collect()
                    }
                };
                words.push(word);
            }
            contents.push(words);
        }
        contents
    }

    /// Any number. It is no secret, and nothing is known of it, as of an address.
    fn elements(&mut self) -> Word {
        self.base(ELEMENTS, 0)
    }

    pub(super) fn input(&mut self, name: &'static str, index: usize) -> Word {
        let terms = &mut self.terms;
        let input = self.inputs.entry((name, index));
        input.or_insert_with(|| terms.input(64)).clone()
    }

    /// An unknown number of `bits` bits, plus `least`.
    fn number(&mut self, name: &'static str, index: usize, bits: usize, least: u128) -> Word {
        let number = self.input(name, index);
        self.terms.sum(64, &[(1, &number[..bits])], least)
    }
}

/// The bits in `known` are those of `value`. The others are those of `anything`.
fn partly(anything: &Word, known: u64, value: u64) -> Word {
    let value = constant(value.into(), 64);
    let is_known = |bit: usize| known >> bit & 1 == 1;
    let bits = 0..64;
    bits.map(|bit| match is_known(bit) {
        true => value[bit],
        false => anything[bit],
    })
    .collect()
}
