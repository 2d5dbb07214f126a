//! The tree hash of sealed files: Skein-512 in tree mode, with parameters fixed by `spec/tree.md`.
//! The message is cut into pieces of 1 MiB. Each piece is a whole sub-tree, so any thread can hash
//! any piece; the root needs only one value of each. [`TreeHasher`] does everything on one thread.
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
mod level;
mod parallel;
mod proof;
mod root;
mod start;

pub use general::TreeSkein;
pub use kernel::hash_nodes;
pub use level::{Level, NodeNumber};
pub use proof::{Pieces, Proof};
pub use root::{Root, TreeHasher, hash};
pub use start::Start;

pub use crate::shape::Shape;
use crate::tweak::{Tweak, Type};
use crate::ubi::Ubi;
use core::fmt::{self, Debug, Formatter};
use kernel::Nodes;
use sealstone_lanes::{Cpu, Portable, Scalar};
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

/// Length of the hash, and of the value of a node, in bytes.
pub const HASH: usize = 64;
/// Length of a leaf in bytes: 2^6 blocks.
pub const LEAF: usize = 64 << LEAF_LOG;
/// The largest number of children of a node.
pub const FAN_OUT: usize = 1 << FAN_OUT_LOG;
/// Length of a piece in bytes: the leaves below one node of level 3.
pub const PIECE: usize = LEAF * FAN_OUT * FAN_OUT;

/// Y_l, Y_f and Y_m of Skein 1.3, section 3.5.6.
const LEAF_LOG: u32 = 6;
const FAN_OUT_LOG: u32 = 4;
const MAX_HEIGHT: u32 = 255;

/// The value of a node.
type Value = [u8; HASH];

/// The contribution of one piece to the root. Values of different pieces differ (they are hashes of
/// 512 bits). Wiped when dropped, and compared in constant time, because the tree may have a key.
#[derive(Clone)]
pub struct Subtree {
    /// The mark of its [`Start`].
    start: u64,
    index: u64,
    value: Value,
    /// Whether no piece can follow.
    last: bool,
}

impl Subtree {
    /// The contribution of piece `index` to the hash of sealed files, if the piece is whole and its
    /// value is known from elsewhere. The hash of the message shows whether the value is right.
    pub fn known(index: u64, value: [u8; HASH]) -> Self {
        Self {
            start: Start::new().mark,
            index,
            value,
            last: false,
        }
    }

    /// The value, which goes into the root.
    pub fn value(&self) -> &[u8; HASH] {
        &self.value
    }
}

/// Shows no value, because the tree may have a key.
impl Debug for Subtree {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subtree")
            .field("index", &self.index)
            .field("last", &self.last)
            .finish_non_exhaustive()
    }
}

impl PartialEq for Subtree {
    fn eq(&self, other: &Self) -> bool {
        let public = |tree: &Self| (tree.start, tree.index, tree.last);
        public(self) == public(other) && bool::from(self.value.ct_eq(&other.value))
    }
}

impl Eq for Subtree {}

impl Drop for Subtree {
    fn drop(&mut self) {
        self.value.zeroize();
    }
}

/// Hashes piece `index` (from 0) of a message: its bytes from `index · PIECE`.
///
/// All pieces but the last have `PIECE` bytes. The last has at most as many, and is empty only if
/// the message is.
///
/// # Panics
/// If `piece` is longer than [`PIECE`], or empty but not the first; if it does not end below byte
/// 2^64.
pub fn subtree(index: u64, piece: &[u8]) -> Subtree {
    Start::new().subtree(index, piece)
}

/// [`subtree`] on this instruction set, for tests and measurements.
///
/// # Panics
/// As [`subtree`].
pub fn subtree_on(cpu: Cpu, index: u64, piece: &[u8]) -> Subtree {
    Start::new().subtree_on(cpu, index, piece)
}

fn hash_piece(cpu: Cpu, start: &Start, index: u64, piece: &[u8]) -> Subtree {
    assert!(piece.len() <= PIECE, "a piece of {} bytes", piece.len());
    assert!(!piece.is_empty() || index == 0, "an empty piece");
    // Kernels count positions in 64 bits.
    let end = (index.checked_mul(PIECE as u64)).and_then(|at| at.checked_add(piece.len() as u64));
    assert!(end.is_some(), "piece {index} is beyond 2^64 bytes");

    let mut leaves = [[0; HASH]; FAN_OUT * FAN_OUT];
    let mut nodes = [[0; HASH]; FAN_OUT];
    let mut top = [[0; HASH]];
    let chain = &start.chain;
    let leaves =
        hash_level::<{ LEAF / 64 }>(cpu, chain, 1, index * PIECE as u64, piece, &mut leaves);
    let nodes = hash_level::<FAN_OUT>(
        cpu,
        chain,
        2,
        index * (PIECE / LEAF * HASH) as u64,
        leaves.as_flattened(),
        &mut nodes,
    );
    let top = hash_level::<FAN_OUT>(
        cpu,
        chain,
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
        start: start.mark,
        index,
        value,
        last: piece.len() < PIECE,
    }
}

