//! Runs machine code on formulas instead of numbers.
//!
//! A [`Machine`] has the registers, flags and memory of an x86-64 CPU; each bit of them is a
//! [`Bit`], a formula over the inputs. An instruction is decoded from the bytes of the program by
//! `iced-x86` and operates on formulas as the CPU operates on numbers. At the end, the output
//! buffers hold formulas for the outputs.
//!
//! If a CPU would decide by data, the formula must be a constant: branches, addresses, shift
//! counts, divisors, string lengths. So only one path exists, and it is the same for all inputs. If
//! the formula is not a constant, the run stops. This finds secret-dependent timing.
//!
//! The machine assumes nothing unknown. Registers, flags, and the stack hold junk at the entry. An
//! instruction without a model, an unexpected prefix or an undefined flag stops the run. So does an
//! access below the stack pointer and its red zone. Memory that was there, or below the stack
//! pointer while a function of the C library ran, is *given up*: its contents are unknown from then
//! on, because a signal handler or that function may have overwritten it.

mod control;
mod fault;
mod flags;
mod hooks;
mod memory;
mod moment;
mod operand;
mod place;
mod scalar;
mod state;
mod vector;

pub use fault::{Fault, Wrong as WrongModel};
pub use flags::{Flag, Flags};
pub use memory::{Memory, Region};
pub(crate) use moment::Moment;
pub use place::Base;
pub(crate) use state::{State, Where};

use crate::features::Features;
use crate::hash::Map;
use crate::image::{Image, decoder};
use crate::term::{Bit, Terms, Word, value};
use iced_x86::{Instruction, Register};
use place::{Bases, Place, RETURN, STACK_BITS};
use std::collections::BTreeMap;

/// Why a run stopped before the function returned.
#[derive(Clone, Debug)]
pub struct Stop {
    /// The address of the instruction.
    pub at: u64,
    /// How many times the run has reached it, including this time; 0 for a function of the C
    /// library.
    pub visits: u64,
    /// The reason.
    pub reason: Reason,
}

/// Reasons that stop a run.
#[derive(Clone, Debug)]
pub enum Reason {
    /// The machine has no model of this.
    Unsupported(String),
    /// Timing or control would depend on this formula, which is not constant.
    Secret(&'static str, Word),
    /// The code breaks a rule, for all inputs.
    Wrong(String),
}

/// A step, or the reason why there is no next step.
pub type Outcome<T> = Result<T, Stop>;

/// A CPU on formulas.
pub struct Machine<'a> {
    /// The formulas.
    pub terms: &'a mut Terms,
    image: &'a Image,
    bases: Bases,
    /// General-purpose registers in the order of their encoding: rax, rcx, rdx, rbx, rsp, rbp, rsi,
    /// rdi, r8 to r15.
    pub general: Vec<Word>,
    /// zmm0 to zmm31.
    pub vectors: Vec<Word>,
    /// k0 to k7.
    pub masks: Vec<Word>,
    /// The flags.
    pub flags: Flags,
    /// Memory.
    pub memory: Memory,
    /// Address of the next instruction.
    pub next: u64,
    /// An address that counts as a turn of a loop wherever the run comes from.
    pub(crate) watched: Option<u64>,
    /// Every *join* counts as a turn of a loop: a step from an instruction that was executed for
    /// the first time to one that was executed once before.
    pub(crate) watches_joins: bool,
    /// A decision whose numbers are kept: the address of the instruction, and how many times it is
    /// reached until then.
    pub(crate) decision: Option<(u64, u64)>,
    /// The numbers of that decision.
    pub(crate) decided: Vec<u64>,
    /// Address of this instruction.
    at: u64,
    /// The fetched instructions, by address.
    pub fetched: BTreeMap<u64, Instruction>,
    /// Instructions by address, and how many times they were reached.
    decoded: Map<u64, (Instruction, u64)>,
    /// Division and prefetching may depend on data: the function has data-dependent addressing.
    pub by_data: bool,
    /// The function promises to wipe what it leaves.
    pub wipes: bool,
    /// It may return while the upper halves of vector registers are in use.
    pub leaves_upper_halves: bool,
    /// Sums of 64 bits are computed with their carries (see `Contract::integers`).
    pub keeps_carries: bool,
    /// The number of low bits of the caller's stack pointer that are known.
    pub stack_bits: u32,
    /// Upper halves of vector registers may be non-zero, which makes old instructions slow.
    upper_in_use: bool,
    /// Features that instructions may need.
    pub features: Features,
    /// The limit of executed instructions ([`MOST_STEPS`]).
    pub most_steps: u64,
    /// The limit of the length of all formulas together ([`Terms::length`]).
    pub most_length: usize,
    steps: u64,
    /// The arguments on the stack, at the entry.
    on_stack: Vec<Bit>,
    /// The lowest address of the stack in use after the last instruction.
    lowest: u64,
    /// The stack pointer then.
    pointer: Word,
    /// The lowest byte of the stack that was accessed.
    touched: u64,
    depth: u64,
    fault: Option<Fault>,
}

