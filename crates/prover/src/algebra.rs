//! The arithmetic that specifications are written over.
//!
//! A specification is written once, generic over [`Algebra`]. On [`Numbers`] it runs against
//! published vectors and against the function itself. On [`Terms`] it gives the formulas that the
//! machine code is compared with.

use crate::aes::S_BOX;
use crate::poly1305;
use crate::term::{Bit, Terms, Word, constant};

/// Words of `BITS` bits and what specifications do with them. Additions are modulo 2^`BITS`.
pub trait Algebra<const BITS: usize> {
    /// A word.
    type Word: Clone;

    /// A constant.
    fn number(&mut self, x: u64) -> Self::Word;
    /// `a` + `b`.
    fn add(&mut self, a: &Self::Word, b: &Self::Word) -> Self::Word;
    /// 1 if `a` + `b` is 2^`BITS` or more, else 0.
    fn carry(&mut self, a: &Self::Word, b: &Self::Word) -> Self::Word {
        // Both top bits are 1; or one top bit is 1 and the top bit of the sum is 0.
        let sum = self.add(a, b);
        let ones = self.number(u64::MAX);
        let (not_sum, both, one) = (self.xor(&sum, &ones), self.and(a, b), self.xor(a, b));
        let one = self.and(&one, &not_sum);
        let carries = self.xor(&both, &one);
        self.shift_right(&carries, BITS - 1)
    }
    /// 1 if `a` < `b`, else 0: what `a` - `b` borrows.
    fn borrow(&mut self, a: &Self::Word, b: &Self::Word) -> Self::Word {
        // The complement of `a` is 2^`BITS` - 1 - `a`.
        let ones = self.number(u64::MAX);
        let complement = self.xor(a, &ones);
        self.carry(&complement, b)
    }
    /// `a` - `b`.
    fn sub(&mut self, a: &Self::Word, b: &Self::Word) -> Self::Word;
    /// `a` ⊕ `b`.
    fn xor(&mut self, a: &Self::Word, b: &Self::Word) -> Self::Word;
    /// `a` ∧ `b`.
    fn and(&mut self, a: &Self::Word, b: &Self::Word) -> Self::Word;
    /// `a` rotated right by `n` bits.
    fn rotate_right(&mut self, a: &Self::Word, n: usize) -> Self::Word;
    /// `a` shifted right by `n` bits.
    fn shift_right(&mut self, a: &Self::Word, n: usize) -> Self::Word;
    /// The product of the low halves of `a` and `b`.
    fn multiply_halves(&mut self, a: &Self::Word, b: &Self::Word) -> Self::Word;
    /// The bytes in reverse order.
    fn swap_bytes(&mut self, a: &Self::Word) -> Self::Word;

    /// `a` rotated left by `n` bits.
    fn rotate_left(&mut self, a: &Self::Word, n: usize) -> Self::Word {
        self.rotate_right(a, (BITS - n) % BITS)
    }

    /// The same word. A hint for the prover: this sum is *opaque*, because something follows that
    /// is not addition. Every implementation has this sum, so the prover need not look at its
    /// summands. See [`Terms::make_opaque`].
    fn opaque(&mut self, a: Self::Word) -> Self::Word {
        a
    }
}

/// 64-bit cells of memory, and the 32-bit words in them, the first one low.
pub trait Cells: Algebra<64> + Algebra<32> {
    /// The two words of a cell.
    fn split(&mut self, cell: &<Self as Algebra<64>>::Word) -> [<Self as Algebra<32>>::Word; 2];
    /// The cell of two words.
    fn join(&mut self, words: &[<Self as Algebra<32>>::Word]) -> <Self as Algebra<64>>::Word;
}

/// Bytes through AES's S-box.
pub trait Substitution: Algebra<64> {
    /// AES's S-box of the low byte (FIPS 197, 5.1.1), with zeros above. On formulas, it is an
    /// uninterpreted function.
    fn substitute(&mut self, a: &Self::Word) -> Self::Word;
}

impl Substitution for Numbers {
    fn substitute(&mut self, a: &u64) -> u64 {
        S_BOX[*a as u8 as usize].into()
    }
}

impl Substitution for Terms {
    fn substitute(&mut self, a: &Word) -> Word {
        let mut word = Self::substitute(self, &a[..8]);
        word.resize(64, Bit::ZERO);
        word
    }
}

/// Words as polynomials over GF(2): bit i is the coefficient of xⁱ.
pub trait Polynomials: Algebra<64> {
    /// The product: its low word and its high word.
    fn carryless_product(&mut self, a: &Self::Word, b: &Self::Word) -> [Self::Word; 2];
}

