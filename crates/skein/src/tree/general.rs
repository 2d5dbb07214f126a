//! Tree mode of any shape and state (Skein 1.3, section 3.5.6), on one thread, in constant memory.

use super::Shape;
use crate::output::Output;
use crate::parameters::Parameters;
use crate::threefish::Block;
use crate::tweak::{Tweak, Type};
use crate::ubi::Ubi;
use sealstone_lanes::Portable;
use zeroize::Zeroize;

/// A message being hashed in a tree, with a state of `N` words. Wiped when dropped.
///
/// For the fast tree of fixed shape, see [`TreeHasher`](super::TreeHasher).
///
/// ```
/// use sealstone_skein::tree::{self, Shape, TreeSkein};
/// use sealstone_skein::Parameters;
///
/// let mut tree = TreeSkein::<8>::with(&Parameters::new(), Shape::new(6, 4, 255).unwrap());
/// tree.update(b"message");
/// assert_eq!(tree.finish(), tree::hash(b"message"));
/// ```
#[derive(Clone)]
pub struct TreeSkein<const N: usize>
where
    [u64; N]: Block<u64>,
{
    start: [u64; N],
    shape: Shape,
    output_bits: u64,
    /// The current node of each level, leaves first.
    nodes: Vec<Node<N>>,
}

/// A node that gets bytes: of the message, or of its children's values.
#[derive(Clone)]
struct Node<const N: usize>
where
    [u64; N]: Block<u64>,
{
    ubi: Ubi<u64, N>,
    /// Bytes of the level before this node.
    position: u128,
    /// Bytes in this node.
    len: u128,
}

impl<const N: usize> TreeSkein<N>
where
    [u64; N]: Block<u64>,
{
    /// A hash with parameters and a shape.
    pub fn with(parameters: &Parameters<'_>, shape: Shape) -> Self {
        let start = parameters.start(Portable, Some(shape));
        let nodes = vec![Node::new(start, 1, 0)];
        Self {
            start,
            shape,
            output_bits: parameters.bits::<N>(),
            nodes,
        }
    }

    /// Adds bytes to the message.
    pub fn update(&mut self, message: &[u8]) {
        self.add(0, message);
    }

    /// The hash.
    pub fn finish(self) -> Vec<u8> {
        self.output().into_vec()
    }

    /// The hash of the message followed by the `bits` most significant bits of `last`, 1 to 8.
    ///
    /// # Panics
    /// If `bits` is 0 or more than 8.
    pub fn finish_bits(mut self, last: u8, bits: u32) -> Vec<u8> {
        self.update(&[last]);
        self.close(bits).into_vec()
    }

    /// The hash, which you can read in parts.
    pub fn output(mut self) -> Output<N> {
        self.close(8)
    }

    /// Adds bytes to the current node of a level. A full node is ended when its level gets more
    /// bytes.
    fn add(&mut self, level: usize, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let size = self.shape.node_bytes::<N>(level);
            if self.nodes[level].len == size {
                let value = self.next(level, 8);
                self.add_value(level + 1, value);
            }
            let node = &mut self.nodes[level];
            let part = bytes
                .len()
                .min(usize::try_from(size - node.len).unwrap_or(usize::MAX));
            node.ubi.update(&bytes[..part]);
            node.len += part as u128;
            bytes = &bytes[part..];
        }
    }

    /// Adds the value of a child to the current node of a level.
    fn add_value(&mut self, level: usize, value: [u64; N]) {
        if level == self.nodes.len() {
            self.add_level();
        }
        let mut bytes = value.map(u64::to_le_bytes);
        self.add(level, bytes.as_flattened());
        bytes.zeroize();
    }

    /// Begins a level above all others. If nodes move for that, their old places are wiped, which
    /// `Vec` alone does not do.
    fn add_level(&mut self) {
        if self.nodes.len() == self.nodes.capacity() {
            let mut nodes = Vec::with_capacity(2 * self.nodes.len());
            nodes.extend_from_slice(&self.nodes);
            self.nodes = nodes;
        }
        let level = self.nodes.len() + 1;
        self.nodes.push(Node::new(self.start, level, 0));
    }

    /// Ends the current node of a level, returns its value, and begins the next node.
    fn next(&mut self, level: usize, bits: u32) -> [u64; N] {
        let node = &mut self.nodes[level];
        let value = node.ubi.finish_bits(bits);
        let next = Node::new(self.start, level + 1, node.position + node.len);
        *node = next;
        value
    }

    /// Ends the message; `bits` bits of its last byte count.
    fn close(&mut self, bits: u32) -> Output<N> {
        let mut value = self.next(0, bits);
        for level in 1.. {
            if self.nodes.get(level).is_none_or(Node::is_empty_level) {
                break;
            }
            self.add_value(level, value);
            value = self.next(level, 8);
        }
        Output::new(value, self.output_bits)
    }
}

impl<const N: usize> Drop for TreeSkein<N>
where
    [u64; N]: Block<u64>,
{
    fn drop(&mut self) {
        self.start.zeroize();
    }
}

impl<const N: usize> Node<N>
where
    [u64; N]: Block<u64>,
{
    fn new(start: [u64; N], level: usize, position: u128) -> Self {
        let tweak = Tweak::new(Type::Message).in_tree(level as u8, position);
        Self {
            ubi: Ubi::with_tweak(Portable, start, tweak),
            position,
            len: 0,
        }
    }

    /// Whether the level of this node has no value yet.
    fn is_empty_level(&self) -> bool {
        self.position == 0 && self.len == 0
    }
}
