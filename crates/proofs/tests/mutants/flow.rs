//! Whether two runs have the same data flow: the same operations on the same values lead to their
//! results.
//!
//! Each byte of a register and of memory has a number. A copy copies numbers. Another operation
//! gives its results new numbers, which depend on the operation and on the numbers of its operands
//! alone. So equal numbers are equal values, whatever the inputs are. Different numbers say
//! nothing. Sums of the same numbers are equal in any order. The runs must stand for all others:
//! neither addresses nor jumps may depend on the inputs. The prover has shown that. If a contract
//! has any number of elements, the conditions of jumps must be the same operations, too.
//!
//! This finds mutants that are right because nothing reads what they change, or because a register
//! holds the same value already. It does not use the prover's formulas. Addresses are those of the
//! runs on the CPU.

#[path = "flow/operation.rs"]
mod operation;

use super::Proved;
use iced_x86::{
    ConditionCode, Decoder, DecoderOptions, EncodingKind, Instruction, InstructionInfo,
    InstructionInfoFactory, MemorySize, Mnemonic, OpAccess, OpKind, Register,
};
use operation::{Operation, Value, Zeros, copies, does_nothing, is_zero, may_keep_flags};
use sealstone_prover::image::Image;
use sealstone_prover::prove::{Executed, Session};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// A reason why a proved mutant is right: in a run of each contract on this CPU, its data flow is
/// that of the original.
pub(super) fn reason(
    session: &mut Session,
    images: [&Image; 2],
    proved: &Proved,
    at: u64,
) -> Option<&'static str> {
    let (kernel, symbol) = (&proved.kernel, &proved.symbol);
    proved.contracts_at(at).next()?;
    for contract in proved.contracts_at(at) {
        let compared = Compared {
            results: contract.results,
            branches: contract.is_by_induction(),
        };
        let traces =
            images.map(|image| session.trace(image, symbol, contract, &kernel.set.processor()));
        let [Ok(one), Ok(other)] = traces else {
            return None;
        };
        let mut runs = one.iter().zip(&other);
        let same = |(one, other): (&Vec<_>, &Vec<_>)| {
            is_same([(images[0], one), (images[1], other)], compared)
        };
        if !runs.all(same) {
            return None;
        }
    }
    Some("the same operations on the same values, in runs of both")
}

/// Whether a run of one image and a run of another one have the same data flow. If a run has an
/// instruction that is not followed here, the answer is no.
fn is_same(runs: [(&Image, &[Executed]); 2], kind: Compared) -> bool {
    let mut values = Values::default();
    let ends = runs.map(|(image, run)| end(&mut values, image, run));
    let [Some(one), Some(other)] = ends else {
        return false;
    };
    if kind.branches && one.branches != other.branches {
        return false;
    }
    let places: BTreeSet<Place> = one
        .bytes
        .keys()
        .chain(other.bytes.keys())
        .copied()
        .collect();
    let mut seen = places
        .into_iter()
        .filter(|place| place.is_seen(kind.results));
    seen.all(|place| values.of_byte(&one.bytes, place) == values.of_byte(&other.bytes, place))
}

/// What of two runs is compared, beside memory and the registers that belong to the caller.
#[derive(Clone, Copy)]
struct Compared {
    /// The number of registers with results: none, rax, or rax and rdx.
    results: usize,
    /// The conditions of jumps. They matter if these runs do not stand for all: other numbers of
    /// elements may jump in another way.
    branches: bool,
}

/// The end of a run.
struct End {
    bytes: Bytes,
    branches: Vec<Branch>,
}

/// The condition of a jump, and the numbers of the flags that it reads.
type Branch = (ConditionCode, Vec<Byte>);

/// The number of a byte's value. Those below 256 are constants.
type Byte = u64;

/// The place of a byte.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Place {
    /// A byte of a whole register.
    Register(Register, usize),
    /// One of the flags.
    Flag(u32),
    /// An address that is not on the stack.
    Memory(u64),
    /// The distance from the stack pointer at the entry.
    Stack(i64),
}

