//! The start of a tree's nodes: everything that the hash depends on beside the message.

use super::{FAN_OUT_LOG, LEAF_LOG, MAX_HEIGHT, Shape, Subtree, hash_piece};
use crate::output::output_block;
use crate::parameters::Parameters;
use core::fmt::{Debug, Formatter, Result};
use sealstone_lanes::{Cpu, Portable};
use zeroize::Zeroize;

/// The tree of `spec/tree.md`, with or without parameters. Wiped when dropped.
///
/// ```
/// use sealstone_skein::Parameters;
/// use sealstone_skein::tree::{PIECE, Start};
///
/// let message = vec![7; 2 * PIECE];
/// let start = Start::with(&Parameters::new().key(b"a secret of 32 bytes or more, say"));
/// let mut root = start.root();
/// for (index, piece) in (0..).zip(message.chunks(PIECE)) {
///     root.push(start.subtree(index, piece)); // `subtree` on any thread, `push` in order
/// }
/// let mut tag = [0; 64];
/// root.output().read(&mut tag);
/// ```
#[derive(Clone)]
pub struct Start {
    pub(super) chain: [u64; 8],
    /// Identifies the start without revealing anything about it.
    pub(super) mark: u64,
    pub(super) output_bits: u64,
}

/// UBI of the configuration block, for a tree without further parameters.
const CONFIGURATION: [u64; 8] = [
    0x008f_0940_c7bd_9a6b,
    0xef1a_7e8b_fef4_e398,
    0x6c1f_8b9c_211f_9d75,
    0x9f20_64d1_5d6c_b64f,
    0xc40c_2ce4_127a_6fff,
    0x8e9b_09e8_4d8e_d732,
    0x6f8e_192f_2506_5676,
    0x1af5_ea9f_2a8d_a4f4,
];
const CONFIGURATION_MARK: u64 = 0x39ab_155d_c60f_1d74;

impl Start {
    /// The start of the hash of sealed files.
    pub const fn new() -> Self {
        Self {
            chain: CONFIGURATION,
            mark: CONFIGURATION_MARK,
            output_bits: 512,
        }
    }

    /// A start with a key, another length, or other arguments.
    pub fn with(parameters: &Parameters<'_>) -> Self {
        let chain = parameters.start(Portable, Some(SHAPE));
        Self {
            chain,
            mark: mark(&chain),
            output_bits: parameters.bits::<8>(),
        }
    }

    /// Hashes piece `index` (from 0) of a message: see [`subtree`](super::subtree).
    ///
    /// # Panics
    /// As [`subtree`](super::subtree).
    pub fn subtree(&self, index: u64, piece: &[u8]) -> Subtree {
        self.subtree_on(Cpu::best(), index, piece)
    }

    /// [`Start::subtree`] on a given instruction set.
    ///
    /// # Panics
    /// As [`subtree`](super::subtree).
    pub fn subtree_on(&self, cpu: Cpu, index: u64, piece: &[u8]) -> Subtree {
        hash_piece(cpu, self, index, piece)
    }
}

/// A word of a hash of the empty message. Like any hash, it reveals nothing about the start.
fn mark(chain: &[u64; 8]) -> u64 {
    output_block(Portable, chain, u64::MAX)[0]
}

const SHAPE: Shape = Shape::new(LEAF_LOG as u8, FAN_OUT_LOG as u8, MAX_HEIGHT as u8)
    .expect("a shape that is allowed");

impl Default for Start {
    fn default() -> Self {
        Self::new()
    }
}

/// Shows no value, since anyone who has the start can use the key.
impl Debug for Start {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("Start").finish_non_exhaustive()
    }
}

impl Drop for Start {
    fn drop(&mut self) {
        self.chain.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_is_that_of_the_specification() {
        let recomputed = Start::with(&Parameters::new());
        assert_eq!(recomputed.chain, CONFIGURATION);
        assert_eq!(recomputed.mark, CONFIGURATION_MARK);
        assert_eq!(recomputed.output_bits, Start::new().output_bits);
    }
}
