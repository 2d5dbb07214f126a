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
//! | limit when and how often a key signs | [`life`] |
//! | notice that signing changed | [`monitor`] |
//! | sign a short text for everybody | [`statement`] |
//! | show when data existed | [`timestamp`] |
//! | know that this build computes correctly here | [`selftest`] |
#![forbid(unsafe_code)]

mod error;
mod kdf;
mod kind;
mod sign;
mod wire;

pub mod agent;
pub mod archive;
pub mod file;
pub mod life;
pub mod monitor;
pub mod package;
pub mod passport;
pub mod selftest;
pub mod statement;
pub mod timestamp;
pub mod trust;

pub use error::{Error, Result};
pub use kdf::{KdfLimits, KdfParams, KdfProgress, OnProgress, Passphrase, SILENT};
pub use kind::Kind;

/// The examples of the project's README are compiled and run as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
