//! UBI chaining and tree nodes (The Skein Hash Function Family, version 1.3, sections 3.4 and 3.5.6), with 512-bit state.

use super::{Algebra, threefish};

/// Where a block stands: fields of the tweak (section 3.4, table 5).
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