impl Polynomials for Numbers {
    fn carryless_product(&mut self, a: &u64, b: &u64) -> [u64; 2] {
        let product = (0..64)
            .filter(|i| b >> i & 1 == 1)
            .fold(0, |sum, i| sum ^ u128::from(*a) << i);
        [product as u64, (product >> 64) as u64]
    }
}

impl Polynomials for Terms {
    fn carryless_product(&mut self, a: &Word, b: &Word) -> [Word; 2] {
        let product = Self::carryless_product(self, a, b);
        [product[..64].to_vec(), product[64..].to_vec()]
    }
}

/// The polynomial of Poly1305 (RFC 8439, 2.5), with numbers of several words, the lowest first.
pub trait Residues: Algebra<64> {
    /// The low 128 bits of ((c₀ · `r` + c₁) · `r` + …) · `r` modulo 2^130 - 5, for these
    /// coefficients c₀, c₁, …. On formulas, an operation that [`Terms::settled`] looks into.
    fn residue(&mut self, r: &[Self::Word; 2], coefficients: &[[Self::Word; 3]])
    -> [Self::Word; 2];
    /// `a` + `b` modulo 2^128.
    fn add_pairs(&mut self, a: &[Self::Word; 2], b: &[Self::Word; 2]) -> [Self::Word; 2];
}

impl Residues for Numbers {
    fn residue(&mut self, r: &[u64; 2], coefficients: &[[u64; 3]]) -> [u64; 2] {
        poly1305::polynomial(*r, coefficients)
    }
    fn add_pairs(&mut self, a: &[u64; 2], b: &[u64; 2]) -> [u64; 2] {
        let (low, carry) = a[0].overflowing_add(b[0]);
        let high = a[1].wrapping_add(b[1]).wrapping_add(carry.into());
        [low, high]
    }
}

impl Residues for Terms {
    fn residue(&mut self, r: &[Word; 2], coefficients: &[[Word; 3]]) -> [Word; 2] {
        Self::residue(self, r, coefficients)
    }
    fn add_pairs(&mut self, a: &[Word; 2], b: &[Word; 2]) -> [Word; 2] {
        let (low, carry) = self.add_with_carry(&a[0], &b[0], Bit::ZERO);
        let (high, _) = self.add_with_carry(&a[1], &b[1], carry);
        [low, high]
    }
}

/// Comparisons of words, and choices by them.
pub trait Choices: Algebra<64> {
    /// A truth value.
    type Truth: Clone;

    /// Whether `a` < `b`.
    fn is_below(&mut self, a: &Self::Word, b: &Self::Word) -> Self::Truth;
    /// Whether `a` = `b`.
    fn is_equal(&mut self, a: &Self::Word, b: &Self::Word) -> Self::Truth;
    /// `yes` if `truth`, else `no`.
    fn select(&mut self, truth: &Self::Truth, yes: &Self::Word, no: &Self::Word) -> Self::Word;
    /// `a` modulo `divisor`, which is not zero.
    fn remainder(&mut self, a: &Self::Word, divisor: &Self::Word) -> Self::Word;
}

/// Plain numbers.
pub struct Numbers;

impl Choices for Numbers {
    type Truth = bool;

    fn is_below(&mut self, a: &u64, b: &u64) -> bool {
        a < b
    }
    fn is_equal(&mut self, a: &u64, b: &u64) -> bool {
        a == b
    }
    fn select(&mut self, truth: &bool, yes: &u64, no: &u64) -> u64 {
        if *truth { *yes } else { *no }
    }
    fn remainder(&mut self, a: &u64, divisor: &u64) -> u64 {
        a % divisor
    }
}

impl Choices for Terms {
    type Truth = Bit;

    fn is_below(&mut self, a: &Word, b: &Word) -> Bit {
        self.below(a, b)
    }
    fn is_equal(&mut self, a: &Word, b: &Word) -> Bit {
        self.equal(a, b)
    }
    fn select(&mut self, truth: &Bit, yes: &Word, no: &Word) -> Word {
        let pairs = yes.iter().zip(no);
        pairs
            .map(|(yes, no)| Self::select(self, *truth, *yes, *no))
            .collect()
    }
    fn remainder(&mut self, a: &Word, divisor: &Word) -> Word {
        let results = self.divide(a, divisor);
        results.expect("a divisor that is never zero").1
    }
}

