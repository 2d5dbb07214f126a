//! Anonymous tokens: oblivious pseudorandom functions and Privacy Pass.
//!
//! | module | what | standard |
//! |---|---|---|
//! | [`voprf`] | OPRF, VOPRF, POPRF over P-256, P-384 and ristretto255 | RFC 9497 |
//! | [`privacypass`] | challenges, issuance and redemption of tokens | RFC 9577, RFC 9578 |
//! | [`epoch`] | keys with lifetimes that overlap, from one root | `spec/token.md` |
//!
//! No function here reads a clock, a file or a socket: bytes come in, bytes go out.

#![forbid(unsafe_code)]

pub mod epoch;
mod error;
mod parallel;
pub mod privacypass;
pub mod voprf;

pub use error::Error;
pub use parallel::cancellable;
