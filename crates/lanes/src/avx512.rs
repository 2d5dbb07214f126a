//! AVX-512: eight words in a register.

mod row;

pub use row::Row4;

use crate::word::{Lanes, RowPair, Vector, Word};
use core::arch::x86_64::*;

/// Proof that the CPU has AVX-512F and AVX-512VL (and so AVX2).
#[derive(Clone, Copy, Debug)]
pub struct Avx512(());

impl Avx512 {
    /// The token, if the CPU has the instructions and `SEALSTONE_CPU_DISABLE_AVX512F` is not set.
    pub(crate) fn detect() -> Option<Self> {
        use crate::detect::has;
        let has = [has!("avx512f"), has!("avx512vl"), has!("avx2")] == [true; 3];
        (has && !crate::detect::disabled("AVX512F")).then_some(Self(()))
    }

    /// Whether the CPU adds 512 bits in two cycles, as Zen 4 does (family 0x19 of AMD). Then its
    /// integer units have time for one more lane, which makes it one ninth faster. Where 512 bits
    /// take one cycle, as with Intel, that lane slows the others: they share two of the ports for
    /// arithmetic.
    pub(crate) fn works_in_halves(self) -> bool {
        #[cfg(miri)]
        return false;
        #[cfg(not(miri))]
        {
            // SAFETY: every x86-64 CPU has the instruction, and the leaves 0 and 1.
            #[allow(unused_unsafe, reason = "newer compilers call it safe")]
            let (name, version) = unsafe { (__cpuid(0), __cpuid(1).eax) };
            let is_amd = [name.ebx, name.edx, name.ecx].map(u32::to_le_bytes)
                == [*b"Auth", *b"enti", *b"cAMD"];
            let family = (version >> 8 & 0xf) + (version >> 20 & 0xff);
            is_amd && family == 0x19
        }
    }
}

/// Eight words.
#[derive(Clone, Copy, Debug)]
pub struct U64x8(pub(crate) __m512i);

// SAFETY of every block below: a `U64x8` is made from an `Avx512`, or the function has one as an
// argument. Only detection makes an `Avx512`, so the CPU has AVX-512F. Loads and stores are
// unaligned and go through references to exactly 64 bytes.

impl Word for U64x8 {
    type Cpu = Avx512;

    #[inline(always)]
    fn splat(_: Avx512, x: u64) -> Self {
        // SAFETY: the token.
        Self(unsafe { _mm512_set1_epi64(x.cast_signed()) })
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: `self` is made from a token.
        Self(unsafe { _mm512_add_epi64(self.0, other.0) })
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: `self` is made from a token.
        Self(unsafe { _mm512_sub_epi64(self.0, other.0) })
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: `self` is made from a token.
        Self(unsafe { _mm512_xor_si512(self.0, other.0) })
    }
    #[inline(always)]
    fn mul_lo32(self, other: Self) -> Self {
        // SAFETY: `self` is made from a token.
        Self(unsafe { _mm512_mul_epu32(self.0, other.0) })
    }
    #[inline(always)]
    fn rotl<const R: u32>(self) -> Self {
        // The compiler turns a constant vector of counts into the immediate form. The intrinsic of
        // that form takes an `i32` parameter. SAFETY: `self` is made from a token.
        Self(unsafe { _mm512_rolv_epi64(self.0, _mm512_set1_epi64(R as i64)) })
    }
    #[inline(always)]
    fn rotr<const R: u32>(self) -> Self {
        // SAFETY: `self` is made from a token.
        Self(unsafe { _mm512_rorv_epi64(self.0, _mm512_set1_epi64(R as i64)) })
    }
}

impl Vector<8> for U64x8 {
    type Lane = u64;

    #[inline(always)]
    fn load(_: Avx512, words: &[u64; 8]) -> Self {
        // SAFETY: the token; 64 readable bytes.
        Self(unsafe { _mm512_loadu_si512(words.as_ptr().cast()) })
    }
    #[inline(always)]
    fn to_array(self) -> [u64; 8] {
        let mut words = [0; 8];
        // SAFETY: `self` is made from a token; 64 writable bytes.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), self.0) };
        words
    }
}

