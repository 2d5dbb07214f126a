//! G, the compression function of Argon2 (RFC 9106, sections 3.5 and 3.6).

use crate::block::Block;
use sealstone_lanes::{Column, Line, RowPair, Word};

/// `out` = G(`x`, `y`), or `out` ⊕ G(`x`, `y`) if `ADD`. `first` gets word 0 of the new block as
/// soon as it is known: it decides which block is needed next, and memory is slow. `meanwhile` is
/// called with 0, 1, 2 and 3. The calls are as far apart as possible, so that the prefetches of one
/// call do not wait for those of the call before.
///
/// P (section 3.6) works on matrix rows, then on matrix columns. Each of these is 16 words, a 4 × 4
/// matrix for P. Each cache line holds one row of two such matrices: for matrix rows in halves that
/// alternate, for matrix columns one after the other.
#[inline(always)]
pub fn compress<P: RowPair, const ADD: bool>(
    cpu: P::Cpu,
    x: &Block<P::Lane>,
    y: &Block<P::Lane>,
    out: &mut Block<P::Lane>,
    first: impl FnOnce(P::Lane),
    mut meanwhile: impl FnMut(usize),
) {
    meanwhile(0);
    let mut state = begin::<P, ADD>(cpu, x, y, out);
    const ALTERNATING: bool = true;
    const ONE_AFTER_THE_OTHER: bool = false;
    macro_rules! rows {
        ($($k:literal)*) => {
            let [a, b, c, d] = P::columns_then_diagonals::<Mix, ALTERNATING, _>([
                [$(state[4 * $k]),*], [$(state[4 * $k + 1]),*],
                [$(state[4 * $k + 2]),*], [$(state[4 * $k + 3]),*],
            ]);
            let mut i = 0..;
            $(
                let at = i.next().unwrap_or(0);
                [state[4 * $k], state[4 * $k + 1]] = [a[at], b[at]];
                [state[4 * $k + 2], state[4 * $k + 3]] = [c[at], d[at]];
            )*
        };
    }
    macro_rules! columns {
        ($($q:literal)*) => {
            let [a, b, c, d] = P::columns_then_diagonals::<Mix, ONE_AFTER_THE_OTHER, _>([
                [$(state[$q]),*], [$(state[4 + $q]),*],
                [$(state[8 + $q]),*], [$(state[12 + $q]),*],
            ]);
            let mut i = 0..;
            $(
                let at = i.next().unwrap_or(0);
                store::<P, true>(cpu, &mut out[$q], a[at]);
                store::<P, true>(cpu, &mut out[4 + $q], b[at]);
                store::<P, true>(cpu, &mut out[8 + $q], c[at]);
                store::<P, true>(cpu, &mut out[12 + $q], d[at]);
            )*
        };
    }
    match P::IN_STEP {
        4 => {
            rows!(0 1 2 3);
            meanwhile(1);
            columns!(0);
            first(out[0].0[0]);
            meanwhile(2);
            columns!(1);
            meanwhile(3);
            columns!(2 3);
        }
        2 => {
            rows!(0 1);
            meanwhile(1);
            rows!(2 3);
            meanwhile(2);
            // Alone: the sooner the first word is known, the longer memory has to answer.
            columns!(0);
            first(out[0].0[0]);
            columns!(1);
            meanwhile(3);
            columns!(2 3);
        }
        _ => {
            rows!(0);
            rows!(1);
            meanwhile(1);
            rows!(2);
            rows!(3);
            meanwhile(2);
            columns!(0);
            first(out[0].0[0]);
            columns!(1);
            meanwhile(3);
            columns!(2);
            columns!(3);
        }
    }
}

/// `x` ⊕ `y`, which is also stored in `out`, or added (⊕) to `out` if `ADD`.
#[inline(always)]
fn begin<P: RowPair, const ADD: bool>(
    cpu: P::Cpu,
    x: &Block<P::Lane>,
    y: &Block<P::Lane>,
    out: &mut Block<P::Lane>,
) -> [P; 16] {
    // Unrolled by hand: otherwise LLVM keeps the state in an array on the stack.
    macro_rules! each {
        ($do:ident) => {
            each!($do: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
        };
        ($do:ident: $($i:literal)*) => { $( $do!($i); )* };
    }
    let mut state = [P::splat(cpu, 0); 16];
    macro_rules! read {
        ($i:literal) => {
            state[$i] = load::<P>(cpu, &x[$i]).xor(load(cpu, &y[$i]));
        };
    }
    each!(read);
    macro_rules! keep {
        ($i:literal) => {
            store::<P, ADD>(cpu, &mut out[$i], state[$i]);
        };
    }
    each!(keep);
    state
}

#[inline(always)]
fn load<P: RowPair>(cpu: P::Cpu, line: &Line<P::Lane>) -> P {
    P::load(cpu, &line.0)
}

/// `line` = `value`, or `line` ⊕ `value` if `ADD`.
#[inline(always)]
fn store<P: RowPair, const ADD: bool>(cpu: P::Cpu, line: &mut Line<P::Lane>, value: P) {
    let value = if ADD {
        value.xor(load(cpu, line))
    } else {
        value
    };
    line.0 = value.to_array();
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
