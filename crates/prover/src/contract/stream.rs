//! Data of any length.

use super::{Begin, Contents};
use crate::term::{Terms, Word};

type NextWords = dyn Fn(&mut Terms, &[Word]) -> Vec<Word>;
type Transform = dyn Fn(&mut Terms, &Contents<Word>, &[Word], &[Word]) -> Vec<Word>;
type Carried = dyn Fn(&mut Terms, &Contents<Word>, &[Word]) -> Vec<Word>;

/// Data of any length, which the function transforms in a loop: a stream cipher. Each iteration
/// transforms a *group* of units, and a group has *words* of the specification: its counters. The
/// file `prove/stream.rs` has the invariant and the proof of soundness. The proof compares the code
/// with the functions here, not with the contract's formula. A test must show that both agree.
///
/// The buffers of data have room for `group` + `needed` - 1 units, the longest data with which the
/// run does not reach the header of the loop. The contract describes their contents there.
pub struct Stream {
    /// The buffer of the data.
    pub input: &'static str,
    /// The buffer of the result, the only one that the function writes. It may be the same.
    pub output: &'static str,
    /// A buffer of one cell: the length in units. The limit is a few units above 2^62 bytes.
    pub count: &'static str,
    /// Bytes of a unit.
    pub unit: u64,
    /// Units of a group.
    pub group: u64,
    /// The least length, in units.
    pub least: u64,
    /// The loop continues if at least this number of units remains. It is from 1 to `group`.
    pub needed: u64,
    /// The words of the first group, from the contents of all buffers.
    pub begin: Box<Begin>,
    /// The words of a group, from the words of the previous group.
    pub next: Box<NextWords>,
    /// The result of a group and of the rest after the last group: from the contents of all buffers
    /// except the data, from the words of the group, and from its data. Data and result are as long
    /// as the buffers of data. The result of shorter data is a prefix of it.
    pub transform: Box<Transform>,
    /// Further words that the function may hold between two groups, from the words of the previous
    /// group. It may always hold these words and those of the next group.
    pub carried: Box<Carried>,
}

impl Stream {
    /// Units of the longest data with which the run does not reach the header of the loop.
    pub fn longest(&self) -> u64 {
        self.group + self.needed - 1
    }

    /// The b for which data is shorter than 2^b plus these units: no memory has more than 2^62
    /// bytes.
    pub(crate) fn many_bits(&self) -> usize {
        62 - self.unit.ilog2() as usize
    }
}
