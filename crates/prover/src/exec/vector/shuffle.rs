//! Moving elements within lanes of 128 bits.

use super::{Machine, Outcome, first_source};
use crate::exec::scalar::extended;
use crate::term::{Bit, Terms, Word};
use iced_x86::{Instruction, Mnemonic, Register};

/// Bits of a lane.
const LANE: usize = 128;
/// The largest number of bits of a byte's number that may be formulas. Code looks up multiples of a
/// constant in this way.
const MOST_UNKNOWN: usize = 4;

impl Machine<'_> {
    pub(super) fn shuffle(&mut self, instruction: &Instruction) -> Outcome<bool> {
        use Mnemonic::*;
        match instruction.mnemonic() {
            Pshufd | Vpshufd => self.shuffle_doublewords(instruction)?,
            Pshuflw | Vpshuflw => self.shuffle_words(instruction, 0)?,
            Pshufhw | Vpshufhw => self.shuffle_words(instruction, 1)?,
            Shufps | Vshufps => self.shuffle_singles(instruction)?,
            Shufpd | Vshufpd => self.shuffle_doubles(instruction)?,
            Pshufb | Vpshufb => self.shuffle_bytes(instruction)?,
            Palignr | Vpalignr => self.align_bytes(instruction)?,
            Vpermilps if Self::has_immediate(instruction) => {
                self.shuffle_doublewords(instruction)?
            }
            Pblendw | Vpblendw => self.blend(instruction, 16)?,
            Vpblendd | Blendps | Vblendps => self.blend(instruction, 32)?,
            Blendpd | Vblendpd => self.blend(instruction, 64)?,
            Vpblendmd => self.blend_by_mask(instruction, 32)?,
            Blendvps => self.blend_by_first_signs(instruction, 32)?,
            Vpblendvb => self.blend_by_signs(instruction, 8)?,
            Vblendvps => self.blend_by_signs(instruction, 32)?,
            Vblendvpd => self.blend_by_signs(instruction, 64)?,
            Movddup | Vmovddup => self.duplicate(instruction)?,
            Packsswb | Vpacksswb => self.pack_signed(instruction, 16)?,
            Packssdw | Vpackssdw => self.pack_signed(instruction, 32)?,
            _ => return self.unpack(instruction),
        }
        Ok(true)
    }

    /// Four elements of each lane, chosen by two bits each.
    fn shuffle_doublewords(&mut self, instruction: &Instruction) -> Outcome<()> {
        let width = self.width(instruction);
        let source = self.low(instruction, 1, width)?;
        let order = self.immediate(instruction);
        let mut word = Word::with_capacity(width);
        for lane in source.chunks(LANE) {
            for i in 0..4 {
                word.extend(self.piece(lane, order >> (2 * i) & 3, 32));
            }
        }
        self.set_vector(instruction, word, 32)
    }

    /// The four words of one half of each lane; the other half stays.
    fn shuffle_words(&mut self, instruction: &Instruction, half: usize) -> Outcome<()> {
        let width = self.width(instruction);
        let source = self.low(instruction, 1, width)?;
        let order = self.immediate(instruction);
        let mut word = Word::with_capacity(width);
        for lane in source.chunks(LANE) {
            for (number, quarters) in lane.chunks(64).enumerate() {
                for i in 0..4 {
                    let from = if number == half {
                        order >> (2 * i) & 3
                    } else {
                        i
                    };
                    word.extend(self.piece(quarters, from, 16));
                }
            }
        }
        self.set_vector(instruction, word, 16)
    }

    /// Takes two elements of the first source and two of the second, in each lane.
    fn shuffle_singles(&mut self, instruction: &Instruction) -> Outcome<()> {
        let width = self.width(instruction);
        let (a, b) = self.sources(instruction, width)?;
        let order = self.immediate(instruction);
        let mut word = Word::with_capacity(width);
        for (a, b) in a.chunks(LANE).zip(b.chunks(LANE)) {
            for (i, source) in [a, a, b, b].into_iter().enumerate() {
                word.extend(self.piece(source, order >> (2 * i) & 3, 32));
            }
        }
        self.set_vector(instruction, word, 32)
    }

    /// Takes one half of each source, in each lane. One bit of the immediate chooses each half.
    fn shuffle_doubles(&mut self, instruction: &Instruction) -> Outcome<()> {
        let width = self.width(instruction);
        let (a, b) = self.sources(instruction, width)?;
        let order = self.immediate(instruction);
        let mut word = Word::with_capacity(width);
        for (lane, (a, b)) in a.chunks(LANE).zip(b.chunks(LANE)).enumerate() {
            for (i, source) in [a, b].into_iter().enumerate() {
                word.extend(self.piece(source, order >> (2 * lane + i) & 1, 64));
            }
        }
        self.set_vector(instruction, word, 64)
    }

    /// Bytes of each lane by number; the top bit of the number means zero. All but a few bits of
    /// the numbers must be public.
    fn shuffle_bytes(&mut self, instruction: &Instruction) -> Outcome<()> {
        let width = self.width(instruction);
        let (source, numbers) = self.sources(instruction, width)?;
        let mut word = Word::with_capacity(width);
        for (lane, numbers) in source.chunks(LANE).zip(numbers.chunks(LANE)) {
            for number in numbers.chunks(8) {
                let unknown = number.iter().filter(|bit| !bit.is_constant());
                if (1..=MOST_UNKNOWN).contains(&unknown.count()) {
                    word.extend(looked_up(self.terms, lane, number));
                    continue;
                }
                let number = self.public(number, "a shuffle")? as usize;
                if number & 0x80 != 0 {
                    word.extend([Bit::ZERO; 8]);
                } else {
                    word.extend(self.piece(lane, number & 15, 8));
                }
            }
        }
        self.set_vector(instruction, word, 8)
    }

    /// Each lane of both sources, the first one above, shifted right by bytes.
    fn align_bytes(&mut self, instruction: &Instruction) -> Outcome<()> {
        let width = self.width(instruction);
        let (high, low) = self.sources(instruction, width)?;
        let count = (8 * self.immediate(instruction)).min(2 * LANE);
        let mut word = Word::with_capacity(width);
        for (high, low) in high.chunks(LANE).zip(low.chunks(LANE)) {
            let both = [low, high].concat();
            word.extend_from_slice(&extended(&both[count..], 2 * LANE, Bit::ZERO)[..LANE]);
        }
        self.set_vector(instruction, word, 8)
    }

    /// Each element comes from one of two sources, by a bit of the immediate. After eight elements,
    /// the bits repeat.
    fn blend(&mut self, instruction: &Instruction, element: usize) -> Outcome<()> {
        let width = self.width(instruction);
        let (a, b) = self.sources(instruction, width)?;
        let choice = self.immediate(instruction);
        let mut word = Word::with_capacity(width);
        for i in 0..width / element {
            let source = if choice >> (i % 8) & 1 == 1 { &b } else { &a };
            word.extend(self.piece(source, i, element));
        }
        self.set_vector(instruction, word, element)
    }

    /// Each element of the second source if the sign of the third source's element is set, else of
    /// the first source.
    fn blend_by_signs(&mut self, instruction: &Instruction, element: usize) -> Outcome<()> {
        let width = self.width(instruction);
        let (a, b) = self.sources(instruction, width)?;
        let signs = self.low(instruction, first_source(instruction) + 2, width)?;
        let word = self.blended(&a, &b, |i| signs[i / element * element + element - 1]);
        self.set_vector(instruction, word, element)
    }

    /// The same for the old form, whose signs are always in xmm0.
    fn blend_by_first_signs(&mut self, instruction: &Instruction, element: usize) -> Outcome<()> {
        let (a, b) = self.sources(instruction, LANE)?;
        let signs = self.vectors[0][..LANE].to_vec();
        let word = self.blended(&a, &b, |i| signs[i / element * element + element - 1]);
        self.set_vector(instruction, word, element)
    }

    /// Elements of the second source where the mask is set; elsewhere zero, or elements of the
    /// first source. Other instructions take elements of the destination instead.
    fn blend_by_mask(&mut self, instruction: &Instruction, element: usize) -> Outcome<()> {
        let width = self.width(instruction);
        let (mut a, b) = self.sources(instruction, width)?;
        if instruction.zeroing_masking() {
            a.fill(Bit::ZERO);
        }
        let mask = match instruction.op_mask() {
            Register::None => vec![Bit::ONE; width / element],
            register => self.masks[register.number()].clone(),
        };
        let word = self.blended(&a, &b, |i| mask[i / element]);
        // `set_vector` would skip the excluded elements.
        if let Some(word) = self.result(word, element) {
            self.set_vector_register(instruction, instruction.op_register(0), &word);
        }
        Ok(())
    }

    /// Bits of `b` where `is_chosen`, else of `a`.
    fn blended(&mut self, a: &[Bit], b: &[Bit], is_chosen: impl Fn(usize) -> Bit) -> Word {
        let pairs = a.iter().zip(b).enumerate();
        let select = |(i, (a, b)): (usize, (&Bit, &Bit))| self.terms.select(is_chosen(i), *b, *a);
        pairs.map(select).collect()
    }

    /// The low half of each lane, twice.
    fn duplicate(&mut self, instruction: &Instruction) -> Outcome<()> {
        let width = self.width(instruction);
        let source = self.operand(instruction, 1, width)?;
        if source.len() < 64 {
            return self.unsupported(format!("`{instruction}`"));
        }
        let mut word = Word::with_capacity(width);
        for lane in source.chunks(LANE).take(width / LANE) {
            word.extend_from_slice(&lane[..64]);
            word.extend_from_slice(&lane[..64]);
        }
        self.set_vector(instruction, word, 64)
    }

    /// The elements of each lane of the first and then of the second source, saturated to half of
    /// their bits.
    fn pack_signed(&mut self, instruction: &Instruction, element: usize) -> Outcome<()> {
        let width = self.width(instruction);
        let (a, b) = self.sources(instruction, width)?;
        let mut word = Word::with_capacity(width);
        for (a, b) in a.chunks(LANE).zip(b.chunks(LANE)) {
            for number in a.chunks(element).chain(b.chunks(element)) {
                word.extend(self.saturated(number));
            }
        }
        self.set_vector(instruction, word, element / 2)
    }

    /// The lower half if all bits above it equal its sign, else the least or the greatest number
    /// with this sign.
    fn saturated(&mut self, number: &[Bit]) -> Word {
        let half = number.len() / 2;
        let sign = number[number.len() - 1];
        let others: Word = number[half - 1..]
            .iter()
            .map(|bit| self.terms.xor(*bit, sign))
            .collect();
        let fits = self.terms.is_zero(&others);
        let limit = self.terms.not(sign);
        let low = number[..half - 1].iter();
        let mut word: Word = low
            .map(|bit| self.terms.select(fits, *bit, limit))
            .collect();
        word.push(sign);
        word
    }

    /// Elements of one half of each lane of two sources, alternating.
    fn unpack(&mut self, instruction: &Instruction) -> Outcome<bool> {
        use Mnemonic::*;
        let (element, half) = match instruction.mnemonic() {
            Punpcklbw | Vpunpcklbw => (8, 0),
            Punpckhbw | Vpunpckhbw => (8, 1),
            Punpcklwd | Vpunpcklwd => (16, 0),
            Punpckhwd | Vpunpckhwd => (16, 1),
            Punpckldq | Vpunpckldq | Unpcklps | Vunpcklps => (32, 0),
            Punpckhdq | Vpunpckhdq | Unpckhps | Vunpckhps => (32, 1),
            Punpcklqdq | Vpunpcklqdq | Unpcklpd | Vunpcklpd | Movlhps | Vmovlhps => (64, 0),
            Punpckhqdq | Vpunpckhqdq | Unpckhpd | Vunpckhpd => (64, 1),
            Movhlps | Vmovhlps => return self.high_to_low(instruction).map(|()| true),
            _ => return Ok(false),
        };
        let width = self.width(instruction);
        let (a, b) = self.sources(instruction, width)?;
        let mut word = Word::with_capacity(width);
        for (a, b) in a.chunks(64).zip(b.chunks(64)).skip(half).step_by(2) {
            for i in 0..64 / element {
                word.extend(self.piece(a, i, element));
                word.extend(self.piece(b, i, element));
            }
        }
        self.set_vector(instruction, word, element).map(|()| true)
    }

    /// The high half of the second source below the high half of the first.
    fn high_to_low(&mut self, instruction: &Instruction) -> Outcome<()> {
        let first = first_source(instruction);
        let (a, b) = (
            self.low(instruction, first, 128)?,
            self.low(instruction, first + 1, 128)?,
        );
        let word = [&b[64..], &a[64..]].concat();
        self.set_vector(instruction, word, 64)
    }
}

