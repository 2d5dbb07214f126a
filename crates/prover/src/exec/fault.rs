//! Planted errors in models of instructions: co-simulation must notice them.

use super::Machine;
use crate::term::{Bit, Word};

/// One wrong place in the model of an instruction. Places are counted while the instruction is
/// executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of place.
    pub wrong: Wrong,
    /// The place, from 0.
    pub place: usize,
    /// Places of that kind passed so far.
    pub passed: usize,
}

/// Kinds of wrong models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wrong {
    /// An operand is taken from the one before or after it in the instruction.
    OtherOperand,
    /// A bit of an immediate or of a shift count is wrong.
    Immediate,
    /// A piece of a word is taken from the piece next to it.
    OtherPiece,
    /// A value that must become zero or stay is changed.
    Upper,
    /// The result is rotated by one element.
    Turned,
    /// The top bit of the result is wrong.
    TopBit,
    /// The result is not written.
    NotWritten,
    /// A flag is inverted.
    Flag,
    /// A condition is inverted.
    Condition,
}

impl Machine<'_> {
    /// Whether this place is the wrong one.
    pub(super) fn is_wrong(&mut self, wrong: Wrong) -> bool {
        let Some(fault) = &mut self.fault else {
            return false;
        };
        if core::mem::discriminant(&fault.wrong) != core::mem::discriminant(&wrong) {
            return false;
        }
        fault.passed += 1;
        fault.passed == fault.place + 1
    }

    /// Piece `number` of a word in pieces of `width` bits.
    pub(super) fn piece(&mut self, word: &[Bit], number: usize, width: usize) -> Word {
        let pieces = word.len() / width;
        let number = if pieces > 1 && self.is_wrong(Wrong::OtherPiece) {
            (number + 1) % pieces
        } else {
            number
        };
        word[number * width..][..width].to_vec()
    }

    /// A result before it is written; `None` if it will not be.
    pub(super) fn result(&mut self, mut word: Word, element: usize) -> Option<Word> {
        if self.is_wrong(Wrong::NotWritten) {
            return None;
        }
        if self.is_wrong(Wrong::Turned) {
            let by = if element < word.len() { element } else { 1 };
            word.rotate_left(by);
        }
        if self.is_wrong(Wrong::TopBit) {
            let top = word.len() - 1;
            word[top] = self.terms.not(word[top]);
        }
        Some(word)
    }
}
