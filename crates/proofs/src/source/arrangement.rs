//! How instruction sets arrange words: side by side, and in the rows of a matrix.
//!
//! `columns_then_diagonals`, in which Argon2 spends its time, exists twice in the source: the
//! portable one takes one column after the other, the other one moves rows; and the compression
//! advances one matrix, two or four in step. So there are four ways through the source: arrays of
//! scalars go the first, and these types the others, whatever the scalar.

use sealstone_lanes::{Lanes, RowPair, Scalar, Vector, Word};

/// `N` words side by side, each of any scalar.
#[derive(Clone, Copy)]
pub struct Side<W, const N: usize>([W; N]);

impl<W: Scalar, const N: usize> Lanes<N> for Side<W, N> {
    #[inline(never)]
    fn load_blocks(cpu: W::Cpu, blocks: [&[W::Byte; 64]; N]) -> [Self; 8] {
        <[W; N]>::load_blocks(cpu, blocks).map(Self)
    }
    #[inline(never)]
    fn to_blocks(words: [Self; 8]) -> [[W::Byte; 64]; N] {
        <[W; N]>::to_blocks(words.map(|word| word.0))
    }
}

/// Two rows that move, with `IN_STEP` matrices in step: 1 as NEON, 2 as AVX2, 4 as AVX-512.
#[derive(Clone, Copy)]
pub struct Pair<W, const IN_STEP: usize>([W; 8]);

impl<W: Scalar, const IN_STEP: usize> RowPair for Pair<W, IN_STEP> {
    const IN_STEP: usize = IN_STEP;

    #[inline(never)]
    fn turn<const K: usize, const ALTERNATING: bool>(self) -> Self {
        Self(RowPair::turn::<K, ALTERNATING>(self.0))
    }
}

// As arrays do it. Not inlined: see `Symbol`.
macro_rules! as_array {
    ($type:ident, $parameter:ident, $length:tt) => {
        impl<W: Scalar, const $parameter: usize> Word for $type<W, $parameter> {
            type Cpu = W::Cpu;

            #[inline(never)]
            fn splat(cpu: W::Cpu, x: u64) -> Self {
                Self(Word::splat(cpu, x))
            }
            #[inline(never)]
            fn add(self, other: Self) -> Self {
                Self(Word::add(self.0, other.0))
            }
            #[inline(never)]
            fn sub(self, other: Self) -> Self {
                Self(Word::sub(self.0, other.0))
            }
            #[inline(never)]
            fn xor(self, other: Self) -> Self {
                Self(Word::xor(self.0, other.0))
            }
            #[inline(never)]
            fn mul_lo32(self, other: Self) -> Self {
                Self(Word::mul_lo32(self.0, other.0))
            }
            #[inline(never)]
            fn rotl<const R: u32>(self) -> Self {
                Self(Word::rotl::<R>(self.0))
            }
            #[inline(never)]
            fn rotr<const R: u32>(self) -> Self {
                Self(Word::rotr::<R>(self.0))
            }
        }

        impl<W: Scalar, const $parameter: usize> Vector<$length> for $type<W, $parameter> {
            type Lane = W;

            fn load(_: W::Cpu, words: &[W; $length]) -> Self {
                Self(*words)
            }
            fn to_array(self) -> [W; $length] {
                self.0
            }
        }
    };
}
as_array!(Side, N, N);
as_array!(Pair, IN_STEP, 8);
