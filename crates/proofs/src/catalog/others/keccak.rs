//! aws-lc's Keccak-f\[1600\], of one state and of four at once (of s2n-bignum).

use super::{Set, row};
use crate::catalog::Kernel;
use crate::spec::keccak;
use sealstone_prover::algebra::Algebra;
use sealstone_prover::contract::Access::{Read, Write};
use sealstone_prover::contract::{Cell, Contents, Contract, Stepwise};

const ROUNDS: usize = 24;

/// Four consecutive states. A step is a round of each.
#[derive(Clone, Copy)]
struct FourStates;

impl Stepwise for FourStates {
    fn steps(&self) -> usize {
        ROUNDS
    }

    fn step<A: Algebra<64>>(
        &self,
        a: &mut A,
        _round: usize,
        states: &[A::Word],
        read: &[A::Word],
    ) -> Vec<A::Word> {
        let states = states.chunks(25);
        states
            .flat_map(|state| keccak::round(a, state, &read[0]))
            .collect()
    }
}

/// The lanes of which the function holds the complements between its rounds.
const COMPLEMENTED: [usize; 6] = [1, 2, 8, 12, 17, 20];

fn with_complements<A: Algebra<64>>(a: &mut A, state: &[A::Word]) -> Vec<A::Word> {
    let (mut state, ones) = (state.to_vec(), a.number(u64::MAX));
    for lane in COMPLEMENTED {
        state[lane] = a.xor(&state[lane], &ones);
    }
    state
}

/// One state, as the function holds it. A step is two rounds, an iteration of its loop.
#[derive(Clone, Copy)]
struct OneState;

impl Stepwise for OneState {
    fn steps(&self) -> usize {
        ROUNDS / 2
    }

    fn begin<A: Algebra<64>>(&self, a: &mut A, contents: &Contents<A::Word>) -> Vec<A::Word> {
        with_complements(a, &contents[0])
    }

    fn reads(&self, turn: usize) -> (usize, Vec<usize>) {
        (1, vec![2 * turn, 2 * turn + 1])
    }

    fn step<A: Algebra<64>>(
        &self,
        a: &mut A,
        _turn: usize,
        held: &[A::Word],
        read: &[A::Word],
    ) -> Vec<A::Word> {
        let mut state = with_complements(a, held);
        for constant in read {
            state = keccak::round(a, &state, constant);
        }
        with_complements(a, &state)
    }

    fn end<A: Algebra<64>>(&self, a: &mut A, held: &[A::Word]) -> Contents<A::Word> {
        vec![with_complements(a, held)]
    }
}

fn numbers(numbers: impl IntoIterator<Item = u64>) -> Vec<Cell> {
    numbers.into_iter().map(Cell::Number).collect()
}

fn round_constants() -> Vec<Cell> {
    numbers((0..ROUNDS).map(keccak::round_constant))
}

/// Its caller passes the round constants.
pub(super) fn one() -> Vec<Kernel> {
    let contract = Contract::stepwise(OneState)
        .buffer("state", 25, 8, Write)
        .record("round constants", round_constants(), 8, Read)
        .addresses(["state", "round constants"]);
    let names = ["aws-lc sha3_keccak_f1600", "aws_lc_*sha3_keccak_f1600"];
    let shows = "FIPS 202, 3.3, Keccak-f[1600]";
    vec![row(
        "aws-lc Keccak of one state",
        Set::Baseline,
        names,
        shows,
        vec![contract],
    )]
}

/// Its caller passes the round constants, and the byte permutations that rotate each word of 32
/// bytes left by 8 bits and by 56. It returns without `vzeroupper`.
pub(super) fn four_at_once() -> Vec<Kernel> {
    let turned = |low: u64| [low, low + 0x0808_0808_0808_0808].repeat(2);
    let contract = Contract::stepwise(FourStates)
        .buffer("states", 100, 8, Write)
        .record("round constants", round_constants(), 8, Read)
        .record("by 8", numbers(turned(0x0605_0403_0201_0007)), 32, Read)
        .record("by 56", numbers(turned(0x0007_0605_0403_0201)), 32, Read)
        .addresses(["states", "round constants", "by 8", "by 56"])
        .leaves_upper_halves();
    let names = [
        "aws-lc sha3_keccak4_f1600_alt",
        "aws_lc_*sha3_keccak4_f1600_alt",
    ];
    let shows = "FIPS 202, 3.3, Keccak-f[1600] of four states";
    vec![row(
        "aws-lc Keccak",
        Set::Avx2,
        names,
        shows,
        vec![contract],
    )]
}
