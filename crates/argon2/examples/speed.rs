//! How long Argon2 takes here, and how long RustCrypto's takes: alternating, minimum and median of some runs. For another
//! instruction set, set `SEALSTONE_CPU_DISABLE_AVX512F`.
//!
//! `cargo run --release -p sealstone-argon2 --example speed -- [memory KiB] [passes] [lanes] [threads] [runs]`

use sealstone_argon2::{Arena, Argon2, Cpu, Params};
use std::time::Instant;

fn main() {
    let arguments: Vec<u32> = std::env::args()
        .skip(1)
        .map(|text| text.parse().expect("a number"))
        .collect();
    let number = |at: usize, default| arguments.get(at).copied().unwrap_or(default);
    let (memory, passes, lanes) = (number(0, 65_536), number(1, 3), number(2, 1));
    let (threads, runs) = (number(3, 1) as usize, number(4, 9));
    let params = Params::new(memory, passes, lanes).expect("parameters of RFC 9106");
    let cost =
        argon2::Params::new(memory, passes, lanes, Some(32)).expect("parameters of RFC 9106");
    let rustcrypto = argon2::Argon2::new(argon2::Algorithm::Argon2id, argon2::Version::V0x13, cost);

    let argon2 = Argon2::new(params).threads(threads);
    let hash = |tag: &mut [u8; 32], arena: &mut Arena| {
        argon2
            .hash(b"password", b"somesaltsomesalt", tag, arena)
            .expect("enough memory");
    };
    let mut kept = Arena::with_kib(memory.into()).expect("enough memory");
    let mut times = [const { (Vec::new(), Vec::new()) }; 3];
    let mut tags = std::collections::HashSet::new();
    for _ in 0..runs {
        let mut measure = |at: usize, hash: &mut dyn FnMut(&mut [u8; 32])| {
            let (mut tag, start, processor) = ([0; 32], Instant::now(), processor_time());
            hash(&mut tag);
            times[at].0.push(start.elapsed().as_secs_f64() * 1e3);
            times[at].1.push((processor_time() - processor) * 1e3);
            tags.insert(tag);
        };
        measure(0, &mut |tag| hash(tag, &mut Arena::new()));
        measure(1, &mut |tag| hash(tag, &mut kept));
        measure(2, &mut |tag| {
            rustcrypto
                .hash_password_into(b"password", b"somesaltsomesalt", tag)
                .expect("enough memory");
        });
    }
    assert_eq!(tags.len(), 1, "everybody gets the same tag");
    println!(
        "{:?}, {threads} threads, {memory} KiB, t = {passes}, p = {lanes}:",
        Cpu::best()
    );
    for (name, (elapsed, processor)) in ["in a new arena", "in a kept arena", "RustCrypto"]
        .into_iter()
        .zip(times)
    {
        let ([least, median], [cpu_least, cpu_median]) =
            (statistics(elapsed), statistics(processor));
        println!(
            "{name:18} minimum {least:8.2} ms, median {median:8.2} ms; of this thread {cpu_least:8.2} ms, {cpu_median:8.2} ms"
        );
    }
}

/// Minimum and median.
fn statistics(mut times: Vec<f64>) -> [f64; 2] {
    times.sort_by(f64::total_cmp);
    [times[0], times[times.len() / 2]]
}

/// Seconds that the main thread has had of a processor: what it takes when others run as well. Linux only; zero elsewhere.
fn processor_time() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = text
        .split(' ')
        .next()
        .and_then(|text| text.parse::<f64>().ok());
    nanoseconds.unwrap_or(0.0) / 1e9
}
