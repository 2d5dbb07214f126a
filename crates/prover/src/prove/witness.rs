//! A solver finds one input of very many that refutes a claim.
//!
//! Samples do not find it, so without a solver the verdict is UNPROVED. The prover does not trust
//! the solver: it runs the function again on the solver's numbers, on this CPU too if it has the
//! instructions. If the run does not confirm the error, the verdict stays. No proof needs a solver.
//!
//! The prover asks about outputs, about registers that must be restored, and about what must not
//! depend on inputs: branches, addresses, and the numbers of shifts and divisions. The formulas of
//! a loop that was cut contain words that may never occur. So the function runs again, without
//! cuts. About any number of elements, the prover asks with a few (`contract/few.rs`). If the
//! formulas of the code or of the specification become too long then, it asks no question.

use super::cut::are_short;
use super::runs::{self, NativeRuns};
use super::{Ends, Finding, Layout, Session, Subject, WRONG_OUTPUT, outputs_of};
use crate::contract::few::Few;
use crate::contract::{Cell, Contents, Contract};
use crate::exec::{CLOBBERED, Reason, Stop};
use crate::solver::Solver;
use crate::term::{Bit, Terms, Word, constant, read_values, value};
use crate::verdict::Verdict;
use std::collections::BTreeMap;

/// The greatest length of formulas that a solver is asked about, if a loop was cut without it.
const LONGEST: usize = 1 << 22;

/// A run, and the words of the bases of its addresses.
type Run<'a> = (&'a Result<Ends, Stop>, &'a [Word]);

/// Values of atoms.
type Values = BTreeMap<usize, bool>;

impl Session {
    /// Asks this solver for an input if samples do not refute. A contract of any number of elements
    /// that is not proved is tried with a few elements, on samples too.
    #[must_use]
    pub fn with_solver(self, solver: Solver) -> Self {
        let solver = Some(solver);
        Self { solver, ..self }
    }

    /// The verdict on any number of elements, or a refutation with a few of them.
    pub(super) fn with_few_elements(
        &mut self,
        subject: Subject<'_>,
        contract: &Contract,
        verdict: Verdict,
    ) -> Verdict {
        if self.solver.is_none() || !matches!(verdict, Verdict::Unproved(_)) {
            return verdict;
        }
        let longest = self.most_length;
        self.most_length = longest.min(LONGEST);
        let mut few = contract.of_few().into_iter();
        let refuted = few.find_map(|few| self.refuted_with(subject, &few));
        self.most_length = longest;
        refuted.unwrap_or(verdict)
    }

    fn refuted_with(&mut self, subject: Subject<'_>, few: &Few) -> Option<Verdict> {
        let (image, symbol, processor) = subject;
        let contract = &few.contract;
        let layout = Layout::new(image, contract, |start, known| self.base(start, known)).ok()?;
        let contents = self.contents(contract, &layout);
        if !few.is_short(&mut self.terms, &contents, self.most_length) {
            return None;
        }
        match self.prove(image, symbol, contract, processor).verdict {
            Verdict::Refuted(why) => Some(Verdict::Refuted(format!("{why}; {}", few.number))),
            _ => None,
        }
    }

    /// The verdict with a refuting input, if the solver finds one.
    pub(super) fn witness(
        &mut self,
        subject: Subject<'_>,
        (contract, layout): (&Contract, &Layout),
        contents: &Contents<Word>,
        run: Run<'_>,
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
        let mut finding = Finding::new();
        let run = self.run(subject, contract, layout, contents, &mut finding);
        let run = (&run, &finding.bases[..]);
        let witness = self.witness_of(subject, (contract, layout), contents, run);
        (self.cuts_loops, self.most_length) = (true, longest);
        witness
    }

    /// The same, of a run without cuts.
    fn witness_of(
        &mut self,
        subject: Subject<'_>,
        (contract, layout): (&Contract, &Layout),
        contents: &Contents<Word>,
        (run, bases): Run<'_>,
    ) -> Option<Verdict> {
        let differences = self.differences(run, bases)?;
        let values = self.ask(&differences)?;
        let bit_of = |bit: Bit| values.get(&bit.atom()?).copied();
        let inputs = self.numbers(contract, contents, &bit_of);
        let place = (contract, layout);
        match run {
            Ok(_) => self.wrong_output(subject, place, &inputs),
            Err(stop) if matches!(stop.reason, Reason::Secret(CLOBBERED, _)) => {
                self.not_restored(subject, place, &inputs)
            }
            Err(stop) => {
                let terms = &self.terms;
                let first = |bit: Bit| Some(first_sample(terms, bit));
                let others = self.numbers(contract, contents, &first);
                self.other_decision(subject, place, [&inputs, &others], stop)
            }
        }
    }

