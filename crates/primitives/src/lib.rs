//! Safe, typed wrappers over aws-lc: the only crate of Sealstone that calls it.
//!
//! | module | what | standard |
//! |---|---|---|
//! | [`secret`] | secret bytes on locked pages, wiped on drop | |
//! | [`rng`] | randomness | |
//! | [`ct`] | comparison in constant time | |
//! | [`hash`] | SHA3-256, SHA3-512; SHA-256, SHA-384, SHA-512 | FIPS 202, FIPS 180-4 |
//! | [`mac`] | HMAC-SHA3-256 | FIPS 198-1 |
//! | [`kdf`] | HKDF-SHA3-256 | RFC 5869 |
//! | [`aead`] | XChaCha20-Poly1305, AES-256-GCM | draft-irtf-cfrg-xchacha, SP 800-38D |
//! | [`kem`] | ML-KEM-1024 | FIPS 203 |
//! | [`curve`] | P-256, P-384, ristretto255: groups of prime order | RFC 9380, RFC 9496 |
//! | [`dh`] | X25519 | RFC 7748 |
//! | [`sign`] | Ed25519, ML-DSA-65, ML-DSA-87, blind RSA | RFC 8032, FIPS 204, RFC 9474 |
//! | [`sign::spki`] | keys of certificates: RSA, ECDSA P-256 and P-384, verified only | RFC 8017, FIPS 186-5 |
//!
//! The crate uses `aws-lc-rs` where that copies no secret key to memory that cannot be locked. It
//! calls the rest through `aws-lc-sys`, in one private module. Every failure is the same
//! [`Error`].
//!
//! ```
//! use sealstone_primitives::{aead::XChaCha20Poly1305, kdf, kem::ml_kem_1024::DecapsulationKey, rng, secret::Secret};
//!
//! let recipient = DecapsulationKey::from_seed(&Secret::random());
//! let (ciphertext, shared) = recipient.encapsulation_key().encapsulate();
//! let key = kdf::extract(b"", &[shared.expose(), ciphertext.as_bytes()]).expand_secret(&[b"file key"]);
//! let mut data = *b"text";
//! let tag = XChaCha20Poly1305::new(&key).seal_in_place(&rng::array(), b"", &mut data);
//! # let _ = tag;
//! ```
//!
//! A key of one kind is a type of its own:
//!
//! ```
//! # use sealstone_primitives::{dh::x25519, kem::ml_kem_1024, secret::Secret, sign::{ed25519, ml_dsa_65, ml_dsa_87}};
//! fn sign(key: &ed25519::SigningKey) -> [u8; 64] {
//!     key.sign(b"text")
//! }
//! sign(&ed25519::SigningKey::from_seed(&Secret::random()));
//! ```
//!
//! and none can be passed where another is meant:
//!
//! ```compile_fail,E0308
//! # use sealstone_primitives::{dh::x25519, kem::ml_kem_1024, secret::Secret, sign::{ed25519, ml_dsa_65, ml_dsa_87}};
//! # fn sign(key: &ed25519::SigningKey) -> [u8; 64] {
//! #     key.sign(b"text")
//! # }
//! sign(&ml_kem_1024::DecapsulationKey::from_seed(&Secret::random()));
//! ```
//! ```compile_fail,E0308
//! # use sealstone_primitives::{dh::x25519, kem::ml_kem_1024, secret::Secret, sign::{ed25519, ml_dsa_65, ml_dsa_87}};
//! # fn sign(key: &ed25519::SigningKey) -> [u8; 64] {
//! #     key.sign(b"text")
//! # }
//! sign(&x25519::PrivateKey::from_seed(Secret::random()));
//! ```
//! ```compile_fail,E0308
//! # use sealstone_primitives::{dh::x25519, kem::ml_kem_1024, secret::Secret, sign::{ed25519, ml_dsa_65, ml_dsa_87}};
//! # fn sign(key: &ml_dsa_65::SigningKey) -> bool {
//! #     key.sign(b"text", b"context").is_ok()
//! # }
//! sign(&ml_dsa_87::SigningKey::from_seed(&Secret::random()));
//! ```
#![allow(unsafe_code, reason = "calls into aws-lc, and locking of memory")]

mod error;
mod ffi;
mod pages;

pub use error::Error;

// Secrets and randomness.
pub mod ct;
pub mod rng;
pub mod secret;

// Symmetric.
pub mod aead;
pub mod hash;
pub mod kdf;
pub mod mac;

// Public-key.
pub mod curve;
pub mod dh;
pub mod kem;
pub mod sign;
