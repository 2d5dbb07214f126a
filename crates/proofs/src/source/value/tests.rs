//! The rules of values, against numbers.

use super::*;
use sealstone_lanes::Portable;

/// Runs random programs on values and on numbers. Simplified values must have the same numbers.
#[test]
fn every_operation_and_every_rule_is_true_of_numbers() {
    let mut choice = Random::new(2);
    for seed in 0..200 {
        let values = Values::default();
        let mut inputs = Random::new(seed);
        let mut pairs: Vec<(Value<'_>, u64)> = values
            .words::<3>("x")
            .map(|word| (word, inputs.number()))
            .to_vec();
        for x in [0, 1, u64::MAX, choice.number()] {
            pairs.push((Value::splat(&values, x), u64::splat(Portable, x)));
        }
        for _ in 0..100 {
            let mut pick = || pairs[choice.number() as usize % pairs.len()];
            let ((a, x), (b, y)) = (pick(), pick());
            pairs.push(match choice.number() % 10 {
                7 => (a.add(b).sub(a), Word::sub(Word::add(x, y), x)),
                8 => (a.xor(b).xor(a), Word::xor(Word::xor(x, y), x)),
                9 => (a.rotl::<20>().rotr::<44>(), x.rotl::<20>().rotr::<44>()),
                0 => (a.add(b), Word::add(x, y)),
                1 => (a.sub(b), Word::sub(x, y)),
                2 => (a.xor(b), Word::xor(x, y)),
                3 => (a.mul_lo32(b), x.mul_lo32(y)),
                4 => (a.rotl::<13>(), x.rotl::<13>()),
                5 => (a.rotr::<51>(), x.rotr::<51>()),
                _ => bytes_of((a, x), (b, y), choice.number()),
            });
        }
        for (value, x) in pairs {
            let needed = values.needed(&[value.number]);
            let results = values.run(&mut Random::new(seed), &needed);
            assert_eq!(results[value.number as usize], x, "seed {seed}");
        }
    }
}

/// A word of the bytes of two: all of the first, or some of each, one of them padded.
fn bytes_of<'a>(
    (a, x): (Value<'a>, u64),
    (b, y): (Value<'a>, u64),
    choice: u64,
) -> (Value<'a>, u64) {
    let (mut bytes, others) = (a.to_le_bytes(), b.to_le_bytes());
    let (mut numbers, other_numbers) = (Scalar::to_le_bytes(x), Scalar::to_le_bytes(y));
    for i in (0..8).filter(|i| choice & 1 == 1 && choice >> (i + 1) & 1 == 1) {
        (bytes[i], numbers[i]) = (others[i], other_numbers[i]);
    }
    if choice >> 9 & 3 == 3 {
        let bits = (choice >> 11) as u32 % 7 + 1;
        bytes[3] = Value::pad(bytes[3], bits);
        numbers[3] = u64::pad(numbers[3], bits);
        bytes[4] = Value::keep(bytes[4], bits);
        numbers[4] = u64::keep(numbers[4], bits);
        bytes[5] = Value::xor_bytes(bytes[5], others[6]);
        numbers[5] = u64::xor_bytes(numbers[5], other_numbers[6]);
    }
    (
        Value::from_le_bytes(bytes),
        <u64 as Scalar>::from_le_bytes(numbers),
    )
}

#[test]
fn rules_are_applied() {
    let values = Values::default();
    let [a, b] = values.words("x");
    let is_same = |a: Value<'_>, b: Value<'_>| a.number == b.number;
    assert!(is_same(a.add(b), b.add(a)));
    assert!(is_same(a.xor(b), b.xor(a)));
    assert!(!is_same(a.sub(b), b.sub(a)));
    assert!(is_same(a.rotl::<10>(), a.rotr::<54>()));
    assert!(!is_same(a.rotl::<10>(), a.rotr::<10>()));
    assert!(is_same(a.rotl::<10>().rotr::<10>(), a));
    assert!(is_same(a.rotr::<10>().rotr::<10>(), a.rotr::<20>()));
    assert!(is_same(a.add(b).sub(b), a) && is_same(b.add(a).sub(b), a));
    assert!(is_same(a.xor(b).xor(b), a) && is_same(b.xor(a.xor(b)), a));
    let zero = Value::splat(&values, 0);
    assert!(is_same(a.xor(zero), a) && is_same(zero.xor(a), a) && !is_same(a.xor(zero), zero));
    assert!(!is_same(a.sub(b).sub(b), a));
    assert!(is_same(Value::from_le_bytes(a.to_le_bytes()), a));
    let mut bytes = a.to_le_bytes();
    bytes.swap(0, 1);
    let swapped = Value::from_le_bytes(bytes);
    assert!(!is_same(swapped, a));
    assert!(is_same(swapped.to_le_bytes()[0].0, a.to_le_bytes()[1].0));
    let [two, three] = [2, 3].map(|x| Value::splat(&values, x));
    assert!(is_same(two.add(three), Value::splat(&values, 5)));
    assert!(is_same(
        Value::f(&[a; 8], &[b; 16], &[two; 2], three)[5],
        Value::f(&[a; 8], &[b; 16], &[two; 2], three)[5]
    ));
    assert!(!is_same(
        Value::f(&[a; 8], &[b; 16], &[two; 2], three)[5],
        Value::f(&[a; 8], &[b; 16], &[two; 2], two)[5]
    ));
}

#[test]
fn values_not_known_to_be_equal_are_not_proved() {
    let values = Values::default();
    let [a, b, c] = values.words("x");
    let verdict = compare_words(&values, &[a.add(b).add(c)], &[a.add(b.add(c))]);
    assert_eq!(verdict.name(), "UNPROVED");
    let verdict = compare_words(&values, &[a.add(b)], &[a]);
    assert_eq!(verdict.name(), "REFUTED");
    assert_eq!(compare_words(&values, &[], &[]).name(), "UNPROVED");
    assert_eq!(compare_words(&values, &[a, b], &[a]).name(), "UNPROVED");
}

/// Compares padding and cutting of the source with those of the specification. Each is one
/// operation here.
#[test]
fn padding_and_cutting_are_what_the_specification_says() {
    for (byte, bits) in (0..=255).flat_map(|byte| (1..8).map(move |bits| (byte, bits))) {
        let specified = Numbers.mark(&byte, bits);
        assert_eq!(u64::pad(byte, bits as u32), specified, "{byte}, {bits}");
        let specified = Numbers.first(&byte, bits);
        assert_eq!(u64::keep(byte, bits as u32), specified, "{byte}, {bits}");
    }
}
