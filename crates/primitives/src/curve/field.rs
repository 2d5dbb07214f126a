//! Arithmetic modulo the primes of P-256 and P-384, for public values.
//!
//! aws-lc does not offer the arithmetic of its curves' fields. Its point operations run in constant
//! time, one at a time. Operations on public values may be faster. This module serves sums of many
//! products, and the square root in a point's encoding.

#![allow(
    clippy::needless_range_loop,
    reason = "limbs of several numbers go together"
)]
#![allow(
    clippy::suspicious_arithmetic_impl,
    reason = "carries are joined by `|`"
)]

use std::marker::PhantomData;

use crate::Error;

/// An odd prime of `N` limbs, the lowest first, that leaves 3 when divided by 4.
pub trait Prime<const N: usize>: Copy + 'static {
    /// The prime.
    const PRIME: [u64; N];
}

/// A number modulo a prime, in Montgomery form: times 2^(64 N).
pub(super) struct Field<P: Prime<N>, const N: usize>([u64; N], PhantomData<P>);

impl<P: Prime<N>, const N: usize> Clone for Field<P, N> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Prime<N>, const N: usize> Copy for Field<P, N> {}

impl<P: Prime<N>, const N: usize> PartialEq for Field<P, N> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<P: Prime<N>, const N: usize> Field<P, N> {
    pub(super) const ZERO: Self = Self([0; N], PhantomData);
    pub(super) const ONE: Self = Self(power_of_two(&P::PRIME, 64 * N), PhantomData);
    /// 2^(128 N): its product with a number is the number's Montgomery form.
    const SQUARE: Self = Self(power_of_two(&P::PRIME, 128 * N), PhantomData);
    /// -1 / prime modulo 2^64.
    const NEGATED_INVERSE: u64 = negated_inverse(P::PRIME[0]);

    /// A number from its big-endian bytes, below the prime.
    pub(super) fn from_be_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let limbs = limbs_from_be_bytes(bytes);
        let below = limbs.iter().rev().lt(P::PRIME.iter().rev());
        if below {
            Ok(Self(limbs, PhantomData) * Self::SQUARE)
        } else {
            Err(Error)
        }
    }

    /// The number as big-endian bytes.
    pub(super) fn write_be_bytes(self, out: &mut [u8]) {
        let mut one = [0; N];
        one[0] = 1;
        let number = self * Self(one, PhantomData);
        for (limb, chunk) in number.0.iter().zip(out.rchunks_mut(8)) {
            chunk.copy_from_slice(&limb.to_be_bytes());
        }
    }

    /// Whether the number, not its Montgomery form, is odd.
    pub(super) fn is_odd(self) -> bool {
        let mut one = [0; N];
        one[0] = 1;
        (self * Self(one, PhantomData)).0[0] & 1 == 1
    }

    pub(super) fn is_zero(self) -> bool {
        self == Self::ZERO
    }

    pub(super) fn double(self) -> Self {
        self + self
    }

    pub(super) fn square(self) -> Self {
        self * self
    }

    /// The number times 1 / 2.
    #[inline(always)]
    pub(super) fn half(self) -> Self {
        // Either the number or its sum with the odd prime is even.
        let mask = (self.0[0] & 1).wrapping_neg();
        let (mut limbs, mut carry) = ([0; N], false);
        for index in 0..N {
            let (partial, first) = self.0[index].overflowing_add(P::PRIME[index] & mask);
            let (limb, second) = partial.overflowing_add(u64::from(carry));
            (limbs[index], carry) = (limb, first | second);
        }
        for index in 0..N {
            let above = limbs.get(index + 1).copied().unwrap_or(carry.into());
            limbs[index] = limbs[index] >> 1 | above << 63;
        }
        Self(limbs, PhantomData)
    }

    /// The inverse; zero for zero.
    pub(super) fn invert(self) -> Self {
        let mut exponent = P::PRIME;
        exponent[0] -= 2;
        self.power(&exponent)
    }

    /// The square root, if there is one.
    pub(super) fn square_root(self) -> Option<Self> {
        // (prime + 1) / 4: the prime leaves 3, so this is prime / 4 rounded down, plus 1.
        let mut exponent = P::PRIME;
        for index in 0..N {
            let above = exponent.get(index + 1).copied().unwrap_or(0);
            exponent[index] = exponent[index] >> 2 | above << 62;
        }
        for limb in &mut exponent {
            let carry;
            (*limb, carry) = limb.overflowing_add(1);
            if !carry {
                break;
            }
        }
        let root = self.power(&exponent);
        (root.square() == self).then_some(root)
    }

    /// The power, four bits of the exponent at a time.
    fn power(self, exponent: &[u64; N]) -> Self {
        let mut table = [Self::ONE; 16];
        for index in 1..16 {
            table[index] = table[index - 1] * self;
        }
        let mut power = Self::ONE;
        for limb in exponent.iter().rev() {
            for shift in (0..16).rev() {
                power = power.square().square().square().square();
                let digit = (limb >> (4 * shift) & 15) as usize;
                if digit != 0 {
                    power = power * table[digit];
                }
            }
        }
        power
    }

    /// `limbs` and `top` · 2^(64 N), which are less than two primes, less one prime if need be.
    #[inline(always)]
    fn reduce(limbs: [u64; N], top: u64) -> Self {
        let (mut reduced, mut borrow) = ([0; N], false);
        for index in 0..N {
            (reduced[index], borrow) = subtract(limbs[index], P::PRIME[index], borrow);
        }
        Self(
            if borrow && top == 0 { limbs } else { reduced },
            PhantomData,
        )
    }
}

