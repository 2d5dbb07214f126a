//! Proves that the machine code of Sealstone's kernels computes what their specifications say, for
//! all inputs.
//!
//! `make prove` builds the command as it is shipped, reads the program file, and prints a table
//! that says for every kernel in it PROVED or not. Nothing between the source and the file is
//! trusted: not the compiler, not the linker. No SAT or SMT solver is involved, but for what is no
//! question of bits: that Argon2 only refers to blocks that are there ([`lemma`]). Where a proof
//! fails, a solver may find the one input for which it does; a run on it must show that.
//!
//! # How, in one page
//!
//! A test runs a function on some numbers. Here, the function runs on *formulas*. Each bit of the
//! input is an unknown, x₀, x₁, …; each instruction makes new formulas from those that it finds.
//! `xor a, b` makes x₀ ⊕ y₀, x₁ ⊕ y₁, …; a rotation only renames bits; an addition makes a sum. At
//! the end, every bit of the output is a formula over the bits of the input. The specification,
//! written in Rust step by step as its RFC says it, runs on the same unknowns and gives formulas
//! too. If the formulas are the same, the code computes the specification, for all 2¹⁰²⁴ or more
//! inputs at once.
//!
//! Three things make that work.
//!
//! - **The same formula is the same number** ([`term`]). (a + b) + c and c + (b + a) are written
//!   differently, so every formula is brought into a normal form, and each normal form gets a
//!   number. Bits are sums of products modulo 2 (*algebraic normal form*: every Boolean function
//!   has exactly one; a or b is a ⊕ b ⊕ ab, and "if c then a else b" is b ⊕ ca ⊕ cb), sums of words
//!   are lists of bits with coefficients. Where a bit of a sum goes into an exclusive or, it is an
//!   unknown of its own there, named after the sum. Then to compare is to compare two numbers.
//! - **There is only one path** ([`exec`]). Kernels do not branch on their data. Where the CPU
//!   would decide by a value (a branch, an address, a shift count, a division, the length of a
//!   copy), the formula of that value must be a constant. If it is not, there is no proof, and the
//!   kernel leaks its input through its timing: both are found by the same check.
//! - **What is not known is not assumed.** Registers, flags and stack hold junk at the entry; no
//!   output may depend on it. Memory exists only where the [`contract`] says so. An instruction
//!   without a model ends the attempt.
//!
//! That is the first line of proof. The second, [`source`], runs the kernels' source instead of
//! their machine code.
//!
//! The machine code of a kernel depends on the level of optimisation and on the target. `make
//! prove-levels` gives programs built in other ways to the prover: opt-level 1, 2, 3 and s, for
//! x86-64, x86-64-v3 and x86-64-v4 (`scripts/prove-levels`).
//!
//! # What a verdict says
//!
//! | verdict | meaning |
//! |---|---|
//! | PROVED | for all inputs and all addresses: the output is what the specification says; no branch, address, shift count, division or string length depends on an input; no access outside the buffers, with the right to write, and the own stack; registers and stack pointer of the caller are kept, upper halves of vector registers are clean; and if the contract promises it, no byte that depends on an input stays on the stack or in a register |
//! | REFUTED | one of these is wrong; a wrong output comes with its input, a leak with two inputs for which the code decides differently. Both are reproduced by running the code itself, if this CPU can and what is decided by is in general-purpose registers (up to that instruction; registers and flags are filled with something else for each input) |
//! | UNPROVED | neither: two formulas differ, but no sample input tells them apart; or a loop does not follow its specification; or what decides is not known to be constant |
//! | UNSUPPORTED | an instruction, a relocation or a function that is not modelled, or a kernel that is not found |
//!
//! Addresses are symbolic: of each buffer, of the stack, of the program and of the place to return
//! to nothing is known but the alignment that the contract or the ABI promises, and that they are
//! separate. So a proof holds wherever memory is. A branch on an address ends it. Where callers may
//! pass one buffer twice, a contract of its own says so.
//!
//! The stack: every call has a stack pointer that is a multiple of 16; nothing is read that was
//! below the stack pointer and its red zone of 128 bytes once it was written; no access skips a
//! page of 4 KiB, so that the guard of a stack guards. The table says how deep each kernel goes.
//!
//! *Residue* counts the bytes that depend on the input and stay on the stack, in vector registers
//! and in general registers, where a kernel does not promise to wipe them.
//!
//! # What is trusted
//!
//! The decoder (`iced-x86`), the models of the instructions ([`exec`]), the rules of [`term`], the
//! specifications ([`spec`]), the contracts ([`catalog`]), the reading of the program file
//! ([`image`]), the descriptions of `memcpy`, `memmove` and `memset`, and rustc for the prover
//! itself. Each of them is checked by something else: all rules on all inputs of small words, and
//! on 64 random inputs wherever they are applied; specifications against published vectors; the
//! whole by native runs on the same random inputs, of every proved function whose instructions this
//! CPU has (the others are marked); every distinct instruction that can be executed alone (not
//! jumps, calls, `push`, `pop`, prefetching, repeated moves) by co-simulation with the CPU
//! ([`cosim`]), which notices nearly every way in which a model can be made wrong in one place.
//! A CPU without AVX-512 compares all forms but those of AVX-512; without AVX2, the command says
//! that this is no proof.
//! `tests/negative` and `tests/loops.rs` plant bugs, each of which must be rejected.
//!
//! That no code was left out is a check of its own: [`coverage`] walks the whole program file, and
//! finds second copies of proved functions and other code of ours that looks like a kernel.
//!
//! Kernels that hash a node of a tree go through its blocks in a loop of up to 64 turns. They are
//! proved as a whole, but one turn after the other, each from arbitrary words as the one before may
//! have left them: how, and why that is sound, is said in `prove/cut.rs`.
//!
//! A loop of any number of turns is proved by induction, if the state at its header can be read off
//! its first turn: `prove/induction.rs` says how. Skein's UBI is.
//!
//! The command also relies on code of others. What of it was tried, and with which verdict, is a
//! table of its own ([`catalog::others`]).
//!
//! [`digest`] ties a proof to bytes: the command compares its own functions with those proved.
//!
//! Not covered: what a CPU does beside its architecture (speculation, power, faults), other
//! architectures, multiplication of wide numbers from pieces, and drivers around the kernels, which
//! are ordinary safe Rust.
//!
//! # To prove another kernel
//!
//! Of your own program: the [`tutorial`] takes ten minutes. Of this project:
//!
//! Give it a function of its own that is never inlined, write down its specification in [`spec`],
//! and add a row to [`catalog`]. Call it in `sealstone_kernels::call_every_kernel`, so that `make
//! prove-levels` finds it. If the verdict is UNSUPPORTED, an instruction needs a model in [`exec`].
#![deny(unsafe_code)]

pub mod catalog;
pub mod contract;
pub mod cosim;
pub mod coverage;
pub mod digest;
pub mod exec;
pub mod features;
pub mod image;
pub mod lemma;
pub mod prove;
pub mod report;
pub mod source;
pub mod spec;
pub mod term;
pub mod usage;
pub mod verdict;

#[expect(unsafe_code, reason = "it runs machine code")]
mod native;

#[doc = include_str!("tutorial.md")]
pub mod tutorial {}
