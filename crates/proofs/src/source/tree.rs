//! Skein's tree: its nodes on symbols, side by side; its shape on numbers.

use super::Claim;
use super::arrangement::Side;
use super::counterexample::{Counterexample, SourceVerdict, compare};
use super::modes::skein::{self as modes, Arguments, Bits, kind};
use super::modes::{Strings, tree};
use super::symbol::{Arena, Symbol, SymbolicByte};
use crate::spec;
use sealstone_lanes::Lanes;
use sealstone_prover::algebra::{Algebra, Numbers};
use sealstone_prover::term::{Bit, Random, Word};
use sealstone_skein::Parameters;
use sealstone_skein::threefish::Block;
use sealstone_skein::tree::{HASH, Root, Shape, Subtree, TreeSkein, hash, hash_nodes};
use std::collections::HashMap;
use std::rc::Rc;

pub(super) fn claims() -> Vec<Claim> {
    let nodes = "nodes of three blocks equal Skein 1.3, 3.5.6, for all starts and contents, and positions that end below 2^64";
    let shape =
        "0 to 1000 leaves, the last one full, a byte short or a byte long, with one random message";
    let above = "the hash of 1 to 4400 pieces with random values";
    vec![
        Claim::of("tree nodes, 1 lane (portable)", nodes, || {
            lanes::<1, Symbol<'_>>(&Arena::new(30))
        }),
        Claim::of("tree nodes, 2 lanes (NEON)", nodes, || {
            lanes::<2, Side<_, 2>>(&Arena::new(31))
        }),
        Claim::of("tree nodes, 4 lanes (AVX2)", nodes, || {
            lanes::<4, Side<_, 4>>(&Arena::new(32))
        }),
        Claim::of("tree nodes, 8 lanes (AVX-512)", nodes, || {
            lanes::<8, Side<_, 8>>(&Arena::new(33))
        }),
        Claim::of("tree nodes, 9 lanes (AVX-512 of Zen 4)", nodes, || {
            lanes::<9, Side<_, 9>>(&Arena::new(34))
        }),
        Claim::of("tree of sealed files, shape", shape, fast_shape),
        Claim::of("tree of sealed files, pieces", above, || pieces(root())),
        Claim::of("trees of six shapes, three states", shape, shapes),
    ]
}

/// Blocks in a node: a first one, one between, a last one.
pub(super) const BLOCKS: usize = 3;
/// The level of the nodes.
pub(super) const LEVEL: u8 = 5;

