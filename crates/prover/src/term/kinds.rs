//! The kinds of atoms that are in a formula. They are worked out once, when it is made.

use super::{Atom, Bit, ONE, TABLE, Terms};
use crate::hash::Map;

/// Some unknowns, and the atoms in which they are or are not.
pub(crate) struct Mentions {
    known: Map<u32, bool>,
    /// The first of the unknowns.
    first: u32,
}

impl Mentions {
    /// One of these unknowns.
    pub(crate) fn of(unknowns: &[Bit]) -> Self {
        let first = unknowns.iter().map(|bit| bit.0).min();
        Self {
            known: unknowns.iter().map(|bit| (bit.0, true)).collect(),
            first: first.unwrap_or(u32::MAX),
        }
    }
}

// Sets of kinds.
const INPUT: u8 = 1;
const JUNK: u8 = 2;
const BASE: u8 = 4;

impl Terms {
    /// Whether a bit is a formula with an input in it, and not only with junk.
    pub fn depends_on_input(&self, bit: Bit) -> bool {
        self.kinds(bit) & INPUT != 0
    }

    /// Whether a bit is a formula over addresses alone, and no constant.
    pub fn is_of_address(&self, bit: Bit) -> bool {
        self.kinds(bit) == BASE
    }

    /// Whether an address is in the formula of a bit.
    pub fn depends_on_address(&self, bit: Bit) -> bool {
        self.kinds(bit) & BASE != 0
    }

    /// Whether one of some unknowns may be in the formula of a bit.
    pub(crate) fn may_mention(&self, bit: Bit, unknowns: &mut Mentions) -> bool {
        if bit.is_constant() {
            return false;
        }
        let summands = self.summands(bit, &mut [0]).to_vec();
        summands.iter().any(|product| {
            let factors = self.factors(*product, &mut [0]).to_vec();
            factors.iter().any(|atom| self.is_in_atom(*atom, unknowns))
        })
    }

    /// An atom may stand for a formula. Then it is later than the unknowns in the formula. No
    /// address stands for one. The recursion ends, because the parts of an arithmetic term are
    /// earlier than its bits.
    fn is_in_atom(&self, atom: u32, unknowns: &mut Mentions) -> bool {
        if let Some(is_in) = unknowns.known.get(&atom) {
            return *is_in;
        }
        let is_in = match self.atoms[atom as usize] {
            Atom::Arithmetic(term) => {
                let mut operands = self.arithmetic.operands(term).into_iter();
                operands.any(|bit| self.may_mention(bit, unknowns))
            }
            Atom::Input | Atom::Junk => atom > unknowns.first,
            Atom::Base => false,
        };
        unknowns.known.insert(atom, is_in);
        is_in
    }

    /// The kinds of atoms in a bit.
    pub(super) fn kinds(&self, bit: Bit) -> u8 {
        match bit.0.checked_sub(TABLE) {
            Some(number) => self.polynomial_kinds[number as usize],
            None => self.kinds_of_atom(bit.0),
        }
    }

    pub(super) fn kinds_of_atom(&self, atom: u32) -> u8 {
        if atom <= ONE {
            return 0;
        }
        match self.atoms[atom as usize] {
            Atom::Input => INPUT,
            Atom::Junk => JUNK,
            Atom::Base => BASE,
            Atom::Arithmetic(term) => self.arithmetic.kinds(term),
        }
    }

    pub(super) fn kinds_of_product(&self, product: u32) -> u8 {
        match product.checked_sub(TABLE) {
            Some(number) => self.product_kinds[number as usize],
            None => self.kinds_of_atom(product),
        }
    }
}
