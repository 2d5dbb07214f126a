//! The kinds of atoms that are in a formula. They are worked out once, when it is made.

use super::{Atom, Bit, ONE, TABLE, Terms};

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
