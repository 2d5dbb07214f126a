//! Formulas as text in SMT-LIB 2, the language that solvers read.

use super::expression::{Entry, Formula, Operator, Truth};
use std::fmt::Write;

/// Asks whether inputs of `formula` exist that satisfy all `premises` but not `claim`.
pub(super) fn question(formula: &Formula, premises: &[Truth<'_>], claim: Truth<'_>) -> String {
    let mut text = assumptions(formula, premises);
    text += &format!("(assert (not n{}))\n(check-sat)\n", claim.entry);
    text
}

/// Asks whether inputs of `formula` exist that satisfy all `premises`.
pub(super) fn possible(formula: &Formula, premises: &[Truth<'_>]) -> String {
    assumptions(formula, premises) + "(check-sat)\n"
}

fn assumptions(formula: &Formula, premises: &[Truth<'_>]) -> String {
    let mut text = String::from("(set-option :produce-models true)\n(set-logic QF_NIA)\n");
    for (number, entry) in formula.entries().iter().enumerate() {
        define(&mut text, number, entry);
    }
    for premise in premises {
        text += &format!("(assert n{})\n", premise.entry);
    }
    text
}

/// Asks for the inputs' values, after an answer `sat`.
pub(super) fn values(formula: &Formula) -> String {
    let entries = formula.entries();
    let names: Vec<_> = entries.iter().filter_map(name).collect();
    format!("(get-value ({}))\n", names.join(" "))
}

fn name(entry: &Entry) -> Option<&str> {
    match entry {
        Entry::Input(name) => Some(name),
        _ => None,
    }
}

fn define(text: &mut String, number: usize, entry: &Entry) {
    let result = match entry {
        Entry::Constant(x) => writeln!(text, "(define-fun n{number} () Int {x})"),
        Entry::Input(name) => writeln!(
            text,
            "(declare-const {name} Int)
\
             (assert (and (<= 0 {name}) (< {name} 4294967296)))
\
             (define-fun n{number} () Int {name})"
        ),
        Entry::Join(high, low) => {
            writeln!(
                text,
                "(define-fun n{number} () Int (+ (* 4294967296 n{high}) n{low}))"
            )
        }
        Entry::Apply(operator, arguments) => {
            let (symbol, sort) = symbol(*operator);
            let arguments: String = arguments.iter().map(|a| format!(" n{a}")).collect();
            writeln!(
                text,
                "(define-fun n{number} () {sort} ({symbol}{arguments}))"
            )
        }
    };
    result.expect("a string takes all");
}

/// Its symbol, and the sort of its result. `div` and `mod` round down, because divisors are
/// positive.
fn symbol(operator: Operator) -> (&'static str, &'static str) {
    match operator {
        Operator::Add => ("+", "Int"),
        Operator::Subtract => ("-", "Int"),
        Operator::Multiply => ("*", "Int"),
        Operator::Divide => ("div", "Int"),
        Operator::Remainder => ("mod", "Int"),
        Operator::Select => ("ite", "Int"),
        Operator::Below => ("<", "Bool"),
        Operator::Equal => ("=", "Bool"),
        Operator::And => ("and", "Bool"),
        Operator::Or => ("or", "Bool"),
        Operator::Not => ("not", "Bool"),
    }
}
