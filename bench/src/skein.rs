//! Skein and RustCrypto's Skein, for `bench/skein.py`.
//!
//! Reads jobs from standard input, one per line: a name and a number of bytes. Answers each with
//! the nanoseconds a byte of one repetition, or `-` if this machine cannot do it. So the caller
//! decides the order of jobs.
#![forbid(unsafe_code)]

use std::hint::black_box;
use std::io::{self, BufRead, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sealstone_skein::threefish::{Threefish256, Threefish512, Threefish1024};
use sealstone_skein::tree::{self, PIECE, Root, Subtree};
use sealstone_skein::{Cpu, Skein256, Skein512, Skein1024};
use skein::digest::Digest;
use skein::digest::consts::{U32, U64, U128};
use threefish::cipher::{BlockCipherDecrypt, BlockCipherEncrypt};

fn main() -> io::Result<()> {
    let mut message = Vec::new();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let (job, bytes) = line.split_once(' ').expect("a job and a number of bytes");
        let bytes: usize = bytes.parse().expect("a number of bytes");
        fill(&mut message, bytes);
        match measure(job, &message[..bytes]) {
            Some(seconds) => println!("{:.4}", seconds * 1e9 / bytes as f64),
            None => println!("-"),
        }
        io::stdout().flush()?;
    }
    Ok(())
}

/// Makes the message at least `bytes` long.
fn fill(message: &mut Vec<u8>, bytes: usize) {
    let pattern = (message.len()..bytes).map(|i| (i % 251) as u8);
    message.extend(pattern);
}

/// Seconds for the job over the message once. `None` for an instruction set that this CPU lacks.
fn measure(job: &str, message: &[u8]) -> Option<f64> {
    let seconds = match job {
        "skein-256" => repeat(message, Skein256::hash),
        "skein-512" => repeat(message, Skein512::hash),
        "skein-1024" => repeat(message, Skein1024::hash),
        "rustcrypto-256" => repeat(message, skein::Skein256::<U32>::digest),
        "rustcrypto-512" => repeat(message, skein::Skein512::<U64>::digest),
        "rustcrypto-1024" => repeat(message, skein::Skein1024::<U128>::digest),
        _ if job.contains("threefish") => threefish(job, message),
        _ => {
            let (cpu, threads) = job.split_once('/').expect("tree/THREADS or a known job");
            let cpu = Cpu::available()
                .find(|level| format!("{level:?}").to_lowercase().starts_with(cpu))?;
            let threads = threads.parse().expect("a number of threads");
            repeat(message, |m| tree_hash(cpu, threads, m))
        }
    };
    Some(seconds)
}

/// Threefish, ours and RustCrypto's, with precomputed subkeys or key and one tweak.
fn threefish(job: &str, message: &[u8]) -> f64 {
    const TWEAK: [u8; 16] = [3; 16];
    macro_rules! both_ways {
        ($cipher:ident, $bytes:literal) => {{
            let ours = $cipher::new(&[7; $bytes]);
            let theirs = threefish::$cipher::new_with_tweak(&[7; $bytes], &TWEAK);
            let (who, way) = job.rsplit_once('-').expect("a cipher and a direction");
            match (who.starts_with("rustcrypto"), way) {
                (false, "encrypt") => chain(message, |block| ours.encrypt(TWEAK, block)),
                (false, _) => chain(message, |block| ours.decrypt(TWEAK, block)),
                (true, "encrypt") => chain(message, |block: &mut [u8; $bytes]| {
                    theirs.encrypt_block(block.into())
                }),
                (true, _) => chain(message, |block: &mut [u8; $bytes]| {
                    theirs.decrypt_block(block.into())
                }),
            }
        }};
    }
    if job.contains("-256-") {
        both_ways!(Threefish256, 32)
    } else if job.contains("-512-") {
        both_ways!(Threefish512, 64)
    } else {
        both_ways!(Threefish1024, 128)
    }
}

/// Seconds for as many blocks as the message has. Each block is the output of the previous one.
/// This measures latency, not throughput.
fn chain<const BYTES: usize>(message: &[u8], cipher: impl Fn(&mut [u8; BYTES])) -> f64 {
    repeat(message, |message| {
        let mut block = [1; BYTES];
        (0..message.len() / BYTES).for_each(|_| cipher(&mut block));
        block
    })
}

/// Seconds for one call: the mean of the calls in a few milliseconds.
fn repeat<'m, T>(message: &'m [u8], hash: impl Fn(&'m [u8]) -> T) -> f64 {
    const ENOUGH: Duration = Duration::from_millis(8);
    let start = Instant::now();
    let mut calls = 0;
    while calls == 0 || start.elapsed() < ENOUGH {
        black_box(hash(black_box(message)));
        calls += 1;
    }
    start.elapsed().as_secs_f64() / f64::from(calls)
}

/// The tree hash of a message in memory. The next free thread hashes each piece.
fn tree_hash(cpu: Cpu, threads: usize, message: &[u8]) -> [u8; tree::HASH] {
    let pieces: Vec<&[u8]> = message.chunks(PIECE).collect();
    let next = AtomicUsize::new(0);
    let work = || -> Vec<(usize, Subtree)> {
        std::iter::from_fn(|| {
            let i = next.fetch_add(1, Ordering::Relaxed);
            pieces
                .get(i)
                .map(|piece| (i, tree::subtree_on(cpu, i as u64, piece)))
        })
        .collect()
    };
    let mut done = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut done = work();
        for other in others {
            done.extend(other.join().expect("a thread that does not panic"));
        }
        done
    });
    done.sort_by_key(|(i, _)| *i);
    let mut root = Root::new();
    done.into_iter().for_each(|(_, subtree)| root.push(subtree));
    root.finish()
}
