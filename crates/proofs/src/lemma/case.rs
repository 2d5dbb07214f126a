//! The cases of a claim.

use super::expression::{Expression, Formula};
use super::number::{Number, at_most};

/// A block that is about to be computed.
#[derive(Clone, Copy, Debug)]
pub struct Case<N> {
    /// Whether this is pass 0.
    pub first_pass: bool,
    /// Its slice, sl.
    pub slice: usize,
    /// All lanes, p.
    pub lanes: N,
    /// Blocks in a segment, q / 4.
    pub length: N,
    /// Its lane, i.
    pub lane: N,
    /// Its index in the segment.
    pub index: N,
    /// J2 ‖ J1.
    pub word: N,
}

impl<'f> Case<Expression<'f>> {
    /// All blocks of segments of this kind.
    pub fn any(formula: &'f Formula, (first_pass, slice): (bool, usize)) -> Self {
        Self {
            first_pass,
            slice,
            lanes: formula.input("lanes"),
            length: formula.input("length"),
            lane: formula.input("lane"),
            index: formula.input("index"),
            word: formula.long_input("j2", "j1"),
        }
    }
}

impl<N: Number> Case<N> {
    /// Limits of parameters (RFC 9106, section 3.1), and invariants of the fill loop.
    pub fn premises(&self, cpu: N::Cpu) -> Vec<N::Truth> {
        let number = |x| N::splat(cpu, x);
        let memory = number(4) * self.length * self.lanes;
        // Blocks 0 and 1 of a lane are not computed from references.
        let first = if self.first_pass && self.slice == 0 {
            2
        } else {
            0
        };
        vec![
            at_most(number(1), self.lanes),
            self.lanes.is_below(number(1 << 24)),
            at_most(number(2), self.length),
            memory.is_below(number(1 << 32)),
            self.lane.is_below(self.lanes),
            at_most(number(first), self.index),
            self.index.is_below(self.length),
        ]
    }

    pub(super) fn is_current(&self, cpu: N::Cpu, slice: N) -> N::Truth {
        slice.is_equal(N::splat(cpu, self.slice as u64))
    }
}