impl Place {
    /// Whether the caller may read it after the function has returned.
    fn is_seen(self, results: usize) -> bool {
        use Register::{R12, R13, R14, R15, RAX, RBP, RBX, RDX};
        match self {
            Self::Register(register, _) => {
                let returned = &[RAX, RDX][..results];
                [RBX, RBP, R12, R13, R14, R15].contains(&register) || returned.contains(&register)
            }
            Self::Flag(_) => false,
            Self::Memory(_) => true,
            Self::Stack(distance) => distance >= 0,
        }
    }
}

type Bytes = HashMap<Place, Byte>;

/// The numbers of all values.
#[derive(Default)]
struct Values {
    numbers: HashMap<Vec<u64>, u64>,
    /// The summands of sums.
    sums: HashMap<Value, Vec<Vec<Byte>>>,
    /// The bits that are zero in each element of shifted vectors.
    shifted: HashMap<Value, Zeros>,
}

/// The kinds of values.
#[derive(Clone, Copy)]
enum Kind {
    AtEntry,
    StackPointer,
    Result,
    Sum,
}

/// The numbers of the results of an operation. Zero is the value zero.
struct Results {
    /// Of registers and memory.
    number: u64,
    flags: u64,
}

impl Values {
    /// The number of the first byte of a value. Up to 4,095 others follow it.
    fn number(&mut self, kind: Kind, of: impl IntoIterator<Item = u64>) -> u64 {
        let key = [kind as u64].into_iter().chain(of).collect();
        let next = (self.numbers.len() as u64 + 1) << 12;
        *self.numbers.entry(key).or_insert(next)
    }

    /// The byte at a place. Before any write, it is that at the entry.
    fn of_byte(&mut self, bytes: &Bytes, place: Place) -> Byte {
        if let Some(byte) = bytes.get(&place) {
            return *byte;
        }
        let key = match place {
            Place::Register(register, byte) => [0, register as u64, byte as u64],
            Place::Flag(flag) => [1, flag.into(), 0],
            Place::Memory(address) => [2, address, 0],
            Place::Stack(distance) => [3, distance as u64, 0],
        };
        self.number(Kind::AtEntry, key)
    }
}

/// The bytes at the end of a run. `None` if it has an instruction that is not followed.
fn end(values: &mut Values, image: &Image, run: &[Executed]) -> Option<End> {
    let mut factory = InstructionInfoFactory::new();
    let mut state = State {
        values,
        bytes: Bytes::new(),
        branches: Vec::new(),
        entry: run.first()?.general[STACK_POINTER],
    };
    for executed in run {
        let code = image.code(executed.at, 15)?;
        let instruction = Decoder::with_ip(64, code, executed.at, DecoderOptions::NONE).decode();
        state.execute(&instruction, executed, factory.info(&instruction))?;
    }
    let State {
        bytes, branches, ..
    } = state;
    Some(End { bytes, branches })
}

/// The number of rsp in the order of encoding.
const STACK_POINTER: usize = 4;

/// Addresses so far from the stack pointer at the entry are not on the stack.
const MOST_STACK: i64 = 1 << 20;

/// The bytes of a vector register.
const WHOLE_VECTOR: usize = 64;

struct State<'a> {
    values: &'a mut Values,
    bytes: Bytes,
    branches: Vec<Branch>,
    /// The stack pointer at the entry.
    entry: u64,
}

/// The operands in memory of an instruction.
#[derive(Default)]
struct Memory {
    read: Vec<Place>,
    written: Vec<Place>,
}

