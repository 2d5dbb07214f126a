//! Passports, sealed files and the trust store.
//!
//! This crate does no input or output of its own: it works on byte slices, readers and writers of
//! the caller, and asks for times and storage through arguments and traits. It reads the clock for
//! one purpose: to make the keys of sealed files differ. `spec/` specifies the formats.
//!
//! | a person wants to | types |
//! |---|---|
//! | have an identity, hand out its public half, back it up | [`passport`] |
//! | keep a file secret, and know who sealed it | [`mod@file`] |
//! | keep a directory secret in one file | [`archive`] |
//! | unlock a passport once for many files | [`agent`] |
//! | remember whom they trust | [`trust`] |
//! | publish files that nobody can alter | [`package`] |
//! | limit when and how often a key signs | [`lifecycle`] |
//! | notice that signing changed | [`monitor`] |
//! | sign a short text for everybody | [`statement`] |
//! | show when data existed | [`timestamp`] |
//! | know that this build computes correctly here | [`selftest`] |
//!
//! Alice seals for Bob, and Bob knows that it was her:
//!
//! ```
//! use sealstone::file::{Keys, Sealed, Sealer, Workers};
//! use sealstone::passport::Passport;
//!
//! let created = 1_795_000_000; // seconds since 1970
//! let (alice, bob) = (Passport::generate("Alice", created)?, Passport::generate("Bob", created)?);
//!
//! let mut sealed = Vec::new(); // any writer; the input is any reader
//! let mut sealer = Sealer::new();
//! sealer.to_passport(bob.contact()).signed_by(&alice);
//! sealer.seal(&b"attack at dawn"[..], &mut sealed, Workers::default())?;
//!
//! let mut content = Vec::new();
//! let opening = Sealed::read(&sealed[..])?.unlock(&Keys::new(&[&bob], &[]))?;
//! opening.open_signed(alice.contact(), &mut content, Workers::default())?;
//! assert_eq!(content, b"attack at dawn");
//! # Ok::<(), sealstone::Error>(())
//! ```
#![forbid(unsafe_code)]

mod error;
mod kdf;
mod kind;
mod sign;
mod wire;

pub mod agent;
pub mod archive;
pub mod file;
pub mod lifecycle;
pub mod monitor;
pub mod package;
pub mod passport;
pub mod selftest;
pub mod statement;
pub mod timestamp;
pub mod trust;

pub use error::{Error, Result};
pub use kdf::{
    KdfLimits, KdfParams, KdfProgress, KdfWatcher, MemorySize, NO_PROGRESS, OnProgress, Passphrase,
};
pub use kind::Kind;
