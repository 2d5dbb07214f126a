//! Arithmetic on words: sums and products, in a form that does not depend on the order of
//! additions.

use super::linear::{Kind, Linear, Memo, Shape, encode, encode_product};
use super::{Atom, Bit, ONE, SAMPLES, Terms, Word, constant, samples, value};
use std::collections::{BTreeMap, BTreeSet};

impl Terms {
    /// `a` + `b` modulo 2^n, n bits each.
    pub fn add(&mut self, a: &[Bit], b: &[Bit]) -> Word {
        self.sum(a.len(), &[(1, a), (1, b)], 0)
    }

    /// `a` - `b` modulo 2^n, n bits each.
    pub fn sub(&mut self, a: &[Bit], b: &[Bit]) -> Word {
        self.sum(a.len(), &[(1, a), (u128::MAX, b)], 0)
    }

    /// Σ coefficient · word + `constant`, modulo 2^`width`; `width` is at most 128.
    ///
    /// The sum is brought into normal form by these rules, each an identity of integers modulo
    /// 2^width:
    /// - *positions*: a word is Σ 2^j · (its bit j), and a bit from `width` on counts 2^width = 0;
    /// - *complement*: a bit p ⊕ 1 is 1 - p;
    /// - *like terms*: coefficients of the same bit are added;
    /// - *elimination*, see `eliminate`;
    /// - *no carry*: summands that are distinct powers of two times a bit never carry, and so are
    ///   the bits of the result;
    /// - *exact*: a sum that is never negative and cannot reach 2^n, n at most `width`, has n bits,
    ///   and zeros above.
    pub fn sum(&mut self, width: usize, parts: &[(u128, &[Bit])], plus: u128) -> Word {
        assert!(width <= 128, "sums of up to 128 bits");
        if let Some(number) = constant_sum(parts, plus) {
            return constant(number, width);
        }
        let key = Memo::key(width, parts, plus);
        if let Some(result) = self.memo.get(&key) {
            return result;
        }
        let linear = self.normal_form(width, parts, plus);
        let mut result = match without_carry(&linear) {
            Some(word) => word,
            None => self.shifted_term(linear),
        };
        result.resize(width, Bit::ZERO);
        self.check_sum(&result, width, parts, plus);
        self.memo.insert(&key, &result);
        result
    }

    /// The product, of as many bits as both factors have together, at most 128.
    ///
    /// - *constant*: a constant factor makes it a sum;
    /// - *zeros*: zeros at both ends of a factor only shift the product;
    /// - *one bit*: a factor of one bit selects the other one;
    /// - *order*: x · y = y · x, so the factors are sorted.
    pub fn product_of(&mut self, a: &[Bit], b: &[Bit]) -> Word {
        let width = a.len() + b.len();
        assert!(width <= 128, "products of up to 128 bits");
        if let Some(number) = value(a) {
            return self.sum(width, &[(number, b)], 0);
        }
        if let Some(number) = value(b) {
            return self.sum(width, &[(number, a)], 0);
        }
        let ((x, low_x), (y, low_y)) = (trim(a), trim(b));
        let mut result = vec![Bit::ZERO; low_x + low_y];
        result.extend(match (x, y) {
            ([bit], word) | (word, [bit]) => {
                word.iter().map(|other| self.and(*bit, *other)).collect()
            }
            _ => self.product_term(x.min(y), x.max(y)),
        });
        result.resize(width, Bit::ZERO);
        let (x, y) = (self.samples(a), self.samples(b));
        let meaning = core::array::from_fn(|i| x[i].wrapping_mul(y[i]));
        self.check_word(&result, &meaning);
        result
    }

    /// Makes a sum opaque: from now on, its bits are atoms in other sums, and its summands do not
    /// take their place there. Only a hint: it keeps sums short where they pass through something
    /// that is not linear anyway. It changes no bit and no meaning.
    ///
    /// Results of sums in which its summands have taken its place are forgotten. They are right,
    /// but a sum must not have another form because it was asked for before.
    pub fn make_opaque(&mut self, word: &[Bit]) {
        for bit in word {
            if let Some((term, 0)) = self.arithmetic_bit(*bit)
                && self.arithmetic.make_opaque(term)
            {
                self.memo = Memo::default();
            }
        }
    }

