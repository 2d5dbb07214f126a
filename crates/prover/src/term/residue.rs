//! Poly1305's polynomial as an operation, and what shows that machine code computes it.
//!
//! The specification's value is a term of its own, R: the low 128 bits of Q modulo 2^130 - 5, for
//! a polynomial Q. The code holds a number h of three words that is congruent to Q, but may be
//! larger than the prime p. At the end it subtracts p if h is not below it. [`Terms::settled`]
//! finds such words h among the sums of the code. It shows by [`integers`](super::integers) that
//! h - Q = 0 modulo p, and by bounds that h < 2p. Then R is the low 128 bits of h or of h - p,
//! whichever is right, and [`Terms::residue`] gives these bits in place of R. The code and the
//! specification must then compute the same formulas from these bits.
//!
//! The place of h does not matter, because the proof needs only these two facts about h.

use super::linear::{Form, Kind, encode_residue};
use super::{Bit, SAMPLES, Terms, Word, constant};
use crate::poly1305::{self, FieldElement};
use std::collections::{BTreeMap, BTreeSet};

/// The known facts about residues of polynomials, by their terms.
#[derive(Default)]
pub(super) struct Residues {
    /// The residues that were asked for.
    pending: BTreeSet<u32>,
    /// The words that replace them.
    settled: BTreeMap<u32, [Word; 2]>,
    /// Numbers that were shown to be congruent.
    congruent: BTreeSet<(u32, [Word; 3])>,
    /// Sums that were computed with their carries, since residues were last settled.
    sums: Vec<u32>,
}

/// 2^64 - 4: of 4 · 2^128, what is subtracted from the third word is its complement and one.
const MINUS_FOUR: u128 = (1 << 64) - 4;
/// p = 2^130 - 5, so x - p is x + 5 - 2^130.
const FIVE: u128 = 5;
/// A third word of 7 · 2^128 would reach 2p.
const LARGEST_THIRD: u128 = 6;

impl Terms {
    /// The sum of `a`, `b` and a carry, and its carry: the bits of one exact sum, so that it is
    /// seen when both are used. `a` and `b` have the same length.
    pub fn add_with_carry(&mut self, a: &[Bit], b: &[Bit], carry: Bit) -> (Word, Bit) {
        let width = a.len();
        let mut sum = self.sum(width + 1, &[(1, a), (1, b), (1, &[carry])], 0);
        // Another sum of it would replace it by its parts, and not be seen to be exact.
        self.make_opaque(&sum);
        if let Some((term, 0)) = self.arithmetic_bit(sum[0])
            && self.arithmetic.is_exact_sum(term)
        {
            self.residues.sums.push(term);
        }
        let carry = sum.remove(width);
        (sum, carry)
    }

    /// The low 128 bits of ((c₀ · `r` + c₁) · `r` + …) · `r` modulo 2^130 - 5, for these
    /// coefficients c₀, c₁, …; of 64 bits each word.
    pub fn residue(&mut self, r: &[Word; 2], coefficients: &[[Word; 3]]) -> [Word; 2] {
        let form = encode_residue(r, coefficients);
        let words = r.iter().chain(coefficients.iter().flatten());
        assert!(
            words.into_iter().all(|word| word.len() == 64),
            "words of 64 bits"
        );
        let term = match self.arithmetic.find(&form) {
            Some(term) => term,
            None => self.new_residue(&form, r, coefficients),
        };
        if let Some(known) = self.residues.settled.get(&term) {
            return known.clone();
        }
        self.residues.pending.insert(term);
        let residue: Word = self.arithmetic.bits(term).collect();
        [residue[..64].to_vec(), residue[64..].to_vec()]
    }

