//! Co-simulation: models of instructions against the CPU itself.
//!
//! Every distinct instruction that a proof met is executed natively on random registers, flags and memory, and by its model on
//! formulas whose samples are the same random values. All registers, defined flags and memory must agree afterwards.
//!
//! Memory operands are moved to a place of our own, and the instruction is encoded anew. So a mistake that decoder and encoder
//! share does not show here; native runs of whole functions (see [`prove`](crate::prove)) would show it.

use crate::exec::{Fault, Flag, Flags, Machine, Outcome, Reason, Region, WrongModel};
use crate::image::Image;
use crate::native::{Bench, SCRATCH, State};
use crate::term::{Bit, Random, SAMPLES, Terms, Word, constant};
use core::ops::Range;
use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind, Register};
use std::collections::BTreeSet;

/// What came out.
#[derive(Default)]
pub struct Comparison {
    /// How many distinct instructions agree with their models.
    pub agree: usize,
    /// How many different encodings of instructions these are.
    pub forms: usize,
    /// Instructions that were not executed, and why.
    pub skipped: BTreeSet<String>,
    /// Instructions that disagree.
    pub disagree: Vec<String>,
}

/// What became of wrong models.
#[derive(Default)]
pub struct Mutants {
    /// Wrong models that were noticed.
    pub killed: usize,
    /// Places where being wrong makes no difference to the model: bits of an immediate that the instruction ignores, a rotation
    /// of zeros. They are no mutants.
    pub no_change: usize,
    /// Those that were not noticed.
    pub survivors: Vec<String>,
}

/// Compares every instruction. `None` if this CPU lacks AVX-512, in which states are kept.
pub fn compare<'a>(instructions: impl Iterator<Item = &'a Instruction>) -> Option<Comparison> {
    let mut bench = Bench::new()?;
    let mut comparison = Comparison::default();
    let (mut seen, mut forms) = (BTreeSet::new(), BTreeSet::new());
    for instruction in instructions {
        let Some(case) = Case::new(&mut bench, instruction) else {
            comparison
                .skipped
                .insert(format!("{:?}", instruction.mnemonic()).to_lowercase());
            continue;
        };
        if !seen.insert(case.instruction.to_string()) {
            continue;
        }
        forms.insert(case.instruction.code() as usize);
        match case.check(None) {
            Ok(_) => comparison.agree += 1,
            Err(why) => comparison.disagree.push(format!("{instruction}: {why}")),
        }
    }
    comparison.forms = forms.len();
    Some(comparison)
}

/// Makes the model of one instruction of every form wrong in every place, one at a time: co-simulation must notice.
pub fn mutate<'a>(instructions: impl Iterator<Item = &'a Instruction>) -> Option<Mutants> {
    let mut bench = Bench::new()?;
    let mut mutants = Mutants::default();
    let mut forms = BTreeSet::new();
    for instruction in instructions {
        let Some(case) = Case::new(&mut bench, instruction) else {
            continue;
        };
        if forms.insert(case.instruction.code() as usize) {
            case.mutate(&mut mutants);
        }
    }
    Some(mutants)
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
    instruction: Instruction,
    before: Vec<State>,
    after: Vec<State>,
    /// The register that holds the address of the memory operand.
    base: Option<usize>,
}

impl Case {
    /// `None` for what cannot be executed on its own.
    fn new(bench: &mut Bench, instruction: &Instruction) -> Option<Self> {
        let (instruction, base) = movable(instruction)?;
        bench.prepare(&instruction).ok()?;
        let mut random = Random::new(u64::from(instruction.code() as u16) + 1);
        let mut state = || state(&mut random, base, instruction.mnemonic() == Mnemonic::Div);
        let before: Vec<State> = (0..SAMPLES).map(|_| state()).collect();
        let after = before.iter().map(|state| bench.run(state)).collect();
        Some(Self {
            instruction,
            before,
            after,
            base,
        })
    }

    /// Compares the model on all states. A model that is wrong in a place is run beside the right one.
    fn check(&self, fault: Option<Fault>) -> Result<Checked, String> {
        match self.check_samples(fault, 0..SAMPLES) {
            // Where the model needs a public number: states one by one, as constants.
            Err(why) if why == SECRET => self.check_one_by_one(fault),
            result => result,
        }
    }

    fn check_one_by_one(&self, fault: Option<Fault>) -> Result<Checked, String> {
        let mut all = Checked::NoSuchPlace;
        for sample in 0..SAMPLES / 8 {
            match self.check_samples(fault, sample..sample + 1)? {
                Checked::NoSuchPlace => {}
                Checked::Same if matches!(all, Checked::Agrees) => {}
                checked => all = checked,
            }
        }
        Ok(all)
    }

