//! AVX2: four words in a register.

use crate::word::{Lanes, Row, RowPair, Vector, Word};
use core::arch::x86_64::*;

/// Proof that the CPU has AVX2.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

impl Avx2 {
    /// The token, if the CPU has the instructions and `SEALSTONE_CPU_DISABLE_AVX2` is not set.
    pub(crate) fn detect() -> Option<Self> {
        (crate::detect::has!("avx2") && !crate::detect::disabled("AVX2")).then_some(Self(()))
    }
}

/// Four words.
#[derive(Clone, Copy, Debug)]
pub struct U64x4(__m256i);

// SAFETY of every block below: a `U64x4` is made from an `Avx2`, or the function has one as an
// argument. Only detection makes an `Avx2`, so the CPU has AVX2. Loads and stores are unaligned and
// stay inside the arrays behind the references.

impl Word for U64x4 {
    type Cpu = Avx2;

    #[inline(always)]
    fn splat(_: Avx2, x: u64) -> Self {
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
        Self(unsafe { rotate_left(self.0, R) })
    }
    #[inline(always)]
    fn rotr<const R: u32>(self) -> Self {
        // SAFETY: `self` is made from a token.
        Self(unsafe { rotate_left(self.0, 64 - R) })
    }
}

/// AVX2 has no rotation. Rotating by whole bytes is one shuffle, otherwise it is two shifts.
///
/// # Safety
/// The CPU must have AVX2. (`r` is a constant wherever this is inlined.)
#[inline(always)]
unsafe fn rotate_left(x: __m256i, r: u32) -> __m256i {
    // SAFETY: the caller promises AVX2.
    unsafe {
        if r == 32 {
            return _mm256_shuffle_epi32::<0b10_11_00_01>(x);
        }
        if r.is_multiple_of(8) {
            let from = |byte: u32| ((byte + 8 - r / 8) % 8) as u64;
            let low = (0..8).fold(0, |mask, byte| mask | from(byte) << (8 * byte));
            let high = low + 0x0808_0808_0808_0808;
            let mask = opaque(_mm_set_epi64x(high as i64, low as i64));
            return _mm256_shuffle_epi8(x, _mm256_broadcastsi128_si256(mask));
        }
        if r == 1 {
            return _mm256_or_si256(_mm256_add_epi64(x, x), _mm256_srli_epi64::<63>(x));
        }
        let left = _mm256_sll_epi64(x, _mm_cvtsi64_si128(r as i64));
        let right = _mm256_srl_epi64(x, _mm_cvtsi64_si128(64 - r as i64));
        _mm256_or_si256(left, right)
    }
}

