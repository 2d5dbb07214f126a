//! Lemmas about Argon2's reference index, for all inputs, by solvers of others.
//!
//! The rest of this crate shows that two computations agree on every bit. Here the question is
//! another one: before Argon2 computes a block it chooses an earlier one, from a pseudo-random
//! word; is the block it chooses always there? For every number of lanes, every amount of memory,
//! every position and all 2^64 words? No bit-by-bit comparison answers that, but a solver for
//! arithmetic (an *SMT solver*) does.
//!
//! # How
//!
//! 1. The shipped source is generic over its words. [`Expression`] is a word that does not compute
//!    but writes down: run on it, `Segment::new` and `Segment::reference` yield the formula of what
//!    they do. Nothing is copied or translated by hand.
//! 2. A [`Lemma`] is a statement about the reference, and a [`Case`] the premises: what Argon2's
//!    parameters allow.
//! 3. The solver gets the premises and the *opposite* of the statement, and is asked for numbers
//!    that satisfy both. Its answer `unsat`, there are none, proves the statement. `sat` comes with
//!    a counter-example, which can be tried on the real code. `unknown`, or no answer in time,
//!    counts as not proved.
//!
//! Premises that contradict each other would prove anything, so the solver is also asked for
//! numbers that satisfy the premises alone, and must say `sat`.
//!
//! Whether it is the first pass and which slice it is are not numbers but program flow, so each
//! lemma is asked eight times, once for each. Two solvers are asked that have nothing in common, z3
//! and cvc5. Neither is trusted alone.
//!
//! # Integers, not machine words
//!
//! Formulas are printed as integer arithmetic. Products of unknowns are hard for solvers that work
//! by bits (minutes, or no answer at all) and easy over integers (a fraction of a second). For this
//! to say anything about machine words, no operation may wrap around or cut bits off. That is
//! itself the first lemma, [`Lemma::NothingWraps`]: each operation has the condition under which a
//! machine word and an integer agree (no carry out of 64 bits, no borrow, factors below 2^32, …),
//! and all those that the result depends on hold. Then by induction, operation by operation from
//! the inputs on, the integers of the other lemmas are the machine words. An operation whose result
//! is not selected may wrap.
//!
//! The one intended cut, J1 as the low half of the pseudo-random word, is in the formula.
//!
//! # What is not shown here
//!
//! References that are computed but not used: those of blocks 0 and 1 in the first segment and of
//! blocks behind the end of a segment. They are hints to the cache, which may be wrong, and the
//! operations on them are total.

mod case;
mod claims;
mod exact;
mod expression;
mod number;
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
pub use questions::{Row, Verdict, holds, json, prove, table};
pub use solvers::solvers;
