//! Co-simulation: compares the models of instructions with the CPU.
//!
//! The CPU executes every distinct instruction of a proof on many states of registers, flags and
//! memory. The model executes it on formulas whose samples are the same states. Afterwards all
//! registers, defined flags and memory must agree. Three of eight states are random; the others are
//! made of zeros, ones and small numbers, or have equal words everywhere, so that comparisons find
//! equal numbers and shifts small counts (module `states`).
//!
//! Memory operands are moved to scratch memory, at an unaligned address if the instruction allows
//! it, and the instruction is encoded again. So this does not find an error that decoder and
//! encoder share; native runs of whole functions (see [`prove`](crate::prove)) find it. The CPU
//! executes only instructions that the model accepts: those can do no harm.

mod form;
mod movable;
mod states;

use crate::exec::{Fault, Machine, Outcome, Reason, WrongModel};
use crate::native::{Bench, State};
use crate::term::{Bit, SAMPLES, Terms, constant};
use core::ops::Range;
use form::{Form, Registers};
use iced_x86::{Code, Instruction};
use movable::{Movable, NOT_ALONE};
use std::collections::{BTreeMap, BTreeSet};

/// The outcome.
#[derive(Default)]
pub struct Comparison {
    /// How many distinct instructions agree with their models.
    pub agree: usize,
    /// Their forms: mnemonic, encoding and kinds of operands, as the decoder names them.
    pub forms: BTreeSet<String>,
    /// Forms that this CPU does not have, such as those of AVX-512 or SHA. It runs no code with
    /// them.
    pub elsewhere: BTreeSet<String>,
    /// Instructions that were not executed.
    pub skipped: BTreeSet<String>,
    /// Instructions that disagree.
    pub disagree: Vec<String>,
}

impl Comparison {
    /// Whether instructions were compared, none disagrees, and only instructions that cannot be
    /// executed alone were skipped.
    pub fn is_right(&self) -> bool {
        let is_known = |what: &String| NOT_ALONE.contains(&&what[..]);
        self.agree > 0 && self.disagree.is_empty() && self.skipped.iter().all(is_known)
    }
}

/// The outcome for wrong models.
#[derive(Default)]
pub struct Mutants {
    /// Wrong models that were noticed.
    pub killed: usize,
    /// Wrong models that stop where the right one continues. They cannot prove a wrong statement.
    pub refused: usize,
    /// Places where the error changes no formula of the model: bits of an immediate that the
    /// instruction ignores, a rotation of zeros. They do not count as mutants.
    pub no_change: usize,
    /// The mutants that were not noticed.
    pub survivors: Vec<String>,
}

/// Compares every instruction.
///
/// # Errors
/// Why this CPU or system cannot do it: states need registers of AVX2 or AVX-512, and the code
/// needs writable and executable memory.
pub fn compare<'a>(
    instructions: impl Iterator<Item = &'a Instruction>,
) -> Result<Comparison, String> {
    let mut bench = Bench::new()?;
    let mut comparison = Comparison::default();
    for (code, instructions) in by_code(instructions) {
        let (mut form, mut seen) = (Form::new(code, bench.width()), BTreeSet::new());
        for instruction in instructions {
            if !bench.has(instruction) {
                comparison.elsewhere.insert(format!("{code:?}"));
                continue;
            }
            let places = match Movable::all(instruction) {
                Ok(places) => places,
                Err(why) => {
                    comparison.skipped.insert(why);
                    continue;
                }
            };
            if !seen.insert(places[0].kind()) {
                continue;
            }
            let case = match Case::new(&mut bench, &mut form, places) {
                Ok(case) => case,
                Err(why) => {
                    comparison.skipped.insert(why);
                    continue;
                }
            };
            comparison.forms.insert(format!("{code:?}"));
            match case.check(&mut form, None) {
                Ok(_) => comparison.agree += 1,
                Err(Failure::Stopped(why) | Failure::Disagrees(why)) => {
                    comparison.disagree.push(format!("{instruction}: {why}"));
                }
            }
        }
    }
    Ok(comparison)
}

