//! Whether a library has the machine code of a kernel that was proved in another program.
//!
//! The command and the libraries are built of the same crates. Often, the compiler makes the same
//! code for all of them. Only distances to other functions and to constants differ. Then the proof
//! in the command also holds in the library, and need not be repeated.
//!
//! # The check
//!
//! An instruction of the proof and the corresponding one in the library are a *pair*. The entries
//! of both functions are a pair. The instructions after a pair are a pair. The targets of its jump
//! or call are a pair. Each instruction that a run of the proof has executed must be in a pair. The
//! check demands of each pair:
//!
//! - Both have the same bytes, except for four bytes that are a distance from rip, and the distance
//!   of a jump or call.
//! - A distance from rip leads to constants. The proof has read all their bytes, and the library
//!   has the same bytes. If the address of the proof's constant is a multiple of its size, so is
//!   the address of the library's.
//! - Or it leads to the target of an indirect jump or call, which the loader writes. Both targets
//!   are the function of another library with the same name, or they are a pair.
//! - It is no other jump through memory or a register, and takes no address of the program (`lea`).
//!
//! All constants that the proof has read must be among the compared ones.
//!
//! # Soundness
//!
//! Compare a run in the library with a run in the command that begins in the same state, except for
//! rip. Both execute pairs, step by step. After each step the states are the same, except for rip
//! and return addresses: no other address of the program enters a register or memory. A proof knows
//! nothing of return addresses (each is a separate base, [`sealstone_prover::exec`]), so it holds
//! for all of them. Its statements about outputs, branches, accesses, the stack and remaining
//! secrets therefore hold in the library.
//!
//! The instructions need the same features, so the row in the library needs the same target.

use crate::coverage::Executed;
use iced_x86::{ConstantOffsets, FlowControl, Instruction, OpKind};
use sealstone_prover::image::{Image, decoder};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The instructions and constants of the runs of a proof.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The entry of the function.
    pub start: u64,
    /// The instructions.
    pub executed: Executed,
    /// The addresses of constants.
    pub constants: BTreeSet<u64>,
}

/// The same trace in the library, if the function at `start` has the same code.
pub fn find(program: &Image, trace: &Trace, library: &Image, start: u64) -> Option<Trace> {
    let mut pairs = Pairs {
        program,
        trace,
        library,
        of: BTreeMap::new(),
        pending: vec![(trace.start, start)],
        compared: BTreeSet::new(),
        constants: BTreeSet::new(),
    };
    while let Some(pair) = pairs.pending.pop() {
        pairs.compare(pair)?;
    }
    let is_complete = trace.executed.keys().all(|at| pairs.of.contains_key(at))
        && trace.constants.is_subset(&pairs.compared);
    let executed = pairs.of.iter();
    let executed = executed.map(|(at, other)| (*other, trace.executed[at]));
    is_complete.then(|| Trace {
        start,
        executed: executed.collect(),
        constants: pairs.constants,
    })
}

/// The pairs so far.
struct Pairs<'a> {
    program: &'a Image,
    trace: &'a Trace,
    library: &'a Image,
    /// Addresses of the library by those of the program.
    of: BTreeMap<u64, u64>,
    /// Pairs that were not compared yet.
    pending: Vec<(u64, u64)>,
    /// Constants of the program that the library has too.
    compared: BTreeSet<u64>,
    /// Their addresses in the library.
    constants: BTreeSet<u64>,
}

/// An instruction at its address.
struct Code<'a> {
    instruction: Instruction,
    offsets: ConstantOffsets,
    bytes: &'a [u8],
}

impl<'a> Code<'a> {
    fn at(image: &'a Image, address: u64, length: usize) -> Option<Self> {
        let bytes = image.code(address, length)?;
        let mut decoder = decoder(bytes, address);
        let instruction = decoder.decode();
        (!instruction.is_invalid() && instruction.len() == length).then(|| Self {
            instruction,
            offsets: decoder.get_constant_offsets(&instruction),
            bytes,
        })
    }

    /// The bytes of its distance to another place of the program, if it has one.
    fn distance(&self) -> Range<usize> {
        let offsets = &self.offsets;
        let (start, size) = if self.instruction.is_ip_rel_memory_operand() {
            (offsets.displacement_offset(), offsets.displacement_size())
        } else if self.has_near_target() {
            (offsets.immediate_offset(), offsets.immediate_size())
        } else {
            (0, 0)
        };
        start..start + size
    }