impl State<'_> {
    fn execute(
        &mut self,
        instruction: &Instruction,
        executed: &Executed,
        info: &InstructionInfo,
    ) -> Option<()> {
        let is_repeated = instruction.has_rep_prefix() || instruction.has_repne_prefix();
        let is_string = is_repeated && instruction.is_string_instruction();
        if does_nothing(instruction) || is_string && executed.general[COUNTER] == 0 {
            return Some(());
        }
        if instruction.is_loop() || instruction.is_loopcc() || instruction.is_jcx_short() {
            return None;
        }
        if instruction.is_jcc_short_or_near() {
            let read = self.read(flags(instruction.rflags_read()));
            self.branches.push((instruction.condition_code(), read));
        }
        let memory = self.memory(instruction, executed, info)?;
        if instruction.mnemonic() == Mnemonic::Vzeroupper {
            for number in 0..16 {
                self.set(bytes_of(Register::ZMM0 + number, 16..WHOLE_VECTOR), &[]);
            }
        } else if copies(instruction) {
            let source = self.source(instruction, executed, &memory)?;
            self.copy(instruction, &source, &memory);
        } else {
            let results = self.results(instruction, executed, info, &memory);
            self.write(instruction, info, &memory, &results);
        }
        Some(())
    }

    fn memory(
        &self,
        instruction: &Instruction,
        executed: &Executed,
        info: &InstructionInfo,
    ) -> Option<Memory> {
        let segment = instruction.segment_prefix();
        if instruction.is_vsib() || matches!(segment, Register::FS | Register::GS) {
            return None;
        }
        let mut memory = Memory::default();
        for used in info.used_memory() {
            let size = used.memory_size().size();
            let register = |register: Register, _, _| {
                if register.is_segment_register() {
                    return Some(0);
                }
                let bits = 8 * register.size();
                let whole = executed.general[register.full_register().number()];
                Some(whole & u64::MAX >> (64 - bits))
            };
            let address = used.virtual_address(0, register)?;
            if used.memory_size() == MemorySize::Unknown || size == 0 {
                return None;
            }
            let places = (0..size as u64).map(|byte| self.place(address.wrapping_add(byte)));
            if reads(used.access()) {
                memory.read.extend(places.clone());
            }
            if writes(used.access()) {
                memory.written.extend(places);
            }
        }
        Some(memory)
    }

    fn place(&self, address: u64) -> Place {
        let distance = address.wrapping_sub(self.entry) as i64;
        match distance.unsigned_abs() < MOST_STACK as u64 {
            true => Place::Stack(distance),
            false => Place::Memory(address),
        }
    }

    fn read(&mut self, places: impl IntoIterator<Item = Place>) -> Vec<Byte> {
        let of_byte = |place| self.values.of_byte(&self.bytes, place);
        places.into_iter().map(of_byte).collect()
    }

    /// The bytes of a register. The stack pointer's are those of its distance from the entry.
    fn register(&mut self, register: Register, executed: &Executed) -> Vec<Byte> {
        if register.full_register() == Register::RSP {
            let distance = executed.general[STACK_POINTER].wrapping_sub(self.entry);
            let number = self.values.number(Kind::StackPointer, [distance]);
            return (0..register.size() as u64)
                .map(|byte| number + byte)
                .collect();
        }
        let first = first_byte(register);
        self.read(bytes_of(
            register.full_register(),
            first..first + register.size(),
        ))
    }

    /// The bytes that a copy copies.
    fn source(
        &mut self,
        instruction: &Instruction,
        executed: &Executed,
        memory: &Memory,
    ) -> Option<Vec<Byte>> {
        let from = match instruction.mnemonic() {
            Mnemonic::Push | Mnemonic::Pop => 0,
            _ => 1,
        };
        let mut bytes = match instruction.op_kind(from) {
            _ if instruction.mnemonic() == Mnemonic::Pop => self.read(memory.read.clone()),
            OpKind::Register => self.register(instruction.op_register(from), executed),
            OpKind::Memory => self.read(memory.read.clone()),
            _ => {
                let immediate = instruction.try_immediate(from).ok()?;
                immediate.to_le_bytes().map(Byte::from).to_vec()
            }
        };
        match instruction.mnemonic() {
            Mnemonic::Movd | Mnemonic::Vmovd => bytes.truncate(4),
            Mnemonic::Movq | Mnemonic::Vmovq => bytes.truncate(8),
            _ => {}
        }
        Some(bytes)
    }

    /// Writes to the first operand of a copy. Bytes above the source become zero, unless the
    /// instruction keeps them.
    fn copy(&mut self, instruction: &Instruction, source: &[Byte], memory: &Memory) {
        let register = instruction.op0_register();
        if instruction.mnemonic() == Mnemonic::Push || instruction.op0_kind() == OpKind::Memory {
            self.set(memory.written.iter().copied(), source);
        } else if register.full_register() != Register::RSP {
            let changed = first_byte(register)..end_of_change(instruction, register);
            self.set(bytes_of(register.full_register(), changed), source);
        }
    }

    /// Sets bytes, and those without a source to zero.
    fn set(&mut self, places: impl Iterator<Item = Place>, source: &[Byte]) {
        let source = source.iter().copied().chain(core::iter::repeat(0));
        self.bytes.extend(places.zip(source));
    }

    /// The numbers of an operation's results.
    fn results(
        &mut self,
        instruction: &Instruction,
        executed: &Executed,
        info: &InstructionInfo,
        memory: &Memory,
    ) -> Results {
        let carry = self.values.of_byte(&self.bytes, Place::Flag(CARRY));
        let operation = Operation::of(instruction, carry);
        let mut parts = match operation {
            Operation::Carry => Vec::new(),
            _ => self.operands(instruction, executed, info, memory),
        };
        let length = parts.first().map_or(0, Vec::len);
        let summands = operation.summands(&parts, self.values);
        if operation.is_commutative() {
            parts.sort();
        }
        if !(0..instruction.op_count()).any(|n| instruction.op_kind(n) == OpKind::Memory) {
            parts.push(self.read(memory.read.clone()));
        }
        for register in implicit(instruction, info) {
            parts.push(self.register(register, executed));
        }
        if operation != Operation::Add {
            parts.push(self.read(flags(instruction.rflags_read())));
        }
        if may_keep_flags(instruction) {
            parts.push(self.read(flags(instruction.rflags_modified())));
        }
        if is_zero(instruction, &parts) {
            return Results {
                number: 0,
                flags: 0,
            };
        }
        let flags = self.values.number(
            Kind::Result,
            operation.key(instruction).into_iter().chain(listed(&parts)),
        );
        let number = match &summands {
            Some(summands) => self.values.number(Kind::Sum, listed(summands)),
            None => flags,
        };
        let value = (number, length);
        self.values.remember(value, summands, operation, &parts);
        Results { number, flags }
    }

    /// The operands that an operation reads.
    fn operands(
        &mut self,
        instruction: &Instruction,
        executed: &Executed,
        info: &InstructionInfo,
        memory: &Memory,
    ) -> Vec<Vec<Byte>> {
        let mut parts = Vec::new();
        for n in 0..instruction.op_count() {
            let access = info.op_access(n);
            match instruction.op_kind(n) {
                OpKind::Register if reads(access) => {
                    parts.push(self.register(instruction.op_register(n), executed));
                }
                OpKind::Memory if access == OpAccess::NoMemAccess => {
                    let constants = [
                        instruction.memory_displacement64(),
                        instruction.memory_index_scale().into(),
                    ];
                    let constants = constants.into_iter().flat_map(u64::to_le_bytes);
                    parts.push(constants.map(Byte::from).collect());
                    let registers = [instruction.memory_base(), instruction.memory_index()];
                    parts.extend(registers.map(|it| self.register(it, executed)));
                }
                OpKind::Memory if reads(access) => parts.push(self.read(memory.read.clone())),
                _ => {
                    let immediate = instruction.try_immediate(n).ok();
                    parts.extend(immediate.map(|it| it.to_le_bytes().map(Byte::from).to_vec()));
                }
            }
        }
        parts
    }

    /// Writes the results of an operation. Its first result is that of its first operand.
    fn write(
        &mut self,
        instruction: &Instruction,
        info: &InstructionInfo,
        memory: &Memory,
        results: &Results,
    ) {
        let byte = |result: usize, byte: usize| match results.number {
            0 => 0,
            number => number + (64 * result + byte) as u64,
        };
        let written = info
            .used_registers()
            .iter()
            .filter(|it| writes(it.access()));
        for used in written {
            let register = used.register();
            let whole = register.full_register();
            let operands = 0..instruction.op_count();
            let of_operands = operands.filter(|n| instruction.op_kind(*n) == OpKind::Register);
            let mut operands = of_operands.map(|n| instruction.op_register(n).full_register());
            let operand = operands.position(|it| it == whole);
            let result = operand.unwrap_or(8 + whole.number());
            let first = first_byte(register);
            let end = first + register.size();
            let bytes = (0..).map(|n| byte(result, n));
            self.bytes.extend(bytes_of(whole, first..end).zip(bytes));
            self.set(
                bytes_of(whole, end..end_of_change(instruction, register)),
                &[],
            );
        }
        let written = memory.written.iter().copied();
        // Four results follow those of registers: one may have 256 bytes.
        self.bytes.extend(written.zip((0..).map(|n| byte(56, n))));
        let constant = |value| move |flag| (flag, value);
        let cleared = flags(instruction.rflags_cleared()).map(constant(0));
        let set = flags(instruction.rflags_set()).map(constant(1));
        let unknown = instruction.rflags_written() | instruction.rflags_undefined();
        let unknown = flags(unknown).map(|flag| match flag {
            Place::Flag(bit) if results.flags > 0 => {
                (flag, results.flags + 64 * 63 + u64::from(bit))
            }
            _ => (flag, 0),
        });
        self.bytes.extend(unknown.chain(cleared).chain(set));
    }
}

