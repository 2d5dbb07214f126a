//! Running machine code itself: to check the prover, and to reproduce what it refutes.
//!
//! This is the only place of the crate with `unsafe`. It maps the image at the addresses that the proof speaks of, and calls it.

mod mapping;

pub(crate) use mapping::Mapping;
