//! BLAKE2b (RFC 7693).

use sealstone_prover::algebra::{Algebra, Numbers};

/// Section 2.6: IV, the first 64 bits of the fractional parts of the square roots of the first
/// eight primes.
pub fn iv() -> [u64; 8] {
    [2, 3, 5, 7, 11, 13, 17, 19].map(square_root_fraction)
}

/// The first 64 bits of the fractional part of √p, by bisection.
fn square_root_fraction(prime: u128) -> u64 {
    let integral = (1..).take_while(|i| i * i <= prime).count() as u128;
    // (integral + f / 2^64)² ≤ prime means 2 · integral · f + f² / 2^64 ≤ (prime - integral²) ·
    // 2^64.
    let fits = |f: u128| {
        let square = f * f;
        let left = 2 * integral * f + (square >> 64);
        let right = (prime - integral * integral) << 64;
        left < right || left == right && square as u64 == 0
    };
    let bits = (0..64).rev();
    bits.fold(
        0,
        |f, bit| if fits(f | 1 << bit) { f | 1 << bit } else { f },
    ) as u64
}

/// Section 2.7: the message schedule SIGMA.
#[rustfmt::skip]
const SIGMA: [[usize; 16]; 10] = [
    [ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15],
    [14, 10,  4,  8,  9, 15, 13,  6,  1, 12,  0,  2, 11,  7,  5,  3],
    [11,  8, 12,  0,  5,  2, 15, 13, 10, 14,  3,  6,  7,  1,  9,  4],
    [ 7,  9,  3,  1, 13, 12, 11, 14,  2,  6,  5, 10,  4,  0, 15,  8],
    [ 9,  0,  5,  7,  2,  4, 10, 15, 14,  1, 11, 12,  6,  8,  3, 13],
    [ 2, 12,  6, 10,  0, 11,  8,  3,  4, 13,  7,  5, 15, 14,  1,  9],
    [12,  5,  1, 15, 14, 13,  4, 10,  0,  7,  6,  3,  9,  2,  8, 11],
    [13, 11,  7, 14, 12,  1,  3,  9,  5,  0, 15,  4,  8,  6,  2, 10],
    [ 6, 15, 14,  9, 11,  3,  0,  8, 12,  2, 13,  7,  1,  4, 10,  5],
    [10,  2,  8,  4,  7,  6,  1,  5, 15, 11,  9, 14,  3, 12, 13,  0],
];

/// Section 3.1: the mixing function G on v[i], v[j], v[k], v[l] with two words of message.
fn mix<A: Algebra<64>>(
    a: &mut A,
    v: &mut [A::Word],
    [i, j, k, l]: [usize; 4],
    x: &A::Word,
    y: &A::Word,
) {
    for (word, first, second) in [(x, 32, 24), (y, 16, 63)] {
        let sum = a.add(&v[i], &v[j]);
        let sum = a.add(&sum, word);
        v[i] = a.opaque(sum);
        let difference = a.xor(&v[l], &v[i]);
        v[l] = a.rotate_right(&difference, first);
        let sum = a.add(&v[k], &v[l]);
        v[k] = a.opaque(sum);
        let difference = a.xor(&v[j], &v[k]);
        v[j] = a.rotate_right(&difference, second);
    }
}

/// Section 3.2: the compression function F(h, m, t, f), f as a word: all ones for the last block.
pub fn compress<A: Algebra<64>>(
    a: &mut A,
    h: &[A::Word],
    m: &[A::Word],
    t: &[A::Word],
    f: &A::Word,
) -> Vec<A::Word> {
    let mut v = h.to_vec();
    v.extend(iv().map(|word| a.number(word)));
    v[12] = a.xor(&v[12], &t[0]);
    v[13] = a.xor(&v[13], &t[1]);
    v[14] = a.xor(&v[14], f);
    for round in 0..12 {
        let s = SIGMA[round % 10];
        let mut both = |places, i: usize| mix(a, &mut v, places, &m[s[i]], &m[s[i + 1]]);
        both([0, 4, 8, 12], 0);
        both([1, 5, 9, 13], 2);
        both([2, 6, 10, 14], 4);
        both([3, 7, 11, 15], 6);
        both([0, 5, 10, 15], 8);
        both([1, 6, 11, 12], 10);
        both([2, 7, 8, 13], 12);
        both([3, 4, 9, 14], 14);
    }
    (0..8)
        .map(|i| {
            let sum = a.xor(&v[i], &v[i + 8]);
            a.xor(&h[i], &sum)
        })
        .collect()
}

/// Section 3.3: the hash of `data` under `key`, of `length` bytes, on numbers.
pub fn hash(key: &[u8], data: &[u8], length: usize) -> Vec<u8> {
    let mut h = iv().to_vec();
    h[0] ^= 0x0101_0000 ^ (key.len() as u64) << 8 ^ length as u64;
    let mut padded = key.to_vec();
    padded.resize(if key.is_empty() { 0 } else { 128 }, 0);
    padded.extend(data);
    let bytes = padded.len();
    padded.resize(bytes.next_multiple_of(128).max(128), 0);
    let blocks = padded.len() / 128;
    for (i, block) in padded.chunks(128).enumerate() {
        let words = block.as_chunks::<8>().0.iter();
        let m: Vec<u64> = words.map(|word| u64::from_le_bytes(*word)).collect();
        let last = i + 1 == blocks;
        let t = if last { bytes } else { 128 * (i + 1) };
        h = compress(
            &mut Numbers,
            &h,
            &m,
            &[t as u64, 0],
            &if last { u64::MAX } else { 0 },
        );
    }
    let mut bytes: Vec<u8> = h.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.truncate(length);
    bytes
}