const RSP: usize = 4;
/// The registers in which the System V ABI passes integers.
pub(crate) const ARGUMENTS: [usize; 6] = [7, 6, 2, 1, 8, 9];
/// The registers that a function must preserve: rbx, rbp, r12 to r15.
pub(crate) const CALLEE_SAVED: [usize; 6] = [3, 5, 12, 13, 14, 15];
/// The registers that a function may change.
pub(crate) const CALLER_SAVED: [usize; 9] = [0, 1, 2, 6, 7, 8, 9, 10, 11];
/// The default limit of executed instructions.
pub const MOST_STEPS: u64 = 4_000_000;
/// The default limit of numbers of four bytes in the formulas of a run: a gibibyte.
pub const MOST_LENGTH: usize = 1 << 28;
/// How far below the stack pointer a function may write, by the ABI.
const RED_ZONE: u64 = 128;
/// The least size of a stack's guard. No access may skip it.
const GUARD: u64 = 4096;
/// How much stack a function may use.
const STACK: u64 = 1 << 20;

impl<'a> Machine<'a> {
    /// A machine in which everything is junk.
    pub fn new(terms: &'a mut Terms, image: &'a Image) -> Self {
        let mut junk = |count: usize, width: usize| -> Vec<Word> {
            (0..count).map(|_| terms.junk(width)).collect()
        };
        let (general, vectors, masks, bits) =
            (junk(16, 64), junk(32, 512), junk(8, 64), junk(4, 1));
        let flags = Flags {
            carry: Flag::Is(bits[0][0]),
            zero: Flag::Is(bits[1][0]),
            sign: Flag::Is(bits[2][0]),
            overflow: Flag::Is(bits[3][0]),
        };
        Self::with(terms, image, [general, vectors, masks], flags)
    }

    /// A machine with these general-purpose registers, vectors, masks and flags.
    pub(crate) fn with(
        terms: &'a mut Terms,
        image: &'a Image,
        [general, vectors, masks]: [Vec<Word>; 3],
        flags: Flags,
    ) -> Self {
        Self {
            terms,
            image,
            bases: Bases::default(),
            general,
            vectors,
            masks,
            flags,
            memory: Memory::default(),
            next: 0,
            watched: None,
            watches_joins: false,
            decision: None,
            decided: Vec::new(),
            at: 0,
            fetched: BTreeMap::new(),
            decoded: Map::default(),
            by_data: false,
            wipes: false,
            leaves_upper_halves: false,
            keeps_carries: false,
            stack_bits: STACK_BITS,
            upper_in_use: false,
            features: Features::baseline(),
            most_steps: MOST_STEPS,
            most_length: usize::MAX,
            on_stack: Vec::new(),
            steps: 0,
            lowest: 0,
            pointer: Word::new(),
            touched: u64::MAX,
            depth: 0,
            fault: None,
        }
    }

    /// Calls the function at `entry` with integer arguments, and checks the rules of the ABI. Calls
    /// `at_turn` after each jump backwards, once an iteration of a loop, with the registers at the
    /// entry.
    pub(crate) fn call_watched(
        &mut self,
        entry: u64,
        arguments: &[Word],
        place: (Vec<Base>, u64),
        at_turn: impl FnMut(&mut Self, &[Word]) -> Outcome<()>,
    ) -> Outcome<()> {
        let before = self.begin_call(entry, arguments, place)?;
        self.go_on(&before, at_turn)
    }

