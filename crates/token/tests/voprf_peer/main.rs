//! RFC 9497 between Sealstone and the crate `voprf`: each side's client with the other's server.
//!
//! Both sides exchange bytes only. A case has a key, some inputs and a public input; all modes
//! of all suites run cases, each with one input and with several.

mod case;
mod peer;

use std::time::Instant;

use case::Random;

/// A few of each mode and suite, for every day.
#[test]
fn random_cases() {
    run(36);
}

/// As many as the project's issue of tokens asks for.
#[test]
#[ignore = "takes minutes"]
fn ten_thousand_random_cases() {
    run(10_000);
}

/// Runs at least `count` cases, as many of each mode and suite as of the others.
fn run(count: usize) {
    let start = Instant::now();
    let mut random = Random::new(0x5ea1_5704e);
    let rounds = count.div_ceil(peer::RUNS.len());
    for round in 0..rounds {
        for run in peer::RUNS {
            // Every other round has batches.
            run(&random.case(round % 2 == 1), &mut random);
        }
    }
    println!(
        "{} random cases agree with the crate voprf, {:.1} s",
        rounds * peer::RUNS.len(),
        start.elapsed().as_secs_f64()
    );
}
