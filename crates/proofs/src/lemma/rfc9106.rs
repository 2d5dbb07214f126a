//! The reference block as in RFC 9106, sections 3.4.1 and 3.4.2, step by step.
//!
//! The lemmas need it over integers that solvers understand. `spec/argon2.rs` has the same steps
//! over machine words, and `sealstone_testing::rfc9106` lists the set W. The test
//! `lemma/tests/transcriptions.rs` compares the three.

use super::case::Case;
use super::number::Number;

/// SL, the slices of a lane.
const SL: u64 = 4;

/// The lane l and the column z of the reference block `B[l][z]`.
pub(crate) fn reference<N: Number>(cpu: N::Cpu, case: &Case<N>) -> (N, N) {
    let number = |x| N::splat(cpu, x);
    let two_32 = number(1 << 32);
    // 3.4.1.1, 3.4.1.2: J_1 is the first 32 bits, so the low half of a little-endian word, J_2 the
    // next.
    let (j1, j2) = (case.word % two_32, case.word / two_32);
    let l = lane(case, j2);
    let w = set_size(cpu, case, l);
    // "x = J_1^2 / 2^(32); y = (|W| * x) / 2^(32); zz = |W| - 1 - y", each division rounding down.
    let x = j1 * j1 / two_32;
    let y = w * x / two_32;
    let zz = w - number(1) - y;
    // "Then take the zz-th index from W". They are in the order of their computation, from the
    // oldest segment on; after the last column of the lane, q - 1, comes column 0.
    let z = case.length * number(oldest(case)) + zz;
    let q = number(SL) * case.length;
    (l, z - N::select(z.is_below(q), number(0), q))
}

/// "The value of l = J_2 mod p gives the index of the lane from which the block will be taken. For
/// the first pass (r=0) and the first slice (sl=0), the block is taken from the current lane."
pub(super) fn lane<N: Number>(case: &Case<N>, j2: N) -> N {
    if case.first_pass && case.slice == 0 {
        case.lane
    } else {
        j2 % case.lanes
    }
}

/// |W|: "If l is the current lane, then W includes the indices of all blocks in the last SL - 1 = 3
/// segments computed and finished, as well as the blocks computed in the current segment in the
/// current pass excluding `B[i][j-1]`. If l is not the current lane, then W includes the indices of
/// all blocks in the last SL - 1 = 3 segments computed and finished in lane l. If `B[i][j]` is the
/// first block of a segment, then the very last index from W is excluded."
pub(crate) fn set_size<N: Number>(cpu: N::Cpu, case: &Case<N>, l: N) -> N {
    let number = |x| N::splat(cpu, x);
    let finished = case.length * number(finished(case));
    let is_first = case.index.is_equal(number(0));
    let other = finished - N::select(is_first, number(1), number(0));
    let own = finished + case.index - number(1);
    N::select(l.is_equal(case.lane), own, other)
}

/// Segments of a lane that are computed and finished, at most the last three.
fn finished<N>(case: &Case<N>) -> u64 {
    if case.first_pass {
        case.slice as u64
    } else {
        SL - 1
    }
}

/// The oldest of them: in the first pass that of column 0, later the one after the current one.
fn oldest<N>(case: &Case<N>) -> u64 {
    if case.first_pass {
        0
    } else {
        (case.slice as u64 + 1) % SL
    }
}
