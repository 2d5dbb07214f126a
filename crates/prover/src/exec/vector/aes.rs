//! The instructions for AES, as FIPS 197 and the manual describe them.

use super::{Machine, Outcome};
use crate::term::{Bit, Terms, Word};
use iced_x86::{Instruction, Mnemonic};

impl Machine<'_> {
    /// Executes an instruction for AES; false if it is of another kind.
    pub(super) fn aes(&mut self, instruction: &Instruction) -> Outcome<bool> {
        let mixes = match instruction.mnemonic() {
            Mnemonic::Aesenc => true,
            Mnemonic::Aesenclast => false,
            Mnemonic::Aeskeygenassist => return self.assist(instruction).map(|()| true),
            _ => return Ok(false),
        };
        let state = self.low(instruction, 0, 128)?;
        let key = self.low(instruction, 1, 128)?;
        let mut bytes = self.shifted_rows(&state);
        for byte in &mut bytes {
            *byte = self.terms.substitute(byte);
        }
        if mixes {
            let columns = bytes.chunks(4);
            bytes = columns
                .flat_map(|column| mixed(self.terms, column))
                .collect();
        }
        let word = xor(self.terms, &bytes.concat(), &key);
        self.set_vector(instruction, word, 8).map(|()| true)
    }

    /// SHIFTROWS: row r is rotated by r columns.
    fn shifted_rows(&mut self, state: &[Bit]) -> Vec<Word> {
        let places = (0..16).map(|place| (place + 4 * (place % 4)) % 16);
        places.map(|place| self.piece(state, place, 8)).collect()
    }

    /// `aeskeygenassist`: the S-box of the second and of the fourth word; each once unchanged, and
    /// once rotated by a byte, xor the round constant.
    fn assist(&mut self, instruction: &Instruction) -> Outcome<()> {
        let source = self.low(instruction, 1, 128)?;
        let constant = crate::term::constant(self.immediate(instruction) as u128, 32);
        let mut result = Word::new();
        for number in [1, 3] {
            let word = self.piece(&source, number, 32);
            let bytes = word.chunks(8);
            let word = bytes
                .flat_map(|byte| self.terms.substitute(byte))
                .collect::<Word>();
            let turned = [&word[8..], &word[..8]].concat();
            result.extend(word);
            result.extend(xor(self.terms, &turned, &constant));
        }
        self.set_vector(instruction, result, 32)
    }
}

/// MIXCOLUMNS, of one column.
fn mixed(terms: &mut Terms, column: &[Word]) -> Vec<Word> {
    let doubled: Vec<Word> = column.iter().map(|byte| times_x(terms, byte)).collect();
    let rows = 0..4;
    rows.map(|row| {
        let next = (row + 1) % 4;
        let mut sum = xor(terms, &doubled[row], &doubled[next]);
        for other in 1..4 {
            sum = xor(terms, &sum, &column[(row + other) % 4]);
        }
        sum
    })
    .collect()
}

/// The product with x in GF(2^8).
fn times_x(terms: &mut Terms, byte: &[Bit]) -> Word {
    let top = byte[7];
    let mut word = [&[top], &byte[..7]].concat();
    for place in [1, 3, 4] {
        word[place] = terms.xor(word[place], top);
    }
    word
}

fn xor(terms: &mut Terms, a: &[Bit], b: &[Bit]) -> Word {
    let bits = a.iter().zip(b);
    bits.map(|(a, b)| terms.xor(*a, *b)).collect()
}
