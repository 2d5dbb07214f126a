//! Questions to solvers, read by a small interpreter: on each sample, what is defined in a question
//! has the value that the formula has.

use super::*;
use std::collections::BTreeMap;

/// A number of as many bits, the least significant first; a truth value is one of one bit.
type Number = Vec<bool>;

#[derive(Debug)]
enum Expression {
    Name(String),
    List(Vec<Self>),
}
use Expression::{List, Name};

/// All expressions of a text, one after the other.
fn parse(text: &str) -> Vec<Expression> {
    let mut lists = vec![Vec::new()];
    for token in text
        .replace('(', " ( ")
        .replace(')', " ) ")
        .split_whitespace()
    {
        match token {
            "(" => lists.push(Vec::new()),
            ")" => {
                let list = List(lists.pop().expect("a list that has begun"));
                lists.last_mut().expect("no more ends").push(list);
            }
            _ => lists.last_mut().expect("a list").push(Name(token.into())),
        }
    }
    assert_eq!(lists.len(), 1, "all lists end");
    lists.remove(0)
}

fn name(expression: &Expression) -> &str {
    match expression {
        Name(name) => name,
        List(_) => panic!("no name: {expression:?}"),
    }
}

fn list(expression: &Expression) -> &[Expression] {
    match expression {
        List(list) => list,
        Name(_) => panic!("no list: {expression:?}"),
    }
}

fn added(a: &[bool], b: &[bool]) -> Number {
    assert_eq!(a.len(), b.len());
    let mut carry = false;
    let bits = a.iter().zip(b).map(|(a, b)| {
        let count = [*a, *b, carry].into_iter().filter(|bit| *bit).count();
        carry = count > 1;
        count % 2 == 1
    });
    bits.collect()
}

/// `a`, `places` places higher, modulo the same power of two.
fn higher(a: &[bool], places: usize) -> Number {
    let zeros = core::iter::repeat_n(false, places);
    zeros.chain(a.iter().copied()).take(a.len()).collect()
}

fn product(a: &[bool], b: &[bool]) -> Number {
    let ones = (0..b.len()).filter(|place| b[*place]);
    ones.fold(vec![false; a.len()], |sum, place| {
        added(&sum, &higher(a, place))
    })
}

/// By subtracting the divisor where that leaves no borrow, from the highest place down.
fn remainder(a: &[bool], divisor: &[bool]) -> Number {
    let negative: Number = divisor.iter().map(|bit| !bit).collect();
    let one = decimal("1", divisor.len());
    let negative = added(&negative, &one);
    a.iter().rev().fold(vec![false; a.len()], |rest, bit| {
        let mut rest = higher(&rest, 1);
        rest[0] = *bit;
        let is_below = rest.iter().rev().lt(divisor.iter().rev());
        if is_below {
            rest
        } else {
            added(&rest, &negative)
        }
    })
}

fn decimal(digits: &str, width: usize) -> Number {
    let mut number = vec![false; width];
    for digit in digits.bytes() {
        let (twice, eight) = (higher(&number, 1), higher(&number, 3));
        let digit = (0..width).map(|i| i < 8 && (digit - b'0') >> i & 1 == 1);
        number = added(&added(&twice, &eight), &digit.collect::<Number>());
    }
    number
}

/// The values that have been computed, by name.
type Known = BTreeMap<String, Number>;

