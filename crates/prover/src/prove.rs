//! A proof: one function in one image, under one contract, for every place of memory.
//!
//! Addresses are symbolic (`exec/place.rs`). A layout has the addresses of native runs.

mod contents;
mod cut;
mod few;
mod finding;
mod groups;
mod induction;
mod invariant;
mod layout;
mod runs;
mod stream;
mod trace;
mod witness;

use crate::contract::{Access, Contents, Contract};
use crate::exec::{
    CALLER_SAVED, CLOBBERED, MOST_LENGTH, MOST_STEPS, Machine, Reason, Region, Stop,
};
use crate::features::Processor;
use crate::image::{Image, Symbol};
pub use crate::native::Executed;
use crate::solver::Solver;
use crate::term::{Bit, Terms, Word};
use crate::verdict::{Residue, Verdict};
use cut::{Beside, Unknowns};
pub use finding::Finding;
use iced_x86::Instruction;
use layout::Layout;
use runs::{Decided, Decision, NativeRuns};
use std::collections::HashMap;

/// The subject of a proof: a function of an image, on a processor.
type Subject<'a> = (&'a Image, &'a Symbol, &'a Processor);

/// Formulas and inputs that several proofs share: equivalent functions have the same specification.
pub struct Session {
    terms: Terms,
    inputs: HashMap<(&'static str, usize), Word>,
    bases: HashMap<(u64, u64), Word>,
    unknowns: Unknowns,
    /// Finds witnesses.
    solver: Option<Solver>,
    /// A run with more instructions counts as endless.
    most_steps: u64,
    /// The greatest length of the formulas of a run.
    most_length: usize,
    /// Whether loops are cut where a contract has steps.
    cuts_loops: bool,
    /// A decision whose numbers a run keeps (see [`Machine::decision`]).
    decision: Option<(u64, u64)>,
}

/// The content of the compared buffers after a run, and the required content.
struct Ends {
    outputs: Contents<Word>,
    /// `None` if no iteration of its loop was found to follow the specification's steps.
    expected: Option<Contents<Word>>,
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

impl Session {
    /// A session without formulas.
    pub fn new() -> Self {
        Self {
            terms: Terms::new(0x5ea1),
            inputs: HashMap::new(),
            bases: HashMap::new(),
            unknowns: Unknowns::default(),
            solver: None,
            most_steps: MOST_STEPS,
            most_length: MOST_LENGTH,
            cuts_loops: true,
            decision: None,
        }
    }

    /// Stops a run of more than `most` instructions as endless.
    #[must_use]
    pub fn with_most_steps(self, most: u64) -> Self {
        Self {
            most_steps: most,
            ..self
        }
    }

    /// Stops a run whose formulas become longer than `most` numbers of four bytes
    /// ([`Terms::length`]). It would take endless memory and time.
    #[must_use]
    pub fn with_longest_formulas(self, most: usize) -> Self {
        Self {
            most_length: most,
            ..self
        }
    }

    /// How many formulas there are.
    pub fn size(&self) -> usize {
        self.terms.size()
    }

