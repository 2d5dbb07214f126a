//! How long Argon2 takes here, and how long RustCrypto's takes: alternating, minimum and median of some runs.
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

    let mut times: Vec<(String, Vec<f64>)> = Vec::new();
    let mut tags = std::collections::HashSet::new();
    let mut kept: Vec<Arena> = Cpu::available().map(|_| Arena::new()).collect();
    for _ in 0..runs {
        let mut measure = |name: String, hash: &mut dyn FnMut(&mut [u8; 32])| {
            let (mut tag, start) = ([0; 32], Instant::now());
            hash(&mut tag);
            let time = start.elapsed().as_secs_f64() * 1e3;
            tags.insert(tag);
            match times.iter_mut().find(|(other, _)| *other == name) {
                Some((_, times)) => times.push(time),
                None => times.push((name, vec![time])),
            }
        };
        for (cpu, kept) in Cpu::available().zip(&mut kept) {
            let argon2 = Argon2::new(params).threads(threads).on(cpu);
            let hash = |tag: &mut [u8; 32], arena: &mut Arena| {
                argon2
                    .hash(b"password", b"somesaltsomesalt", tag, arena)
                    .expect("enough memory");
            };
            measure(format!("{cpu:?}, new arena"), &mut |tag| {
                hash(tag, &mut Arena::new())
            });
            measure(format!("{cpu:?}, same arena"), &mut |tag| hash(tag, kept));
        }
        measure("RustCrypto argon2 0.6".into(), &mut |tag| {
            rustcrypto
                .hash_password_into(b"password", b"somesaltsomesalt", tag)
                .expect("enough memory");
        });
    }
    assert_eq!(tags.len(), 1, "everybody gets the same tag");
    for (name, mut times) in times {
        times.sort_by(f64::total_cmp);
        println!(
            "{name:32} minimum {:8.2} ms, median {:8.2} ms",
            times[0],
            times[times.len() / 2]
        );
    }
}
