//! Control flow: jumps, calls, the stack, repeated instructions.

use super::{BRANCH, Machine, Outcome, RSP, WrongModel};
use crate::term::{Bit, Word, constant};
use iced_x86::{ConditionCode, Instruction, Mnemonic, OpKind, Register};

pub(super) const UNALIGNED_CALL: &str = "a call with a stack pointer that is not a multiple of 16";

impl Machine<'_> {
    /// Executes an instruction for control flow; false if it is of another kind.
    pub(super) fn control(&mut self, instruction: &Instruction) -> Outcome<bool> {
        use Mnemonic::*;
        match instruction.mnemonic() {
            Nop | Endbr64 => {}
            // Their operand has 16 bits, or is in another segment. Compilers do not emit these.
            Push | Pop | Call | Ret | Jmp if !is_of_64_bits(instruction) => {
                return self.unsupported(format!("the operand size of `{instruction}`"));
            }
            Jmp => self.next = self.target(instruction)?,
            Call => {
                let target = self.target(instruction)?;
                let pointer = self.stack_pointer()?;
                if !self.is_aligned(pointer, 16) {
                    return self.wrong(UNALIGNED_CALL);
                }
                let back = self.word_to_return_to(self.next);
                self.push(&back)?;
                self.next = target;
            }
            Ret if instruction.op_count() == 0 => {
                let address = self.pop(8)?;
                self.next = self.place(&address, "a return address")?.address;
            }
            Push => {
                let word = self.low(instruction, 0, 64)?;
                self.push(&word)?;
            }
            Pop => {
                let word = self.pop(8)?;
                self.set(instruction, word)?;
            }
            Prefetcht0 | Prefetcht1 | Prefetcht2 | Prefetchnta | Prefetchw => {
                // A hint: it affects timing only.
                if !self.by_data {
                    self.address(instruction)?;
                }
            }
            _ if instruction.is_jcc_short_or_near() => {
                if instruction.op0_kind() != OpKind::NearBranch64 {
                    return self.unsupported(format!("the target of `{instruction}`"));
                }
                let condition = self.condition(instruction.condition_code())?;
                if self.public(&[condition], BRANCH)? == 1 {
                    self.next = instruction.near_branch_target();
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Whether a condition holds.
    pub(super) fn condition(&mut self, code: ConditionCode) -> Outcome<Bit> {
        use ConditionCode::*;
        let flags = self.flags.clone();
        let bit = match code {
            o | no => self.flag(&flags.overflow)?,
            b | ae => self.flag(&flags.carry)?,
            e | ne => self.flag(&flags.zero)?,
            s | ns => self.flag(&flags.sign)?,
            be | a => {
                let (carry, zero) = (self.flag(&flags.carry)?, self.flag(&flags.zero)?);
                self.terms.or(carry, zero)
            }
            l | ge => self.is_less()?,
            le | g => {
                let (less, zero) = (self.is_less()?, self.flag(&flags.zero)?);
                self.terms.or(less, zero)
            }
            _ => return self.unsupported("a condition on parity"),
        };
        let negated = matches!(code, no | ae | ne | ns | a | ge | g);
        let negated = negated != self.is_wrong(WrongModel::Condition);
        Ok(if negated { self.terms.not(bit) } else { bit })
    }

    fn is_less(&mut self) -> Outcome<Bit> {
        let flags = self.flags.clone();
        let (sign, overflow) = (self.flag(&flags.sign)?, self.flag(&flags.overflow)?);
        Ok(self.terms.xor(sign, overflow))
    }

    /// The value of a flag, which the manual must define.
    pub(super) fn flag(&mut self, flag: &super::Flag) -> Outcome<Bit> {
        if let super::Flag::Zero(word) = flag
            && self.is_of_memory(word)
        {
            return Ok(Bit::ZERO);
        }
        if let super::Flag::Borrow(a, b, Bit::ZERO) = flag
            && let Some(bit) = self.is_below_in_buffer(a, b)
        {
            return Ok(bit);
        }
        match flag.value(self.terms) {
            Some(bit) => Ok(bit),
            None => self.unsupported("the value of a flag that the manual leaves undefined"),
        }
    }

    pub(super) fn push(&mut self, word: &[Bit]) -> Outcome<()> {
        let length = word.len() as u64 / 8;
        let pointer = self.general[RSP].clone();
        self.general[RSP] = self.distant(&pointer, length.wrapping_neg());
        let place = self.stack_pointer()?;
        self.store(place, word)
    }

    pub(super) fn pop(&mut self, length: u64) -> Outcome<Word> {
        let pointer = self.stack_pointer()?;
        let word = self.load(pointer, length)?;
        let pointer = self.general[RSP].clone();
        self.general[RSP] = self.distant(&pointer, length);
        Ok(word)
    }

    fn target(&mut self, instruction: &Instruction) -> Outcome<u64> {
        if instruction.op0_kind() == OpKind::NearBranch64 {
            return Ok(instruction.near_branch_target());
        }
        let word = self.low(instruction, 0, 64)?;
        Ok(self.place(&word, "a jump target")?.address)
    }

    /// `rep movs` and `rep stos` of a public number of elements, upwards: by the ABI the direction
    /// flag is clear.
    pub(super) fn repeat(&mut self, instruction: &Instruction) -> Outcome<()> {
        use Mnemonic::*;
        let is_usual = |n| {
            use OpKind::*;
            let kind = instruction.op_kind(n);
            matches!(kind, MemoryESRDI | MemorySegRSI | Register)
        };
        let usual = !instruction.has_repne_prefix()
            && instruction.segment_prefix() == Register::None
            && (0..instruction.op_count()).all(is_usual);
        if !usual {
            return self.unsupported(format!("the prefix of `{instruction}`"));
        }
        let (copies, element) = match instruction.mnemonic() {
            Movsb => (true, 1),
            Movsd => (true, 4),
            Movsq => (true, 8),
            Stosb => (false, 1),
            Stosd => (false, 4),
            Stosq => (false, 8),
            Nop => return Ok(()),
            Ret if instruction.op_count() == 0 => return self.control(instruction).map(drop),
            _ => return self.unsupported(format!("the prefix of `{instruction}`")),
        };
        let count = self.public(&self.general[1].clone(), "a string length")?;
        for _ in 0..count {
            let word = if copies {
                let from = self.general[6].clone();
                self.general[6] = self.distant(&from, element);
                let from = self.place(&from, "an address")?;
                self.load(from, element)?
            } else {
                self.general[0][..8 * element as usize].to_vec()
            };
            let to = self.general[7].clone();
            self.general[7] = self.distant(&to, element);
            let to = self.place(&to, "an address")?;
            self.store(to, &word)?;
        }
        self.set_general(Register::RCX, &constant(0, 64));
        Ok(())
    }
}

/// Whether a jump, or its effect on the stack, has 64 bits and stays within the segment.
fn is_of_64_bits(instruction: &Instruction) -> bool {
    use Mnemonic::*;
    let moved = match instruction.mnemonic() {
        Push | Call => -8,
        Pop | Ret => 8,
        _ => 0,
    };
    let operand = match instruction.op0_kind() {
        OpKind::Memory => instruction.memory_size().size() == 8,
        OpKind::Register => instruction.op0_register().is_gpr64(),
        OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::FarBranch16 | OpKind::FarBranch32 => {
            false
        }
        _ => true,
    };
    instruction.stack_pointer_increment() == moved && (instruction.op_count() == 0 || operand)
}
