//! Data of any length.

use super::{Begin, Contents};
use crate::term::{Terms, Word};

type NextWords = dyn Fn(&mut Terms, &[Word]) -> Vec<Word>;
type Transform = dyn Fn(&mut Terms, &Contents<Word>, &[Word], &[Word]) -> Vec<Word>;
type Carried = dyn Fn(&mut Terms, &Contents<Word>, &[Word]) -> Vec<Word>;

/// Data of any length, which the function transforms in a loop: a stream cipher. Each turn makes a
/// *group* of units, and a group has *words* of the specification: its counters. The file
/// `prove/stream.rs` has the invariant and why the induction is sound. The proof compares the code
/// with the functions here, and not with the contract's formula. A test has to show that they
/// agree.
///
/// The buffers of data have room for `group` + `needed` - 1 units, the longest data that does not
/// come to the header of the loop. The contract describes what they hold there.
pub struct Stream {
    /// Where the data are.
    pub input: &'static str,
    /// Where the result goes, the only buffer that is written. It may be the same.
    pub output: &'static str,
    /// A buffer of one cell: the length in units. Data have 2^62 bytes at most, and a few
    /// more.
    pub count: &'static str,
    /// Bytes of a unit.
    pub unit: u64,
    /// Units of a group.
    pub group: u64,
    /// The least length, in units.
    pub least: u64,
    /// The loop goes back if so many units are left at least, from 1 to `group`.
    pub needed: u64,
    /// The words of the first group, from what all buffers hold.
    pub begin: Box<Begin>,
    /// The words of a group, from those of the one before.
    pub next: Box<NextWords>,
    /// The result of a group, and of what may follow it in the end: from what all buffers hold, of
    /// which the data are nothing to it, from the words of the group, and from its data. Data and
    /// result are as long as the buffers of data. Of shorter data it is the begin of that.
    pub transform: Box<Transform>,
    /// All that the function may hold between two groups, which follows from the words of the one
    /// before: those and the next ones, and what is made of them.
    pub carried: Box<Carried>,
}

impl Stream {
    /// Units of the longest data that does not come to the header of the loop.
    pub fn longest(&self) -> u64 {
        self.group + self.needed - 1
    }

    /// Data is shorter than 2^b and these units, for this b: no memory has more than 2^62 bytes.
    pub(crate) fn many_bits(&self) -> usize {
        62 - self.unit.ilog2() as usize
    }
}