impl<P: Prime<N>, const N: usize> std::ops::Add for Field<P, N> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let (mut sum, mut carry) = ([0; N], false);
        for index in 0..N {
            let (partial, first) = self.0[index].overflowing_add(other.0[index]);
            let (limb, second) = partial.overflowing_add(u64::from(carry));
            (sum[index], carry) = (limb, first | second);
        }
        Self::reduce(sum, u64::from(carry))
    }
}

impl<P: Prime<N>, const N: usize> std::ops::Sub for Field<P, N> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let (mut difference, mut borrow) = ([0; N], false);
        for index in 0..N {
            (difference[index], borrow) = subtract(self.0[index], other.0[index], borrow);
        }
        let mask = u64::from(borrow).wrapping_neg();
        let mut carry = false;
        for index in 0..N {
            let (partial, first) = difference[index].overflowing_add(P::PRIME[index] & mask);
            let (limb, second) = partial.overflowing_add(u64::from(carry));
            (difference[index], carry) = (limb, first | second);
        }
        Self(difference, PhantomData)
    }
}

impl<P: Prime<N>, const N: usize> std::ops::Neg for Field<P, N> {
    type Output = Self;

    fn neg(self) -> Self {
        Self::ZERO - self
    }
}

impl<P: Prime<N>, const N: usize> std::ops::Mul for Field<P, N> {
    type Output = Self;

    /// Montgomery's product, one limb of `other` at a time.
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let (mut limbs, mut top) = ([0; N], 0_u64);
        for factor in other.0 {
            let mut carry = 0;
            for index in 0..N {
                limbs[index] = multiply_add(self.0[index], factor, limbs[index], &mut carry);
            }
            let (high, over) = top.overflowing_add(carry);
            let quotient = limbs[0].wrapping_mul(Self::NEGATED_INVERSE);
            carry = 0;
            multiply_add(quotient, P::PRIME[0], limbs[0], &mut carry);
            for index in 1..N {
                limbs[index - 1] =
                    multiply_add(quotient, P::PRIME[index], limbs[index], &mut carry);
            }
            let (last, again) = high.overflowing_add(carry);
            limbs[N - 1] = last;
            top = u64::from(over) + u64::from(again);
        }
        Self::reduce(limbs, top)
    }
}

/// `a · b + c + carry`: the low limb, and the high one in `carry`.
#[inline(always)]
fn multiply_add(a: u64, b: u64, c: u64, carry: &mut u64) -> u64 {
    let product = u128::from(a) * u128::from(b) + u128::from(c) + u128::from(*carry);
    *carry = (product >> 64) as u64;
    product as u64
}

/// `a - b - borrow`, and whether that is negative.
#[inline(always)]
const fn subtract(a: u64, b: u64, borrow: bool) -> (u64, bool) {
    let (partial, first) = a.overflowing_sub(b);
    let (limb, second) = partial.overflowing_sub(borrow as u64);
    (limb, first | second)
}

/// Limbs, the lowest first, of `8 N` big-endian bytes.
pub(super) fn limbs_from_be_bytes<const N: usize>(bytes: &[u8]) -> [u64; N] {
    assert_eq!(bytes.len(), 8 * N, "a whole number of limbs");
    let mut limbs = [0; N];
    for (limb, chunk) in limbs.iter_mut().zip(bytes.rchunks(8)) {
        *limb = u64::from_be_bytes(chunk.try_into().expect("eight bytes"));
    }
    limbs
}

/// -1 / `odd` modulo 2^64, by Newton's iteration: each step doubles the number of right bits.
const fn negated_inverse(odd: u64) -> u64 {
    let (mut inverse, mut step) = (1_u64, 0);
    while step < 6 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)));
        step += 1;
    }
    inverse.wrapping_neg()
}

