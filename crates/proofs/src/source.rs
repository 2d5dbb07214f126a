//! The second line of proof: the kernels' source, run on formulas.
//!
//! The first line reads machine code. It needs to know what instructions do, and it stops at the
//! instruction sets that the decoder and the models know: x86-64. This line reads no machine code
//! at all. It takes the generic Rust source of the kernels as it is shipped, and has the compiler
//! instantiate it with one more kind of word.
//!
//! # How
//!
//! The kernels are generic over the traits of `sealstone-lanes`: `Word` (add, exclusive or, rotate,
//! …), `Scalar` (a word and its bytes), rows and lanes of them. With `u64` or a vector register in
//! place of the word, the source computes numbers. With a [`Symbol`] it computes *formulas*: each
//! of its bits is a [`Bit`](sealstone_prover::term::Bit), which is the same number for the same
//! formula. The inputs are unknowns; the specification runs on the same unknowns; then all bits of
//! the two results are compared. If they are the same formulas, source and specification agree for
//! all values of the unknowns at once.
//!
//! The traits have no comparison and no conversion to a number, so the source cannot look at what
//! it computes with: there is exactly one path through it, and running it once runs all of it.
//!
//! # What is shown
//!
//! - **Kernels**, bit by bit: G of Argon2 in each of the four ways in which rows are arranged
//!   ([`arrangement`]), F of BLAKE2b, Threefish in three sizes and both directions, nodes of the
//!   tree in 1, 2, 4, 8 and 9 lanes, at positions that end below 2^64.
//! - **Whole hashes** against their own specifications ([`modes`]), on words of another kind: a
//!   [`Value`] is known by how it was made, not by its bits. *BLAKE2b and H′* with an
//!   uninterpreted F: nothing is known of it but that equal arguments give equal results. *Skein*,
//!   every round of it, in three steps (before the message, the message, the output), each from any
//!   chaining value, for the lengths and cuts that the row names. On the same words: Threefish's
//!   decryption undoes its encryption.
//! - **Every length** (`lengths`): BLAKE2b and UBI of any message, cut anywhere, by induction over
//!   its parts, on values with F and Threefish uninterpreted.
//! - **Argon2's fill loop** (`fill`), on kernels that look at the blocks that they get, for the
//!   sizes that the rows name. CHECKED too: each reference of each block, not every combination.
//! - **The shape of trees**, on numbers: for every number of leaves, one message. Its verdict is
//!   CHECKED, not PROVED: that the shape is right follows if nobody has found a collision of Skein;
//!   that it is the same for all messages is not shown.
//!
//! # Two kinds of words
//!
//! Kernels and whole hashes go wrong in different ways. In a kernel it is a rotation, a constant, a
//! lane: what matters is what the operations do to bits, and a [`Symbol`] knows that. Around
//! kernels it is a position, a flag, a byte in the wrong block, a part cut wrongly: what matters is
//! what the operations are given. There a [`Value`] is enough, a number that stands for an
//! operation and its operands; the same operation on the same operands has the same number.
//!
//! That is sound, because only this is used: *equal operands give equal results*, and the few
//! equations of words that `value.rs` lists. They hold for real words. So if every word of the
//! computed result has the number of the specified one, both are equal for all inputs, by induction
//! over the operations. F of BLAKE2b counts as one operation, in the source and in the
//! specification, and both sides are compared in all 27 words that they give to it, each time; that
//! the source's F is the specified F, for all arguments, is the row of the kernel. Threefish is
//! uninterpreted in the rows of every length only; elsewhere its rounds are run on both sides, as
//! operations.
//!
//! It is not complete: results that are equal, but made in another way, are UNPROVED. Results that
//! are not equal are never proved, and their counterexamples come from real operations on random
//! inputs.
//!
//! # What it means for an instruction set
//!
//! The proof is about the algorithm, *given that a back end keeps the contract of the traits*: that
//! `add` adds, that `turn` turns. The back end here is made of arrays of symbols, whose lanes are
//! moved as the documentation of the traits says. The intrinsics of a back end of vectors are not
//! looked at, nor how it puts its own operations together. For AVX2 and AVX-512 the first line
//! closes this gap: it proves the machine code, intrinsics included. For NEON nothing does but the
//! tests of `sealstone-lanes`, which compare each operation with arrays of `u64` by an emulator
//! (`make test-platforms`). And this line trusts the compiler, which the first one does not. Where
//! both lines speak of a kernel, both must hold.
//!
//! Not covered either: what is not generic. `Skein` and `Output` (copying whole blocks to a buffer,
//! clearing the last bits), `TreeSkein`, and of Argon2 what is around the fill loop: H0, the first
//! and last blocks, threads. Tests compare them with other implementations.
//!
//! # Bugs that it must find
//!
//! The tests plant them below the source: a word that rotates by one bit less, a row that swaps two
//! lanes, a tweak with a wrong position, flag, level or type, a message whose bytes change places,
//! a block that is not added to its cipher, a wrong configuration, padding or counter. Or beside
//! it: a key that is left out, parts that are joined wrongly, a wipe that comes too early, a tree
//! of another shape or without its last leaf, blocks that are left out or counted twice, a wrong
//! index in Argon2's fill loop. Each must be refuted, and the counterexample must
//! give the same wrong result when the same source runs on its numbers.

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

pub use counterexample::{Counterexample, Verdict};
pub use rows::{Row, json, table};
pub use symbol::{Arena, Symbol, SymbolicByte};
pub use value::{Value, ValueByte, Values};

use rows::Claim;

/// Tries every claim whose name contains `only`, on all cores.
pub fn prove_all(only: &str) -> Vec<Row> {
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
    fn what_is_claimed_holds() {
        let rows = prove_all("");
        println!("{}", table(&rows));
        assert!(!rows.is_empty() && rows.iter().all(|row| row.verdict.holds()));
    }
}
