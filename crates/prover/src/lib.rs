//! Proves that a function in a program file computes what its specification says, for all inputs.
//!
//! It does not trust the compiler or the linker that built the program. The specification is Rust,
//! written step by step like the standard. The [`tutorial`] shows how to prove your own function in
//! ten minutes, with the command `machine-proof`. A proof needs no SAT or SMT solver. If a proof
//! fails, a solver may find an input that refutes it; a run of the function on this input must
//! confirm that.
//!
//! # How, in one page
//!
//! A test runs a function on some numbers. Here, the function runs on *formulas*. Each bit of the
//! input is an unknown, x₀, x₁, …; each instruction makes new formulas from its operands.
//! `xor a, b` makes x₀ ⊕ y₀, x₁ ⊕ y₁, …; a rotation only renames bits; an addition makes a sum. At
//! the end, every bit of the output is a formula over the bits of the input. The specification
//! runs on the same unknowns and gives formulas too. If the formulas are the same, the code
//! computes the specification, for all inputs at once.
//!
//! Three things make that work.
//!
//! - **The same formula is the same number** ([`term`]). (a + b) + c and c + (b + a) are written
//!   differently, so every formula is brought into a normal form, and each normal form gets a
//!   number. Bits are sums of products modulo 2 (*algebraic normal form*: every Boolean function
//!   has exactly one; a or b is a ⊕ b ⊕ ab, and "if c then a else b" is b ⊕ ca ⊕ cb), sums of words
//!   are lists of bits with coefficients. A bit of a sum in an exclusive or is a new unknown, named
//!   after the sum. Then the prover compares formulas by comparing two numbers.
//! - **There is only one path** ([`exec`]). Cryptographic code does not branch on its data. If the
//!   CPU would decide by a value (a branch, an address, a shift count, a division, the length of a
//!   copy), the formula of that value must be a constant. If it is not, there is no proof, and the
//!   function leaks its input through its timing. One check finds both.
//! - **The prover assumes nothing unknown.** Registers, flags and stack hold junk at the entry; no
//!   output may depend on it. Memory exists only where the [`contract`] declares it. An instruction
//!   without a model ends the attempt.
//!
//! # Verdicts
//!
//! | verdict | meaning |
//! |---|---|
//! | PROVED | all points of the list below hold, for all inputs and for every place of memory |
//! | REFUTED | one of these points does not hold |
//! | UNPROVED | neither: two formulas differ, but no sample input tells them apart; or a loop does not follow its specification; or the prover does not see that a branch, an address and the like are the same for all inputs |
//! | UNSUPPORTED | an instruction, a relocation or a function that is not modelled, or a function that is not found; or the specification gives other words than the contract has |
//!
//! PROVED says:
//!
//! - The function returns, and the output is what the specification says.
//! - No branch, address, shift count, division or string length depends on an input. There are two
//!   exceptions. If the contract allows it ([`Contract::by_data`](contract::Contract::by_data)), a
//!   division and the address of a prefetch may depend on an input. In a proof for any number of
//!   elements or data of any length, all of these may depend on this number or length.
//! - The function accesses nothing but the buffers, with the rights that the contract gives; its
//!   arguments on the stack; its own stack; and constants of the program.
//! - The stack pointer, and the registers that belong to the caller, are as they were.
//! - The upper halves of vector registers are not in use at the return, unless the contract allows
//!   that ([`Contract::leaves_upper_halves`](contract::Contract::leaves_upper_halves)).
//! - If the contract promises it ([`Contract::wipes`](contract::Contract::wipes)), no byte that
//!   depends on an input stays on the stack or in a register.
//!
//! A wrong output comes with its input. A leak comes with two inputs for which the code decides
//! differently. Runs of the code itself reproduce a wrong output, if this CPU has its instructions.
//! They reproduce a leak too, if general-purpose registers decide. Such a run ends at the
//! instruction that decides. Each run begins with other content in registers and flags.
//!
//! Addresses are symbolic. The prover assumes this of the buffers, the stack, the program and the
//! return address:
//!
//! - They have the alignment that the contract or the ABI promises.
//! - They are separate. If callers may pass one buffer twice, this case needs its own contract
//!   ([`Contract::with_same`](contract::Contract::with_same)).
//! - No byte of a buffer or of the stack has the address zero. The prover uses this where code
//!   compares such an address with zero.
//! - No buffer contains the last byte of the address space. The prover uses this where code
//!   compares two addresses in a buffer, or at its end: they are in the order of their distances
//!   from its start.
//! - In a proof for any number or length, the data of a stream has at most 2^62 bytes, and elements
//!   have at most 2^63 bytes. No memory is larger.
//!
//! So a proof holds for every place of memory of which this is true. A branch on anything else
//! about an address ends the attempt.
//!
//! The stack: the stack pointer is a multiple of 16 at every call. The function reads no byte that
//! was below the stack pointer and its red zone of 128 bytes since its last write. No access skips
//! a page of 4 KiB, so none skips the guard page of a stack. A [`Finding`](prove::Finding) has the
//! depth of the function's stack.
//!
//! *Residue* counts the bytes that depend on the input and stay on the stack, in vector registers
//! and in general registers, where a function does not promise to wipe them.
//!
//! # Loops
//!
//! The machine executes a loop with a fixed number of iterations one by one. If the formulas become
//! too many, the prover proves each iteration from arbitrary words of the iteration before.
//! [`Stepwise`](contract::Stepwise) has the method with a worked example. The prover proves a loop
//! of any number of iterations by induction, if it finds the invariant in the first iteration
//! ([`Contract::repeats`](contract::Contract::repeats)); and in the same way a loop that transforms
//! data of any length ([`Contract::stream`](contract::Contract::stream)). For elements that a
//! function takes in groups, with a loop in each group, the induction is on the groups
//! ([`Contract::in_groups`](contract::Contract::in_groups)).
//!
//! A failed proof by induction refutes nothing. A session with a solver then tries a few elements
//! or lengths. If one of these is refuted, the verdict is REFUTED and says the number.
//!
//! # Wide numbers
//!
//! A number of 130 bits is multiplied from products of 64-bit words, with shifts, masks and carries
//! between them. A proof bit by bit would take too long. So if a contract asks for it
//! ([`Contract::integers`](contract::Contract::integers)), sums keep their carries, and words are
//! integers: `low = x · y - 2^64 · high`, `sum = x + y - 2^64 · carry`. The difference of code and
//! specification is a polynomial with integer unknowns. If all its coefficients are multiples of
//! the modulus, the two are congruent. Bounds show that dropped carries are zero. This is done for
//! one modulus, 2^130 - 5 of Poly1305 ([`Terms::settled`](term::Terms::settled)). It shows the last
//! reduction too, so that the tag is the same bit by bit.
//!
//! # What is trusted
//!
//! You trust these parts:
//!
//! - the decoder (`iced-x86`), and the reading of the program file ([`image`]);
//! - the models of the instructions ([`exec`]), and the rules of [`term`];
//! - the comparison of code and specification, the places of memory, the cuts and the inductions
//!   ([`prove`]);
//! - the arithmetic of specifications on formulas ([`algebra`]);
//! - the list of the instructions that a processor has ([`features`]);
//! - the specification and the contract;
//! - the descriptions of `memcpy`, `memmove` and `memset`;
//! - the command, which compiles the contract, finds the function and prints the verdict;
//! - rustc and the crates in `Cargo.lock`, as far as they build the prover.
//!
//! Other checks look for mistakes in them:
//!
//! - The rules are tested on all inputs of small words, and watched on 64 random inputs wherever
//!   they are applied.
//! - Under a contract with fixed lengths, the function itself also runs on these inputs, if this
//!   CPU has its instructions.
//! - Co-simulation compares models with the CPU ([`cosim`]), for each instruction that can be
//!   executed alone: not for jumps, calls, `push`, `pop`, prefetching, repeated moves, and `lea` of
//!   an address relative to `rip`. `machine-proof` does not do this. `make prove` does, for the
//!   instructions of the functions that it proves.
//! - You must compare your specification with published vectors yourself.
//!
//! Not covered: effects of a CPU outside its architecture (speculation, power, faults), other
//! architectures, and multiplication of wide numbers from pieces modulo another number.
//!
//! # Modules
//!
//! | module | content |
//! |---|---|
//! | [`algebra`] | the arithmetic that specifications are written over |
//! | [`contract`] | what a function may assume and must guarantee |
//! | [`image`], [`features`] | the program file; the instructions of a processor |
//! | [`prove`], [`verdict`] | a proof and its verdict |
//! | [`command`] | the part of the command that runs the proof |
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
