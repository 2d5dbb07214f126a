//! Rules on all inputs: with six bits of input there are as many samples as inputs, and the checks
//! of every rule are exhaustive.
//!
//! `tests/rules.rs` has the command that makes mutants of the rules. It compares those that survive
//! with `tests/rules/survivors.txt`, which has a reason for each. Assertions have no mutants there.

mod forms;
mod questions;

use super::*;
use proptest::prelude::*;

/// A formula over words of `WIDTH` bits.
#[derive(Clone, Debug)]
enum Formula {
    Input(usize),
    Constant(u8),
    Xor(Box<Self>, Box<Self>),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
    Select(Box<Self>, Box<Self>, Box<Self>),
    Sum(Vec<(i8, Self)>, i8),
    Product(Box<Self>, Box<Self>),
    Rotated(Box<Self>, usize),
    Low(Box<Self>, usize),
    Opaque(Box<Self>),
    Below(Box<Self>, Box<Self>),
    Equal(Box<Self>, Box<Self>),
    /// The divisor is the low two bits of the second, plus one.
    Quotient(Box<Self>, Box<Self>),
    Remainder(Box<Self>, Box<Self>),
}

const WIDTH: usize = 3;

fn formula() -> impl Strategy<Value = Formula> {
    use Formula::*;
    let leaf = prop_oneof![(0..2_usize).prop_map(Input), any::<u8>().prop_map(Constant)];
    leaf.prop_recursive(5, 40, 3, |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        prop_oneof![
            (boxed.clone(), boxed.clone()).prop_map(|(a, b)| Xor(a, b)),
            (boxed.clone(), boxed.clone()).prop_map(|(a, b)| And(a, b)),
            (boxed.clone(), boxed.clone()).prop_map(|(a, b)| Or(a, b)),
            (boxed.clone(), boxed.clone(), boxed.clone()).prop_map(|(a, b, c)| Select(a, b, c)),
            (
                prop::collection::vec((any::<i8>(), inner), 1..4),
                any::<i8>()
            )
                .prop_map(|(parts, plus)| Sum(parts, plus)),
            (boxed.clone(), boxed.clone()).prop_map(|(a, b)| Product(a, b)),
            (boxed.clone(), 0..WIDTH).prop_map(|(a, n)| Rotated(a, n)),
            (boxed.clone(), 0..WIDTH).prop_map(|(a, n)| Low(a, n)),
            boxed.clone().prop_map(Opaque),
            (boxed.clone(), boxed.clone()).prop_map(|(a, b)| Below(a, b)),
            (boxed.clone(), boxed.clone()).prop_map(|(a, b)| Equal(a, b)),
            (boxed.clone(), boxed.clone()).prop_map(|(a, b)| Quotient(a, b)),
            (boxed.clone(), boxed).prop_map(|(a, b)| Remainder(a, b)),
        ]
    })
}

