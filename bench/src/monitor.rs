//! The cost of the monitor compared with the signature that it watches: Ed25519 and ML-DSA-65 over
//! one message. The monitor is full, as after many uses: all charts and tags are at their limits.
//!
//! usage: bench-monitor [ROUNDS]
#![forbid(unsafe_code)]

use std::hint::black_box;
use std::time::Instant;

use sealstone::monitor::{Monitor, Operation, Sample};
use sealstone_primitives::secret::Secret;
use sealstone_primitives::sign::{ed25519, ml_dsa_65};

/// The allowed cost of the monitor as a part of a signature.
const LIMIT: f64 = 0.02;
const REPEAT: u32 = 200;

fn main() {
    let rounds = std::env::args().nth(1);
    let rounds: usize = rounds.map_or(25, |rounds| rounds.parse().expect("a number of rounds"));
    let classical = ed25519::SigningKey::from_seed(&Secret::from_array(&mut [1; 32]));
    let post_quantum = ml_dsa_65::SigningKey::from_seed(&Secret::from_array(&mut [2; 32]));
    let message = [3; 64];
    let mut sign = || {
        black_box(classical.sign(black_box(&message)));
        black_box(post_quantum.sign(black_box(&message), b"bench")).expect("a signature");
    };
    let (mut monitor, mut number) = (Monitor::new([7; 32]), 0);
    let mut observe = || {
        number += 1;
        black_box(monitor.observe(&sample(number)));
    };
    (0..5000).for_each(|_| observe());
    let (mut signing, mut watching) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        signing.push(seconds(&mut sign));
        watching.push(seconds(&mut observe));
    }
    let (signing, watching) = (median(signing), median(watching));
    let ratio = watching / signing;
    println!("sign, Ed25519 and ML-DSA-65  {:8.2} µs", signing * 1e6);
    println!("observe                      {:8.2} µs", watching * 1e6);
    println!("ratio                        {:8.2} %", ratio * 100.0);
    if ratio > LIMIT {
        eprintln!("the monitor costs more than {} %", LIMIT * 100.0);
        std::process::exit(1);
    }
}

/// A sample like the others, with a separate payload.
fn sample(number: u64) -> Sample {
    let spread = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 50;
    let mut payload = [0; 32];
    payload[..8].copy_from_slice(&number.to_be_bytes());
    Sample {
        operation: Operation::Sign,
        key: [1; 32],
        time: 1_790_000_000_000 + number * 60_000 + spread,
        latency: 100_000 + spread,
        size: 4096 + spread,
        payload: Some(payload),
    }
}

fn seconds(run: &mut impl FnMut()) -> f64 {
    let start = Instant::now();
    (0..REPEAT).for_each(|_| run());
    start.elapsed().as_secs_f64() / f64::from(REPEAT)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
