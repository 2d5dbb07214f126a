//! Words as integers: polynomials modulo 2^130 - 5 whose unknowns are integers, and bounds.
//!
//! Bits are integers, 0 or 1, and a word is Σ 2^j · (its bit j). An exact sum or a product *T* is
//! equal to its parts as an integer, so Σ 2^j · T.j can be replaced by them. This shows that code
//! multiplies wide numbers correctly from pieces: a product gives a low and a high word, `low =
//! x · y - 2^64 · high`; an addition gives a sum and a carry, `sum = x + y - 2^64 · carry`. Where
//! the code uses all pieces and carries correctly, `high` and `carry` cancel.
//!
//! So the bit T.0 is written as *T* - Σ_{j≥1} 2^j · T.j, where *T* is an unknown of its own. When
//! two polynomials are compared, the latest *T* in their difference is replaced by its parts, and
//! so on. Each step is an identity of integers, so it also holds modulo any number. If nothing
//! remains, the two are congruent for all inputs.
//!
//! A carry that the code drops remains, and there is no proof, unless it is shown to be zero: a
//! *bound* of T, from the bounds of its parts, may be too small for it.

use super::linear::Form;
use super::{Bit, Terms, Word};
use crate::hash::Map;
use crate::poly1305::FieldElement;
use std::collections::{BTreeMap, BTreeSet};

/// An integer that is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Unknown {
    /// 0 or 1.
    Bit(Bit),
    /// A number that has a name.
    Named(u32),
    /// The integer of a term.
    Term(u32),
}

/// From products of unknowns to coefficients, none of which is zero. The unknowns of a product are
/// in descending order. So those with the latest term are last, and that term is first in them.
#[derive(Clone, Debug, Default)]
pub(super) struct Polynomial(BTreeMap<Vec<Unknown>, FieldElement>);

/// More products than these are not worked with.
const MOST: usize = 200_000;

/// Names of numbers whose bits are not looked into, so that they are one unknown and not one for
/// each bit. A bit is in one number that has a name, at most.
#[derive(Default)]
pub(super) struct Names {
    /// Words and their polynomials, by the lowest bit of a word that is not a constant: the word
    /// starts there.
    words: Map<Bit, (Word, Polynomial)>,
    named: BTreeSet<Bit>,
    count: u32,
}

/// Bounds of terms that were asked for.
#[derive(Default)]
pub(super) struct Bounds(Map<u32, Option<u128>>);

impl Polynomial {
    fn add(&mut self, product: Vec<Unknown>, coefficient: FieldElement) {
        let sum = self.0.get(&product).copied().unwrap_or_default();
        let sum = sum.plus(coefficient);
        match sum.is_zero() {
            true => self.0.remove(&product),
            false => self.0.insert(product, sum),
        };
    }

    /// `self` + `factor` · `other`.
    pub(super) fn plus(mut self, factor: FieldElement, other: &Self) -> Self {
        for (product, coefficient) in &other.0 {
            self.add(product.clone(), factor.times(*coefficient));
        }
        self
    }

    pub(super) fn times(&self, other: &Self) -> Self {
        let mut result = Self::default();
        for (product, coefficient) in &self.0 {
            result.add_multiple(product, *coefficient, other);
        }
        result
    }

