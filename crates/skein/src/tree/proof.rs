//! Proofs that a piece belongs to a message. They check a part without reading the rest.

use super::root::{output, value_of_level};
use super::{FAN_OUT, HASH, PIECE, Root, Start, Subtree, Value, subtree};
use core::fmt::{self, Debug, Formatter};
use subtle::ConstantTimeEq;

/// The values of all pieces of a message: 64 bytes for each MiB. Makes proofs.
///
/// ```
/// use sealstone_skein::tree::{self, PIECE, Pieces};
///
/// let message = vec![7; 20 * PIECE + 1000];
/// let mut pieces = Pieces::new();
/// for (index, piece) in (0..).zip(message.chunks(PIECE)) {
///     pieces.push(tree::subtree(index, piece));
/// }
/// let proof = pieces.prove(20).unwrap();
/// assert!(proof.verify(&tree::hash(&message), message.len() as u64, 20, &message[20 * PIECE..]));
/// ```
#[derive(Clone, Default)]
pub struct Pieces {
    root: Root,
    values: Vec<Value>,
}

/// Shows no value.
impl Debug for Pieces {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pieces")
            .field("len", &self.values.len())
            .finish_non_exhaustive()
    }
}

impl Pieces {
    /// Without any piece.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next piece.
    ///
    /// # Panics
    /// As [`Root::push`].
    pub fn push(&mut self, piece: Subtree) {
        let value = piece.value;
        self.root.push(piece);
        self.values.push(value);
    }

    /// The hash of the pieces so far. More pieces can be added.
    pub fn hash(&self) -> [u8; HASH] {
        self.root.clone().finish()
    }

    /// The proof for piece `index`, if there is one.
    pub fn prove(&self, index: u64) -> Option<Proof> {
        let mut at = usize::try_from(index)
            .ok()
            .filter(|&at| at < self.values.len())?;
        let start = Start::new();
        let mut siblings = Vec::new();
        let mut level = self.values.clone();
        for above in 1.. {
            if level.len() == 1 {
                break;
            }
            let node = at / FAN_OUT * FAN_OUT;
            let children = &level[node..level.len().min(node + FAN_OUT)];
            siblings.extend(
                children
                    .iter()
                    .enumerate()
                    .filter(|(i, _)| node + i != at)
                    .map(|(_, value)| value),
            );
            level = level
                .chunks(FAN_OUT)
                .zip(0..)
                .map(|(node, i)| value_of_level(&start.chain, above, i, node))
                .collect();
            at /= FAN_OUT;
        }
        Some(Proof { siblings })
    }
}

/// The values that a verifier needs beside the piece: its siblings, the siblings of its parent, and
/// so on up to the root, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    siblings: Vec<Value>,
}

impl Proof {
    /// The values, one after the other.
    pub fn as_bytes(&self) -> &[u8] {
        self.siblings.as_flattened()
    }

    /// The inverse of [`Proof::as_bytes`]. None if the length is not a multiple of a value's
    /// length.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (values, rest) = bytes.as_chunks();
        rest.is_empty().then(|| Self {
            siblings: values.to_vec(),
        })
    }

    /// Whether `piece` is piece `index` of a message of `length` bytes with this hash.
    ///
    /// The length must come from the source of the hash: a proof shows the position of the piece,
    /// not the end of the message.
    #[must_use]
    pub fn verify(&self, hash: &[u8; HASH], length: u64, index: u64, piece: &[u8]) -> bool {
        self.root(length, index, piece)
            .is_some_and(|root| root.ct_eq(hash).into())
    }

    /// The hash of every message of `length` bytes for which [`Proof::verify`] holds: for a
    /// verifier that has a signature of the hash, not the hash. None if the piece or the proof does
    /// not fit the length.
    #[must_use]
    pub fn root(&self, length: u64, index: u64, piece: &[u8]) -> Option<[u8; HASH]> {
        let start = index.checked_mul(PIECE as u64)?;
        let expected = length.checked_sub(start)?.min(PIECE as u64);
        if piece.len() as u64 != expected || piece.is_empty() && index > 0 {
            return None;
        }
        let start = Start::new();
        let mut value = subtree(index, piece).value;
        let mut at = index;
        let mut nodes = length.div_ceil(PIECE as u64);
        let mut siblings = &self.siblings[..];
        for above in 1.. {
            if nodes <= 1 {
                break;
            }
            let parent = at / FAN_OUT as u64;
            let children = (nodes - parent * FAN_OUT as u64).min(FAN_OUT as u64) as usize;
            let (others, rest) = siblings.split_at_checked(children - 1)?;
            let (before, after) = others.split_at((at % FAN_OUT as u64) as usize);
            value = value_of_level(
                &start.chain,
                above,
                parent,
                &[before, &[value], after].concat(),
            );
            (at, nodes, siblings) = (parent, nodes.div_ceil(FAN_OUT as u64), rest);
        }
        let mut hash = [0; HASH];
        output(&value, start.output_bits).read(&mut hash);
        siblings.is_empty().then_some(hash)
    }
}