impl Formula {
    fn terms(&self, terms: &mut Terms, inputs: &[Word; 2]) -> Word {
        match self {
            Self::Input(i) => inputs[*i].clone(),
            Self::Constant(x) => constant((*x).into(), WIDTH),
            Self::Xor(a, b) => each(terms, inputs, a, b, Terms::xor),
            Self::And(a, b) => each(terms, inputs, a, b, Terms::and),
            Self::Or(a, b) => each(terms, inputs, a, b, Terms::or),
            Self::Select(c, a, b) => {
                let c = c.terms(terms, inputs)[0];
                each(terms, inputs, a, b, |terms, a, b| terms.select(c, a, b))
            }
            Self::Sum(parts, plus) => {
                let words: Vec<Word> = parts
                    .iter()
                    .map(|(_, part)| part.terms(terms, inputs))
                    .collect();
                let parts: Vec<(u128, &[Bit])> = parts
                    .iter()
                    .zip(&words)
                    .map(|((k, _), word)| (*k as u128, &word[..]))
                    .collect();
                terms.sum(WIDTH, &parts, *plus as u128)
            }
            Self::Product(a, b) => {
                let (a, b) = (a.terms(terms, inputs), b.terms(terms, inputs));
                terms.product_of(&a, &b)[..WIDTH].to_vec()
            }
            Self::Rotated(a, n) => {
                let mut word = a.terms(terms, inputs);
                word.rotate_left(*n);
                word
            }
            Self::Low(a, n) => {
                let mut word = a.terms(terms, inputs)[..*n].to_vec();
                word.resize(WIDTH, Bit::ZERO);
                word
            }
            Self::Opaque(a) => {
                let word = a.terms(terms, inputs);
                terms.make_opaque(&word);
                word
            }
            Self::Below(a, b) => {
                let (a, b) = (a.terms(terms, inputs), b.terms(terms, inputs));
                vec![terms.below(&a, &b), Bit::ZERO, Bit::ZERO]
            }
            Self::Equal(a, b) => {
                let (a, b) = (a.terms(terms, inputs), b.terms(terms, inputs));
                vec![terms.equal(&a, &b), Bit::ZERO, Bit::ZERO]
            }
            Self::Quotient(a, b) => divided(terms, inputs, a, b).0,
            Self::Remainder(a, b) => divided(terms, inputs, a, b).1,
        }
    }

    fn number(&self, inputs: [u128; 2]) -> u128 {
        let of = |a: &Self| a.number(inputs);
        let result = match self {
            Self::Input(i) => inputs[*i],
            Self::Constant(x) => (*x).into(),
            Self::Xor(a, b) => of(a) ^ of(b),
            Self::And(a, b) => of(a) & of(b),
            Self::Or(a, b) => of(a) | of(b),
            Self::Select(c, a, b) => {
                if of(c) & 1 == 1 {
                    of(a)
                } else {
                    of(b)
                }
            }
            Self::Sum(parts, plus) => parts.iter().fold(*plus as u128, |sum, (k, part)| {
                sum.wrapping_add((*k as u128).wrapping_mul(of(part)))
            }),
            Self::Product(a, b) => of(a) * of(b),
            Self::Rotated(a, n) => of(a) >> n | of(a) << (WIDTH - n),
            Self::Low(a, n) => of(a) & ((1 << n) - 1),
            Self::Opaque(a) => of(a),
            Self::Below(a, b) => (of(a) < of(b)).into(),
            Self::Equal(a, b) => (of(a) == of(b)).into(),
            Self::Quotient(a, b) => of(a) / ((of(b) & 3) + 1),
            Self::Remainder(a, b) => of(a) % ((of(b) & 3) + 1),
        };
        result & ((1 << WIDTH) - 1)
    }
}

fn divided(terms: &mut Terms, inputs: &[Word; 2], a: &Formula, b: &Formula) -> (Word, Word) {
    let (a, b) = (a.terms(terms, inputs), b.terms(terms, inputs));
    let divisor = terms.sum(WIDTH, &[(1, &b[..2])], 1);
    // Only a sum is seen to be positive.
    terms.divide(&a, &divisor).unwrap_or_else(|| {
        let numbers = |f: fn(u128, u128) -> u128| {
            let (a, b) = (terms.samples(&a), terms.samples(&divisor));
            core::array::from_fn(|i| f(a[i], b[i]))
        };
        let (quotient, remainder) = (numbers(|a, b| a / b), numbers(|a, b| a % b));
        (
            terms.input_with(WIDTH, &quotient),
            terms.input_with(WIDTH, &remainder),
        )
    })
}

fn each(
    terms: &mut Terms,
    inputs: &[Word; 2],
    a: &Formula,
    b: &Formula,
    mut f: impl FnMut(&mut Terms, Bit, Bit) -> Bit,
) -> Word {
    let (a, b) = (a.terms(terms, inputs), b.terms(terms, inputs));
    a.into_iter().zip(b).map(|(a, b)| f(terms, a, b)).collect()
}