    fn new_residue(&mut self, form: &[u32], r: &[Word; 2], coefficients: &[[Word; 3]]) -> u32 {
        let values = self.values_of(r, coefficients);
        let words = r.iter().chain(coefficients.iter().flatten());
        let kinds = self.kinds_of(words.flatten());
        let kind = Kind {
            width: 128,
            linear: false,
            exact: false,
        };
        let residue = self.term(form, kind, kinds, &values);
        let (term, _) = self.arithmetic_bit(residue[0]).expect("a term");
        term
    }

    fn values_of(&self, r: &[Word; 2], coefficients: &[[Word; 3]]) -> [u128; SAMPLES] {
        let word = |word: &Word| self.samples(word).map(|value| value as u64);
        let r = r.each_ref().map(word);
        let coefficients: Vec<_> = coefficients
            .iter()
            .map(|words| words.each_ref().map(word))
            .collect();
        core::array::from_fn(|i| {
            let of = |words: &[[u64; SAMPLES]; 3]| words.map(|values| values[i]);
            let coefficients: Vec<[u64; 3]> = coefficients.iter().map(of).collect();
            let [low, high] = poly1305::polynomial(r.map(|values| values[i]), &coefficients);
            u128::from(low) + (u128::from(high) << 64)
        })
    }

    /// The result of `compute`, in which numbers of the code replace residues. For each residue
    /// that was asked for, this looks for a number that is shown to be congruent to the polynomial.
    /// It looks among the sums with carries that were computed since its last call.
    pub fn settled<T>(&mut self, compute: impl FnOnce(&mut Self) -> T) -> T {
        let numbers = self.numbers_before_subtraction();
        for term in core::mem::take(&mut self.residues.pending) {
            let mut numbers = numbers.iter();
            if let Some(number) = numbers.find(|number| self.is_congruent(number, term)) {
                let residue = self.subtract_prime_once(number);
                let bits: Word = self.arithmetic.bits(term).collect();
                let is_same = self.samples(&residue.concat()) == self.samples(&bits);
                assert!(is_same, "a rewrite rule is wrong");
                self.residues.settled.insert(term, residue);
            }
        }
        let result = compute(self);
        self.residues.settled.clear();
        self.residues.sums.clear();
        result
    }

    /// Numbers h of which h + 5 - 2^130 is computed, as three sums with carries; the latest first.
    fn numbers_before_subtraction(&self) -> Vec<[Word; 3]> {
        let third = self.residues.sums.iter().rev();
        let numbers = third.filter_map(|third| {
            if self.arithmetic.linear(*third).constant != MINUS_FOUR {
                return None;
            }
            let (h2, second) = self.word_and_carry(*third, 0)?;
            let (h1, first) = self.word_and_carry(second, FIVE)?;
            let h0 = word_of(&self.arithmetic.linear(first).parts)?;
            Some([h0, h1, h2])
        });
        numbers.collect()
    }

    /// The parts of a sum that is a word, a constant, and the carry of a sum with the constant
    /// `below`: the word, and that sum.
    fn word_and_carry(&self, term: u32, below: u128) -> Option<(Word, u32)> {
        let mut parts = self.arithmetic.linear(term).parts;
        let carry = |(bit, factor): &(Bit, u128)| match self.arithmetic_bit(*bit)? {
            (term, 64) if *factor == 1 && self.arithmetic.is_exact_sum(term) => {
                let is_it = self.arithmetic.linear(term).constant == below;
                is_it.then_some(term)
            }
            _ => None,
        };
        let (place, earlier) = parts
            .iter()
            .enumerate()
            .find_map(|(place, part)| Some((place, carry(part)?)))?;
        parts.remove(place);
        Some((word_of(&parts)?, earlier))
    }

    /// Whether the number is below 2p and congruent to the polynomial of a residue modulo p.
    fn is_congruent(&mut self, number: &[Word; 3], residue: u32) -> bool {
        let key = (residue, number.clone());
        let is_congruent =
            self.residues.congruent.contains(&key) || self.is_shown_congruent(number, residue);
        if is_congruent {
            self.residues.congruent.insert(key);
        }
        is_congruent
    }