    fn normal_form(&mut self, width: usize, parts: &[(u128, &[Bit])], plus: u128) -> Linear {
        let mask = mask(width);
        let mut total = plus;
        let mut all = Vec::new();
        for (coefficient, word) in parts {
            for (j, bit) in word.iter().enumerate().take(width) {
                let coefficient = coefficient.wrapping_shl(j as u32) & mask;
                if *bit == Bit::ZERO || coefficient == 0 {
                    continue;
                }
                if *bit == Bit::ONE {
                    total = total.wrapping_add(coefficient);
                } else if self.is_complement(*bit) {
                    total = total.wrapping_add(coefficient);
                    all.push((self.not(*bit), coefficient.wrapping_neg() & mask));
                } else {
                    all.push((*bit, coefficient));
                }
            }
        }
        let linear = Linear {
            width,
            constant: total & mask,
            parts: like_terms(all, mask),
            exact: false,
        };
        self.eliminate(linear)
    }

    /// *Elimination*: the bits T.0, T.1, … of an earlier sum T satisfy Σ 2^j · T.j = T modulo 2^n,
    /// n the width of T (exactly, if T is exact). So T.0 can be replaced by T's summands minus
    /// Σ_{j≥1} 2^j · T.j. This is an identity modulo 2^width if its factor makes up for what is
    /// above n: 2^n · factor = 0 modulo 2^width. When all of T is added, everything but its
    /// summands cancels, in whatever order it happens; otherwise, T.0 is gone all the same. So the
    /// result does not depend on the order.
    ///
    /// Later sums are replaced first; their summands are earlier, so this ends.
    fn eliminate(&mut self, linear: Linear) -> Linear {
        let width = linear.width;
        let mut pivots: BTreeSet<u32> = linear
            .parts
            .iter()
            .filter_map(|(bit, coefficient)| self.pivot(*bit, *coefficient, width))
            .collect();
        if pivots.is_empty() {
            return linear;
        }
        let mask = mask(linear.width);
        let mut total = linear.constant;
        let mut parts: BTreeMap<Bit, u128> = linear.parts.into_iter().collect();
        while let Some(term) = pivots.pop_last() {
            let mut bits = self.arithmetic.bits(term);
            let Some((pivot, coefficient)) =
                bits.next().and_then(|pivot| parts.remove_entry(&pivot))
            else {
                continue;
            };
            // Replacing later sums may have changed the factor since it was looked at.
            if self.pivot(pivot, coefficient, width).is_none() {
                parts.insert(pivot, coefficient);
                continue;
            }
            for (j, bit) in (1..).zip(bits) {
                add_part(
                    &mut parts,
                    bit,
                    (coefficient << j).wrapping_neg() & mask,
                    mask,
                );
            }
            let summands = self.arithmetic.replace(term);
            total = total.wrapping_add(coefficient.wrapping_mul(summands.constant));
            for (bit, factor) in summands.parts {
                let sum = add_part(
                    &mut parts,
                    bit,
                    coefficient.wrapping_mul(factor) & mask,
                    mask,
                );
                pivots.extend(self.pivot(bit, sum, width));
            }
        }
        Linear {
            constant: total & mask,
            parts: parts.into_iter().collect(),
            ..linear
        }
    }

    /// The transparent sum whose bit 0 this is, if replacing it is an identity.
    fn pivot(&self, bit: Bit, coefficient: u128, width: usize) -> Option<u32> {
        let (term, 0) = self.arithmetic_bit(bit)? else {
            return None;
        };
        if coefficient == 0 || !self.arithmetic.is_transparent(term) {
            return None;
        }
        let Shape { width: own, exact } = self.arithmetic.shape(term);
        let covered = exact || own + coefficient.trailing_zeros() as usize >= width;
        covered.then_some(term)
    }

    /// - *low bits*: of a sum of addresses, the low bits that all of them have constant are
    ///   constant, and the others are a sum of their own.
    fn shifted_term(&mut self, linear: Linear) -> Word {
        let parts = linear.parts.iter();
        let zeros = match parts.clone().all(|(bit, _)| self.is_of_address(*bit)) {
            true => parts.map(|(_, coefficient)| coefficient.trailing_zeros()),
            false => return self.linear_term(linear),
        };
        let zeros = zeros.min().unwrap_or(0) as usize;
        let mut word = constant(linear.constant, zeros);
        let shifted = |(bit, coefficient): &(Bit, u128)| (*bit, coefficient >> zeros);
        word.extend(self.split_term(Linear {
            width: linear.width - zeros,
            constant: linear.constant >> zeros,
            parts: linear.parts.iter().map(shifted).collect(),
            ..linear
        }));
        word
    }

