//! RFC 9497 between Sealstone and the crate `voprf`: each side's client with the other's server.
//!
//! Both sides exchange bytes only. A case has a key, some inputs and a public input; all modes
//! of all suites run cases, each with one input and with several.

mod case;
mod peer;

use std::time::Instant;

use case::Random;

/// `SEALSTONE_CASES` cases, or a few of each mode and suite, equally many of each. 10,000 take six
/// minutes.
#[test]
fn random_cases() {
    let count = std::env::var("SEALSTONE_CASES")
        .map_or(36, |count| count.parse().expect("a number of cases"));
    let start = Instant::now();
    let mut random = Random::new(0x5ea1_5704e);
    let rounds = usize::div_ceil(count, peer::RUNS.len());
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
