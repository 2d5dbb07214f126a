//! Sealstone for C.
//!
//! `include/sealstone.h` is the interface and its documentation; a test compares it with the
//! functions here. Every function
//! checks pointers and lengths as far as a callee can, catches panics, and returns a
//! [`Status`]; the text of the last failure is kept for each thread.
//!
//! | module | what |
//! |---|---|
//! | [`argon2`] | passwords and keys from passwords |
//! | [`skein`] | hashing |
//! | [`passport`] | identities |
//! | [`file`](mod@file) | sealed files in memory |
//! | [`buffer`] | bytes that a function returns |
//! | [`status`] | failures |
//!
//! ```
//! use sealstone_capi::skein::sealstone_skein512;
//! use sealstone_capi::status::OK;
//!
//! let mut digest = [0; 64];
//! // SAFETY: both pointers are valid for their lengths.
//! let status = unsafe { sealstone_skein512(c"abc".as_ptr().cast(), 3, digest.as_mut_ptr(), 64) };
//! assert_eq!(status, OK);
//! ```
//!
//! Callers of the functions promise what the header says; `raw` is where that is relied on.
#![allow(
    unsafe_code,
    reason = "callers are C: their pointers are read here, and names are exported"
)]

pub mod argon2;
pub mod buffer;
pub mod file;
pub mod passport;
mod raw;
pub mod skein;
pub mod status;

pub use status::Status;