    /// - *high part*: a sum of addresses A · 2^k + B with B below 2^k is A behind the k bits of B.
    ///   It is used where a multiplication by an inverse divides a number of elements.
    fn split_term(&mut self, linear: Linear) -> Word {
        let place = match linear.width > 64 {
            true => (64..linear.width).find(|place| is_split(&linear, *place)),
            false => None,
        };
        let Some(place) = place else {
            return self.linear_term(linear);
        };
        let part = |from: usize, width: usize| {
            let cut = |number: u128| number >> from & mask(width);
            let parts = linear.parts.iter().map(|(bit, x)| (*bit, cut(*x)));
            Linear {
                width,
                constant: cut(linear.constant),
                parts: parts.filter(|(_, x)| *x != 0).collect(),
                exact: false,
            }
        };
        let [low, high] = [part(0, place), part(place, linear.width - place)];
        let mut word = Word::new();
        for part in [low, high] {
            let end = word.len() + part.width;
            word.extend(match without_carry(&part) {
                Some(word) => word,
                None => self.shifted_term(part),
            });
            word.resize(end, Bit::ZERO);
        }
        word
    }

    fn linear_term(&mut self, linear: Linear) -> Word {
        let linear = tighten(linear);
        let values = self.evaluate(&linear);
        let kinds = self.kinds_of(linear.parts.iter().map(|(bit, _)| bit));
        let kind = Kind {
            width: linear.width,
            linear: true,
            exact: linear.exact,
        };
        self.term(&encode(&linear), kind, kinds, &values)
    }

    fn product_term(&mut self, a: &[Bit], b: &[Bit]) -> Word {
        let (x, y) = (self.samples(a), self.samples(b));
        let values = core::array::from_fn(|i| x[i].wrapping_mul(y[i]));
        let kinds = self.kinds_of(a.iter().chain(b));
        let kind = Kind {
            width: a.len() + b.len(),
            linear: false,
            exact: true,
        };
        self.term(&encode_product(a, b), kind, kinds, &values)
    }

    pub(super) fn kinds_of<'a>(&self, bits: impl Iterator<Item = &'a Bit>) -> u8 {
        bits.fold(0, |all, bit| all | self.kinds(*bit))
    }

    /// The bits of the term written as `form`; new atoms if it is new.
    pub(super) fn term(
        &mut self,
        form: &[u32],
        kind: Kind,
        kinds: u8,
        values: &[u128; SAMPLES],
    ) -> Word {
        let term = match self.arithmetic.find(form) {
            Some(term) => term,
            None => {
                let first = self.atoms.len() as u32;
                let term = self.arithmetic.insert(form, first, kind, kinds);
                for samples in &samples::bits(values)[..kind.width] {
                    self.atom(Atom::Arithmetic(term), *samples);
                }
                term
            }
        };
        self.arithmetic.bits(term).collect()
    }

    /// Whether a polynomial contains the summand 1.
    pub(super) fn is_complement(&self, bit: Bit) -> bool {
        self.summands(bit, &mut [0]).first() == Some(&ONE)
    }

    /// The value of a normal form on the samples.
    fn evaluate(&self, linear: &Linear) -> [u128; SAMPLES] {
        let mut values = [linear.constant; SAMPLES];
        for (bit, coefficient) in &linear.parts {
            let samples = self.bit_samples(*bit);
            for (i, value) in values.iter_mut().enumerate() {
                let counts = u128::from(samples >> i & 1).wrapping_neg();
                *value = value.wrapping_add(coefficient & counts);
            }
        }
        values.map(|value| value & mask(linear.width))
    }

    pub(super) fn check_sum(
        &self,
        result: &[Bit],
        width: usize,
        parts: &[(u128, &[Bit])],
        plus: u128,
    ) {
        let mut meaning = [plus; SAMPLES];
        for (coefficient, word) in parts {
            let values = self.samples(&word[..word.len().min(width)]);
            for (sum, value) in meaning.iter_mut().zip(values) {
                *sum = sum.wrapping_add(coefficient.wrapping_mul(value));
            }
        }
        self.check_word(result, &meaning.map(|sum| sum & mask(width)));
    }

    pub(super) fn check_word(&self, result: &[Bit], meaning: &[u128; SAMPLES]) {
        assert_eq!(&self.samples(result), meaning, "a rewrite rule is wrong");
    }
}

