//! The nodes of one level above the pieces, which get their children one by one.

use super::FAN_OUT;
use zeroize::Zeroize;

/// The nodes of one level, for [`Root`](super::Root) and for a prover: it is generic over the
/// values of nodes and over their number, so that a prover can run it with any of them. Wiped when
/// dropped.
#[derive(Clone)]
pub struct Level<V: Copy + Zeroize, C = u64> {
    /// The number of the current node: nodes before it are hashed, and their values are on the
    /// level above.
    done: C,
    /// The children of the current node; the first `count` of these are set. A full node stays
    /// until the node after it gets a child. Children do not move, so that only one place must be
    /// wiped.
    children: Box<[V; FAN_OUT]>,
    count: usize,
}

impl<V: Copy + Zeroize, C: NodeNumber> Level<V, C> {
    /// A level whose current node has this number. That node has no children yet, and `empty`
    /// stands in their places.
    pub fn from_node(done: C, empty: V) -> Self {
        Self {
            done,
            children: Box::new([empty; FAN_OUT]),
            count: 0,
        }
    }

    /// Adds a child. If it begins a node, the one before is closed, and its value is returned.
    /// `hash` gives the value of a node by its number and its children.
    pub fn add(&mut self, child: V, hash: impl FnOnce(C, &[V]) -> V) -> Option<V> {
        let value = (self.count == FAN_OUT).then(|| self.close(hash));
        self.children[self.count] = child;
        self.count += 1;
        value
    }

    /// Hashes the current node, and returns its value.
    pub fn close(&mut self, hash: impl FnOnce(C, &[V]) -> V) -> V {
        let (number, children) = self.current();
        let value = hash(number, children);
        self.done = self.done.next();
        self.count = 0;
        value
    }

    /// The number of the current node, and its children so far.
    pub fn current(&self) -> (C, &[V]) {
        (self.done, &self.children[..self.count])
    }

    /// The only child of the level. If there is one, it is the root.
    pub fn only(&self) -> Option<&V> {
        (self.done.is_first() && self.count == 1).then(|| &self.children[0])
    }
}

impl<V: Copy + Zeroize, C> Drop for Level<V, C> {
    fn drop(&mut self) {
        // The proof of every number of pieces is about these fields. If there is another one, a
        // proof must show that a child keeps it right.
        let Self {
            done: _,
            children,
            count: _,
        } = self;
        children.zeroize();
    }
}

/// The number of a node on its level, from 0: a number, or a prover's unknown one.
pub trait NodeNumber: Copy {
    /// The next number.
    #[must_use]
    fn next(self) -> Self;
    /// Whether it is 0.
    fn is_first(self) -> bool;
}

impl NodeNumber for u64 {
    #[inline(always)]
    fn next(self) -> Self {
        self + 1
    }
    #[inline(always)]
    fn is_first(self) -> bool {
        self == 0
    }
}
