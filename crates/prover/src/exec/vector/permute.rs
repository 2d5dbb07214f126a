//! Moving elements across lanes.

use super::{Machine, Outcome};
use crate::exec::scalar::extended;
use crate::term::{Bit, Word};
use iced_x86::{Instruction, Mnemonic, OpKind};

impl Machine<'_> {
    pub(super) fn permute(&mut self, instruction: &Instruction) -> Outcome<bool> {
        use Mnemonic::*;
        match instruction.mnemonic() {
            Vpermq | Vpermpd if Self::has_immediate(instruction) => {
                self.permute_quarters(instruction)?
            }
            Vpermq | Vpermpd => self.permute_by(instruction, 64)?,
            Vpermd | Vpermps => self.permute_by(instruction, 32)?,
            Vpermi2q | Vpermi2pd => self.permute_two(instruction, 64, true)?,
            Vpermt2q | Vpermt2pd => self.permute_two(instruction, 64, false)?,
            Vpermi2d | Vpermi2ps => self.permute_two(instruction, 32, true)?,
            Vpermt2d | Vpermt2ps => self.permute_two(instruction, 32, false)?,
            Vperm2i128 | Vperm2f128 => self.permute_halves(instruction)?,
            Vshufi64x2 | Vshuff64x2 => self.shuffle_lanes(instruction, 64)?,
            Vshufi32x4 | Vshuff32x4 => self.shuffle_lanes(instruction, 32)?,
            Valignq => self.align_elements(instruction, 64)?,
            Valignd => self.align_elements(instruction, 32)?,
            Vinserti128 | Vinsertf128 | Vinserti64x2 | Vinsertf64x2 => {
                self.insert_part(instruction, 128, 64)?
            }
            Vinserti32x4 | Vinsertf32x4 => self.insert_part(instruction, 128, 32)?,
            Vinserti64x4 | Vinsertf64x4 => self.insert_part(instruction, 256, 64)?,
            Vextracti128 | Vextractf128 | Vextracti64x2 | Vextractf64x2 => {
                self.extract_part(instruction, 128, 64)?
            }
            Vextracti32x4 | Vextractf32x4 => self.extract_part(instruction, 128, 32)?,
            Vextracti64x4 | Vextractf64x4 => self.extract_part(instruction, 256, 64)?,
            _ => return self.repeat_part(instruction),
        }
        Ok(true)
    }

    /// One part repeated, or small elements each in a larger one.
    fn repeat_part(&mut self, instruction: &Instruction) -> Outcome<bool> {
        use Mnemonic::*;
        let width = self.width(instruction);
        let (part, element) = match instruction.mnemonic() {
            Vpbroadcastd | Vbroadcastss => (32, 32),
            Vpbroadcastq | Vbroadcastsd => (64, 64),
            Vbroadcasti128 | Vbroadcastf128 | Vbroadcasti64x2 | Vbroadcastf64x2 => (128, 64),
            Vbroadcasti32x4 | Vbroadcastf32x4 => (128, 32),
            Vbroadcasti64x4 | Vbroadcastf64x4 => (256, 64),
            Pmovzxdq | Vpmovzxdq | Pmovsxdq | Vpmovsxdq => {
                return self.extend_each(instruction, 32, 64).map(|()| true);
            }
            Pmovzxbd | Vpmovzxbd | Vpmovsxbd => {
                return self.extend_each(instruction, 8, 32).map(|()| true);
            }
            Pmovzxbq | Vpmovzxbq | Vpmovsxbq => {
                return self.extend_each(instruction, 8, 64).map(|()| true);
            }
            _ => return Ok(false),
        };
        let word = self.low(instruction, 1, part)?.repeat(width / part);
        self.set_vector(instruction, word, element).map(|()| true)
    }

    /// The four quarters of each 256 bits, chosen by two bits of the immediate each.
    fn permute_quarters(&mut self, instruction: &Instruction) -> Outcome<()> {
        let width = self.width(instruction);
        let source = self.low(instruction, 1, width)?;
        let order = self.immediate(instruction);
        let mut word = Word::with_capacity(width);
        for half in source.chunks(256) {
            for i in 0..4 {
                word.extend(self.piece(half, order >> (2 * i) & 3, 64));
            }
        }
        self.set_vector(instruction, word, 64)
    }

    /// Elements by number; the numbers, in the first source, must be public.
    fn permute_by(&mut self, instruction: &Instruction, element: usize) -> Outcome<()> {
        let width = self.width(instruction);
        let (numbers, source) = (
            self.low(instruction, 1, width)?,
            self.low(instruction, 2, width)?,
        );
        let count = width / element;
        let mut word = Word::with_capacity(width);
        for number in numbers.chunks(element) {
            let number = self.public(&number[..count.ilog2() as usize], "a shuffle")? as usize;
            word.extend(self.piece(&source, number, element));
        }
        self.set_vector(instruction, word, element)
    }

    /// Elements of two sources by number. The numbers are in the destination, or in the operand
    /// between the sources.
    fn permute_two(
        &mut self,
        instruction: &Instruction,
        element: usize,
        numbers_first: bool,
    ) -> Outcome<()> {
        let width = self.width(instruction);
        let (a, b, c) = (
            self.low(instruction, 0, width)?,
            self.low(instruction, 1, width)?,
            self.low(instruction, 2, width)?,
        );
        let (numbers, first) = if numbers_first { (a, b) } else { (b, a) };
        let both = [first, c].concat();
        let count = 2 * width / element;
        let mut word = Word::with_capacity(width);
        for number in numbers.chunks(element) {
            let number = self.public(&number[..count.ilog2() as usize], "a shuffle")? as usize;
            word.extend(self.piece(&both, number, element));
        }
        self.set_vector(instruction, word, element)
    }

    /// Two halves. Each is one of four halves, or zero.
    fn permute_halves(&mut self, instruction: &Instruction) -> Outcome<()> {
        let (a, b) = self.sources(instruction, 256)?;
        let both = [a, b].concat();
        let order = self.immediate(instruction);
        let mut word = Word::with_capacity(256);
        for choice in [order, order >> 4] {
            if choice & 8 != 0 {
                word.extend([Bit::ZERO; 128]);
            } else {
                word.extend(self.piece(&both, choice & 3, 128));
            }
        }
        self.set_vector(instruction, word, 64)
    }

    /// Half of the lanes from the first source, the others from the second.
    fn shuffle_lanes(&mut self, instruction: &Instruction, element: usize) -> Outcome<()> {
        let width = self.width(instruction);
        let (a, b) = self.sources(instruction, width)?;
        let order = self.immediate(instruction);
        let lanes = width / 128;
        let bits = lanes.ilog2() as usize;
        let mut word = Word::with_capacity(width);
        for i in 0..lanes {
            let source = if i < lanes / 2 { &a } else { &b };
            word.extend(self.piece(source, order >> (bits * i) & (lanes - 1), 128));
        }
        self.set_vector(instruction, word, element)
    }

    /// Both sources, the first one above, shifted right by elements.
    fn align_elements(&mut self, instruction: &Instruction, element: usize) -> Outcome<()> {
        let width = self.width(instruction);
        let (high, low) = self.sources(instruction, width)?;
        let count = self.immediate(instruction) % (width / element);
        let both = [low, high].concat();
        let word = both[element * count..][..width].to_vec();
        self.set_vector(instruction, word, element)
    }

    fn insert_part(
        &mut self,
        instruction: &Instruction,
        part: usize,
        element: usize,
    ) -> Outcome<()> {
        let width = self.width(instruction);
        let mut word = self.low(instruction, 1, width)?;
        let new = self.low(instruction, 2, part)?;
        let number = self.immediate(instruction) % (width / part);
        word[part * number..][..part].copy_from_slice(&new);
        self.set_vector(instruction, word, element)
    }

    fn extract_part(
        &mut self,
        instruction: &Instruction,
        part: usize,
        element: usize,
    ) -> Outcome<()> {
        if instruction.op_kind(1) != OpKind::Register {
            return self.unsupported(format!("`{instruction}`"));
        }
        let source = self.operand(instruction, 1, 0)?;
        let number = self.immediate(instruction) % (source.len() / part);
        let word = self.piece(&source, number, part);
        self.set_vector(instruction, word, element)
    }

    /// Elements of `from` bits, each in one of `to` bits.
    fn extend_each(&mut self, instruction: &Instruction, from: usize, to: usize) -> Outcome<()> {
        use Mnemonic::*;
        let width = self.width(instruction);
        let source = self.low(instruction, 1, width / to * from)?;
        let signed = matches!(
            instruction.mnemonic(),
            Pmovsxdq | Vpmovsxdq | Vpmovsxbd | Vpmovsxbq
        );
        let above = |bits: &[Bit]| if signed { bits[from - 1] } else { Bit::ZERO };
        let word = source
            .chunks(from)
            .flat_map(|bits| extended(bits, to, above(bits)))
            .collect();
        self.set_vector(instruction, word, to)
    }
}
