//! Argon2's compression function (RFC 9106, sections 3.5 and 3.6).

use super::Algebra;

/// Section 3.6: a + b + 2 · trunc(a) · trunc(b).
fn multiply_add<A: Algebra<64>>(a: &mut A, x: &A::Word, y: &A::Word) -> A::Word {
    let product = a.multiply_halves(x, y);
    let twice = a.add(&product, &product);
    let sum = a.add(x, y);
    let sum = a.add(&sum, &twice);
    a.whole(sum)
}

/// Section 3.6: GB on v[i], v[j], v[k], v[l].
fn mix<A: Algebra<64>>(a: &mut A, v: &mut [A::Word], [i, j, k, l]: [usize; 4]) {
    for (first, second) in [(32, 24), (16, 63)] {
        v[i] = multiply_add(a, &v[i], &v[j]);
        let difference = a.xor(&v[l], &v[i]);
        v[l] = a.rotate_right(&difference, first);
        v[k] = multiply_add(a, &v[k], &v[l]);
        let difference = a.xor(&v[j], &v[k]);
        v[j] = a.rotate_right(&difference, second);
    }
}

/// Section 3.6: P on sixteen words.
fn permute<A: Algebra<64>>(a: &mut A, v: &mut [A::Word]) {
    for i in 0..4 {
        mix(a, v, [i, 4 + i, 8 + i, 12 + i]);
    }
    for i in 0..4 {
        mix(
            a,
            v,
            [i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4],
        );
    }
}

/// Section 3.5: G(X, Y), blocks of 128 words.
pub fn compress<A: Algebra<64>>(a: &mut A, x: &[A::Word], y: &[A::Word]) -> Vec<A::Word> {
    let r: Vec<A::Word> = (0..128).map(|i| a.xor(&x[i], &y[i])).collect();
    let mut q = r.clone();
    // R is an 8 × 8 matrix of registers of two words: P on each row, then on each column.
    for row in q.chunks_mut(16) {
        permute(a, row);
    }
    for column in 0..8 {
        let place = |i: usize| 16 * (i / 2) + 2 * column + i % 2;
        let mut words: Vec<A::Word> = (0..16).map(|i| q[place(i)].clone()).collect();
        permute(a, &mut words);
        for (i, word) in words.into_iter().enumerate() {
            q[place(i)] = word;
        }
    }
    (0..128).map(|i| a.xor(&q[i], &r[i])).collect()
}