fn evaluated(expression: &Expression, known: &Known) -> Number {
    let parts = match expression {
        Name(name) => match &name[..] {
            "true" | "#b1" => return vec![true],
            "false" => return vec![false],
            _ => return known[name].clone(),
        },
        List(parts) => parts,
    };
    let all = || parts[1..].iter().map(|part| evaluated(part, known));
    let both = || (evaluated(&parts[1], known), evaluated(&parts[2], known));
    let number = |part: &Expression| name(part).parse::<usize>().expect("a number");
    if let List(indexed) = &parts[0] {
        let [operand] = &parts[1..] else {
            panic!("one operand: {parts:?}");
        };
        let mut operand = evaluated(operand, known);
        match name(&indexed[1]) {
            "extract" => return operand[number(&indexed[3])..=number(&indexed[2])].to_vec(),
            "zero_extend" => operand.resize(operand.len() + number(&indexed[2]), false),
            other => panic!("unknown: {other}"),
        }
        return operand;
    }
    match name(&parts[0]) {
        "_" => {
            let digits = name(&parts[1]).strip_prefix("bv").expect("a number");
            decimal(digits, number(&parts[2]))
        }
        "xor" => vec![all().fold(false, |sum, bit| sum ^ bit[0])],
        "and" => vec![all().all(|bit| bit[0])],
        "or" => vec![all().any(|bit| bit[0])],
        "bvadd" => all().reduce(|a, b| added(&a, &b)).expect("operands"),
        // The highest part first.
        "concat" => all()
            .reduce(|high, low| [low, high].concat())
            .expect("operands"),
        "bvmul" => {
            let (a, b) = both();
            product(&a, &b)
        }
        "bvurem" => {
            let (a, b) = both();
            remainder(&a, &b)
        }
        "=" => {
            let (a, b) = both();
            assert_eq!(a.len(), b.len());
            vec![a == b]
        }
        "ite" => {
            let is_so = evaluated(&parts[1], known)[0];
            evaluated(&parts[if is_so { 2 } else { 3 }], known)
        }
        "let" => {
            let mut known = known.clone();
            for pair in list(&parts[1]) {
                let [Name(name), value] = list(pair) else {
                    panic!("a name and its value: {pair:?}");
                };
                known.insert(name.clone(), evaluated(value, &known));
            }
            evaluated(&parts[2], &known)
        }
        other => panic!("unknown: {other}"),
    }
}

/// Asks where the bits are 1. Whatever the question defines is what it is on the samples.
fn is_asked_right(terms: &Terms, bits: &[Bit]) {
    let pairs: Vec<(Bit, Bit)> = bits.iter().map(|bit| (*bit, Bit::ZERO)).collect();
    let commands = parse(&terms.where_differ(&pairs).unwrap());
    for sample in 0..SAMPLES {
        let mut known = Known::new();
        let mut asked = Vec::new();
        for command in &commands {
            let parts = list(command);
            let value = match name(&parts[0]) {
                "declare-const" => None,
                "define-fun" => Some(evaluated(&parts[4], &known)),
                "assert" => {
                    let is_one = |bit: &Bit| terms.bit_samples(*bit) >> sample & 1 == 1;
                    let differ = vec![bits.iter().any(is_one)];
                    assert_eq!(evaluated(&parts[1], &known), differ);
                    continue;
                }
                "get-value" => {
                    let names = list(&parts[1]).iter().map(name);
                    assert!(names.eq(asked.iter().copied()), "all that is not defined");
                    continue;
                }
                _ => continue,
            };
            let name = name(&parts[1]);
            if value.is_none() {
                asked.push(name);
            }
            let value = match name.strip_prefix('a') {
                Some(atom) => {
                    let samples = terms.atom_samples[atom.parse::<usize>().unwrap()];
                    let right = vec![samples >> sample & 1 == 1];
                    assert_eq!(value.as_ref().unwrap_or(&right), &right, "{name}");
                    right
                }
                None => value.expect("terms are defined"),
            };
            known.insert(name.into(), value);
        }
        assert!(known.len() > bits.len());
    }
}

#[test]
fn sums_products_and_bytes_are_asked_right() {
    let mut terms = Terms::new(1);
    let (x, y) = (terms.input(8), terms.input(8));
    let sum = terms.sum(12, &[(5, &x), (u128::MAX, &y)], 77);
    let product = terms.product_of(&sum, &x);
    is_asked_right(&terms, &product);
    let byte = terms.substitute(&product[5..13]);
    is_asked_right(&terms, &byte);
    let zero = terms.is_zero(&byte);
    is_asked_right(&terms, &[zero, sum[3]]);
}

#[test]
fn what_stands_for_a_long_sum_is_asked_right() {
    let mut terms = Terms::new(1);
    let [p, q] = [9, 8].map(|count| {
        let bits = terms.input(count);
        let sum = bits.iter().fold(Bit::ONE, |sum, bit| terms.xor(sum, *bit));
        let product = terms.and(bits[1], bits[3]);
        terms.xor(sum, product)
    });
    let product = terms.and(p, q);
    assert!(terms.wrapped.len() == 2);
    is_asked_right(&terms, &[product, p, q]);
}

#[test]
fn residues_are_asked_right() {
    let mut terms = Terms::new(1);
    let r = [(); 2].map(|()| terms.input(64));
    let coefficients = [(); 2].map(|()| [(); 3].map(|()| terms.input(64)));
    let residue = terms.residue(&r, &coefficients);
    is_asked_right(&terms, &residue.concat());
}
