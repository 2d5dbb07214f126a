//! The forms that rules give. A rule that is not used where it should be changes no meaning, so
//! samples do not show it; but then equal formulas may have different forms.

use super::super::linear::Linear;
use super::super::{LONGEST, arithmetic};
use super::*;
use arithmetic::{tighten, trim, without_carry};

/// The sum of `count` new inputs.
fn sum_of(terms: &mut Terms, count: usize) -> Bit {
    let bits = terms.input(count).into_iter();
    bits.fold(Bit::ZERO, |sum, bit| terms.xor(sum, bit))
}

#[test]
fn bits_are_constants_atoms_or_neither() {
    let mut terms = Terms::new(2);
    let word = terms.input(2);
    let sum = terms.xor(word[0], word[1]);
    assert!(Bit::ZERO.is_constant() && Bit::ONE.is_constant());
    assert!(!word[0].is_constant() && !sum.is_constant());
    assert_eq!((Bit::from(false), Bit::from(true)), (Bit::ZERO, Bit::ONE));
    let atoms = [Bit::ZERO, Bit::ONE, word[0], word[1], sum].map(Bit::atom);
    // Numbers 0 and 1 mean zero and one.
    assert_eq!(atoms, [None, None, Some(2), Some(3), None]);
    let not = terms.not(word[0]);
    assert_eq!(terms.and(word[0], not), Bit::ZERO);
}

#[test]
fn numbers_have_128_bits() {
    let ones = constant(u128::MAX, 130);
    let (number, above) = ones.split_at(128);
    assert_eq!(value(number), Some(u128::MAX));
    assert_eq!(above, [Bit::ZERO; 2]);
    assert_eq!(value(&ones), Some(u128::MAX));
    assert_eq!(value(&[number, &[Bit::ONE]].concat()), None);
}

/// All products of summands, if those are few; else sums of more than four are wrapped.
#[test]
fn products_of_few_summands_are_worked_out() {
    let mut terms = Terms::new(2);
    for (p, q, count) in [
        (8, 2, 16),
        (4, 4, 16),
        (16, 1, 16),
        (17, 1, 1),
        (9, 2, 2),
        (5, 4, 4),
        (5, 5, 1),
    ] {
        let (a, b) = (sum_of(&mut terms, p), sum_of(&mut terms, q));
        let product = terms.and(a, b);
        assert_eq!(terms.summands_of(product), count, "{p} · {q}");
        assert_eq!(terms.and(a, a), a);
    }
}

/// If a sum would be too long, both halves are wrapped unless they are products already.
#[test]
fn a_sum_that_is_too_long_is_one_of_two_products() {
    let mut terms = Terms::new(2);
    let [x, y] = [(); 2].map(|()| terms.input(1)[0]);
    let first = terms.xor(x, y);
    let product = terms.and(x, y);
    let long = sum_of(&mut terms, LONGEST);
    assert_eq!(terms.summands_of(long), LONGEST, "is not too long");
    for short in [first, x, product] {
        let sum = terms.xor(short, long);
        assert_eq!(terms.summands_of(sum), 2);
        let wrapped = terms.wrap(short);
        assert_eq!(terms.summands_of(wrapped), 1);
        assert_eq!(wrapped == short, short != first, "only sums are wrapped");
        let rest = terms.xor(sum, wrapped);
        assert!(rest.atom().is_some(), "what the long sum is wrapped as");
        assert_eq!(terms.wrap(long), rest);
    }
}

fn linear(width: usize, constant: u128, parts: &[(u32, u128)]) -> Linear {
    let parts = parts
        .iter()
        .map(|(bit, coefficient)| (Bit(*bit), *coefficient));
    Linear {
        width,
        constant,
        parts: parts.collect(),
        exact: false,
    }
}

#[test]
fn a_factor_loses_the_zeros_at_its_ends() {
    let [a, b] = [2, 3].map(Bit);
    let zero = Bit::ZERO;
    assert_eq!(trim(&[a, b]), (&[a, b][..], 0));
    assert_eq!(trim(&[zero, a, zero, b, zero]), (&[a, zero, b][..], 1));
    assert_eq!(trim(&[zero, zero, a, zero]), (&[a][..], 2));
}

