//! Threefish (The Skein Hash Function Family, version 1.3, section 3.3).

use sealstone_prover::algebra::Algebra;

/// Table 3: the word permutation π, by the number of words.
fn permutation(words: usize) -> &'static [usize] {
    match words {
        4 => &[0, 3, 2, 1],
        8 => &[2, 1, 4, 7, 6, 5, 0, 3],
        _ => &[0, 9, 2, 13, 6, 11, 4, 15, 10, 7, 12, 3, 14, 5, 8, 1],
    }
}

/// Table 4: the rotation constants R_{d,j}, d modulo 8.
#[rustfmt::skip]
fn rotation(words: usize, d: usize, j: usize) -> usize {
    const R4: [[usize; 2]; 8] = [[14, 16], [52, 57], [23, 40], [5, 37], [25, 33], [46, 12], [58, 22], [32, 32]];
    const R8: [[usize; 4]; 8] = [
        [46, 36, 19, 37], [33, 27, 14, 42], [17, 49, 36, 39], [44,  9, 54, 56],
        [39, 30, 34, 24], [13, 50, 10, 17], [25, 29, 39, 43], [ 8, 35, 56, 22],
    ];
    const R16: [[usize; 8]; 8] = [
        [24, 13,  8, 47,  8, 17, 22, 37], [38, 19, 10, 55, 49, 18, 23, 52],
        [33,  4, 51, 13, 34, 41, 59, 17], [ 5, 20, 48, 41, 47, 28, 16, 25],
        [41,  9, 37, 31, 12, 47, 44, 30], [16, 34, 56, 51,  4, 53, 42, 41],
        [31, 44, 47, 46, 19, 42, 44, 25], [ 9, 48, 35, 52, 23, 31, 37, 20],
    ];
    match words {
        4 => R4[d % 8][j],
        8 => R8[d % 8][j],
        _ => R16[d % 8][j],
    }
}

/// Table 2: the number of rounds N_r.
fn rounds(words: usize) -> usize {
    if words == 16 { 80 } else { 72 }
}

/// C240, section 3.3.2.
const C240: u64 = 0x1BD1_1BDA_A9FC_1A22;

/// The subkeys k_{0}, …, k_{N_r/4} (section 3.3.2).
fn key_schedule<A: Algebra<64>>(
    a: &mut A,
    key: &[A::Word],
    tweak: &[A::Word],
) -> Vec<Vec<A::Word>> {
    let n = key.len();
    let mut k = key.to_vec();
    let mut last = a.number(C240);
    for word in key {
        last = a.xor(&last, word);
    }
    k.push(last);
    let t = [
        tweak[0].clone(),
        tweak[1].clone(),
        a.xor(&tweak[0], &tweak[1]),
    ];
    (0..=rounds(n) / 4)
        .map(|s| {
            let mut subkey: Vec<A::Word> = (0..n).map(|i| k[(s + i) % (n + 1)].clone()).collect();
            subkey[n - 3] = a.add(&subkey[n - 3], &t[s % 3]);
            subkey[n - 2] = a.add(&subkey[n - 2], &t[(s + 1) % 3]);
            let number = a.number(s as u64);
            subkey[n - 1] = a.add(&subkey[n - 1], &number);
            subkey
        })
        .collect()
}

/// E(K, T, P): encryption (section 3.3).
pub fn encrypt<A: Algebra<64>>(
    a: &mut A,
    key: &[A::Word],
    tweak: &[A::Word],
    plaintext: &[A::Word],
) -> Vec<A::Word> {
    let n = plaintext.len();
    let subkeys = key_schedule(a, key, tweak);
    let mut v = plaintext.to_vec();
    for d in 0..rounds(n) {
        if d % 4 == 0 {
            v = (0..n).map(|i| a.add(&v[i], &subkeys[d / 4][i])).collect();
        }
        // MIX, section 3.3.1: y0 = x0 + x1, y1 = (x1 <<< R) ⊕ y0.
        for j in 0..n / 2 {
            let sum = a.add(&v[2 * j], &v[2 * j + 1]);
            // Compilers may first add a later subkey to a summand of an earlier round.
            let y0 = if d % 4 == 0 { a.opaque(sum) } else { sum };
            let turned = a.rotate_left(&v[2 * j + 1], rotation(n, d, j));
            v[2 * j + 1] = a.xor(&turned, &y0);
            v[2 * j] = y0;
        }
        v = permutation(n).iter().map(|from| v[*from].clone()).collect();
    }
    (0..n)
        .map(|i| a.add(&v[i], &subkeys[rounds(n) / 4][i]))
        .collect()
}

/// The inverse of [`encrypt`]: its steps backwards.
pub fn decrypt<A: Algebra<64>>(
    a: &mut A,
    key: &[A::Word],
    tweak: &[A::Word],
    ciphertext: &[A::Word],
) -> Vec<A::Word> {
    let n = ciphertext.len();
    let subkeys = key_schedule(a, key, tweak);
    let mut v: Vec<A::Word> = (0..n)
        .map(|i| a.sub(&ciphertext[i], &subkeys[rounds(n) / 4][i]))
        .collect();
    for d in (0..rounds(n)).rev() {
        let mut f = v.clone();
        for (i, from) in permutation(n).iter().enumerate() {
            f[*from] = v[i].clone();
        }
        v = f;
        for j in 0..n / 2 {
            let y0 = a.opaque(v[2 * j].clone());
            let turned = a.xor(&v[2 * j + 1], &y0);
            v[2 * j + 1] = a.rotate_right(&turned, rotation(n, d, j));
            v[2 * j] = a.sub(&y0, &v[2 * j + 1]);
        }
        if d % 4 == 0 {
            v = (0..n).map(|i| a.sub(&v[i], &subkeys[d / 4][i])).collect();
        }
    }
    v
}
