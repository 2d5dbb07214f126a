//! The second line of proof: the kernels' source, run on formulas.
//!
//! The first line reads machine code. It needs models of instructions, and it covers only the
//! instruction sets that the decoder and the models know: x86-64. This line reads no machine code.
//! It takes the generic Rust source of the kernels as shipped, and instantiates it with one more
//! kind of word.
//!
//! # How
//!
//! The kernels are generic over the traits of `sealstone-lanes`: `Word` (add, exclusive or, rotate,
//! …), `Scalar` (a word and its bytes), rows and lanes of them. With `u64` or a vector register in
//! place of the word, the source computes numbers. With a [`Symbol`] it computes *formulas*: each
//! of its bits is a [`Bit`](sealstone_prover::term::Bit), and equal formulas have equal numbers.
//! The inputs are unknowns. The specification runs on the same unknowns. Then all bits of the two
//! results are compared. If the formulas are equal, source and specification agree for all values
//! of the unknowns at once.
//!
//! The traits have no comparison and no conversion to a number, so the source cannot branch on its
//! words. There is exactly one path through it, and one run covers all of it.
//!
//! # Claims
//!
//! - **Kernels**, bit by bit: G of Argon2 in each of the four ways in which rows are arranged
//!   ([`arrangement`]), F of BLAKE2b, Threefish in three sizes and both directions, nodes of the
//!   tree in 1, 2, 4, 8 and 9 lanes, at positions that end below 2^64.
//! - **Whole hashes** against their own specifications ([`modes`]), on words of another kind: a
//!   [`Value`] is identified by its operations, not by its bits. *BLAKE2b and H′* with an
//!   uninterpreted F: only equal arguments give equal results. *Skein* with all rounds, in three
//!   steps (before the message, the message, the output), each from any chaining value, for the
//!   lengths and cuts that the row names, and all three in one hash. On the same words: Threefish's
//!   decryption inverts its encryption.
//! - **Every length** (`lengths`): BLAKE2b and UBI of any string, cut anywhere. The induction is
//!   over its parts, and over the whole blocks of a part. F and Threefish are uninterpreted. A
//!   [lemma](crate::lemma) has the arithmetic of the cut. Output of any length, read in any parts,
//!   is by induction over the blocks of a part. The levels of the tree of sealed files above its
//!   pieces are by induction over the children of a level.
//! - **Argon2's fill loop** (`fill`), on kernels that check their blocks, for the sizes that the
//!   rows name. CHECKED, not PROVED: each reference of each block, not every combination.
//! - **The shape of trees**, on numbers: one message for every number of leaves, and one list of
//!   values for every number of pieces. Its verdict is CHECKED, not PROVED: the shape is right
//!   unless the test has found a collision of Skein. The rows do not show that it is the same for
//!   all messages.
//!
//! # Two kinds of words
//!
//! Kernels and whole hashes have different bugs. In a kernel, a rotation, a constant or a lane may
//! be wrong. These bugs change the bits of results, which a [`Symbol`] has. Around kernels, a
//! position, a flag, the place of a byte or a cut of the message may be wrong. These bugs change
//! operands. For them a [`Value`] is enough, a number for an operation and its operands. The same
//! operation on the same operands has the same number.
//!
//! That is sound, because the proofs use only this: *equal operands give equal results*, and the
//! few equations of words that `value.rs` lists. They hold for real words. So if every word of the
//! computed result has the number of the specified word, both are equal for all inputs, by
//! induction over the operations. F of BLAKE2b is one operation, in the source and in the
//! specification. All 27 words of its arguments are compared each time. The row of the kernel shows
//! that the source's F is the specified F for all arguments. Threefish is uninterpreted in the rows
//! of every length only. In other rows, its rounds run on both sides, as operations.
//!
//! The method is not complete: equal results of different operations are UNPROVED. Unequal results
//! are never proved, and their counterexamples come from real operations on random inputs.
//!
//! # Instruction sets
//!
//! The proof covers the algorithm, *if a back end fulfils the contract of the traits*: for example,
//! `add` adds, and `turn` rotates. The back end here has arrays of symbols, whose lanes move as the
//! documentation of the traits says. The proof covers neither the intrinsics of a vector back end
//! nor the operations that it composes of them. For AVX2 and AVX-512 the first line closes this
//! gap: it proves the machine code, including intrinsics. For NEON only the tests of
//! `sealstone-lanes` do: they compare each operation with arrays of `u64` in an emulator (`make
//! test-platforms`). This line trusts the compiler, and the first line does not. If both lines
//! cover a kernel, both must hold.
//!
//! Code that is not generic is not covered either: `Output::seek`, `Output::position`, `TreeSkein`,
//! and the parts of Argon2 around the fill loop: H0, the first and last blocks, threads. Tests
//! compare them with other implementations.
//!
//! # Planted bugs
//!
//! The tests plant bugs below the source: a word that rotates by one bit less, a row that swaps two
//! lanes, a tweak with a wrong position, flag, level or type, a message with swapped bytes, a block
//! that is not added to its cipher, a wrong configuration, padding or counter. Others are beside
//! the source: a missing key, wrongly joined parts, a wipe that comes too early, a tree of another
//! shape or without its last leaf, blocks that are missing or counted twice, a loop that is wrong
//! from the ninth block on, output that counts its blocks or its bytes wrongly, a wrong index in
//! Argon2's fill loop. Each must be refuted. Where a counterexample has all inputs of the source,
//! the source must give the same wrong result on its numbers. Output that does not count the bits
//! that are left must not be proved.

mod argon2;
pub mod arrangement;
mod blake2b;
mod counterexample;
mod fill;
mod input;
mod lengths;
pub mod modes;
#[cfg(test)]
mod planted;
mod rows;
mod skein;
mod symbol;
mod threefish;
mod tree;
mod uninterpreted;
mod value;

pub use counterexample::{Counterexample, SourceVerdict};
pub use rows::{Row, json, table};
pub use symbol::{Arena, Symbol, SymbolicByte};
pub use value::{Value, ValueByte, Values};

use rows::Claim;

/// Tries every claim whose name contains `only`, on all cores.
pub fn prove_claims(only: &str) -> Vec<Row> {
    let claims = [
        argon2::claims(),
        blake2b::claims(),
        lengths::claims(),
        fill::claims(),
        threefish::claims(),
        skein::claims(),
        tree::claims(),
    ];
    let claims: Vec<Claim> = claims
        .into_iter()
        .flatten()
        .filter(|claim| claim.name.contains(only))
        .collect();
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let share = |first| {
        let own = claims.iter().enumerate().skip(first).step_by(workers);
        own.map(|(number, claim)| (number, claim.row()))
            .collect::<Vec<_>>()
    };
    let mut rows: Vec<(usize, Row)> = std::thread::scope(|scope| {
        let share = &share;
        let threads: Vec<_> = (0..workers)
            .map(|first| scope.spawn(move || share(first)))
            .collect();
        let finished = threads.into_iter().map(|thread| thread.join());
        finished
            .flat_map(|rows| rows.expect("a claim is decided, it does not panic"))
            .collect()
    });
    rows.sort_by_key(|(number, _)| *number);
    rows.into_iter().map(|(_, row)| row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[ignore = "make prove does the same"]
    fn every_claim_holds() {
        let rows = prove_claims("");
        println!("{}", table(&rows));
        assert!(!rows.is_empty() && rows.iter().all(|row| row.verdict.holds()));
    }
}
