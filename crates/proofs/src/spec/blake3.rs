//! BLAKE3 (c2sp.org/BLAKE3).

use super::sha256;
use sealstone_prover::algebra::{Algebra, Cells, Numbers};

/// Section 2.3: the permutation of the words of a block between rounds.
const PERMUTATION: [usize; 16] = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];

/// Section 2.4: flags.
pub mod flag {
    /// The first block of a chunk.
    pub const CHUNK_START: u32 = 1;
    /// The last block of a chunk.
    pub const CHUNK_END: u32 = 2;
    /// A node of the tree that is not a chunk.
    pub const PARENT: u32 = 4;
    /// The output.
    pub const ROOT: u32 = 8;
    /// The key is not a constant.
    pub const KEYED_HASH: u32 = 16;
}

/// Section 3.1: the inputs of a compression besides the chaining value and the block's words.
pub struct Inputs<W> {
    /// The number of its chunk, or of the block of output: low word first.
    pub counter: [W; 2],
    /// Its length in bytes.
    pub length: W,
    /// Its flags.
    pub flags: W,
}

/// Section 3.2: the function G on v[i], v[j], v[k], v[l] with two words of the block.
fn mix<A: Algebra<32>>(
    a: &mut A,
    v: &mut [A::Word],
    [i, j, k, l]: [usize; 4],
    words: [&A::Word; 2],
) {
    for (word, first, second) in [(words[0], 16, 12), (words[1], 8, 7)] {
        let sum = a.add(&v[i], &v[j]);
        let sum = a.add(&sum, word);
        v[i] = a.opaque(sum);
        let difference = a.xor(&v[l], &v[i]);
        v[l] = a.rotate_right(&difference, first);
        let sum = a.add(&v[k], &v[l]);
        v[k] = a.opaque(sum);
        let difference = a.xor(&v[j], &v[k]);
        v[j] = a.rotate_right(&difference, second);
    }
}

/// Section 3.3: the 16 words of a compression. The first eight are the next chaining value.
pub fn compress<A: Algebra<32>>(
    a: &mut A,
    h: &[A::Word],
    block: &[A::Word],
    inputs: &Inputs<A::Word>,
) -> Vec<A::Word> {
    let mut v = h.to_vec();
    v.extend(
        sha256::initial()[..4]
            .iter()
            .map(|word| a.number((*word).into())),
    );
    v.extend(inputs.counter.clone());
    v.extend([inputs.length.clone(), inputs.flags.clone()]);
    let mut m = block.to_vec();
    for _round in 0..7 {
        mix(a, &mut v, [0, 4, 8, 12], [&m[0], &m[1]]);
        mix(a, &mut v, [1, 5, 9, 13], [&m[2], &m[3]]);
        mix(a, &mut v, [2, 6, 10, 14], [&m[4], &m[5]]);
        mix(a, &mut v, [3, 7, 11, 15], [&m[6], &m[7]]);
        mix(a, &mut v, [0, 5, 10, 15], [&m[8], &m[9]]);
        mix(a, &mut v, [1, 6, 11, 12], [&m[10], &m[11]]);
        mix(a, &mut v, [2, 7, 8, 13], [&m[12], &m[13]]);
        mix(a, &mut v, [3, 4, 9, 14], [&m[14], &m[15]]);
        m = PERMUTATION.map(|i| m[i].clone()).to_vec();
    }
    let low = (0..8).map(|i| a.xor(&v[i], &v[i + 8]));
    let mut output: Vec<A::Word> = low.collect();
    output.extend((0..8).map(|i| a.xor(&v[i + 8], &h[i])));
    output
}

/// How code for several inputs computes the counter of one input from that of another. The numbers
/// are the same in all methods. For the prover, each method has its own formula.
#[derive(Clone, Copy, Debug)]
pub enum Counting {
    /// The lower word wrapped if it is below what was added; one is added to the upper word.
    Addend,
    /// It wrapped if it is below what it was before; one is added to the upper word.
    Before,
    /// The same, and the upper word is selected: unchanged, or one more.
    Choice,
}

/// `counter` + `distance`, as two words, low word first.
pub fn advanced<A: Algebra<32>>(
    a: &mut A,
    [low, high]: &[A::Word; 2],
    distance: u64,
    counting: Counting,
) -> [A::Word; 2] {
    let added = a.number(distance);
    let sum = a.add(low, &added);
    let carry = match counting {
        Counting::Addend => a.borrow(&sum, &added),
        Counting::Before | Counting::Choice => a.borrow(&sum, low),
    };
    if !matches!(counting, Counting::Choice) {
        let high = a.add(high, &carry);
        return [sum, high];
    }
    let one = a.number(1);
    let more = a.add(high, &one);
    let change = a.xor(high, &more);
    let all = repeated(a, &carry);
    let change = a.and(&all, &change);
    [sum, a.xor(high, &change)]
}