    /// Tries to prove that the function fulfils the contract for every place of memory, with
    /// instructions of `processor` alone. If this CPU has them, native runs reproduce a refutation
    /// by an output or a decision, and native runs of samples check a proof.
    pub fn prove(
        &mut self,
        image: &Image,
        symbol: &Symbol,
        contract: &Contract,
        processor: &Processor,
    ) -> Finding {
        let runs_here = processor.is_here;
        let mut finding = Finding::new();
        let layout = Layout::new(image, contract, |start, known| self.base(start, known));
        let layout = match layout {
            Ok(layout) => layout,
            Err(why) => {
                finding.verdict = Verdict::Unsupported(why);
                return finding;
            }
        };
        let subject = (image, symbol, processor);
        if contract.is_by_induction() {
            let verdict = self.any_number(subject, contract, &layout, &mut finding);
            finding.verdict = self.with_few_elements(subject, contract, verdict);
            return finding.explain();
        }
        let contents = self.contents(contract, &layout);
        let run = self.run(subject, contract, &layout, &contents, &mut finding);
        finding.verdict = match &run {
            Err(stop) => self.judge(image, stop),
            Ok(ends) => self.compare(contract, ends, finding.residue),
        };
        let by_samples = matches!(&run, Err(stop) if matches!(stop.reason, Reason::Secret(..)))
            || is_wrong_output(&finding.verdict) && !runs_here;
        let not_followed = Verdict::Unproved(NOT_FOLLOWED.into());
        let comparable = finding.verdict.is_proof()
            || is_wrong_output(&finding.verdict)
            || finding.verdict == not_followed;
        let place = (contract, &layout);
        let mut reproduced = false;
        if runs_here && (comparable || by_samples) {
            let native = NativeRuns::new(&self.terms, image, symbol, place, &contents);
            match (native, &run) {
                (Err(_), Err(_)) => {}
                (Err(why), Ok(_)) => {
                    finding.verdict = Verdict::Unsupported(format!("native run: {why}"));
                }
                (Ok(native), Err(stop)) => {
                    let instruction = finding.instructions.get(&stop.at);
                    reproduced = self.reproduce(native, stop, instruction, &mut finding.verdict);
                }
                (Ok(native), Ok(_)) => {
                    finding.ran_natively = true;
                    compare_natively(native, &mut finding.verdict);
                }
            }
        }
        if let (Verdict::Refuted(why), true) = (&finding.verdict, by_samples && !reproduced) {
            finding.verdict = match finding.cuts {
                0 => {
                    let inputs = self.refuting_inputs(contract, &contents, &run);
                    Verdict::Refuted(format!("{why}: {inputs}"))
                }
                _ => Verdict::Unproved(format!("{why}, after a loop was cut")),
            };
        }
        if self.solver.is_some() && matches!(finding.verdict, Verdict::Unproved(_)) {
            let run = (&run, &finding.bases[..]);
            let witness = self.witness(subject, (contract, &layout), &contents, run);
            finding.verdict = witness.unwrap_or(finding.verdict);
        }
        finding.explain()
    }

    /// The verdict on a contract of any number of elements or data of any length.
    fn any_number(
        &mut self,
        subject: Subject<'_>,
        contract: &Contract,
        layout: &Layout,
        finding: &mut Finding,
    ) -> Verdict {
        if let Some(repeats) = &contract.repeats {
            return self.by_induction(subject, (contract, repeats), layout, finding);
        }
        if let Some(stream) = &contract.stream {
            return self.any_length(subject, (contract, stream), layout, finding);
        }
        let groups = contract.groups.as_ref().expect("one of the three");
        self.any_groups(subject, (contract, groups), layout, finding)
    }

    /// A symbolic address with these low bits.
    fn base(&mut self, start: u64, known: u32) -> Word {
        let terms = &mut self.terms;
        let base = self.bases.entry((start, known.into()));
        base.or_insert_with(|| terms.base(start, known)).clone()
    }

    /// Runs the function on formulas. Returns the contents of the compared buffers after it, and
    /// the required contents.
    fn run(
        &mut self,
        subject: Subject<'_>,
        contract: &Contract,
        layout: &Layout,
        contents: &Contents<Word>,
        finding: &mut Finding,
    ) -> Result<Ends, Stop> {
        let unknowns = &mut self.unknowns;
        let (mut expected, mut beside) = (None, None);
        match contract.steps.as_ref().filter(|_| self.cuts_loops) {
            None => expected = Some((contract.formula.symbolic)(&mut self.terms, contents)),
            Some(steps) => {
                let most = self.most_length;
                let terms = &mut self.terms;
                beside = Some(Beside::new(terms, steps, contents, unknowns, most));
            }
        }
        let place = (contract, layout);
        let (mut machine, arguments) = enter(&mut self.terms, subject, place, contents);
        machine.most_steps = self.most_steps;
        machine.most_length = self.most_length + machine.terms.length();
        machine.decision = self.decision;
        let place = (layout.bases(contract), layout.stack);
        let called = machine.call_watched(subject.1.start, &arguments, place, |machine, entry| {
            match &mut beside {
                Some(beside) => beside.at_turn(machine, entry),
                None => Ok(()),
            }
        });
        finding.cuts = beside.as_ref().map_or(0, |beside| beside.cuts);
        finding.add_run(&mut machine);
        if beside.as_ref().is_some_and(|beside| beside.is_lost) {
            let (outputs, expected) = (Contents::new(), None);
            return Ok(Ends { outputs, expected });
        }
        called?;
        let left = residue_of(&machine, layout, contract);
        finding.residue = finding.residue.or(left);
        let outputs = outputs_of_run(&machine, contract, layout);
        if let Some(mut beside) = beside {
            expected = beside.end(machine.terms);
        } else if contract.integers {
            // With the numbers that the code computes in place of residues.
            let formula = &contract.formula.symbolic;
            expected = Some(self.terms.settled(|terms| formula(terms, contents)));
        }
        Ok(Ends { outputs, expected })
    }

