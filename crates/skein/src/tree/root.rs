//! From pieces to the root.

use super::level::Level;
use super::{FAN_OUT, HASH, PIECE, Start, Subtree, Value, hash_node};
use crate::output::Output;
use core::fmt::{self, Debug, Formatter};

/// Level of the value of a piece.
const PIECE_LEVEL: u8 = 3;

/// Collects the sub-trees of all pieces, in order, and gives the hash. Wiped when dropped.
#[derive(Clone, Default)]
pub struct Root {
    start: Start,
    pieces: u64,
    ended: bool,
    /// The levels above the pieces, from level 4.
    levels: Vec<Level<Value>>,
}

impl Root {
    /// Without any piece, for the hash of sealed files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Without any piece.
    pub(super) fn of(start: Start) -> Self {
        Self {
            start,
            ..Self::default()
        }
    }

    /// Adds the next piece.
    ///
    /// # Panics
    /// If it is not the next piece, follows a piece shorter than [`PIECE`], or was hashed from
    /// another [`Start`].
    pub fn push(&mut self, piece: Subtree) {
        let is_of_this_tree = piece.start == self.start.mark;
        assert!(is_of_this_tree, "a piece of another tree");
        assert_eq!(piece.index, self.pieces, "pieces come in order");
        assert!(!self.ended, "only the last piece may be short");
        self.pieces += 1;
        self.ended = piece.last;
        self.add(0, piece.value);
    }

    /// The hash of the message.
    ///
    /// # Panics
    /// If the tree's parameters ask for a hash of less than 64 bytes: then use [`Root::output`].
    pub fn finish(self) -> [u8; HASH] {
        let mut hash = [0; HASH];
        self.output().read(&mut hash);
        hash
    }

    /// The hash of the message, of any length.
    pub fn output(mut self) -> Output<8> {
        if self.pieces == 0 {
            self.push(self.start.subtree(0, &[]));
        }
        let mut above = 0;
        loop {
            let chain = &self.start.chain;
            let level = &mut self.levels[above];
            if let Some(root) = level.only() {
                return output(root, self.start.output_bits);
            }
            let value = level.close(node_above(chain, above));
            self.add(above + 1, value);
            above += 1;
        }
    }

    /// Gives one more child to the level that is `above` the lowest level.
    fn add(&mut self, mut above: usize, child: Value) {
        let mut next = Some(child);
        while let Some(child) = next {
            if above == self.levels.len() {
                self.levels.push(Level::from_node(0, [0; HASH]));
            }
            let chain = &self.start.chain;
            next = self.levels[above].add(child, node_above(chain, above));
            above += 1;
        }
    }
}

/// Hashes nodes of the level that is `above` the lowest level, by number and children.
fn node_above(chain: &[u64; 8], above: usize) -> impl FnOnce(u64, &[Value]) -> Value {
    move |index, children| value_of_level(chain, above as u8 + 1, index, children)
}

impl Start {
    /// Collects the sub-trees of this start.
    pub fn root(&self) -> Root {
        Root::of(self.clone())
    }
}

/// Shows no value.
impl Debug for Root {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Root")
            .field("pieces", &self.pieces)
            .finish_non_exhaustive()
    }
}

/// The value of node `index` that is `above` levels above the pieces.
pub(super) fn value_of_level(start: &[u64; 8], above: u8, index: u64, children: &[Value]) -> Value {
    hash_node(
        start,
        PIECE_LEVEL + above,
        index * (FAN_OUT * HASH) as u64,
        children.as_flattened(),
    )
}

/// The output transform over the root's value.
pub(super) fn output(value: &Value, bits: u64) -> Output<8> {
    let (words, _) = value.as_chunks();
    Output::new(core::array::from_fn(|i| u64::from_le_bytes(words[i])), bits)
}

/// Hashes a message that comes in parts, in this thread. It holds at most one piece. To get the
/// hash of the parts so far and add more later, clone it.
#[derive(Clone, Default)]
pub struct TreeHasher {
    root: Root,
    piece: Vec<u8>,
}

impl TreeHasher {
    /// An empty message.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds bytes to the message.
    pub fn update(&mut self, mut message: &[u8]) {
        if !self.piece.is_empty() {
            let (head, tail) = message.split_at(message.len().min(PIECE - self.piece.len()));
            self.piece.extend_from_slice(head);
            message = tail;
            if self.piece.len() < PIECE {
                return;
            }
            self.push_piece();
        }
        let (pieces, rest) = message.as_chunks::<PIECE>();
        for piece in pieces {
            let subtree = self.root.start.subtree(self.root.pieces, piece);
            self.root.push(subtree);
        }
        self.piece.extend_from_slice(rest);
    }

    /// The hash of the message.
    pub fn finish(mut self) -> [u8; HASH] {
        if !self.piece.is_empty() {
            self.push_piece();
        }
        self.root.finish()
    }

    fn push_piece(&mut self) {
        let subtree = self.root.start.subtree(self.root.pieces, &self.piece);
        self.root.push(subtree);
        self.piece.clear();
    }
}

/// Shows nothing of the message.
impl Debug for TreeHasher {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("TreeHasher").finish_non_exhaustive()
    }
}

/// The hash of a message in memory.
pub fn hash(message: &[u8]) -> [u8; HASH] {
    let mut hasher = TreeHasher::new();
    hasher.update(message);
    hasher.finish()
}
