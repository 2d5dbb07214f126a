//! SHA-512 (FIPS 180-4).

use sealstone_prover::algebra::{Algebra, Numbers};

/// a · b, of 64-bit digits, the lowest first.
fn product(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut digits = vec![0; a.len() + b.len()];
    for (i, x) in a.iter().enumerate() {
        let mut carry = 0;
        for (j, y) in b.iter().enumerate() {
            let sum = u128::from(*x) * u128::from(*y) + u128::from(digits[i + j]) + carry;
            digits[i + j] = sum as u64;
            carry = sum >> 64;
        }
        digits[i + b.len()] = carry as u64;
    }
    digits
}

/// Section 4.2.3: K, the first 64 bits of the fractional parts of the cube roots of the first 80
/// primes.
fn k() -> [u64; 80] {
    let is_prime = |n: &u64| {
        (2..*n)
            .take_while(|d| d * d <= *n)
            .all(|d| !n.is_multiple_of(d))
    };
    let mut roots = (2_u64..).filter(is_prime).map(|prime| {
        // ⌊∛p · 2^64⌋: the largest r with r³ ≤ p · 2^192; no root is a whole number.
        let fits = |r: u128| {
            let r = [r as u64, (r >> 64) as u64];
            let cube = product(&product(&r, &r), &r);
            cube[4..].iter().all(|digit| *digit == 0) && cube[3] < prime
        };
        (0..68).rev().fold(
            0,
            |r, bit| if fits(r | 1 << bit) { r | 1 << bit } else { r },
        ) as u64
    });
    core::array::from_fn(|_| roots.next().expect("there are infinitely many primes"))
}

/// Section 5.3.5: the initial hash value, of the square roots of the first eight primes.
fn initial() -> Vec<u64> {
    super::blake2b::iv().to_vec()
}

/// Section 4.1.3 (4.10) to (4.13): ROTR^i(x) ⊕ ROTR^j(x) ⊕ ROTR^k(x), or SHR^k(x) for the last.
fn sigma<A: Algebra<64>>(a: &mut A, x: &A::Word, [i, j, k]: [usize; 3], shift: bool) -> A::Word {
    let (first, second) = (a.rotate_right(x, i), a.rotate_right(x, j));
    let third = if shift {
        a.shift_right(x, k)
    } else {
        a.rotate_right(x, k)
    };
    let sum = a.xor(&first, &second);
    a.xor(&sum, &third)
}

/// Section 4.1.3 (4.8): Ch(x, y, z) = (x ∧ y) ⊕ (¬x ∧ z).
fn ch<A: Algebra<64>>(a: &mut A, x: &A::Word, y: &A::Word, z: &A::Word) -> A::Word {
    let ones = a.number(u64::MAX);
    let not = a.xor(x, &ones);
    let (first, second) = (a.and(x, y), a.and(&not, z));
    a.xor(&first, &second)
}

/// Section 4.1.3 (4.9): Maj(x, y, z) = (x ∧ y) ⊕ (x ∧ z) ⊕ (y ∧ z).
fn maj<A: Algebra<64>>(a: &mut A, x: &A::Word, y: &A::Word, z: &A::Word) -> A::Word {
    let (first, second, third) = (a.and(x, y), a.and(x, z), a.and(y, z));
    let sum = a.xor(&first, &second);
    a.xor(&sum, &third)
}

fn sum<A: Algebra<64>>(a: &mut A, words: &[&A::Word]) -> A::Word {
    words[1..]
        .iter()
        .fold(words[0].clone(), |sum, word| a.add(&sum, word))
}

/// Section 6.4.2: the hash value after one block, with its words as in memory.
pub fn compress<A: Algebra<64>>(a: &mut A, h: &[A::Word], block: &[A::Word]) -> Vec<A::Word> {
    // 1. Prepare the message schedule.
    let mut w: Vec<A::Word> = block.iter().map(|word| a.swap_bytes(word)).collect();
    for t in 16..80 {
        let s1 = sigma(a, &w[t - 2], [19, 61, 6], true);
        let s0 = sigma(a, &w[t - 15], [1, 8, 7], true);
        let word = sum(a, &[&s1, &w[t - 7], &s0, &w[t - 16]]);
        w.push(a.opaque(word));
    }
    // 2. Initialize the eight working variables. 3. For t = 0 to 79:
    let mut v = h.to_vec();
    for (w, k) in w.iter().zip(k()) {
        let (s1, choice) = (
            sigma(a, &v[4], [14, 18, 41], false),
            ch(a, &v[4], &v[5], &v[6]),
        );
        let k = a.number(k);
        let t1 = sum(a, &[&v[7], &s1, &choice, &k, w]);
        let (s0, majority) = (
            sigma(a, &v[0], [28, 34, 39], false),
            maj(a, &v[0], &v[1], &v[2]),
        );
        let t2 = sum(a, &[&s0, &majority]);
        let (e, first) = (a.add(&v[3], &t1), a.add(&t1, &t2));
        v.rotate_right(1);
        v[4] = a.opaque(e);
        v[0] = a.opaque(first);
    }
    // 4. Compute the intermediate hash value.
    (0..8).map(|i| a.add(&h[i], &v[i])).collect()
}

/// Section 6.4: the hash of a message, on numbers.
pub fn hash(message: &[u8]) -> [u8; 64] {
    let mut padded = message.to_vec();
    padded.push(0x80);
    padded.resize((padded.len() + 16).next_multiple_of(128) - 16, 0);
    padded.extend((8 * message.len() as u128).to_be_bytes());
    let mut h = initial();
    for block in padded.chunks(128) {
        let words = block.as_chunks::<8>().0.iter();
        let words: Vec<u64> = words.map(|word| u64::from_le_bytes(*word)).collect();
        h = compress(&mut Numbers, &h, &words);
    }
    core::array::from_fn(|i| h[i / 8].to_be_bytes()[i % 8])
}