    fn is_shown_congruent(&mut self, [h0, h1, h2]: &[Word; 3], residue: u32) -> bool {
        let third = self.bound_of(h2);
        if third.is_none_or(|third| third > LARGEST_THIRD) {
            return false;
        }
        let Form::Residue(r, coefficients) = self.arithmetic.form(residue) else {
            unreachable!("a residue");
        };
        self.name(&r);
        for coefficient in &coefficients {
            self.name(coefficient);
        }
        let number = self.integer(&[&h0[..], h1, h2].concat());
        let r = self.integer(&r.concat());
        let mut value = super::integers::Polynomial::default();
        for words in coefficients {
            let coefficient = self.integer(&words.concat());
            value = value.plus(FieldElement::ONE, &coefficient).times(&r);
        }
        let difference = number.plus(FieldElement::ONE.negative(), &value);
        let rest = self.without_terms(difference);
        rest.is_some_and(|rest| rest.is_zero())
    }

    /// The low words of h, or of h - p if h is not below p: of h modulo p, if h is below 2p.
    ///
    /// h - p is computed modulo 2^192 as h + (2^192 - p), by complements: it carries exactly when
    /// h is p or more.
    fn subtract_prime_once(&mut self, [h0, h1, h2]: &[Word; 3]) -> [Word; 2] {
        let four = constant(FIVE - 1, 64);
        let (low, carry) = self.add_with_carry(h0, &four, Bit::ONE);
        let (high, carry) = self.add_with_carry(h1, &constant(0, 64), carry);
        let (_, is_not_below) = self.add_with_carry(h2, &constant(MINUS_FOUR, 64), carry);
        let is_below = self.not(is_not_below);
        [(h0, low), (h1, high)].map(|(before, after)| {
            let pairs = before.iter().zip(&after);
            let bits = pairs.map(|(before, after)| self.select(is_below, *before, *after));
            bits.collect()
        })
    }
}

