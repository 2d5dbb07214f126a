//! Operations that are the same under another name, or with their operands in another order.

use super::{Byte, Values};
use iced_x86::{Instruction, Mnemonic, OpKind};

/// A value by the number of its first byte, and its length in bytes.
pub(super) type Value = (u64, usize);

/// A sum of more summands counts as a sum of its two operands. Without a limit, a sum of sums of
/// sums, as in SHA-2, would have too many.
const MOST_SUMMANDS: usize = 64;

/// The bits that are zero in each element of a vector.
#[derive(Clone, Copy)]
pub(super) struct Zeros {
    /// The bits of an element.
    bits: u64,
    lowest: u64,
    highest: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// An addition without carry.
    Add,
    /// The carry in all bits: `sbb` with twice the same register.
    Carry,
    /// A sum of vectors with elements of so many bits.
    Sum {
        bits: u64,
    },
    /// Exclusive or, or.
    Bitwise,
    /// Others whose operands may be exchanged.
    Commutative,
    /// Each element of so many bits is moved.
    Left {
        bits: u64,
    },
    Right {
        bits: u64,
    },
    Other,
}

impl Operation {
    pub(super) fn of(instruction: &Instruction, carry: Byte) -> Self {
        use Mnemonic::*;
        let is_twice = instruction.op0_register() == instruction.op1_register();
        match instruction.mnemonic() {
            _ if instruction.has_op_mask() => Self::Other,
            Add => Self::Add,
            Adc if carry == 0 => Self::Add,
            Sbb if instruction.op0_register().is_gpr() && is_twice => Self::Carry,
            Paddd | Vpaddd => Self::Sum { bits: 32 },
            Paddq | Vpaddq => Self::Sum { bits: 64 },
            Por | Vpor | Vpord | Vporq | Pxor | Vpxor | Vpxord | Vpxorq => Self::Bitwise,
            And | Or | Xor | Pand | Vpand | Vpandd | Vpandq | Pmuludq | Vpmuludq => {
                Self::Commutative
            }
            Psllq | Vpsllq => Self::Left { bits: 64 },
            Psrlq | Vpsrlq => Self::Right { bits: 64 },
            Pslld | Vpslld => Self::Left { bits: 32 },
            Psrld | Vpsrld => Self::Right { bits: 32 },
            _ => Self::Other,
        }
    }

    pub(super) fn is_commutative(self) -> bool {
        use Operation::{Add, Bitwise, Commutative, Sum};
        matches!(self, Add | Sum { .. } | Bitwise | Commutative)
    }

    /// The numbers that only this operation has.
    pub(super) fn key(self, instruction: &Instruction) -> Vec<u64> {
        let operation = match self {
            // Each form of it, and `adc`.
            Self::Add => Mnemonic::Add as u64,
            _ => 1 << 32 | instruction.code() as u64,
        };
        vec![
            operation,
            instruction.zeroing_masking().into(),
            instruction.is_broadcast().into(),
            instruction.rounding_control() as u64,
        ]
    }

    /// The summands, if the result is the sum of these operands, or of vectors that have no bit in
    /// common. They are in one order.
    pub(super) fn summands(self, parts: &[Vec<Byte>], values: &Values) -> Option<Vec<Vec<Byte>>> {
        let [one, other] = parts else {
            return None;
        };
        let mut summands = match self {
            Self::Add => {
                let size = one.len();
                let parts = parts
                    .iter()
                    .map(|part| part[..size.min(part.len())].to_vec());
                let parts: Vec<_> = parts.collect();
                let all = parts.iter().flat_map(|part| values.summands(part));
                let all: Vec<_> = all.take(MOST_SUMMANDS + 1).cloned().collect();
                if all.len() > MOST_SUMMANDS {
                    parts
                } else {
                    all
                }
            }
            Self::Sum { .. } | Self::Bitwise if values.are_apart([one, other], self) => {
                vec![one.clone(), other.clone()]
            }
            _ => return None,
        };
        summands.sort();
        Some(summands)
    }
}

impl Values {
    /// The summands of a sum; another value alone.
    fn summands<'a>(&'a self, part: &'a Vec<Byte>) -> &'a [Vec<Byte>] {
        let sum = value(part).and_then(|value| self.sums.get(&value));
        sum.map_or(std::slice::from_ref(part), |summands| summands)
    }