/// Two words of three bits whose samples are all 64 pairs of values.
fn exhaustive() -> (Terms, [Word; 2]) {
    let mut terms = Terms::new(1);
    let low = terms.input_with(WIDTH, &core::array::from_fn(|i| i as u128 % 8));
    let high = terms.input_with(WIDTH, &core::array::from_fn(|i| i as u128 / 8));
    (terms, [low, high])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_formula_means_what_it_says_on_all_inputs(formula in formula()) {
        let (mut terms, inputs) = exhaustive();
        let word = formula.terms(&mut terms, &inputs);
        for (i, value) in terms.samples(&word).into_iter().enumerate() {
            prop_assert_eq!(value, formula.number([i as u128 % 8, i as u128 / 8]));
        }
    }

    /// Completeness where the prover needs it: sums do not depend on the order or the grouping of
    /// their summands.
    #[test]
    fn sums_do_not_depend_on_their_order(order in Just((0..6_usize).collect::<Vec<_>>()).prop_shuffle(), cut in 1..6_usize) {
        let mut terms = Terms::new(7);
        let words: Vec<Word> = (0..6).map(|_| terms.input(64)).collect();
        let total = words.iter().skip(1).fold(words[0].clone(), |sum, word| terms.add(&sum, word));
        let of = |terms: &mut Terms, part: &[usize]| part[1..].iter().fold(words[part[0]].clone(), |sum, i| terms.add(&sum, &words[*i]));
        let (a, b) = (of(&mut terms, &order[..cut]), of(&mut terms, &order[cut..]));
        prop_assert_eq!(terms.add(&a, &b), total.clone());
        let back = terms.sub(&total, &b);
        prop_assert_eq!(back, a);
    }
}

#[test]
fn wide_polynomials_are_wrapped_and_stay_right() {
    let mut terms = Terms::new(3);
    let word = terms.input(64);
    let other = terms.input(64);
    let mut sum = Bit::ZERO;
    for a in &word {
        for b in &other {
            let product = terms.and(*a, *b);
            sum = terms.xor(sum, product);
        }
    }
    let (a, b) = (terms.samples(&word), terms.samples(&other));
    for i in 0..SAMPLES {
        let expected = (a[i].count_ones() & b[i].count_ones()) & 1;
        assert_eq!(terms.bit_samples(sum) >> i & 1, u64::from(expected));
    }
    assert!(terms.depends_on_input(sum));
}

#[test]
fn only_what_comes_from_inputs_depends_on_them() {
    let mut terms = Terms::new(4);
    let (junk, input) = (terms.junk(64), terms.input(64));
    let sum = terms.add(&junk, &junk.clone());
    assert!(!sum.iter().any(|bit| terms.depends_on_input(*bit)));
    let mixed = terms.add(&junk, &input);
    assert!(mixed.iter().any(|bit| terms.depends_on_input(*bit)));
}

#[test]
#[should_panic(expected = "a rewrite rule is wrong")]
fn a_wrong_rule_is_noticed() {
    let mut terms = Terms::new(5);
    let word = terms.input(64);
    let samples = terms.bit_samples(word[0]);
    terms.check(word[1], samples);
}

#[test]
#[should_panic(expected = "a rewrite rule is wrong")]
fn a_wrong_word_is_noticed() {
    let mut terms = Terms::new(5);
    let word = terms.input(64);
    let mut values = terms.samples(&word);
    terms.check_word(&word, &values);
    values[SAMPLES - 1] ^= 1 << 63;
    terms.check_word(&word, &values);
}

#[test]
#[should_panic(expected = "a rewrite rule is wrong")]
fn a_wrong_sum_is_noticed() {
    let mut terms = Terms::new(5);
    let word = terms.input(64);
    let twice = [&[Bit::ZERO], &word[..63]].concat();
    terms.check_sum(&twice, 64, &[(1, &word), (1, &word)], 0);
    terms.check_sum(&twice, 64, &[(1, &word), (1, &word)], 1);
}

/// Calls an operation with a number that is too wide for it.
fn refused(operation: impl FnOnce(&mut Terms, &Word)) {
    let mut terms = Terms::new(5);
    let word = terms.input(65);
    operation(&mut terms, &word);
}

