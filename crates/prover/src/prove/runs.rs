//! Runs the function itself: to check a proof, and to reproduce a refutation.

use super::Layout;
use crate::algebra::Numbers;
use crate::contract::{Access, Argument, Contents, Contract, Parity};
use crate::exec::{ARGUMENTS, BRANCH, CALLEE_SAVED, CLOBBERED, STACK_POINTER, number_of};
use crate::image::{Image, Symbol};
use crate::native::{Entry, Executed, Mapping, ON_STACK, Reached, Until};
use crate::term::{Random, SAMPLES, Terms, Word};
use iced_x86::{Instruction, OpKind, Register};

/// A function and its memory, ready to be called with the sample inputs.
pub(super) struct NativeRuns<'a> {
    mapping: Mapping,
    function: u64,
    contract: &'a Contract,
    layout: &'a Layout,
    /// The samples of each cell of each buffer.
    samples: Vec<Vec<[u128; SAMPLES]>>,
}

/// A decision that is not the same for all inputs.
pub(super) struct Decision<'a> {
    /// The kind of decision, as the executor names it.
    pub(super) what: &'static str,
    /// The instruction.
    pub(super) instruction: &'a Instruction,
    /// The number of times that it is reached, including this time.
    pub(super) visits: u64,
}

/// Verdicts of native runs.
pub(super) enum Decided {
    /// They differ: a text with inputs.
    Differs(String),
    /// The same on all samples, or right.
    Same,
    /// Native runs cannot show it.
    Unknown,
}

/// From one sample to the next, the stack pointer of runs that are compared with the specification
/// moves by so many bytes: an odd multiple of 16. So 64 samples see 64 places in a page, and each
/// place modulo 64 as often as another.
const STACK_STEP: u64 = 67 * 16;
const PAGE: u64 = 4096;

/// Bits above an argument of one byte in native runs.
const ABOVE_A_BYTE: u64 = 0xb5ad_4ece_da1c_e200;

impl<'a> NativeRuns<'a> {
    /// # Errors
    /// The part that cannot be mapped.
    pub(super) fn new(
        terms: &Terms,
        image: &Image,
        symbol: &Symbol,
        (contract, layout): (&'a Contract, &'a Layout),
        contents: &Contents<Word>,
    ) -> Result<Self, String> {
        let samples = contents
            .iter()
            .map(|cells| cells.iter().map(|cell| terms.samples(cell)).collect())
            .collect();
        Ok(Self {
            mapping: Mapping::new(image, &layout.ranges)?,
            function: symbol.start,
            contract,
            layout,
            samples,
        })
    }

    /// Why outputs and specification on numbers cannot be compared.
    pub(super) fn misfit(&mut self) -> Option<String> {
        let inputs = self.inputs(0);
        let outputs = self.outputs(0, &inputs);
        let expected = (self.contract.formula.numeric)(&mut Numbers, &inputs);
        super::misfit(&super::outputs_of(self.contract), &outputs, &expected)
    }

    /// The first sample on which the outputs differ from the specification on numbers.
    pub(super) fn wrong_sample(&mut self) -> Option<usize> {
        (0..SAMPLES).find(|sample| {
            let inputs = self.inputs(*sample);
            self.outputs(*sample, &inputs) != (self.contract.formula.numeric)(&mut Numbers, &inputs)
        })
    }

    /// The instructions of one call. `None` if there are too many.
    pub(super) fn trace(&mut self) -> Option<Vec<Executed>> {
        let inputs = self.inputs(0);
        let entry = self.entry(0, &inputs);
        self.mapping.fill(&inputs);
        self.mapping.record(self.function, &entry)
    }

    fn outputs(&mut self, sample: usize, inputs: &Contents<u64>) -> Contents<u64> {
        let entry = Entry {
            below_a_page: sample as u64 * STACK_STEP % PAGE,
            ..self.entry(sample, inputs)
        };
        self.mapping.fill(inputs);
        let returned = self.mapping.call(self.function, &entry);
        let buffers = self.contract.buffers.iter();
        let written = buffers
            .zip(self.mapping.contents())
            .filter(|(buffer, _)| buffer.access == Access::Write);
        let mut outputs: Contents<u64> = written.map(|(_, cells)| cells).collect();
        if self.contract.results > 0 {
            outputs.push(returned[..self.contract.results].to_vec());
        }
        outputs
    }

    /// Compares the decision on all samples, the two `first` ones before the others.
    pub(super) fn decided(&mut self, decision: &Decision<'_>, first: [usize; 2]) -> Decided {
        if decision.visits == 0 {
            return Decided::Unknown;
        }
        let mut before: Option<(usize, Vec<u64>)> = None;
        for sample in first.into_iter().chain(0..SAMPLES) {
            let Some(numbers) = self.decision(decision, sample) else {
                return Decided::Unknown;
            };
            if decision.what == CLOBBERED {
                match numbers.iter().any(|change| *change != 0) {
                    true => return Decided::Differs(format!("with {}", self.show(sample))),
                    false => continue,
                }
            }
            match &before {
                None => before = Some((sample, numbers)),
                Some((_, same)) if *same == numbers => {}
                Some((other, others)) => {
                    let cases = [(*other, others), (sample, &numbers)];
                    let cases = cases.map(|(sample, numbers)| {
                        format!("{} with {}", hexadecimal(numbers), self.show(sample))
                    });
                    return Decided::Differs(cases.join(", and "));
                }
            }
        }
        Decided::Same
    }

