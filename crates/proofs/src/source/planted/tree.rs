//! Trees with bugs: in their nodes, in their shape, and in a level above the pieces.

use super::super::lengths::{AnyNode, Children, any_number};
use super::super::symbol::{Arena, Symbol};
use super::super::tree::{BLOCKS, LEVEL, Nodes, SEALED, lanes, pieces, shape_of};
use super::{Bug, Moved, refuted, reproduces, to_bytes, with};
use crate::source::{Counterexample, SourceVerdict};
use crate::spec;
use sealstone_lanes::Portable;
use sealstone_prover::algebra::Numbers;
use sealstone_skein::Parameters;
use sealstone_skein::tree::{FAN_OUT, Level, NodeNumber, Shape, TreeSkein, hash_nodes};

#[test]
fn nodes_with_a_wrong_level_or_a_wrong_position_in_one_lane() {
    let verdict = || lanes::<2, Moved<Symbol<'_>, 2>>(&Arena::new(45));
    assert!(verdict().holds());
    for bug in [Bug::Level, Bug::Lane] {
        with(bug, || reproduce_nodes(&refuted(verdict())));
    }
}

/// Values of nodes with the bug, on the numbers of a counterexample.
fn reproduce_nodes(refuted: &Counterexample) {
    let (start, [position]) = (refuted.words::<8>("start"), refuted.words("position"));
    let contents: [[[u8; 64]; BLOCKS]; 2] = core::array::from_fn(|i| {
        let bytes = refuted.bytes(&format!("node {i}"));
        core::array::from_fn(|block| core::array::from_fn(|byte| bytes[64 * block + byte]))
    });
    let nodes = core::array::from_fn(|i| &contents[i]);
    let computed =
        hash_nodes::<2, Moved<u64, 2>, BLOCKS>(Portable, Portable, &start, LEVEL, position, nodes);
    let specified: Vec<u64> = (0..)
        .zip(&contents)
        .flat_map(|(i, node)| {
            let words = node.as_flattened().as_chunks().0.iter();
            let words: Vec<u64> = words.map(|word| u64::from_le_bytes(*word)).collect();
            let position = position.wrapping_add(i * 64 * BLOCKS as u64);
            spec::skein::node(&mut Numbers, &start, LEVEL.into(), &position, &words)
        })
        .collect();
    reproduces(refuted, computed.as_flattened(), &to_bytes(&specified));
}

/// Bytes of a leaf of Skein-256, and the tree that is specified.
const LEAF: usize = 64;
const TREE: [u8; 3] = [1, 1, 255];

/// The length in bytes of the row's shortest message with a wrong tree.
fn wrong_from(verdict: SourceVerdict) -> usize {
    refuted(verdict).bytes("message").len()
}

#[test]
fn a_tree_with_a_wrong_fan_out_or_height() {
    assert!(with_shape(TREE).holds());
    // Two leaves have the same root in all of them.
    assert_eq!(wrong_from(with_shape([1, 2, 255])), 3 * LEAF);
    assert_eq!(wrong_from(with_shape([1, 1, 2])), 3 * LEAF);
    assert_eq!(wrong_from(with_shape([2, 1, 255])), 2 * LEAF - (LEAF - 1));
}

/// The nodes of another shape, under the configuration of the right one.
fn with_shape(shape: [u8; 3]) -> SourceVerdict {
    let mut nodes = Nodes::<4>::new(TREE);
    nodes.shape = shape;
    shape_of::<4>(TREE, |message| nodes.hash(message))
}

#[test]
fn a_tree_without_its_last_leaf() {
    let parameters = Parameters::new();
    let without_last = |from: usize| {
        shape_of::<4>(TREE, |message| {
            let [leaf, fan_out, height] = TREE;
            let shape = Shape::new(leaf, fan_out, height).expect("a shape that is allowed");
            let mut tree = TreeSkein::<4>::with(&parameters, shape);
            let last = message.len().saturating_sub(1) / LEAF * LEAF;
            tree.update(&message[..if last >= from { last } else { message.len() }]);
            tree.finish()
        })
    };
    assert!(without_last(usize::MAX).holds());
    // The sixth leaf is the first lost one.
    assert_eq!(wrong_from(without_last(5 * LEAF)), 6 * LEAF);
}

