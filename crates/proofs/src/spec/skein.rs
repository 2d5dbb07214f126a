//! UBI chaining and tree nodes (The Skein Hash Function Family, version 1.3, sections 3.4 and
//! 3.5.6).

use super::threefish;
use sealstone_prover::algebra::Algebra;

/// The position of a block: fields of the tweak (section 3.4, table 5).
#[derive(Clone, Copy)]
pub struct Place {
    /// Bits 112 to 118: the level in the tree.
    pub level: u64,
    /// Bits 120 to 125: the type of the argument.
    pub kind: u64,
    /// Bit 126.
    pub first: bool,
    /// Bit 127.
    pub last: bool,
}

/// Table 6: the type of a message.
pub const MESSAGE: u64 = 48;
/// Table 6: the type of the output.
pub const OUTPUT: u64 = 63;

impl Place {
    /// The upper word of the tweak, if the position is below 2^64.
    pub fn word(self) -> u64 {
        self.level << 48
            | self.kind << 56
            | u64::from(self.first) << 62
            | u64::from(self.last) << 63
    }
}

/// One step of UBI: H_{i+1} = E(H_i, T, M_i) ⊕ M_i.
pub fn step<A: Algebra<64>>(
    a: &mut A,
    chain: &[A::Word],
    tweak: &[A::Word],
    block: &[A::Word],
) -> Vec<A::Word> {
    let cipher = threefish::encrypt(a, chain, tweak, block);
    cipher
        .iter()
        .zip(block)
        .map(|(cipher, word)| a.xor(cipher, word))
        .collect()
}

/// A full node: UBI over whole blocks, the first of which begins at byte `position` of its level.
pub fn node<A: Algebra<64>>(
    a: &mut A,
    start: &[A::Word],
    level: u64,
    position: &A::Word,
    blocks: &[A::Word],
) -> Vec<A::Word> {
    let mut chain = start.to_vec();
    let count = blocks.len() / 8;
    for (i, block) in blocks.chunks(8).enumerate() {
        let place = Place {
            level,
            kind: MESSAGE,
            first: i == 0,
            last: i + 1 == count,
        };
        let bytes = a.number(64 * (i as u64 + 1));
        let tweak = [a.add(position, &bytes), a.number(place.word())];
        chain = step(a, &chain, &tweak, block);
    }
    chain
}

/// The upper word of the tweak of a message block in a node, before the flags (section 3.4, table
/// 5; section 3.5.6): a level of seven bits, the type of a message.
pub fn message_in_tree<A: Algebra<64>>(a: &mut A, level: &A::Word) -> A::Word {
    let mask = a.number(0x7f);
    let level = a.and(level, &mask);
    let level = a.rotate_left(&level, 48);
    let kind = a.number(MESSAGE << 56);
    a.xor(&level, &kind)
}

/// Bit 126 of the tweak, in its upper word: the first block of a UBI call.
pub const FIRST: u64 = 1 << 62;
/// Bit 127: the last one.
pub const FINAL: u64 = 1 << 63;

/// The tweak with `bytes` more bytes processed: the position is its lower 96 bits.
fn advance<A: Algebra<64>>(a: &mut A, tweak: &[A::Word], bytes: &A::Word) -> [A::Word; 2] {
    let carry = a.carry(&tweak[0], bytes);
    [a.add(&tweak[0], bytes), a.add(&tweak[1], &carry)]
}

/// The inner blocks of a UBI call (section 3.4): whole blocks without the last one. Returns the
/// chaining value and the tweak after them.
pub fn inner_blocks<A: Algebra<64>>(
    a: &mut A,
    chain: &[A::Word],
    tweak: &[A::Word],
    blocks: &[A::Word],
) -> (Vec<A::Word>, Vec<A::Word>) {
    let (mut chain, mut tweak) = (chain.to_vec(), tweak.to_vec());
    let bytes = a.number(8 * chain.len() as u64);
    let not_first = a.number(!FIRST);
    for block in blocks.chunks(chain.len()) {
        let [low, high] = advance(a, &tweak, &bytes);
        chain = step(a, &chain, &[low.clone(), high.clone()], block);
        tweak = vec![low, a.and(&high, &not_first)];
    }
    (chain, tweak)
}

/// The end of a UBI call: its last block, `bytes` bytes of which are message and the others zero.
pub fn last_block<A: Algebra<64>>(
    a: &mut A,
    chain: &[A::Word],
    tweak: &[A::Word],
    block: &[A::Word],
    bytes: &A::Word,
) -> Vec<A::Word> {
    let [low, high] = advance(a, tweak, bytes);
    let (last, others) = (a.number(FINAL), a.number(!FINAL));
    let high = a.and(&high, &others);
    let high = a.xor(&high, &last);
    step(a, chain, &[low, high], block)
}

/// Block `i` of the output (section 3.5.3): UBI over the eight bytes of `i`, from the last chaining
/// value.
pub fn output<A: Algebra<64>>(a: &mut A, chain: &[A::Word], i: &A::Word) -> Vec<A::Word> {
    let place = Place {
        level: 0,
        kind: OUTPUT,
        first: true,
        last: true,
    };
    let tweak = [a.number(8), a.number(place.word())];
    let mut block = vec![i.clone()];
    block.resize(chain.len(), a.number(0));
    step(a, chain, &tweak, &block)
}
