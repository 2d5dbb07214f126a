//! Instructions on vector registers: SSE2 to SSE4.1, AVX2, AVX-512F/VL/DQ/BW, SHA, AES and
//! PCLMULQDQ, as far as the functions that were proved with it use them.
//!
//! The old two-operand forms (`paddq a, b`: a = a + b) and the new three-operand forms (`vpaddq a,
//! b, c`: a = b + c) of an instruction share a model: `first_source` says where the sources begin.

mod aes;
mod arithmetic;
mod moves;
mod permute;
mod product;
mod sha;
mod shift;
mod shuffle;

use super::{Machine, Outcome};
use crate::term::{Bit, Terms, Word};
use iced_x86::{EncodingKind, Instruction, Mnemonic, Register};

/// An element-wise operation on formulas.
type Operation = fn(&mut Terms, &[Bit], &[Bit]) -> Word;

impl Machine<'_> {
    /// Executes a vector instruction; false if it is of another kind.
    pub(super) fn vector(&mut self, instruction: &Instruction) -> Outcome<bool> {
        Ok(self.vector_move(instruction)?
            || self.vector_arithmetic(instruction)?
            || self.vector_shift(instruction)?
            || self.shuffle(instruction)?
            || self.permute(instruction)?
            || self.sha(instruction)?
            || self.aes(instruction)?
            || self.carryless_product(instruction)?
            || self.mask(instruction)?)
    }

    /// The last two sources, as long as the destination.
    fn sources(&mut self, instruction: &Instruction, width: usize) -> Outcome<(Word, Word)> {
        let first = first_source(instruction);
        Ok((
            self.low(instruction, first, width)?,
            self.low(instruction, first + 1, width)?,
        ))
    }

    /// The only source, as long as the destination.
    fn source(&mut self, instruction: &Instruction, width: usize) -> Outcome<Word> {
        self.low(instruction, first_source(instruction), width)
    }

    /// Masks, `vzeroupper` and `vzeroall`.
    fn mask(&mut self, instruction: &Instruction) -> Outcome<bool> {
        use Mnemonic::*;
        let mnemonic = instruction.mnemonic();
        let width = match mnemonic {
            Vpcmpud => return self.compare_into_mask(instruction, 32).map(|()| true),
            Kmovb | Kxnorb => 8,
            Kmovw | Kxnorw | Knotw => 16,
            Kmovd | Kxnord => 32,
            Kmovq | Kxnorq => 64,
            Vzeroupper => {
                self.zero_from(128);
                return Ok(true);
            }
            Vzeroall => {
                self.zero_from(0);
                return Ok(true);
            }
            _ => return Ok(false),
        };
        let word = if matches!(mnemonic, Kmovb | Kmovw | Kmovd | Kmovq) {
            self.low(instruction, 1, width)?
        } else if mnemonic == Knotw {
            let bits = self.low(instruction, 1, width)?.into_iter();
            bits.map(|bit| self.terms.not(bit)).collect()
        } else {
            let (a, b) = (
                self.low(instruction, 1, width)?,
                self.low(instruction, 2, width)?,
            );
            let bits = a.into_iter().zip(b);
            bits.map(|(a, b)| {
                let differ = self.terms.xor(a, b);
                self.terms.not(differ)
            })
            .collect()
        };
        self.set_mask(instruction, word)?;
        Ok(true)
    }

    /// Compares pairs of unsigned elements into bits of a mask: whether the first is below the
    /// second. If operand 0 has a mask, bits that this mask excludes are zero.
    fn compare_into_mask(&mut self, instruction: &Instruction, element: usize) -> Outcome<()> {
        const BELOW: usize = 1;
        if self.immediate(instruction) != BELOW {
            return self.unsupported(format!("`{instruction}`"));
        }
        let width = instruction.op_register(1).size() * 8;
        let (a, b) = (
            self.low(instruction, 1, width)?,
            self.low(instruction, 2, width)?,
        );
        let pairs = a.chunks(element).zip(b.chunks(element));
        let mut word: Word = pairs.map(|(a, b)| self.terms.below(a, b)).collect();
        if instruction.op_mask() != Register::None {
            let mask = &self.masks[instruction.op_mask().number()];
            let pairs = word.iter_mut().zip(mask);
            pairs.for_each(|(bit, set)| *bit = self.terms.and(*bit, *set));
        }
        self.set_mask(instruction, word)
    }

    /// Writes operand 0, a mask register or another destination of a mask.
    fn set_mask(&mut self, instruction: &Instruction, mut word: Word) -> Outcome<()> {
        let to = instruction.op_register(0);
        if instruction.op_kind(0) == iced_x86::OpKind::Register && to.is_k() {
            if let Some(mut word) = self.result(word, 1) {
                word.resize(64, Bit::ZERO);
                self.masks[to.number()] = word;
            }
            return Ok(());
        }
        word.resize(self.width(instruction), Bit::ZERO);
        self.set(instruction, word)
    }

    /// Zeros the bits of the first 16 registers from this one on.
    fn zero_from(&mut self, bit: usize) {
        if self.is_wrong(super::WrongModel::NotWritten) {
            return;
        }
        for register in &mut self.vectors[..16] {
            register[bit..].fill(Bit::ZERO);
        }
        self.upper_in_use = false;
    }
}

/// The number of the first source operand: old instructions read their destination.
fn first_source(instruction: &Instruction) -> u32 {
    u32::from(instruction.encoding() != EncodingKind::Legacy)
}
