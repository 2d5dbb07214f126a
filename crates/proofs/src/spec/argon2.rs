//! Argon2's compression function (RFC 9106, sections 3.5 and 3.6) and its reference blocks (section
//! 3.4.2).
//!
//! Proofs of machine code need the reference for all inputs of the kernel, even impossible ones, so
//! over words modulo 2^64. The lemmas need integers instead (`lemma/rfc9106.rs`). The test
//! `lemma/tests/transcriptions.rs` compares the two with the list of blocks in
//! `sealstone_testing::rfc9106`.

use sealstone_prover::algebra::{Algebra, Choices};

/// Section 3.6: a + b + 2 · trunc(a) · trunc(b).
fn multiply_add<A: Algebra<64>>(a: &mut A, x: &A::Word, y: &A::Word) -> A::Word {
    let product = a.multiply_halves(x, y);
    let twice = a.add(&product, &product);
    let sum = a.add(x, y);
    let sum = a.add(&sum, &twice);
    a.opaque(sum)
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

/// The inputs of a block's reference besides the pseudo-random word and the index.
/// [`lemma`](crate::lemma) covers their numbers for each segment, and shows that the reference is
/// an existing block.
pub struct Segment<W> {
    /// Its lane.
    pub lane: W,
    /// Blocks in a segment.
    pub length: W,
    /// The slice in which W begins.
    pub oldest: W,
    /// Blocks of a lane's segments that are computed and finished.
    pub finished: W,
    /// The first of the lanes to choose from.
    pub first_lane: W,
    /// The number of lanes to choose from.
    pub choice: W,
}

impl<W: Clone> Segment<W> {
    /// The fields in this order.
    pub fn of(fields: &[W]) -> Self {
        let field = |i: usize| fields[i].clone();
        Self {
            lane: field(0),
            length: field(1),
            oldest: field(2),
            finished: field(3),
            first_lane: field(4),
            choice: field(5),
        }
    }
}

/// Section 3.4.2: the slice of the reference block of block `index`, and its number in the slice,
/// if `word` is J_2 ‖ J_1. It is defined for any words: sums are modulo 2^64, and only the low 32
/// bits of factors count.
pub fn reference<A: Choices>(
    a: &mut A,
    segment: &Segment<A::Word>,
    index: &A::Word,
    word: &A::Word,
) -> Vec<A::Word> {
    let [zero, one, four] = [0, 1, 4].map(|x| a.number(x));
    // l = J_2 mod p.
    let j2 = a.shift_right(word, 32);
    let l = a.remainder(&j2, &segment.choice);
    let l = a.add(&segment.first_lane, &l);
    let zz = {
        let w = set_size(a, segment, &l, index);
        // x = J_1^2 / 2^32, y = |W| * x / 2^32, zz = |W| - 1 - y.
        let x = a.multiply_halves(word, word);
        let x = a.shift_right(&x, 32);
        let y = a.multiply_halves(&w, &x);
        let y = a.shift_right(&y, 32);
        let last = a.sub(&w, &one);
        a.sub(&last, &y)
    };
    // Block zz of W, counted by whole segments from the oldest one on, and around after slice 3.
    let mut passed = zero.clone();
    let mut end = zero.clone();
    for _ in 0..3 {
        end = a.add(&end, &segment.length);
        let is_before = a.is_below(&zz, &end);
        let more = a.select(&is_before, &zero, &one);
        passed = a.add(&passed, &more);
    }
    let slice = a.add(&segment.oldest, &passed);
    let around = a.sub(&slice, &four);
    let is_below = a.is_below(&slice, &four);
    let slice = a.select(&is_below, &slice, &around);
    let before = a.multiply_halves(&passed, &segment.length);
    let inside = a.sub(&zz, &before);
    let start = a.multiply_halves(&l, &segment.length);
    vec![slice, a.add(&start, &inside)]
}

/// |W|: the finished blocks and, in the own lane, the blocks of this segment except the last; in
/// another lane, one less for the first block of a segment.
fn set_size<A: Choices>(
    a: &mut A,
    segment: &Segment<A::Word>,
    l: &A::Word,
    index: &A::Word,
) -> A::Word {
    let [zero, one] = [0, 1].map(|x| a.number(x));
    let own = a.sub(index, &one);
    let is_first = a.is_equal(index, &zero);
    let less = a.select(&is_first, &one, &zero);
    let other = a.sub(&zero, &less);
    let is_own = a.is_equal(l, &segment.lane);
    let more = a.select(&is_own, &own, &other);
    a.add(&segment.finished, &more)
}
