//! Moving whole registers and parts of them.

use super::{Machine, Outcome, first_source};
use crate::exec::scalar::extended;
use crate::term::{Bit, Word, value};
use iced_x86::{Instruction, Mnemonic, OpKind, Register};

impl Machine<'_> {
    pub(super) fn vector_move(&mut self, instruction: &Instruction) -> Outcome<bool> {
        use Mnemonic::*;
        let element = match instruction.mnemonic() {
            Movdqa | Movdqu | Movaps | Movups | Movapd | Movupd | Vmovdqa | Vmovdqu | Vmovaps
            | Vmovups | Vmovdqa32 | Vmovdqu32 | Lddqu | Vlddqu => 32,
            Vmovapd | Vmovupd | Vmovdqa64 | Vmovdqu64 => 64,
            Vmovdqu8 => 8,
            Movq | Vmovq => return self.move_low(instruction, 64).map(|()| true),
            Movd | Vmovd => return self.move_low(instruction, 32).map(|()| true),
            Vmovsd if is_with_memory(instruction) => {
                return self.move_low(instruction, 64).map(|()| true);
            }
            Movlps | Vmovlps | Movlpd | Vmovlpd => {
                return self.move_half(instruction, 0).map(|()| true);
            }
            Movhps | Vmovhps | Movhpd | Vmovhpd => {
                return self.move_half(instruction, 1).map(|()| true);
            }
            Pinsrq | Vpinsrq => return self.insert_element(instruction, 64).map(|()| true),
            Pinsrd | Vpinsrd => return self.insert_element(instruction, 32).map(|()| true),
            Pinsrw | Vpinsrw => return self.insert_element(instruction, 16).map(|()| true),
            Pinsrb | Vpinsrb => return self.insert_element(instruction, 8).map(|()| true),
            Pextrq | Vpextrq => return self.extract_element(instruction, 64).map(|()| true),
            Pextrd | Vpextrd => return self.extract_element(instruction, 32).map(|()| true),
            Pextrb | Vpextrb => return self.extract_element(instruction, 8).map(|()| true),
            Movmskps | Vmovmskps => return self.signs(instruction, 32).map(|()| true),
            Movmskpd | Vmovmskpd => return self.signs(instruction, 64).map(|()| true),
            _ => return Ok(false),
        };
        let width = self.width(instruction);
        let word = match self.masked_length(instruction, element) {
            Some(length) if length < width => {
                let address = self.address(instruction)?;
                // The mask does not change it.
                self.check_alignment(instruction, address, width / 8)?;
                let word = self.load(address, length as u64 / 8)?;
                extended(&word, width, Bit::ZERO)
            }
            _ => self.low(instruction, 1, width)?,
        };
        self.set_vector(instruction, word, element).map(|()| true)
    }

    /// The number of bits that an access under a mask reads, if the mask is the same for all
    /// inputs. The access does not read excluded elements.
    fn masked_length(&self, instruction: &Instruction, element: usize) -> Option<usize> {
        let is_load = instruction.op_kind(1) == OpKind::Memory;
        if !is_load || instruction.op_mask() == Register::None {
            return None;
        }
        let elements = self.width(instruction) / element;
        let mask = value(&self.masks[instruction.op_mask().number()][..elements])?;
        Some(element * (u128::BITS - mask.leading_zeros()) as usize)
    }

    /// Moves the low part to memory, or to a register, where it clears the rest of the 128 bits.
    fn move_low(&mut self, instruction: &Instruction, part: usize) -> Outcome<()> {
        let word = self.low(instruction, 1, part)?;
        if instruction.op_kind(0) == OpKind::Register
            && instruction.op_register(0).is_vector_register()
        {
            return self.set_vector(instruction, extended(&word, 128, Bit::ZERO), part);
        }
        self.set(instruction, word)
    }

    /// 64 bits between memory and one half of a register.
    fn move_half(&mut self, instruction: &Instruction, half: usize) -> Outcome<()> {
        if instruction.op_kind(0) == OpKind::Memory {
            let source = self.low(instruction, 1, 128)?;
            let word = self.piece(&source, half, 64);
            return self.set(instruction, word);
        }
        let first = first_source(instruction);
        if instruction.op_kind(first + 1) != OpKind::Memory {
            return self.unsupported(format!("`{instruction}`"));
        }
        let mut word = self.low(instruction, first, 128)?;
        let new = self.low(instruction, first + 1, 64)?;
        word[64 * half..][..64].copy_from_slice(&new);
        self.set_vector(instruction, word, 64)
    }

    fn insert_element(&mut self, instruction: &Instruction, element: usize) -> Outcome<()> {
        let first = first_source(instruction);
        let mut word = self.low(instruction, first, 128)?;
        let new = self.low(instruction, first + 1, element)?;
        let number = self.immediate(instruction) % (128 / element);
        word[element * number..][..element].copy_from_slice(&new);
        self.set_vector(instruction, word, element)
    }

    fn extract_element(&mut self, instruction: &Instruction, element: usize) -> Outcome<()> {
        let source = self.low(instruction, 1, 128)?;
        let number = self.immediate(instruction) % (128 / element);
        let word = self.piece(&source, number, element);
        let width = self.width(instruction);
        self.set(instruction, extended(&word, width, Bit::ZERO))
    }

    /// The sign of each element, one after the other.
    fn signs(&mut self, instruction: &Instruction, element: usize) -> Outcome<()> {
        let source = instruction.op_register(1).size() * 8;
        let source = self.low(instruction, 1, source)?;
        let signs: Word = source
            .chunks(element)
            .map(|word| word[element - 1])
            .collect();
        let width = self.width(instruction);
        self.set(instruction, extended(&signs, width, Bit::ZERO))
    }
}

/// Whether it moves between memory and a register, without a mask. Between two registers, a scalar
/// move keeps a part of another register.
fn is_with_memory(instruction: &Instruction) -> bool {
    let has_memory = [0, 1].map(|operand| instruction.op_kind(operand) == OpKind::Memory);
    has_memory != [false, false] && instruction.op_mask() == Register::None
}