#[test]
#[should_panic(expected = "sums of up to 128 bits")]
fn a_sum_that_is_too_wide_is_refused() {
    refused(|terms, word| drop(terms.sum(129, &[(1, word), (1, word)], 1)));
}

#[test]
#[should_panic(expected = "products of up to 128 bits")]
fn a_product_that_is_too_wide_is_refused() {
    refused(|terms, word| drop(terms.product_of(word, &word[1..])));
}

#[test]
#[should_panic(expected = "no coefficient looks negative")]
fn a_bound_of_a_word_that_is_too_wide_is_refused() {
    refused(|terms, word| _ = terms.bound_of(&[&word[..64], &word[..64]].concat()));
}

#[test]
#[should_panic(expected = "words of 64 bits")]
fn a_residue_of_other_words_is_refused() {
    refused(|terms, word| drop(terms.residue(&[word.clone(), word.clone()], &[])));
}

#[test]
#[should_panic(expected = "a byte")]
fn the_s_box_of_other_words_is_refused() {
    refused(|terms, word| drop(terms.substitute(&word[..9])));
}

/// A sum of three bits, which is zero on some samples and not on others.
fn asked_for_zero(rules: fn(&mut Terms, &[Bit]) -> Bit) {
    let mut terms = Terms::new(5);
    let word = terms.input(3);
    let sum = terms.sum(3, &[(1, &word)], 1);
    assert!(terms.is_zero(&sum) != Bit::ZERO, "by the right rules");
    terms.is_zero_by(&sum, rules);
}

#[test]
#[should_panic(expected = "a rewrite rule is wrong")]
fn a_sum_that_is_taken_for_positive_is_noticed() {
    // This claim ignores that the sum may overflow.
    asked_for_zero(|_, _| Bit::ZERO);
}

#[test]
#[should_panic(expected = "a rewrite rule is wrong")]
fn a_wrong_sign_is_noticed() {
    asked_for_zero(|terms, word| {
        // -x - 1 instead of -x.
        let complement = terms.sum(word.len(), &[(u128::MAX, word)], u128::MAX);
        terms.all_are_zero(&complement)
    });
}

/// Constants and complements have no place among the summands: they would hide that two sums are
/// the same.
#[test]
fn constant_bits_are_part_of_the_constant() {
    let mut terms = Terms::new(6);
    let (word, other) = (terms.input(64), terms.input(64));
    let number = constant(20, 64);
    let direct = terms.sum(64, &[(1, &word), (1, &other)], 20);
    let with_word = terms.sum(64, &[(1, &number), (1, &word), (1, &other)], 0);
    assert_eq!(direct, with_word);
}

#[test]
fn a_sum_has_one_form_whatever_was_asked_before_a_summand_became_opaque() {
    let mut terms = Terms::new(1);
    let [a, b, c, d] = core::array::from_fn(|_| terms.input(8));
    let sum = terms.add(&a, &b);
    let early = terms.add(&sum, &c);
    terms.make_opaque(&sum);
    let (one, other) = (terms.add(&sum, &c), terms.add(&c, &d));
    assert_ne!(early, one);
    assert_eq!(terms.add(&one, &d), terms.add(&sum, &other));
}

#[test]
fn only_what_a_sum_was_put_into_is_forgotten() {
    let mut terms = Terms::new(1);
    let [a, b, c] = core::array::from_fn(|_| terms.input(8));
    let sum = terms.add(&a, &b);
    let key = Memo::key(8, &[(1, &a), (1, &b)], 0);
    terms.make_opaque(&sum);
    assert_eq!(terms.memo.get(&key), Some(sum));
    let other = terms.add(&a, &c);
    terms.add(&other, &b);
    terms.make_opaque(&other);
    assert_eq!(terms.memo.get(&key), None);
}

