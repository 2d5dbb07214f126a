//! One Argon2id hash by Sealstone or a peer, for `bench/argon2.py`.
//!
//! `bench-argon2 WHO MEMORY-KIB PASSES LANES THREADS` prints the nanoseconds of the call, including
//! allocation and wiping, and the tag. Each process computes one hash, like a command. `WHO-kept`
//! hashes once before, and measures a hash in memory that is already mapped, as in a server.
#![forbid(unsafe_code)]

mod walk;

use std::fmt::Write;
use std::time::Instant;

const PASSWORD: &[u8] = b"password";
const SALT: &[u8; 16] = b"somesaltsomesalt";

/// The cost of a hash.
struct Cost {
    memory_kib: u32,
    passes: u32,
    lanes: u32,
    threads: u32,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [who, numbers @ ..] = &arguments[..] else {
        panic!("usage: bench-argon2 WHO MEMORY-KIB PASSES LANES THREADS");
    };
    let number = |at: usize| numbers[at].parse().expect("a number");
    let cost = Cost {
        memory_kib: number(0),
        passes: number(1),
        lanes: number(2),
        threads: number(3),
    };
    let floor = match who.as_str() {
        "walk" => Some(walk::walk(
            cost.memory_kib,
            cost.passes,
            cost.lanes,
            cost.threads,
        )),
        "pages" => Some(walk::pages(cost.memory_kib, cost.lanes, cost.threads)),
        _ => None,
    };
    if let Some(time) = floor {
        println!("{} none", time.as_nanos());
        return;
    }
    let mut hash = hasher(who, &cost);
    let (mut nanoseconds, mut tag) = (0, [0; 32]);
    for _ in 0..if who.ends_with("-kept") { 2 } else { 1 } {
        let start = Instant::now();
        hash(&mut tag);
        nanoseconds = start.elapsed().as_nanos();
    }
    println!("{nanoseconds} {}", hex(&tag));
}

type Hash = Box<dyn FnMut(&mut [u8; 32])>;

fn hasher(who: &str, cost: &Cost) -> Hash {
    match who {
        "sealstone" | "sealstone-kept" => sealstone(cost, who.ends_with("-kept")),
        "argon2-rust" | "argon2-rust-kept" => argon2_rust(cost, who.ends_with("-kept")),
        "rustcrypto" => rustcrypto(cost),
        "libsodium" => libsodium(cost),
        _ => panic!("unknown: {who}"),
    }
}

fn sealstone(cost: &Cost, kept: bool) -> Hash {
    use sealstone_argon2::{Arena, Argon2, Params};
    let params = Params::new(cost.memory_kib, cost.passes, cost.lanes).expect("parameters");
    // The options of the command.
    let argon2 = Argon2::new(params).threads(cost.threads as usize);
    // A server allocates kept memory in advance, as argon2-rust's hasher insists on huge pages
    // too.
    let arena = match kept {
        true => Arena::with_kib(params.blocks()),
        false => Ok(Arena::new()),
    };
    let mut arena = arena.expect("memory");
    Box::new(move |tag| {
        argon2
            .hash(PASSWORD, SALT, tag, &mut arena)
            .expect("memory");
        if !kept {
            arena.release();
        }
    })
}

fn argon2_rust(cost: &Cost, kept: bool) -> Hash {
    use argon2_rust::{Algorithm, Argon2, Params, Version, params::Memory};
    let params = Params::builder()
        .memory(Memory::kib(cost.memory_kib.into()))
        .passes(cost.passes)
        .lanes(cost.lanes)
        .threads(cost.threads)
        .build()
        .expect("parameters");
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    if !kept {
        return Box::new(move |tag| argon2.hash_into(PASSWORD, SALT, tag).expect("memory"));
    }
    let mut hasher = argon2.hasher();
    Box::new(move |tag| hasher.hash_into(PASSWORD, SALT, tag).expect("memory"))
}

fn rustcrypto(cost: &Cost) -> Hash {
    use argon2::{Algorithm, Argon2, Params, Version};
    let params =
        Params::new(cost.memory_kib, cost.passes, cost.lanes, Some(32)).expect("parameters");
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    Box::new(move |tag| {
        argon2
            .hash_password_into(PASSWORD, SALT, tag)
            .expect("memory");
    })
}

fn libsodium(cost: &Cost) -> Hash {
    use libsodium_rs::crypto_pwhash::{ALG_ARGON2ID13, pwhash};
    libsodium_rs::ensure_init().expect("libsodium");
    assert_eq!(cost.lanes, 1, "libsodium has one lane");
    let (passes, memory) = (cost.passes.into(), cost.memory_kib as usize * 1024);
    Box::new(move |tag| {
        let hash = pwhash(32, PASSWORD, SALT, passes, memory, ALG_ARGON2ID13).expect("memory");
        tag.copy_from_slice(&hash);
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("text can grow");
        text
    })
}