macro_rules! numbers {
    ($bits:literal $word:ty) => {
        impl Algebra<$bits> for Numbers {
            type Word = $word;

            fn number(&mut self, x: u64) -> $word {
                x as $word
            }
            fn add(&mut self, a: &$word, b: &$word) -> $word {
                a.wrapping_add(*b)
            }
            fn sub(&mut self, a: &$word, b: &$word) -> $word {
                a.wrapping_sub(*b)
            }
            fn xor(&mut self, a: &$word, b: &$word) -> $word {
                a ^ b
            }
            fn and(&mut self, a: &$word, b: &$word) -> $word {
                a & b
            }
            fn rotate_right(&mut self, a: &$word, n: usize) -> $word {
                a.rotate_right(n as u32)
            }
            fn shift_right(&mut self, a: &$word, n: usize) -> $word {
                a >> n
            }
            fn multiply_halves(&mut self, a: &$word, b: &$word) -> $word {
                let low = <$word>::MAX >> ($bits / 2);
                (a & low).wrapping_mul(b & low)
            }
            fn swap_bytes(&mut self, a: &$word) -> $word {
                a.swap_bytes()
            }
        }
    };
}
numbers!(64 u64);
numbers!(32 u32);

impl Cells for Numbers {
    fn split(&mut self, cell: &u64) -> [u32; 2] {
        [*cell as u32, (*cell >> 32) as u32]
    }
    fn join(&mut self, words: &[u32]) -> u64 {
        u64::from(words[0]) | u64::from(words[1]) << 32
    }
}

impl<const BITS: usize> Algebra<BITS> for Terms {
    type Word = Word;

    fn number(&mut self, x: u64) -> Word {
        constant(x.into(), BITS)
    }
    fn add(&mut self, a: &Word, b: &Word) -> Word {
        Self::add(self, a, b)
    }
    fn carry(&mut self, a: &Word, b: &Word) -> Word {
        let sum = self.sum(BITS + 1, &[(1, a), (1, b)], 0);
        let mut word = vec![sum[BITS]];
        word.resize(BITS, Bit::ZERO);
        word
    }
    fn borrow(&mut self, a: &Word, b: &Word) -> Word {
        let difference = self.sum(BITS + 1, &[(1, a), (u128::MAX, b)], 0);
        let mut word = vec![difference[BITS]];
        word.resize(BITS, Bit::ZERO);
        word
    }
    fn sub(&mut self, a: &Word, b: &Word) -> Word {
        Self::sub(self, a, b)
    }
    fn xor(&mut self, a: &Word, b: &Word) -> Word {
        a.iter()
            .zip(b)
            .map(|(a, b)| Self::xor(self, *a, *b))
            .collect()
    }
    fn and(&mut self, a: &Word, b: &Word) -> Word {
        a.iter()
            .zip(b)
            .map(|(a, b)| Self::and(self, *a, *b))
            .collect()
    }
    fn rotate_right(&mut self, a: &Word, n: usize) -> Word {
        [&a[n..], &a[..n]].concat()
    }
    fn shift_right(&mut self, a: &Word, n: usize) -> Word {
        let mut word = a[n..].to_vec();
        word.resize(BITS, Bit::ZERO);
        word
    }
    fn multiply_halves(&mut self, a: &Word, b: &Word) -> Word {
        self.product_of(&a[..BITS / 2], &b[..BITS / 2])
    }
    fn swap_bytes(&mut self, a: &Word) -> Word {
        a.chunks(8).rev().flatten().copied().collect()
    }
    fn opaque(&mut self, a: Word) -> Word {
        self.make_opaque(&a);
        a
    }
}

impl Cells for Terms {
    fn split(&mut self, cell: &Word) -> [Word; 2] {
        [cell[..32].to_vec(), cell[32..].to_vec()]
    }
    fn join(&mut self, words: &[Word]) -> Word {
        words.concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_carry_is_what_does_not_fit_and_a_borrow_what_is_missing() {
        let ends = [
            0,
            1,
            2,
            63,
            64,
            1 << 63,
            (1 << 63) - 1,
            u64::MAX,
            u64::MAX - 1,
        ];
        for a in ends {
            for b in ends {
                let carry = Algebra::<64>::carry(&mut Numbers, &a, &b);
                assert_eq!(carry == 1, a.checked_add(b).is_none(), "{a} + {b}");
                let borrow = Algebra::<64>::borrow(&mut Numbers, &a, &b);
                assert_eq!(borrow == 1, a < b, "{a} - {b}");
                assert!(carry < 2 && borrow < 2);
            }
        }
    }
}
