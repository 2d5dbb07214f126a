//! A solver finds one input of very many that refutes a claim.
//!
//! Samples do not find it, so without a solver the verdict is UNPROVED. The prover does not trust
//! the solver: it runs the function again on the solver's numbers, on this CPU too if it has the
//! instructions. If the run does not confirm the error, the verdict stays. No proof needs a solver.
//!
//! The prover asks about outputs and branches. The formulas of a loop that was cut contain words
//! that may never occur. So the function runs again, without cuts. If its formulas, or those of the
//! specification, become too long then, the prover asks no question. It asks none about loops of
//! any length: contracts of a few elements can stand beside those of any number.

use super::cut::are_short;
use super::runs::{self, NativeRuns};
use super::{Ends, Finding, Layout, Session, Subject, WRONG_OUTPUT, outputs_of};
use crate::contract::{Cell, Contents, Contract};
use crate::exec::{BRANCH, Reason, Stop};
use crate::solver::Solver;
use crate::term::{Bit, Word, constant, read_values, value};
use crate::verdict::Verdict;
use std::collections::BTreeMap;

/// The greatest length of formulas that a solver is asked about, if a loop was cut without it.
const LONGEST: usize = 1 << 22;

/// Values of atoms.
type Values = BTreeMap<usize, bool>;

/// The outcome of a run on numbers.
#[derive(PartialEq, Eq)]
struct Path {
    steps: u64,
    instructions: Vec<u64>,
}

impl Session {
    /// Asks this solver for an input if samples do not refute.
    #[must_use]
    pub fn with_solver(self, solver: Solver) -> Self {
        let solver = Some(solver);
        Self { solver, ..self }
    }

    /// The verdict with a refuting input, if the solver finds one.
    pub(super) fn witness(
        &mut self,
        subject: Subject<'_>,
        (contract, layout): (&Contract, &Layout),
        contents: &Contents<Word>,
        run: &Result<Ends, Stop>,
    ) -> Option<Verdict> {
        let Some(steps) = &contract.steps else {
            return self.witness_of(subject, (contract, layout), contents, run);
        };
        let longest = self.most_length;
        let most = longest.min(LONGEST);
        if self.solver.is_none() || !are_short(&mut self.terms, steps, contents, most) {
            return None;
        }
        (self.cuts_loops, self.most_length) = (false, most);
        let run = self.run(subject, contract, layout, contents, &mut Finding::new());
        let witness = self.witness_of(subject, (contract, layout), contents, &run);
        (self.cuts_loops, self.most_length) = (true, longest);
        witness
    }

    /// The same, of a run without cuts.
    fn witness_of(
        &mut self,
        subject: Subject<'_>,
        (contract, layout): (&Contract, &Layout),
        contents: &Contents<Word>,
        run: &Result<Ends, Stop>,
    ) -> Option<Verdict> {
        let values = self.ask(&self.differences(run)?)?;
        let bit_of = |bit: Bit| values.get(&bit.atom()?).copied();
        let inputs = self.numbers(contract, contents, &bit_of);
        match run {
            Ok(_) => self.wrong_output(subject, (contract, layout), &inputs),
            Err(stop) => {
                let terms = &self.terms;
                let first = |bit: Bit| Some(terms.bit_samples(bit) & 1 == 1);
                let others = self.numbers(contract, contents, &first);
                self.other_path(subject, (contract, layout), [&inputs, &others], stop)
            }
        }
    }

    /// Pairs of bits that may differ although samples agree: outputs and required outputs, or a
    /// branch's condition and its value on the first sample.
    fn differences(&self, run: &Result<Ends, Stop>) -> Option<Vec<(Bit, Bit)>> {
        match run {
            Ok(Ends { outputs, expected }) => {
                let expected = expected.iter().flatten().flatten();
                let words = outputs.iter().flatten().zip(expected);
                let bits = words.flat_map(|(a, b)| a.iter().copied().zip(b.iter().copied()));
                Some(bits.filter(|(a, b)| a != b).collect())
            }
            Err(Stop {
                reason: Reason::Secret(BRANCH, word),
                ..
            }) => {
                let first = |bit: &Bit| Bit::from(self.terms.bit_samples(*bit) & 1 == 1);
                Some(word.iter().map(|bit| (*bit, first(bit))).collect())
            }
            Err(_) => None,
        }
    }

    fn ask(&mut self, pairs: &[(Bit, Bit)]) -> Option<Values> {
        // Common terms of both cancel. The rest may be small.
        let differences = pairs
            .iter()
            .map(|(a, b)| (self.terms.xor(*a, *b), Bit::ZERO));
        let differences: Vec<_> = differences.collect();
        let question = self.terms.where_differ(&differences)?;
        let answer = self.solver.as_ref()?.run(&question).ok()?;
        read_values(&answer)
    }