fn by_code<'a>(
    instructions: impl Iterator<Item = &'a Instruction>,
) -> BTreeMap<Code, Vec<&'a Instruction>> {
    let mut by_code: BTreeMap<Code, Vec<_>> = BTreeMap::new();
    for instruction in instructions {
        by_code
            .entry(instruction.code())
            .or_default()
            .push(instruction);
    }
    by_code
}

/// The number of instructions of each form that get mutants. They differ in immediates and
/// operands.
const OF_EACH_FORM: usize = 2;

/// Plants an error in every place of the models of every form, one at a time. Co-simulation must
/// notice it.
///
/// # Errors
/// As [`compare`].
pub fn mutate<'a>(instructions: impl Iterator<Item = &'a Instruction>) -> Result<Mutants, String> {
    let mut bench = Bench::new()?;
    let mut mutants = Mutants::default();
    for (code, instructions) in by_code(instructions) {
        let (mut form, mut kinds) = (Form::new(code, bench.width()), BTreeSet::new());
        for instruction in instructions {
            if !bench.has(instruction) {
                continue;
            }
            let Ok(places) = Movable::all(instruction) else {
                continue;
            };
            let kind = places[0].kind();
            if kinds.len() >= OF_EACH_FORM || kinds.contains(&kind) {
                continue;
            }
            if let Ok(case) = Case::new(&mut bench, &mut form, places) {
                kinds.insert(kind);
                case.mutate(&mut form, &mut mutants);
            }
        }
    }
    Ok(mutants)
}

const KINDS: [WrongModel; 9] = [
    WrongModel::OtherOperand,
    WrongModel::Immediate,
    WrongModel::OtherPiece,
    WrongModel::Upper,
    WrongModel::Turned,
    WrongModel::TopBit,
    WrongModel::NotWritten,
    WrongModel::Flag,
    WrongModel::Condition,
];

/// An instruction with states before and after it.
struct Case {
    moved: Movable,
    before: Vec<State>,
    after: Vec<State>,
    /// The model on all states at once; `None` if it needs a public number.
    at_once: Option<Run>,
}

/// The right model on some of the states.
struct Run {
    states: Range<usize>,
    /// Formulas for the states before, and the model's formulas after.
    initial: Registers,
    right: Registers,
}

/// Why model and CPU do not agree.
enum Failure {
    /// The model stops.
    Stopped(String),
    /// Their results differ.
    Disagrees(String),
}

/// A word on which model and CPU disagree.
struct Difference {
    cpu: u64,
    model: u64,
}

impl Difference {
    fn of(&self, what: &str) -> Failure {
        let Self { cpu, model } = self;
        Failure::Disagrees(format!("{what} is {cpu:#x}, in the model {model:#x}"))
    }
}

impl Case {
    /// An instruction on the CPU, in the first of these places where the model accepts it. The
    /// error is its name, if it cannot be executed alone.
    fn new(bench: &mut Bench, form: &mut Form, places: Vec<Movable>) -> Result<Self, String> {
        let mut refused = String::new();
        for moved in places {
            let name = format!("{:?}", moved.instruction.mnemonic()).to_lowercase();
            let before = states::fitted(&form.drawn, &moved);
            let mut case = Self {
                moved,
                before,
                after: Vec::new(),
                at_once: None,
            };
            if let Err(why) = case.run_model(form) {
                refused = format!("{name}: {why}");
                continue;
            }
            bench
                .prepare(&case.moved.instruction)
                .map_err(|error| format!("{name}: {error}"))?;
            case.after = case.before.iter().map(|state| bench.run(state)).collect();
            return Ok(case);
        }
        Err(refused)
    }