    fn compare(
        &mut self,
        contract: &Contract,
        Ends { outputs, expected }: &Ends,
        residue: Residue,
    ) -> Verdict {
        let Some(expected) = expected else {
            return Verdict::Unproved(NOT_FOLLOWED.into());
        };
        let names = outputs_of(contract);
        if let Some(why) = misfit(&names, outputs, expected) {
            return Verdict::Unsupported(why);
        }
        let mut unproved = None;
        for ((name, outputs), expected) in names.iter().zip(outputs).zip(expected) {
            for (cell, (output, expected)) in outputs.iter().zip(expected).enumerate() {
                if output == expected {
                    continue;
                }
                let differ = differing_samples(&self.terms, output, expected);
                let place = format!("{WRONG_OUTPUT} {name}, word {cell}");
                if differ != 0 {
                    return Verdict::Refuted(format!(
                        "{place}: sample input {} gives something else",
                        differ.trailing_zeros()
                    ));
                }
                let bits = output.iter().zip(expected).filter(|(a, b)| a != b).count();
                unproved.get_or_insert(format!("{place}: {bits} bits are not shown to be equal, and no sample input tells them apart"));
            }
        }
        match unproved {
            Some(why) => Verdict::Unproved(why),
            None if contract.wipes && residue.bytes() > 0 => Verdict::Refuted(format!(
                "it leaves {} bytes that depend on its input",
                residue.bytes()
            )),
            None => Verdict::Proved,
        }
    }

    fn judge(&self, image: &Image, stop: &Stop) -> Verdict {
        let place = image.describe(stop.at);
        match &stop.reason {
            Reason::Unsupported(what) => Verdict::Unsupported(format!("{what}, at {place}")),
            Reason::Wrong(what) => Verdict::Refuted(format!("{what}, at {place}")),
            Reason::Secret(CLOBBERED, word) => match self.sample_with(word) {
                Some(_) => Verdict::Refuted(format!("{CLOBBERED} is not restored, at {place}")),
                None => Verdict::Unproved(format!(
                    "{CLOBBERED} is not shown to be restored, at {place}"
                )),
            },
            Reason::Secret(what, word) if self.is_of_address(word) => {
                Verdict::Unproved(format!("{what} depends on where memory is, at {place}"))
            }
            Reason::Secret(what, word) => {
                let on = match word.iter().any(|bit| self.terms.depends_on_input(*bit)) {
                    true => "the input",
                    false => "what is not known at the entry",
                };
                match self.two_samples(word) {
                    Some([a, b]) => Verdict::Refuted(format!(
                        "{what} depends on {on}, at {place}: sample inputs {a} and {b} differ"
                    )),
                    None => Verdict::Unproved(format!(
                        "{what} is not shown to be the same for all inputs, at {place}"
                    )),
                }
            }
        }
    }

    /// Whether a word depends on addresses only, and on no secret.
    fn is_of_address(&self, word: &[Bit]) -> bool {
        let terms = &self.terms;
        word.iter().any(|bit| terms.depends_on_address(*bit))
            && !word.iter().any(|bit| terms.depends_on_input(*bit))
    }

    /// The inputs for which an output or a decision differs, as text.
    fn refuting_inputs(
        &self,
        contract: &Contract,
        contents: &Contents<Word>,
        run: &Result<Ends, Stop>,
    ) -> String {
        let samples: Vec<usize> = match run {
            Err(stop) => match &stop.reason {
                Reason::Secret(_, word) => {
                    self.refuting_samples(word).into_iter().flatten().collect()
                }
                _ => Vec::new(),
            },
            Ok(ends) => {
                let pairs = ends
                    .outputs
                    .iter()
                    .flatten()
                    .zip(ends.expected.iter().flatten().flatten());
                let differing = pairs.map(|(a, b)| differing_samples(&self.terms, a, b));
                let first = differing.into_iter().find(|samples| *samples != 0);
                first
                    .map(|samples| samples.trailing_zeros() as usize)
                    .into_iter()
                    .collect()
            }
        };
        let inputs = samples
            .into_iter()
            .map(|sample| runs::show_sample(&self.terms, contract, contents, sample));
        inputs.collect::<Vec<_>>().join("; and ")
    }

