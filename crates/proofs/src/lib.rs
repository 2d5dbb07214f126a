//! Proves that the machine code of Sealstone's kernels computes what their specifications say, for
//! all inputs.
//!
//! `make prove` builds the command as it is shipped, reads the program file, and prints a table
//! with the verdict on every kernel in it. The proofs trust neither the compiler nor the linker.
//! They use no SAT or SMT solver, with two exceptions ([`lemma`]): which blocks Argon2 refers to,
//! and how BLAKE2b and Skein cut a part of a message into blocks. If a proof fails, a solver may
//! find an input that refutes it; a run on this input must confirm that.
//!
//! The documentation of the engine, [`sealstone_prover`], explains the proofs, the verdicts and the
//! trusted parts. This crate has the claims: specifications ([`spec`]), a row with a
//! contract for each kernel ([`catalog`]), and the check that no code is missing ([`coverage`]).
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
//! You trust the engine's trusted parts, and in addition the specifications ([`spec`]) and the
//! contracts ([`catalog`]). Tests compare the specifications with published vectors. Each distinct
//! instruction of the proofs runs on the CPU, and the result is compared with its model. This
//! comparison notices nearly every planted error in a model (`tests/models.rs`). A CPU without
//! AVX-512 compares all forms except those of AVX-512. Without AVX2, the command says that this is
//! not a proof. `tests/negative` and `tests/loops.rs` plant bugs. The prover must reject each.
//!
//! A separate check shows that no code is missing: [`coverage`] checks the whole program file, and
//! finds second copies of proved functions and other code of ours that looks like a kernel.
//!
//! The command also relies on code of others. A separate table ([`catalog::others`]) has the
//! verdicts on this code, and on functions of some crates as published. A list
//! ([`catalog::UNPROVED`]) has the functions of the same work that are not proved. The command
//! fails if a program has others.
//!
//! [`digest`] ties a proof to bytes: the command compares its own functions with the proved ones.
//! If a library has the same machine code as the command, the command's proof also holds for the
//! library ([`same_code`]).
//!
//! Not covered, in addition to the limits of the engine: drivers around the kernels, which are
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