    /// Prepares a call of the function at `entry`, and returns the general registers before the
    /// call. Six arguments are in registers, the others on the stack of the caller. Buffers are at
    /// `bases`. `stack` names the stack pointer of the caller, a multiple of 16.
    pub(crate) fn begin_call(
        &mut self,
        entry: u64,
        arguments: &[Word],
        (bases, stack): (Vec<Base>, u64),
    ) -> Outcome<Vec<Word>> {
        assert!(stack.is_multiple_of(16), "the ABI aligns the stack");
        let before = self.general.clone();
        for (register, argument) in ARGUMENTS.into_iter().zip(arguments) {
            self.general[register] = argument.clone();
        }
        self.declare_bases(bases, stack);
        let range = self.stack_range(stack);
        self.memory.declare_stack(range);
        let in_registers = arguments.len().min(ARGUMENTS.len());
        self.declare_arguments(&arguments[in_registers..], stack);
        self.general[RSP] = self.base_of_stack();
        self.touched = stack;
        let back = self.return_address();
        self.push(&back)?;
        self.next = entry;
        Ok(before)
    }

    /// Continues until the function returns, and checks the rules of the ABI. `before` are the
    /// registers at the entry. Calls `at_turn` also when the run reaches the watched address, and
    /// at joins if they are watched.
    pub(crate) fn go_on(
        &mut self,
        before: &[Word],
        mut at_turn: impl FnMut(&mut Self, &[Word]) -> Outcome<()>,
    ) -> Outcome<()> {
        // The moment may be just after the stack pointer rose.
        self.give_up_stack()?;
        while self.next != RETURN {
            self.at = self.next;
            if !self.hook()? {
                let instruction = self.fetch()?;
                self.step(&instruction)?;
                let is_back = self.next < self.at && !instruction.is_call_near();
                let is_watched = self.watched == Some(self.next);
                if is_back || is_watched || self.watches_joins && self.is_join() {
                    at_turn(self, before)?;
                }
            }
            self.give_up_stack()?;
        }
        self.check_abi(before)
    }

    /// Whether the last step is a join.
    pub(crate) fn is_join(&self) -> bool {
        let was_executed_once = |at| matches!(self.decoded.get(at), Some((_, 1)));
        was_executed_once(&self.at) && was_executed_once(&self.next)
    }

    /// Arguments on the stack are above the return address. The function may change them.
    fn declare_arguments(&mut self, arguments: &[Word], stack: u64) {
        if arguments.is_empty() {
            return;
        }
        self.on_stack = arguments.concat();
        let region = Region {
            name: "its arguments on the stack".into(),
            range: stack..stack + 8 * arguments.len() as u64,
            writable: true,
        };
        self.memory.declare(region, &arguments.concat());
    }

    /// Bytes of the arguments on the stack that differ from the caller's.
    pub(crate) fn changed_arguments(&self, stack: u64) -> Vec<Word> {
        let range = stack..stack + self.on_stack.len() as u64 / 8;
        let now = self.memory.contents(range);
        let bytes = now.chunks(8).zip(self.on_stack.chunks(8));
        let changed = bytes.filter(|(now, before)| now != before);
        changed.map(|(now, _)| now.to_vec()).collect()
    }

    /// Replaces every bit of registers and memory that is not a constant. Afterwards the flags are
    /// unknown. A word of memory stays if `may_change` is false for all its bits.
    pub(crate) fn change_all(
        &mut self,
        may_change: impl Fn(&Terms, Bit) -> bool,
        mut change: impl FnMut(&mut Terms, Bit) -> Bit,
    ) {
        let terms = &mut *self.terms;
        let mut junk = || Flag::Is(terms.junk(1)[0]);
        self.flags = Flags {
            carry: junk(),
            zero: junk(),
            sign: junk(),
            overflow: junk(),
        };
        let registers = self.general.iter_mut().chain(&mut self.vectors);
        let registers = registers.chain(&mut self.masks).flatten();
        let memory = self.memory.words_with(|bit| may_change(terms, bit));
        let memory = memory.into_iter().flatten();
        for bit in registers.chain(memory).filter(|bit| !bit.is_constant()) {
            *bit = change(terms, *bit);
        }
    }

