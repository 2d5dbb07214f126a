//! Sums, products, and Boolean operations, element by element.

use super::{Machine, Operation, Outcome, Word};
use crate::term::{Bit, Terms, value};
use iced_x86::{Instruction, Mnemonic, OpKind};

impl Machine<'_> {
    pub(super) fn vector_arithmetic(&mut self, instruction: &Instruction) -> Outcome<bool> {
        if let Some((element, operation)) = operation(instruction.mnemonic()) {
            let width = self.width(instruction);
            let (a, b) = self.sources(instruction, width)?;
            let elements = a.chunks(element).zip(b.chunks(element));
            let word = elements
                .flat_map(|(a, b)| operation(self.terms, a, b))
                .collect();
            return self.set_vector(instruction, word, element).map(|()| true);
        }
        match instruction.mnemonic() {
            Mnemonic::Vpternlogd => self.ternary(instruction, 32)?,
            Mnemonic::Vpternlogq => self.ternary(instruction, 64)?,
            Mnemonic::Pcmpeqd | Mnemonic::Vpcmpeqd => self.compare_equal(instruction, 32)?,
            Mnemonic::Pcmpeqq | Mnemonic::Vpcmpeqq => self.compare_equal(instruction, 64)?,
            Mnemonic::Pcmpgtd | Mnemonic::Vpcmpgtd => self.compare_greater(instruction, 32)?,
            Mnemonic::Pcmpgtq | Mnemonic::Vpcmpgtq => self.compare_greater(instruction, 64)?,
            Mnemonic::Packuswb | Mnemonic::Vpackuswb => self.pack_saturated(instruction)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Signed 16-bit elements as unsigned bytes: negative elements become 0, elements above 255
    /// become 255. In each 128-bit lane, the elements of the first source come first.
    fn pack_saturated(&mut self, instruction: &Instruction) -> Outcome<()> {
        let width = self.width(instruction);
        let (a, b) = self.sources(instruction, width)?;
        let mut word = Word::new();
        for lane in 0..width / 128 {
            for source in [&a, &b] {
                for element in self.piece(source, lane, 128).chunks(16) {
                    let large = element[8..15]
                        .iter()
                        .fold(Bit::ZERO, |any, bit| self.terms.or(any, *bit));
                    let positive = self.terms.not(element[15]);
                    for bit in &element[..8] {
                        let bit = self.terms.or(*bit, large);
                        word.push(self.terms.and(bit, positive));
                    }
                }
            }
        }
        self.set_vector(instruction, word, 8)
    }

    /// Any Boolean function of three operands: the immediate is its table of values.
    fn ternary(&mut self, instruction: &Instruction, element: usize) -> Outcome<()> {
        let width = self.width(instruction);
        let (a, b, c) = (
            self.low(instruction, 0, width)?,
            self.low(instruction, 1, width)?,
            self.low(instruction, 2, width)?,
        );
        let normal_form = algebraic_normal_form(self.immediate(instruction) as u8);
        let word = (0..width)
            .map(|i| self.ternary_bit(normal_form, [c[i], b[i], a[i]]))
            .collect();
        self.set_vector(instruction, word, element)
    }

    /// Σ of the products that the normal form has.
    fn ternary_bit(&mut self, normal_form: u8, bits: [Bit; 3]) -> Bit {
        let mut sum = Bit::ZERO;
        for product in (0..8).filter(|product| normal_form >> product & 1 == 1) {
            let factors = bits
                .iter()
                .enumerate()
                .filter(|(i, _)| product >> i & 1 == 1);
            let product = factors.fold(Bit::ONE, |all, (_, bit)| self.terms.and(all, *bit));
            sum = self.terms.xor(sum, product);
        }
        sum
    }

    fn compare_equal(&mut self, instruction: &Instruction, element: usize) -> Outcome<()> {
        if instruction.op_kind(0) == OpKind::Register && instruction.op_register(0).is_k() {
            return self.unsupported(format!("`{instruction}`"));
        }
        let width = self.width(instruction);
        let (a, b) = self.sources(instruction, width)?;
        let elements = a.chunks(element).zip(b.chunks(element));
        let word = elements
            .flat_map(|(a, b)| {
                let difference = xor(self.terms, a, b);
                vec![self.terms.is_zero(&difference); element]
            })
            .collect();
        self.set_vector(instruction, word, element)
    }

    /// Signed: a > b if b - a, with one more bit, is negative. If a is zero, this is the sign of b.
    fn compare_greater(&mut self, instruction: &Instruction, element: usize) -> Outcome<()> {
        if instruction.op_kind(0) == OpKind::Register && instruction.op_register(0).is_k() {
            return self.unsupported(format!("`{instruction}`"));
        }
        let width = self.width(instruction);
        let (a, b) = self.sources(instruction, width)?;
        let elements = a.chunks(element).zip(b.chunks(element));
        let longer = |word: &[Bit]| [word, &word[element - 1..]].concat();
        let word = elements
            .flat_map(|(a, b)| {
                let difference = match value(a) {
                    Some(0) => longer(b),
                    _ => self.terms.sub(&longer(b), &longer(a)),
                };
                vec![difference[element]; element]
            })
            .collect();
        self.set_vector(instruction, word, element)
    }
}

/// Element width and operation of the simple instructions.
fn operation(mnemonic: Mnemonic) -> Option<(usize, Operation)> {
    use Mnemonic::*;
    Some(match mnemonic {
        Paddb | Vpaddb => (8, Terms::add),
        Paddw | Vpaddw => (16, Terms::add),
        Paddd | Vpaddd => (32, Terms::add),
        Paddq | Vpaddq => (64, Terms::add),
        Psubd | Vpsubd => (32, Terms::sub),
        Psubq | Vpsubq => (64, Terms::sub),
        Pmuludq | Vpmuludq => (64, |terms, a, b| terms.product_of(&a[..32], &b[..32])),
        Pmulld | Vpmulld => (32, low_product),
        Vpmullq => (64, low_product),
        Pxor | Vpxor | Xorps | Vxorps | Vpxord => (32, xor),
        Xorpd | Vxorpd | Vpxorq => (64, xor),
        Pand | Vpand | Andps | Vandps | Vpandd => (32, and),
        Andpd | Vandpd | Vpandq => (64, and),
        Por | Vpor | Orps | Vorps | Vpord => (32, or),
        Orpd | Vorpd | Vporq => (64, or),
        Pandn | Vpandn | Andnps | Vandnps | Vpandnd => (32, and_not),
        Andnpd | Vandnpd | Vpandnq => (64, and_not),
        _ => return None,
    })
}

fn low_product(terms: &mut Terms, a: &[Bit], b: &[Bit]) -> Word {
    terms.product_of(a, b)[..a.len()].to_vec()
}

fn xor(terms: &mut Terms, a: &[Bit], b: &[Bit]) -> Word {
    a.iter().zip(b).map(|(a, b)| terms.xor(*a, *b)).collect()
}

fn and(terms: &mut Terms, a: &[Bit], b: &[Bit]) -> Word {
    a.iter().zip(b).map(|(a, b)| terms.and(*a, *b)).collect()
}

fn or(terms: &mut Terms, a: &[Bit], b: &[Bit]) -> Word {
    a.iter().zip(b).map(|(a, b)| terms.or(*a, *b)).collect()
}

fn and_not(terms: &mut Terms, a: &[Bit], b: &[Bit]) -> Word {
    let bits = a.iter().zip(b);
    bits.map(|(a, b)| {
        let not = terms.not(*a);
        terms.and(not, *b)
    })
    .collect()
}

/// The products in the algebraic normal form of a function, from the table of its values (Möbius
/// transform). Bit i of a number stands for operand i.
fn algebraic_normal_form(mut table: u8) -> u8 {
    for (shift, mask) in [(1, 0b1010_1010), (2, 0b1100_1100), (4, 0b1111_0000)] {
        table ^= table << shift & mask;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_of_three_bits_has_its_normal_form() {
        for table in 0..=255 {
            let form = algebraic_normal_form(table);
            for input in 0..8_u8 {
                let products = (0..8)
                    .filter(|product| form >> product & 1 == 1 && input & product == *product);
                assert_eq!(products.count() % 2, usize::from(table >> input & 1));
            }
        }
    }
}
