//! G, the compression function of Argon2 (RFC 9106, sections 3.5 and 3.6).

use crate::block::Block;
use sealstone_lanes::{Column, Line, RowPair, Word};

/// `out` = G(`x`, `y`), or `out` ⊕ G(`x`, `y`) if `ADD`.
///
/// `first` gets word 0 of the new block before all is done: from it follows which block is needed next, and memory is slow.
#[inline(always)]
pub fn compress<P: RowPair, const ADD: bool>(
    cpu: P::Cpu,
    x: &Block<P::Lane>,
    y: &Block<P::Lane>,
    out: &mut Block<P::Lane>,
    first: impl FnOnce(P::Lane),
) {
    let mut state = core::array::from_fn(|i| load::<P>(cpu, &x[i]).xor(load(cpu, &y[i])));
    for (line, words) in out.iter_mut().zip(state) {
        let kept = if ADD {
            words.xor(load(cpu, line))
        } else {
            words
        };
        line.0 = kept.to_array();
    }
    match P::IN_STEP {
        4 => {
            rows::<P, 4>(&mut state, 0);
            columns::<P, 2>(cpu, &state, out, 0);
            first(out[0].0[0]);
            columns::<P, 2>(cpu, &state, out, 2);
        }
        2 => {
            rows::<P, 2>(&mut state, 0);
            rows::<P, 2>(&mut state, 2);
            columns::<P, 2>(cpu, &state, out, 0);
            first(out[0].0[0]);
            columns::<P, 2>(cpu, &state, out, 2);
        }
        _ => {
            rows::<P, 1>(&mut state, 0);
            rows::<P, 1>(&mut state, 1);
            rows::<P, 1>(&mut state, 2);
            rows::<P, 1>(&mut state, 3);
            columns::<P, 1>(cpu, &state, out, 0);
            first(out[0].0[0]);
            columns::<P, 1>(cpu, &state, out, 1);
            columns::<P, 1>(cpu, &state, out, 2);
            columns::<P, 1>(cpu, &state, out, 3);
        }
    }
}

/// P (section 3.6) on `N` pairs of matrix rows, from pair `from` on. A row of 16 words is a 4 × 4 matrix for P; its words are in
/// four lines, each with a row of two of these matrices.
#[inline(always)]
fn rows<P: RowPair, const N: usize>(state: &mut [P; 16], from: usize) {
    let row = |row: usize| core::array::from_fn(|i| state[4 * (from + i) + row]);
    let rows = P::columns_then_diagonals::<Mix, N>([row(0), row(1), row(2), row(3)]);
    for i in 0..N {
        for (row, pairs) in rows.iter().enumerate() {
            state[4 * (from + i) + row] = pairs[i];
        }
    }
}

/// P on `N` pairs of matrix columns, from pair `from` on, added to `out`. A pair is in every fourth line: two words of one column,
/// two of the other, and again.
#[inline(always)]
fn columns<P: RowPair, const N: usize>(
    cpu: P::Cpu,
    state: &[P; 16],
    out: &mut Block<P::Lane>,
    from: usize,
) {
    let row = |row: usize| core::array::from_fn(|i| state[4 * row + from + i].swap_halves());
    let rows = P::columns_then_diagonals::<Mix, N>([row(0), row(1), row(2), row(3)]);
    for (row, pairs) in rows.iter().enumerate() {
        for (i, pair) in pairs.iter().enumerate() {
            let line = &mut out[4 * row + from + i];
            line.0 = pair.swap_halves().xor(load(cpu, line)).to_array();
        }
    }
}

#[inline(always)]
fn load<P: RowPair>(cpu: P::Cpu, line: &Line<P::Lane>) -> P {
    P::load(cpu, &line.0)
}

/// GB (section 3.6).
struct Mix;

impl Column for Mix {
    #[inline(always)]
    fn run<W: Word>([a, b, c, d]: [W; 4]) -> [W; 4] {
        let a = multiply_add(a, b);
        let d = d.xor(a).rotr::<32>();
        let c = multiply_add(c, d);
        let b = b.xor(c).rotr::<24>();
        let a = multiply_add(a, b);
        let d = d.xor(a).rotr::<16>();
        let c = multiply_add(c, d);
        let b = b.xor(c).rotr::<63>();
        [a, b, c, d]
    }
}

/// a + b + 2 · trunc(a) · trunc(b).
#[inline(always)]
fn multiply_add<W: Word>(a: W, b: W) -> W {
    let product = a.mul_lo32(b);
    a.add(b).add(product.add(product))
}
