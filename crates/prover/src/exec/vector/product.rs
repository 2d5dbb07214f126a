//! `pclmulqdq`: products of polynomials over GF(2).

use super::{Machine, Outcome};
use crate::term::Word;
use iced_x86::{Instruction, Mnemonic};

impl Machine<'_> {
    /// Executes a vector multiplication; false if it is of another kind.
    pub(super) fn carryless_product(&mut self, instruction: &Instruction) -> Outcome<bool> {
        if !matches!(
            instruction.mnemonic(),
            Mnemonic::Pclmulqdq | Mnemonic::Vpclmulqdq
        ) {
            return Ok(false);
        }
        let width = self.width(instruction);
        let (a, b) = self.sources(instruction, width)?;
        // Bits 0 and 4 choose a half of each lane of the sources.
        let halves = self.immediate(instruction);
        let mut word = Word::with_capacity(width);
        for (a, b) in a.chunks(128).zip(b.chunks(128)) {
            let (a, b) = (
                self.piece(a, halves & 1, 64),
                self.piece(b, halves >> 4 & 1, 64),
            );
            word.extend(self.terms.carryless_product(&a, &b));
        }
        self.set_vector(instruction, word, 64).map(|()| true)
    }
}
