//! The flags of the CPU. Most are never read, so their values are computed on demand.

use crate::term::{Bit, Terms, Word};

/// One flag.
#[derive(Clone, Debug)]
pub enum Flag {
    /// Known.
    Is(Bit),
    /// The manual leaves it undefined.
    Undefined,
    /// The carry of `0` + `1` + `2`.
    Carry(Word, Word, Bit),
    /// The borrow of `0` - `1` - `2`.
    Borrow(Word, Word, Bit),
    /// Whether all bits are zero.
    Zero(Word),
    /// Signed overflow of an addition: the signs of both summands and of the sum. It is set if the
    /// sign of the sum differs from both.
    AddOverflow(Bit, Bit, Bit),
    /// Signed overflow of a subtraction: the signs of minuend, subtrahend, difference.
    SubOverflow(Bit, Bit, Bit),
}

/// The flags that conditions read. Parity and adjust have no model: code must not read them.
#[derive(Clone, Debug)]
pub struct Flags {
    /// CF.
    pub carry: Flag,
    /// ZF.
    pub zero: Flag,
    /// SF.
    pub sign: Flag,
    /// OF.
    pub overflow: Flag,
}

impl Flags {
    /// All undefined.
    pub fn undefined() -> Self {
        Self {
            carry: Flag::Undefined,
            zero: Flag::Undefined,
            sign: Flag::Undefined,
            overflow: Flag::Undefined,
        }
    }

    /// Changes the bits that they are computed from.
    pub(super) fn change(&mut self, change: impl Fn(&mut Bit)) {
        for flag in [
            &mut self.carry,
            &mut self.zero,
            &mut self.sign,
            &mut self.overflow,
        ] {
            match flag {
                Flag::Undefined => {}
                Flag::Is(bit) => change(bit),
                Flag::Zero(word) => word.iter_mut().for_each(&change),
                Flag::Carry(a, b, bit) | Flag::Borrow(a, b, bit) => {
                    a.iter_mut().chain(b).for_each(&change);
                    change(bit);
                }
                Flag::AddOverflow(a, b, c) | Flag::SubOverflow(a, b, c) => {
                    [a, b, c].into_iter().for_each(&change);
                }
            }
        }
    }

    /// Changes the words that they are computed from. Flags that are not computed from words become
    /// undefined.
    pub(super) fn change_words(
        &mut self,
        terms: &mut Terms,
        mut change: impl FnMut(&mut Terms, &mut Word),
    ) {
        let flags = [
            &mut self.carry,
            &mut self.zero,
            &mut self.sign,
            &mut self.overflow,
        ];
        for flag in flags {
            match flag {
                Flag::Zero(word) => change(terms, word),
                Flag::Carry(a, b, Bit::ZERO) | Flag::Borrow(a, b, Bit::ZERO) => {
                    change(terms, a);
                    change(terms, b);
                }
                other => *other = Flag::Undefined,
            }
        }
    }

    /// Sign and zero as they follow from a result.
    pub(super) fn set_result(&mut self, result: &[Bit]) {
        self.sign = Flag::Is(result[result.len() - 1]);
        self.zero = Flag::Zero(result.to_vec());
    }
}

impl Flag {
    /// Its value; `None` if it is undefined.
    pub fn value(&self, terms: &mut Terms) -> Option<Bit> {
        Some(match self {
            Self::Is(bit) => *bit,
            Self::Undefined => return None,
            Self::Carry(a, b, carry) => {
                last(terms.sum(a.len() + 1, &[(1, a), (1, b), (1, &[*carry])], 0))
            }
            Self::Borrow(a, b, Bit::ZERO) => terms.below(a, b),
            Self::Borrow(a, b, borrow) => {
                let minus = u128::MAX;
                last(terms.sum(a.len() + 1, &[(1, a), (minus, b), (minus, &[*borrow])], 0))
            }
            Self::Zero(word) => terms.is_zero(word),
            Self::AddOverflow(a, b, sum) => {
                let (x, y) = (terms.xor(*a, *sum), terms.xor(*b, *sum));
                terms.and(x, y)
            }
            Self::SubOverflow(a, b, difference) => {
                let (x, y) = (terms.xor(*a, *b), terms.xor(*a, *difference));
                terms.and(x, y)
            }
        })
    }
}

fn last(word: Word) -> Bit {
    word[word.len() - 1]
}