    /// Every bit in registers and in memory that the function may write.
    pub(crate) fn bits(&self) -> impl Iterator<Item = Bit> {
        let registers = self.general.iter().chain(&self.vectors).flatten().copied();
        registers.chain(self.memory.writable())
    }

    /// How many instructions were executed.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Plants an error in one place, to check that it is noticed.
    pub fn make_wrong(&mut self, fault: Fault) {
        self.fault = Some(fault);
    }

    /// The planted error, with the number of places passed.
    pub fn take_fault(&mut self) -> Option<Fault> {
        self.fault.take()
    }

    /// Executes one instruction.
    ///
    /// # Errors
    /// Why it cannot be executed.
    pub fn step(&mut self, instruction: &Instruction) -> Outcome<()> {
        self.steps += 1;
        if self.steps > self.most_steps {
            return self.unsupported("it does not end");
        }
        if self.terms.length() > self.most_length {
            return self.unsupported("its formulas become too many");
        }
        self.next = instruction.next_ip();
        if instruction.has_rep_prefix() || instruction.has_repne_prefix() {
            return self.repeat(instruction);
        }
        if instruction.has_lock_prefix() {
            return self.unsupported("a locked instruction");
        }
        if self.control(instruction)? || self.scalar(instruction)? || self.vector(instruction)? {
            return Ok(());
        }
        self.unsupported(format!("the instruction `{instruction}`"))
    }

    fn fetch(&mut self) -> Outcome<Instruction> {
        if let Some((instruction, visits)) = self.decoded.get_mut(&self.at) {
            *visits += 1;
            return Ok(*instruction);
        }
        let Some(bytes) = self.image.code(self.at, 15) else {
            return self.wrong("a jump out of the program");
        };
        let instruction = decoder(bytes, self.at).decode();
        if instruction.is_invalid() {
            return self.unsupported("bytes that are not an instruction");
        }
        if let Some(missing) = self.features.missing(&instruction) {
            return self.wrong(format!(
                "`{instruction}` needs {missing:?}, which is not of its instruction set"
            ));
        }
        self.decoded.insert(self.at, (instruction, 1));
        self.fetched.insert(self.at, instruction);
        Ok(instruction)
    }

    fn check_abi(&mut self, before: &[Word]) -> Outcome<()> {
        if self.general[RSP] != self.base_of_stack() {
            return self.wrong("the stack pointer is not what it was");
        }
        if self.upper_in_use && !self.leaves_upper_halves {
            return self.wrong("upper halves of vector registers are in use after the return: vzeroupper is missing");
        }
        for register in CALLEE_SAVED {
            if self.general[register] != before[register] {
                let change = self.terms_xor(&before[register], &self.general[register].clone());
                return self.secret(CLOBBERED, change);
            }
        }
        Ok(())
    }

    fn terms_xor(&mut self, a: &[Bit], b: &[Bit]) -> Word {
        a.iter()
            .zip(b)
            .map(|(a, b)| self.terms.xor(*a, *b))
            .collect()
    }

    fn unsupported<T>(&self, what: impl Into<String>) -> Outcome<T> {
        self.stop(Reason::Unsupported(what.into()))
    }

    fn wrong<T>(&self, what: impl Into<String>) -> Outcome<T> {
        self.stop(Reason::Wrong(what.into()))
    }

    fn secret<T>(&self, what: &'static str, word: Word) -> Outcome<T> {
        self.stop(Reason::Secret(what, word))
    }

    fn stop<T>(&self, reason: Reason) -> Outcome<T> {
        let (at, visits) = (self.at, self.visits());
        Err(Stop { at, visits, reason })
    }

    /// How many times this instruction was reached.
    fn visits(&self) -> u64 {
        self.decoded.get(&self.at).map_or(0, |(_, visits)| *visits)
    }