/// The number of rcx in the order of encoding.
const COUNTER: usize = 1;

/// The number of the carry's bit.
const CARRY: u32 = 0;

/// The parts of a key, each after its length.
fn listed(parts: &[Vec<Byte>]) -> impl Iterator<Item = u64> {
    let listed = |part: &Vec<Byte>| {
        let length = part.len() as u64;
        [length].into_iter().chain(part.clone())
    };
    parts.iter().flat_map(listed)
}

fn reads(access: OpAccess) -> bool {
    use OpAccess::{CondRead, CondWrite, Read, ReadCondWrite, ReadWrite};
    // Where a result is not written, the previous one remains.
    matches!(
        access,
        Read | CondRead | ReadWrite | ReadCondWrite | CondWrite
    )
}

fn writes(access: OpAccess) -> bool {
    use OpAccess::{CondWrite, ReadCondWrite, ReadWrite, Write};
    matches!(access, Write | CondWrite | ReadWrite | ReadCondWrite)
}

fn bytes_of(whole: Register, bytes: Range<usize>) -> impl Iterator<Item = Place> {
    bytes.map(move |byte| Place::Register(whole, byte))
}

/// The first byte of a register in the whole one.
fn first_byte(register: Register) -> usize {
    use Register::{AH, BH, CH, DH};
    usize::from(matches!(register, AH | BH | CH | DH))
}