    /// Runs the model with all states at once, as formulas. If it needs a public number, it must
    /// accept states of every kind as constants; all states, if some may fault.
    fn run_model(&mut self, form: &mut Form) -> Result<(), String> {
        let one_by_one = if self.moved.divides() {
            SAMPLES
        } else {
            match self.run_at_once(form) {
                Err(why) if why == SECRET => states::KINDS,
                run => {
                    self.at_once = Some(run?);
                    return Ok(());
                }
            }
        };
        (0..one_by_one).try_for_each(|state| self.run_on(form, state).map(|_| ()))
    }

    fn run_at_once(&self, form: &mut Form) -> Result<Run, String> {
        let mut initial = form.unknowns.clone();
        for (register, value) in self.moved.fixed() {
            initial.general[register] = constant(value.into(), 64);
        }
        let right = self.execute(form, &initial, None)?.0;
        Ok(Run {
            states: 0..SAMPLES,
            initial,
            right,
        })
    }

    /// The model on a single state: on constants.
    fn run_on(&self, form: &mut Form, state: usize) -> Result<Run, String> {
        let initial = form.constant(state, &self.before[state]);
        let right = self.execute(form, &initial, None)?.0;
        Ok(Run {
            states: state..state + 1,
            initial,
            right,
        })
    }

    /// Compares the model on all states. A wrong model is compared with the right one too.
    fn check(&self, form: &mut Form, fault: Option<Fault>) -> Result<Checked, Failure> {
        let Some(run) = &self.at_once else {
            return self.check_one_by_one(form, fault);
        };
        match self.check_run(form, run, fault) {
            // The model needs a public number: states one by one, as constants.
            Err(Failure::Stopped(why)) if why == SECRET => self.check_one_by_one(form, fault),
            result => result,
        }
    }

    /// On constants, equal results of a wrong model do not show that its formulas are equal.
    fn check_one_by_one(&self, form: &mut Form, fault: Option<Fault>) -> Result<Checked, Failure> {
        let mut all = Checked::NoSuchPlace;
        for state in 0..SAMPLES {
            let run = self.run_on(form, state).map_err(Failure::Stopped)?;
            match self.check_run(form, &run, fault)? {
                Checked::NoSuchPlace => {}
                Checked::Same | Checked::Agrees => all = Checked::Agrees,
            }
        }
        Ok(all)
    }

    fn check_run(
        &self,
        form: &mut Form,
        run: &Run,
        fault: Option<Fault>,
    ) -> Result<Checked, Failure> {
        let Some(fault) = fault else {
            return self.agrees(form, run, &run.right);
        };
        let wrong = self.execute(form, &run.initial, Some(fault));
        let (wrong, passed) = wrong.map_err(Failure::Stopped)?;
        if passed <= fault.place {
            return Ok(Checked::NoSuchPlace);
        }
        if wrong == run.right {
            return Ok(Checked::Same);
        }
        self.agrees(form, run, &wrong)
    }

    /// The state after the instruction, by a model that may be wrong, and the number of places of
    /// the kind.
    fn execute(
        &self,
        form: &mut Form,
        initial: &Registers,
        fault: Option<Fault>,
    ) -> Result<(Registers, usize), String> {
        let mut machine = initial.machine(&mut form.terms, &form.image);
        if let Some(fault) = fault {
            machine.make_wrong(fault);
        }
        let mut instruction = self.moved.instruction;
        instruction.set_next_ip(instruction.ip() + instruction.len() as u64);
        step(&mut machine, &instruction)?;
        let passed = machine.take_fault().map_or(0, |fault| fault.passed);
        Ok((Registers::take(machine), passed))
    }

