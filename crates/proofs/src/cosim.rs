//! Co-simulation: models of instructions against the CPU itself.
//!
//! Every distinct instruction that a proof met is executed natively on many states of registers, flags and memory, and by its model
//! on formulas whose samples are the same states. All registers, defined flags and memory must agree afterwards. Half of the states
//! are random; the others are made of zeros, ones and small numbers, or have equal words everywhere, so that comparisons find
//! equal numbers and shifts small counts (module `states`).
//!
//! Memory operands are moved to a place of our own, which is not aligned if the instruction allows it, and the instruction is
//! encoded anew. So a mistake that decoder and encoder share does not show here; native runs of whole functions (see
//! [`prove`](crate::prove)) would show it. Only what the model accepts is executed: that can do no harm.

mod movable;
mod states;

use crate::exec::{Fault, Flag, Flags, Machine, Outcome, Reason, Region, WrongModel};
use crate::image::Image;
use crate::native::{Bench, SCRATCH, State};
use crate::term::{Bit, SAMPLES, Terms, Word, constant};
use core::ops::Range;
use iced_x86::Instruction;
use movable::{Kind, Movable, NOT_ALONE};
use std::collections::{BTreeMap, BTreeSet};

/// What came out.
#[derive(Default)]
pub struct Comparison {
    /// How many distinct instructions agree with their models.
    pub agree: usize,
    /// How many different codes of instructions these are: mnemonic, encoding and kinds of operands.
    pub forms: usize,
    /// Instructions that were not executed.
    pub skipped: BTreeSet<String>,
    /// Instructions that disagree.
    pub disagree: Vec<String>,
}

impl Comparison {
    /// Whether something was compared, nothing disagrees, and what was not compared is what cannot be executed on its own.
    pub fn is_right(&self) -> bool {
        let is_known = |what: &String| NOT_ALONE.contains(&&what[..]);
        self.agree > 0 && self.disagree.is_empty() && self.skipped.iter().all(is_known)
    }
}

/// What became of wrong models.
#[derive(Default)]
pub struct Mutants {
    /// Wrong models that were noticed.
    pub killed: usize,
    /// Wrong models that stop where the right one goes on. They could not prove anything wrong.
    pub refused: usize,
    /// Places where being wrong makes no difference to the model, formula by formula: bits of an immediate that the instruction
    /// ignores, a rotation of zeros. They are no mutants.
    pub no_change: usize,
    /// Those that were not noticed.
    pub survivors: Vec<String>,
}

/// Compares every instruction.
///
/// # Errors
/// Why this CPU or system cannot: states are kept in AVX-512 registers, and code is written to memory of our own.
pub fn compare<'a>(
    instructions: impl Iterator<Item = &'a Instruction>,
) -> Result<Comparison, String> {
    let mut bench = Bench::new()?;
    let mut comparison = Comparison::default();
    let (mut seen, mut forms) = (BTreeSet::new(), BTreeSet::new());
    for instruction in instructions {
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
        let case = match Case::new(&mut bench, places) {
            Ok(case) => case,
            Err(why) => {
                comparison.skipped.insert(why);
                continue;
            }
        };
        forms.insert(case.moved.instruction.code() as usize);
        match case.check(None) {
            Ok(_) => comparison.agree += 1,
            Err(Failure::Stopped(why) | Failure::Disagrees(why)) => {
                comparison.disagree.push(format!("{instruction}: {why}"));
            }
        }
    }
    comparison.forms = forms.len();
    Ok(comparison)
}

/// So many instructions of each form are made wrong: they differ in immediates and operands.
const OF_EACH_FORM: usize = 2;

