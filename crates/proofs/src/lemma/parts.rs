//! The claim about the cut of a part of a message into blocks, for every length.

use super::claims::Shipped;
use super::exact::is_exact;
use super::expression::{Expression, Formula, Truth};
use super::number::{Number, at_most, implies};
use super::questions::{LemmaVerdict, Question, verdict};
use super::smt;
use sealstone_lanes::{Cut, Index, Word};
use sealstone_prover::solver::Solver;
use std::io;

/// The bytes in a block of Skein-256, of Skein-512, and of BLAKE2b and Skein-1024.
pub(super) const BLOCKS: [usize; 3] = [32, 64, 128];

/// A method to cut a part.
pub trait Cutting {
    /// The cut of a part of this case.
    fn cut<N: Index>(&self, cpu: N::Cpu, case: &PartCase<N>) -> Cut<N>;
}

impl Cutting for Shipped {
    fn cut<N: Index>(&self, cpu: N::Cpu, case: &PartCase<N>) -> Cut<N> {
        Cut::new(cpu, case.block, case.filled, case.length)
    }
}

/// A part that is about to be cut.
#[derive(Clone, Copy, Debug)]
pub struct PartCase<N> {
    /// B, the bytes in a block.
    pub block: usize,
    /// The bytes that wait.
    pub filled: N,
    /// The bytes in the part.
    pub length: N,
}

impl<'f> PartCase<Expression<'f>> {
    /// All parts for blocks of this size.
    pub fn any(formula: &'f Formula, block: usize) -> Self {
        Self {
            block,
            filled: formula.input("filled"),
            length: formula.long_input("high", "low"),
        }
    }
}

impl<N: Number> PartCase<N> {
    /// At most one block waits. A slice of Rust has less than 2^63 bytes.
    pub fn premises(&self, cpu: N::Cpu) -> Vec<N::Truth> {
        let number = |x| N::splat(cpu, x);
        vec![
            at_most(self.filled, number(self.block as u64)),
            self.length.is_below(number(1 << 63)),
        ]
    }
}

/// A claim about each cut, under the premises of its [`PartCase`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartLemma {
    /// No operation wraps or truncates.
    NothingWraps,
    /// All whole blocks are cut off, except the last block of the message so far.
    LastBlockWaits,
}

impl PartLemma {
    /// All lemmas. The second depends on the first.
    pub const ALL: [Self; 2] = [Self::NothingWraps, Self::LastBlockWaits];

    /// A short name.
    pub fn name(self) -> &'static str {
        match self {
            Self::NothingWraps => "no operation wraps",
            Self::LastBlockWaits => "all blocks but the last are cut off, for every length",
        }
    }

    /// The claim as a formula.
    pub fn formula<'f>(
        self,
        formula: &'f Formula,
        case: &PartCase<Expression<'f>>,
        cut: Cut<Expression<'f>>,
    ) -> Truth<'f> {
        if self == Self::LastBlockWaits {
            return last_block_waits(formula, case, cut);
        }
        let [zero, one] = [0, 1].map(|x| Expression::splat(formula, x));
        let ends_block = Expression::select(cut.ends_block, one, zero);
        let exact = is_exact(&[ends_block, cut.head, cut.blocks]);
        exact.unwrap_or_else(|| zero.is_equal(zero))
    }

    /// The verdict for all sizes of blocks.
    ///
    /// # Errors
    /// If the solver cannot be run.
    pub fn ask(
        self,
        cutting: &impl Cutting,
        solver: &Solver,
    ) -> io::Result<LemmaVerdict<PartCase<u64>>> {
        let questions = BLOCKS.map(|block| Question {
            opposite: self.question(cutting, block, false),
            possible: possible(block),
            with_values: self.question(cutting, block, true),
            case: Box::new(move |value| {
                Some(PartCase {
                    block,
                    filled: value("filled")?,
                    length: value("high")? << 32 | value("low")?,
                })
            }),
        });
        verdict(&questions, solver)
    }

    fn question(self, cutting: &impl Cutting, block: usize, with_values: bool) -> String {
        let formula = Formula::default();
        let case = PartCase::any(&formula, block);
        let premises = case.premises(&formula);
        let claim = self.formula(&formula, &case, cutting.cut(&formula, &case));
        let mut text = smt::question(&formula, &premises, claim);
        if with_values {
            text += &smt::values(&formula);
        }
        text
    }
}

fn possible(block: usize) -> String {
    let formula = Formula::default();
    let premises = PartCase::any(&formula, block).premises(&formula);
    smt::possible(&formula, &premises)
}

/// The claim about `cut`.
///
/// `filled` + `length` bytes of the message are not hashed. If they fit into a block, nothing is
/// cut off. Otherwise whole blocks are cut off, and 1 to B bytes remain. The first of these blocks
/// begins with the waiting bytes, if there are any.
pub(super) fn last_block_waits<N: Number>(
    cpu: N::Cpu,
    case: &PartCase<N>,
    cut: Cut<N>,
) -> N::Truth {
    let number = |x| N::splat(cpu, x);
    let (zero, block) = (number(0), number(case.block as u64));
    let is_longer = block.is_below(case.filled + case.length);
    let nothing = cut.head.is_equal(zero) & cut.blocks.is_equal(zero);
    let waits = !case.filled.is_equal(zero);
    let off = cut.head + block * cut.blocks;
    let head = implies(waits, (case.filled + cut.head).is_equal(block))
        & implies(!waits, cut.head.is_equal(zero));
    let remains = off.is_below(case.length) & at_most(case.length, off + block);
    implies(is_longer, cut.ends_block & head & remains)
        & implies(!is_longer, !cut.ends_block & nothing)
}