    fn has_near_target(&self) -> bool {
        self.instruction.op_count() > 0 && self.instruction.op0_kind() == OpKind::NearBranch64
    }
}

impl Pairs<'_> {
    /// Compares a pair and finds the pairs that follow from it. `None` if the two differ.
    fn compare(&mut self, (at, other): (u64, u64)) -> Option<()> {
        let Some(length) = self.trace.executed.get(&at) else {
            // No run reaches this.
            return Some(());
        };
        if let Some(known) = self.of.insert(at, other) {
            return (known == other).then_some(());
        }
        let code = Code::at(self.program, at, *length)?;
        let same = Code::at(self.library, other, *length)?;
        let distance = code.distance();
        let is_same = distance == same.distance()
            && code.bytes[..distance.start] == same.bytes[..distance.start]
            && code.bytes[distance.end..] == same.bytes[distance.end..];
        if !is_same {
            return None;
        }
        let pair = [&code, &same].map(|code| &code.instruction);
        match code.instruction.flow_control() {
            FlowControl::Next => {
                self.compare_constants(pair)?;
                self.follow(pair)
            }
            FlowControl::ConditionalBranch | FlowControl::Call => {
                self.jump(&code, pair)?;
                self.follow(pair)
            }
            FlowControl::UnconditionalBranch => self.jump(&code, pair),
            FlowControl::IndirectCall => {
                self.jump_indirectly(pair)?;
                self.follow(pair)
            }
            FlowControl::IndirectBranch => self.jump_indirectly(pair),
            FlowControl::Return => Some(()),
            FlowControl::Interrupt | FlowControl::XbeginXabortXend | FlowControl::Exception => None,
        }
    }

    /// The instructions after this pair are a pair.
    fn follow(&mut self, pair: [&Instruction; 2]) -> Option<()> {
        let [at, other] = pair.map(Instruction::next_ip);
        self.pending.push((at, other));
        Some(())
    }

    fn jump(&mut self, code: &Code<'_>, pair: [&Instruction; 2]) -> Option<()> {
        let [at, other] = pair.map(Instruction::near_branch_target);
        self.pending.push((at, other));
        code.has_near_target().then_some(())
    }

    /// A jump or call through an address that the loader writes.
    fn jump_indirectly(&mut self, pair: [&Instruction; 2]) -> Option<()> {
        let [program, library] = [self.program, self.library];
        let target = |image: &Image, instruction: &Instruction| {
            let is_far = instruction.op0_kind() != OpKind::Memory
                || instruction.memory_size().size() != 8
                || !instruction.is_ip_rel_memory_operand();
            let place = instruction.ip_rel_memory_address();
            let (at, target) = image.relocated(place..place.wrapping_add(1)).next()?;
            (!is_far && at == place).then_some(target)
        };
        let (at, other) = (target(program, pair[0])?, target(library, pair[1])?);
        match (program.import_at(at), library.import_at(other)) {
            (None, None) => self.pending.push((at, other)),
            (Some(name), Some(same)) if name == same => {}
            _ => return None,
        }
        Some(())
    }

    /// The constants that a pair reads.
    fn compare_constants(&mut self, pair: [&Instruction; 2]) -> Option<()> {
        if !pair[0].is_ip_rel_memory_operand() {
            return Some(());
        }
        let length = pair[0].memory_size().size() as u64;
        let [place, other] = pair.map(Instruction::ip_rel_memory_address);
        // `lea` computes an address and does not read.
        let is_less_aligned =
            length == 0 || place.is_multiple_of(length) && !other.is_multiple_of(length);
        let moved = other.saturating_sub(7)..other.checked_add(length)?;
        if is_less_aligned || self.library.relocated(moved).next().is_some() {
            return None;
        }
        for i in 0..length {
            let (at, same) = (place + i, other + i);
            let byte = self.program.byte(at)?;
            if !self.trace.constants.contains(&at) || self.library.byte(same) != Some(byte) {
                return None;
            }
            self.compared.insert(at);
            self.constants.insert(same);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests;