#[test]
fn pieces_in_a_tree_with_another_fan_out_or_without_the_last_one() {
    let hash = |shape: [u8; 3], lost: usize| {
        let mut nodes = Nodes::<8>::new(SEALED);
        nodes.shape = shape;
        pieces(move |values| {
            let count = values.len();
            nodes.hash_pieces(&values[..if count == lost { count - 1 } else { count }])
        })
    };
    let wrong = |verdict| refuted(verdict).bytes("values").len() / 64;
    assert!(hash(SEALED, usize::MAX).holds());
    // Up to 16 pieces are below one node, and 4096 below three levels of nodes.
    assert_eq!(wrong(hash([6, 5, 255], usize::MAX)), 17);
    assert_eq!(wrong(hash([6, 4, 6], usize::MAX)), 4097);
    assert_eq!(wrong(hash(SEALED, 4100)), 4100);
}

/// A bug of a level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rule {
    Right,
    /// A node has 15 children.
    Fewer,
    /// A node is closed when it is full, not when the next one begins.
    Early,
    /// The child that closes a node belongs to it, in the place of the last one.
    Replaced,
    /// The child that closes a node is lost.
    Lost,
    /// The first child of a later node has the second place.
    Shifted,
    /// All nodes have the number of the first one.
    Number,
    /// The number grows twice.
    Twice,
    /// A node keeps the children of the one before when the message ends.
    Kept,
    /// The only child of any node is the root.
    AnyNode,
    /// The first child of the first node is the root, also if it has others.
    Others,
    /// No child is the root.
    None,
    /// The children of all nodes are counted, and not those of one. The first two nodes are right.
    Total,
}

/// A second implementation of a level, which can have bugs.
#[derive(Clone)]
struct Planted {
    done: AnyNode,
    children: Vec<u64>,
    rule: Rule,
}

impl Children for Planted {
    fn add(&mut self, child: u64, hash: impl FnOnce(AnyNode, &[u64]) -> u64) -> Option<u64> {
        let most = FAN_OUT - usize::from(self.rule == Rule::Fewer);
        let is_full = match self.rule {
            Rule::Total => !self.children.is_empty() && self.children.len().is_multiple_of(most),
            _ => self.children.len() == most,
        };
        if self.rule == Rule::Early {
            self.children.push(child);
            return (self.children.len() == most).then(|| self.close(hash));
        }
        if is_full && self.rule == Rule::Replaced {
            self.children[most - 1] = child;
        }
        let value = is_full.then(|| self.close(hash));
        if is_full && self.rule == Rule::Shifted {
            self.children.push(0);
        }
        if !is_full || self.rule != Rule::Lost {
            self.children.push(child);
        }
        value
    }
    fn close(&mut self, hash: impl FnOnce(AnyNode, &[u64]) -> u64) -> u64 {
        let last = (self.children.len() - 1) / FAN_OUT * FAN_OUT;
        let value = match self.rule {
            Rule::Total => hash(self.done, &self.children[last..]),
            _ => hash(self.done, &self.children),
        };
        let steps = match self.rule {
            Rule::Number => 0,
            Rule::Twice => 2,
            _ => 1,
        };
        self.done = (0..steps).fold(self.done, |number, _| number.next());
        if !matches!(self.rule, Rule::Kept | Rule::Total) {
            self.children.clear();
        }
        value
    }
    fn only(&self) -> Option<u64> {
        let is_first = self.done.is_first() || self.rule == Rule::AnyNode;
        let is_alone = self.children.len() == 1 || self.rule == Rule::Others;
        let is_only = is_first && is_alone && self.rule != Rule::None;
        is_only.then(|| self.children[0])
    }
    fn current(&self) -> (AnyNode, &[u64]) {
        (self.done, &self.children)
    }
}

#[test]
fn a_level_that_gives_a_node_other_children_or_another_number() {
    let verdict = |rule| {
        any_number(|done, _| Planted {
            done,
            children: Vec::new(),
            rule,
        })
    };
    assert_eq!(any_number(Level::from_node).name(), "PROVED");
    assert_eq!(verdict(Rule::Right).name(), "PROVED");
    // Each is found at the first child that shows it.
    let found = [
        (Rule::None, 1),
        (Rule::Others, 2),
        (Rule::Fewer, 16),
        (Rule::Early, 16),
        (Rule::Replaced, 17),
        (Rule::Lost, 17),
        (Rule::Shifted, 17),
        (Rule::Number, 17),
        (Rule::Twice, 17),
        (Rule::Kept, 17),
        (Rule::AnyNode, 17),
        (Rule::Total, 17),
    ];
    for (rule, child) in found {
        let [children] = refuted(verdict(rule)).words("children");
        assert_eq!(children, child, "{rule:?}");
    }
}
