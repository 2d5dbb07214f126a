//! F, the compression function of BLAKE2b (RFC 7693, section 3.2).

use sealstone_lanes::{Row, Word};

/// The initial state (section 2.6): the first 64 bits of the fractional parts of the square roots
/// of the first eight primes.
pub const IV: [u64; 8] = [
    0x6a09_e667_f3bc_c908,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1,
    0x9b05_688c_2b3e_6c1f,
    0x1f83_d9ab_fb41_bd6b,
    0x5be0_cd19_137e_2179,
];

/// The message schedule (section 2.7): the words that a round takes.
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

/// The inputs of F beside the state: a block of the message, and its position.
pub struct Input<'a, S> {
    /// m: sixteen little-endian words of message.
    pub words: &'a [S; 16],
    /// t: the number of message bytes up to the end of this block; low word, high word.
    pub counter: [S; 2],
    /// f: all ones for the last block of the message, else zero.
    pub last: S,
}

/// `state` = F(`state`, m, t, f). `scalars` is the token of single words, `cpu` the token of rows.
#[inline(always)]
pub fn compress<R: Row>(
    cpu: R::Cpu,
    scalars: <R::Lane as Word>::Cpu,
    state: &mut [R::Lane; 8],
    input: &Input<'_, R::Lane>,
) {
    let [h0, h1, h2, h3, h4, h5, h6, h7] = *state;
    let [i0, i1, i2, i3, i4, i5, i6, i7] = IV.map(|word| R::Lane::splat(scalars, word));
    let ([t0, t1], f) = (input.counter, input.last);
    let low = R::load(cpu, &[h0, h1, h2, h3]);
    let high = R::load(cpu, &[h4, h5, h6, h7]);
    let message = R::table(cpu, input.words);
    let mut v = [
        low,
        high,
        R::load(cpu, &[i0, i1, i2, i3]),
        R::load(cpu, &[i4.xor(t0), i5.xor(t1), i6.xor(f), i7]),
    ];
    macro_rules! rounds {
        ($($r:literal)*) => { $( v = round::<R, $r>(v, &message); )* };
    }
    rounds!(0 1 2 3 4 5 6 7 8 9 10 11);
    let [h0, h1, h2, h3] = low.xor(v[0]).xor(v[2]).to_array();
    let [h4, h5, h6, h7] = high.xor(v[1]).xor(v[3]).to_array();
    *state = [h0, h1, h2, h3, h4, h5, h6, h7];
}

/// Round `R` of twelve, on the rows of v: columns, then diagonals.
#[inline(always)]
fn round<R: Row, const ROUND: usize>([a, b, c, d]: [R; 4], message: &R::Table) -> [R; 4] {
    let s = const { SIGMA[ROUND % 10] };
    let pick = |numbers| R::pick(message, numbers);
    let [a, b, c, d] = half::<R, 32, 24>([a, b, c, d], pick([s[0], s[2], s[4], s[6]]));
    let [a, b, c, d] = half::<R, 16, 63>([a, b, c, d], pick([s[1], s[3], s[5], s[7]]));
    // Row b was computed last and does not move: lane i holds diagonal i - 1.
    let rows = [a.turn::<3>(), b, c.turn::<1>(), d.turn::<2>()];
    let rows = half::<R, 32, 24>(rows, pick([s[14], s[8], s[10], s[12]]));
    let [a, b, c, d] = half::<R, 16, 63>(rows, pick([s[15], s[9], s[11], s[13]]));
    [a.turn::<1>(), b, c.turn::<3>(), d.turn::<2>()]
}

/// Half of the mixing function (section 3.1), on every column.
#[inline(always)]
fn half<R: Row, const X: u32, const Y: u32>([a, b, c, d]: [R; 4], message: R) -> [R; 4] {
    let a = a.add(b).add(message);
    let d = d.xor(a).rotr::<X>();
    let c = c.add(d);
    let b = b.xor(c).rotr::<Y>();
    [a, b, c, d]
}