    fn add_multiple(&mut self, product: &[Unknown], coefficient: FieldElement, other: &Self) {
        for (factor, by) in &other.0 {
            self.add(multiplied(product, factor), coefficient.times(*by));
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// The latest term in it, with its products, which are taken out: without it, once.
    fn take_latest(&mut self) -> Option<(u32, BTreeMap<Vec<Unknown>, FieldElement>)> {
        let (last, _) = self.0.last_key_value()?;
        let Unknown::Term(term) = *last.first()? else {
            return None;
        };
        let products = self.0.split_off(&vec![Unknown::Term(term)]);
        Some((term, products))
    }
}

/// The product of two products. The square of a bit is that bit.
fn multiplied(a: &[Unknown], b: &[Unknown]) -> Vec<Unknown> {
    let mut product = [a, b].concat();
    product.sort_unstable_by(|a, b| b.cmp(a));
    product.dedup_by(|a, b| a == b && matches!(a, Unknown::Bit(_)));
    product
}

impl Terms {
    /// Gives a name to a number of words of 64 bits, and to all of its words but the first. It does
    /// nothing if exact arithmetic computes a bit, if two bits are equal, or if a bit has a name.
    pub(super) fn name(&mut self, words: &[Word]) {
        let bits = words.iter().flatten().filter(|bit| !bit.is_constant());
        let is_free =
            |bit: &Bit| !self.integers.named.contains(bit) && self.exact_bit(*bit).is_none();
        let distinct: BTreeSet<Bit> = bits.clone().copied().collect();
        if !bits.clone().all(is_free) || distinct.len() != bits.count() {
            return;
        }
        self.integers.named.extend(distinct);
        // Where the unknown part of each word begins.
        let mut unknown = words.iter().enumerate().filter_map(|(place, word)| {
            let start = word.iter().position(|bit| !bit.is_constant())?;
            Some((64 * place + start, &word[start..]))
        });
        let Some((first, lowest)) = unknown.next() else {
            return;
        };
        let mut value = self.new_name();
        for (start, word) in unknown {
            let higher = self.new_name();
            let factor = FieldElement::power_of_two(start - first).negative();
            value = value.plus(factor, &higher);
            self.integers.words.insert(word[0], (word.to_vec(), higher));
        }
        self.integers
            .words
            .insert(lowest[0], (lowest.to_vec(), value));
    }

    fn new_name(&mut self) -> Polynomial {
        let name = Unknown::Named(self.integers.count);
        self.integers.count += 1;
        Polynomial(BTreeMap::from([(vec![name], FieldElement::ONE)]))
    }

    /// A word as an integer: a sum of unknowns.
    pub(super) fn integer(&mut self, word: &[Bit]) -> Polynomial {
        let mut integer = Polynomial::default();
        for (j, bit) in word.iter().enumerate() {
            self.add_bit(&mut integer, *bit, FieldElement::power_of_two(j));
        }
        integer
    }

    fn add_bit(&mut self, integer: &mut Polynomial, bit: Bit, factor: FieldElement) {
        match bit {
            Bit::ZERO => return,
            Bit::ONE => return integer.add(Vec::new(), factor),
            _ => {}
        }
        if self.is_zero_by_bound(bit) {
            return;
        }
        let rest: Word = match (self.exact_bit(bit), self.integers.words.get(&bit)) {
            (Some((term, 0)), _) => {
                integer.add(vec![Unknown::Term(term)], factor);
                self.arithmetic.bits(term).collect()
            }
            (None, Some((word, value))) => {
                integer.add_multiple(&[], factor, value);
                word.clone()
            }
            _ => return integer.add(vec![Unknown::Bit(bit)], factor),
        };
        // The lowest bit is the whole, less the bits above it.
        let mut factor = factor.negative();
        for bit in &rest[1..] {
            factor = factor.plus(factor);
            match *bit {
                Bit::ZERO => {}
                Bit::ONE => integer.add(Vec::new(), factor),
                bit if self.is_zero_by_bound(bit) => {}
                bit => integer.add(vec![Unknown::Bit(bit)], factor),
            }
        }
    }

    /// The same polynomial without terms that are replaced by their parts; nothing if it is too
    /// large.
    pub(super) fn without_terms(&mut self, mut polynomial: Polynomial) -> Option<Polynomial> {
        while let Some((term, products)) = polynomial.take_latest() {
            let parts = self.parts(term);
            for (product, coefficient) in products {
                polynomial.add_multiple(&product[1..], coefficient, &parts);
            }
            if polynomial.0.len() > MOST {
                return None;
            }
        }
        Some(polynomial)
    }

    /// An exact sum or a product, as a polynomial.
    fn parts(&mut self, term: u32) -> Polynomial {
        match self.arithmetic.form(term) {
            Form::Sum(linear) => {
                let mut sum = Polynomial::default();
                let constant = FieldElement::of_signed(linear.constant as i128);
                sum.add(Vec::new(), constant);
                for (bit, coefficient) in linear.parts {
                    self.add_bit(&mut sum, bit, FieldElement::of_signed(coefficient as i128));
                }
                sum
            }
            Form::Product([x, y]) => {
                let x = self.integer(&x);
                x.times(&self.integer(&y))
            }
            _ => unreachable!("only exact sums and products are integers"),
        }
    }

    /// The exact sum or product, and the place in it, that a bit is of.
    fn exact_bit(&self, bit: Bit) -> Option<(u32, usize)> {
        let (term, place) = self.arithmetic_bit(bit)?;
        self.arithmetic.is_integer(term).then_some((term, place))
    }

    fn is_zero_by_bound(&mut self, bit: Bit) -> bool {
        let place = self.exact_bit(bit);
        place.is_some_and(|(term, j)| self.is_out_of_bound(term, j))
    }

    /// Whether a term never reaches 2^`j`.
    fn is_out_of_bound(&mut self, term: u32, j: usize) -> bool {
        let bound = self.bound(term);
        bound.is_some_and(|bound| j >= 128 || bound >> j == 0)
    }

    /// A number that a term never exceeds.
    fn bound(&mut self, term: u32) -> Option<u128> {
        if let Some(bound) = self.bounds.0.get(&term) {
            return *bound;
        }
        let bound = match self.arithmetic.form(term) {
            Form::Sum(linear) => self.bound_of_sum(linear.constant, &linear.parts),
            Form::Product([x, y]) => {
                let (x, y) = (self.bound_of(&x), self.bound_of(&y));
                x.zip(y).and_then(|(x, y)| x.checked_mul(y))
            }
            _ => None,
        };
        self.bounds.0.insert(term, bound);
        bound
    }

    /// A number that a word of at most 127 bits never exceeds.
    pub(super) fn bound_of(&mut self, word: &[Bit]) -> Option<u128> {
        assert!(word.len() < 128, "no coefficient looks negative");
        let parts = word.iter().enumerate();
        let ones = parts.clone().filter(|(_, bit)| **bit == Bit::ONE);
        let constant = ones.map(|(j, _)| 1_u128 << j).sum();
        // A bit may be there several times: a shift to the right copies the sign.
        let mut unknown: BTreeMap<Bit, u128> = BTreeMap::new();
        for (j, bit) in parts.filter(|(_, bit)| !bit.is_constant()) {
            *unknown.entry(*bit).or_default() += 1 << j;
        }
        let unknown: Vec<(Bit, u128)> = unknown.into_iter().collect();
        self.bound_of_sum(constant, &unknown)
    }

    /// The bits of `parts` are distinct. Summands of one term T are at most what their coefficients
    /// are in sum, and at most T times the largest ratio of a coefficient to its power of two.
    /// Negative summands are at most zero.
    fn bound_of_sum(&mut self, constant: u128, parts: &[(Bit, u128)]) -> Option<u128> {
        let mut bound = i128::try_from(constant).ok().map(i128::cast_unsigned)?;
        let mut of_terms: BTreeMap<u32, Vec<(usize, u128)>> = BTreeMap::new();
        for (bit, coefficient) in parts {
            match self.exact_bit(*bit) {
                _ if coefficient >> 127 == 1 => {}
                Some((term, j)) if self.is_out_of_bound(term, j) => {}
                Some((term, j)) => of_terms.entry(term).or_default().push((j, *coefficient)),
                None => bound = bound.checked_add(*coefficient)?,
            }
        }
        for (term, parts) in of_terms {
            let coefficients = parts.iter().map(|(_, coefficient)| *coefficient);
            let sum = coefficients.fold(0_u128, u128::saturating_add);
            let of_term = self.bound(term);
            let by_ratio = of_term.and_then(|bound| largest_ratio(&parts)?.checked_mul(bound));
            let by_ratio = by_ratio.map_or(u128::MAX, |scaled| scaled >> SCALE);
            bound = bound.checked_add(sum.min(by_ratio))?;
        }
        Some(bound)
    }
}

/// Ratios are in units of 2^-`SCALE`.
const SCALE: u32 = 8;

/// The largest ratio of a coefficient to the power of two of its place, rounded up.
fn largest_ratio(parts: &[(usize, u128)]) -> Option<u128> {
    let ratios = parts.iter().map(|(j, coefficient)| {
        let scaled = coefficient.checked_mul(1 << SCALE)?;
        Some(scaled.div_ceil(1_u128.checked_shl(*j as u32)?))
    });
    ratios.collect::<Option<Vec<_>>>()?.into_iter().max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::constant;

    fn is_zero(terms: &mut Terms, polynomial: Polynomial) -> bool {
        terms
            .without_terms(polynomial)
            .is_some_and(|rest| rest.is_zero())
    }

    #[test]
    fn low_and_high_words_are_a_product_and_only_both() {
        let terms = &mut Terms::new(1);
        let (x, y) = (terms.input(64), terms.input(64));
        terms.name(std::slice::from_ref(&x));
        let product = terms.product_of(&x, &y);
        let expected = terms.integer(&x).times(&terms.integer(&y));
        for (word, is_it) in [(&product[..], true), (&product[..64], false)] {
            let difference = terms
                .integer(word)
                .plus(FieldElement::ONE.negative(), &expected);
            assert_eq!(is_zero(terms, difference), is_it);
        }
    }

    #[test]
    fn a_sum_without_its_carry_is_equal_only_if_bounds_show_it() {
        let terms = &mut Terms::new(1);
        let (x, small) = (terms.input(64), terms.input(62));
        let small = [&small[..], &constant(0, 2)].concat();
        for (a, b, is_equal) in [(&x, &small, false), (&small, &small, true)] {
            let (sum, _) = terms.add_with_carry(a, b, Bit::ZERO);
            let parts = terms.integer(a).plus(FieldElement::ONE, &terms.integer(b));
            let difference = terms
                .integer(&sum)
                .plus(FieldElement::ONE.negative(), &parts);
            assert_eq!(is_zero(terms, difference), is_equal);
        }
    }

    /// All bits of a product of 62 bits and 3 at most would be more than it ever is.
    #[test]
    fn bounds_are_of_numbers_and_not_of_their_bits() {
        let terms = &mut Terms::new(1);
        let (x, y) = (terms.input(62), terms.input(1)[0]);
        let product = terms.product_of(&x, &[y, Bit::ONE]);
        let most = ((1 << 62) - 1) * 3;
        assert_eq!(terms.bound_of(&product), Some(most));
        let shifted = [&product[2..], &[Bit::ZERO; 2]].concat();
        let (sum, _) = terms.add_with_carry(&product, &shifted, Bit::ZERO);
        let bound = terms.bound_of(&sum[..64]).unwrap();
        assert!(
            most / 4 * 5 <= bound && bound <= most / 4 * 5 + 4,
            "{bound}"
        );
        for (value, number) in terms.samples(&sum).into_iter().zip(terms.samples(&product)) {
            assert!(number <= most && value <= bound);
        }
    }

    /// Names are of distinct bits that are not computed, and stay.
    #[test]
    fn a_named_number_is_the_same_as_its_bits() {
        let terms = &mut Terms::new(1);
        let number = [terms.input(64), terms.input(64)];
        let before = terms.integer(&number.concat());
        terms.name(&number);
        terms.name(&[number[1].clone(), number[0].clone()]);
        let after = terms.integer(&number.concat());
        assert!((before.0.len(), after.0.len()) == (128, 1));
        let [low, high] = [0, 1].map(|i| terms.integer(&number[i]));
        let sum = low.plus(FieldElement::power_of_two(64), &high);
        assert!(sum.plus(FieldElement::ONE.negative(), &after).is_zero());
        let same = terms.input(1)[0];
        terms.name(&[vec![same, same]]);
        assert_eq!(terms.integer(&[same, same]).0.len(), 1);
        assert!(terms.integers.words.len() == 2);
    }

    /// Only the square of a bit is the bit.
    #[test]
    fn products_of_unknowns_are_squares_where_they_are() {
        let [a, b] = [2, 3].map(|bit| Unknown::Bit(Bit(bit)));
        let name = Unknown::Named(4);
        assert_eq!(multiplied(&[a], &[a]), [a]);
        assert_eq!(multiplied(&[a], &[b]), [b, a]);
        assert_eq!(multiplied(&[name], &[name]), [name, name]);
        assert_eq!(multiplied(&[name, b], &[b, a]), [name, b, a]);
        let terms = &mut Terms::new(1);
        let number = terms.integer(&constant(5, 64));
        let five = FieldElement::of_signed(5);
        assert_eq!(number.0, BTreeMap::from([(Vec::new(), five)]));
        let square = number.times(&number);
        assert_eq!(square.0, BTreeMap::from([(Vec::new(), five.times(five))]));
    }

    /// The low zeros of both words are not of their names.
    #[test]
    fn a_named_number_may_begin_above_its_lowest_bit() {
        let terms = &mut Terms::new(1);
        let number =
            [3, 2].map(|zeros| [&constant(0, zeros)[..], &terms.input(64 - zeros)].concat());
        let bits = terms.integer(&number.concat());
        terms.name(&number);
        let named = terms.integer(&number.concat());
        assert_eq!(named.0.len(), 1);
        // Where only one bit of the number is not zero, its name is the bit over 2^3.
        assert_eq!(
            named.0.values().next(),
            Some(&FieldElement::power_of_two(3))
        );
        let [low, high] = [0, 1].map(|i| terms.integer(&number[i]));
        let sum = low.plus(FieldElement::power_of_two(64), &high);
        assert!(sum.plus(FieldElement::ONE.negative(), &named).is_zero());
        assert_eq!(bits.0.len(), 61 + 62);
        let others = [(); 2].map(|()| terms.input(64));
        let [one, other] = others.map(|word| {
            terms.name(core::slice::from_ref(&word));
            terms.integer(&word)
        });
        assert!(!one.plus(FieldElement::ONE.negative(), &other).is_zero());
    }

    #[test]
    fn a_polynomial_of_too_many_products_is_given_up() {
        let terms = &mut Terms::new(1);
        let (x, y) = (terms.input(400), terms.input(499));
        let (a, b) = (terms.input(2), terms.input(2));
        let sum = terms.sum(3, &[(1, &a), (1, &b)], 0);
        let sum = terms.integer(&sum);
        let wide = terms.integer(&x).times(&terms.integer(&y));
        // The parts of the sum are four bits.
        for (bits, most) in [(396, Some(MOST)), (397, None), (398, None)] {
            let all = wide
                .clone()
                .plus(FieldElement::ONE, &terms.integer(&x[..bits]));
            let rest = terms.without_terms(all.plus(FieldElement::ONE, &sum));
            assert_eq!(rest.map(|rest| rest.0.len()), most);
        }
    }

    /// Copies of a sign, as a shift to the right makes them, count as often as they occur.
    #[test]
    fn bounds_count_each_copy_of_a_bit() {
        let terms = &mut Terms::new(1);
        let (x, y) = (terms.input(63), terms.input(1));
        let x = [&x[..], &constant(0, 1)].concat();
        let y = [&y[..], &constant(0, 63)].concat();
        // At most 2^63 - 1 + 1: its last bit can be one.
        let (sum, _) = terms.add_with_carry(&x, &y, Bit::ZERO);
        let copies = [sum[63]; 64];
        assert_eq!(terms.bound_of(&copies), Some(u64::MAX.into()));
        let factor = terms.input(62);
        let product = terms.product_of(&copies, &factor);
        assert!(!terms.is_zero_by_bound(product[125]));
    }

    /// Negative summands and bits that are never one add nothing to a bound.
    #[test]
    fn bounds_leave_out_what_is_never_positive() {
        let terms = &mut Terms::new(1);
        let [a, b] = [(); 2].map(|()| terms.input(1)[0]);
        let minus_one = u128::MAX;
        assert_eq!(terms.bound_of_sum(3, &[(a, minus_one), (b, 2)]), Some(5));
        // Four bits are at most 4 in sum, the square is at most 16, and has a sixth bit.
        let bits = terms.input(4);
        let parts: Vec<(u128, &[Bit])> = bits.chunks(1).map(|bit| (1, bit)).collect();
        let sum = terms.sum(3, &parts, 0);
        let square = terms.product_of(&sum, &sum);
        assert_eq!(terms.bound_of(&square), Some(16));
        assert_eq!(
            terms.bound_of(&[&[Bit::ZERO; 10], &square[5..]].concat()),
            Some(0)
        );
        assert!(terms.integer(&square[5..]).is_zero());
    }

    /// Sums that overflow, bytes of the S-box, and numbers that have no sign.
    #[test]
    fn what_is_no_integer_is_not_taken_for_one() {
        let terms = &mut Terms::new(1);
        let (a, b) = (terms.input(64), terms.input(64));
        let sum = terms.add(&a, &b);
        let parts = terms
            .integer(&a)
            .plus(FieldElement::ONE, &terms.integer(&b));
        let difference = terms
            .integer(&sum)
            .plus(FieldElement::ONE.negative(), &parts);
        assert!(!is_zero(terms, difference));
        let byte = terms.substitute(&a[..8]);
        let byte = terms.integer(&byte);
        assert_eq!(byte.0.len(), 8);
        assert_eq!(terms.without_terms(byte).map(|rest| rest.0.len()), Some(8));
        let large = (1 << 127) + 1;
        let sum = terms.sum(128, &[(1, &a)], large);
        let constant = FieldElement::of_signed(large as i128);
        let mut parts = terms.integer(&a);
        parts.add(Vec::new(), constant);
        let difference = terms
            .integer(&sum)
            .plus(FieldElement::ONE.negative(), &parts);
        assert!(!is_zero(terms, difference));
    }
}