/// All bits are bit 0 of a word whose other bits are zero.
fn repeated<A: Algebra<32>>(a: &mut A, bit: &A::Word) -> A::Word {
    (1..32).fold(bit.clone(), |all, n| {
        let turned = a.rotate_right(bit, n);
        a.xor(&all, &turned)
    })
}

/// The flags of a chunk's blocks.
pub struct Flags<W> {
    /// The flags of all blocks.
    pub all: W,
    /// The additional flags of the first block.
    pub start: W,
    /// The additional flags of the last block.
    pub end: W,
}

/// Section 4.2: the chaining value of a chunk, all of whose blocks are full.
pub fn chunk<A: Algebra<32>>(
    a: &mut A,
    key: &[A::Word],
    blocks: &[&[A::Word]],
    counter: &[A::Word; 2],
    flags: &Flags<A::Word>,
) -> Vec<A::Word> {
    let mut h = key.to_vec();
    for (number, block) in blocks.iter().enumerate() {
        let mut of_block = flags.all.clone();
        if number == 0 {
            of_block = either(a, &of_block, &flags.start);
        }
        if number == blocks.len() - 1 {
            of_block = either(a, &of_block, &flags.end);
        }
        let inputs = Inputs {
            counter: counter.clone(),
            length: a.number(64),
            flags: of_block,
        };
        h = compress(a, &h, block, &inputs);
        h.truncate(8);
    }
    h
}

/// `x` ∨ `y`.
pub fn either<A: Algebra<32>>(a: &mut A, x: &A::Word, y: &A::Word) -> A::Word {
    let (both, differ) = (a.and(x, y), a.xor(x, y));
    a.xor(&both, &differ)
}

/// The low byte of a cell.
pub fn byte<A: Cells>(a: &mut A, cell: &<A as Algebra<64>>::Word) -> <A as Algebra<32>>::Word {
    let [low, _] = a.split(cell);
    let ones = Algebra::<32>::number(a, 0xff);
    Algebra::<32>::and(a, &low, &ones)
}

/// The last block of a node of the tree that may be the root.
struct Node {
    h: Vec<u32>,
    block: Vec<u32>,
    inputs: Inputs<u32>,
}

impl Node {
    fn output(&self, more_flags: u32) -> Vec<u32> {
        let inputs = Inputs {
            counter: self.inputs.counter,
            length: self.inputs.length,
            flags: self.inputs.flags | more_flags,
        };
        compress(&mut Numbers, &self.h, &self.block, &inputs)
    }
}

/// Section 4, on numbers: the hash of a message, and with a key the keyed hash.
pub fn hash(key: Option<&[u8; 32]>, message: &[u8]) -> [u8; 32] {
    let (key, flags) = match key {
        Some(key) => (words(key), flag::KEYED_HASH),
        None => (sha256::initial(), 0),
    };
    let root = subtree(&key, flags, 0, message);
    let output = root.output(flag::ROOT);
    core::array::from_fn(|i| output[i / 4].to_le_bytes()[i % 4])
}

/// Section 4.3: the tree over the chunks of this part of the message. The number of chunks of its
/// left half is the largest power of two that leaves a right half.
fn subtree(key: &[u32], flags: u32, first: u64, message: &[u8]) -> Node {
    const CHUNK: usize = 1024;
    if message.len() <= CHUNK {
        return last_block(key, flags, first, message);
    }
    let chunks = message.len().div_ceil(CHUNK);
    let left = chunks.next_power_of_two() / 2;
    let (start, end) = message.split_at(CHUNK * left);
    let children = [
        subtree(key, flags, first, start),
        subtree(key, flags, first + left as u64, end),
    ];
    let values = children
        .iter()
        .flat_map(|child| child.output(0)[..8].to_vec());
    Node {
        h: key.to_vec(),
        block: values.collect(),
        inputs: Inputs {
            counter: [0, 0],
            length: 64,
            flags: flags | flag::PARENT,
        },
    }
}

/// The last block of a chunk, with the chaining value of the blocks before it.
fn last_block(key: &[u32], flags: u32, number: u64, message: &[u8]) -> Node {
    let counter = [number as u32, (number >> 32) as u32];
    let mut blocks: Vec<&[u8]> = message.chunks(64).collect();
    let last = blocks.pop().unwrap_or_default();
    let (mut h, mut start) = (key.to_vec(), flag::CHUNK_START);
    for block in blocks {
        let inputs = Inputs {
            counter,
            length: 64,
            flags: flags | start,
        };
        h = compress(&mut Numbers, &h, &words(block), &inputs);
        h.truncate(8);
        start = 0;
    }
    let mut padded = last.to_vec();
    padded.resize(64, 0);
    Node {
        h,
        block: words(&padded),
        inputs: Inputs {
            counter,
            length: last.len() as u32,
            flags: flags | start | flag::CHUNK_END,
        },
    }
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let words = bytes.as_chunks::<4>().0.iter();
    words.map(|word| u32::from_le_bytes(*word)).collect()
}
