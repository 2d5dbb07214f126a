//! Running machine code itself: to check the prover, and to reproduce what it refutes.
//!
//! This is the only place of the crate with `unsafe`: [`Mapping`] calls whole functions by
//! [`caller`], [`Bench`] runs single instructions.

mod bench;
mod caller;
mod mapping;

pub(crate) use bench::{Bench, SCRATCH, State, Width};
pub(crate) use caller::{Entry, ON_STACK, Reached, Until};
pub(crate) use mapping::Mapping;