/// Also if the result is as long as the longest possible sum, or one bit longer.
#[test]
fn a_sum_has_as_many_bits_as_it_needs() {
    let width = |linear| {
        let tight = tighten(linear);
        (tight.width, tight.exact)
    };
    assert_eq!(width(linear(8, 0, &[(2, 3), (3, 4)])), (3, true));
    assert_eq!(width(linear(8, 0, &[(2, 127), (3, 128)])), (8, true));
    assert_eq!(width(linear(8, 1, &[(2, 127), (3, 128)])), (8, false));
    assert_eq!(width(linear(8, 2, &[(2, 127), (3, 127)])), (8, false));
    // 1 - a is 0 or 1, and 2 + b - 2a from 0 to 3.
    assert_eq!(width(linear(8, 1, &[(2, 255)])), (1, true));
    assert_eq!(width(linear(8, 2, &[(2, 254), (3, 1)])), (2, true));
    // 1 - 3a + 2b may be negative, and a - b too.
    assert_eq!(width(linear(8, 1, &[(2, 253), (3, 2)])), (8, false));
    assert_eq!(width(linear(8, 0, &[(2, 1), (3, 255)])), (8, false));
}

#[test]
fn large_coefficients_are_negative() {
    let negative = linear(8, 5, &[(2, 128), (3, 127), (4, 255)]);
    assert_eq!(negative.range(), None, "5 - 128 - 1");
    let range = |constant, parts: &[(u32, u128)]| linear(8, constant, parts).range();
    assert_eq!(range(129, &[(2, 128), (3, 127), (4, 255)]), Some((0, 256)));
    assert_eq!(range(128, &[(2, 128), (3, 127), (4, 255)]), None);
    // The greatest numbers are not told from negative ones.
    assert_eq!(linear(128, 1 << 127, &[]).range(), None);
    let most = (1 << 127) - 1;
    assert_eq!(linear(128, most, &[]).range(), Some((most, most)));
    assert_eq!(linear(128, most, &[(2, 1)]).range(), None);
    assert_eq!(linear(128, 1, &[(2, u128::MAX)]).range(), Some((0, 1)));
    assert_eq!(
        tighten(linear(8, 1, &[(2, 255)])).parts,
        [(Bit(2), u128::MAX)]
    );
    assert_eq!(tighten(linear(8, 1, &[(2, 255)])).range(), Some((0, 1)));
}

#[test]
fn what_does_not_carry_is_no_sum() {
    let [a, b] = [2, 3].map(Bit);
    let bits = without_carry(&linear(4, 2, &[(2, 1), (3, 8)]));
    assert_eq!(bits, Some(vec![a, Bit::ONE, Bit::ZERO, b]));
    assert_eq!(without_carry(&linear(4, 1, &[(2, 1)])), None);
    assert_eq!(without_carry(&linear(4, 0, &[(2, 2), (3, 2)])), None);
    assert_eq!(without_carry(&linear(4, 0, &[(2, 3)])), None);
}

/// Rules that take several summands together.
#[test]
fn sums_are_the_same_whatever_they_are_written_as() {
    let mut terms = Terms::new(2);
    let [a, b] = [(); 2].map(|()| terms.input(8));
    let twice = terms.add(&a, &a);
    assert_eq!(twice, [&[Bit::ZERO], &a[..7]].concat());
    assert!(terms.sub(&a, &a).iter().all(|bit| *bit == Bit::ZERO));
    let complement: Word = a.iter().map(|bit| terms.not(*bit)).collect();
    // -1 - a is the complement of a.
    assert_eq!(
        terms.sum(8, &[(255, &a)], 255),
        terms.sum(8, &[(1, &complement)], 0)
    );
    let sum = terms.add(&a, &b);
    assert_eq!(terms.sub(&sum, &b), a);
    // The sum has a carry above its eight bits. Times 256, the carry lies above the sixteen.
    assert_eq!(
        terms.sum(16, &[(1 << 8, &sum), ((1 << 16) - (1 << 8), &b)], 0),
        [&[Bit::ZERO; 8], &a[..]].concat()
    );
    // Bits above the width do not count.
    assert_eq!(terms.sum(8, &[(1, &a), (256, &b)], 256), a);
    let long = terms.sum(16, &[(1, &a), (1, &b)], 0);
    assert_eq!(
        long[9..],
        [Bit::ZERO; 7],
        "two numbers of eight bits have a sum of nine"
    );
    assert_eq!(terms.sum(16, &[(1, &long), (0xffff, &b)], 0)[..8], a);
}