    /// Whether an output is wrong for these numbers.
    fn wrong_output(
        &mut self,
        subject: Subject<'_>,
        (contract, layout): (&Contract, &Layout),
        inputs: &Contents<Word>,
    ) -> Option<Verdict> {
        let (ends, _) = self.run_on(subject, (contract, layout), inputs);
        let (output, word) = wrong_word(&ends?)?;
        let name = &outputs_of(contract)[output];
        let input = runs::show(contract, &shown(inputs));
        let mut why = format!("{WRONG_OUTPUT} {name}, word {word}, with {input}");
        let (image, symbol, processor) = subject;
        if processor.is_here {
            let place = (contract, layout);
            let mut native = NativeRuns::new(&self.terms, image, symbol, place, inputs).ok()?;
            native.wrong_sample()?;
            why += "; reproduced natively";
        }
        Some(Verdict::Refuted(why))
    }

    /// Whether the function takes different paths for these numbers.
    fn other_path(
        &mut self,
        subject: Subject<'_>,
        place: (&Contract, &Layout),
        inputs: [&Contents<Word>; 2],
        stop: &Stop,
    ) -> Option<Verdict> {
        let [one, other] = inputs.map(|inputs| self.run_on(subject, place, inputs).1);
        if one == other {
            return None;
        }
        let [one, other] = inputs.map(|inputs| runs::show(place.0, &shown(inputs)));
        let at = subject.0.describe(stop.at);
        Some(Verdict::Refuted(format!(
            "{BRANCH} depends on the input, at {at}: it goes another way with {one}, and with {other}"
        )))
    }

    /// The content of all buffers at the entry for these values of inputs. Other inputs are zero.
    fn numbers(
        &self,
        contract: &Contract,
        contents: &Contents<Word>,
        bit_of: &dyn Fn(Bit) -> Option<bool>,
    ) -> Contents<Word> {
        let number = |word: &Word| -> u128 {
            let bits = word.iter().enumerate();
            bits.map(|(i, bit)| u128::from(bit_of(*bit).unwrap_or(false)) << i)
                .sum()
        };
        let buffers = contract.buffers.iter().zip(contents);
        let buffers = buffers.map(|(buffer, words)| {
            let name = buffer.same_as.unwrap_or(buffer.name);
            let mut cells: Vec<Word> = Vec::with_capacity(words.len());
            for (i, (cell, word)) in buffer.cells.iter().zip(words).enumerate() {
                cells.push(match cell {
                    Cell::Input | Cell::Small(_) => constant(number(word), 64),
                    Cell::Partly { known, value } => constant(
                        number(word) & !u128::from(*known) | u128::from(known & value),
                        64,
                    ),
                    Cell::Count(_) => constant(number(&self.inputs[&(name, i)]) + 1, 64),
                    Cell::Many(_)
                    | Cell::Elements
                    | Cell::Number(_)
                    | Cell::Address(_)
                    | Cell::Inside(..) => word.clone(),
                    Cell::Xor([a, b]) => {
                        let pairs = cells[*a].iter().zip(&cells[*b]);
                        pairs.map(|(a, b)| Bit::from(a != b)).collect()
                    }
                });
            }
            cells
        });
        buffers.collect()
    }

    fn run_on(
        &mut self,
        subject: Subject<'_>,
        (contract, layout): (&Contract, &Layout),
        inputs: &Contents<Word>,
    ) -> (Option<Ends>, Path) {
        let mut finding = Finding::new();
        let run = self.run(subject, contract, layout, inputs, &mut finding);
        let path = Path {
            steps: finding.steps,
            instructions: finding.instructions.into_keys().collect(),
        };
        (run.ok(), path)
    }
}

/// The first output with a wrong number, and the index of the word.
fn wrong_word(ends: &Ends) -> Option<(usize, usize)> {
    let expected = ends.expected.as_ref()?;
    let outputs = ends.outputs.iter().zip(expected).enumerate();
    let mut outputs = outputs.map(|(output, (words, expected))| {
        let mut words = words.iter().zip(expected);
        let is_wrong = |(word, right): (&Word, &Word)| {
            let (word, right) = (value(word), value(right));
            word.is_some() && right.is_some() && word != right
        };
        Some((output, words.position(is_wrong)?))
    });
    outputs.find_map(|wrong| wrong)
}

/// Numbers to show. Addresses are left out.
fn shown(inputs: &Contents<Word>) -> Contents<u64> {
    let number = |word: &Word| value(word).unwrap_or(0) as u64;
    let buffers = inputs.iter();
    let buffers = buffers.map(|cells| cells.iter().map(number).collect());
    buffers.collect()
}