/// The word of 64 bits that these parts are, if they are distinct powers of two.
fn word_of(parts: &[(Bit, u128)]) -> Option<Word> {
    let mut word = vec![Bit::ZERO; 64];
    for (bit, factor) in parts {
        let place = word.get_mut(factor.trailing_zeros() as usize)?;
        if !factor.is_power_of_two() || *place != Bit::ZERO {
            return None;
        }
        *place = *bit;
    }
    Some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Code that multiplies from pieces, as aws-lc's does. It may lose one of its carries.
    struct Code<'a> {
        terms: &'a mut Terms,
        carries: usize,
        lost: Option<usize>,
    }

    impl Code<'_> {
        fn add(&mut self, a: &[Bit], b: &[Bit], carry: Bit) -> (Word, Bit) {
            let is_lost = !carry.is_constant() && self.lost == Some(self.carries);
            self.carries += usize::from(!carry.is_constant());
            let carry = if is_lost { Bit::ZERO } else { carry };
            self.terms.add_with_carry(a, b, carry)
        }

        fn product(&mut self, a: &[Bit], b: &[Bit]) -> [Word; 2] {
            let product = self.terms.product_of(a, b);
            [product[..64].to_vec(), product[64..].to_vec()]
        }

        /// (h + block) · r, not far above 2^130.
        fn step(&mut self, h: &[Word; 3], block: &[Word; 3], r: &[Word; 2]) -> [Word; 3] {
            let zero = constant(0, 64);
            let (x0, carry) = self.add(&h[0], &block[0], Bit::ZERO);
            let (x1, carry) = self.add(&h[1], &block[1], carry);
            let (x2, _) = self.add(&h[2], &block[2], carry);
            let [d0, high] = self.product(&r[0], &x0);
            let [low, next] = self.product(&r[0], &x1);
            let [d2, _] = self.product(&r[0], &x2);
            let (d1, carry) = self.add(&high, &low, Bit::ZERO);
            let (d2, _) = self.add(&d2, &next, carry);
            let [low, high] = self.product(&r[1], &x0);
            let (d1, carry) = self.add(&d1, &low, Bit::ZERO);
            let (high, _) = self.add(&high, &zero, carry);
            let [low, next] = self.product(&r[1], &x1);
            let (d2, carry) = self.add(&d2, &low, Bit::ZERO);
            let (next, _) = self.add(&next, &zero, carry);
            let [d3, _] = self.product(&r[1], &x2);
            let (d2, carry) = self.add(&d2, &high, Bit::ZERO);
            let (d3, _) = self.add(&d3, &next, carry);
            // The part above 2^130, times four and times one: five times in all.
            let four = [&zero[..2], &d2[2..]].concat();
            let once = [&d2[2..], &d3[..2]].concat();
            let (low, carry) = self.add(&once, &four, Bit::ZERO);
            let (high, _) = self.add(&[&d3[2..], &zero[..2]].concat(), &d3, carry);
            let (h0, carry) = self.add(&d0, &low, Bit::ZERO);
            let (h1, carry) = self.add(&d1, &high, carry);
            let (h2, _) = self.add(&[&d2[..2], &zero[2..]].concat(), &zero, carry);
            [h0, h1, h2]
        }
    }

    fn clamped(terms: &mut Terms) -> [Word; 2] {
        let mut r = [terms.input(60), terms.input(60)];
        r[1][..2].fill(Bit::ZERO);
        r.map(|word| [&word[..], &[Bit::ZERO; 4]].concat())
    }

    /// For `blocks` blocks, with `bits` bits in the third word of each: whether the code is seen to
    /// compute the polynomial, and how many carries it has.
    fn is_settled(blocks: usize, bits: usize, lost: Option<usize>) -> (bool, usize) {
        let terms = &mut Terms::new(1);
        let r = clamped(terms);
        let blocks: Vec<[Word; 3]> = (0..blocks)
            .map(|_| {
                let third = [&terms.input(bits)[..], &constant(0, 64 - bits)].concat();
                [terms.input(64), terms.input(64), third]
            })
            .collect();
        let before = terms.residue(&r, &blocks);
        let mut code = Code {
            terms,
            carries: 0,
            lost,
        };
        let nothing = core::array::from_fn(|_| constant(0, 64));
        let step = |h, block: &[Word; 3]| code.step(&h, block, &r);
        let h = blocks.iter().fold(nothing, step);
        let carries = code.carries;
        let result = terms.subtract_prime_once(&h);
        let after = terms.settled(|terms| terms.residue(&r, &blocks));
        assert!(after == before || after == result);
        (after == result, carries)
    }

    #[test]
    fn a_product_from_pieces_is_the_polynomial_if_no_carry_is_lost() {
        for blocks in 1..=3 {
            let (is_settled_at_once, carries) = is_settled(blocks, 2, None);
            assert!(is_settled_at_once, "{blocks}");
            assert!(carries > 4 * blocks, "{blocks} {carries}");
            let lost = (0..carries).filter(|lost| is_settled(blocks, 2, Some(*lost)).0);
            assert_eq!(lost.collect::<Vec<_>>(), [], "{blocks}");
        }
    }

    /// 3 bits leave room for a quarter more in 64 bits; 4 bits do not.
    #[test]
    fn a_third_word_that_may_overflow_is_refused() {
        assert!(is_settled(1, 3, None).0);
        assert!(!is_settled(1, 4, None).0);
    }

    /// The samples are of an h below 2p, and of one below 8p.
    #[test]
    fn the_prime_is_subtracted_once_and_more_would_be_needed_from_twice_it() {
        let terms = &mut Terms::new(1);
        for (bits, is_right) in [(2, true), (4, false)] {
            let third = [&terms.input(bits)[..], &constant(0, 64 - bits)].concat();
            let h = [terms.input(64), terms.input(64), third];
            let residue = terms.subtract_prime_once(&h).concat();
            let [low, middle, third] = h.each_ref().map(|word| terms.samples(word));
            let of = |i: usize| [low[i], middle[i], third[i]].map(|word| word as u64);
            let right = terms
                .samples(&residue)
                .into_iter()
                .enumerate()
                .all(|(i, x)| {
                    let [low, high] = FieldElement::new(of(i)).low();
                    x == u128::from(low) | u128::from(high) << 64
                });
            assert_eq!(right, is_right, "{bits}");
            assert_eq!(terms.bound_of(&h[2]).unwrap() <= LARGEST_THIRD, is_right);
        }
    }

    /// Whether a number of three words is seen to be the value of the polynomial that has it as its
    /// only coefficient, at 1.
    fn is_settled_at_one(terms: &mut Terms, h: &[Word; 3]) -> bool {
        let r = [constant(1, 64), constant(0, 64)];
        let coefficients = core::slice::from_ref(h);
        let before = terms.residue(&r, coefficients);
        let result = terms.subtract_prime_once(h);
        let after = terms.settled(|terms| terms.residue(&r, coefficients));
        assert!(after == before || after == result);
        after == result
    }

    fn with_third(terms: &mut Terms, third: &[Bit]) -> [Word; 3] {
        let mut word = third.to_vec();
        word.resize(64, Bit::ZERO);
        [terms.input(64), terms.input(64), word]
    }

    /// 6 · 2^128 and what is below it are less than 2p, 7 · 2^128 is not.
    #[test]
    fn a_third_word_may_be_six_and_no_more() {
        let terms = &mut Terms::new(1);
        let [a, b, c] = [(); 3].map(|()| terms.input(1)[0]);
        for (third, is_below) in [([Bit::ZERO, b, c], true), ([a, b, c], false)] {
            let h = with_third(terms, &third);
            assert_eq!(is_settled_at_one(terms, &h), is_below);
        }
    }

    /// Bits that might be taken for the carry of the second word: the 64th ones of other sums.
    #[test]
    fn only_a_carry_at_the_lowest_place_is_a_carry() {
        let terms = &mut Terms::new(1);
        let (x, y) = (terms.input(64), terms.input(64));
        let (_, carry) = terms.add_with_carry(&x, &y, Bit::ZERO);
        let top = terms.input(1)[0];
        let h = with_third(terms, &[Bit::ZERO, carry, top]);
        assert!(is_settled_at_one(terms, &h));
        let (long, other) = (terms.input(65), terms.input(65));
        let overflowing = terms.add(&long, &other);
        let h = with_third(terms, &[overflowing[64], Bit::ZERO, top]);
        assert!(is_settled_at_one(terms, &h));
    }

    #[test]
    fn a_word_has_one_bit_at_each_place() {
        let [a, b] = [2, 3].map(Bit);
        let word = word_of(&[(a, 1), (b, 1 << 63)]).unwrap();
        assert_eq!((word[0], word[63], word.len()), (a, b, 64));
        assert_eq!(word_of(&[(a, 1), (b, 1)]), None);
        assert_eq!(word_of(&[(a, 1), (b, 6)]), None);
        assert_eq!(word_of(&[(a, 1 << 64)]), None);
    }

    /// The claim is planted: another number is said to have been shown congruent.
    #[test]
    #[should_panic(expected = "a rewrite rule is wrong")]
    fn a_number_that_is_wrongly_taken_for_congruent_is_noticed() {
        let terms = &mut Terms::new(1);
        let top = terms.input(3);
        let [h, other] = [(); 2].map(|()| with_third(terms, &top));
        terms.residue(&[constant(1, 64), constant(0, 64)], &[h]);
        terms.subtract_prime_once(&other);
        let term = *terms.residues.pending.first().expect("a residue");
        terms.residues.congruent.insert((term, other));
        terms.settled(|_| ());
    }
}
