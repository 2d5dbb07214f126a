//! Specifications of whole hashes, over strings of bytes. They follow the standards and ignore
//! speed.
//!
//! As in [`spec`](crate::spec), they are written once and share nothing with the implementation. On
//! [`Numbers`] they run against published vectors. On [`Terms`] they give the formulas for the
//! comparison with the source.

pub mod blake2b;
pub mod skein;
#[cfg(test)]
mod tests;
pub mod tree;

use sealstone_prover::algebra::{Algebra, Numbers};
use sealstone_prover::term::{Bit, Terms, Word, constant};

/// 64-bit words and their bytes.
pub trait Strings: Algebra<64> {
    /// A byte.
    type Byte: Clone;

    /// A constant.
    fn byte(&mut self, x: u8) -> Self::Byte;
    /// The word whose little-endian bytes these are.
    fn join(&mut self, bytes: &[Self::Byte]) -> Self::Word;
    /// The little-endian bytes of a word.
    fn split(&mut self, word: &Self::Word) -> Vec<Self::Byte>;
    /// `byte` with its `bits` most significant bits kept, the next one set and the others cleared,
    /// 0 < `bits` < 8.
    fn mark(&mut self, byte: &Self::Byte, bits: usize) -> Self::Byte;
    /// `byte` with its `bits` most significant bits kept and the others cleared, 0 < `bits` < 8.
    fn first(&mut self, byte: &Self::Byte, bits: usize) -> Self::Byte;
    /// `a` ⊕ `b`.
    fn xor_bytes(&mut self, a: &Self::Byte, b: &Self::Byte) -> Self::Byte;

    /// A constant string.
    fn string(&mut self, bytes: &[u8]) -> Vec<Self::Byte> {
        bytes.iter().map(|byte| self.byte(*byte)).collect()
    }
    /// The little-endian words of a string.
    fn words(&mut self, bytes: &[Self::Byte]) -> Vec<Self::Word> {
        bytes.chunks(8).map(|bytes| self.join(bytes)).collect()
    }
    /// The inverse of [`Strings::words`].
    fn to_bytes(&mut self, words: &[Self::Word]) -> Vec<Self::Byte> {
        words.iter().flat_map(|word| self.split(word)).collect()
    }
}

/// A number of two words, the low one first, and `more`, modulo 2^128.
pub fn plus<A: Algebra<64>>(a: &mut A, [low, high]: &[A::Word; 2], more: u64) -> [A::Word; 2] {
    let more = a.number(more);
    let carry = a.carry(low, &more);
    [a.add(low, &more), a.add(high, &carry)]
}

impl Strings for Numbers {
    type Byte = u8;

    fn byte(&mut self, x: u8) -> u8 {
        x
    }
    fn join(&mut self, bytes: &[u8]) -> u64 {
        bytes
            .iter()
            .rev()
            .fold(0, |word, byte| word << 8 | u64::from(*byte))
    }
    fn split(&mut self, word: &u64) -> Vec<u8> {
        (0..8).map(|i| (word >> (8 * i)) as u8).collect()
    }
    fn mark(&mut self, byte: &u8, bits: usize) -> u8 {
        byte & 0xff << (8 - bits) | 1 << (7 - bits)
    }
    fn first(&mut self, byte: &u8, bits: usize) -> u8 {
        byte >> (8 - bits) << (8 - bits)
    }
    fn xor_bytes(&mut self, a: &u8, b: &u8) -> u8 {
        a ^ b
    }
}

impl Strings for Terms {
    type Byte = Word;

    fn byte(&mut self, x: u8) -> Word {
        constant(x.into(), 8)
    }
    fn join(&mut self, bytes: &[Word]) -> Word {
        bytes.concat()
    }
    fn split(&mut self, word: &Word) -> Vec<Word> {
        word.chunks(8).map(<[Bit]>::to_vec).collect()
    }
    fn mark(&mut self, byte: &Word, bits: usize) -> Word {
        let place = 7 - bits;
        let of = |i: usize| match i.cmp(&place) {
            core::cmp::Ordering::Less => Bit::ZERO,
            core::cmp::Ordering::Equal => Bit::ONE,
            core::cmp::Ordering::Greater => byte[i],
        };
        (0..8).map(of).collect()
    }
    fn first(&mut self, byte: &Word, bits: usize) -> Word {
        let of = |i: usize| if i < 8 - bits { Bit::ZERO } else { byte[i] };
        (0..8).map(of).collect()
    }
    fn xor_bytes(&mut self, a: &Word, b: &Word) -> Word {
        a.iter().zip(b).map(|(a, b)| self.xor(*a, *b)).collect()
    }
}
