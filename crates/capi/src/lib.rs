//! Sealstone for C.
//!
//! `include/sealstone.h` is the interface and its documentation: `scripts/header` writes it from
//! the comments here. `include/sealstone.hpp` is the same for C++17, with owners, and `examples`
//! has programs in C, Go and Java. Every function checks pointers and lengths as far as a callee
//! can, catches panics, and returns a [`Status`]; the text of the last failure is kept for each
//! thread.
//!
//! | module | what |
//! |---|---|
//! | [`argon2`] | passwords and keys from passwords |
//! | [`skein`] | hashing |
//! | [`passport`] | identities |
//! | [`file`](mod@file), [`stream`] | sealed files in memory, and of any length |
//! | [`package`], [`report`], [`content`] | signed packages, and what verifying them finds |
//! | [`token`], [`issuer`] | anonymous tokens: clients, issuers, verifiers |
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
//! # Safety
//!
//! Callers of every function promise what the head of the header says: a pointer is null or valid
//! for its length, a string ends with a zero byte, a handle came from here and was not freed,
//! nobody changes or frees it meanwhile, and outputs overlap no inputs. The private module `raw`
//! relies on that.
#![allow(
    unsafe_code,
    reason = "callers are C: their pointers are read here, and names are exported"
)]
#![allow(
    clippy::missing_safety_doc,
    reason = "the promise is that of all functions, and stands above; their comments are the header's"
)]

pub mod argon2;
pub mod buffer;
pub mod content;
pub mod file;
pub mod issuer;
pub mod package;
pub mod passport;
pub mod public_key;
mod raw;
pub mod report;
pub mod skein;
pub mod status;
pub mod stream;
pub mod token;

pub use status::Status;