    /// Two samples on which a word differs, or one on which it is not zero.
    fn refuting_samples(&self, word: &[Bit]) -> Option<[usize; 2]> {
        let not_zero = || self.sample_with(word).map(|sample| [sample; 2]);
        self.two_samples(word).or_else(not_zero)
    }

    /// A sample input on which a word is not zero.
    fn sample_with(&self, word: &[Bit]) -> Option<usize> {
        let samples = word.iter().map(|bit| self.terms.bit_samples(*bit));
        let not_zero = samples.fold(0, |all, samples| all | samples);
        (not_zero != 0).then(|| not_zero.trailing_zeros() as usize)
    }

    /// Two sample inputs on which a word has different values.
    fn two_samples(&self, word: &[Bit]) -> Option<[usize; 2]> {
        let different = word
            .iter()
            .map(|bit| self.terms.bit_samples(*bit))
            .find(|samples| *samples != 0 && *samples != u64::MAX)?;
        Some([
            different.trailing_ones() as usize,
            different.trailing_zeros() as usize,
        ])
    }

    /// Checks whether native runs also decide by data at the place where the run on formulas has
    /// stopped. Returns whether they do.
    fn reproduce(
        &self,
        mut native: NativeRuns<'_>,
        stop: &Stop,
        instruction: Option<&Instruction>,
        verdict: &mut Verdict,
    ) -> bool {
        let (Reason::Secret(what, word), Verdict::Refuted(why)) = (&stop.reason, &*verdict) else {
            return false;
        };
        let samples = self.refuting_samples(word).expect("refuted by samples");
        let decided = match instruction {
            None => Decided::Unknown,
            Some(instruction) => {
                let visits = stop.visits;
                native.decided(
                    &Decision {
                        what,
                        instruction,
                        visits,
                    },
                    samples,
                )
            }
        };
        *verdict = match &decided {
            Decided::Differs(how) => Verdict::Refuted(format!("{why}; reproduced natively: {how}")),
            Decided::Unknown => return false,
            Decided::Same => Verdict::Unproved(format!("{why}; but {NOT_REPRODUCED}")),
        };
        matches!(decided, Decided::Differs(_))
    }
}

/// Runs the function itself on the sample inputs. After a proof, all outputs must be those of the
/// specification on numbers; after a refutation, one output must differ.
fn compare_natively(mut native: NativeRuns<'_>, verdict: &mut Verdict) {
    if let Some(why) = native.misfit() {
        *verdict = Verdict::Unsupported(why);
        return;
    }
    let wrong = native.wrong_sample();
    *verdict = match (&*verdict, wrong) {
        (Verdict::Proved, Some(sample)) => Verdict::Refuted(format!(
            "a native run on sample input {sample} contradicts the proof: the prover is wrong"
        )),
        (Verdict::Refuted(why) | Verdict::Unproved(why), Some(sample)) => Verdict::Refuted(
            format!("{why}; reproduced natively, with {}", native.show(sample)),
        ),
        (Verdict::Refuted(why), None) => Verdict::Unproved(format!("{why}; but {NOT_REPRODUCED}")),
        (other, None) => other.clone(),
        (Verdict::Unsupported(_), Some(_)) => unreachable!("what is unsupported is not run"),
    };
}

/// The largest number of arguments, in registers and on the stack.
const MOST_ARGUMENTS: usize = 14;
const NOT_REPRODUCED: &str = "native runs show nothing of it: either it is about memory that is not known at the entry, or the prover is wrong";
const NOT_FOLLOWED: &str =
    "the turns of its loop are not seen to be the steps of the specification";
const WRONG_OUTPUT: &str = "wrong output in";

/// The registers of results: rax and rdx.
const RESULTS: [usize; 2] = [0, 2];

/// The contents of the written buffers, and the result.
fn outputs_of_run(machine: &Machine<'_>, contract: &Contract, layout: &Layout) -> Contents<Word> {
    let written = contract
        .buffers
        .iter()
        .zip(&layout.ranges)
        .filter(|(buffer, _)| buffer.access == Access::Write);
    let cells = written.map(|(_, range)| {
        let bits = machine.memory.contents(range.clone());
        bits.chunks(64).map(<[Bit]>::to_vec).collect()
    });
    let mut outputs: Contents<Word> = cells.collect();
    if contract.results > 0 {
        let returned = RESULTS[..contract.results].iter();
        let words = returned.map(|register| machine.general[*register].clone());
        outputs.push(words.collect());
    }
    outputs
}

/// The names of the parts that are compared with the specification.
fn outputs_of(contract: &Contract) -> Vec<String> {
    let written = contract
        .buffers
        .iter()
        .filter(|buffer| buffer.access == Access::Write);
    let mut names: Vec<String> = written.map(|buffer| format!("`{}`", buffer.name)).collect();
    if contract.results > 0 {
        names.push("what it returns".into());
    }
    names
}

/// Why outputs and specification cannot be compared. `None` if there is a word for each word.
fn misfit<W>(names: &[String], outputs: &Contents<W>, expected: &Contents<W>) -> Option<String> {
    assert_eq!(names.len(), outputs.len(), "a name for each output");
    if names.is_empty() {
        return Some("the contract has no output: no buffer to write, no result".into());
    }
    if expected.len() != names.len() {
        return Some(format!(
            "the specification gives {} outputs, but the contract has {}: {}",
            expected.len(),
            names.len(),
            names.join(", ")
        ));
    }
    let mut parts = names.iter().zip(outputs.iter().zip(expected));
    let (name, (output, expected)) = parts.find(|(_, (a, b))| a.len() != b.len())?;
    Some(format!(
        "the specification gives {} words for {name}, but the contract has {}",
        expected.len(),
        output.len()
    ))
}

fn is_wrong_output(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Refuted(why) if why.starts_with(WRONG_OUTPUT))
}

fn differing_samples(terms: &Terms, a: &[Bit], b: &[Bit]) -> u64 {
    let pairs = a.iter().zip(b);
    pairs.fold(0, |all, (a, b)| {
        all | terms.bit_samples(*a) ^ terms.bit_samples(*b)
    })
}

/// A machine with the memory of a contract, and the arguments of its function.
fn enter<'a>(
    terms: &'a mut Terms,
    (image, _, processor): Subject<'a>,
    (contract, layout): (&Contract, &Layout),
    contents: &Contents<Word>,
) -> (Machine<'a>, Vec<Word>) {
    let mut machine = Machine::new(terms, image);
    machine.by_data = contract.by_data;
    machine.wipes = contract.wipes;
    machine.leaves_upper_halves = contract.leaves_upper_halves;
    machine.keeps_carries = contract.integers;
    if contract.stack.is_some() {
        machine.stack_bits = layout::KNOWN_STACK_BITS;
    }
    machine.features = processor.features.clone();
    for ((buffer, range), cells) in contract.buffers.iter().zip(&layout.ranges).zip(contents) {
        let region = Region {
            name: buffer.name.into(),
            range: range.clone(),
            writable: buffer.access != Access::Read,
        };
        let bits = cells.concat();
        let length = 8 * (range.end - range.start) as usize;
        machine.memory.declare(region, &bits[..length]);
    }
    let mut arguments = Vec::new();
    assert!(
        contract.arguments.len() <= MOST_ARGUMENTS,
        "at most 14 arguments"
    );
    for argument in &contract.arguments {
        arguments.push(layout.argument(machine.terms, contract, argument, contents));
    }
    (machine, arguments)
}

/// Bytes that depend on the input, in places where a caller does not expect them.
fn residue_of(machine: &Machine<'_>, layout: &Layout, contract: &Contract) -> Residue {
    let (stack, returned) = (layout.stack, &RESULTS[..contract.results]);
    let depends = |byte: &[Bit]| byte.iter().any(|bit| machine.terms.depends_on_input(*bit));
    let count = |word: &Word| word.chunks(8).filter(|byte| depends(byte)).count();
    let arguments = machine.changed_arguments(stack).into_iter();
    let arguments = arguments.filter(|byte| depends(byte)).count();
    Residue {
        stack: machine
            .memory
            .stack_below(stack)
            .filter(|byte| depends(byte))
            .count()
            + arguments,
        vectors: machine
            .vectors
            .iter()
            .chain(&machine.masks)
            .map(count)
            .sum(),
        general: CALLER_SAVED
            .iter()
            .filter(|register| !returned.contains(register))
            .map(|register| count(&machine.general[*register]))
            .sum(),
    }
}