    fn check_samples(
        &self,
        fault: Option<Fault>,
        samples: Range<usize>,
    ) -> Result<Checked, String> {
        let (mut terms, image) = (Terms::new(1), Image::default());
        let initial = Registers::of(&mut terms, self, &samples);
        let right = self.execute(&mut terms, &image, &initial, None)?.0;
        let Some(fault) = fault else {
            return self
                .agrees(&terms, &right, &samples)
                .map(|()| Checked::Agrees);
        };
        let (wrong, passed) = self.execute(&mut terms, &image, &initial, Some(fault))?;
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
        let mut machine = Machine::new(terms, image);
        initial.give(&mut machine);
        if let Some(fault) = fault {
            machine.make_wrong(fault);
        }
        let mut instruction = self.instruction;
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
    ) -> Result<(), String> {
        let same = |what: &str, word: &[Bit], cpu: &dyn Fn(&State) -> u64| {
            let values = terms.samples(word);
            let is_wrong = |sample: &usize| values[*sample] as u64 != cpu(&self.after[*sample]);
            match samples.clone().find(is_wrong) {
                None => Ok(()),
                Some(sample) => Err(format!(
                    "{what} is {:#x}, in the model {:#x}",
                    cpu(&self.after[sample]),
                    values[sample]
                )),
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
                    Ok(Checked::Agrees) => {
                        mutants
                            .survivors
                            .push(format!("{} {wrong:?} {place}", self.instruction));
                    }
                    Err(_) => mutants.killed += 1,
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
        if let Some(base) = case.base {
            general[base] = constant(SCRATCH.into(), 64);
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

    fn give(&self, machine: &mut Machine<'_>) {
        machine.general.clone_from(&self.general);
        machine.vectors.clone_from(&self.vectors);
        machine.masks.clone_from(&self.masks);
        let [carry, zero, sign, overflow] = self
            .flags
            .map(|flag| flag.map_or(Flag::Undefined, Flag::Is));
        machine.flags = Flags {
            carry,
            zero,
            sign,
            overflow,
        };
        let region = Region {
            name: "scratch".into(),
            range: SCRATCH..SCRATCH + 128,
            writable: true,
        };
        machine.memory.declare(region, &self.memory);
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

fn state(random: &mut Random, base: Option<usize>, divides: bool) -> State {
    let mut words = |_| random.number();
    let mut state = State {
        vectors: core::array::from_fn(|_| core::array::from_fn(&mut words)),
        general: core::array::from_fn(&mut words),
        masks: core::array::from_fn(&mut words),
        flags: words(0) & FLAGS.iter().fold(0, |all, bit| all | 1 << bit) | 2,
        memory: core::array::from_fn(&mut words),
    };
    if divides {
        state.general[2] = 0;
    }
    if let Some(base) = base {
        state.general[base] = SCRATCH;
    }
    state
}

/// The instruction with its memory operand at a register, which is given too, and without rsp; `None` if it jumps, uses the
/// stack, or is none that can stand alone.
fn movable(instruction: &Instruction) -> Option<(Instruction, Option<usize>)> {
    use Mnemonic::*;
    let alone = instruction.flow_control() == FlowControl::Next
        && !matches!(
            instruction.mnemonic(),
            Push | Pop | Prefetcht0 | Movsb | Movsq | Stosb | Stosq
        );
    if !alone {
        return None;
    }
    let mut moved = *instruction;
    let mut used = vec![Register::RAX, Register::RCX, Register::RDX];
    for n in (0..moved.op_count()).filter(|n| instruction.op_kind(*n) == OpKind::Register) {
        if moved.op_register(n) == Register::RSP {
            moved.set_op_register(n, Register::R14);
        }
        used.push(moved.op_register(n).full_register());
    }
    if used.contains(&Register::RSP)
        || moved.mnemonic() == Div && used[3..].contains(&Register::RDX)
    {
        return None;
    }
    if moved.mnemonic() == Lea {
        if moved.memory_base() == Register::RSP {
            moved.set_memory_base(Register::R14);
        }
        return (!moved.is_ip_rel_memory_operand()).then_some((moved, None));
    }
    if !(0..moved.op_count()).any(|n| moved.op_kind(n) == OpKind::Memory) {
        return Some((moved, None));
    }
    let free = [Register::R15, Register::R13, Register::R12, Register::RBX];
    let base = free.into_iter().find(|register| !used.contains(register))?;
    moved.set_memory_base(base);
    moved.set_memory_index(Register::None);
    moved.set_memory_displacement64(0);
    moved.set_memory_displ_size(0);
    Some((moved, Some(crate::exec::number_of(base))))
}
