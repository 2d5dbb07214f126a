//! Evaluates formulas on numbers, as a solver would.

use crate::lemma::Case;
use crate::lemma::expression::{Entry, Formula, Operator};

/// The value of each entry over the integers; truths are 1 or 0. If a divisor is zero, no result
/// depends on the value.
pub(super) fn values(formula: &Formula, case: &Case<u64>) -> Vec<i128> {
    values_of(formula, &|name| input(case, name))
}

/// The same with these inputs.
pub(super) fn values_of(formula: &Formula, input: &dyn Fn(&str) -> u64) -> Vec<i128> {
    let mut values = Vec::new();
    for entry in formula.entries() {
        let value = match entry {
            Entry::Constant(x) => x.into(),
            Entry::Input(name) => input(name).into(),
            Entry::Join(high, low) => (values[high] << 32) + values[low],
            Entry::Apply(operator, arguments) => {
                let arguments: Vec<_> = arguments.iter().map(|a| values[*a]).collect();
                apply(operator, &arguments)
            }
        };
        values.push(value);
    }
    values
}

fn input(case: &Case<u64>, name: &str) -> u64 {
    match name {
        "lanes" => case.lanes,
        "length" => case.length,
        "lane" => case.lane,
        "index" => case.index,
        "j2" => case.word >> 32,
        "j1" => case.word & 0xffff_ffff,
        _ => panic!("no input {name}"),
    }
}

fn apply(operator: Operator, arguments: &[i128]) -> i128 {
    match (operator, arguments) {
        (Operator::Add, [a, b]) => a + b,
        (Operator::Subtract, [a, b]) => a - b,
        (Operator::Multiply, [a, b]) => a.wrapping_mul(*b),
        (Operator::Divide, [a, b]) => a.checked_div_euclid(*b).unwrap_or(0),
        (Operator::Remainder, [a, b]) => a.checked_rem_euclid(*b).unwrap_or(0),
        (Operator::Select, [truth, yes, no]) => *if *truth == 1 { yes } else { no },
        (Operator::Below, [a, b]) => (a < b).into(),
        (Operator::Equal, [a, b]) => (a == b).into(),
        (Operator::And, [a, b]) => a & b,
        (Operator::Or, [a, b]) => a | b,
        (Operator::Not, [a]) => 1 - a,
        _ => panic!("{operator:?} of {} arguments", arguments.len()),
    }
}