    /// Pairs of bits that may differ although samples agree: outputs and required outputs, a change
    /// of a register and zero, or a decision and its value on the first sample.
    fn differences(&mut self, run: &Result<Ends, Stop>, bases: &[Word]) -> Option<Vec<(Bit, Bit)>> {
        let stop = match run {
            Ok(Ends { outputs, expected }) => {
                let expected = expected.iter().flatten().flatten();
                let words = outputs.iter().flatten().zip(expected);
                let bits = words.flat_map(|(a, b)| a.iter().copied().zip(b.iter().copied()));
                return Some(bits.filter(|(a, b)| a != b).collect());
            }
            Err(stop) => stop,
        };
        match &stop.reason {
            Reason::Secret(CLOBBERED, change) => {
                Some(change.iter().map(|bit| (*bit, Bit::ZERO)).collect())
            }
            Reason::Secret(_, word) => {
                let word = without_base(&mut self.terms, word, bases)?;
                let first = |bit: &Bit| Bit::from(first_sample(&self.terms, *bit));
                Some(word.iter().map(|bit| (*bit, first(bit))).collect())
            }
            _ => None,
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
        let ends = self.run_on(subject, (contract, layout), inputs).ok()?;
        let (output, word) = wrong_word(&ends)?;
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

    /// Whether a register that belongs to the caller has another value at the end, with these
    /// numbers.
    fn not_restored(
        &mut self,
        subject: Subject<'_>,
        place: (&Contract, &Layout),
        inputs: &Contents<Word>,
    ) -> Option<Verdict> {
        let Err(stop) = self.run_on(subject, place, inputs) else {
            return None;
        };
        let Reason::Secret(CLOBBERED, change) = &stop.reason else {
            return None;
        };
        value(change).filter(|change| *change != 0)?;
        let at = subject.0.describe(stop.at);
        let with = runs::show(place.0, &shown(inputs));
        Some(Verdict::Refuted(format!(
            "{CLOBBERED} is not restored, at {at}, with {with}"
        )))
    }

    /// Whether the function decides differently for these numbers, where it has stopped.
    fn other_decision(
        &mut self,
        subject: Subject<'_>,
        place: (&Contract, &Layout),
        inputs: [&Contents<Word>; 2],
        stop: &Stop,
    ) -> Option<Verdict> {
        let Reason::Secret(what, _) = stop.reason else {
            return None;
        };
        let [one, other] = inputs.map(|inputs| self.decided(subject, place, inputs, stop));
        if one == other || one.is_empty() || other.is_empty() {
            return None;
        }
        let [one, other] = inputs.map(|inputs| runs::show(place.0, &shown(inputs)));
        let at = subject.0.describe(stop.at);
        Some(Verdict::Refuted(format!(
            "{what} depends on the input, at {at}: it differs with {one}, and with {other}"
        )))
    }

    /// The numbers by which the function decides for these inputs, where it has stopped.
    fn decided(
        &mut self,
        subject: Subject<'_>,
        (contract, layout): (&Contract, &Layout),
        inputs: &Contents<Word>,
        stop: &Stop,
    ) -> Vec<u64> {
        let mut finding = Finding::new();
        self.decision = Some((stop.at, stop.visits));
        // Only what it decides there counts, not how it ends.
        drop(self.run(subject, contract, layout, inputs, &mut finding));
        self.decision = None;
        finding.decided
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
                    | Cell::Byte(_)
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
    ) -> Result<Ends, Stop> {
        self.run(subject, contract, layout, inputs, &mut Finding::new())
    }
}

/// The word, or its distance from the base on which it depends. `None` if it depends on bases in
/// another way.
fn without_base(terms: &mut Terms, word: &Word, bases: &[Word]) -> Option<Word> {
    let is_free = |terms: &Terms, word: &Word| {
        let mut bits = word.iter();
        !bits.any(|bit| terms.depends_on_address(*bit))
    };
    if is_free(terms, word) {
        return Some(word.clone());
    }
    let bases = bases.iter().filter(|base| base.len() == word.len());
    let distances: Vec<Word> = bases.map(|base| terms.sub(word, base)).collect();
    distances.into_iter().find(|word| is_free(terms, word))
}

/// The value of a bit on the first sample.
fn first_sample(terms: &Terms, bit: Bit) -> bool {
    terms.bit_samples(bit) & 1 == 1
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