    /// Whether no bit is in both vectors, and the operation has elements of their size or of any.
    fn are_apart(&self, parts: [&Vec<Byte>; 2], operation: Operation) -> bool {
        let zeros = parts.map(|part| value(part).and_then(|value| self.shifted.get(&value)));
        let [Some(one), Some(other)] = zeros else {
            return false;
        };
        let fits = match operation {
            Operation::Sum { bits } => bits == one.bits,
            _ => true,
        };
        let is_apart = |low: &Zeros, high: &Zeros| low.lowest + high.highest >= low.bits;
        fits && one.bits == other.bits && (is_apart(one, other) || is_apart(other, one))
    }

    /// Remembers what an operation on these operands says of its result.
    pub(super) fn remember(
        &mut self,
        result: Value,
        summands: Option<Vec<Vec<Byte>>>,
        operation: Operation,
        parts: &[Vec<Byte>],
    ) {
        let zeros = |bits, lowest, highest| Zeros {
            bits,
            lowest,
            highest,
        };
        // A count that is a constant of one byte.
        let count = parts.get(1).and_then(|part| match part[..] {
            [count @ ..256, ref more @ ..] if more.iter().all(|byte| *byte == 0) => Some(count),
            _ => None,
        });
        let of_shift = match (operation, count) {
            (Operation::Left { bits }, Some(count)) => Some(zeros(bits, count, 0)),
            (Operation::Right { bits }, Some(count)) => Some(zeros(bits, 0, count)),
            // x + x is x shifted by one.
            (Operation::Sum { bits }, _) if parts[0] == parts[1] => Some(zeros(bits, 1, 0)),
            _ => None,
        };
        self.shifted.extend(of_shift.map(|zeros| (result, zeros)));
        if operation == Operation::Add {
            self.sums
                .extend(summands.map(|summands| (result, summands)));
        }
    }
}

/// A value, if these are its bytes from the first one on.
fn value(part: &[Byte]) -> Option<Value> {
    let first = *part.first()?;
    let is_whole = first >> 12 > 0 && first & 0xfff == 0;
    let follows = part.iter().zip(first..).all(|(byte, next)| *byte == next);
    (is_whole && follows).then_some((first, part.len()))
}

/// Whether an instruction may shift by nothing, and then keeps the flags.
pub(super) fn may_keep_flags(instruction: &Instruction) -> bool {
    use Mnemonic::{Rcl, Rcr, Rol, Ror, Sar, Shl, Shld, Shr, Shrd};
    let is_shift = matches!(
        instruction.mnemonic(),
        Rcl | Rcr | Rol | Ror | Sar | Shl | Shld | Shr | Shrd
    );
    let size = match instruction.op0_kind() {
        OpKind::Register => instruction.op0_register().size(),
        _ => instruction.memory_size().size(),
    };
    let mask = if size == 8 { 63 } else { 31 };
    let count = instruction.try_immediate(instruction.op_count().saturating_sub(1));
    is_shift && count.ok().is_none_or(|count| count & mask == 0)
}

pub(super) fn does_nothing(instruction: &Instruction) -> bool {
    use Mnemonic::{Endbr64, Nop, Prefetchnta, Prefetcht0, Prefetcht1, Prefetcht2, Prefetchw};
    matches!(
        instruction.mnemonic(),
        Endbr64 | Nop | Prefetchnta | Prefetcht0 | Prefetcht1 | Prefetcht2 | Prefetchw
    )
}

/// Whether the bytes of the result are those of the operand, and zeros above them.
pub(super) fn copies(instruction: &Instruction) -> bool {
    use Mnemonic::*;
    let copies = [
        Mov, Movzx, Push, Pop, Movd, Movq, Vmovd, Vmovq, Movaps, Movapd, Movdqa, Movups, Movupd,
        Movdqu, Vmovaps, Vmovapd, Vmovdqa, Vmovdqa32, Vmovdqa64, Vmovups, Vmovupd, Vmovdqu,
        Vmovdqu8, Vmovdqu32, Vmovdqu64, Movntdq, Vmovntdq,
    ];
    copies.contains(&instruction.mnemonic()) && !instruction.has_op_mask()
}

/// Whether the result is zero: such an operation on twice the same operand reads nothing.
pub(super) fn is_zero(instruction: &Instruction, parts: &[Vec<Byte>]) -> bool {
    use Mnemonic::*;
    let zeros = [Sub, Xor, Pxor, Xorps, Vpxor, Vpxord, Vpxorq, Vxorps, Vxorpd];
    zeros.contains(&instruction.mnemonic()) && parts.iter().all(Vec::is_empty)
}
