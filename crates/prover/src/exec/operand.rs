//! Reading and writing the operands of instructions.

use super::place::Place;
use super::{Machine, Outcome, WrongModel, number_of};
use crate::term::{Bit, Word, constant, value};
use iced_x86::{EncodingKind, Instruction, Mnemonic, OpKind, Register};

impl Machine<'_> {
    /// The number of bits of the first operand, the destination of most instructions.
    pub(super) fn width(&self, instruction: &Instruction) -> usize {
        match instruction.op_kind(0) {
            OpKind::Register => instruction.op_register(0).size() * 8,
            _ => instruction.memory_size().size() * 8,
        }
    }

    /// Operand `n`: a full register, the memory that the instruction reads, or an immediate of 64
    /// bits. A broadcast element is repeated up to `width` bits.
    pub(super) fn operand(
        &mut self,
        instruction: &Instruction,
        n: u32,
        width: usize,
    ) -> Outcome<Word> {
        let n = self.maybe_other(instruction, n);
        match instruction.op_kind(n) {
            OpKind::Register => self.register(instruction.op_register(n)),
            OpKind::Memory => {
                let address = self.address(instruction)?;
                let length = instruction.memory_size().size();
                self.check_alignment(instruction, address, length)?;
                let word = self.load(address, length as u64)?;
                if instruction.is_broadcast() {
                    return Ok(word.repeat(width / word.len()));
                }
                Ok(word)
            }
            kind if is_immediate(kind) => Ok(constant(instruction.immediate(n).into(), 64)),
            _ => self.unsupported(format!("an operand of `{instruction}`")),
        }
    }

    /// The low `width` bits of operand `n`.
    pub(super) fn low(&mut self, instruction: &Instruction, n: u32, width: usize) -> Outcome<Word> {
        let mut word = self.operand(instruction, n, width)?;
        if word.len() < width {
            return self.unsupported(format!(
                "an operand of {} bits in `{instruction}`",
                word.len()
            ));
        }
        word.truncate(width);
        Ok(word)
    }

    /// The last operand, an immediate of eight bits.
    pub(super) fn immediate(&mut self, instruction: &Instruction) -> usize {
        let number = instruction.immediate(instruction.op_count() - 1) as usize & 0xff;
        for bit in 0..8 {
            if self.is_wrong(WrongModel::Immediate) {
                return number ^ 1 << bit;
            }
        }
        number
    }

    /// Whether the last operand is an immediate.
    pub(super) fn has_immediate(instruction: &Instruction) -> bool {
        instruction.op_kind(instruction.op_count() - 1) == OpKind::Immediate8
    }

    /// A register.
    pub(super) fn register(&self, register: Register) -> Outcome<Word> {
        let size = register.size() * 8;
        if register.is_gpr() {
            let full = &self.general[number_of(register)];
            let from = if is_second_byte(register) { 8 } else { 0 };
            Ok(full[from..from + size].to_vec())
        } else if register.is_vector_register() {
            Ok(self.vectors[register.number()][..size].to_vec())
        } else if register.is_k() {
            Ok(self.masks[register.number()].clone())
        } else {
            self.unsupported(format!("register {register:?}"))
        }
    }

    /// Writes a general-purpose register. Writing the lower half clears the upper half; smaller
    /// parts leave the rest unchanged.
    pub(super) fn set_general(&mut self, register: Register, word: &[Bit]) {
        let size = register.size() * 8;
        let from = if is_second_byte(register) { 8 } else { 0 };
        let keep = size == 32 && self.is_wrong(WrongModel::Upper);
        let full = &mut self.general[number_of(register)];
        full[from..from + size].copy_from_slice(word);
        if size == 32 && !keep {
            full[32..].fill(Bit::ZERO);
        }
    }

    /// Writes operand 0, a general-purpose register or memory.
    pub(super) fn set(&mut self, instruction: &Instruction, word: Word) -> Outcome<()> {
        let Some(word) = self.result(word, 8) else {
            return Ok(());
        };
        match instruction.op_kind(0) {
            OpKind::Register if instruction.op_register(0).is_gpr() => {
                self.set_general(instruction.op_register(0), &word);
                Ok(())
            }
            OpKind::Memory => {
                let address = self.address(instruction)?;
                self.store(address, &word)
            }
            _ => self.unsupported(format!("the destination of `{instruction}`")),
        }
    }

    /// Writes operand 0, a vector register or memory, in elements of `element` bits. A mask may
    /// exclude elements. All but the oldest instructions clear the bits above.
    pub(super) fn set_vector(
        &mut self,
        instruction: &Instruction,
        word: Word,
        element: usize,
    ) -> Outcome<()> {
        let Some(word) = self.result(word, element) else {
            return Ok(());
        };
        if instruction.op_kind(0) == OpKind::Memory {
            let address = self.address(instruction)?;
            self.check_alignment(instruction, address, word.len() / 8)?;
            let word = match instruction.op_mask() {
                Register::None => word,
                _ => {
                    let old = self.load(address, word.len() as u64 / 8)?;
                    self.masked(instruction, word, old, element)
                }
            };
            return self.store(address, &word);
        }
        let register = instruction.op_register(0);
        if !register.is_vector_register() {
            return self.unsupported(format!("the destination of `{instruction}`"));
        }
        let word = match instruction.op_mask() {
            Register::None => word,
            _ => {
                let old = self.vectors[register.number()][..word.len()].to_vec();
                self.masked(instruction, word, old, element)
            }
        };
        self.set_vector_register(instruction, register, &word);
        Ok(())
    }

    pub(super) fn set_vector_register(
        &mut self,
        instruction: &Instruction,
        register: Register,
        word: &[Bit],
    ) {
        let clear = instruction.encoding() != EncodingKind::Legacy;
        let clear = clear != (word.len() < 512 && self.is_wrong(WrongModel::Upper));
        let full = &mut self.vectors[register.number()];
        full[..word.len()].copy_from_slice(word);
        if clear {
            full[word.len()..].fill(Bit::ZERO);
        }
        if word.len() > 128 && register.number() < 16 {
            self.upper_in_use = true;
        }
    }

    /// Elements of `new` where the mask is set; elsewhere zero or `old`.
    fn masked(&mut self, instruction: &Instruction, new: Word, old: Word, element: usize) -> Word {
        let mask = self.masks[instruction.op_mask().number()].clone();
        let old = if instruction.zeroing_masking() {
            vec![Bit::ZERO; new.len()]
        } else {
            old
        };
        let bits = new.into_iter().zip(old).enumerate();
        bits.map(|(i, (new, old))| self.terms.select(mask[i / element], new, old))
            .collect()
    }

    /// The place of the memory operand. The run stops if it is unknown.
    pub(super) fn address(&mut self, instruction: &Instruction) -> Outcome<Place> {
        if instruction.segment_prefix() != Register::None {
            return self.unsupported(format!("a segment in `{instruction}`"));
        }
        if instruction.memory_base() == Register::RIP {
            return Ok(self.in_program(instruction.ip_rel_memory_address()));
        }
        let mut distance = instruction.memory_displacement64();
        let mut parts: Vec<(u128, Word)> = Vec::new();
        let (base, index) = (instruction.memory_base(), instruction.memory_index());
        for (register, scale) in [(base, 1), (index, instruction.memory_index_scale())] {
            if register == Register::None {
                continue;
            }
            if !register.is_gpr64() {
                return self.unsupported(format!("the address of `{instruction}`"));
            }
            let word = &self.general[number_of(register)];
            match value(word) {
                Some(number) => {
                    distance = distance.wrapping_add((number as u64).wrapping_mul(scale.into()));
                }
                None => parts.push((scale.into(), word.clone())),
            }
        }
        let word = match &parts[..] {
            [] => return self.place(&constant(distance.into(), 64), "an address"),
            [(1, word)] => word.clone(),
            _ => {
                let parts: Vec<(u128, &[Bit])> = parts
                    .iter()
                    .map(|(scale, word)| (*scale, &word[..]))
                    .collect();
                self.terms.sum(64, &parts, 0)
            }
        };
        let place = self.place_of_part(&word, "an address")?;
        let place = self.moved(place, distance)?;
        self.keep_decided(place.address);
        Ok(place)
    }

    /// Some instructions fault if the address is not a multiple of the size.
    pub(super) fn check_alignment(
        &self,
        instruction: &Instruction,
        place: Place,
        length: usize,
    ) -> Outcome<()> {
        use Mnemonic::*;
        let any = matches!(instruction.mnemonic(), Movups | Movupd | Movdqu | Lddqu);
        let aligned = matches!(
            instruction.mnemonic(),
            Movaps
                | Movapd
                | Movdqa
                | Vmovaps
                | Vmovapd
                | Vmovdqa
                | Vmovdqa32
                | Vmovdqa64
                | Vmovntdqa
        );
        let old = instruction.encoding() == EncodingKind::Legacy && length == 16 && !any;
        if (aligned || old) && length >= 16 && !self.is_aligned(place, length as u64) {
            return self.wrong(format!(
                "`{instruction}` needs an address that is a multiple of {length}, and it is not always one"
            ));
        }
        Ok(())
    }

    /// For a wrong model: the operand beside the right one, if both are registers of one kind.
    fn maybe_other(&mut self, instruction: &Instruction, n: u32) -> u32 {
        let is_like = |other: u32| {
            other < instruction.op_count()
                && instruction.op_kind(n) == OpKind::Register
                && instruction.op_kind(other) == OpKind::Register
                && instruction.op_register(other) != instruction.op_register(n)
                && instruction.op_register(other).size() == instruction.op_register(n).size()
        };
        let other = [n + 1, n.wrapping_sub(1)]
            .into_iter()
            .find(|other| is_like(*other));
        match other {
            Some(other) if self.is_wrong(WrongModel::OtherOperand) => other,
            _ => n,
        }
    }
}

fn is_immediate(kind: OpKind) -> bool {
    use OpKind::*;
    matches!(
        kind,
        Immediate8
            | Immediate16
            | Immediate32
            | Immediate64
            | Immediate8to16
            | Immediate8to32
            | Immediate8to64
            | Immediate32to64
    )
}

/// ah, bh, ch, dh.
fn is_second_byte(register: Register) -> bool {
    matches!(
        register,
        Register::AH | Register::BH | Register::CH | Register::DH
    )
}
