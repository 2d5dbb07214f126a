//! Shamir's secret sharing of 32 bytes over GF(2^8), byte by byte ("How to share a secret", CACM
//! 22, 1979).
//!
//! The field is that of AES (FIPS 197 section 4). No branch and no index depends on a secret, only
//! on the numbers of the shares, which are public.

use sealstone_primitives::secret::Secret;

/// The values of the shared polynomials at `x`: share number `x`, or the secret if `x` is 0.
///
/// `coefficients` begins with the secret; all others must be uniformly random, zero included.
pub(super) fn evaluate(coefficients: &[Secret<32>], x: u8) -> Secret<32> {
    Secret::with(|y| {
        for coefficient in coefficients.iter().rev() {
            for (y, c) in y.iter_mut().zip(coefficient.expose()) {
                *y = mul(*y, x) ^ c;
            }
        }
    })
}

/// The secret behind `points`, whose `x` must be distinct and not 0.
pub(super) fn interpolate(points: &[(u8, &Secret<32>)]) -> Secret<32> {
    Secret::with(|secret| {
        for (x, y) in points {
            let weight = weight_at_zero(*x, points);
            for (s, y) in secret.iter_mut().zip(y.expose()) {
                *s ^= mul(*y, weight);
            }
        }
    })
}

/// The Lagrange basis polynomial of the point at `x`, evaluated at 0.
fn weight_at_zero(x: u8, points: &[(u8, &Secret<32>)]) -> u8 {
    let others = points
        .iter()
        .map(|(other, _)| *other)
        .filter(|other| *other != x);
    others.fold(1, |weight, other| {
        mul(weight, mul(other, inverse(other ^ x)))
    })
}

/// The product modulo x^8 + x^4 + x^3 + x + 1.
fn mul(mut a: u8, b: u8) -> u8 {
    let mut product = 0;
    for bit in 0..8 {
        product ^= a & mask(b >> bit);
        a = (a << 1) ^ (0x1b & mask(a >> 7));
    }
    product
}

/// All ones if the lowest bit of `bit` is set, else zero.
fn mask(bit: u8) -> u8 {
    // Without the black box the optimiser could turn the two cases into a branch.
    std::hint::black_box(bit & 1).wrapping_neg()
}

/// a^254, which is 1/a for every a but 0.
fn inverse(a: u8) -> u8 {
    let mut power = a;
    let mut result = 1;
    for _ in 0..7 {
        power = mul(power, power);
        result = mul(result, power);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_bytes(byte: u8) -> Secret<32> {
        Secret::with(|bytes| bytes.fill(byte))
    }

    #[test]
    fn the_field_is_that_of_fips_197() {
        // FIPS 197 sections 4.2 and 4.2.1.
        assert_eq!(mul(0x57, 0x83), 0xc1);
        assert_eq!(mul(0x57, 0x13), 0xfe);
        let doublings = [0xae, 0x47, 0x8e, 0x07];
        let mut power = 0x57;
        for expected in doublings {
            power = mul(power, 2);
            assert_eq!(power, expected);
        }
    }

    #[test]
    fn every_element_but_zero_has_its_inverse() {
        assert_eq!(inverse(0), 0);
        for a in 1..=255 {
            assert_eq!(mul(a, inverse(a)), 1, "{a}");
        }
    }

    #[test]
    fn multiplication_is_that_of_polynomials() {
        // Long multiplication and division, written the slow way.
        for a in 0..=255u8 {
            for b in 0..=255u8 {
                let mut wide = (0..8)
                    .filter(|i| b >> i & 1 == 1)
                    .fold(0u16, |sum, i| sum ^ u16::from(a) << i);
                for bit in (8..15).rev() {
                    if wide >> bit & 1 == 1 {
                        wide ^= 0x11b << (bit - 8);
                    }
                }
                assert_eq!(u16::from(mul(a, b)), wide, "{a} * {b}");
            }
        }
    }

    #[test]
    fn shares_of_another_implementation_are_joined() {
        // PyPI pyshamir 1.1.0 (a port of HashiCorp Vault's): split(bytes(range(0xa0, 0xc0)), 5, 3);
        // y, then x in the last byte.
        let foreign = [
            "d56c3dfc1512a055294162964f6f427664d0743aae9057ae6036e1fe9cb79d7208",
            "96418fa51bcbae84eaa3daceacdc7489a4dbdcd50fe87f3c55051dbdd22e74e6c7",
            "4d3db6f895d3f800c3c5a9ce8ba6cfa1d1e4b64eb78eca90068310bb7d7d57cea2",
            "dc0aa02e1444b30c74ae113020097fec744c91a20efba6210b7e8ca34cb49f62b6",
            "b7a868a08b7be5d8b43dd7b82678ad7f4c028b72b8041f2b01603b4f37f2a4e62f",
        ];
        let shares: Vec<(u8, Secret<32>)> = foreign
            .iter()
            .map(|hex| data_encoding::HEXLOWER.decode(hex.as_bytes()).unwrap())
            .map(|bytes| (bytes[32], Secret::from_slice(&bytes[..32]).unwrap()))
            .collect();
        let points: Vec<(u8, &Secret<32>)> = shares.iter().map(|(x, y)| (*x, y)).collect();
        let secret: [u8; 32] = std::array::from_fn(|i| 0xa0 + i as u8);
        for chosen in [
            &points[..],
            &points[..3],
            &points[2..],
            &[points[4], points[0], points[3]],
        ] {
            assert_eq!(interpolate(chosen).expose(), &secret);
        }
        assert_ne!(interpolate(&points[..2]).expose(), &secret);
    }

    #[test]
    fn one_share_of_two_says_nothing() {
        // For every secret, every value of the share comes from exactly one coefficient.
        let x = 7;
        for secret in 0..=255 {
            let mut seen = [0; 256];
            (0..=255).for_each(|c| seen[usize::from(mul(c, x) ^ secret)] += 1);
            assert_eq!(seen, [1; 256], "{secret}");
        }
    }

    #[test]
    fn two_shares_of_three_say_nothing() {
        // For every secret, every pair of values comes from exactly one pair of coefficients.
        let (x1, x2) = (1, 2);
        let at = |secret: u8, c1: u8, c2: u8, x: u8| usize::from(secret ^ mul(x, c1 ^ mul(x, c2)));
        for secret in [0, 1, 0x5a, 0xff] {
            let mut seen = vec![0u8; 1 << 16];
            for c1 in 0..=255 {
                for c2 in 0..=255 {
                    seen[at(secret, c1, c2, x1) << 8 | at(secret, c1, c2, x2)] += 1;
                }
            }
            assert!(seen.iter().all(|count| *count == 1), "{secret}");
        }
    }

    #[test]
    fn evaluation_agrees_with_the_formula_of_those_tests() {
        let coefficients = [all_bytes(0x5a), all_bytes(0x13), all_bytes(0xc7)];
        for x in 0..=255 {
            let expected = 0x5a ^ mul(x, 0x13) ^ mul(mul(x, x), 0xc7);
            assert_eq!(evaluate(&coefficients, x).expose(), &[expected; 32], "{x}");
        }
    }
}
