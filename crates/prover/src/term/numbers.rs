//! Words as numbers: which is less, which are equal, and division.

use super::{Atom, Bit, SAMPLES, Terms, Word, constant, value};
use crate::hash::Map;

/// Quotients and remainders so far, by dividend and divisor.
pub(super) type Divisions = Map<(Word, Word), (Word, Word)>;

impl Terms {
    /// `a` < `b`, words of the same length: the borrow of `a` - `b`.
    ///
    /// - *less than zero*: nothing is below 0. The borrow would not always show it: where a word is
    ///   a part of a longer sum, a sum of that part is a new one;
    /// - *less than one*: below 1 is only 0;
    /// - *always less*: if `b` - `a` - 1 never borrows, `a` is below `b`.
    pub fn below(&mut self, a: &[Bit], b: &[Bit]) -> Bit {
        match value(b) {
            Some(0) => return Bit::ZERO,
            Some(1) => return self.is_zero(a),
            _ => {}
        }
        let difference = self.sum(a.len() + 1, &[(1, a), (u128::MAX, b)], 0);
        let borrow = difference[a.len()];
        if !borrow.is_constant() {
            let other = self.sum(a.len() + 1, &[(1, b), (u128::MAX, a)], u128::MAX);
            if other[a.len()] == Bit::ZERO {
                return Bit::ONE;
            }
        }
        borrow
    }

    /// Whether two words of the same length are equal: whether their difference is zero.
    pub fn equal(&mut self, a: &[Bit], b: &[Bit]) -> Bit {
        let difference = self.sub(a, b);
        self.is_zero(&difference)
    }

    /// A number that the value of a word never falls below, found where the word is an exact sum.
    pub fn least(&self, word: &[Bit]) -> u128 {
        if let Some(number) = value(word) {
            return number;
        }
        let Some((term, 0)) = self.arithmetic_bit(word[0]) else {
            return 0;
        };
        let bits: Word = self.arithmetic.bits(term).collect();
        let rest = word.strip_prefix(&bits[..]);
        let is_exact = rest.is_some_and(|rest| rest.iter().all(|bit| *bit == Bit::ZERO));
        if is_exact && self.arithmetic.is_exact_sum(term) {
            self.arithmetic.linear(term).least().unwrap_or(0)
        } else {
            0
        }
    }

    /// Quotient and remainder, as long as the dividend; nothing if the divisor is not known to be
    /// other than zero.
    ///
    /// They are *uninterpreted*: of the quotient nothing is known but that equal numbers have equal
    /// quotients. Zeros above a number do not change it. The remainder is not greater than either
    /// number.
    pub fn divide(&mut self, dividend: &[Bit], divisor: &[Bit]) -> Option<(Word, Word)> {
        if self.least(divisor) == 0 {
            return None;
        }
        let width = dividend.len();
        let key = (significant(dividend), significant(divisor));
        let (mut quotient, mut remainder) = match self.divisions.get(&key) {
            Some(results) => results.clone(),
            None => self.new_division(key),
        };
        quotient.resize(width, Bit::ZERO);
        remainder.resize(width, Bit::ZERO);
        Some((quotient, remainder))
    }

    fn new_division(&mut self, key: (Word, Word)) -> (Word, Word) {
        let (dividend, divisor) = (&key.0, &key.1);
        if let (Some(x), Some(y)) = (value(dividend), value(divisor)) {
            return (constant(x / y, 128), constant(x % y, 128));
        }
        let mut both = dividend.iter().chain(divisor);
        let kind = if both.any(|bit| self.depends_on_input(*bit)) {
            Atom::Input
        } else {
            Atom::Junk
        };
        let (x, y) = (self.samples(dividend), self.samples(divisor));
        let mut uninterpreted = |width: usize, result: fn(u128, u128) -> u128| -> Word {
            let values: [u128; SAMPLES] = core::array::from_fn(|i| result(x[i], y[i]));
            let samples = super::samples::bits(&values);
            let bits = samples[..width].iter();
            bits.map(|samples| Bit(self.atom(kind, *samples))).collect()
        };
        let results = (
            uninterpreted(dividend.len(), |x, y| x / y),
            uninterpreted(dividend.len().min(divisor.len()), |x, y| x % y),
        );
        self.divisions.insert(key, results.clone());
        results
    }
}

/// A word without the zeros above it.
fn significant(word: &[Bit]) -> Word {
    let zeros = word.iter().rev().take_while(|bit| **bit == Bit::ZERO);
    word[..word.len() - zeros.count()].to_vec()
}
