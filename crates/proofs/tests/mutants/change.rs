//! The changes of an instruction.

use super::Proved;
use iced_x86::{Code, Decoder, DecoderOptions, Instruction, OpKind, Register};
use sealstone_prover::term::Random;

/// A change of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Change {
    Deleted,
    Immediate,
    Operand,
    Operation,
}

pub(super) const CHANGES: [Change; 4] = [
    Change::Deleted,
    Change::Immediate,
    Change::Operand,
    Change::Operation,
];

/// The bytes of a mutant of the instruction, with the same length; `None` if there is no such
/// mutant.
pub(super) fn mutated(
    (proved, bytes): (&Proved, &[u8]),
    instruction: &Instruction,
    change: Change,
    random: &mut Random,
) -> Option<Vec<u8>> {
    match change {
        Change::Deleted => Some(vec![NOP; instruction.len()]),
        Change::Immediate => with_other_immediate(bytes, random),
        Change::Operand => with_other_operand(instruction, random),
        Change::Operation => with_other_operation(&proved.instructions, instruction, random),
    }
}

const NOP: u8 = 0x90;

/// Flips one bit of the immediate.
fn with_other_immediate(bytes: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut decoder = Decoder::new(64, bytes, DecoderOptions::NONE);
    let instruction = decoder.decode();
    let place = decoder.get_constant_offsets(&instruction);
    if !place.has_immediate() {
        return None;
    }
    let bit = below(random, 8 * place.immediate_size());
    let mut bytes = bytes.to_vec();
    bytes[place.immediate_offset() + bit / 8] ^= 1 << (bit % 8);
    Some(bytes)
}

/// Whether it calls or jumps through a table of functions.
pub(super) fn is_from_table(instruction: &Instruction) -> bool {
    (instruction.is_call_near_indirect() || instruction.is_jmp_near_indirect())
        && instruction.is_ip_rel_memory_operand()
}

fn with_other_operand(instruction: &Instruction, random: &mut Random) -> Option<Vec<u8>> {
    // The next entry of the table depends on all other code of the program.
    if instruction.op_count() == 0 || is_from_table(instruction) {
        return None;
    }
    let mut other = *instruction;
    let operand = below(random, instruction.op_count() as usize) as u32;
    match instruction.op_kind(operand) {
        OpKind::Register => {
            let register = instruction.op_register(operand);
            let (first, count) = class_of(register)?;
            let moved = 1 + below(random, count - 1);
            let number = (register.number() + moved) % count;
            other.set_op_register(operand, first + number as u32);
        }
        OpKind::Memory => {
            let distance = instruction.memory_displacement64();
            other.set_memory_displacement64(distance.wrapping_add(8));
        }
        _ => return None,
    }
    encoded(&other, instruction)
}

/// The first of the registers that may replace this one, and their number.
fn class_of(register: Register) -> Option<(Register, usize)> {
    match () {
        () if register.is_gpr64() => Some((Register::RAX, 16)),
        () if register.is_gpr32() => Some((Register::EAX, 16)),
        () if register.is_xmm() => Some((Register::XMM0, 16)),
        () if register.is_ymm() => Some((Register::YMM0, 16)),
        () if register.is_zmm() => Some((Register::ZMM0, 32)),
        () => None,
    }
}

/// An operation that the function has elsewhere, with operands of the same kinds.
fn with_other_operation(
    all: &[Instruction],
    instruction: &Instruction,
    random: &mut Random,
) -> Option<Vec<u8>> {
    let shape = |instruction: &Instruction| {
        let operands = 0..instruction.op_count();
        let operands = operands.map(|n| {
            let register = instruction.op_register(n);
            (
                instruction.op_kind(n),
                class_of(register).map(|(first, _)| first),
            )
        });
        operands.collect::<Vec<_>>()
    };
    let same = all
        .iter()
        .filter(|other| shape(other) == shape(instruction));
    let mut codes: Vec<Code> = same.map(|other| other.code()).collect();
    codes.sort();
    codes.dedup();
    codes.retain(|code| *code != instruction.code());
    let mut other = *instruction;
    other.set_code(*codes.get(below(random, codes.len().max(1)))?);
    encoded(&other, instruction)
}

/// The bytes of an instruction in the place of another one.
fn encoded(other: &Instruction, instead_of: &Instruction) -> Option<Vec<u8>> {
    let mut encoder = iced_x86::Encoder::new(64);
    encoder.encode(other, instead_of.ip()).ok()?;
    let mut bytes = encoder.take_buffer();
    if bytes.len() > instead_of.len() {
        return None;
    }
    bytes.resize(instead_of.len(), NOP);
    Some(bytes)
}

pub(super) fn below(random: &mut Random, count: usize) -> usize {
    (random.number() % count as u64) as usize
}
