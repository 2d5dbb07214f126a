//! Running machine code itself: to check the prover, and to reproduce what it refutes.
//!
//! This is the only place of the crate with `unsafe`: [`Mapping`] calls whole functions, [`Bench`] runs single instructions.

mod bench;
mod mapping;

pub(crate) use bench::{Bench, SCRATCH, State};
pub(crate) use mapping::Mapping;