    /// Whether model and CPU agree on the states of a run.
    fn agrees(&self, form: &Form, run: &Run, model: &Registers) -> Result<Checked, Failure> {
        let (terms, before) = (&form.terms, &run.initial);
        let flags = model.flags.iter().zip(&before.flags).zip(FLAGS);
        for (((flag, before), bit), name) in flags.zip(["CF", "ZF", "SF", "OF"]) {
            if let Some(flag) = flag {
                let words = [[*flag], [before.expect("no flag is undefined before")]];
                let same = self.same(
                    terms,
                    run,
                    words.each_ref().map(|word| &word[..]),
                    |state| state.flags >> bit & 1,
                );
                same.map_err(|why| why.of(name))?;
            }
        }
        let general = model.general.iter().zip(&before.general);
        for (i, (word, before)) in general.enumerate() {
            let same = self.same(terms, run, [word, before], |state| state.general[i]);
            same.map_err(|why| why.of("a general register"))?;
        }
        let vectors = model.vectors.iter().zip(&before.vectors);
        for (i, (vector, before)) in vectors.enumerate() {
            for (j, (word, before)) in vector.chunks(64).zip(before.chunks(64)).enumerate() {
                let same = self.same(terms, run, [word, before], |state| state.vectors[i][j]);
                same.map_err(|why| why.of("a vector register"))?;
            }
        }
        for (i, (word, before)) in model.masks.iter().zip(&before.masks).enumerate() {
            let same = self.same(terms, run, [word, before], |state| state.masks[i]);
            same.map_err(|why| why.of("a mask"))?;
        }
        let memory = model.memory.chunks(64).zip(before.memory.chunks(64));
        for (i, (word, before)) in memory.enumerate() {
            let same = self.same(terms, run, [word, before], |state| state.memory[i]);
            same.map_err(|why| why.of("memory"))?;
        }
        Ok(Checked::Agrees)
    }

    /// Whether a word of the model, `before` the instruction, is the word of the CPU after it.
    fn same(
        &self,
        terms: &Terms,
        run: &Run,
        [word, before]: [&[Bit]; 2],
        of: impl Fn(&State) -> u64,
    ) -> Result<(), Difference> {
        // Most words do not change. Their samples are the states before.
        let values = (word != before).then(|| terms.samples(word));
        let in_model = |state: usize| match &values {
            Some(values) => values[state] as u64,
            None => of(&self.before[state]),
        };
        let is_wrong = |state: &usize| in_model(*state) != of(&self.after[*state]);
        match run.states.clone().find(is_wrong) {
            None => Ok(()),
            Some(state) => Err(Difference {
                cpu: of(&self.after[state]),
                model: in_model(state),
            }),
        }
    }

    fn mutate(&self, form: &mut Form, mutants: &mut Mutants) {
        let mut survives = |what: String| {
            mutants
                .survivors
                .push(format!("{} {what}", self.moved.instruction));
        };
        if self.check(form, None).is_err() {
            return survives("without being wrong".into());
        }
        for wrong in KINDS {
            for place in 0.. {
                let fault = Fault {
                    wrong,
                    place,
                    passed: 0,
                };
                match self.check(form, Some(fault)) {
                    Ok(Checked::NoSuchPlace) => break,
                    Ok(Checked::Same) => mutants.no_change += 1,
                    Ok(Checked::Agrees) => survives(format!("{wrong:?} {place}")),
                    Err(Failure::Stopped(_)) => mutants.refused += 1,
                    Err(Failure::Disagrees(_)) => mutants.killed += 1,
                }
            }
        }
    }
}

/// The outcome of comparing a model with the CPU.
enum Checked {
    /// They agree.
    Agrees,
    /// The wrong model gives the same formulas as the right one.
    Same,
    /// The model has no such place.
    NoSuchPlace,
}

/// Bits of CF, ZF, SF, OF in the register of flags.
const FLAGS: [usize; 4] = [0, 6, 7, 11];
const SECRET: &str = "it needs a public number";

fn step(machine: &mut Machine<'_>, instruction: &Instruction) -> Result<(), String> {
    let done: Outcome<()> = machine.step(instruction);
    done.map_err(|stop| match stop.reason {
        Reason::Secret(..) => SECRET.to_owned(),
        Reason::Unsupported(what) | Reason::Wrong(what) => what,
    })
}
