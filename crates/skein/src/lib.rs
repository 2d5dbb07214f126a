//! Skein 1.3 and Threefish, in all modes of the specification (Ferguson, Lucks, Schneier, Whiting,
//! Bellare, Kohno, Callas, Walker: *The Skein Hash Function Family*, version 1.3, 2010), and a tree
//! hash that runs on all cores.
//!
//! | to | use |
//! |---|---|
//! | hash a large file on all cores | [`tree`] |
//! | hash | [`Skein512`], [`Skein256`], [`Skein1024`] |
//! | give a hash a key, a purpose, a nonce, a length in bits | [`Parameters`] |
//! | authenticate a message | [`Mac`] |
//! | derive keys from a master key | [`derive_key`] |
//! | derive a key from a password (better use Argon2) | [`derive_key_from_password`] |
//! | get pseudo-random bytes | [`Prng`] |
//! | encrypt a stream | [`StreamCipher`] |
//! | encrypt a block | [`threefish`] |
//! | process chunks of a stream on all cores, in order | [`pipeline`] |
//! | hash files, and check them against a list | [`sums`] |
//! | build something else from the same parts | [`Ubi`], [`output_block`] |
//! | read every intermediate value | [`trace`] |
//!
//! ```
//! use sealstone_skein::{Parameters, Skein512};
//!
//! let mut skein = Skein512::new();
//! skein.update(b"one part, ");
//! skein.update(b"and another");
//! assert_eq!(skein.finish(), Skein512::hash(b"one part, and another"));
//!
//! let purpose = Parameters::new()
//!     .personalization(b"20261120 me@example.com file names")
//!     .output_bits(100);
//! assert_eq!(Skein512::with(&purpose).chain(b"message").finish().len(), 13);
//! ```
#![forbid(unsafe_code)]

#[cfg(feature = "digest")]
mod digest;
mod kdf;
mod mac;
mod output;
mod parameters;
mod pbkdf;
pub mod pipeline;
mod prng;
mod shape;
mod skein;
mod stream;
pub mod sums;
pub mod threefish;
pub mod trace;
pub mod tree;
mod tweak;
mod ubi;

#[cfg(feature = "digest")]
pub use digest::FixedSkein;
pub use kdf::derive_key;
pub use mac::Mac;
pub use output::{Output, OutputData, OutputNumber, output_block};
pub use parameters::{Parameters, start_strings};
pub use pbkdf::derive_key_from_password;
pub use prng::Prng;
pub use sealstone_lanes::Cpu;
pub use skein::{Skein, Skein256, Skein512, Skein1024};
pub use stream::StreamCipher;
pub use tweak::{Type, UbiTweak};
pub use ubi::{Ubi, UbiBlocks};
