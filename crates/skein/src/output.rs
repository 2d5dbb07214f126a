//! The output transform (Skein 1.3, section 3.5.3): a counter mode on the last chaining value.

use crate::threefish::Block;
use crate::tweak::{Tweak, Type};
use sealstone_lanes::{Portable, Scalar, Word};
use zeroize::optimization_barrier;

/// Output of any length, read in parts. Generic over word and number of a block, so that a prover
/// can run it on symbols. Wiped when dropped.
#[derive(Clone)]
pub struct Output<const N: usize, S: Scalar = u64, C = u64>
where
    [S; N]: Block<S>,
{
    cpu: S::Cpu,
    chain: [S; N],
    /// The number of the block at the position.
    number: C,
    /// The bytes of that block before the position. They are fewer than a block.
    skip: usize,
    /// The bits from the position to the end.
    left: u64,
    /// The bits of all output.
    bits: u64,
}

impl<const N: usize> Output<N>
where
    [u64; N]: Block<u64>,
{
    pub(crate) fn new(chain: [u64; N], bits: u64) -> Self {
        Self::with_number(Portable, chain, 0, bits)
    }

    /// The number of bytes read.
    pub(crate) fn position(&self) -> u64 {
        8 * N as u64 * self.number + self.skip as u64
    }

    /// Goes to byte `position`.
    pub(crate) fn seek(&mut self, position: u64) {
        let bytes = self.bits.div_ceil(8);
        assert!(position <= bytes, "byte {position} of {bytes}");
        self.number = position / (8 * N as u64);
        self.skip = (position % (8 * N as u64)) as usize;
        self.left = self.bits.saturating_sub(position.saturating_mul(8));
    }
}

impl<const N: usize, S: Scalar, C: OutputNumber<S>> Output<N, S, C>
where
    [S; N]: Block<S>,
{
    /// Output of this number of bits, from the block with this number on.
    pub fn with_number(cpu: S::Cpu, chain: [S; N], number: C, bits: u64) -> Self {
        Self {
            cpu,
            chain,
            number,
            skip: 0,
            left: bits,
            bits,
        }
    }

    /// Fills `out` with the next bytes. If the output is not a number of bytes, its last byte ends
    /// with zero bits.
    ///
    /// # Panics
    /// At the end of the output.
    pub fn read(&mut self, out: &mut [S::Byte]) {
        out.fill(S::byte(self.cpu, 0));
        self.xor_into(out);
    }

    /// Adds the next bytes to `data`, bit by bit modulo 2.
    ///
    /// # Panics
    /// At the end of the output.
    pub fn xor_into(&mut self, data: &mut [S::Byte]) {
        let left = self.left.div_ceil(8);
        assert!(
            data.len() as u64 <= left,
            "{} bytes wanted of {left} left",
            data.len()
        );
        let mut rest = data;
        while !rest.is_empty() {
            rest = self.xor_into_first(rest);
        }
    }

    /// Adds what is left of the block at the position to the first bytes of `data`, and returns the
    /// others. A prover adds it to an unknown number of bytes, so it looks only at the first ones.
    ///
    /// # Panics
    /// If those first bytes go beyond the end of the output.
    #[inline]
    pub fn xor_into_first<'d, D>(&mut self, data: D) -> D
    where
        D: OutputData<'d, S::Byte>,
        S::Byte: 'd,
    {
        let zero = S::byte(self.cpu, 0);
        let (part, rest) = data.cut(8 * N - self.skip);
        let left = self.left.div_ceil(8);
        assert!(
            part.len() as u64 <= left,
            "{} bytes wanted of {left} left",
            part.len()
        );
        let mut block = self.number.block(self.cpu, &self.chain).map(S::to_le_bytes);
        let stream = &mut block.as_flattened_mut()[self.skip..][..part.len()];
        let bits = 8 * part.len() as u64;
        if let (Some(last), true) = (stream.last_mut(), self.left < bits) {
            *last = S::keep(*last, (self.left % 8) as u32);
        }
        for (to, byte) in part.iter_mut().zip(stream) {
            *to = S::xor_bytes(*to, *byte);
        }
        self.left = self.left.saturating_sub(bits);
        self.skip += part.len();
        if self.skip == 8 * N {
            (self.number, self.skip) = (self.number.next(), 0);
        }
        // This wipes whole words: `zeroize` writes byte by byte, which takes longer.
        block = [[zero; 8]; N];
        optimization_barrier(&block);
        rest
    }

    /// All of the output that is left.
    pub fn into_vec(mut self) -> Vec<S::Byte> {
        let bytes = usize::try_from(self.left.div_ceil(8)).expect("an output that fits in memory");
        let mut out = vec![S::byte(self.cpu, 0); bytes];
        self.xor_into(&mut out);
        out
    }
}

impl<const N: usize, S: Scalar, C> Drop for Output<N, S, C>
where
    [S; N]: Block<S>,
{
    fn drop(&mut self) {
        // The proof of every output is about these fields. If there is another one, a proof must
        // show that reading a part keeps it right.
        let Self {
            cpu,
            chain,
            number: _,
            skip: _,
            left: _,
            bits: _,
        } = self;
        *chain = [S::splat(*cpu, 0); N];
        optimization_barrier(chain);
    }
}

/// The number of a block of output: a number, or a prover's unknown one. The code that reads in
/// parts cannot look at it.
pub trait OutputNumber<S: Scalar>: Copy {
    /// The next number.
    #[must_use]
    fn next(self) -> Self;
    /// The block with this number, of the chaining value.
    fn block<const N: usize>(self, cpu: S::Cpu, chain: &[S; N]) -> [S; N]
    where
        [S; N]: Block<S>;
}

impl<S: Scalar> OutputNumber<S> for u64 {
    #[inline(always)]
    fn next(self) -> Self {
        self + 1
    }
    #[inline(always)]
    fn block<const N: usize>(self, cpu: S::Cpu, chain: &[S; N]) -> [S; N]
    where
        [S; N]: Block<S>,
    {
        output_block(cpu, chain, self)
    }
}

/// Bytes to which output is added: a slice, or a prover's unknown number of them.
pub trait OutputData<'d, B>: Sized {
    /// The first bytes, `most` of them if there are so many, and the others.
    fn cut(self, most: usize) -> (&'d mut [B], Self);
}

impl<'d, B> OutputData<'d, B> for &'d mut [B] {
    #[inline(always)]
    fn cut(self, most: usize) -> (&'d mut [B], Self) {
        let length = self.len().min(most);
        self.split_at_mut(length)
    }
}

/// Block `i` of the output: UBI(chain, i as 8 bytes, output). Every hash ends here, so it is a
/// function of its own in every program, which the prover finds there.
#[inline(never)]
pub fn output_block<S: Scalar, const N: usize>(cpu: S::Cpu, chain: &[S; N], i: u64) -> [S; N]
where
    [S; N]: Block<S>,
{
    let mut counter = [S::splat(cpu, 0); N];
    counter[0] = S::splat(cpu, i);
    let tweak = Tweak::new(Type::Output).advance(8).last().words();
    let cipher = counter.encrypt(cpu, chain, &tweak.map(|word| S::splat(cpu, word)));
    core::array::from_fn(|j| Word::xor(cipher[j], counter[j]))
}
