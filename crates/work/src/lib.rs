//! The proof of work of a gate (`spec/service.md`, "Proof of work"), for visitors: `js/` runs it as
//! WebAssembly.
//!
//! ```
//! use sealstone_work::{Method, Search};
//!
//! let mut search = Search::new(&[1; 56], &[7; 32], 8, Method::Sha256)?;
//! let counter = search.next(0, 1, 100_000).expect("one in 256 is enough");
//! assert_eq!(search.next(counter, 1, 1), Some(counter));
//! # Ok::<(), sealstone_work::Error>(())
//! ```
//!
//! WebAssembly has no pointers of Rust: the exported functions take and return numbers, and the
//! input goes in byte by byte. So this crate has no `unsafe` block. `exports` has the attribute
//! that keeps their names.
#![deny(unsafe_code)]

mod exports;

use std::fmt;

use sealstone_argon2::{Argon2, Block, Params, ZERO_BLOCK};
use sha2::{Digest, Sha256};

/// The length of the digest of a request.
pub const SUBJECT_LEN: usize = 32;
/// The longest challenge that is taken, in bytes.
pub const MAX_CHALLENGE: usize = 1024;

/// The function that is computed for each counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// SHA-256(challenge ‖ subject ‖ counter).
    Sha256,
    /// Argon2id with the password subject ‖ counter and the salt challenge.
    Argon2id {
        /// Memory in KiB.
        memory: u32,
        /// Passes.
        passes: u32,
    },
}

/// Why a search cannot begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// A length or a parameter is out of range.
    Malformed,
    /// There is not enough memory.
    Memory,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "a length or a parameter is out of range",
            Self::Memory => "there is not enough memory",
        })
    }
}

impl std::error::Error for Error {}

/// A search for the counter that passes.
pub struct Search {
    challenge: Vec<u8>,
    subject: [u8; SUBJECT_LEN],
    bits: u32,
    engine: Engine,
}

enum Engine {
    /// The state after the challenge and the subject.
    Sha256(Sha256),
    Argon2id(Argon2<'static>, Vec<Block>),
}

impl Search {
    /// A search for a digest with at least `bits` leading zero bits.
    ///
    /// # Errors
    /// If a parameter is out of range, or there is no memory for Argon2id.
    pub fn new(
        challenge: &[u8],
        subject: &[u8; SUBJECT_LEN],
        bits: u32,
        method: Method,
    ) -> Result<Self, Error> {
        if challenge.is_empty() || challenge.len() > MAX_CHALLENGE || bits > 256 {
            return Err(Error::Malformed);
        }
        let engine = match method {
            Method::Sha256 => {
                let state = Sha256::new().chain_update(challenge);
                Engine::Sha256(state.chain_update(subject))
            }
            Method::Argon2id { memory, passes } => {
                let params = Params::new(memory, passes, 1).map_err(|_| Error::Malformed)?;
                Engine::Argon2id(Argon2::new(params), allocate(&params)?)
            }
        };
        Ok(Self {
            challenge: challenge.to_vec(),
            subject: *subject,
            bits,
            engine,
        })
    }

    /// The first counter that passes, of `tries` that begin with `from` and are `step` apart.
    pub fn next(&mut self, from: u64, step: u32, tries: u32) -> Option<u64> {
        let mut counters =
            (0..u64::from(tries)).map_while(|n| from.checked_add(n.checked_mul(u64::from(step))?));
        counters.find(|counter| leading_zeros(&self.digest(*counter)) >= self.bits)
    }

    fn digest(&mut self, counter: u64) -> [u8; 32] {
        let counter = counter.to_be_bytes();
        match &mut self.engine {
            Engine::Sha256(state) => state.clone().chain_update(counter).finalize().into(),
            Engine::Argon2id(argon2, memory) => {
                let (mut password, mut tag) = ([0; SUBJECT_LEN + 8], [0xff; 32]);
                password[..SUBJECT_LEN].copy_from_slice(&self.subject);
                password[SUBJECT_LEN..].copy_from_slice(&counter);
                match argon2.hash_with(&password, &self.challenge, &mut tag, memory) {
                    Ok(()) => tag,
                    // No counter passes.
                    Err(_) => [0xff; 32],
                }
            }
        }
    }
}

fn allocate(params: &Params) -> Result<Vec<Block>, Error> {
    let blocks = usize::try_from(params.blocks()).map_err(|_| Error::Memory)?;
    let mut memory = Vec::new();
    memory
        .try_reserve_exact(blocks)
        .map_err(|_| Error::Memory)?;
    memory.resize(blocks, ZERO_BLOCK);
    Ok(memory)
}

fn leading_zeros(digest: &[u8; 32]) -> u32 {
    let mut zeros = 0;
    for byte in digest {
        zeros += byte.leading_zeros();
        if *byte != 0 {
            break;
        }
    }
    zeros
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_bits_are_counted() {
        assert_eq!(leading_zeros(&[0xff; 32]), 0);
        assert_eq!(leading_zeros(&[0; 32]), 256);
        let mut digest = [0xff; 32];
        digest[..2].copy_from_slice(&[0, 0x1f]);
        assert_eq!(leading_zeros(&digest), 11);
    }

    #[test]
    fn steps_divide_the_counters_among_workers() {
        let method = Method::Argon2id {
            memory: 8,
            passes: 1,
        };
        for method in [Method::Sha256, method] {
            let mut search = Search::new(&[1; 56], &[7; 32], 5, method).expect("parameters");
            let first = search.next(0, 1, 10_000).expect("one in 32");
            let of_workers = (0..4).filter_map(|worker| search.next(worker, 4, 2_500));
            assert_eq!(of_workers.min(), Some(first), "{method:?}");
            assert_eq!(search.next(0, 1, u32::try_from(first).expect("few")), None);
        }
    }

    #[test]
    fn counters_end() {
        let mut search = Search::new(&[1; 56], &[7; 32], 256, Method::Sha256).expect("parameters");
        assert_eq!(search.next(u64::MAX - 1, 1, 100), None);
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        let refused =
            |challenge: &[u8], bits, method| Search::new(challenge, &[0; 32], bits, method).err();
        let argon2id = |memory, passes| Method::Argon2id { memory, passes };
        assert_eq!(refused(&[], 1, Method::Sha256), Some(Error::Malformed));
        assert_eq!(
            refused(&[0; 1025], 1, Method::Sha256),
            Some(Error::Malformed)
        );
        assert_eq!(
            refused(&[0; 56], 257, Method::Sha256),
            Some(Error::Malformed)
        );
        assert_eq!(refused(&[0; 56], 1, argon2id(7, 1)), Some(Error::Malformed));
        assert_eq!(refused(&[0; 56], 1, argon2id(8, 0)), Some(Error::Malformed));
    }
}
