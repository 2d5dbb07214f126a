//! The ChaCha20 block function (RFC 8439, section 2.3).

use super::Algebra;

/// Section 2.1: the quarter round.
fn quarter_round<A: Algebra<32>>(a: &mut A, v: &mut [A::Word], [i, j, k, l]: [usize; 4]) {
    for (first, second) in [(16, 12), (8, 7)] {
        let sum = a.add(&v[i], &v[j]);
        v[i] = a.whole(sum);
        let difference = a.xor(&v[l], &v[i]);
        v[l] = a.rotate_left(&difference, first);
        let sum = a.add(&v[k], &v[l]);
        v[k] = a.whole(sum);
        let difference = a.xor(&v[j], &v[k]);
        v[j] = a.rotate_left(&difference, second);
    }
}

/// Section 2.3: 20 rounds on the state, and the sum with what it was.
pub fn block<A: Algebra<32>>(a: &mut A, state: &[A::Word]) -> Vec<A::Word> {
    let mut v = state.to_vec();
    for _ in 0..10 {
        quarter_round(a, &mut v, [0, 4, 8, 12]);
        quarter_round(a, &mut v, [1, 5, 9, 13]);
        quarter_round(a, &mut v, [2, 6, 10, 14]);
        quarter_round(a, &mut v, [3, 7, 11, 15]);
        quarter_round(a, &mut v, [0, 5, 10, 15]);
        quarter_round(a, &mut v, [1, 6, 11, 12]);
        quarter_round(a, &mut v, [2, 7, 8, 13]);
        quarter_round(a, &mut v, [3, 4, 9, 14]);
    }
    (0..16).map(|i| a.add(&v[i], &state[i])).collect()
}
