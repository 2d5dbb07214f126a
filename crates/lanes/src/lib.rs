//! 64-bit words, and several of them side by side, on every instruction set.
//!
//! Sealstone's kernels are written once, over the traits of this crate, and compiled for each
//! instruction set behind one dispatch point. This is the only crate of the project with SIMD
//! `unsafe`.
//!
//! | for | use |
//! |---|---|
//! | arithmetic on a word, or on many at once | [`Word`] |
//! | one word with its bytes | [`Scalar`] |
//! | N words side by side | [`Vector`] |
//! | N independent streams, one in each word | [`Lanes`] |
//! | rows of a matrix, whose words are permuted | [`Row`], [`RowPair`] |
//! | an address computed from a word | [`Index`] |
//! | a message in parts, cut into blocks | [`Part`] |
//! | a kernel | [`Kernel`], [`RowKernel`] |
//! | aligned memory, prefetched and wiped | [`Line`], [`Place`], [`wipe`], [`wipe_part`] |
//! | the instruction set that runs it | [`Cpu`] |
//!
//! ```
//! use sealstone_lanes::{Cpu, Kernel, Lanes, Vector, Word};
//!
//! /// The sum of 1 + 2 + … + 100, once in every lane.
//! struct Sum;
//! impl Kernel for Sum {
//!     type Output = Vec<u64>;
//!     #[inline(always)]
//!     fn run<const N: usize, L: Lanes<N, Lane = u64>>(self, cpu: L::Cpu) -> Vec<u64> {
//!         let mut sum = L::splat(cpu, 0);
//!         for i in 1..=100 {
//!             sum = sum.add(L::splat(cpu, i));
//!         }
//!         sum.to_array().to_vec()
//!     }
//! }
//! assert!(Cpu::best().run(Sum).iter().all(|&x| x == 5050));
//! ```
//!
//! # What a kernel cannot do
//!
//! [`Word`], [`Vector`], [`Lanes`] and [`Row`] have no comparison and no conversion to `usize`;
//! only [`Index`] has. So code that is generic over them and over their words can neither branch on
//! a value nor index by one: its timing does not depend on secrets. A back end of symbolic words
//! turns the same source into formulas, which are compared with a specification. [`Kernel::run`]
//! itself gets vectors whose words are `u64`, and could do anything with them. Our kernels only
//! pass them to generic code, and the proof of the machine code looks for branches and addresses
//! that depend on secrets.
//!
//! # Soundness
//!
//! A vector can be made only with a token of its instruction set ([`Word::splat`],
//! [`Vector::load`], …), and only detection makes a token ([`Cpu::best`], [`Cpu::available`]). So
//! code that has a vector may use the instruction set.
#![allow(unsafe_code, reason = "loads, stores and intrinsics of SIMD")]
#![cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    forbid(unsafe_code)
)]
#![cfg_attr(not(feature = "std"), no_std)]

// NEON numbers the words of a register in the opposite order there, which is not tested.
#[cfg(all(target_arch = "aarch64", target_endian = "big"))]
compile_error!("aarch64 is supported with little-endian byte order only");

mod cpu;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod detect;
mod memory;
mod part;
mod portable;
mod word;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod both;
#[cfg(target_arch = "aarch64")]
mod neon;

pub use cpu::{Cpu, Kernel, RowKernel};
pub use memory::{Line, Place, wipe, wipe_part};
pub use part::{Absorb, Blocks, Cut, Part};
pub use portable::Portable;
pub use word::{Column, Index, Lanes, Row, RowPair, Scalar, Vector, Word};

#[cfg(target_arch = "aarch64")]
pub use neon::{Neon, U64x2};
#[cfg(target_arch = "x86_64")]
pub use {
    avx2::{Avx2, U64x4},
    avx512::{Avx512, Row4, U64x8},
    both::Both,
};
