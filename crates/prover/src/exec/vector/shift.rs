//! Shifts and rotations of elements.

use super::{Machine, Outcome, first_source};
use crate::exec::WrongModel;
use crate::exec::scalar::shifted;
use crate::term::{Bit, Word};
use iced_x86::{Instruction, Mnemonic};

impl Machine<'_> {
    pub(super) fn vector_shift(&mut self, instruction: &Instruction) -> Outcome<bool> {
        use Mnemonic::*;
        let (element, like) = match instruction.mnemonic() {
            Psllw | Vpsllw => (16, Shl),
            Psrlw | Vpsrlw => (16, Shr),
            Pslld | Vpslld => (32, Shl),
            Psrld | Vpsrld => (32, Shr),
            Psllq | Vpsllq => (64, Shl),
            Psrlq | Vpsrlq => (64, Shr),
            Psrad | Vpsrad => (32, Sar),
            Vprold => (32, Rol),
            Vprord => (32, Ror),
            Vprolq => (64, Rol),
            Vprorq => (64, Ror),
            Vpsllvd => return self.shift_each(instruction, 32, Shl).map(|()| true),
            Vpsrlvd => return self.shift_each(instruction, 32, Shr).map(|()| true),
            Vpsllvq => return self.shift_each(instruction, 64, Shl).map(|()| true),
            Vpsrlvq => return self.shift_each(instruction, 64, Shr).map(|()| true),
            Vprolvq => return self.shift_each(instruction, 64, Rol).map(|()| true),
            Vprorvq => return self.shift_each(instruction, 64, Ror).map(|()| true),
            Pslldq | Vpslldq => return self.shift_bytes(instruction, Shl).map(|()| true),
            Psrldq | Vpsrldq => return self.shift_bytes(instruction, Shr).map(|()| true),
            _ => return Ok(false),
        };
        let width = self.width(instruction);
        let word = self.source(instruction, width)?;
        let count = self.vector_count(instruction)?;
        let elements = word.chunks(element);
        let word = elements.flat_map(|bits| shift(like, bits, count)).collect();
        self.set_vector(instruction, word, element).map(|()| true)
    }

    /// One count for all elements: an immediate, or the low 64 bits of a vector.
    fn vector_count(&mut self, instruction: &Instruction) -> Outcome<u64> {
        if Self::has_immediate(instruction) {
            return Ok(self.immediate(instruction) as u64);
        }
        let count = self.low(instruction, first_source(instruction) + 1, 64)?;
        let count = self.public(&count, "a shift count")?;
        Ok(if self.is_wrong(WrongModel::Immediate) {
            count ^ 1
        } else {
            count
        })
    }

    /// A count for each element.
    fn shift_each(
        &mut self,
        instruction: &Instruction,
        element: usize,
        like: Mnemonic,
    ) -> Outcome<()> {
        let width = self.width(instruction);
        let (words, counts) = self.sources(instruction, width)?;
        let mut word = Word::with_capacity(width);
        for number in 0..width / element {
            let count = self.piece(&counts, number, element);
            let count = self.public(&count, "a shift count")?;
            word.extend(shift(like, &words[element * number..][..element], count));
        }
        self.set_vector(instruction, word, element)
    }

    /// 128-bit lanes by whole bytes.
    fn shift_bytes(&mut self, instruction: &Instruction, like: Mnemonic) -> Outcome<()> {
        let width = self.width(instruction);
        let word = self.source(instruction, width)?;
        let count = 8 * self.immediate(instruction) as u64;
        let word = word
            .chunks(128)
            .flat_map(|lane| shift(like, lane, count))
            .collect();
        self.set_vector(instruction, word, 8)
    }
}

/// Shifts by the width or more leave nothing (or only the sign); rotations go round.
fn shift(like: Mnemonic, word: &[Bit], count: u64) -> Word {
    let width = word.len() as u64;
    let count = match like {
        Mnemonic::Rol | Mnemonic::Ror => count % width,
        _ => count.min(width),
    };
    shifted(like, word, count as usize)
}
