//! Proves that the machine code of Sealstone's kernels computes what their specifications say, for
//! all inputs.
//!
//! `make prove` builds the command as it is shipped, reads the program file, and prints a table
//! that says for every kernel in it PROVED or not. Nothing between the source and the file is
//! trusted: not the compiler, not the linker. No SAT or SMT solver is used, except to show that
//! Argon2 refers only to blocks that are there ([`lemma`]). Where a proof fails, a solver may find
//! the one input for which it does; a run on it must show that.
//!
//! How a proof works, what a verdict says and what is trusted, is in the documentation of the
//! engine, [`sealstone_prover`]. This crate has the claims: specifications ([`spec`]), a row with a
//! contract for each kernel ([`catalog`]), and the check that no code was left out ([`coverage`]).
//!
//! That is the first line of proof. The second, [`source`], runs the kernels' source instead of
//! their machine code.
//!
//! The machine code of a kernel depends on the level of optimisation and on the target. `make
//! prove-levels` gives programs built in other ways to the prover: opt-level 1, 2, 3 and s, for
//! x86-64, x86-64-v3 and x86-64-v4 (`cargo xtask levels`).
//!
//! # What is trusted
//!
//! What the engine trusts, and in addition the specifications ([`spec`]) and the contracts
//! ([`catalog`]). Specifications are checked against published vectors. Each distinct instruction
//! that the proofs meet runs on the CPU, and the result is compared with its model. This comparison
//! notices nearly every model that is made wrong in one place (`tests/models.rs`). A CPU without
//! AVX-512 compares all forms but those of AVX-512. Without AVX2, the command says that this is not
//! a proof. `tests/negative` and `tests/loops.rs` plant bugs. Each of them must be rejected.
//!
//! That no code was left out is a check of its own: [`coverage`] walks the whole program file, and
//! finds second copies of proved functions and other code of ours that looks like a kernel.
//!
//! The command also relies on code of others. A table of its own ([`catalog::others`]) says what of
//! it was tried, and with which verdict, with functions of some crates as they are published.
//!
//! [`digest`] ties a proof to bytes: the command compares its own functions with those proved.
//! Where a library has the same machine code as the command, the command's proof is the library's
//! too, and [`same_code`] says why.
//!
//! Not covered, beside what the engine does not cover: drivers around the kernels, which are
//! ordinary safe Rust.
//!
//! # To prove another kernel of this project
//!
//! Give it a function of its own that is never inlined, write down its specification in [`spec`],
//! and add a row to [`catalog`]. Call it in `call_every_kernel`, so that `make prove-levels` finds
//! it. If the verdict is UNSUPPORTED, an instruction needs a model in [`sealstone_prover::exec`].
#![forbid(unsafe_code)]

pub mod catalog;
pub mod coverage;
pub mod digest;
pub mod lemma;
pub mod report;
pub mod same_code;
pub mod source;
pub mod spec;
pub mod usage;
