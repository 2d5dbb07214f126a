//! Numbers modulo 2^130 - 5, the prime of Poly1305 (RFC 8439, 2.5).

/// A number below the prime, as words of 64 bits, the lowest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldElement([u64; 3]);

/// The bits of the third word.
const TOP: u64 = 3;

impl FieldElement {
    /// 1.
    pub(crate) const ONE: Self = Self([1, 0, 0]);

    /// The residue of a number of 192 bits.
    pub(crate) fn new(words: [u64; 3]) -> Self {
        let [a, b, c] = words;
        Self::folded([a, b, c, 0, 0, 0])
    }

    /// The residue of a number that may be negative.
    pub(crate) fn of_signed(number: i128) -> Self {
        let residue = Self::from(number.unsigned_abs());
        if number < 0 {
            residue.negative()
        } else {
            residue
        }
    }

    /// The residue of 2^`n`.
    pub(crate) fn power_of_two(n: usize) -> Self {
        (0..n).fold(Self::ONE, |power, _| power.plus(power))
    }

    pub(crate) fn is_zero(self) -> bool {
        self.0 == [0; 3]
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self::new(sum(self.0, other.0))
    }

    /// The prime minus this.
    pub(crate) fn negative(self) -> Self {
        // p - x = (2^192 - 1 - x) + (p + 1), modulo 2^192.
        let complement = self.0.map(|word| !word);
        let [a, b, c] = sum(complement, [u64::MAX - 3, u64::MAX, TOP]);
        Self::new([a, b, c])
    }

    pub(crate) fn times(self, other: Self) -> Self {
        let mut product = [0; 6];
        for (i, x) in self.0.into_iter().enumerate() {
            let mut carry = 0;
            for (j, y) in other.0.into_iter().enumerate() {
                let wide = u128::from(x) * u128::from(y) + u128::from(product[i + j]) + carry;
                product[i + j] = wide as u64;
                carry = wide >> 64;
            }
            product[i + 3] = carry as u64;
        }
        Self::folded(product)
    }

    /// Its low 128 bits.
    pub(crate) fn low(self) -> [u64; 2] {
        [self.0[0], self.0[1]]
    }

    /// Reduces a number below 2^319: 2^130 is 5, so the bits above are added five times.
    fn folded(mut words: [u64; 6]) -> Self {
        for _ in 0..3 {
            let [a, b, c, d, e, f] = words;
            let above = [c >> 2 | d << 62, d >> 2 | e << 62, e >> 2 | f << 62];
            let twice = sum(above, above);
            let five = sum(sum(twice, twice), above);
            let [a, b, c] = sum([a, b, c & TOP], five);
            words = [a, b, c, 0, 0, 0];
        }
        let [a, b, c, ..] = words;
        // If the number is the prime or more, adding 5 gives at least 2^130.
        let more = sum([a, b, c], [5, 0, 0]);
        match more[2] > TOP {
            true => Self([more[0], more[1], more[2] & TOP]),
            false => Self([a, b, c]),
        }
    }
}

impl From<u128> for FieldElement {
    fn from(number: u128) -> Self {
        Self::new([number as u64, (number >> 64) as u64, 0])
    }
}

/// Modulo 2^192.
fn sum(a: [u64; 3], b: [u64; 3]) -> [u64; 3] {
    let mut carry = 0;
    core::array::from_fn(|i| {
        let wide = u128::from(a[i]) + u128::from(b[i]) + carry;
        carry = wide >> 64;
        wide as u64
    })
}

/// ((c₀ · `r` + c₁) · `r` + …) · `r`, for these coefficients: the low 128 bits of its residue.
pub(crate) fn polynomial(r: [u64; 2], coefficients: &[[u64; 3]]) -> [u64; 2] {
    let r = FieldElement::new([r[0], r[1], 0]);
    let value = coefficients
        .iter()
        .fold(FieldElement::default(), |value, coefficient| {
            value.plus(FieldElement::new(*coefficient)).times(r)
        });
    value.low()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::Random;

    const PRIME: [u64; 3] = [u64::MAX - 4, u64::MAX, TOP];

    #[test]
    fn the_prime_is_zero_and_what_is_below_stays() {
        assert!(FieldElement::new(PRIME).is_zero());
        let below = [PRIME[0] - 1, PRIME[1], PRIME[2]];
        assert_eq!(FieldElement::new(below).0, below);
        assert_eq!(
            FieldElement::new(below).plus(FieldElement::ONE),
            FieldElement::default()
        );
        let above = [PRIME[0] + 1, PRIME[1], PRIME[2]];
        assert_eq!(FieldElement::new(above), FieldElement::ONE);
        assert_eq!(FieldElement::power_of_two(130), FieldElement::from(5));
        assert_eq!(
            FieldElement::power_of_two(192),
            FieldElement::new([0, 0, 1]).times(FieldElement::power_of_two(64))
        );
        // 2^192 - 1 = 5 · 2^62 - 1.
        assert_eq!(
            FieldElement::new([u64::MAX; 3]),
            FieldElement::from((5 << 62) - 1)
        );
        assert_eq!(FieldElement::of_signed(-1).0, below);
    }

    /// Products and sums obey the laws of a ring, and doubling is a sum.
    #[test]
    fn the_laws_of_arithmetic_hold() {
        let mut random = Random::new(1);
        let mut any = || FieldElement::new([random.number(), random.number(), random.number()]);
        for _ in 0..1000 {
            let (x, y, z) = (any(), any(), any());
            assert_eq!(x.times(y), y.times(x));
            assert_eq!(x.times(y.plus(z)), x.times(y).plus(x.times(z)));
            assert_eq!(x.times(y).times(z), x.times(y.times(z)));
            assert!(x.plus(x.negative()).is_zero());
            assert_eq!(x.times(FieldElement::from(2)), x.plus(x));
            assert_eq!(FieldElement::new(x.0), x);
            let by_bits = (0..130).filter(|i| y.0[i / 64] >> (i % 64) & 1 == 1);
            let by_bits = by_bits.map(|i| x.times(FieldElement::power_of_two(i)));
            assert_eq!(
                by_bits.fold(FieldElement::default(), FieldElement::plus),
                x.times(y)
            );
        }
    }
}
