//! The claim about the reference index, and its inputs.

use super::case::Case;
use super::exact::is_exact;
use super::expression::{Expression, Formula, Truth};
use super::number::{Number, at_most, implies};
use super::rfc9106;
use sealstone_argon2::{Reference, Segment};
use sealstone_lanes::{Index, Word};

/// The kinds of segments that the program flow distinguishes: whether it is the first pass, and the
/// slice.
pub const SEGMENTS: [(bool, usize); 8] = [
    (true, 0),
    (true, 1),
    (true, 2),
    (true, 3),
    (false, 0),
    (false, 1),
    (false, 2),
    (false, 3),
];

/// A method to find references.
pub trait Mapping {
    /// The reference of the block of this case.
    fn reference<N: Index>(&self, cpu: N::Cpu, case: &Case<N>) -> Reference<N>;
}

/// The shipped source.
#[derive(Clone, Copy, Debug)]
pub struct Shipped;

impl Mapping for Shipped {
    fn reference<N: Index>(&self, cpu: N::Cpu, case: &Case<N>) -> Reference<N> {
        let Case {
            first_pass,
            slice,
            lanes,
            length,
            lane,
            index,
            word,
        } = *case;
        Segment::new(cpu, first_pass, slice, lane, lanes, length).reference(cpu, index, word)
    }
}

/// A claim about each reference, under the premises of its [`Case`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lemma {
    /// No operation wraps or truncates.
    NothingWraps,
    /// It is a block of the memory.
    InRange,
    /// It has been computed before, and no other thread can write it at the same time: in its own
    /// segment it is an earlier block, else it is in another slice; in pass 0, in an earlier one.
    Written,
    /// It is not the previous block. For the first block of a segment, this is the last block of
    /// the previous slice, in any lane.
    NotJustBefore,
    /// It is the block of RFC 9106.
    AsRfc9106,
}

impl Lemma {
    /// All lemmas. The others depend on the first.
    pub const ALL: [Self; 5] = [
        Self::NothingWraps,
        Self::InRange,
        Self::Written,
        Self::NotJustBefore,
        Self::AsRfc9106,
    ];

    /// A short name.
    pub fn name(self) -> &'static str {
        match self {
            Self::NothingWraps => "no operation wraps",
            Self::InRange => "reference in range",
            Self::Written => "only blocks already written",
            Self::NotJustBefore => "never the block just before",
            Self::AsRfc9106 => "equals RFC 9106, 3.4.2",
        }
    }

    /// The claim as a formula.
    pub fn formula<'f>(
        self,
        formula: &'f Formula,
        case: &Case<Expression<'f>>,
        reference: Reference<Expression<'f>>,
    ) -> Truth<'f> {
        self.claim(formula, case, reference).unwrap_or_else(|| {
            let results = [reference.slice, reference.block];
            let zero = Expression::splat(formula, 0);
            is_exact(&results).unwrap_or_else(|| zero.is_equal(zero))
        })
    }

    /// The claim about `reference`; `None` if it is about the operations, not about the result.
    pub fn claim<N: Number>(
        self,
        cpu: N::Cpu,
        case: &Case<N>,
        reference: Reference<N>,
    ) -> Option<N::Truth> {
        match self {
            Self::NothingWraps => None,
            Self::InRange => Some(in_range(cpu, case, reference)),
            Self::Written => Some(written(cpu, case, reference)),
            Self::NotJustBefore => Some(not_just_before(cpu, case, reference)),
            Self::AsRfc9106 => Some(as_rfc9106(cpu, case, reference)),
        }
    }
}

fn in_range<N: Number>(cpu: N::Cpu, case: &Case<N>, reference: Reference<N>) -> N::Truth {
    let Reference { slice, block } = reference;
    slice.is_below(N::splat(cpu, 4)) & block.is_below(case.lanes * case.length)
}

fn written<N: Number>(cpu: N::Cpu, case: &Case<N>, reference: Reference<N>) -> N::Truth {
    let Reference { slice, block } = reference;
    let start = case.lane * case.length;
    let in_own_segment = at_most(start, block) & block.is_below(start + case.index);
    let claim = implies(case.is_current(cpu, slice), in_own_segment);
    if case.first_pass {
        claim & at_most(slice, N::splat(cpu, case.slice as u64))
    } else {
        claim
    }
}

fn not_just_before<N: Number>(cpu: N::Cpu, case: &Case<N>, reference: Reference<N>) -> N::Truth {
    let Reference { slice, block } = reference;
    let number = |x| N::splat(cpu, x);
    let before = case.lane * case.length + case.index;
    let is_before = case.is_current(cpu, slice) & (block + number(1)).is_equal(before);
    // The lane that the word selects. The last lemma shows that the block is in it.
    let lane = rfc9106::lane(case, case.word / number(1 << 32));
    let end = (lane + number(1)) * case.length;
    let previous = number((case.slice as u64 + 3) % 4);
    let is_last = slice.is_equal(previous) & (block + number(1)).is_equal(end);
    !is_before & !(case.index.is_equal(number(0)) & is_last)
}

fn as_rfc9106<N: Number>(cpu: N::Cpu, case: &Case<N>, reference: Reference<N>) -> N::Truth {
    let Reference { slice, block } = reference;
    let (l, z) = rfc9106::reference(cpu, case);
    let start = l * case.length;
    let is_in_lane = at_most(start, block) & block.is_below(start + case.length);
    // Column z of lane l, derived from the slice; by cases, which is easier to prove than a
    // product.
    let is_column = |s: u64| {
        let column = case.length * N::splat(cpu, s);
        implies(
            slice.is_equal(N::splat(cpu, s)),
            (column + block).is_equal(z + start),
        )
    };
    let is_slice = slice.is_below(N::splat(cpu, 4));
    is_in_lane & is_slice & is_column(0) & is_column(1) & is_column(2) & is_column(3)
}
