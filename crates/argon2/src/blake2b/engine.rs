//! The engine that computes F: a CPU, or a prover.

use super::compress::{Input, compress};
use super::stream::Byte;
use sealstone_lanes::{Cpu, Portable, Row, RowKernel, RowPair, Scalar, Word};
use zeroize::Zeroize;

/// Computes F: a CPU on numbers, or a prover on symbols.
pub trait Engine: Copy {
    /// The words it computes with.
    type Scalar: Scalar;

    /// The token of single words.
    fn scalars(self) -> <Self::Scalar as Word>::Cpu;
    /// `state` = F(`state`, `input`).
    fn compress(self, state: &mut [Self::Scalar; 8], input: &Input<'_, Self::Scalar>);
    /// Overwrites the values that a hash leaves behind.
    fn wipe(words: &mut [Self::Scalar], bytes: &mut [Byte<Self>]);
}

impl Engine for Cpu {
    type Scalar = u64;

    fn scalars(self) -> Portable {
        Portable
    }
    fn compress(self, state: &mut [u64; 8], input: &Input<'_, u64>) {
        compress_on(self, state, input);
    }
    fn wipe(words: &mut [u64], bytes: &mut [u8]) {
        words.zeroize();
        bytes.zeroize();
    }
}

/// F as the machine runs it: one function for each instruction set, without a branch, a loop or a
/// panic.
#[inline(never)]
pub fn compress_on(cpu: Cpu, state: &mut [u64; 8], input: &Input<'_, u64>) {
    cpu.run_rows(Compress { state, input });
}

struct Compress<'a> {
    state: &'a mut [u64; 8],
    input: &'a Input<'a, u64>,
}

impl RowKernel for Compress<'_> {
    type Output = ();

    #[inline(always)]
    fn run<R, P>(self, cpu: R::Cpu)
    where
        R: Row<Lane = u64>,
        P: RowPair<Lane = u64, Cpu = R::Cpu>,
    {
        compress::<R>(cpu, Portable, self.state, self.input);
    }
}
