//! AVX-512VL: one row of four words, with rotations and two-source permutes that AVX2 does not
//! have.

use super::Avx512;
use crate::avx2::turn;
use crate::word::{Row, Vector, Word};
use core::arch::x86_64::*;

/// Four words.
#[derive(Clone, Copy, Debug)]
pub struct Row4(__m256i);

// SAFETY of every block below: a `Row4` is made from an `Avx512`, or the function has one as an
// argument. Only detection makes an `Avx512`, so the CPU has AVX-512F, AVX-512VL and AVX2. Loads
// and stores are unaligned and stay inside the arrays behind the references.

impl Word for Row4 {
    type Cpu = Avx512;

    #[inline(always)]
    fn splat(_: Avx512, x: u64) -> Self {
        // SAFETY: the token.
        Self(unsafe { _mm256_set1_epi64x(x.cast_signed()) })
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: `self` is made from a token.
        Self(unsafe { _mm256_add_epi64(self.0, other.0) })
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: `self` is made from a token.
        Self(unsafe { _mm256_sub_epi64(self.0, other.0) })
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: `self` is made from a token.
        Self(unsafe { _mm256_xor_si256(self.0, other.0) })
    }
    #[inline(always)]
    fn mul_lo32(self, other: Self) -> Self {
        // SAFETY: `self` is made from a token.
        Self(unsafe { _mm256_mul_epu32(self.0, other.0) })
    }
    #[inline(always)]
    fn rotl<const R: u32>(self) -> Self {
        // SAFETY: `self` is made from a token.
        Self(unsafe { _mm256_rolv_epi64(self.0, _mm256_set1_epi64x(R as i64)) })
    }
    #[inline(always)]
    fn rotr<const R: u32>(self) -> Self {
        // SAFETY: `self` is made from a token.
        Self(unsafe { _mm256_rorv_epi64(self.0, _mm256_set1_epi64x(R as i64)) })
    }
}

impl Vector<4> for Row4 {
    type Lane = u64;

    #[inline(always)]
    fn load(_: Avx512, words: &[u64; 4]) -> Self {
        // SAFETY: the token; 32 readable bytes.
        Self(unsafe { _mm256_loadu_si256(words.as_ptr().cast()) })
    }
    #[inline(always)]
    fn to_array(self) -> [u64; 4] {
        let mut words = [0; 4];
        // SAFETY: `self` is made from a token; 32 writable bytes.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), self.0) };
        words
    }
}

/// Sixteen words in two registers.
#[derive(Clone, Copy, Debug)]
pub struct Table(__m512i, __m512i);

impl Row for Row4 {
    type Table = Table;

    #[inline(always)]
    fn turn<const K: usize>(self) -> Self {
        // SAFETY: `self` is made from a token.
        Self(unsafe { turn::<K>(self.0) })
    }
    #[inline(always)]
    fn table(_: Avx512, words: &[u64; 16]) -> Table {
        let (low, high) = words.split_at(8);
        // SAFETY: the token; 64 readable bytes at each.
        unsafe {
            Table(
                _mm512_loadu_si512(low.as_ptr().cast()),
                _mm512_loadu_si512(high.as_ptr().cast()),
            )
        }
    }
    #[inline(always)]
    fn pick(table: &Table, numbers: [usize; 4]) -> Self {
        let [a, b, c, d] = numbers.map(|number| number as i64);
        // SAFETY: the table is made from a token.
        Self(unsafe {
            let numbers = _mm512_setr_epi64(a, b, c, d, 0, 0, 0, 0);
            _mm512_castsi512_si256(_mm512_permutex2var_epi64(table.0, numbers, table.1))
        })
    }
}