/// 2^`exponent` modulo `prime`, by doubling.
const fn power_of_two<const N: usize>(prime: &[u64; N], exponent: usize) -> [u64; N] {
    let mut power = [0; N];
    power[0] = 1;
    let mut step = 0;
    while step < exponent {
        power = double(&power, prime);
        step += 1;
    }
    power
}

const fn double<const N: usize>(number: &[u64; N], prime: &[u64; N]) -> [u64; N] {
    let (mut doubled, mut reduced) = ([0; N], [0; N]);
    let (mut carry, mut borrow, mut index) = (0, false, 0);
    while index < N {
        doubled[index] = number[index] << 1 | carry;
        carry = number[index] >> 63;
        (reduced[index], borrow) = subtract(doubled[index], prime[index], borrow);
        index += 1;
    }
    if borrow && carry == 0 {
        doubled
    } else {
        reduced
    }
}

#[cfg(test)]
mod tests {
    use crypto_bigint::modular::{ConstMontyForm, ConstMontyParams};
    use crypto_bigint::{U256, U384, Uint, const_monty_params};

    use super::*;
    use crate::ffi::ec::{P256, P384};
    use crate::rng;

    // The primes of SP 800-186 sections 3.2.1.3 and 3.2.1.4.
    const_monty_params!(
        Prime256,
        U256,
        "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff"
    );
    const_monty_params!(
        Prime384,
        U384,
        "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000ffffffff"
    );

    /// Every operation, on random numbers and on those at the ends, against crypto-bigint.
    fn check<P: Prime<N>, const N: usize, M: ConstMontyParams<L>, const L: usize>() {
        let len = 8 * N;
        let bytes = |number: &ConstMontyForm<M, L>| {
            let mut bytes = vec![0; len];
            let words = number.retrieve();
            for (word, chunk) in words.as_words().iter().zip(bytes.rchunks_mut(len / L)) {
                chunk.copy_from_slice(&word.to_be_bytes());
            }
            bytes
        };
        let ours = |number: &ConstMontyForm<M, L>| {
            Field::<P, N>::from_be_bytes(&bytes(number)).expect("a reduced number")
        };
        let same = |a: Field<P, N>, b: &ConstMontyForm<M, L>| {
            let mut written = vec![0; len];
            a.write_be_bytes(&mut written);
            assert_eq!(written, bytes(b));
        };
        let one = ConstMontyForm::<M, L>::ONE;
        let random = || {
            let mut bytes = vec![0; len];
            rng::fill(&mut bytes);
            ConstMontyForm::<M, L>::new(&Uint::from_be_slice(&bytes))
        };
        let ends = [ConstMontyForm::ZERO, one, one.neg(), one.neg().sub(&one)];
        let numbers: Vec<_> = ends.into_iter().chain((0..40).map(|_| random())).collect();
        for a in &numbers {
            for b in &numbers {
                same(ours(a) + ours(b), &a.add(b));
                same(ours(a) - ours(b), &a.sub(b));
                same(ours(a) * ours(b), &a.mul(b));
            }
            same(-ours(a), &a.neg());
            same(ours(a).double(), &a.double());
            same(ours(a).half().double(), a);
            same(
                ours(a).invert(),
                &a.invert().into_option().unwrap_or(ConstMontyForm::ZERO),
            );
            assert_eq!(ours(a).is_odd(), bytes(a)[len - 1] & 1 == 1);
            let root = ours(&a.square())
                .square_root()
                .expect("a square has a root");
            assert!(root == ours(a) || root == -ours(a));
            // -1 is not a square, so of two opposite numbers one has a root.
            let roots = [ours(a), -ours(a)].map(|number| number.square_root().is_some());
            assert_eq!(
                roots,
                if ours(a).is_zero() {
                    [true; 2]
                } else {
                    [roots[0], !roots[0]]
                }
            );
        }
        let mut prime = vec![0; len];
        for (limb, chunk) in P::PRIME.iter().zip(prime.rchunks_mut(8)) {
            chunk.copy_from_slice(&limb.to_be_bytes());
        }
        assert!(
            Field::<P, N>::from_be_bytes(&prime).is_err(),
            "the prime itself"
        );
        prime[len - 1] -= 1;
        same(Field::from_be_bytes(&prime).expect("one less"), &one.neg());
        assert!(Field::<P, N>::from_be_bytes(&vec![0xff; len]).is_err());
    }

    #[test]
    fn arithmetic() {
        check::<P256, 4, Prime256, { U256::LIMBS }>();
        check::<P384, 6, Prime384, { U384::LIMBS }>();
    }
}
