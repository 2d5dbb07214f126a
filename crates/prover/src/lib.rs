//! Proves that a function in a program file computes what its specification says, for all inputs.
//!
//! Nothing between the source and the file is trusted: not the compiler, not the linker. The
//! specification is Rust, written step by step as a standard says it. The [`tutorial`] proves a
//! function of your own in ten minutes, with the command `machine-proof`. No SAT or SMT solver is
//! involved in a proof. Where a proof fails, one may find the input for which it does; a run of the
//! function on it must show that.
//!
//! # How, in one page
//!
//! A test runs a function on some numbers. Here, the function runs on *formulas*. Each bit of the
//! input is an unknown, x₀, x₁, …; each instruction makes new formulas from those that it finds.
//! `xor a, b` makes x₀ ⊕ y₀, x₁ ⊕ y₁, …; a rotation only renames bits; an addition makes a sum. At
//! the end, every bit of the output is a formula over the bits of the input. The specification
//! runs on the same unknowns and gives formulas too. If the formulas are the same, the code
//! computes the specification, for all 2¹⁰²⁴ or more inputs at once.
//!
//! Three things make that work.
//!
//! - **The same formula is the same number** ([`term`]). (a + b) + c and c + (b + a) are written
//!   differently, so every formula is brought into a normal form, and each normal form gets a
//!   number. Bits are sums of products modulo 2 (*algebraic normal form*: every Boolean function
//!   has exactly one; a or b is a ⊕ b ⊕ ab, and "if c then a else b" is b ⊕ ca ⊕ cb), sums of words
//!   are lists of bits with coefficients. Where a bit of a sum goes into an exclusive or, it is an
//!   unknown of its own there, named after the sum. Then to compare is to compare two numbers.
//! - **There is only one path** ([`exec`]). Cryptographic code does not branch on its data. Where
//!   the CPU would decide by a value (a branch, an address, a shift count, a division, the length
//!   of a copy), the formula of that value must be a constant. If it is not, there is no proof, and
//!   the function leaks its input through its timing: both are found by the same check.
//! - **What is not known is not assumed.** Registers, flags and stack hold junk at the entry; no
//!   output may depend on it. Memory exists only where the [`contract`] says so. An instruction
//!   without a model ends the attempt.
//!
//! # What a verdict says
//!
//! | verdict | meaning |
//! |---|---|
//! | PROVED | for all inputs and all addresses: the output is what the specification says; no branch, address, shift count, division or string length depends on an input; no access outside the buffers, with the right to write, the arguments on the stack and the own stack; registers and stack pointer of the caller are kept, upper halves of vector registers are clean; and if the contract promises it, no byte that depends on an input stays on the stack or in a register |
//! | REFUTED | one of these is wrong; a wrong output comes with its input, a leak with two inputs for which the code decides differently. Both are reproduced by running the code itself, if this CPU can and what is decided by is in general-purpose registers (up to that instruction; registers and flags are filled with something else for each input) |
//! | UNPROVED | neither: two formulas differ, but no sample input tells them apart; or a loop does not follow its specification; or the prover does not see that a branch, an address and the like are the same for all inputs |
//! | UNSUPPORTED | an instruction, a relocation or a function that is not modelled, or a function that is not found |
//!
//! Addresses are symbolic. The prover assumes two things of the buffers, the stack, the program and
//! the return address: they have the alignment that the contract or the ABI promises, and they are
//! separate. So a proof holds wherever memory is. A branch on an address ends it. Where callers may
//! pass one buffer twice, a contract of its own says so.
//!
//! The stack: every call has a stack pointer that is a multiple of 16; nothing is read that was
//! below the stack pointer and its red zone of 128 bytes once it was written; no access skips a
//! page of 4 KiB, so that the guard of a stack guards. A [`Finding`](prove::Finding) says how deep
//! the function goes.
//!
//! *Residue* counts the bytes that depend on the input and stay on the stack, in vector registers
//! and in general registers, where a function does not promise to wipe them.
//!
//! # Loops
//!
//! A loop of a fixed number of turns is executed turn by turn. If the formulas become too many, it
//! is proved turn by turn, each from arbitrary words as the one before may have left them: how, and
//! why that is sound, is in [`Stepwise`](contract::Stepwise) with a worked example. A loop of any
//! number of turns is proved by induction, if its invariant can be read off its first turn
//! ([`Contract::repeats`](contract::Contract::repeats)). So is a loop that transforms data of any
//! length ([`Contract::stream`](contract::Contract::stream)).
//!
//! # Wide numbers
//!
//! A number of 130 bits is multiplied from products of 64-bit words, with shifts, masks and carries
//! between them. Bit by bit that is out of reach. So where a contract says so
//! ([`Contract::integers`](contract::Contract::integers)), sums keep their carries, and words are
//! integers: `low = x · y - 2^64 · high`, `sum = x + y - 2^64 · carry`. What the code computes less
//! what the specification says is a polynomial with integer unknowns. If all its coefficients are
//! multiples of the modulus, the two are congruent. Bounds show that dropped carries are zero. This
//! is done for one modulus, 2^130 - 5 of Poly1305 ([`Terms::settled`](term::Terms::settled)). It
//! shows the last reduction too, so that the tag is the same bit by bit.
//!
//! # What is trusted
//!
//! You trust these parts:
//!
//! - the decoder (`iced-x86`), and the reading of the program file ([`image`]);
//! - the models of the instructions ([`exec`]), and the rules of [`term`];
//! - the specification and the contract;
//! - the descriptions of `memcpy`, `memmove` and `memset`;
//! - rustc, which compiles the prover.
//!
//! Other checks look for mistakes in them. The rules are tested on all inputs of small words, and
//! watched on 64 random inputs wherever they are applied. The function itself runs on these inputs,
//! if this CPU has its instructions. Co-simulation compares models with the CPU ([`cosim`]), for
//! each instruction that can be executed alone: not for jumps, calls, `push`, `pop`, prefetching
//! and repeated moves. Comparing your specification with published vectors is yours to do.
//!
//! Not covered: what a CPU does beside its architecture (speculation, power, faults), other
//! architectures, and multiplication of wide numbers from pieces modulo another number.
//!
//! # Where to find what
//!
//! | module | what it holds |
//! |---|---|
//! | [`algebra`] | the arithmetic that specifications are written over |
//! | [`contract`] | what a function is given and must do |
//! | [`image`], [`features`] | the program file; the instructions of a processor |
//! | [`prove`], [`verdict`] | a proof, and what it says |
//! | [`command`] | the command's part that has the contract |
//! | [`term`] | formulas and their normal forms |
//! | [`exec`] | the machine that runs on formulas |
//! | [`cosim`] | its models, compared with this CPU |
//! | [`solver`] | a solver that looks for inputs |
#![deny(unsafe_code)]

mod aes;
pub mod algebra;
pub mod command;
pub mod contract;
pub mod cosim;
pub mod exec;
pub mod features;
mod hash;
pub mod image;
mod poly1305;
pub mod prove;
pub mod solver;
pub mod term;
pub mod verdict;

#[expect(unsafe_code, reason = "it runs machine code")]
mod native;

#[doc = include_str!("tutorial.md")]
pub mod tutorial {}