impl Lanes<8> for U64x8 {
    #[inline(always)]
    fn load_blocks(_: Avx512, blocks: [&[u8; 64]; 8]) -> [Self; 8] {
        // SAFETY: the token; 64 readable bytes at each reference.
        let rows = blocks.map(|block| unsafe { _mm512_loadu_si512(block.as_ptr().cast()) });
        // SAFETY: the token.
        unsafe { transpose(rows) }.map(Self)
    }
    #[inline(always)]
    fn to_blocks(words: [Self; 8]) -> [[u8; 64]; 8] {
        // SAFETY: `words` are made from a token.
        let rows = unsafe { transpose(words.map(|word| word.0)) };
        rows.map(|row| {
            let mut block = [0; 64];
            // SAFETY: the same; 64 writable bytes.
            unsafe { _mm512_storeu_si512(block.as_mut_ptr().cast(), row) };
            block
        })
    }
}

impl RowPair for U64x8 {
    // All thirty-two registers hold state. While one matrix waits for results, the others compute.
    const IN_STEP: usize = 4;

    #[inline(always)]
    fn turn<const K: usize, const ALTERNATING: bool>(self) -> Self {
        // SAFETY: `self` is made from a token.
        Self(unsafe {
            match (K, ALTERNATING) {
                (1, false) => _mm512_permutex_epi64::<0b00_11_10_01>(self.0),
                (2, false) => _mm512_permutex_epi64::<0b01_00_11_10>(self.0),
                (3, false) => _mm512_permutex_epi64::<0b10_01_00_11>(self.0),
                (1, true) => {
                    _mm512_permutexvar_epi64(_mm512_setr_epi64(1, 4, 3, 6, 5, 0, 7, 2), self.0)
                }
                (2, true) => _mm512_shuffle_i64x2::<0b01_00_11_10>(self.0, self.0),
                (3, true) => {
                    _mm512_permutexvar_epi64(_mm512_setr_epi64(5, 0, 7, 2, 1, 4, 3, 6), self.0)
                }
                _ => self.0,
            }
        })
    }
}

/// Rows to columns, in three rounds: pairs of words, then of pairs, then of halves.
///
/// # Safety
/// The CPU must have AVX-512F.
#[inline(always)]
unsafe fn transpose([r0, r1, r2, r3, r4, r5, r6, r7]: [__m512i; 8]) -> [__m512i; 8] {
    // SAFETY: the caller promises AVX-512F.
    unsafe {
        let (a0, a1) = (_mm512_unpacklo_epi64(r0, r1), _mm512_unpackhi_epi64(r0, r1));
        let (a2, a3) = (_mm512_unpacklo_epi64(r2, r3), _mm512_unpackhi_epi64(r2, r3));
        let (a4, a5) = (_mm512_unpacklo_epi64(r4, r5), _mm512_unpackhi_epi64(r4, r5));
        let (a6, a7) = (_mm512_unpacklo_epi64(r6, r7), _mm512_unpackhi_epi64(r6, r7));
        // a0 = words 0,2,4,6 of rows 0 and 1, interleaved; a1 = words 1,3,5,7.
        let (b0, b2) = quarters(a0, a2);
        let (b1, b3) = quarters(a1, a3);
        let (b4, b6) = quarters(a4, a6);
        let (b5, b7) = quarters(a5, a7);
        // b0 = words 0 and 4 of rows 0 to 3; b2 = words 2 and 6.
        let (c0, c4) = halves(b0, b4);
        let (c1, c5) = halves(b1, b5);
        let (c2, c6) = halves(b2, b6);
        let (c3, c7) = halves(b3, b7);
        [c0, c1, c2, c3, c4, c5, c6, c7]
    }
}

/// The even and the odd 128-bit quarters of `a` and `b`, alternating.
///
/// # Safety
/// The CPU must have AVX-512F.
#[inline(always)]
unsafe fn quarters(a: __m512i, b: __m512i) -> (__m512i, __m512i) {
    // SAFETY: the caller promises AVX-512F.
    unsafe {
        let even = _mm512_permutex2var_epi64(a, _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13), b);
        let odd = _mm512_permutex2var_epi64(a, _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15), b);
        (even, odd)
    }
}

/// The low halves of `a` and `b`, and the high halves.
///
/// # Safety
/// The CPU must have AVX-512F.
#[inline(always)]
unsafe fn halves(a: __m512i, b: __m512i) -> (__m512i, __m512i) {
    // SAFETY: the caller promises AVX-512F.
    unsafe {
        (
            _mm512_shuffle_i64x2::<0x44>(a, b),
            _mm512_shuffle_i64x2::<0xee>(a, b),
        )
    }
}
