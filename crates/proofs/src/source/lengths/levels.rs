//! One level of the tree of sealed files, above the pieces, with any number of nodes.
//!
//! The values of nodes are names here. The source can copy, wipe and hash them, and nothing else:
//! it is generic over them, and safe Rust.

use super::super::counterexample::{Counterexample, SourceVerdict};
use core::cell::RefCell;
use sealstone_skein::tree::{FAN_OUT, Level, NodeNumber};

/// The number of a node: a known one, or one or more nodes behind an unknown one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum AnyNode {
    Known(u64),
    After(u64),
}

impl AnyNode {
    /// The number of the node that is `more` nodes behind this one.
    fn plus(self, more: u64) -> Self {
        match self {
            Self::Known(number) => Self::Known(number + more),
            Self::After(number) => Self::After(number + more),
        }
    }

    /// Its name in counterexamples.
    fn words(self) -> [u64; 2] {
        match self {
            Self::Known(number) => [0, number],
            Self::After(number) => [1, number],
        }
    }
}

impl NodeNumber for AnyNode {
    fn next(self) -> Self {
        self.plus(1)
    }
    fn is_first(self) -> bool {
        self == Self::Known(0)
    }
}

/// The name of child `i`, counted from the first child of the node that is the current one at
/// first. It is not the value of wiped memory.
fn child(i: usize) -> u64 {
    1 + i as u64
}
/// The name of the value of node `node`, counted from the node that is the current one at first.
fn value(node: u64) -> u64 {
    1 << 32 | node
}
/// The name of a child of an earlier node, and of the value of a node that should not be hashed.
const EARLIER: u64 = u64::MAX;

/// A level that gets children.
pub(in super::super) trait Children: Clone {
    /// Adds a child.
    fn add(&mut self, child: u64, hash: impl FnOnce(AnyNode, &[u64]) -> u64) -> Option<u64>;
    /// Hashes the current node.
    fn close(&mut self, hash: impl FnOnce(AnyNode, &[u64]) -> u64) -> u64;
    /// The only child.
    fn only(&self) -> Option<u64>;
    /// The current node's number, and its children.
    fn current(&self) -> (AnyNode, &[u64]);
}

impl Children for Level<u64, AnyNode> {
    fn add(&mut self, child: u64, hash: impl FnOnce(AnyNode, &[u64]) -> u64) -> Option<u64> {
        self.add(child, hash)
    }
    fn close(&mut self, hash: impl FnOnce(AnyNode, &[u64]) -> u64) -> u64 {
        self.close(hash)
    }
    fn only(&self) -> Option<u64> {
        self.only().copied()
    }
    fn current(&self) -> (AnyNode, &[u64]) {
        self.current()
    }
}

/// The children after which a level is looked at: those of two nodes, and one more.
const CHILDREN: usize = 2 * FAN_OUT + 1;

/// Nodes that are hashed, by number and children, each with its value.
#[derive(Default)]
struct Hashed(RefCell<Vec<u64>>);

impl Hashed {
    /// The value of a node. `from` is the number of the node that was the current one at first.
    fn hash(&self, from: AnyNode, number: AnyNode, children: &[u64]) -> u64 {
        let mut all = self.0.borrow_mut();
        all.extend(number.words());
        all.extend(children);
        let is = |i: &u64| from.plus(*i) == number;
        (0..=CHILDREN as u64).find(is).map_or(EARLIER, value)
    }

    /// Node `i` behind `from`, and its value.
    fn specified(from: AnyNode, i: usize, children: core::ops::Range<usize>) -> (Vec<u64>, u64) {
        let number = from.plus(i as u64).words();
        let words = number.into_iter().chain(children.map(child)).collect();
        (words, value(i as u64))
    }
}

/// The induction over children. It begins with a node without children: the first one, or any
/// later one, in whose places values of an earlier node are left. `start` makes a level with such a
/// node, from its number and a value of an earlier node.
///
/// After each child, all that the level has is compared: the number, how many children, and which.
/// So the state after the first child of a node is the same for each node, and the induction goes
/// on from there.
pub(in super::super) fn any_number<L: Children>(
    start: impl Fn(AnyNode, u64) -> L,
) -> SourceVerdict {
    let nodes = [AnyNode::Known(0), AnyNode::After(1)];
    SourceVerdict::all(nodes.map(|from| children_of_two_nodes(start(from, EARLIER), from)))
}

fn children_of_two_nodes(mut level: impl Children, from: AnyNode) -> SourceVerdict {
    SourceVerdict::all((0..CHILDREN).map(|i| {
        let (hashed, node) = (Hashed::default(), i / FAN_OUT);
        let given = level.add(child(i), |number, children| {
            hashed.hash(from, number, children)
        });
        // The first child of a node closes the node before it.
        let (words, above) = if i > 0 && i.is_multiple_of(FAN_OUT) {
            let (words, value) = Hashed::specified(from, node - 1, i - FAN_OUT..i);
            (words, Some(value))
        } else {
            (Vec::new(), None)
        };
        let added = compare(from, i + 1, (&hashed, given), (words, above));
        added
            .and(|| is_state(&level, from, i))
            .and(|| ends(&level, from, i))
    }))
}

/// The state after child `last`.
fn is_state(level: &impl Children, from: AnyNode, last: usize) -> SourceVerdict {
    let (hashed, node) = (Hashed::default(), last / FAN_OUT);
    let (number, children) = level.current();
    let value = hashed.hash(from, number, children);
    let (words, specified) = Hashed::specified(from, node, node * FAN_OUT..last + 1);
    compare(
        from,
        last + 1,
        (&hashed, Some(value)),
        (words, Some(specified)),
    )
}

/// The end of the message after child `last`.
fn ends(level: &impl Children, from: AnyNode, last: usize) -> SourceVerdict {
    let only = (from == AnyNode::Known(0) && last == 0).then_some(child(0));
    let is_only = compare(
        from,
        last + 1,
        (&Hashed::default(), level.only()),
        (Vec::new(), only),
    );
    is_only.and(|| {
        let (hashed, node) = (Hashed::default(), last / FAN_OUT);
        let given = level
            .clone()
            .close(|number, children| hashed.hash(from, number, children));
        let (words, value) = Hashed::specified(from, node, node * FAN_OUT..last + 1);
        compare(from, last + 1, (&hashed, Some(given)), (words, Some(value)))
    })
}

/// Compares nodes that are hashed, and a value.
fn compare(
    from: AnyNode,
    children: usize,
    (hashed, given): (&Hashed, Option<u64>),
    (mut specified, value): (Vec<u64>, Option<u64>),
) -> SourceVerdict {
    let mut computed = hashed.0.take();
    computed.extend(given);
    specified.extend(value);
    if computed == specified {
        return SourceVerdict::Proved;
    }
    let bytes = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
    SourceVerdict::Refuted(Counterexample {
        inputs: vec![
            ("node".to_owned(), bytes(&from.words())),
            ("children".to_owned(), bytes(&[children as u64])),
        ],
        computed: bytes(&computed),
        specified: bytes(&specified),
    })
}
