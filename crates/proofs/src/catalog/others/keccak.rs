//! aws-lc's Keccak-f\[1600\], four at once (of s2n-bignum).

use super::{Set, row};
use crate::catalog::Kernel;
use crate::spec::keccak;
use sealstone_prover::algebra::Algebra;
use sealstone_prover::contract::Access::{Read, Write};
use sealstone_prover::contract::{Cell, Contract, Stepwise};

const ROUNDS: usize = 24;

/// Four states, one behind the other. A step is a round of each.
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

/// Its caller gives it the round constants, and how bytes move when each word of 32 bytes is turned
/// left by 8 bits and by 56. It returns without `vzeroupper`.
pub(super) fn four_at_once() -> Vec<Kernel> {
    let numbers = |numbers: Vec<u64>| numbers.into_iter().map(Cell::Number).collect();
    let turned = |low: u64| [low, low + 0x0808_0808_0808_0808].repeat(2);
    let contract = Contract::stepwise(FourStates)
        .buffer("states", 100, 8, Write)
        .record(
            "round constants",
            numbers((0..ROUNDS).map(keccak::round_constant).collect()),
            8,
            Read,
        )
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
