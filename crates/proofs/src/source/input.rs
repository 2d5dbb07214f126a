//! The unknowns of a proof.

use sealstone_prover::term::Bit;

/// An unknown of a proof: its name and its bits.
#[derive(Clone)]
pub(super) struct Input {
    pub(super) name: String,
    pub(super) bits: Vec<Bit>,
}