    /// The numbers of the decision on one sample; for the caller's registers, their changes.
    fn decision(&mut self, decision: &Decision<'_>, sample: usize) -> Option<Vec<u64>> {
        let inputs = self.inputs(sample);
        let entry = self.entry(sample, &inputs);
        let until = Until {
            at: decision.instruction.ip(),
            visits: decision.visits,
            through: matches!(decision.what, BRANCH | STACK_POINTER),
        };
        self.mapping.fill(&inputs);
        let reached = self.mapping.call_until(self.function, &entry, &until)?;
        if decision.what == CLOBBERED {
            let changes = CALLEE_SAVED.map(|i| reached.general[i] ^ entry.general[i]);
            return Some(changes.to_vec());
        }
        numbers(decision.what, decision.instruction, &reached)
    }

    /// The content of all buffers at the entry.
    fn inputs(&self, sample: usize) -> Contents<u64> {
        let cells = |cells: &Vec<[u128; SAMPLES]>| {
            let values = cells.iter().map(|values| values[sample] as u64);
            values.collect()
        };
        self.samples.iter().map(cells).collect()
    }

    /// The arguments in registers and on the stack. Other registers and the flags differ between
    /// samples. The stack pointer does not: decisions on it are compared.
    fn entry(&self, sample: usize, inputs: &Contents<u64>) -> Entry {
        let mut random = Random::new(sample as u64);
        let mut general = core::array::from_fn(|_| random.number());
        let arguments = self.contract.arguments.iter();
        let mut arguments = arguments.map(|argument| match argument {
            Argument::Address(name) => self.layout.ranges[self.contract.index(name)].start,
            Argument::Byte(number) => ABOVE_A_BYTE | u64::from(*number),
            Argument::Number(number) => *number,
            Argument::Twice(name, parity) => {
                inputs[self.contract.index(name)][0] << 1 | u64::from(*parity == Parity::Odd)
            }
            Argument::Value(name, cell) => inputs[self.contract.index(name)][*cell],
        });
        for (register, argument) in ARGUMENTS.into_iter().zip(&mut arguments) {
            general[register] = argument;
        }
        let flags = random.number();
        let mut stack: [u64; ON_STACK] = core::array::from_fn(|_| random.number());
        for (word, argument) in stack.iter_mut().zip(&mut arguments) {
            *word = argument;
        }
        assert!(arguments.next().is_none(), "room for all arguments");
        Entry {
            general,
            flags,
            stack,
            below_a_page: 0,
        }
    }

    /// A sample input, as text.
    pub(super) fn show(&self, sample: usize) -> String {
        show(self.contract, &self.inputs(sample))
    }
}

/// A sample input, as text.
pub(super) fn show_sample(
    terms: &Terms,
    contract: &Contract,
    contents: &Contents<Word>,
    sample: usize,
) -> String {
    let number = |cell: &Word| terms.samples(cell)[sample] as u64;
    let inputs = contents
        .iter()
        .map(|cells| cells.iter().map(number).collect());
    show(contract, &inputs.collect())
}

/// The content of buffers, as text.
pub(super) fn show(contract: &Contract, inputs: &Contents<u64>) -> String {
    let buffers = contract.buffers.iter().zip(inputs);
    let shown = buffers.map(|(buffer, cells)| {
        let words: Vec<String> = cells.iter().map(|cell| format!("{cell:016x}")).collect();
        format!("{} = {}", buffer.name, words.join(" "))
    });
    shown.collect::<Vec<_>>().join(", ")
}

fn hexadecimal(numbers: &[u64]) -> String {
    let numbers = numbers.iter().map(|number| format!("{number:#x}"));
    numbers.collect::<Vec<_>>().join(" ")
}

/// The operand of an instruction's decision, if it is in general-purpose registers; for a branch,
/// its target.
fn numbers(what: &str, instruction: &Instruction, reached: &Reached) -> Option<Vec<u64>> {
    let of = |register: Register| {
        let bits = 8 * register.size();
        let is_general =
            register.is_gpr8() || register.is_gpr16() || register.is_gpr32() || register.is_gpr64();
        is_general.then(|| reached.general[number_of(register)] & u64::MAX >> (64 - bits))
    };
    let operand = |n| match instruction.op_kind(n) {
        OpKind::Register => of(instruction.op_register(n)),
        _ => None,
    };
    let last = instruction.op_count().checked_sub(1);
    match what {
        BRANCH => Some(vec![reached.next]),
        "an address" => {
            let address =
                |n| instruction.virtual_address(n, 0, |register, _, _| of(register).or(Some(0)));
            Some((0..instruction.op_count()).filter_map(address).collect())
        }
        "a jump target" => Some(vec![operand(0)?]),
        "a shift count" => Some(vec![operand(last?)?]),
        "a division" => Some(vec![
            of(Register::RAX)?,
            of(Register::RDX)?,
            operand(0).unwrap_or(0),
        ]),
        "a string length" => Some(vec![of(Register::RCX)?]),
        STACK_POINTER => Some(vec![of(Register::RSP)?]),
        _ => None,
    }
}
