//! Blocks of 1024 bytes, and the order of their words in memory.
//!
//! A block is an 8 × 8 matrix of 16-byte registers (RFC 9106, section 3.5), so a matrix row is 16
//! words. In memory, cache line `4k + q` holds words 4q to 4q + 3 of matrix rows 2k and 2k + 1, in
//! halves: words 4q and 4q + 1 of both rows, then the other words of both.
//!
//! These are the vectors that [`compress`](crate::compress()) works on. No word moves when a block
//! is read or written, or between the work on rows and on columns: each half is also a row of the 4
//! × 4 matrix that P makes of a matrix column.

use sealstone_lanes::Line;

/// A block: one KiB of aligned memory.
pub type Block<W = u64> = [Line<W>; 16];

/// A block of zeros.
pub const ZERO_BLOCK: Block = [Line([0; 8]); 16];

/// Words in a block.
pub const WORDS: usize = 128;

/// The cache line of word `word` of a block, and the index in the line. RFC 9106 numbers the words.
pub const fn place(word: usize) -> (usize, usize) {
    let (row, column) = (word / 16, word % 16);
    let lane = 4 * (column % 4 / 2) + 2 * (row % 2) + column % 2;
    (4 * (row / 2) + column / 4, lane)
}

/// The block of these words.
pub fn from_words<W: Copy>(words: &[W; WORDS]) -> Block<W> {
    let mut block = [Line([words[0]; 8]); 16];
    for (word, value) in words.iter().enumerate() {
        let (line, lane) = place(word);
        block[line].0[lane] = *value;
    }
    block
}

/// The words of this block.
pub fn to_words<W: Copy>(block: &Block<W>) -> [W; WORDS] {
    core::array::from_fn(|word| {
        let (line, lane) = place(word);
        block[line].0[lane]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_a_place_of_its_own() {
        let words = core::array::from_fn(|i| i);
        let block = from_words(&words);
        assert_eq!(to_words(&block), words);
        assert_eq!(block[1].0, [4, 5, 20, 21, 6, 7, 22, 23]);
        assert_eq!(block[4].0[0], 32);
    }
}
