//! NEON: two words in a register.

use crate::word::{Lanes, Row, RowPair, Vector, Word};
use core::arch::aarch64::*;

/// Proof that the CPU has NEON.
#[derive(Clone, Copy, Debug)]
pub struct Neon(());

impl Neon {
    /// The token, if the CPU has the instructions and `SEALSTONE_CPU_DISABLE_NEON` is not set.
    pub(crate) fn detect() -> Option<Self> {
        (crate::detect::has!("neon") && !crate::detect::disabled("NEON")).then_some(Self(()))
    }
}

/// Two words.
#[derive(Clone, Copy, Debug)]
pub struct U64x2(uint64x2_t);

// SAFETY of every block below: a `U64x2` is made from a `Neon`, or the function has one as an
// argument. Only detection makes a `Neon`, so the CPU has NEON. Loads and stores stay inside the
// arrays behind the references.

impl Word for U64x2 {
    type Cpu = Neon;

    #[inline(always)]
    fn splat(_: Neon, x: u64) -> Self {
        // SAFETY: the token.
        Self(unsafe { vdupq_n_u64(x) })
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: `self` is made from a token.
        Self(unsafe { vaddq_u64(self.0, other.0) })
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: `self` is made from a token.
        Self(unsafe { vsubq_u64(self.0, other.0) })
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: `self` is made from a token.
        Self(unsafe { veorq_u64(self.0, other.0) })
    }
    #[inline(always)]
    fn mul_lo32(self, other: Self) -> Self {
        // SAFETY: `self` is made from a token.
        Self(unsafe { vmull_u32(vmovn_u64(self.0), vmovn_u64(other.0)) })
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

/// NEON has no 64-bit rotation, so these are two shifts (a negative count shifts right).
///
/// # Safety
/// The CPU must have NEON. (`r` is a constant wherever this is inlined.)
#[inline(always)]
unsafe fn rotate_left(x: uint64x2_t, r: u32) -> uint64x2_t {
    // SAFETY: the caller promises NEON.
    unsafe {
        let left = vshlq_u64(x, vdupq_n_s64(r as i64));
        let right = vshlq_u64(x, vdupq_n_s64(r as i64 - 64));
        vorrq_u64(left, right)
    }
}

impl Vector<2> for U64x2 {
    type Lane = u64;

    #[inline(always)]
    fn load(_: Neon, words: &[u64; 2]) -> Self {
        // SAFETY: the token; 16 readable bytes.
        Self(unsafe { vld1q_u64(words.as_ptr()) })
    }
    #[inline(always)]
    fn to_array(self) -> [u64; 2] {
        let mut words = [0; 2];
        // SAFETY: `self` is made from a token; 16 writable bytes.
        unsafe { vst1q_u64(words.as_mut_ptr(), self.0) };
        words
    }
}

impl Lanes<2> for U64x2 {
    #[inline(always)]
    fn load_blocks(cpu: Neon, [a, b]: [&[u8; 64]; 2]) -> [Self; 8] {
        let [p0, p1] = pair(cpu, a, b, 0);
        let [p2, p3] = pair(cpu, a, b, 1);
        let [p4, p5] = pair(cpu, a, b, 2);
        let [p6, p7] = pair(cpu, a, b, 3);
        [p0, p1, p2, p3, p4, p5, p6, p7]
    }
    #[inline(always)]
    fn to_blocks(words: [Self; 8]) -> [[u8; 64]; 2] {
        let words = words.map(Self::to_array);
        core::array::from_fn(|i| <u64 as Lanes<1>>::to_blocks(words.map(|word| word[i]))[0])
    }
}

/// Half a row in each register.
impl Vector<4> for [U64x2; 2] {
    type Lane = u64;

    #[inline(always)]
    fn load(cpu: Neon, &[a, b, c, d]: &[u64; 4]) -> Self {
        [[a, b], [c, d]].map(|half| U64x2::load(cpu, &half))
    }
    #[inline(always)]
    fn to_array(self) -> [u64; 4] {
        let [[a, b], [c, d]] = self.map(U64x2::to_array);
        [a, b, c, d]
    }
}

impl Row for [U64x2; 2] {
    type Table = (Neon, [u64; 16]);

    #[inline(always)]
    fn turn<const K: usize>(self) -> Self {
        let [low, high] = self;
        match K {
            1 => [middle(low, high), middle(high, low)],
            2 => [high, low],
            3 => [middle(high, low), middle(low, high)],
            _ => self,
        }
    }
    #[inline(always)]
    fn table(cpu: Neon, words: &[u64; 16]) -> Self::Table {
        (cpu, *words)
    }
    #[inline(always)]
    fn pick((cpu, words): &Self::Table, numbers: [usize; 4]) -> Self {
        <Self as Vector<4>>::load(*cpu, &numbers.map(|number| words[number % 16]))
    }
}

/// A row in two registers, twice.
impl Vector<8> for [U64x2; 4] {
    type Lane = u64;

    #[inline(always)]
    fn load(cpu: Neon, &[a, b, c, d, e, f, g, h]: &[u64; 8]) -> Self {
        [[a, b], [c, d], [e, f], [g, h]].map(|half| U64x2::load(cpu, &half))
    }
    #[inline(always)]
    fn to_array(self) -> [u64; 8] {
        let [[a, b], [c, d], [e, f], [g, h]] = self.map(U64x2::to_array);
        [a, b, c, d, e, f, g, h]
    }
}

impl RowPair for [U64x2; 4] {
    const IN_STEP: usize = 1;

    #[inline(always)]
    fn turn<const K: usize, const ALTERNATING: bool>(self) -> Self {
        let [a, b, c, d] = self;
        if ALTERNATING {
            let ([a, c], [b, d]) = (Row::turn::<K>([a, c]), Row::turn::<K>([b, d]));
            [a, b, c, d]
        } else {
            let ([a, b], [c, d]) = (Row::turn::<K>([a, b]), Row::turn::<K>([c, d]));
            [a, b, c, d]
        }
    }
}

/// The second word of `a` and the first of `b`.
#[inline(always)]
fn middle(a: U64x2, b: U64x2) -> U64x2 {
    // SAFETY: both are made from a token.
    U64x2(unsafe { vextq_u64::<1>(a.0, b.0) })
}

/// Words `2i` and `2i + 1` of two blocks, i < 4.
#[inline(always)]
fn pair(_: Neon, a: &[u8; 64], b: &[u8; 64], i: usize) -> [U64x2; 2] {
    let [a, b] = [a, b].map(|block| &block.as_chunks::<16>().0[i]);
    // SAFETY: the token; 16 readable bytes at each reference.
    unsafe {
        // Loaded as bytes, which need no alignment; the words are little-endian, as the CPU is (see
        // lib.rs).
        let (a, b) = (
            vreinterpretq_u64_u8(vld1q_u8(a.as_ptr())),
            vreinterpretq_u64_u8(vld1q_u8(b.as_ptr())),
        );
        [U64x2(vzip1q_u64(a, b)), U64x2(vzip2q_u64(a, b))]
    }
}
