//! Passports, sealed files and the trust store.
//!
//! This crate does no input or output of its own: it works on byte slices, readers and writers that the caller brings, and asks for clocks and
//! storage through arguments and traits. The formats are specified in `spec/`.
//!
//! | a person wants to | types |
//! |---|---|
//! | have an identity, hand out its public half, back it up | [`passport`] |
//! | keep a file secret, and know who sealed it | [`mod@file`] |
//! | remember whom they trust | [`trust`] |
//! | sign a short text for everybody | [`statement`] |
#![forbid(unsafe_code)]

mod error;
mod kdf;
mod sign;
mod wire;

pub mod file;
pub mod passport;
pub mod statement;
pub mod trust;

pub use error::{Error, Result};
pub use kdf::{KdfLimits, KdfParams, KdfProgress, OnProgress, Passphrase, SILENT};

/// The examples of the project's README are compiled and run as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