#[test]
fn products_are_the_same_whatever_they_are_written_as() {
    let mut terms = Terms::new(2);
    let [a, b] = [(); 2].map(|()| terms.input(8));
    let product = terms.product_of(&a, &b);
    assert_eq!(terms.product_of(&b, &a), product);
    let zero = Bit::ZERO;
    let shifted = terms.product_of(&[&[zero, zero], &a[..]].concat(), &b);
    assert_eq!(shifted, [&[zero, zero], &product[..]].concat());
    let padded = terms.product_of(&[&a[..], &[zero]].concat(), &b);
    assert_eq!(padded, [&product[..], &[zero]].concat());
    let by_ten = terms.product_of(&constant(10, 8), &b);
    assert_eq!(by_ten, terms.sum(16, &[(10, &b)], 0));
    assert_eq!(terms.product_of(&b, &constant(10, 8)), by_ten);
    let chosen = terms.product_of(&a[..1], &b);
    assert_eq!(chosen[0], terms.and(a[0], b[0]));
    assert_eq!(chosen[8], zero);
    assert_eq!(terms.product_of(&b, &a[..1]), chosen);
}

/// An address is never secret, and its low bits are known.
#[test]
fn the_low_bits_of_sums_of_addresses_are_known() {
    let mut terms = Terms::new(2);
    let [base, other] = [0x1000, 0x2000].map(|number| terms.base(number, 6));
    assert_eq!(value(&base[..6]), Some(0));
    assert!(base[6..].iter().all(|bit| terms.is_of_address(*bit)));
    let before = terms.size();
    let sum = terms.sum(64, &[(1, &base), (1, &other)], 5);
    assert_eq!(
        terms.size() - before,
        58,
        "one for each bit above the known ones"
    );
    assert_eq!(value(&sum[..6]), Some(5));
    assert_eq!(terms.samples(&sum)[0], 0x3005);
    assert!(sum[6..].iter().all(|bit| terms.is_of_address(*bit)));
    // The same above low bits that are not the same.
    let higher = terms.sum(64, &[(1, &base), (1, &other)], 7);
    assert_eq!(higher[6..], sum[6..]);
    let input = terms.input(64);
    let mixed = terms.add(&base, &input);
    assert!(mixed.iter().all(|bit| !terms.is_of_address(*bit)));
    assert!(terms.depends_on_address(mixed[63]) && terms.depends_on_input(mixed[63]));
    assert!(!terms.depends_on_address(input[0]) && !terms.depends_on_input(base[63]));
    let junk = terms.junk(1)[0];
    assert!(!terms.depends_on_address(junk) && !terms.depends_on_input(junk));
}

/// n = 9 q + t is divided by 9, as compilers do it: by the high half of a product.
#[test]
fn the_high_part_of_a_sum_of_addresses_is_a_sum_of_its_own() {
    let mut terms = Terms::new(2);
    let q = terms.base(7, 0)[..53].to_vec();
    let next = terms.sum(64, &[(1, &q)], 1);
    for t in 0..=9 {
        let number = terms.sum(64, &[(9, &q)], t);
        let product = terms.sum(128, &[(0xe38e_38e3_8e38_e38f, &number)], 0);
        let quotient = if t < 9 {
            [&q[..], &[Bit::ZERO]].concat()
        } else {
            next[..54].to_vec()
        };
        assert_eq!(product[67..121], quotient, "{t}");
        assert_eq!(value(&product[121..]), Some(0));
    }
    // Not of secrets.
    let secret = terms.input(53);
    let product = terms.sum(128, &[((1 << 67) + 7, &secret)], 0);
    assert_ne!(product[67..120], secret);
}