/// Makes the models of instructions of every form wrong in every place, one at a time: co-simulation must notice.
///
/// # Errors
/// As [`compare`].
pub fn mutate<'a>(instructions: impl Iterator<Item = &'a Instruction>) -> Result<Mutants, String> {
    let mut bench = Bench::new()?;
    let mut mutants = Mutants::default();
    let mut forms: BTreeMap<usize, BTreeSet<Kind>> = BTreeMap::new();
    for instruction in instructions {
        let form = forms.entry(instruction.code() as usize).or_default();
        if form.len() >= OF_EACH_FORM {
            continue;
        }
        let Ok(places) = Movable::all(instruction) else {
            continue;
        };
        let kind = places[0].kind();
        if form.contains(&kind) {
            continue;
        }
        if let Ok(case) = Case::new(&mut bench, places) {
            form.insert(kind);
            case.mutate(&mut mutants);
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
}

/// Why model and CPU cannot be said to agree.
enum Failure {
    /// The model stops.
    Stopped(String),
    /// They give something else.
    Disagrees(String),
}

impl Case {
    /// An instruction that the model accepts, in the first of these places where it does, on the CPU. The error is what it is called if it
    /// cannot be executed on its own.
    fn new(bench: &mut Bench, places: Vec<Movable>) -> Result<Self, String> {
        let mut refused = String::new();
        for moved in places {
            let name = format!("{:?}", moved.instruction.mnemonic()).to_lowercase();
            let before = states::states(&moved);
            let mut case = Self {
                moved,
                before,
                after: Vec::new(),
            };
            if let Err(why) = case.model_accepts() {
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

    /// Whether the model goes through, with all states at once, as formulas. Where it needs a public number, with states of every kind, as
    /// constants; with all of them where some might fault.
    fn model_accepts(&self) -> Result<(), String> {
        let goes_through = |samples: Range<usize>| {
            let (mut terms, image) = (Terms::new(1), Image::default());
            let initial = Registers::of(&mut terms, self, &samples);
            self.execute(&mut terms, &image, &initial, None).map(|_| ())
        };
        let one_by_one = if self.moved.divides() {
            SAMPLES
        } else {
            match goes_through(0..SAMPLES) {
                Err(why) if why == SECRET => states::KINDS,
                result => return result,
            }
        };
        (0..one_by_one).try_for_each(|sample| goes_through(sample..sample + 1))
    }

    /// Compares the model on all states. A model that is wrong in a place is run beside the right one.
    fn check(&self, fault: Option<Fault>) -> Result<Checked, Failure> {
        match self.check_samples(fault, 0..SAMPLES) {
            // Where the model needs a public number: states one by one, as constants.
            Err(Failure::Stopped(why)) if why == SECRET => self.check_one_by_one(fault),
            result => result,
        }
    }

    /// On constants, that a wrong model gives the same does not say that its formulas are the same.
    fn check_one_by_one(&self, fault: Option<Fault>) -> Result<Checked, Failure> {
        let mut all = Checked::NoSuchPlace;
        for sample in 0..SAMPLES {
            match self.check_samples(fault, sample..sample + 1)? {
                Checked::NoSuchPlace => {}
                Checked::Same | Checked::Agrees => all = Checked::Agrees,
            }
        }
        Ok(all)
    }

    fn check_samples(
        &self,
        fault: Option<Fault>,
        samples: Range<usize>,
    ) -> Result<Checked, Failure> {
        let (mut terms, image) = (Terms::new(1), Image::default());
        let initial = Registers::of(&mut terms, self, &samples);
        let right = self.execute(&mut terms, &image, &initial, None);
        let right = right.map_err(Failure::Stopped)?.0;
        let Some(fault) = fault else {
            return self
                .agrees(&terms, &right, &samples)
                .map(|()| Checked::Agrees);
        };
        let wrong = self.execute(&mut terms, &image, &initial, Some(fault));
        let (wrong, passed) = wrong.map_err(Failure::Stopped)?;
        if passed <= fault.place {
            return Ok(Checked::NoSuchPlace);
        }
        if wrong == right {
            return Ok(Checked::Same);
        }
        self.agrees(&terms, &wrong, &samples)
            .map(|()| Checked::Agrees)
    }

    /// Everything after the instruction, by a model that may be wrong, and how many places of the kind there were.
    fn execute(
        &self,
        terms: &mut Terms,
        image: &Image,
        initial: &Registers,
        fault: Option<Fault>,
    ) -> Result<(Registers, usize), String> {
        let mut machine = initial.machine(terms, image);
        if let Some(fault) = fault {
            machine.make_wrong(fault);
        }
        let mut instruction = self.moved.instruction;
        instruction.set_next_ip(instruction.ip() + instruction.len() as u64);
        step(&mut machine, &instruction)?;
        let passed = machine.take_fault().map_or(0, |fault| fault.passed);
        Ok((Registers::take(machine), passed))
    }

    /// Whether model and CPU agree on some samples.
    fn agrees(
        &self,
        terms: &Terms,
        model: &Registers,
        samples: &Range<usize>,
    ) -> Result<(), Failure> {
        let same = |what: &str, word: &[Bit], cpu: &dyn Fn(&State) -> u64| {
            let values = terms.samples(word);
            let is_wrong = |sample: &usize| values[*sample] as u64 != cpu(&self.after[*sample]);
            match samples.clone().find(is_wrong) {
                None => Ok(()),
                Some(sample) => Err(Failure::Disagrees(format!(
                    "{what} is {:#x}, in the model {:#x}",
                    cpu(&self.after[sample]),
                    values[sample]
                ))),
            }
        };
        for ((flag, bit), name) in model.flags.iter().zip(FLAGS).zip(["CF", "ZF", "SF", "OF"]) {
            if let Some(flag) = flag {
                same(name, &[*flag], &|state| state.flags >> bit & 1)?;
            }
        }
        for (i, word) in model.general.iter().enumerate() {
            same("a general register", word, &|state| state.general[i])?;
        }
        for (i, word) in model.vectors.iter().enumerate() {
            for (quarter, word) in word.chunks(64).enumerate() {
                same("a vector register", word, &|state| {
                    state.vectors[i][quarter]
                })?;
            }
        }
        for (i, word) in model.masks.iter().enumerate() {
            same("a mask", word, &|state| state.masks[i])?;
        }
        for (i, word) in model.memory.chunks(64).enumerate() {
            same("memory", word, &|state| state.memory[i])?;
        }
        Ok(())
    }

    fn mutate(&self, mutants: &mut Mutants) {
        let mut survives = |what: String| {
            mutants
                .survivors
                .push(format!("{} {what}", self.moved.instruction));
        };
        if self.check(None).is_err() {
            return survives("without being wrong".into());
        }
        for wrong in KINDS {
            for place in 0.. {
                let fault = Fault {
                    wrong,
                    place,
                    passed: 0,
                };
                match self.check(Some(fault)) {
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

/// What came out of comparing a model with the CPU.
enum Checked {
    /// They agree.
    Agrees,
    /// The wrong model gives the same formulas as the right one.
    Same,
    /// There is no such place to be wrong in.
    NoSuchPlace,
}

/// All that an instruction can read and change, as formulas.
#[derive(PartialEq)]
struct Registers {
    general: Vec<Word>,
    vectors: Vec<Word>,
    masks: Vec<Word>,
    /// CF, ZF, SF, OF; nothing for undefined.
    flags: [Option<Bit>; 4],
    memory: Word,
}

impl Registers {
    /// The states before: unknowns with these samples, or, for a single sample, constants.
    fn of(terms: &mut Terms, case: &Case, samples: &Range<usize>) -> Self {
        let mut given = |f: &dyn Fn(&State) -> u64| match samples.len() {
            1 => constant(f(&case.before[samples.start]).into(), 64),
            _ => terms.input_with(64, &core::array::from_fn(|i| f(&case.before[i]).into())),
        };
        let mut general: Vec<Word> = (0..16).map(|i| given(&|state| state.general[i])).collect();
        for (register, value) in case.moved.fixed() {
            general[register] = constant(value.into(), 64);
        }
        let mut vector = |i: usize| {
            (0..8)
                .flat_map(|quarter| given(&|state| state.vectors[i][quarter]))
                .collect()
        };
        Self {
            general,
            vectors: (0..32).map(&mut vector).collect(),
            masks: (0..8).map(|i| given(&|state| state.masks[i])).collect(),
            flags: FLAGS.map(|bit| Some(given(&|state| state.flags >> bit & 1)[0])),
            memory: (0..16)
                .flat_map(|i| given(&|state| state.memory[i]))
                .collect(),
        }
    }

    fn machine<'a>(&self, terms: &'a mut Terms, image: &'a Image) -> Machine<'a> {
        let [carry, zero, sign, overflow] = self
            .flags
            .map(|flag| flag.map_or(Flag::Undefined, Flag::Is));
        let flags = Flags {
            carry,
            zero,
            sign,
            overflow,
        };
        let registers = [&self.general, &self.vectors, &self.masks].map(Vec::clone);
        let mut machine = Machine::with(terms, image, registers, flags);
        let region = Region {
            name: "scratch".into(),
            range: SCRATCH..SCRATCH + 128,
            writable: true,
        };
        machine.memory.declare(region, &self.memory);
        machine
    }

    fn take(mut machine: Machine<'_>) -> Self {
        let flags = machine.flags.clone();
        let flags = [flags.carry, flags.zero, flags.sign, flags.overflow]
            .map(|flag| flag.value(machine.terms));
        Self {
            general: core::mem::take(&mut machine.general),
            vectors: core::mem::take(&mut machine.vectors),
            masks: core::mem::take(&mut machine.masks),
            flags,
            memory: machine.memory.contents(SCRATCH..SCRATCH + 128),
        }
    }
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
