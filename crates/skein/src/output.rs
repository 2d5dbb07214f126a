//! The output transform (Skein 1.3, section 3.5.3): a counter mode on the last chaining value.

use crate::threefish::Block;
use crate::tweak::{Tweak, Type};
use sealstone_lanes::{Portable, Scalar, Word};
use zeroize::{Zeroize, optimization_barrier};

/// Output of any length, read in parts. Wiped when dropped.
#[derive(Clone)]
pub struct Output<const N: usize>
where
    [u64; N]: Block<u64>,
{
    chain: [u64; N],
    bits: u64,
    /// Bytes read.
    position: u64,
}

impl<const N: usize> Output<N>
where
    [u64; N]: Block<u64>,
{
    pub(crate) fn new(chain: [u64; N], bits: u64) -> Self {
        Self {
            chain,
            bits,
            position: 0,
        }
    }

    /// Fills `out` with the next bytes. If the output is not a number of bytes, its last byte ends
    /// with zero bits.
    ///
    /// # Panics
    /// At the end of the output.
    pub fn read(&mut self, out: &mut [u8]) {
        out.fill(0);
        self.xor_into(out);
    }

    /// Adds the next bytes to `data`, bit by bit modulo 2.
    pub(crate) fn xor_into(&mut self, data: &mut [u8]) {
        let left = self.bytes() - self.position;
        assert!(
            data.len() as u64 <= left,
            "{} bytes wanted of {left} left",
            data.len()
        );
        let mut rest = data;
        while !rest.is_empty() {
            let mut block = self.block();
            let skip = (self.position % block.as_flattened().len() as u64) as usize;
            let stream = &block.as_flattened()[skip..];
            let (part, tail) = rest.split_at_mut(rest.len().min(stream.len()));
            part.iter_mut()
                .zip(stream)
                .for_each(|(to, byte)| *to ^= byte);
            self.position += part.len() as u64;
            // This wipes whole words: `zeroize` writes byte by byte, which takes longer.
            block = [[0; 8]; N];
            optimization_barrier(&block);
            rest = tail;
        }
    }

    /// The number of bytes read.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Goes to byte `position`.
    pub(crate) fn seek(&mut self, position: u64) {
        assert!(
            position <= self.bytes(),
            "byte {position} of {}",
            self.bytes()
        );
        self.position = position;
    }

    /// All of the output.
    pub(crate) fn into_vec(mut self) -> Vec<u8> {
        let mut out =
            vec![0; usize::try_from(self.bytes()).expect("an output that fits in memory")];
        self.read(&mut out);
        out
    }

    fn bytes(&self) -> u64 {
        self.bits.div_ceil(8)
    }

    /// The block at the position.
    fn block(&self) -> [[u8; 8]; N] {
        let i = self.position / (8 * N as u64);
        let mut block = output_block(Portable, &self.chain, i).map(u64::to_le_bytes);
        let past = i * 64 * N as u64;
        if let (used @ 1.., true) = (self.bits % 8, self.bits - past <= 64 * N as u64) {
            block.as_flattened_mut()[((self.bits - past) / 8) as usize] &= 0xff << (8 - used);
        }
        block
    }
}

impl<const N: usize> Drop for Output<N>
where
    [u64; N]: Block<u64>,
{
    fn drop(&mut self) {
        self.chain.zeroize();
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