/// The lowest bit of a sum of 32 bits stands in a sum of 64 bits twice: where it is shifted it may
/// be replaced, where it is not, not. Replacing a later sum brings both together, and then it must
/// stay.
#[test]
fn a_factor_that_changes_while_sums_are_replaced_is_looked_at_again() {
    let mut terms = Terms::new(1);
    // The sum carries out of its 32 bits on every sample.
    let a = terms.input_with(32, &[0xffff_ffff; SAMPLES]);
    let c = terms.input_with(32, &[7; SAMPLES]);
    let t = terms.sum(32, &[(1, &a)], 1);
    let later = terms.sum(64, &[(1, &t), (1, &c)], 0);
    let both = terms.sum(64, &[(1 << 32, &t), (1, &later)], 0);
    assert_eq!(terms.samples(&both), [7; SAMPLES]);
}

/// As many numbers are compared to choose one of earlier blocks.
#[test]
fn numbers_are_compared_whatever_the_way() {
    let mut terms = Terms::new(8);
    let (a, b) = (terms.input(64), terms.input(64));
    let (one, zero) = (constant(1, 64), constant(0, 64));
    assert_eq!(terms.equal(&a, &b), terms.equal(&b, &a));
    assert_eq!(terms.below(&a, &one), terms.equal(&a, &zero));
    assert_eq!(terms.equal(&zero, &a), terms.equal(&a, &zero));
    let longer = terms.sum(65, &[(1, &a), (1, &b)], 0);
    assert_eq!(terms.below(&longer[..64], &zero), Bit::ZERO);
    // 3 - x - y - z of bits is from 0 to 3, and two bits long.
    let bits: Word = a[..3].iter().map(|bit| terms.not(*bit)).collect();
    let parts: Vec<(u128, &[Bit])> = bits
        .iter()
        .map(|bit| (1, core::slice::from_ref(bit)))
        .collect();
    let count = terms.sum(64, &parts, 0);
    assert!(count[2..].iter().all(|bit| *bit == Bit::ZERO));
    assert_eq!(terms.least(&count), 0);
}

#[test]
fn only_by_what_is_never_zero_is_divided() {
    let mut terms = Terms::new(9);
    let (a, b) = (terms.input(64), terms.input(24));
    assert!(terms.divide(&a, &b).is_none());
    let positive = terms.sum(64, &[(1, &b)], 1);
    assert_eq!(terms.least(&positive), 1);
    assert_eq!(terms.is_zero(&positive), Bit::ZERO);
    // The length of the words makes no difference.
    let (_, long) = terms.divide(&a, &positive).unwrap();
    let (_, short) = terms.divide(&a, &positive[..32]).unwrap();
    assert_eq!(long, short);
    assert!(long[25..].iter().all(|bit| *bit == Bit::ZERO));
    // A sum that may overflow may be zero.
    let wraps = terms.sum(24, &[(1, &b)], 1);
    assert_eq!(terms.least(&wraps), 0);
}

/// A wide product is the same in whatever order, and with complements on either side.
#[test]
fn wide_products_are_those_of_complements() {
    let mut terms = Terms::new(1);
    let mut sum_of = |count: usize| {
        let bits = terms.input(count).into_iter();
        bits.fold(Bit::ZERO, |sum, bit| terms.xor(sum, bit))
    };
    let sums = [5, 6, 11, 20].map(&mut sum_of);
    let short = sum_of(1);
    for (p, q) in [(0, 1), (1, 2), (2, 2), (2, 3), (3, 0)].map(|(i, j)| (sums[i], sums[j])) {
        products_of_complements(&mut terms, p, q);
        products_of_complements(&mut terms, p, short);
    }
}

fn products_of_complements(terms: &mut Terms, p: Bit, q: Bit) {
    let product = terms.and(p, q);
    assert_eq!(terms.and(q, p), product);
    let (not_p, not_q) = (terms.not(p), terms.not(q));
    let one = terms.and(not_p, q);
    let sum = terms.xor(product, one);
    assert_eq!(sum, q, "p · q + (p + 1) · q = q");
    let neither = terms.and(not_p, not_q);
    let either = terms.or(p, q);
    assert_eq!(terms.not(neither), either);
}
