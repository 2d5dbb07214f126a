//! Trees with bugs: in their nodes and in their shape.

use super::super::symbol::{Arena, Symbol};
use super::super::tree::{BLOCKS, LEVEL, Nodes, lanes, shape_of};
use super::{Bug, Moved, refuted, reproduces, to_bytes, with};
use crate::source::{Counterexample, SourceVerdict};
use crate::spec;
use sealstone_lanes::Portable;
use sealstone_prover::algebra::Numbers;
use sealstone_skein::Parameters;
use sealstone_skein::tree::{Shape, TreeSkein, hash_nodes};

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
