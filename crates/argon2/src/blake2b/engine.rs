//! The engine that computes F: a CPU, or a prover.

use super::compress::{Input, compress};
use sealstone_lanes::{Cpu, Portable, Row, RowKernel, RowPair, Scalar, Word};
use zeroize::Zeroize;

/// Computes F: a CPU on numbers, or a prover on symbols.
pub trait Engine: Copy {
    /// The words it computes with.
    type Scalar: Scalar;
    /// A number of message bytes.
    type Count: Count<Self::Scalar>;

    /// The number of bytes before the message: zero. A prover begins at any number.
    fn count(self) -> Self::Count;
    /// The token of single words.
    fn scalars(self) -> <Self::Scalar as Word>::Cpu;
    /// `state` = F(`state`, `input`).
    fn compress(self, state: &mut [Self::Scalar; 8], input: &Input<'_, Self::Scalar>);
    /// Overwrites the values that a hash leaves behind.
    fn wipe(words: &mut [Self::Scalar], bytes: &mut [Byte<Self>]);
}

/// A byte of an engine: `u8`, or a symbolic one.
pub type Byte<E> = <<E as Engine>::Scalar as Scalar>::Byte;

/// A number of bytes below 2^128: `u128`, or a symbolic one. A hash cannot look at it.
pub trait Count<S: Scalar>: Copy {
    /// The count after this number of bytes.
    #[must_use]
    fn plus(self, bytes: usize) -> Self;
    /// The low word and the high word.
    fn words(self, cpu: S::Cpu) -> [S; 2];
}

impl<S: Scalar> Count<S> for u128 {
    #[inline(always)]
    fn plus(self, bytes: usize) -> Self {
        self + bytes as Self
    }
    #[inline(always)]
    fn words(self, cpu: S::Cpu) -> [S; 2] {
        [self as u64, (self >> 64) as u64].map(|word| S::splat(cpu, word))
    }
}

impl Engine for Cpu {
    type Scalar = u64;
    type Count = u128;

    fn count(self) -> u128 {
        0
    }
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
