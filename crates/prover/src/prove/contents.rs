//! The contents of buffers at the entry of a function.

use super::{Layout, Session};
use crate::contract::{Cell, Contents, Contract};
use crate::term::{Word, constant};

impl Session {
    /// The content of all buffers at the entry.
    pub(super) fn contents(&mut self, contract: &Contract, layout: &Layout) -> Contents<Word> {
        let mut contents = Contents::new();
        for buffer in &contract.buffers {
            let name = buffer.same_as.unwrap_or(buffer.name);
            // Contracts of one session may have other cells there: an input is always of 64 bits.
            let cells = buffer.cells.iter().enumerate().map(|(i, cell)| match cell {
                Cell::Input => {
                    let terms = &mut self.terms;
                    self.inputs
                        .entry((name, i))
                        .or_insert_with(|| terms.input(64))
                        .clone()
                }
                Cell::Partly { known, value } => {
                    let terms = &mut self.terms;
                    let anything = self.inputs.entry((name, i));
                    let anything = anything.or_insert_with(|| terms.input(64));
                    partly(anything, *known, *value)
                }
                Cell::Small(bits) => {
                    let terms = &mut self.terms;
                    let number = self.inputs.entry((name, i));
                    let number = number.or_insert_with(|| terms.input(64));
                    terms.sum(64, &[(1, &number[..*bits])], 0)
                }
                Cell::Count(bits) => {
                    let terms = &mut self.terms;
                    let number = self.inputs.entry((name, i));
                    let number = number.or_insert_with(|| terms.input(64));
                    terms.sum(64, &[(1, &number[..*bits])], 1)
                }
                Cell::Many(bits) => {
                    let terms = &mut self.terms;
                    let number = self.inputs.entry((name, i));
                    let number = number.or_insert_with(|| terms.input(64));
                    terms.sum(64, &[(1, &number[..*bits])], 2)
                }
                Cell::Number(number) => constant((*number).into(), 64),
                Cell::Inside(of, distance) => {
                    let (of, base) = (contract.index(of), &layout.words[contract.index(of)]);
                    let length = 8 * contract.buffers[of].cells.len() as u64;
                    assert!(
                        *distance <= length,
                        "`{name}`: {distance} bytes are more than `{}` has",
                        contract.buffers[of].name
                    );
                    self.terms.sum(64, &[(1, base)], (*distance).into())
                }
                Cell::Address(of) => layout.words[contract.index(of)].clone(),
            });
            contents.push(cells.collect());
        }
        contents
    }
}

/// The bits of `known` are those of `value`; the others are anything.
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