/// The byte of a lane whose number is a formula.
fn looked_up(terms: &mut Terms, lane: &[Bit], number: &[Bit]) -> Word {
    let is_there = terms.not(number[7]);
    let bits = 0..8;
    bits.map(|bit| {
        let table = lane.iter().skip(bit).step_by(8).copied().collect();
        let entry = entry(terms, table, &number[..4]);
        terms.and(entry, is_there)
    })
    .collect()
}

/// The bit of a table whose number is a formula: a sum of products of the number's bits, whose
/// coefficients are sums of bits of the table (Möbius transform). Where the bits of a table are
/// linear in their numbers, products of two and more have the coefficient zero.
fn entry(terms: &mut Terms, mut table: Word, number: &[Bit]) -> Bit {
    for i in 0..number.len() {
        for place in (0..table.len()).filter(|place| place >> i & 1 == 1) {
            table[place] = terms.xor(table[place], table[place ^ 1 << i]);
        }
    }
    let mut sum = Bit::ZERO;
    for (place, coefficient) in table.into_iter().enumerate() {
        let factors = number.iter().enumerate();
        let factors = factors.filter(|(i, _)| place >> i & 1 == 1);
        let product = factors.fold(coefficient, |all, (_, bit)| terms.and(all, *bit));
        sum = terms.xor(sum, product);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::{SAMPLES, constant};

    /// The result is as for public numbers: the byte with this number, or zero if the top bit is
    /// set.
    #[test]
    fn bytes_are_looked_up_by_all_numbers() {
        let mut terms = Terms::new(1);
        let (lane, unknown) = (terms.input(LANE), terms.input(5));
        let number = [&unknown[..4], &constant(0b101, 3), &unknown[4..]].concat();
        let byte = looked_up(&mut terms, &lane, &number);
        let (lanes, bytes) = (terms.samples(&lane), terms.samples(&byte));
        let numbers = terms.samples(&number);
        for sample in 0..SAMPLES {
            let number = numbers[sample];
            let right = match number & 0x80 {
                0 => lanes[sample] >> (8 * (number & 15)) & 0xff,
                _ => 0,
            };
            assert_eq!(bytes[sample], right, "{number:x}");
        }
        for number in 0..256 {
            let place = 8 * (number as usize & 15);
            let right = match number & 0x80 {
                0 => lane[place..place + 8].to_vec(),
                _ => constant(0, 8),
            };
            assert_eq!(looked_up(&mut terms, &lane, &constant(number, 8)), right);
        }
    }

    /// A table that is linear in the number gives linear formulas, even if its bits are long
    /// formulas.
    #[test]
    fn bits_of_a_linear_table_are_sums() {
        let mut terms = Terms::new(2);
        let bits = terms.input(96);
        let number: Word = bits
            .chunks(32)
            .map(|bits| bits.iter().fold(Bit::ZERO, |sum, bit| terms.xor(sum, *bit)))
            .collect();
        let table = [0, 1, 1, 0, 1, 0, 0, 1].map(|bit| Bit::from(bit == 1));
        let all = bits.iter().fold(Bit::ZERO, |sum, bit| terms.xor(sum, *bit));
        assert_eq!(entry(&mut terms, table.to_vec(), &number), all);
    }
}