pub(super) fn mask(width: usize) -> u128 {
    u128::MAX >> (128 - width)
}

/// Whether the parts below bit `place` never carry into it, and there are parts on both sides.
fn is_split(linear: &Linear, place: usize) -> bool {
    let low = |number: u128| number & mask(place);
    let numbers = linear.parts.iter().map(|(_, coefficient)| *coefficient);
    let most = numbers
        .clone()
        .try_fold(low(linear.constant), |sum, x| sum.checked_add(low(x)));
    let is_high = numbers.clone().any(|x| x >> place != 0);
    let is_low = numbers.clone().any(|x| low(x) != 0);
    is_high && is_low && most.is_some_and(|most| most >> place == 0)
}

fn constant_sum(parts: &[(u128, &[Bit])], plus: u128) -> Option<u128> {
    parts.iter().try_fold(plus, |sum, (coefficient, word)| {
        Some(sum.wrapping_add(coefficient.wrapping_mul(value(word)?)))
    })
}

fn like_terms(mut all: Vec<(Bit, u128)>, mask: u128) -> Vec<(Bit, u128)> {
    all.sort_unstable_by_key(|(bit, _)| *bit);
    let mut parts: Vec<(Bit, u128)> = Vec::with_capacity(all.len());
    for (bit, coefficient) in all {
        match parts.last_mut() {
            Some(last) if last.0 == bit => last.1 = last.1.wrapping_add(coefficient) & mask,
            _ => parts.push((bit, coefficient)),
        }
    }
    parts.retain(|(_, coefficient)| *coefficient != 0);
    parts
}

/// Adds to a coefficient and gives the new one.
fn add_part(parts: &mut BTreeMap<Bit, u128>, bit: Bit, coefficient: u128, mask: u128) -> u128 {
    let sum = parts
        .get(&bit)
        .copied()
        .unwrap_or(0)
        .wrapping_add(coefficient)
        & mask;
    if sum == 0 {
        parts.remove(&bit);
    } else {
        parts.insert(bit, sum);
    }
    sum
}

/// The word itself, if no addition in the sum can carry.
pub(super) fn without_carry(linear: &Linear) -> Option<Word> {
    let mut taken = linear.constant;
    for (_, coefficient) in &linear.parts {
        if !coefficient.is_power_of_two() || taken & coefficient != 0 {
            return None;
        }
        taken |= coefficient;
    }
    let mut word = constant(linear.constant, linear.width);
    for (bit, coefficient) in &linear.parts {
        word[coefficient.trailing_zeros() as usize] = *bit;
    }
    Some(word)
}

/// The same sum with no more bits than it can have: first with all coefficients as they are, then
/// with large ones as the negative numbers that they also stand for.
pub(super) fn tighten(linear: Linear) -> Linear {
    let most = linear
        .parts
        .iter()
        .try_fold(linear.constant, |sum, part| sum.checked_add(part.1));
    let is_small = |most: u128| most <= mask(linear.width);
    match (most, linear.range()) {
        (Some(most), _) if is_small(most) => Linear {
            width: 128 - most.leading_zeros() as usize,
            exact: true,
            ..linear
        },
        (_, Some((_, most))) if is_small(most) => Linear {
            width: (128 - most.leading_zeros() as usize).max(1),
            exact: true,
            parts: linear
                .parts
                .iter()
                .map(|(bit, coefficient)| (*bit, linear.signed(*coefficient)))
                .collect(),
            constant: linear.constant,
        },
        _ => linear,
    }
}

/// A factor without the zeros at both ends, and how many there are at the low end. It is not
/// constant, so something is left.
pub(super) fn trim(word: &[Bit]) -> (&[Bit], usize) {
    let low = word.iter().take_while(|bit| **bit == Bit::ZERO).count();
    let high = word
        .iter()
        .rev()
        .take_while(|bit| **bit == Bit::ZERO)
        .count();
    (&word[low..word.len() - high], low)
}
