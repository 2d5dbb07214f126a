//! The tree hash of sealed files: Skein-512 in tree mode, with parameters fixed by `spec/tree.md`.
//!
//! The message is cut into pieces of 1 MiB. Each is a whole sub-tree, so any thread can hash any piece; the root needs only one
//! value from each. [`TreeHasher`] does it all in one place.
//!
//! ```
//! use sealstone_skein::tree::{self, PIECE, Root, TreeHasher};
//!
//! let message = vec![7; 3 * PIECE + 1000];
//!
//! let mut hasher = TreeHasher::new();
//! hasher.update(&message);
//!
//! let mut root = Root::new();
//! for (index, piece) in (0..).zip(message.chunks(PIECE)) {
//!     root.push(tree::subtree(index, piece)); // `subtree` on any thread, `push` in order
//! }
//! assert_eq!(root.finish(), hasher.finish());
//! ```

mod general;
mod kernel;
mod proof;
mod root;
mod shape;

pub use general::TreeSkein;
pub use proof::{Pieces, Proof};
pub use root::{Root, TreeHasher, hash};
pub use shape::Shape;

use crate::tweak::{Tweak, Type};
use crate::ubi::Ubi;
use kernel::Nodes;
use sealstone_lanes::{Cpu, Portable, Scalar};

/// Length of the hash, and of the value of a node, in bytes.
pub const HASH: usize = 64;
/// Length of a leaf in bytes: 2^6 blocks.
pub const LEAF: usize = 64 << LEAF_LOG;
/// Most children of a node.
pub const FAN_OUT: usize = 1 << FAN_OUT_LOG;
/// Length of a piece in bytes: the leaves below one node of level 3.
pub const PIECE: usize = LEAF * FAN_OUT * FAN_OUT;

/// Y_l, Y_f and Y_m of Skein 1.3, section 3.5.6.
const LEAF_LOG: u32 = 6;
const FAN_OUT_LOG: u32 = 4;
#[cfg(test)]
const MAX_HEIGHT: u32 = 255;

/// UBI of the configuration block: where every node starts.
const START: [u64; 8] = [
    0x008f_0940_c7bd_9a6b,
    0xef1a_7e8b_fef4_e398,
    0x6c1f_8b9c_211f_9d75,
    0x9f20_64d1_5d6c_b64f,
    0xc40c_2ce4_127a_6fff,
    0x8e9b_09e8_4d8e_d732,
    0x6f8e_192f_2506_5676,
    0x1af5_ea9f_2a8d_a4f4,
];

/// The value of a node.
type Value = [u8; HASH];

/// What one piece contributes to the root. Equal for equal pieces only (it is a hash of 512 bits).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subtree {
    index: u64,
    value: Value,
    /// No piece can follow.
    last: bool,
}

/// Hashes piece `index` (from 0) of a message: its bytes from `index · PIECE`.
///
/// All pieces but the last are `PIECE` bytes; the last is shorter or equal, and empty only if the message is.
///
/// # Panics
/// If `piece` is longer than [`PIECE`], or empty though not the first; if `index` is 2^44 or more, beyond 2^64 bytes.
pub fn subtree(index: u64, piece: &[u8]) -> Subtree {
    subtree_on(Cpu::best(), index, piece)
}

/// [`subtree`] on a given instruction set, for tests and measurements.
///
/// # Panics
/// As [`subtree`].
pub fn subtree_on(cpu: Cpu, index: u64, piece: &[u8]) -> Subtree {
    assert!(piece.len() <= PIECE, "a piece of {} bytes", piece.len());
    assert!(!piece.is_empty() || index == 0, "an empty piece");
    assert!(index < 1 << 44, "piece {index} is beyond 2^64 bytes");

    let mut leaves = [[0; HASH]; FAN_OUT * FAN_OUT];
    let mut nodes = [[0; HASH]; FAN_OUT];
    let mut top = [[0; HASH]];
    let leaves = hash_level::<{ LEAF / 64 }>(cpu, 1, index * PIECE as u64, piece, &mut leaves);
    let nodes = hash_level::<FAN_OUT>(
        cpu,
        2,
        index * (PIECE / LEAF * HASH) as u64,
        leaves.as_flattened(),
        &mut nodes,
    );
    let top = hash_level::<FAN_OUT>(
        cpu,
        3,
        index * (FAN_OUT * HASH) as u64,
        nodes.as_flattened(),
        &mut top,
    );

    // A message of one piece ends at the first level with a single node.
    let value = match (leaves, nodes, top) {
        ([leaf], _, _) if index == 0 => *leaf,
        (_, [node], _) if index == 0 => *node,
        (_, _, top) => top[0],
    };
    Subtree {
        index,
        value,
        last: piece.len() < PIECE,
    }
}

/// Hashes a part of level `level - 1` into nodes of `BLOCKS` blocks, the first of which begins at byte `position` of its level.
/// Gives the filled part of `values`.
fn hash_level<'a, const BLOCKS: usize>(
    cpu: Cpu,
    level: u8,
    position: u64,
    message: &[u8],
    values: &'a mut [Value],
) -> &'a [Value] {
    let (blocks, _) = message.as_chunks::<64>();
    let (nodes, _) = blocks.as_chunks::<BLOCKS>();
    let done = cpu.run(Nodes {
        start: &START,
        level,
        position,
        nodes,
        values: &mut values[..nodes.len()],
    });
    for (i, node) in nodes.iter().enumerate().skip(done) {
        values[i] = hash_node(
            level,
            position + (i * BLOCKS * 64) as u64,
            node.as_flattened(),
        );
    }

    let (whole, rest) = message.split_at(nodes.len() * BLOCKS * 64);
    if rest.is_empty() && !whole.is_empty() {
        return &values[..nodes.len()];
    }
    values[nodes.len()] = hash_node(level, position + whole.len() as u64, rest);
    &values[..=nodes.len()]
}

/// Hashes one node of any length.
fn hash_node(level: u8, position: u64, message: &[u8]) -> Value {
    let tweak = Tweak::new(Type::Message).in_tree(level, position.into());
    let mut ubi = Ubi::with_tweak(Portable, START, tweak);
    ubi.update(message);
    to_bytes(ubi.finish())
}

fn to_bytes(words: [u64; 8]) -> Value {
    let mut bytes = [0; HASH];
    for (to, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(words) {
        *to = Scalar::to_le_bytes(word);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_starts_from_the_configuration() {
        let mut config = [0; 32];
        config[..4].copy_from_slice(b"SHA3");
        config[4] = 1;
        config[8..16].copy_from_slice(&(8 * HASH as u64).to_le_bytes());
        config[16..19].copy_from_slice(&[LEAF_LOG, FAN_OUT_LOG, MAX_HEIGHT].map(|y| y as u8));
        let mut ubi = Ubi::<u64, 8>::new(Portable, [0; 8], Type::Config);
        ubi.update(&config);
        assert_eq!(ubi.finish(), START);
    }
}