    /// Keeps a number by which this instruction decides, if it is the decision that is asked for.
    fn keep_decided(&mut self, number: u64) {
        if self.decision.is_some() && self.decision == Some((self.at, self.visits())) {
            self.decided.push(number);
        }
    }

    /// The value of a word that is the same for all inputs.
    fn public(&mut self, word: &[Bit], what: &'static str) -> Outcome<u64> {
        match value(word) {
            Some(number) => {
                self.keep_decided(number as u64);
                Ok(number as u64)
            }
            None => self.secret(what, word.to_vec()),
        }
    }

    /// Reads memory.
    fn load(&mut self, place: Place, length: u64) -> Outcome<Word> {
        self.touch(place, length)?;
        let lowest = self.lowest();
        let relocated = self.relocated(place.address, length);
        let program = (self.image, &relocated[..]);
        let loaded = self
            .memory
            .load(self.terms, program, place.address, length, lowest);
        loaded.or_else(|what| self.wrong(what))
    }

    /// Writes memory.
    fn store(&mut self, place: Place, word: &[Bit]) -> Outcome<()> {
        self.touch(place, word.len() as u64 / 8)?;
        let lowest = self.lowest();
        let stored = self.memory.store(place.address, word, lowest);
        stored.or_else(|what| self.wrong(what))
    }

    /// Checks an access to the stack: it must be at most a guard's size below all accesses before,
    /// or it could skip the guard.
    fn touch(&mut self, place: Place, length: u64) -> Outcome<()> {
        self.check_gap(place, length)?;
        let is_lower = self.memory.is_stack(place.address)
            && place.address < self.touched
            && !self.is_above_aligned(place);
        if length == 0 || !is_lower {
            return Ok(());
        }
        if self.touched - place.address > GUARD {
            return self.wrong("an access that may skip the guard of the stack: it was not probed");
        }
        // A mask can exclude the lowest elements, and then the CPU does not access them.
        let has_mask =
            |(instruction, _): &(Instruction, u64)| instruction.op_mask() != Register::None;
        if !self.decoded.get(&self.at).is_some_and(has_mask) {
            self.touched = place.address;
        }
        let depth = self.memory.stack_end() - place.address + self.slack();
        self.depth = self.depth.max(depth);
        Ok(())
    }

    /// The lowest address of the stack that was accessed.
    pub(crate) fn touched(&self) -> u64 {
        self.touched
    }

    /// The largest number of bytes of stack in use, including the return address.
    pub fn depth(&self) -> u64 {
        self.depth
    }

    /// When the stack pointer rises, the memory below it and its red zone may be overwritten at any
    /// time, for example by a signal handler.
    fn give_up_stack(&mut self) -> Outcome<()> {
        if self.general[RSP] == self.pointer {
            return Ok(());
        }
        let pointer = self.stack_pointer()?;
        self.check_stack_pointer(pointer)?;
        let lowest = pointer.address.saturating_sub(RED_ZONE);
        if let Some(floor) = self.leave_aligned_stack(pointer) {
            // The distance is unknown: no byte that the aligned stack may have is known any more.
            self.memory.give_up_stack(floor.max(pointer.address));
        }
        if lowest > self.lowest {
            self.memory.give_up_stack(lowest);
        }
        self.lowest = lowest;
        self.pointer = self.general[RSP].clone();
        Ok(())
    }

    /// The lowest address of the stack that may be used now.
    fn lowest(&mut self) -> u64 {
        if self.general[RSP] == self.pointer {
            return self.lowest;
        }
        let pointer = self.stack_pointer();
        pointer.map_or(u64::MAX, |pointer| pointer.address.saturating_sub(RED_ZONE))
    }
}

/// The text for a branch that depends on secrets.
pub(crate) const BRANCH: &str = "a branch";
/// The text for the stack pointer after an instruction.
pub(crate) const STACK_POINTER: &str = "a stack pointer";
/// The text for a register that is not restored.
pub(crate) const CLOBBERED: &str = "a register that belongs to the caller";

/// The number of a general-purpose register in [`Machine::general`].
pub(crate) fn number_of(register: Register) -> usize {
    register.full_register() as usize - Register::RAX as usize
}
