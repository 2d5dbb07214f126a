//! Tests: lemmas claim what they say, formulas match the code, and wrong code is refuted.

mod evaluate;
mod parts;
mod planted;
mod simulation;
mod transcriptions;
mod translation;

use super::{Case, SEGMENTS};
use sealstone_lanes::Portable;
use sealstone_prover::solver::Solver;
use sealstone_prover::term::Random;

/// The solvers. Prints a note if there are none.
fn solvers() -> Option<[Solver; 2]> {
    match super::solvers() {
        Ok(solvers) => Some(solvers),
        Err(why) => {
            println!("skipped: {why}");
            None
        }
    }
}

/// A random block, with edge cases far more likely than by chance.
fn random_case(random: &mut Random) -> Case<u64> {
    let segment = SEGMENTS[random.number() as usize % SEGMENTS.len()];
    let lanes = edgy(random, 1, (1 << 24) - 1);
    // Below 2^32 blocks in all.
    let longest = ((1 << 32) - 1) / (4 * lanes);
    let length = edgy(random, 2, longest);
    let (first_pass, slice) = segment;
    let first = if segment == (true, 0) { 2 } else { 0 };
    let length = length.max(first + 1);
    let case = Case {
        first_pass,
        slice,
        lanes,
        length,
        lane: edgy(random, 0, lanes - 1),
        index: edgy(random, first, length - 1),
        word: edgy(random, 0, u64::from(u32::MAX)) << 32 | edgy(random, 0, u64::from(u32::MAX)),
    };
    assert!(
        case.premises(Portable).into_iter().all(|holds| holds),
        "{case:?}"
    );
    case
}

/// A number from `low` to `high`: near one of them, of any magnitude, or uniform.
fn edgy(random: &mut Random, low: u64, high: u64) -> u64 {
    let span = high - low;
    let offset = match random.number() % 4 {
        0 => random.number() % 3,
        1 => span.saturating_sub(random.number() % 3),
        2 => random.number() >> (random.number() % 64),
        _ => random.number(),
    };
    low + if offset <= span {
        offset
    } else {
        offset % (span + 1)
    }
}