/// Compares the source's nodes, one in each lane, with the specification of each. Both have the
/// position in one word, so positions whose sum exceeds 2^64 are not covered.
pub(super) fn lanes<'a, const N: usize, L>(arena: &'a Arena) -> SourceVerdict
where
    L: Lanes<N, Cpu = &'a Arena, Lane = Symbol<'a>>,
{
    let start = arena.words::<8>("start");
    let [position] = arena.words("position");
    let contents: [[[SymbolicByte<'a>; 64]; BLOCKS]; N] = core::array::from_fn(|i| {
        let bytes = arena.bytes(&format!("node {i}"), 64 * BLOCKS);
        core::array::from_fn(|block| core::array::from_fn(|byte| bytes[64 * block + byte]))
    });
    let mut specified: Vec<Word> = Vec::new();
    for (i, node) in contents.iter().enumerate() {
        let start: Vec<Word> = start.iter().map(|word| word.bits().to_vec()).collect();
        let bits: Vec<Bit> = node
            .as_flattened()
            .iter()
            .flat_map(|byte| byte.bits())
            .collect();
        let blocks: Vec<Word> = bits.chunks(64).map(<[Bit]>::to_vec).collect();
        specified.extend(arena.with(|terms| {
            let before = Algebra::<64>::number(terms, (i * BLOCKS * 64) as u64);
            let position = terms.add(&position.bits(), &before);
            spec::skein::node(terms, &start, LEVEL.into(), &position, &blocks)
        }));
    }
    let nodes = core::array::from_fn(|i| &contents[i]);
    let computed = hash_nodes::<N, L, BLOCKS>(arena, arena, &start, LEVEL, position, nodes);
    let computed: Vec<Bit> = computed
        .as_flattened()
        .iter()
        .flat_map(|byte| byte.bits())
        .collect();
    compare(arena, &computed, &specified.concat())
}

/// The largest number of leaves.
const LEAVES: usize = 1000;

/// The tree of `spec/tree.md`.
pub(super) const SEALED: tree::Shape = [6, 4, 255];
/// The level of the values of its pieces.
const PIECE_LEVEL: u8 = 3;

fn fast_shape() -> SourceVerdict {
    shape_of::<8>(SEALED, |message| hash(message).to_vec())
}

/// The largest number of pieces. From 16 + 16^2 + 16^3 on, three levels are full at once.
const PIECES: usize = 4400;

/// Compares `computed` with the recursive specification, from the values of pieces on.
pub(super) fn pieces(mut computed: impl FnMut(&[[u8; HASH]]) -> Vec<u8>) -> SourceVerdict {
    let bytes = random_bytes(PIECES * HASH);
    let (values, _) = bytes.as_chunks();
    let mut nodes = Nodes::<8>::new(SEALED);
    for count in 1..=PIECES {
        let values = &values[..count];
        let (computed, specified) = (computed(values), nodes.hash_pieces(values));
        if computed != specified {
            let inputs = vec![("values".to_owned(), values.as_flattened().to_vec())];
            return SourceVerdict::Refuted(Counterexample {
                inputs,
                computed,
                specified,
            });
        }
    }
    SourceVerdict::Checked
}

/// The source. Each call has one more piece.
fn root() -> impl FnMut(&[[u8; HASH]]) -> Vec<u8> {
    let mut root = Root::new();
    move |values| {
        let index = values.len() - 1;
        root.push(Subtree::known(index as u64, values[index]));
        root.clone().finish().to_vec()
    }
}

fn shapes() -> SourceVerdict {
    let shapes = [
        [1, 1, 255],
        [1, 1, 2],
        [1, 2, 3],
        [2, 3, 4],
        [1, 4, 255],
        [3, 1, 5],
    ];
    SourceVerdict::all(shapes.map(general::<8>))
        .and(|| general::<4>([1, 1, 255]))
        .and(|| general::<16>([1, 1, 255]))
}

/// Leaf by leaf: each number of leaves continues from the previous one, so no leaf is hashed twice.
/// Every hundredth message is also hashed in one part.
fn general<const N: usize>(shape: tree::Shape) -> SourceVerdict
where
    [u64; N]: Block<u64>,
{
    let [leaf, fan_out, height] = shape;
    let size = (8 * N) << leaf;
    let shape_of_tree = Shape::new(leaf, fan_out, height).expect("a shape that is allowed");
    let empty = TreeSkein::<N>::with(&Parameters::new(), shape_of_tree);
    let (mut whole_leaves, mut count) = (empty.clone(), 0);
    let by_leaves = shape_of::<N>(shape, |message| {
        let before_last = message.len().saturating_sub(1) / size * size;
        whole_leaves.update(&message[count..before_last]);
        count = before_last;
        let mut tree = whole_leaves.clone();
        tree.update(&message[before_last..]);
        tree.finish()
    });
    by_leaves.and(|| {
        shape_of_some::<N>(shape, 100, |message| {
            let mut tree = empty.clone();
            tree.update(message);
            tree.finish()
        })
    })
}

/// Compares `computed` with the recursive specification, on prefixes of one message. All leaves
/// differ, and so do all nodes. So another tree with the same hash would be a collision of Skein.
pub(super) fn shape_of<const N: usize>(
    shape: tree::Shape,
    computed: impl FnMut(&[u8]) -> Vec<u8>,
) -> SourceVerdict {
    shape_of_some::<N>(shape, 1, computed)
}

/// The same, for every `step`-th number of leaves.
fn shape_of_some<const N: usize>(
    shape: tree::Shape,
    step: usize,
    mut computed: impl FnMut(&[u8]) -> Vec<u8>,
) -> SourceVerdict {
    let leaf = (8 * N) << shape[0];
    let message = random_bytes(LEAVES * leaf);
    let mut nodes = Nodes::<N>::new(shape);
    for leaves in (0..=LEAVES).step_by(step) {
        // Alternately, the last leaf is full, lacks one byte, or has one byte.
        let missing = [0, 1, leaf - 1][leaves % 3];
        let message = &message[..leaves * leaf - missing.min(leaves * leaf)];
        let (computed, specified) = (computed(message), nodes.hash(message));
        if computed != specified {
            let inputs = vec![("message".to_owned(), message.to_vec())];
            return SourceVerdict::Refuted(Counterexample {
                inputs,
                computed,
                specified,
            });
        }
    }
    SourceVerdict::Checked
}

fn random_bytes(length: usize) -> Vec<u8> {
    let mut random = Random::new(35);
    let words = (0..length.div_ceil(8)).flat_map(|_| random.number().to_le_bytes());
    words.take(length).collect()
}

/// The specification on numbers. It caches the last node in each place, because a longer message
/// shares most nodes with a shorter one.
pub(super) struct Nodes<const N: usize> {
    pub(super) shape: tree::Shape,
    start: Vec<u64>,
    /// The known nodes, by level and position.
    known: HashMap<(u8, usize), Known>,
}

struct Known {
    length: usize,
    /// Empty for leaves: all messages are prefixes of one message.
    content: Vec<u8>,
    value: Rc<[u8]>,
}

impl<const N: usize> Nodes<N> {
    pub(super) fn new(shape: tree::Shape) -> Self {
        let arguments = Arguments {
            tree: shape,
            ..Arguments::of_output(64 * N as u64)
        };
        Self {
            shape,
            start: modes::start(&mut Numbers, N, &arguments),
            known: HashMap::new(),
        }
    }

    pub(super) fn hash(&mut self, message: &[u8]) -> Vec<u8> {
        let shape = self.shape;
        self.rooted(|mut node| tree::tree(8 * N, shape, message, &mut node))
    }

    /// The hash of pieces with these values.
    pub(super) fn hash_pieces(&mut self, values: &[[u8; HASH]]) -> Vec<u8> {
        let (shape, values) = (self.shape, values.as_flattened().to_vec());
        self.rooted(|mut node| tree::above(8 * N, shape, PIECE_LEVEL, values, &mut node))
    }

    /// The output of the root that `tree` computes. It gets the hash of a node.
    fn rooted(&mut self, tree: impl FnOnce(HashNode<'_>) -> Vec<u8>) -> Vec<u8> {
        let Self { start, known, .. } = self;
        let value = tree(&mut |level, position, bytes| {
            let content = if level == 1 { &[] } else { bytes };
            match known.get(&(level, position)) {
                Some(known) if known.length == bytes.len() && known.content == content => {
                    known.value.clone()
                }
                _ => {
                    let new = Known {
                        length: bytes.len(),
                        content: content.to_vec(),
                        value: node(start, level, position, bytes).into(),
                    };
                    let value = new.value.clone();
                    known.insert((level, position), new);
                    value
                }
            }
        });
        let value = Numbers.words(&value);
        let output = modes::output(&mut Numbers, &value, 0);
        Numbers.to_bytes(&output)
    }
}

/// The value of a node by its level, its position and its bytes.
type HashNode<'n> = &'n mut dyn FnMut(u8, usize, &[u8]) -> Rc<[u8]>;

/// One node: UBI with its level and its position in the tweak.
fn node(start: &[u64], level: u8, position: usize, bytes: &[u8]) -> Vec<u8> {
    let tweak = kind::MESSAGE << 56 | u64::from(level) << 48;
    let value = modes::ubi(
        &mut Numbers,
        start,
        Bits::of_bytes(bytes),
        tweak,
        position as u64,
    );
    Numbers.to_bytes(&value)
}