/// q · 2^12 carries into the bits of q · 2^64, so these are no sum of their own.
#[test]
fn a_sum_of_addresses_whose_low_part_carries_is_not_split() {
    let mut terms = Terms::new(2);
    let most = (1 << 53) - 1;
    let q = terms.base(most, 0)[..53].to_vec();
    let coefficient = (1 << 64) + (1 << 12);
    let sum = terms.sum(128, &[(coefficient, &q)], 0);
    assert_eq!(terms.samples(&sum)[0], coefficient * u128::from(most));
    assert_ne!(sum[64..117], q);
}

/// q + 1 is below 2^54 for every q of 53 bits, and not always below 2^53.
#[test]
fn what_is_always_less() {
    let mut terms = Terms::new(2);
    let mut word = terms.input(53);
    word.resize(64, Bit::ZERO);
    let sum = terms.sum(64, &[(1, &word)], 1);
    let below = |terms: &mut Terms, most: u128| terms.below(&sum, &constant(most, 64));
    assert_eq!(below(&mut terms, (1 << 53) + 1), Bit::ONE);
    assert!(!below(&mut terms, 1 << 53).is_constant());
    assert_eq!(below(&mut terms, 1), Bit::ZERO);
    // q < q + r + 1: the borrow of q - (q + r + 1) does not show it, that of r does.
    let mut more = terms.input(10);
    more.resize(64, Bit::ZERO);
    let sum = terms.sum(64, &[(1, &word), (1, &more)], 1);
    assert_eq!(terms.below(&word, &sum), Bit::ONE);
    assert!(!terms.below(&word, &more).is_constant());
}

/// In each pair, one is seen to be positive only as it is, and the other only by its negative.
#[test]
fn what_cannot_be_zero_is_not() {
    let mut terms = Terms::new(2);
    let bit = terms.input(1);
    for (coefficient, plus) in [(200, 1), (56, 255)] {
        let sum = terms.sum(8, &[(coefficient, &bit)], plus);
        assert_eq!(terms.is_zero(&sum), Bit::ZERO, "{coefficient}");
    }
    let maybe = terms.sum(8, &[(200, &bit)], 56);
    assert!(!terms.is_zero(&maybe).is_constant());
}

/// An input or junk may stand for a formula of unknowns that are earlier than it. No address does.
#[test]
fn unknowns_that_a_formula_may_mention() {
    let mut terms = Terms::new(2);
    let [before, unknowns, after] = [0; 3].map(|_| terms.input(8));
    let (junk, base) = (terms.junk(1)[0], terms.base(0x1000, 12)[20]);
    let mut mentions = Mentions::of(&unknowns);
    let product = terms.and(before[0], unknowns[7]);
    let with = terms.xor(base, product);
    let without = terms.and(before[0], before[1]);
    let without = terms.xor(base, without);
    let sum_with = terms.add(&before, &unknowns)[7];
    let sum_without = terms.add(&before, &before[..7])[7];
    for bit in [unknowns[0], unknowns[7], after[0], junk, with, sum_with] {
        assert!(terms.may_mention(bit, &mut mentions), "{bit:?}");
    }
    for bit in [before[0], base, Bit::ONE, without, sum_without] {
        assert!(!terms.may_mention(bit, &mut mentions), "{bit:?}");
    }
}

/// The count that limits of runs use.
#[test]
fn formulas_are_counted() {
    let mut terms = Terms::new(2);
    // Two numbers mean zero and one.
    assert_eq!((terms.size(), terms.length()), (2, 2));
    let word = terms.input(6);
    assert_eq!((terms.size(), terms.length()), (8, 8));
    let sum = terms.xor(word[0], word[1]);
    let product = terms.and(word[2], word[3]);
    // A product is a polynomial of one summand.
    assert_eq!((terms.size(), terms.length()), (10, 8 + 2 + 2 + 1));
    assert_eq!(terms.xor(word[1], word[0]), sum);
    assert_eq!(terms.and(word[3], word[2]), product);
    assert_eq!((terms.size(), terms.length()), (10, 13));
    // Six bits of a product, its kind, the length of a factor, and the factors.
    terms.product_of(&word[..3], &word[3..]);
    assert_eq!((terms.size(), terms.length()), (16, 13 + 6 + 2 + 6));
}
