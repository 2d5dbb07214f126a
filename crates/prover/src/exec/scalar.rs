//! Instructions on general-purpose registers.

use super::{Flag, Flags, Machine, Outcome, WrongModel};
use crate::term::{Bit, Word, constant, value};
use iced_x86::{Instruction, Mnemonic, OpKind, Register};

impl Machine<'_> {
    /// Executes a scalar instruction; false if it is of another kind.
    pub(super) fn scalar(&mut self, instruction: &Instruction) -> Outcome<bool> {
        Ok(self.moves(instruction)?
            || self.sums(instruction)?
            || self.logic(instruction)?
            || self.shifts(instruction)?
            || self.products(instruction)?
            || self.conditional(instruction)?)
    }

    fn moves(&mut self, instruction: &Instruction) -> Outcome<bool> {
        use Mnemonic::*;
        let width = self.width(instruction);
        match instruction.mnemonic() {
            Mov => {
                let word = self.low(instruction, 1, width)?;
                self.set(instruction, word)?;
            }
            Movzx => {
                let word = self.operand(instruction, 1, 0)?;
                self.set(instruction, extended(&word, width, Bit::ZERO))?;
            }
            Movsx | Movsxd => {
                let word = self.operand(instruction, 1, 0)?;
                let sign = word[word.len() - 1];
                self.set(instruction, extended(&word, width, sign))?;
            }
            Lea => {
                let word = self.effective_address(instruction, width)?;
                self.set(instruction, word)?;
            }
            Xchg => {
                let (a, b) = (
                    self.low(instruction, 0, width)?,
                    self.low(instruction, 1, width)?,
                );
                self.set(instruction, b)?;
                self.set_general(instruction.op_register(1), &a);
            }
            Bswap | Movbe => {
                if instruction.mnemonic() == Bswap && width == 16 {
                    return self.unsupported(format!("`{instruction}`"));
                }
                let source = instruction.op_count() - 1;
                let word = self.low(instruction, source, width)?;
                let bytes = word.chunks(8).rev().flatten().copied();
                self.set(instruction, bytes.collect())?;
            }
            Cdqe => {
                let low = self.general[0][..32].to_vec();
                self.set_general(Register::RAX, &extended(&low, 64, low[31]));
            }
            Cqo => {
                let sign = self.general[0][63];
                self.set_general(Register::RDX, &[sign; 64]);
            }
            Cdq => {
                let sign = self.general[0][31];
                self.set_general(Register::EDX, &[sign; 32]);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The address of the memory operand as a formula. It accesses no memory.
    fn effective_address(&mut self, instruction: &Instruction, width: usize) -> Outcome<Word> {
        if instruction.memory_base() == Register::RIP {
            let mut word = self.word_of(instruction.ip_rel_memory_address());
            word.truncate(width);
            return Ok(word);
        }
        let mut parts = Vec::new();
        let (base, index) = (instruction.memory_base(), instruction.memory_index());
        for (register, scale) in [(base, 1), (index, instruction.memory_index_scale())] {
            if register != Register::None {
                if !register.is_gpr64() {
                    return self.unsupported(format!("the address of `{instruction}`"));
                }
                parts.push((u128::from(scale), self.register(register)?));
            }
        }
        let parts: Vec<(u128, &[Bit])> = parts
            .iter()
            .map(|(scale, word)| (*scale, &word[..]))
            .collect();
        Ok(self
            .terms
            .sum(width, &parts, instruction.memory_displacement64().into()))
    }

    fn sums(&mut self, instruction: &Instruction) -> Outcome<bool> {
        use Mnemonic::*;
        let width = self.width(instruction);
        let mnemonic = instruction.mnemonic();
        match mnemonic {
            Add | Adc => {
                let (a, b) = (
                    self.low(instruction, 0, width)?,
                    self.low(instruction, 1, width)?,
                );
                let carry = if mnemonic == Adc {
                    self.carry()?
                } else {
                    Bit::ZERO
                };
                let sum = self.add_with_flags(a, b, carry);
                self.set(instruction, sum)?;
            }
            Sub | Sbb | Cmp => {
                let (a, b) = (
                    self.low(instruction, 0, width)?,
                    self.low(instruction, 1, width)?,
                );
                let borrow = if mnemonic == Sbb {
                    self.carry()?
                } else {
                    Bit::ZERO
                };
                let difference = self.sub_with_flags(a, b, borrow);
                if mnemonic != Cmp {
                    self.set(instruction, difference)?;
                }
            }
            Inc | Dec => {
                let (a, one) = (self.low(instruction, 0, width)?, constant(1, width));
                let carry = self.flags.carry.clone();
                let result = match mnemonic {
                    Inc => self.add_with_flags(a, one, Bit::ZERO),
                    _ => self.sub_with_flags(a, one, Bit::ZERO),
                };
                self.flags.carry = carry;
                self.set(instruction, result)?;
            }
            Neg => {
                let a = self.low(instruction, 0, width)?;
                let result = self.sub_with_flags(constant(0, width), a, Bit::ZERO);
                self.set(instruction, result)?;
            }
            Adcx | Adox => self.add_one_flag(instruction, width)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn carry(&mut self) -> Outcome<Bit> {
        let carry = self.flags.carry.clone();
        self.flag(&carry)
    }

    fn add_with_flags(&mut self, a: Word, b: Word, carry: Bit) -> Word {
        let (sum, new) = if self.keeps_carry(&a, &b) {
            let (sum, new) = self.terms.add_with_carry(&a, &b, carry);
            (sum, Flag::Is(new))
        } else {
            let parts: [(u128, &[Bit]); 3] = [(1, &a), (1, &b), (1, &[carry])];
            let sum = self.terms.sum(a.len(), &parts, 0);
            (sum, Flag::Carry(a.clone(), b.clone(), carry))
        };
        let top = a.len() - 1;
        self.flags.overflow = Flag::AddOverflow(a[top], b[top], sum[top]);
        self.flags.set_result(&sum);
        self.flags.carry = new;
        self.maybe_wrong_flags();
        sum
    }

    /// Whether a sum and its carry are one exact sum. Not for addresses: the normal form of the sum
    /// alone identifies them.
    fn keeps_carry(&self, a: &[Bit], b: &[Bit]) -> bool {
        let terms = &self.terms;
        let mut bits = a.iter().chain(b);
        self.keeps_carries && a.len() == 64 && !bits.any(|bit| terms.depends_on_address(*bit))
    }

    fn sub_with_flags(&mut self, a: Word, b: Word, borrow: Bit) -> Word {
        let (difference, new) = if self.keeps_carry(&a, &b) {
            // The complement of b is 2^64 - 1 - b: a - b carries if it does not borrow.
            let complement: Word = b.iter().map(|bit| self.terms.not(*bit)).collect();
            let not_borrow = self.terms.not(borrow);
            let (sum, carry) = self.terms.add_with_carry(&a, &complement, not_borrow);
            (sum, Flag::Is(self.terms.not(carry)))
        } else {
            let minus = u128::MAX;
            let parts: [(u128, &[Bit]); 3] = [(1, &a), (minus, &b), (minus, &[borrow])];
            let difference = self.terms.sum(a.len(), &parts, 0);
            (difference, Flag::Borrow(a.clone(), b.clone(), borrow))
        };
        let top = a.len() - 1;
        self.flags.overflow = Flag::SubOverflow(a[top], b[top], difference[top]);
        self.flags.set_result(&difference);
        self.flags.carry = new;
        self.maybe_wrong_flags();
        difference
    }

    /// `adcx` and `adox`: addition with a carry in its own flag.
    fn add_one_flag(&mut self, instruction: &Instruction, width: usize) -> Outcome<()> {
        let (a, b) = (
            self.low(instruction, 0, width)?,
            self.low(instruction, 1, width)?,
        );
        let by_carry = instruction.mnemonic() == Mnemonic::Adcx;
        let flag = if by_carry {
            self.flags.carry.clone()
        } else {
            self.flags.overflow.clone()
        };
        let carry = self.flag(&flag)?;
        let sum = self.terms.sum(width, &[(1, &a), (1, &b), (1, &[carry])], 0);
        let new = Flag::Carry(a, b, carry);
        if by_carry {
            self.flags.carry = new;
        } else {
            self.flags.overflow = new;
        }
        self.set(instruction, sum)
    }

    fn logic(&mut self, instruction: &Instruction) -> Outcome<bool> {
        use Mnemonic::*;
        let width = self.width(instruction);
        let mnemonic = instruction.mnemonic();
        let first = match mnemonic {
            Xor | And | Or | Test | Not => 0,
            Andn => 1,
            Bt | Bts | Btr => return self.bit_test(instruction, width).map(|()| true),
            _ => return Ok(false),
        };
        let a = self.low(instruction, first, width)?;
        if mnemonic == Not {
            let result = a.into_iter().map(|bit| self.terms.not(bit)).collect();
            return self.set(instruction, result).map(|()| true);
        }
        let b = self.low(instruction, first + 1, width)?;
        let aligned = (mnemonic == And && instruction.op0_register() == Register::RSP)
            .then(|| (a.clone(), b.clone()));
        let bits = a.into_iter().zip(b);
        let result: Word = bits
            .map(|(a, b)| match mnemonic {
                Xor => self.terms.xor(a, b),
                Or => self.terms.or(a, b),
                Andn => {
                    let not = self.terms.not(a);
                    self.terms.and(not, b)
                }
                _ => self.terms.and(a, b),
            })
            .collect();
        self.flags.carry = Flag::Is(Bit::ZERO);
        self.flags.overflow = Flag::Is(Bit::ZERO);
        self.flags.set_result(&result);
        self.maybe_wrong_flags();
        if let Some((pointer, mask)) = aligned {
            self.align_stack(&pointer, &mask, &result)?;
        }
        if mnemonic != Test {
            self.set(instruction, result)?;
        }
        Ok(true)
    }

    /// `bt`, `bts` and `btr`. `bts` also sets the bit, `btr` clears it.
    fn bit_test(&mut self, instruction: &Instruction, width: usize) -> Outcome<()> {
        if instruction.op_kind(0) != OpKind::Register {
            return self.unsupported(format!("`{instruction}`"));
        }
        let mut word = self.low(instruction, 0, width)?;
        let number = self.count(instruction, 1, width - 1)?;
        self.flags.carry = Flag::Is(word[number]);
        // Intel keeps it; by AMD's manual it is undefined.
        self.flags.zero = Flag::Undefined;
        self.flags.sign = Flag::Undefined;
        self.flags.overflow = Flag::Undefined;
        self.maybe_wrong_flags();
        word[number] = match instruction.mnemonic() {
            Mnemonic::Bts => Bit::ONE,
            Mnemonic::Btr => Bit::ZERO,
            _ => return Ok(()),
        };
        self.set(instruction, word)
    }

    fn shifts(&mut self, instruction: &Instruction) -> Outcome<bool> {
        use Mnemonic::*;
        let width = self.width(instruction);
        match instruction.mnemonic() {
            Rol | Ror | Shl | Shr | Sar => self.shift_with_flags(instruction, width)?,
            Rorx | Shlx | Shrx | Sarx => {
                let word = self.low(instruction, 1, width)?;
                let count = self.count(instruction, 2, width - 1)?;
                let result = shifted(instruction.mnemonic(), &word, count);
                self.set(instruction, result)?;
            }
            Shld | Shrd => {
                let (a, b) = (
                    self.low(instruction, 0, width)?,
                    self.low(instruction, 1, width)?,
                );
                let count = self.count(instruction, 2, count_mask(width))?;
                if count == 0 || count >= width {
                    return self.unsupported(format!("the count of `{instruction}`"));
                }
                let result = match instruction.mnemonic() {
                    Shld => [&b[width - count..], &a[..width - count]].concat(),
                    _ => [&a[count..], &b[..count]].concat(),
                };
                self.flags = Flags::undefined();
                self.set(instruction, result)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The bits in `mask` of a shift count or of a bit's number.
    fn count(&mut self, instruction: &Instruction, n: u32, mask: usize) -> Outcome<usize> {
        let count = self.low(instruction, n, 8)?;
        let mut count = self.public(&count, "a shift count")? as usize & mask;
        for bit in 0..mask.count_ones() {
            if self.is_wrong(WrongModel::Immediate) {
                count ^= 1 << bit;
            }
        }
        Ok(count)
    }

    fn shift_with_flags(&mut self, instruction: &Instruction, width: usize) -> Outcome<()> {
        use Mnemonic::*;
        let mnemonic = instruction.mnemonic();
        let word = self.low(instruction, 0, width)?;
        let count = self.count(instruction, 1, count_mask(width))?;
        if count == 0 {
            // Flags stay; a register of 32 bits is still written.
            return self.set(instruction, word);
        }
        let turns = matches!(mnemonic, Rol | Ror);
        if !turns && count > width {
            return self.unsupported(format!("the count of `{instruction}`"));
        }
        let result = shifted(mnemonic, &word, if turns { count % width } else { count });
        self.flags.carry = match mnemonic {
            Rol => Flag::Is(result[0]),
            Ror => Flag::Is(result[width - 1]),
            // Undefined if the count is the width or more.
            Shl | Shr if count == width => Flag::Undefined,
            Shl => Flag::Is(word[width - count]),
            _ => Flag::Is(word[count - 1]),
        };
        self.flags.overflow = Flag::Undefined;
        if !turns {
            self.flags.set_result(&result);
        }
        self.maybe_wrong_flags();
        self.set(instruction, result)
    }

    fn products(&mut self, instruction: &Instruction) -> Outcome<bool> {
        use Mnemonic::*;
        let width = self.width(instruction);
        match instruction.mnemonic() {
            Imul if instruction.op_count() > 1 => {
                let first = instruction.op_count() - 2;
                let (a, b) = (
                    self.low(instruction, first, width)?,
                    self.low(instruction, first + 1, width)?,
                );
                let product = self.terms.product_of(&a, &b)[..width].to_vec();
                self.flags = Flags::undefined();
                self.set(instruction, product)?;
            }
            Mul if width >= 32 => {
                let (low, high) = pair(width);
                let (a, b) = (self.register(low)?, self.low(instruction, 0, width)?);
                let product = self.terms.product_of(&a, &b);
                self.set_general(low, &product[..width]);
                self.set_general(high, &product[width..]);
                self.flags = Flags::undefined();
            }
            Mulx => {
                let (_, second) = pair(width);
                let (a, b) = (self.register(second)?, self.low(instruction, 2, width)?);
                let product = self.terms.product_of(&a, &b);
                self.set_general(instruction.op_register(1), &product[..width]);
                self.set_general(instruction.op_register(0), &product[width..]);
            }
            Div if width >= 32 => self.divide(instruction, width)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Division of public numbers. With `by_data`, only the upper half of the dividend must be
    /// public, and the division must be certain not to fault.
    fn divide(&mut self, instruction: &Instruction, width: usize) -> Outcome<()> {
        let (low, high) = pair(width);
        let divisor = self.low(instruction, 0, width)?;
        let upper = self.register(high)?;
        let upper = u128::from(self.public(&upper, "a division")?);
        let lower = self.register(low)?;
        if !self.by_data {
            for word in [&divisor, &lower] {
                self.public(word, "a division")?;
            }
        }
        let (quotient, remainder) = match (upper, value(&lower), value(&divisor)) {
            (upper, _, Some(divisor)) if upper >= divisor => {
                return self.wrong("a division that faults");
            }
            (upper, Some(lower), Some(divisor)) => {
                let dividend = upper << width | lower;
                (
                    constant(dividend / divisor, width),
                    constant(dividend % divisor, width),
                )
            }
            (0, ..) => match self.terms.divide(&lower, &divisor) {
                Some(results) => results,
                None => return self.unsupported("a division that may fault"),
            },
            _ => return self.unsupported("a division of a long number that is not public"),
        };
        self.set_general(low, &quotient);
        self.set_general(high, &remainder);
        self.flags = Flags::undefined();
        Ok(())
    }

    fn conditional(&mut self, instruction: &Instruction) -> Outcome<bool> {
        let code = instruction.condition_code();
        if is_cmov(instruction.mnemonic()) {
            let width = self.width(instruction);
            let condition = self.condition(code)?;
            let (yes, no) = (
                self.low(instruction, 1, width)?,
                self.low(instruction, 0, width)?,
            );
            let bits = yes.into_iter().zip(no);
            let word = bits
                .map(|(yes, no)| self.terms.select(condition, yes, no))
                .collect();
            return self.set(instruction, word).map(|()| true);
        }
        if is_set(instruction.mnemonic()) {
            let condition = self.condition(code)?;
            return self
                .set(instruction, extended(&[condition], 8, Bit::ZERO))
                .map(|()| true);
        }
        Ok(false)
    }

    /// For a wrong model: inverts flags.
    fn maybe_wrong_flags(&mut self) {
        for i in 0..4 {
            if !self.is_wrong(WrongModel::Flag) {
                continue;
            }
            let flags = &mut self.flags;
            let flag = [
                &mut flags.carry,
                &mut flags.zero,
                &mut flags.sign,
                &mut flags.overflow,
            ][i]
                .clone();
            if let Some(bit) = flag.value(self.terms) {
                let opposite = Flag::Is(self.terms.not(bit));
                let flags = &mut self.flags;
                *[
                    &mut flags.carry,
                    &mut flags.zero,
                    &mut flags.sign,
                    &mut flags.overflow,
                ][i] = opposite;
            }
        }
    }
}

/// The low bits of a word, shifted or rotated. The count is less than its width; shifts also allow
/// its width.
pub(super) fn shifted(mnemonic: Mnemonic, word: &[Bit], count: usize) -> Word {
    use Mnemonic::*;
    let width = word.len();
    match mnemonic {
        Rol => [&word[width - count..], &word[..width - count]].concat(),
        Ror | Rorx => [&word[count..], &word[..count]].concat(),
        Shl | Shlx => [&vec![Bit::ZERO; count], &word[..width - count]].concat(),
        Shr | Shrx => extended(&word[count..], width, Bit::ZERO),
        _ => extended(&word[count.min(width - 1)..], width, word[width - 1]),
    }
}

/// A word extended to `width` bits.
pub(super) fn extended(word: &[Bit], width: usize, with: Bit) -> Word {
    let mut word = word.to_vec();
    word.resize(width, with);
    word
}

fn is_cmov(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    let carry = matches!(mnemonic, Cmova | Cmovae | Cmovb | Cmovbe | Cmove | Cmovne);
    let sign = matches!(
        mnemonic,
        Cmovg | Cmovge | Cmovl | Cmovle | Cmovs | Cmovns | Cmovo | Cmovno
    );
    carry || sign
}

fn is_set(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    let carry = matches!(mnemonic, Seta | Setae | Setb | Setbe | Sete | Setne);
    let sign = matches!(
        mnemonic,
        Setg | Setge | Setl | Setle | Sets | Setns | Seto | Setno
    );
    carry || sign
}

/// The bits of a shift count that the CPU uses.
fn count_mask(width: usize) -> usize {
    if width == 64 { 63 } else { 31 }
}

/// The registers of wide products: lower and upper half.
fn pair(width: usize) -> (Register, Register) {
    match width {
        64 => (Register::RAX, Register::RDX),
        _ => (Register::EAX, Register::EDX),
    }
}