/// Returns `x`, and hides its value from the compiler. The compiler would merge a shuffle by a
/// constant with other shuffles, or split it: the rotation by 16 bits took two to four
/// instructions.
#[inline(always)]
fn opaque(x: __m128i) -> __m128i {
    // Some targets without an operating system have no registers for it by default.
    #[cfg(all(target_feature = "sse", not(miri)))]
    let x = {
        let mut x = x;
        // SAFETY: an assembly comment, which changes nothing.
        unsafe {
            core::arch::asm!(
                "/* {} */", inout(xmm_reg) x,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        x
    };
    x
}

impl Vector<4> for U64x4 {
    type Lane = u64;

    #[inline(always)]
    fn load(_: Avx2, words: &[u64; 4]) -> Self {
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

impl Lanes<4> for U64x4 {
    #[inline(always)]
    fn load_blocks(_: Avx2, blocks: [&[u8; 64]; 4]) -> [Self; 8] {
        // SAFETY: the token; of 64 readable bytes at each reference, the first and the second 32.
        let (low, high) = unsafe {
            (
                transpose(blocks.map(|block| _mm256_loadu_si256(block.as_ptr().cast()))),
                transpose(blocks.map(|block| _mm256_loadu_si256(block.as_ptr().add(32).cast()))),
            )
        };
        [
            low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3],
        ]
        .map(Self)
    }
    #[inline(always)]
    fn to_blocks([w0, w1, w2, w3, w4, w5, w6, w7]: [Self; 8]) -> [[u8; 64]; 4] {
        // SAFETY: the words are made from a token.
        let (low, high) = unsafe {
            (
                transpose([w0.0, w1.0, w2.0, w3.0]),
                transpose([w4.0, w5.0, w6.0, w7.0]),
            )
        };
        core::array::from_fn(|i| {
            let mut block = [0; 64];
            let (first, second) = block.split_at_mut(32);
            // SAFETY: the same; 32 writable bytes in each half.
            unsafe {
                _mm256_storeu_si256(first.as_mut_ptr().cast(), low[i]);
                _mm256_storeu_si256(second.as_mut_ptr().cast(), high[i]);
            }
            block
        })
    }
}

impl Row for U64x4 {
    type Table = (Avx2, [u64; 16]);

    #[inline(always)]
    fn turn<const K: usize>(self) -> Self {
        // SAFETY: `self` is made from a token.
        Self(unsafe { turn::<K>(self.0) })
    }
    #[inline(always)]
    fn table(cpu: Avx2, words: &[u64; 16]) -> Self::Table {
        (cpu, *words)
    }
    #[inline(always)]
    fn pick((_, words): &Self::Table, numbers: [usize; 4]) -> Self {
        let [a, b, c, d] = numbers.map(|number| words[number % 16].cast_signed());
        // SAFETY: the token in the table.
        Self(unsafe { _mm256_setr_epi64x(a, b, c, d) })
    }
}

/// Rows to columns, in two rounds: pairs of words, then halves.
///
/// # Safety
/// The CPU must have AVX2.
#[inline(always)]
unsafe fn transpose([r0, r1, r2, r3]: [__m256i; 4]) -> [__m256i; 4] {
    // SAFETY: the caller promises AVX2.
    unsafe {
        let (a0, a1) = (_mm256_unpacklo_epi64(r0, r1), _mm256_unpackhi_epi64(r0, r1));
        let (a2, a3) = (_mm256_unpacklo_epi64(r2, r3), _mm256_unpackhi_epi64(r2, r3));
        [
            _mm256_permute2x128_si256::<0x20>(a0, a2),
            _mm256_permute2x128_si256::<0x20>(a1, a3),
            _mm256_permute2x128_si256::<0x31>(a0, a2),
            _mm256_permute2x128_si256::<0x31>(a1, a3),
        ]
    }
}

/// One row in each register.
impl Vector<8> for [U64x4; 2] {
    type Lane = u64;

    #[inline(always)]
    fn load(cpu: Avx2, words: &[u64; 8]) -> Self {
        let [a, b, c, d, e, f, g, h] = *words;
        [[a, b, c, d], [e, f, g, h]].map(|row| U64x4::load(cpu, &row))
    }
    #[inline(always)]
    fn to_array(self) -> [u64; 8] {
        let [[a, b, c, d], [e, f, g, h]] = self.map(U64x4::to_array);
        [a, b, c, d, e, f, g, h]
    }
}

impl RowPair for [U64x4; 2] {
    // The states of two fill all sixteen registers, so some words wait in memory. With one, the CPU
    // waits for results.
    const IN_STEP: usize = 2;

    #[inline(always)]
    fn turn<const K: usize, const ALTERNATING: bool>(self) -> Self {
        if !ALTERNATING {
            return self.map(Row::turn::<K>);
        }
        // A register has the same half of both rows: words move within 128 bits, which is faster.
        let [first, second] = self;
        // SAFETY: `self` is made from a token.
        let shifted =
            |low: U64x4, high: U64x4| U64x4(unsafe { _mm256_alignr_epi8::<8>(high.0, low.0) });
        match K {
            1 => [shifted(first, second), shifted(second, first)],
            2 => [second, first],
            3 => [shifted(second, first), shifted(first, second)],
            _ => self,
        }
    }
}

/// Word `i` is what word `(i + K) mod 4` was.
///
/// # Safety
/// The CPU must have AVX2.
#[inline(always)]
pub(crate) unsafe fn turn<const K: usize>(row: __m256i) -> __m256i {
    // SAFETY: the caller promises AVX2.
    unsafe {
        match K {
            1 => _mm256_permute4x64_epi64::<0b00_11_10_01>(row),
            2 => _mm256_permute4x64_epi64::<0b01_00_11_10>(row),
            3 => _mm256_permute4x64_epi64::<0b10_01_00_11>(row),
            _ => row,
        }
    }
}