/// Hashes a part of a level into nodes of `BLOCKS` blocks of 64 bytes, several at once on `cpu`,
/// and returns the filled part of `values`.
///
/// The nodes are of level `level` (leaves: 1). The first begins at byte `position` of the level,
/// and the last may be shorter. This is for measuring trees of other shapes; [`subtree`] hashes all
/// levels of the tree of `spec/tree.md`.
///
/// # Panics
/// If `values` has too few places.
pub fn hash_level<'a, const BLOCKS: usize>(
    cpu: Cpu,
    start: &[u64; 8],
    level: u8,
    position: u64,
    message: &[u8],
    values: &'a mut [Value],
) -> &'a [Value] {
    let (blocks, _) = message.as_chunks::<64>();
    let (nodes, _) = blocks.as_chunks::<BLOCKS>();
    let done = cpu.run(Nodes::new(start, (level, position), nodes, values));
    for (i, node) in nodes.iter().enumerate().skip(done) {
        let position = position + (i * BLOCKS * 64) as u64;
        values[i] = hash_node(start, level, position, node.as_flattened());
    }

    let (whole, rest) = message.split_at(nodes.len() * BLOCKS * 64);
    if rest.is_empty() && !whole.is_empty() {
        return &values[..nodes.len()];
    }
    values[nodes.len()] = hash_node(start, level, position + whole.len() as u64, rest);
    &values[..=nodes.len()]
}

/// Hashes one node of any length.
fn hash_node(start: &[u64; 8], level: u8, position: u64, message: &[u8]) -> Value {
    let tweak = Tweak::new(Type::Message).in_tree(level, position.into());
    let mut ubi = Ubi::with_tweak(Portable, *start, tweak);
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
    use sealstone_testing::skein as spec;

    /// The value of node `index · PIECE` of level 3, node by node.
    fn specified(start: &[u8], index: u64, piece: &[u8]) -> Vec<u8> {
        let level = |level: u128, at: u128, size: usize, bytes: &[u8]| -> Vec<u8> {
            let nodes = bytes.chunks(size).zip((at..).step_by(size));
            let tweak = (level << 112) + (spec::MSG << 120);
            nodes
                .flat_map(|(node, at)| spec::ubi(start, node, 8 * node.len(), tweak + at))
                .collect()
        };
        let index = u128::from(index);
        let leaves = level(1, index << 20, 4096, piece);
        let nodes = level(2, index << 14, 1024, &leaves);
        level(3, index << 10, 1024, &nodes)
    }

    #[test]
    fn a_known_value_stands_for_its_piece() {
        let message: Vec<u8> = (0..251).cycle().take(2 * PIECE + 5).collect();
        let mut root = Root::new();
        for (index, piece) in (0..).zip(message.chunks(PIECE)) {
            let tree = subtree(index, piece);
            root.push(match index {
                2 => tree,
                _ => Subtree::known(index, *tree.value()),
            });
        }
        assert_eq!(root.finish(), hash(&message));
    }

    /// Positions of 33 bits, of 64 bits, and the last position.
    #[test]
    fn pieces_far_into_a_message() {
        let start = spec::Skein {
            block: 64,
            output_bits: 512,
            tree: [6, 4, 255],
            ..Default::default()
        }
        .start();
        let message: Vec<u8> = (0..251).cycle().take(PIECE).collect();
        for (index, len) in [
            ((1 << 12) - 1, PIECE),
            (1 << 12, PIECE),
            ((1 << 12) + 1, 50_000),
            ((1 << 44) - 2, PIECE),
            ((1 << 44) - 1, PIECE - 1),
            ((1 << 44) - 1, 9 * LEAF),
        ] {
            let piece = &message[..len];
            let specified = specified(&start, index, piece);
            for cpu in Cpu::available() {
                let value = subtree_on(cpu, index, piece).value;
                assert_eq!(
                    value[..],
                    specified,
                    "piece {index}, {len} bytes on {cpu:?}"
                );
            }
        }
    }
}
