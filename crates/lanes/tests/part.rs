//! A message in parts is cut into blocks, and each block is absorbed once.

use sealstone_lanes::{Absorb, Blocks, Part};

/// Lengths of the head, of the blocks and of the rest, by counting byte for byte.
fn counted(block: usize, filled: usize, length: usize) -> [usize; 3] {
    let (mut waiting, mut ended) = (filled, vec![]);
    for byte in 1..=length {
        if waiting == block {
            ended.push(byte - 1);
            waiting = 0;
        }
        waiting += 1;
    }
    let head = if filled > 0 { ended.first() } else { None };
    let head = head.copied().unwrap_or(0);
    let blocks = ended.last().map_or(0, |end| (end - head) / block);
    [head, blocks, length - head - block * blocks]
}

fn cut<const N: usize>(filled: usize, message: &[()]) -> [usize; 3] {
    let part = Part::<_, &[[_; N]]>::new(filled, message);
    let whole = part.ends_block;
    assert!(whole || part.head.is_empty() && part.blocks.is_empty());
    assert_eq!(whole, filled + message.len() > 8 * N);
    [part.head.len(), part.blocks.len(), part.rest.len()]
}

fn every_short_length<const N: usize>() {
    for filled in 0..=8 * N {
        for length in 0..=40 * N {
            let cut = cut::<N>(filled, &vec![(); length]);
            assert_eq!(cut, counted(8 * N, filled, length), "{filled}, {length}");
        }
    }
}

#[test]
fn short_parts_are_cut_as_byte_by_byte() {
    every_short_length::<4>();
    every_short_length::<8>();
    every_short_length::<16>();
}

/// Bytes without content take no memory, so a part of them can have any length.
#[test]
fn long_parts_are_cut_too() {
    let lengths: [u64; 6] = [
        1 << 31,
        (1 << 32) - 1,
        1 << 32,
        (1 << 32) + 1,
        1 << 38,
        isize::MAX as u64,
    ];
    // A part has at most `isize::MAX` bytes, on a processor of 32 bits too.
    let lengths = lengths.into_iter().flat_map(isize::try_from);
    let lengths = lengths.map(isize::unsigned_abs);
    for length in lengths {
        for filled in [0, 1, 63, 64] {
            let [head, blocks, rest] = cut::<8>(filled, &vec![(); length]);
            assert_eq!(head, if filled == 0 { 0 } else { 64 - filled });
            assert_eq!(head + 64 * blocks + rest, length);
            assert!((1..=64).contains(&rest), "{filled}, {length}");
        }
    }
}

/// A list of the blocks it got.
struct Seen(Vec<usize>);

impl Absorb<usize> for Seen {
    fn absorb(&mut self, block: &usize) {
        self.0.push(*block);
    }
}

#[test]
fn each_block_of_a_slice_is_absorbed_once_and_in_order() {
    for count in [0, 1, 2, 3, 4, 5, 100, 70_000] {
        let blocks: Vec<usize> = (0..count).collect();
        let mut seen = Seen(vec![]);
        blocks.absorb_into(&mut seen);
        assert_eq!(seen.0, blocks);
    }
}
