//! A vector and one more word, which advance in step. Vector units and integer units of a core work
//! at the same time. A kernel of vectors leaves the integer units idle, so one more stream in
//! general-purpose registers costs little.

use crate::word::{Lanes, Vector, Word};
use crate::{Avx512, Portable, U64x8};
use core::arch::x86_64::__m512i;

/// Eight words in a vector and the ninth in a general-purpose register.
#[derive(Clone, Copy, Debug)]
pub struct Both(U64x8, u64);

impl Word for Both {
    type Cpu = Avx512;

    #[inline(always)]
    fn splat(cpu: Avx512, x: u64) -> Self {
        Self(U64x8::splat(cpu, x), x)
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0.add(other.0), Word::add(self.1, other.1))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(self.0.sub(other.0), Word::sub(self.1, other.1))
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        let (vector, word) = (self.0.xor(other.0), Word::xor(self.1, other.1));
        // SAFETY: `self` is made from a token.
        let (vector, word) = unsafe { tie(vector.0, word) };
        Self(U64x8(vector), word)
    }
    #[inline(always)]
    fn mul_lo32(self, other: Self) -> Self {
        Self(self.0.mul_lo32(other.0), self.1.mul_lo32(other.1))
    }
    #[inline(always)]
    fn rotl<const R: u32>(self) -> Self {
        Self(self.0.rotl::<R>(), self.1.rotl::<R>())
    }
    #[inline(always)]
    fn rotr<const R: u32>(self) -> Self {
        Self(self.0.rotr::<R>(), self.1.rotr::<R>())
    }
    #[inline(always)]
    fn opaque(self) -> Self {
        Self(self.0.opaque(), self.1.opaque())
    }
}

/// The same values; the compiler has neither before it has both. It costs no instruction. Without
/// it, the compiler puts all instructions on vectors before all instructions on words, thousands of
/// instructions apart. A core looks only a few hundred ahead.
#[inline]
#[target_feature(enable = "avx512f")]
#[cfg_attr(miri, allow(unused_mut))]
fn tie(mut vector: __m512i, mut word: u64) -> (__m512i, u64) {
    // SAFETY: an assembly comment, which changes nothing.
    #[cfg(not(miri))]
    unsafe {
        core::arch::asm!(
            "/* {} {} */", inout(zmm_reg) vector, inout(reg) word,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    (vector, word)
}

impl Vector<9> for Both {
    type Lane = u64;

    #[inline(always)]
    fn load(cpu: Avx512, &[a, b, c, d, e, f, g, h, word]: &[u64; 9]) -> Self {
        Self(U64x8::load(cpu, &[a, b, c, d, e, f, g, h]), word)
    }
    #[inline(always)]
    fn to_array(self) -> [u64; 9] {
        let [a, b, c, d, e, f, g, h] = self.0.to_array();
        [a, b, c, d, e, f, g, h, self.1]
    }
}

impl Lanes<9> for Both {
    #[inline(always)]
    fn load_blocks(cpu: Avx512, [a, b, c, d, e, f, g, h, last]: [&[u8; 64]; 9]) -> [Self; 8] {
        let vectors = U64x8::load_blocks(cpu, [a, b, c, d, e, f, g, h]);
        let words = <u64 as Lanes<1>>::load_blocks(Portable, [last]);
        core::array::from_fn(|j| Self(vectors[j], words[j]))
    }
    #[inline(always)]
    fn to_blocks(words: [Self; 8]) -> [[u8; 64]; 9] {
        let [a, b, c, d, e, f, g, h] = U64x8::to_blocks(words.map(|both| both.0));
        let [last] = <u64 as Lanes<1>>::to_blocks(words.map(|both| both.1));
        [a, b, c, d, e, f, g, h, last]
    }
}
