//! The instructions that make a function look like a kernel.

use iced_x86::{Instruction, Mnemonic, OpKind};
use std::collections::BTreeMap;
use std::fmt;

/// The numbers of instructions that kernels have and other code does not have: rotations and
/// [vector arithmetic](is_vector_arithmetic), each with its immediate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mix {
    counts: BTreeMap<(Mnemonic, u64), usize>,
    rotations: usize,
}

/// A loop that counts characters or adds lengths has fewer sums, products and shifts of vectors.
const MANY: usize = 16;

/// Functions with fewer instructions are too similar to compare.
const LEAST: usize = 32;

impl Mix {
    /// Counts an instruction.
    pub(super) fn add(&mut self, instruction: &Instruction) {
        self.rotations += usize::from(is_rotation(instruction));
        if is_rotation(instruction) || is_vector_arithmetic(instruction.mnemonic()) {
            let key = (instruction.mnemonic(), immediate(instruction));
            *self.counts.entry(key).or_default() += 1;
        }
    }

    /// Whether there is a rotation, or more vector arithmetic than in compiled loops that count.
    pub(super) fn is_of_kernel(&self) -> bool {
        self.rotations > 0 || self.total() >= MANY
    }

    /// Whether it has at most so many rotations, and so many instructions of vector arithmetic.
    pub(super) fn is_within(&self, [rotations, vectors]: [usize; 2]) -> bool {
        self.rotations <= rotations && self.total() - self.rotations <= vectors
    }

    /// Whether it has nine of ten of the other's instructions.
    pub(super) fn contains(&self, other: &Self) -> bool {
        let count = |key: &(Mnemonic, u64)| self.counts.get(key).copied().unwrap_or(0);
        let common = other.counts.iter().map(|(key, n)| count(key).min(*n));
        let common: usize = common.sum();
        other.total() >= LEAST && 10 * common >= 9 * other.total()
    }

    fn total(&self) -> usize {
        self.counts.values().sum()
    }
}

impl fmt::Display for Mix {
    /// The most frequent ones.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut by_mnemonic: BTreeMap<Mnemonic, usize> = BTreeMap::new();
        for ((mnemonic, _), count) in &self.counts {
            *by_mnemonic.entry(*mnemonic).or_default() += count;
        }
        let mut all: Vec<(Mnemonic, usize)> = by_mnemonic.into_iter().collect();
        all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let shown = all
            .iter()
            .take(4)
            .map(|(mnemonic, count)| format!("{count} {mnemonic:?}").to_lowercase());
        f.write_str(&shown.collect::<Vec<_>>().join(", "))
    }
}

/// A rotation of 32 bits or more. A rotation of 16 bits by 8 swaps bytes. A double shift of one
/// register is a rotation; of two registers it is a shift of a long number.
fn is_rotation(instruction: &Instruction) -> bool {
    use Mnemonic::*;
    let size = match instruction.op0_kind() {
        OpKind::Register => instruction.op0_register().size(),
        _ => instruction.memory_size().size(),
    };
    match instruction.mnemonic() {
        Rol | Ror | Rorx => size >= 4,
        Shld | Shrd => {
            instruction.op0_kind() == OpKind::Register
                && instruction.op0_register() == instruction.op1_register()
        }
        Vprold | Vprolq | Vprord | Vprorq | Vprolvd | Vprolvq | Vprorvd | Vprorvq => true,
        _ => false,
    }
}

/// Sums, differences, products and shifts of the integer elements of vectors, and instructions for
/// AES, SHA and products of polynomials. Other operations on bytes, comparisons and logic are left
/// out: searches have them. So are saturating operations and floating point: no kernel has them.
fn is_vector_arithmetic(mnemonic: Mnemonic) -> bool {
    is_sum(mnemonic) || is_product(mnemonic) || is_shift(mnemonic) || is_cryptographic(mnemonic)
}

/// Sums and differences of elements of 16 bits or more.
fn is_sum(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(
        mnemonic,
        Paddw
            | Paddd
            | Paddq
            | Psubw
            | Psubd
            | Psubq
            | Phaddw
            | Phaddd
            | Vpaddw
            | Vpaddd
            | Vpaddq
            | Vpsubw
            | Vpsubd
            | Vpsubq
            | Vphaddw
            | Vphaddd
    )
}

/// Products, and sums of products, of 16 bits or more. The factors may be bytes.
fn is_product(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(
        mnemonic,
        Pmullw
            | Pmulhw
            | Pmulhuw
            | Pmulhrsw
            | Pmaddwd
            | Pmaddubsw
            | Pmuludq
            | Pmulld
            | Pmuldq
            | Vpmullw
            | Vpmulhw
            | Vpmulhuw
            | Vpmulhrsw
            | Vpmaddwd
            | Vpmaddubsw
            | Vpmuludq
            | Vpmulld
            | Vpmullq
            | Vpmuldq
            | Vpmadd52luq
            | Vpmadd52huq
    )
}

/// Shifts of elements of 16 bits or more.
fn is_shift(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(
        mnemonic,
        Psllw
            | Pslld
            | Psllq
            | Psrlw
            | Psrld
            | Psrlq
            | Psraw
            | Psrad
            | Vpsllw
            | Vpslld
            | Vpsllq
            | Vpsrlw
            | Vpsrld
            | Vpsrlq
            | Vpsllvw
            | Vpsllvd
            | Vpsllvq
            | Vpsrlvw
            | Vpsrlvd
            | Vpsrlvq
            | Vpsraw
            | Vpsrad
            | Vpsraq
            | Vpsravw
            | Vpsravd
            | Vpsravq
            | Vpshldw
            | Vpshldd
            | Vpshldq
            | Vpshrdw
            | Vpshrdd
            | Vpshrdq
            | Vpshldvw
            | Vpshldvd
            | Vpshldvq
            | Vpshrdvw
            | Vpshrdvd
            | Vpshrdvq
    )
}

/// AES, SHA, and arithmetic of polynomials over two elements.
fn is_cryptographic(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(
        mnemonic,
        Aesenc
            | Aesenclast
            | Aesdec
            | Aesdeclast
            | Aesimc
            | Aeskeygenassist
            | Vaesenc
            | Vaesenclast
            | Vaesdec
            | Vaesdeclast
            | Vaesimc
            | Vaeskeygenassist
            | Pclmulqdq
            | Vpclmulqdq
            | Gf2p8mulb
            | Gf2p8affineqb
            | Gf2p8affineinvqb
            | Vgf2p8mulb
            | Vgf2p8affineqb
            | Vgf2p8affineinvqb
            | Sha1rnds4
            | Sha1nexte
            | Sha1msg1
            | Sha1msg2
            | Sha256rnds2
            | Sha256msg1
            | Sha256msg2
            | Vsha512rnds2
            | Vsha512msg1
            | Vsha512msg2
    )
}

fn immediate(instruction: &Instruction) -> u64 {
    let last = instruction.op_count().saturating_sub(1);
    match instruction.op_kind(last) {
        OpKind::Immediate8 => instruction.immediate(last),
        _ => 0,
    }
}