/// The end of the bytes in the whole register that change when this one is written: a register of
/// 32 bits is extended with zeros, and so is a vector register by VEX and EVEX instructions.
fn end_of_change(instruction: &Instruction, register: Register) -> usize {
    match register.size() {
        4 if register.is_gpr() => 8,
        16.. if instruction.encoding() != EncodingKind::Legacy => WHOLE_VECTOR,
        size => first_byte(register) + size,
    }
}

fn flags(bits: u32) -> impl Iterator<Item = Place> {
    (0..32)
        .filter(move |bit| bits >> bit & 1 == 1)
        .map(Place::Flag)
}

/// The registers that an instruction reads without naming them as operands to be read. Registers of
/// addresses do not count: the runs have the addresses.
fn implicit(instruction: &Instruction, info: &InstructionInfo) -> Vec<Register> {
    use Mnemonic::{Cmpxchg, Cmpxchg8b, Cmpxchg16b, Div, Idiv, Imul, Mul, Mulx};
    let operands = 0..instruction.op_count();
    let mut named: Vec<Register> = operands
        .filter(|n| instruction.op_kind(*n) == OpKind::Register && reads(info.op_access(*n)))
        .map(|n| instruction.op_register(n))
        .collect();
    // An operand that these do not name may be in a register of the address.
    if !matches!(
        instruction.mnemonic(),
        Cmpxchg | Cmpxchg8b | Cmpxchg16b | Div | Idiv | Imul | Mul | Mulx
    ) {
        named.extend([instruction.memory_base(), instruction.memory_index()]);
    }
    let is_named = |it: &Register| {
        let mut named = named.iter();
        named.any(|named| named.full_register() == it.full_register())
    };
    let used = info.used_registers().iter().filter(|it| reads(it.access()));
    let mut implicit: Vec<Register> = used
        .map(|it| it.register())
        .filter(|it| !it.is_segment_register() && !is_named(it))
        .collect();
    implicit.sort();
    implicit
}

#[cfg(test)]
#[path = "flow/tests.rs"]
mod tests;
