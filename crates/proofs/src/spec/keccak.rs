//! Keccak-f\[1600\] (FIPS 202, sections 3.2 and 3.3). Lane (x, y) is word x + 5 y.

use sealstone_prover::algebra::Algebra;

/// Section 3.2.2: the rotation of each lane by ρ.
fn offsets() -> [usize; 25] {
    let mut offsets = [0; 25];
    let (mut x, mut y) = (1, 0);
    for t in 0..24 {
        offsets[x + 5 * y] = (t + 1) * (t + 2) / 2 % 64;
        (x, y) = (y, (2 * x + 3 * y) % 5);
    }
    offsets
}

/// Algorithm 5: rc(t), by a feedback shift register of eight bits.
fn rc(t: usize) -> bool {
    let mut r = [true, false, false, false, false, false, false, false];
    for _ in 0..t % 255 {
        let last = r[7];
        r.rotate_right(1);
        r[0] = last;
        for place in [4, 5, 6] {
            r[place] ^= last;
        }
    }
    r[0]
}

/// Algorithm 6: the constant of a round.
pub fn round_constant(round: usize) -> u64 {
    let bits = (0..=6).map(|j| u64::from(rc(j + 7 * round)) << ((1 << j) - 1));
    bits.sum()
}

/// Section 3.3: ι(χ(π(ρ(θ(A)))), i_r), with the constant of the round.
pub fn round<A: Algebra<64>>(a: &mut A, state: &[A::Word], constant: &A::Word) -> Vec<A::Word> {
    let parities: Vec<A::Word> = (0..5)
        .map(|x| {
            let column = [5, 10, 15, 20].map(|y| &state[x + y]);
            let first = state[x].clone();
            column
                .into_iter()
                .fold(first, |sum, lane| a.xor(&sum, lane))
        })
        .collect();
    let mut moved = state.to_vec();
    let offsets = offsets();
    for (number, lane) in state.iter().enumerate() {
        let (x, y) = (number % 5, number / 5);
        let right = a.rotate_left(&parities[(x + 1) % 5], 1);
        let lane = a.xor(lane, &parities[(x + 4) % 5]);
        let lane = a.xor(&lane, &right);
        // π: lane (x, y) goes to (y, 2 x + 3 y).
        moved[y + 5 * ((2 * x + 3 * y) % 5)] = a.rotate_left(&lane, offsets[number]);
    }
    let ones = a.number(u64::MAX);
    let mut state: Vec<A::Word> = (0..25)
        .map(|number| {
            let (x, row) = (number % 5, number / 5 * 5);
            let (next, after) = (&moved[row + (x + 1) % 5], &moved[row + (x + 2) % 5]);
            let not = a.xor(next, &ones);
            let product = a.and(&not, after);
            a.xor(&moved[number], &product)
        })
        .collect();
    state[0] = a.xor(&state[0], constant);
    state
}
