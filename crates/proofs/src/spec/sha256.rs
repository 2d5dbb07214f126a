//! SHA-256 (FIPS 180-4).

use sealstone_prover::algebra::{Algebra, Numbers};

/// Section 4.2.2: K, the first 32 bits of the fractional parts of the cube roots of the first 64
/// primes.
fn k() -> [u32; 64] {
    let is_prime = |n: &u128| {
        (2..*n)
            .take_while(|d| d * d <= *n)
            .all(|d| !n.is_multiple_of(d))
    };
    let mut roots = (2_u128..).filter(is_prime).map(|prime| {
        // ⌊∛p · 2^32⌋: the largest r with r³ ≤ p · 2^96.
        let fits = |r: u128| r * r * r <= prime << 96;
        (0..36).rev().fold(
            0,
            |r, bit| if fits(r | 1 << bit) { r | 1 << bit } else { r },
        ) as u32
    });
    core::array::from_fn(|_| roots.next().expect("there are infinitely many primes"))
}

/// Section 5.3.3: the initial hash value, of the square roots of the first eight primes.
pub(super) fn initial() -> Vec<u32> {
    super::blake2b::iv()
        .iter()
        .map(|word| (word >> 32) as u32)
        .collect()
}

/// ROTR^i(x) ⊕ ROTR^j(x) ⊕ ROTR^k(x), or SHR^k(x) for the last (sections 4.1.2 (4.4) to (4.7)).
fn sigma<A: Algebra<32>>(a: &mut A, x: &A::Word, [i, j, k]: [usize; 3], shift: bool) -> A::Word {
    let (first, second) = (a.rotate_right(x, i), a.rotate_right(x, j));
    let third = if shift {
        a.shift_right(x, k)
    } else {
        a.rotate_right(x, k)
    };
    let sum = a.xor(&first, &second);
    a.xor(&sum, &third)
}

/// Section 4.1.2 (4.2): Ch(x, y, z) = (x ∧ y) ⊕ (¬x ∧ z).
fn ch<A: Algebra<32>>(a: &mut A, x: &A::Word, y: &A::Word, z: &A::Word) -> A::Word {
    let ones = a.number(u32::MAX.into());
    let not = a.xor(x, &ones);
    let (first, second) = (a.and(x, y), a.and(&not, z));
    a.xor(&first, &second)
}

/// Section 4.1.2 (4.3): Maj(x, y, z) = (x ∧ y) ⊕ (x ∧ z) ⊕ (y ∧ z).
fn maj<A: Algebra<32>>(a: &mut A, x: &A::Word, y: &A::Word, z: &A::Word) -> A::Word {
    let (first, second, third) = (a.and(x, y), a.and(x, z), a.and(y, z));
    let sum = a.xor(&first, &second);
    a.xor(&sum, &third)
}

fn sum<A: Algebra<32>>(a: &mut A, words: &[&A::Word]) -> A::Word {
    words[1..]
        .iter()
        .fold(words[0].clone(), |sum, word| a.add(&sum, word))
}

/// Section 6.2.2: the hash value after one block, with its words as in memory.
pub fn compress<A: Algebra<32>>(a: &mut A, h: &[A::Word], block: &[A::Word]) -> Vec<A::Word> {
    // 1. Prepare the message schedule.
    let mut w: Vec<A::Word> = block.iter().map(|word| a.swap_bytes(word)).collect();
    for t in 16..64 {
        let s1 = sigma(a, &w[t - 2], [17, 19, 10], true);
        let s0 = sigma(a, &w[t - 15], [7, 18, 3], true);
        let word = sum(a, &[&s1, &w[t - 7], &s0, &w[t - 16]]);
        w.push(a.opaque(word));
    }
    // 2. Initialize the eight working variables. 3. For t = 0 to 63:
    let mut v = h.to_vec();
    for (w, k) in w.iter().zip(k()) {
        let (s1, choice) = (
            sigma(a, &v[4], [6, 11, 25], false),
            ch(a, &v[4], &v[5], &v[6]),
        );
        let k = a.number(k.into());
        let t1 = sum(a, &[&v[7], &s1, &choice, &k, w]);
        let (s0, majority) = (
            sigma(a, &v[0], [2, 13, 22], false),
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

/// Section 6.2: the hash of a message, on numbers.
pub fn hash(message: &[u8]) -> [u8; 32] {
    let mut padded = message.to_vec();
    padded.push(0x80);
    padded.resize((padded.len() + 8).next_multiple_of(64) - 8, 0);
    padded.extend((8 * message.len() as u64).to_be_bytes());
    let mut h = initial();
    for block in padded.chunks(64) {
        let words = block.as_chunks::<4>().0.iter();
        let words: Vec<u32> = words.map(|word| u32::from_le_bytes(*word)).collect();
        h = compress(&mut Numbers, &h, &words);
    }
    core::array::from_fn(|i| h[i / 4].to_be_bytes()[i % 4])
}
