//! Argon2's fill loop with bugs in the arguments of kernels.

use super::super::fill::{Fault, every_reference};
use super::refuted;

#[test]
fn wrong_blocks_indices_and_counters() {
    assert!(every_reference(Fault::None, 3, 3).holds());
    for (fault, what) in [
        (Fault::Swapped, "the block before"),
        (Fault::Index, "the reference"),
        (Fault::Replaced, "added"),
        (Fault::LeftOut, "the block before"),
        (Fault::Counter, "the reference"),
        (Fault::Lane, "the reference"),
    ] {
        let refuted = refuted(every_reference(fault, 3, 3));
        assert!(
            refuted.inputs[0].0.starts_with(what),
            "{fault:?}: {refuted}"
        );
    }
}
