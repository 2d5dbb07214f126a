//! Lemmas about Argon2's reference index and about the cut of a message into blocks, for all
//! inputs, proved by external solvers.
//!
//! The rest of this crate shows that two computations agree on every bit. Here the question
//! differs. Before Argon2 computes a block, it chooses an earlier one from a pseudo-random word.
//! Does the chosen block always exist, for every number of lanes, every amount of memory, every
//! position and all 2^64 words? A bit-by-bit comparison cannot answer that. A solver for arithmetic
//! (an *SMT solver*) can.
//!
//! # How
//!
//! 1. The shipped source is generic over its words. [`Expression`] is a word that records
//!    operations instead of computing. `Segment::new` and `Segment::reference` on it yield their
//!    formula. Nothing is copied or translated by hand.
//! 2. A [`Lemma`] is a statement about the reference. A [`Case`] has the premises: the limits of
//!    Argon2's parameters. For [`Cut`](sealstone_lanes::Cut) they are [`PartLemma`] and
//!    [`PartCase`].
//! 3. The solver gets the premises and the *opposite* of the statement, and searches numbers that
//!    satisfy both. The answer `unsat` (there are none) proves the statement. `sat` comes with a
//!    counterexample, which can be tried on the real code. `unknown`, or no answer in time, counts
//!    as not proved.
//!
//! Contradictory premises would prove anything. So the solver must also answer `sat` for the
//! premises alone.
//!
//! The first pass and the slice are program flow, not numbers. So the solver gets each lemma eight
//! times, once for each of these cases. A block has one of three sizes, so the solver gets each
//! lemma about the cut three times. Two independent solvers must agree, z3 and cvc5.
//!
//! # Integers, not machine words
//!
//! Formulas are printed as integer arithmetic. Products of unknowns are hard for solvers on bits
//! (minutes, or no answer) and easy over integers (a fraction of a second). This is valid for
//! machine words only if no operation wraps around or truncates. That is the first lemma,
//! [`Lemma::NothingWraps`]: each operation has the condition under which a machine word and an
//! integer agree (no carry out of 64 bits, no borrow, factors below 2^32, …), and the conditions of
//! all operations that the result depends on hold. Then by induction over the operations, the
//! integers of the other lemmas are the machine words. An operation whose result is not selected
//! may wrap.
//!
//! The one intended truncation, J1 as the low half of the pseudo-random word, is in the formula.
//!
//! # The cut of a part
//!
//! BLAKE2b and Skein hash all blocks of a message but the last one, which waits until more bytes
//! follow. A part of a message may have up to 2^63 - 1 bytes. A test cannot try every length. So
//! one function computes the numbers of the cut, and the lemma is about all lengths. A count of
//! blocks with too few bits is planted in the tests, and refuted.
//!
//! # Not covered
//!
//! References that are computed but not used: those of blocks 0 and 1 in the first segment, and of
//! blocks after the end of a segment. They are prefetch hints, which may be wrong, and the
//! operations on them are total.

mod case;
mod claims;
mod exact;
mod expression;
mod number;
mod parts;
mod questions;
pub(crate) mod rfc9106;
mod smt;
mod solvers;
#[cfg(test)]
mod tests;

pub use case::Case;
pub use claims::{Lemma, Mapping, SEGMENTS, Shipped};
pub use expression::{Expression, Formula, Truth};
pub use number::{Logic, Number};
pub use parts::{Cutting, PartCase, PartLemma};
pub use questions::{LemmaVerdict, Row, holds, json, table};
pub use solvers::solvers;

use questions::{ask_about, each};
use sealstone_prover::solver::Solver;
use std::io;

/// Asks each solver for all lemmas about the shipped source.
///
/// # Errors
/// If a solver cannot be run.
pub fn prove_lemmas(solvers: &[Solver]) -> io::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for lemma in Lemma::ALL {
        let ask =
            |solver: &_| ask_about(&SEGMENTS, lemma, &Shipped, solver).map(LemmaVerdict::described);
        rows.extend(each(
            "Argon2's reference index",
            lemma.name(),
            solvers,
            ask,
        )?);
    }
    for lemma in PartLemma::ALL {
        let ask = |solver: &_| lemma.ask(&Shipped, solver).map(LemmaVerdict::described);
        rows.extend(each("the cut of a part", lemma.name(), solvers, ask)?);
    }
    Ok(rows)
}
