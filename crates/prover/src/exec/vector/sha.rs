//! The instructions for SHA-256, as the manual describes them.

use super::{Machine, Outcome};
use crate::term::{Bit, Terms, Word};
use iced_x86::{Instruction, Mnemonic};

impl Machine<'_> {
    /// Executes an instruction for SHA; false if it is of another kind.
    pub(super) fn sha(&mut self, instruction: &Instruction) -> Outcome<bool> {
        let steps = match instruction.mnemonic() {
            Mnemonic::Sha256rnds2 => Self::two_rounds,
            Mnemonic::Sha256msg1 => Self::schedule_first,
            Mnemonic::Sha256msg2 => Self::schedule_last,
            _ => return Ok(false),
        };
        let first = self.low(instruction, 0, 128)?;
        let second = self.low(instruction, 1, 128)?;
        let [first, second] = [first, second].map(|word| self.words_of_32(&word));
        let result = steps(self, &first, &second);
        self.set_vector(instruction, result.concat(), 32)?;
        Ok(true)
    }

    /// `sha256rnds2`: from C, D, G, H and A, B, E, F (the highest word first), and the sums of
    /// schedule and constant in xmm0.
    fn two_rounds(&mut self, first: &[Word], second: &[Word]) -> Vec<Word> {
        let [mut h, mut g, mut d, mut c] = four(first);
        let [mut f, mut e, mut b, mut a] = four(second);
        let sums = self.vectors[0][..128].to_vec();
        let sums = self.words_of_32(&sums);
        for sum in &sums[..2] {
            let terms = &mut *self.terms;
            let (s1, s0) = (
                turned(terms, &e, [6, 11, 25]),
                turned(terms, &a, [2, 13, 22]),
            );
            let (choice, majority) = (choice(terms, &e, &f, &g), majority(terms, &a, &b, &c));
            let mut to_e: Vec<(u128, &[Bit])> = vec![(1, &h), (1, &s1), (1, &choice), (1, sum)];
            let mut to_a = to_e.clone();
            to_e.push((1, &d));
            to_a.extend([(1, &s0[..]), (1, &majority[..])]);
            let (new_e, new_a) = (terms.sum(32, &to_e, 0), terms.sum(32, &to_a, 0));
            (h, g, f, e) = (g, f, e, new_e);
            (d, c, b, a) = (c, b, a, new_a);
        }
        vec![f, e, b, a]
    }

    /// `sha256msg1`: to each of four words of the schedule, σ0 of the next one.
    fn schedule_first(&mut self, first: &[Word], second: &[Word]) -> Vec<Word> {
        let words = [first, &second[..1]].concat();
        let sums = words.windows(2).map(|pair| {
            let sigma = shifted(self.terms, &pair[1], [7, 18], 3);
            self.terms.add(&pair[0], &sigma)
        });
        sums.collect()
    }

    /// `sha256msg2`: to each of four words of the schedule, σ1 of the one two before.
    fn schedule_last(&mut self, first: &[Word], second: &[Word]) -> Vec<Word> {
        let mut words = second[2..].to_vec();
        for (number, word) in first.iter().enumerate() {
            let sigma = shifted(self.terms, &words[number], [17, 19], 10);
            words.push(self.terms.add(word, &sigma));
        }
        words.split_off(2)
    }

    fn words_of_32(&mut self, word: &[Bit]) -> Vec<Word> {
        let numbers = 0..word.len() / 32;
        numbers.map(|number| self.piece(word, number, 32)).collect()
    }
}

fn four(words: &[Word]) -> [Word; 4] {
    words.to_vec().try_into().expect("four words")
}

fn rotated(word: &[Bit], count: usize) -> Word {
    [&word[count..], &word[..count]].concat()
}

fn sum_of_three(terms: &mut Terms, words: [&[Bit]; 3]) -> Word {
    let bits = words[0].iter().zip(words[1]).zip(words[2]);
    bits.map(|((a, b), c)| {
        let sum = terms.xor(*a, *b);
        terms.xor(sum, *c)
    })
    .collect()
}

/// Σ: the exclusive or of three rotations.
fn turned(terms: &mut Terms, word: &[Bit], counts: [usize; 3]) -> Word {
    let [a, b, c] = counts.map(|count| rotated(word, count));
    sum_of_three(terms, [&a, &b, &c])
}

/// σ: the exclusive or of two rotations and a shift.
fn shifted(terms: &mut Terms, word: &[Bit], counts: [usize; 2], shift: usize) -> Word {
    let [a, b] = counts.map(|count| rotated(word, count));
    let mut c = word[shift..].to_vec();
    c.resize(word.len(), Bit::ZERO);
    sum_of_three(terms, [&a, &b, &c])
}

/// z, or y where x is 1.
fn choice(terms: &mut Terms, x: &[Bit], y: &[Bit], z: &[Bit]) -> Word {
    let bits = x.iter().zip(y).zip(z);
    bits.map(|((x, y), z)| {
        let differ = terms.xor(*y, *z);
        let chosen = terms.and(*x, differ);
        terms.xor(*z, chosen)
    })
    .collect()
}

/// The majority of three.
fn majority(terms: &mut Terms, x: &[Bit], y: &[Bit], z: &[Bit]) -> Word {
    let bits = x.iter().zip(y).zip(z);
    bits.map(|((x, y), z)| {
        let (both, either) = (terms.and(*x, *y), terms.xor(*x, *y));
        let with = terms.and(either, *z);
        terms.xor(both, with)
    })
    .collect()
}
