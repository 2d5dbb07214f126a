//! AES's S-box (FIPS 197, 5.1.1), computed as the standard defines it.

/// The S-box.
pub(crate) const S_BOX: [u8; 256] = s_box();

/// The product in GF(2^8): of polynomials, modulo x^8 + x^4 + x^3 + x + 1.
const fn product(mut a: u8, mut b: u8) -> u8 {
    let mut sum = 0;
    while b != 0 {
        if b & 1 == 1 {
            sum ^= a;
        }
        let reduced = if a & 0x80 == 0 { 0 } else { 0x1b };
        a = a << 1 ^ reduced;
        b >>= 1;
    }
    sum
}

/// The inverse, b^254; of zero, zero.
const fn inverse(b: u8) -> u8 {
    let (mut result, mut count) = (1, 0);
    while count < 254 {
        result = product(result, b);
        count += 1;
    }
    result
}

const fn s_box() -> [u8; 256] {
    let (mut table, mut number) = ([0; 256], 0);
    while number < 256 {
        let b = inverse(number as u8);
        let turned = b.rotate_left(1) ^ b.rotate_left(2) ^ b.rotate_left(3) ^ b.rotate_left(4);
        table[number] = b ^ turned ^ 0x63;
        number += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 197, table 4 and section 4.2.
    #[test]
    fn the_table_is_that_of_the_standard() {
        assert_eq!(product(0x57, 0x83), 0xc1);
        let of = [0x00, 0x01, 0x53, 0x7f, 0x80, 0xc9, 0xff].map(|byte: usize| S_BOX[byte]);
        assert_eq!(of, [0x63, 0x7c, 0xed, 0xd2, 0xcd, 0xdd, 0x16]);
        let mut all = S_BOX;
        all.sort_unstable();
        assert!((0..=255).eq(all), "each byte once");
    }
}
