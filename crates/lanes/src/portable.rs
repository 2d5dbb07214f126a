//! The portable back end, `u64`; and arrays of scalars, which define what lanes mean.
//!
//! An array of `N` scalars is the oracle of the vector back ends, and, with a symbolic scalar,
//! their model.

use crate::word::{Column, Index, Lanes, Row, RowPair, Scalar, Vector, Word};

/// The token of the portable back end: every CPU has it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Portable;

impl Word for u64 {
    type Cpu = Portable;

    #[inline(always)]
    fn splat(_: Portable, x: u64) -> u64 {
        x
    }
    #[inline(always)]
    fn add(self, other: u64) -> u64 {
        self.wrapping_add(other)
    }
    #[inline(always)]
    fn sub(self, other: u64) -> u64 {
        self.wrapping_sub(other)
    }
    #[inline(always)]
    fn xor(self, other: u64) -> u64 {
        self ^ other
    }
    #[inline(always)]
    fn mul_lo32(self, other: u64) -> u64 {
        (self & 0xffff_ffff) * (other & 0xffff_ffff)
    }
    #[inline(always)]
    fn rotl<const R: u32>(self) -> u64 {
        self.rotate_left(R)
    }
    #[inline(always)]
    fn rotr<const R: u32>(self) -> u64 {
        self.rotate_right(R)
    }
    #[inline(always)]
    fn opaque(self) -> u64 {
        #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
        let this = {
            let mut this = self;
            // SAFETY: an assembly comment, which changes nothing.
            unsafe {
                core::arch::asm!(
                    "/* {} */", inout(reg) this,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            this
        };
        #[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri))]
        let this = self;
        this
    }
}

impl Scalar for u64 {
    type Byte = u8;

    #[inline(always)]
    fn byte(_: Portable, x: u8) -> u8 {
        x
    }
    #[inline(always)]
    fn from_le_bytes(bytes: [u8; 8]) -> u64 {
        u64::from_le_bytes(bytes)
    }
    #[inline(always)]
    fn to_le_bytes(self) -> [u8; 8] {
        u64::to_le_bytes(self)
    }
    #[inline(always)]
    fn pad(byte: u8, bits: u32) -> u8 {
        let mark = 0x80_u8 >> bits;
        byte & !(mark | (mark - 1)) | mark
    }
    #[inline(always)]
    fn keep(byte: u8, bits: u32) -> u8 {
        byte & 0xff << (8 - bits)
    }
    #[inline(always)]
    fn xor_bytes(a: u8, b: u8) -> u8 {
        a ^ b
    }
}

impl Index for u64 {
    type Truth = bool;

    #[inline(always)]
    fn shift_right<const R: u32>(self) -> u64 {
        self >> R
    }
    #[inline(always)]
    fn remainder(self, divisor: u64) -> u64 {
        // Many CPUs divide 32 bits several times as fast. A divisor of at least 1 needs no check.
        u64::from(self as u32 % (divisor as u32).max(1))
    }
    #[inline(always)]
    fn is_below(self, other: u64) -> bool {
        self < other
    }
    #[inline(always)]
    fn is_equal(self, other: u64) -> bool {
        self == other
    }
    #[inline(always)]
    fn select(truth: bool, yes: u64, no: u64) -> u64 {
        core::hint::select_unpredictable(truth, yes, no)
    }
}

/// A scalar is one lane.
impl<W: Scalar> Vector<1> for W {
    type Lane = W;

    #[inline(always)]
    fn load(_: W::Cpu, words: &[W; 1]) -> W {
        words[0]
    }
    #[inline(always)]
    fn to_array(self) -> [W; 1] {
        [self]
    }
}

impl<W: Scalar> Lanes<1> for W {
    #[inline(always)]
    fn load_blocks(_: W::Cpu, blocks: [&[W::Byte; 64]; 1]) -> [W; 8] {
        words(blocks[0])
    }
    #[inline(always)]
    fn to_blocks(words: [W; 8]) -> [[W::Byte; 64]; 1] {
        [block(words)]
    }
}

/// The eight little-endian words of a block.
#[inline(always)]
fn words<W: Scalar>(block: &[W::Byte; 64]) -> [W; 8] {
    core::array::from_fn(|j| W::from_le_bytes(core::array::from_fn(|k| block[8 * j + k])))
}

/// The inverse of [`words`].
#[inline(always)]
fn block<W: Scalar>(words: [W; 8]) -> [W::Byte; 64] {
    let bytes = words.map(W::to_le_bytes);
    core::array::from_fn(|k| bytes[k / 8][k % 8])
}

impl<W: Word, const N: usize> Word for [W; N] {
    type Cpu = W::Cpu;

    #[inline(always)]
    fn splat(cpu: W::Cpu, x: u64) -> Self {
        [W::splat(cpu, x); N]
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        core::array::from_fn(|i| self[i].add(other[i]))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        core::array::from_fn(|i| self[i].sub(other[i]))
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        core::array::from_fn(|i| self[i].xor(other[i]))
    }
    #[inline(always)]
    fn mul_lo32(self, other: Self) -> Self {
        core::array::from_fn(|i| self[i].mul_lo32(other[i]))
    }
    #[inline(always)]
    fn rotl<const R: u32>(self) -> Self {
        self.map(W::rotl::<R>)
    }
    #[inline(always)]
    fn rotr<const R: u32>(self) -> Self {
        self.map(W::rotr::<R>)
    }
}

impl<W: Scalar, const N: usize> Vector<N> for [W; N] {
    type Lane = W;

    #[inline(always)]
    fn load(_: W::Cpu, words: &[W; N]) -> Self {
        *words
    }
    #[inline(always)]
    fn to_array(self) -> [W; N] {
        self
    }
}

impl<W: Scalar, const N: usize> Lanes<N> for [W; N] {
    #[inline(always)]
    fn load_blocks(_: W::Cpu, blocks: [&[W::Byte; 64]; N]) -> [Self; 8] {
        let words = blocks.map(words::<W>);
        core::array::from_fn(|j| core::array::from_fn(|i| words[i][j]))
    }
    #[inline(always)]
    fn to_blocks(words: [Self; 8]) -> [[W::Byte; 64]; N] {
        core::array::from_fn(|i| block(words.map(|word| word[i])))
    }
}

impl<W: Scalar> Row for [W; 4] {
    type Table = [W; 16];

    #[inline(always)]
    fn turn<const K: usize>(self) -> Self {
        core::array::from_fn(|i| self[(i + K) % 4])
    }
    #[inline(always)]
    fn table(_: W::Cpu, words: &[W; 16]) -> [W; 16] {
        *words
    }
    #[inline(always)]
    fn pick(table: &[W; 16], numbers: [usize; 4]) -> Self {
        numbers.map(|number| table[number % 16])
    }
}

impl<W: Scalar> RowPair for [W; 8] {
    const IN_STEP: usize = 1;

    #[inline(always)]
    fn columns_then_diagonals<C: Column, const ALTERNATING: bool, const N: usize>(
        rows: [[Self; N]; 4],
    ) -> [[Self; N]; 4] {
        // One column after the other: four words fit into registers, four rows do not, and no word
        // moves.
        let [mut a, mut b, mut c, mut d] = rows;
        macro_rules! columns {
            ($n:ident: $($i:literal $j:literal $k:literal $l:literal),*) => { $(
                let column = C::run([a[$n][$i], b[$n][$j], c[$n][$k], d[$n][$l]]);
                [a[$n][$i], b[$n][$j], c[$n][$k], d[$n][$l]] = column.map(W::opaque);
            )* };
        }
        for n in 0..N {
            if ALTERNATING {
                columns!(n: 0 0 0 0, 1 1 1 1, 4 4 4 4, 5 5 5 5);
                columns!(n: 0 1 4 5, 1 4 5 0, 4 5 0 1, 5 0 1 4);
                columns!(n: 2 2 2 2, 3 3 3 3, 6 6 6 6, 7 7 7 7);
                columns!(n: 2 3 6 7, 3 6 7 2, 6 7 2 3, 7 2 3 6);
            } else {
                columns!(n: 0 0 0 0, 1 1 1 1, 2 2 2 2, 3 3 3 3);
                columns!(n: 0 1 2 3, 1 2 3 0, 2 3 0 1, 3 0 1 2);
                columns!(n: 4 4 4 4, 5 5 5 5, 6 6 6 6, 7 7 7 7);
                columns!(n: 4 5 6 7, 5 6 7 4, 6 7 4 5, 7 4 5 6);
            }
        }
        [a, b, c, d]
    }
    #[inline(always)]
    fn turn<const K: usize, const ALTERNATING: bool>(self) -> Self {
        core::array::from_fn(|i| {
            if ALTERNATING {
                let (row, word) = (i / 2 % 2, (i / 4 * 2 + i % 2 + K) % 4);
                self[word / 2 * 4 + row * 2 + word % 2]
            } else {
                self[i / 4 * 4 + (i + K) % 4]
            }
        })
    }
}
