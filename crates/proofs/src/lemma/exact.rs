//! The conditions under which the integers of a formula are the machine words of the code.

use super::expression::{Entry, Expression, Formula, Operator, Truth};
use super::number::{at_most, implies};
use sealstone_lanes::{Index, Word};
use std::collections::HashMap;

/// Whether every operation that `results` depend on has the same result on integers and on machine
/// words.
///
/// The rule for each operation is in [`condition`]. In a selection, only the selected value counts.
/// The other may have any value.
pub(super) fn is_exact<'f>(results: &[Expression<'f>]) -> Option<Truth<'f>> {
    let formula = results.first()?.formula;
    let mut conditions = Conditions {
        formula,
        entries: formula.entries(),
        known: HashMap::new(),
    };
    let all = results.iter().map(|result| conditions.of(result.entry));
    all.collect::<Vec<_>>()
        .into_iter()
        .flatten()
        .reduce(|a, b| a & b)
}

struct Conditions<'f> {
    formula: &'f Formula,
    entries: Vec<Entry>,
    known: HashMap<usize, Option<Truth<'f>>>,
}

impl<'f> Conditions<'f> {
    /// The condition of this entry and of all its dependencies; `None` for constants and inputs.
    fn of(&mut self, entry: usize) -> Option<Truth<'f>> {
        if let Some(known) = self.known.get(&entry) {
            return *known;
        }
        let truth = match self.entries[entry].clone() {
            Entry::Constant(_) | Entry::Input(_) | Entry::Join(..) => None,
            Entry::Apply(Operator::Select, arguments) => self.of_selection(&arguments),
            Entry::Apply(operator, arguments) => {
                let mut all: Vec<_> = arguments.iter().filter_map(|a| self.of(*a)).collect();
                let numbers: Vec<_> = arguments.iter().map(|a| self.number(*a)).collect();
                all.extend(condition(self.formula, operator, &numbers));
                all.into_iter().reduce(|a, b| a & b)
            }
        };
        self.known.insert(entry, truth);
        truth
    }

    fn of_selection(&mut self, arguments: &[usize]) -> Option<Truth<'f>> {
        let chosen = Truth {
            formula: self.formula,
            entry: arguments[0],
        };
        let parts = [
            self.of(arguments[0]),
            self.of(arguments[1]).map(|yes| implies(chosen, yes)),
            self.of(arguments[2]).map(|no| implies(!chosen, no)),
        ];
        parts.into_iter().flatten().reduce(|a, b| a & b)
    }

    fn number(&self, entry: usize) -> Expression<'f> {
        Expression {
            formula: self.formula,
            entry,
        }
    }
}

/// The condition under which the operation, as [`Index`] documents it, is that of integers. Its
/// arguments are machine words.
fn condition<'f>(
    formula: &'f Formula,
    operator: Operator,
    arguments: &[Expression<'f>],
) -> Option<Truth<'f>> {
    let number = |x| Expression::splat(formula, x);
    let below_2_32 = |x: Expression<'f>| x.is_below(number(1 << 32));
    match (operator, arguments) {
        // No carry out of 64 bits.
        (Operator::Add, [a, b]) => Some(at_most(*a + *b, number(u64::MAX))),
        // No borrow.
        (Operator::Subtract, [a, b]) => Some(at_most(*b, *a)),
        // The low halves are the whole numbers, so that the product has at most 64 bits.
        (Operator::Multiply, [a, b]) => Some(below_2_32(*a) & below_2_32(*b)),
        // The divisor is a power of two, not zero: this is a shift.
        (Operator::Divide, _) => None,
        (Operator::Remainder, [a, b]) => {
            Some(below_2_32(*a) & below_2_32(*b) & number(0).is_below(*b))
        }
        _ => None,
    }
}
