//! Argon2 (RFC 9106) in all variants and versions, and BLAKE2b (RFC 7693), in one source for every
//! instruction set.
//!
//! | to | use |
//! |---|---|
//! | store a password and verify it | [`hash_password`], [`verify_password`] |
//! | the same with a pepper, threads, limits | [`PasswordHasher`], [`Limits`] |
//! | derive a key from a password | [`Argon2::hash`] |
//! | choose parameters | [`Params`], [`PROFILES`], [`calibrate`] |
//! | keep memory from hash to hash | [`Arena`] |
//! | pass your own memory, without an allocator | [`Argon2::hash_with`], [`Block`] |
//! | use a thread pool, show progress, cancel | [`Pool`], [`Argon2::progress`], [`Argon2::cancel`] |
//! | read and write PHC strings | [`PhcString`] |
//! | hash | [`blake2b`] |
//! | prove the same source | [`compress()`], [`Segment`], [`hprime()`], [`blake2b::Stream`] |
//! | prove the machine code | [`kernel`], [`blake2b::compress_on`] |
//!
//! ```
//! use sealstone_argon2::{Argon2, Arena, Params};
//!
//! # let params = Params::new(1024, 3, 1)?;
//! let mut key = [0; 32];
//! Argon2::new(params).hash(b"passphrase", b"16 bytes of salt", &mut key, &mut Arena::new())?;
//! # assert_ne!(key, [0; 32]);
//! # Ok::<(), sealstone_argon2::Error>(())
//! ```
//!
//! # What a hash leaves behind
//!
//! [`Argon2::hash`] wipes all memory that depends on the password before it returns, on every path,
//! and the registers and stacks that it used. It cannot wipe what the compiler leaves on the stacks
//! of a caller's [`Pool`], and copies of a [`blake2b::Blake2b`] that was moved. Memory of an
//! [`Arena`] is not in core dumps, and a process that is forked meanwhile sees zeros in it (on
//! Linux, since 4.14).
//!
//! Overwriting takes 48 KiB of the caller's stack, and 48 KiB of the stack of each thread that
//! fills. 128 KiB of stack are enough for any hash.
//!
//! # Features
//!
//! `std` (default): everything. Without it, the crate has the algorithm, BLAKE2b and PHC strings,
//! and allocates nothing.
#![deny(unsafe_code)]
#![cfg_attr(not(feature = "std"), no_std)]

mod argon2;
pub mod blake2b;
mod block;
mod compress;
mod error;
mod fill;
mod hprime;
mod index;
pub mod kernel;
mod params;
mod phc;
mod spent;

#[cfg(feature = "std")]
mod arena;
#[cfg(feature = "std")]
mod calibrate;
#[cfg(feature = "std")]
mod pages;
#[cfg(feature = "std")]
mod password;
#[cfg(feature = "std")]
mod pool;

pub use argon2::Argon2;
pub use block::{Block, WORDS, ZERO_BLOCK, from_words, place, to_words};
pub use compress::compress;
pub use error::Error;
pub use fill::{Progress, Task};
pub use hprime::hprime;
pub use index::{Reference, SLICES, Segment};
pub use params::{PROFILES, Params, Variant, Version};
pub use phc::PhcString;
pub use sealstone_lanes::Cpu;

#[cfg(feature = "std")]
pub use {
    arena::Arena,
    calibrate::{Calibration, calibrate, calibrate_with},
    fill::fill_on,
    password::{Limits, PasswordHasher, Verified, hash_password, verify_password},
    pool::Pool,
};
