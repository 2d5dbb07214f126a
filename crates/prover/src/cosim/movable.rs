//! Instructions that can be executed alone, with memory operands moved to scratch memory.

use crate::exec::number_of;
use crate::native::{SCRATCH, State};
use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind, Register};

/// An instruction without rsp, whose memory operand is in the scratch memory.
pub(super) struct Movable {
    pub(super) instruction: Instruction,
    /// Registers of the address, with their values.
    fixed: Vec<(usize, u64)>,
    /// The offset of its operand in the scratch memory.
    offset: u64,
}

/// Code, length of the displacement, and text.
pub(super) type Kind = (usize, u32, String);

/// Names of instructions that cannot be executed alone.
pub(super) const NOT_ALONE: [&str; 5] = [
    "jumps, calls and returns",
    "push and pop",
    "prefetching",
    "repeated moves",
    "lea of rip",
];

/// Offsets of the memory operand: an unaligned one first.
const OFFSETS: [u64; 2] = [17, 0];

/// The content of an index register.
const INDEX: u64 = 5;

impl Movable {
    /// The instruction in each place. The error is its name, if it cannot be executed alone.
    pub(super) fn all(instruction: &Instruction) -> Result<Vec<Self>, String> {
        if let Some(name) = not_alone(instruction) {
            return Err(name.into());
        }
        let places = OFFSETS.iter().map(|offset| Self::at(instruction, *offset));
        places.collect::<Option<Vec<Self>>>().ok_or_else(|| {
            format!("{:?} with these operands", instruction.mnemonic()).to_lowercase()
        })
    }

    fn at(instruction: &Instruction, offset: u64) -> Option<Self> {
        let mut moved = *instruction;
        let mut free = free_registers(instruction);
        for n in 0..moved.op_count() {
            if moved.op_kind(n) == OpKind::Register && moved.op_register(n) == Register::RSP {
                moved.set_op_register(n, free.pop()?);
            }
        }
        let mut fixed = Vec::new();
        let has_memory = (0..moved.op_count()).any(|n| moved.op_kind(n) == OpKind::Memory);
        if has_memory && moved.mnemonic() == Mnemonic::Lea {
            if moved.memory_base() == Register::RSP {
                moved.set_memory_base(free.pop()?);
            }
        } else if has_memory {
            let keeps_form = moved.memory_base().is_gpr64();
            moved.set_memory_base(free.pop()?);
            if !keeps_form {
                moved.set_memory_index(Register::None);
                moved.set_memory_displacement64(0);
                moved.set_memory_displ_size(0);
            }
            let mut start = (SCRATCH + offset).wrapping_sub(moved.memory_displacement64());
            if moved.memory_index() != Register::None {
                moved.set_memory_index(free.pop()?);
                start = start.wrapping_sub(INDEX * u64::from(moved.memory_index_scale()));
                fixed.push((number_of(moved.memory_index()), INDEX));
            }
            fixed.push((number_of(moved.memory_base()), start));
        }
        let uses_stack = (0..moved.op_count()).any(|n| {
            moved.op_kind(n) == OpKind::Register
                && moved.op_register(n).full_register() == Register::RSP
        });
        let divides_by_itself = moved.mnemonic() == Mnemonic::Div
            && moved.op0_kind() == OpKind::Register
            && full(moved.op0_register()) == Register::RDX;
        (!uses_stack && !divides_by_itself).then_some(Self {
            instruction: moved,
            fixed,
            offset,
        })
    }

    /// Its role in the model, beside the place of its memory operand. Two instructions of one
    /// kind are one instruction:
    ///
    /// - code, registers, scale, immediates, masks, broadcast and the size of the operand are all
    ///   in it;
    /// - of a displacement, only whether there is one, of which length and sign. The model adds it
    ///   to the address (`address` in `exec/operand.rs`) and uses it nowhere else. The base
    ///   register compensates, so that the address is the same for all displacements. So model
    ///   and CPU do the same with another displacement, on the same states;
    /// - operands relative to rip, on the stack or in a buffer have become relative to a free
    ///   register before ([`Movable::all`]), and do not differ in anything else.
    ///
    /// `lea` computes with its displacement. So its kind has the displacement itself.
    pub(super) fn kind(&self) -> Kind {
        let mut instruction = self.instruction;
        if instruction.mnemonic() != Mnemonic::Lea {
            let displacement = instruction.memory_displacement64() as i64;
            instruction.set_memory_displacement64(displacement.signum() as u64);
        }
        let length = instruction.memory_displ_size();
        (instruction.code() as usize, length, instruction.to_string())
    }

    /// Registers that must have these values.
    pub(super) fn fixed(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.fixed.iter().copied()
    }

    /// Whether it faults on most states.
    pub(super) fn divides(&self) -> bool {
        self.instruction.mnemonic() == Mnemonic::Div
    }

    /// The length of the divisor in bits.
    pub(super) fn divisor_bits(&self) -> u32 {
        let size = match self.instruction.op0_kind() {
            OpKind::Register => self.instruction.op0_register().size(),
            _ => self.instruction.memory_size().size(),
        };
        8 * size as u32
    }

    pub(super) fn divisor(&self, state: &State) -> u64 {
        match self.instruction.op0_kind() {
            OpKind::Register => state.general[number_of(self.instruction.op0_register())],
            _ => {
                let (word, byte) = (self.offset as usize / 8, self.offset % 8);
                let words = [state.memory[word], state.memory[word + 1]];
                let both = u128::from(words[0]) | u128::from(words[1]) << 64;
                (both >> (8 * byte)) as u64
            }
        }
    }

    pub(super) fn set_divisor(&self, state: &mut State, divisor: u64) {
        match self.instruction.op0_kind() {
            OpKind::Register => {
                state.general[number_of(self.instruction.op0_register())] = divisor;
            }
            _ => state.memory.fill(divisor | 0x0101_0101_0101_0101),
        }
    }
}

fn not_alone(instruction: &Instruction) -> Option<&'static str> {
    use Mnemonic::*;
    let [jumps, stack, prefetching, repeated, lea_rip] = NOT_ALONE;
    match instruction.mnemonic() {
        Push | Pop => Some(stack),
        Prefetcht0 | Prefetcht1 | Prefetcht2 | Prefetchnta | Prefetchw => Some(prefetching),
        Movsb | Movsd | Movsq | Stosb | Stosd | Stosq if instruction.has_rep_prefix() => {
            Some(repeated)
        }
        Lea if instruction.is_ip_rel_memory_operand() => Some(lea_rip),
        _ if instruction.flow_control() != FlowControl::Next => Some(jumps),
        _ => None,
    }
}

/// General-purpose registers that the instruction does not use, not even implicitly. The last one
/// is taken first.
fn free_registers(instruction: &Instruction) -> Vec<Register> {
    use Register::*;
    let mut used = vec![RAX, RCX, RDX, RSP, RSI, RDI];
    used.extend([instruction.memory_base(), instruction.memory_index()].map(full));
    let operands = 0..instruction.op_count();
    let registers = operands.filter(|n| instruction.op_kind(*n) == OpKind::Register);
    used.extend(registers.map(|n| full(instruction.op_register(n))));
    [R8, R9, R10, R11, R14, RBP, RBX, R12, R13, R15]
        .into_iter()
        .filter(|register| !used.contains(register))
        .collect()
}

fn full(register: Register) -> Register {
    if register.is_gpr() {
        register.full_register()
    } else {
        register
    }
}
