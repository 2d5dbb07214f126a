//! How instruction sets arrange words: side by side, and in the rows of a matrix.
//!
//! `columns_then_diagonals`, in which Argon2 spends its time, exists twice in the source: the
//! portable version processes one column after the other, the other version moves rows. And the
//! compression advances one, two or four matrices in step. So the source has four paths: arrays of
//! scalars take the first, and these types take the others, for any scalar.

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

/// Two moving rows, with `IN_STEP` matrices in step: 1 for NEON, 2 for AVX2, 4 for AVX-512.
#[derive(Clone, Copy)]
pub struct Pair<W, const IN_STEP: usize>([W; 8]);

impl<W: Scalar, const IN_STEP: usize> RowPair for Pair<W, IN_STEP> {
    const IN_STEP: usize = IN_STEP;

    #[inline(never)]
    fn turn<const K: usize, const ALTERNATING: bool>(self) -> Self {
        Self(RowPair::turn::<K, ALTERNATING>(self.0))
    }
}

// The operations are those of arrays. Not inlined: see `Symbol`.
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
