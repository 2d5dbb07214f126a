//! Hashing many nodes of one level at a time, one in each lane.

use crate::threefish::Block;
use crate::tweak::{Tweak, Type};
use sealstone_lanes::{Kernel, Lanes, Portable, Scalar, Vector, Word};

/// Hashes full nodes of `BLOCKS` blocks, which follow each other on their level. The proof of the
/// machine code describes this struct: do not reorder the fields. It assumes that there are as many
/// values as nodes: only [`Nodes::new`] makes the struct.
#[repr(C)]
pub(crate) struct Nodes<'a, const BLOCKS: usize> {
    /// The chaining value that every node starts from.
    start: &'a [u64; 8],
    /// The nodes.
    nodes: &'a [[[u8; 64]; BLOCKS]],
    /// The value of each node.
    values: &'a mut [[u8; 64]],
    /// The position of the first node on its level, in bytes.
    position: u64,
    /// The level; 1 for leaves.
    level: u8,
}

impl<'a, const BLOCKS: usize> Nodes<'a, BLOCKS> {
    /// Nodes of level `level`, of which the first begins at byte `position`. Each starts from
    /// `start`. Their values are the first of `values`.
    ///
    /// # Panics
    /// If there are fewer values than nodes.
    pub(crate) fn new(
        start: &'a [u64; 8],
        (level, position): (u8, u64),
        nodes: &'a [[[u8; 64]; BLOCKS]],
        values: &'a mut [[u8; 64]],
    ) -> Self {
        Self {
            start,
            nodes,
            values: &mut values[..nodes.len()],
            position,
            level,
        }
    }
}

impl<const BLOCKS: usize> Kernel for Nodes<'_, BLOCKS> {
    /// The number of nodes that were hashed. If few are left in the end, they are faster one at a
    /// time.
    type Output = usize;

    #[inline(always)]
    fn run<const N: usize, L: Lanes<N, Lane = u64>>(self, cpu: L::Cpu) -> usize {
        let mut position = self.position;
        let mut done = 0;
        for (group, values) in self.nodes.chunks(N).zip(self.values.chunks_mut(N)) {
            let Some(first) = group.first().filter(|_| 4 * group.len() > N) else {
                break;
            };
            // Fewer nodes than lanes: the other lanes repeat one, and their values are dropped.
            let nodes = core::array::from_fn(|i| group.get(i).unwrap_or(first));
            let hashed =
                hash_nodes::<N, L, BLOCKS>(cpu, Portable, self.start, self.level, position, nodes);
            values
                .iter_mut()
                .zip(hashed)
                .for_each(|(to, value)| *to = value);
            position = position.wrapping_add((N * BLOCKS * 64) as u64);
            done += group.len();
        }
        done
    }
}

/// UBI of N full nodes at once, one in each lane. They follow each other on their level, from byte
/// `position`. Generic over the lanes, so that a prover can run it on symbols. `scalars` is the
/// token of single words, `cpu` the token of lanes.
#[inline(always)]
pub fn hash_nodes<const N: usize, L: Lanes<N>, const BLOCKS: usize>(
    cpu: L::Cpu,
    scalars: <L::Lane as Word>::Cpu,
    start: &[L::Lane; 8],
    level: u8,
    position: L::Lane,
    nodes: [&[[Byte<N, L>; 64]; BLOCKS]; N],
) -> [[Byte<N, L>; 64]; N] {
    let before = |i| L::Lane::splat(scalars, (i * BLOCKS * 64) as u64);
    let positions = core::array::from_fn(|i| Word::add(position, before(i)));
    let mut position = L::load(cpu, &positions);
    let mut chain = start.map(|word| L::load(cpu, &[word; N]));
    let tweak = Tweak::new(Type::Message).in_tree(level, 0);
    for i in 0..BLOCKS {
        let tweak = if i > 0 { tweak.after_first() } else { tweak };
        let tweak = if i + 1 == BLOCKS { tweak.last() } else { tweak };
        position = position.add(L::splat(cpu, 64));
        let block = L::load_blocks(cpu, nodes.map(|node| &node[i]));
        let cipher = block.encrypt(cpu, &chain, &[position, L::splat(cpu, tweak.words()[1])]);
        chain = core::array::from_fn(|j| cipher[j].xor(block[j]));
    }
    L::to_blocks(chain)
}

/// A byte of a lane.
type Byte<const N: usize, L> = <<L as Vector<N>>::Lane as Scalar>::Byte;

#[cfg(test)]
mod tests {
    use super::*;

    /// The proofs of the machine code assume it.
    #[test]
    fn there_are_as_many_values_as_nodes() {
        let (nodes, mut values) = ([[[0; 64]; 2]; 3], [[0; 64]; 5]);
        for count in 0..=nodes.len() {
            let nodes = Nodes::new(&[0; 8], (1, 0), &nodes[..count], &mut values);
            assert_eq!(nodes.values.len(), count);
            assert_eq!(nodes.nodes.len(), count);
        }
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn fewer_values_than_nodes_are_refused() {
        Nodes::new(&[0; 8], (1, 0), &[[[0; 64]; 2]; 3], &mut [[0; 64]; 2]);
    }
}
