//! Partly known lengths.

use crate::hash::Map;
use crate::term::{Bit, Terms, Word, constant};
use std::ops::Range;

/// A number of units of which only the least value is known; and its unknown part, if it is split
/// into cases.
pub(super) struct Number {
    pub(super) word: Word,
    least: u64,
    more: Word,
}

impl Number {
    /// `least` + x, for every x below 2^`bits` - `less`.
    pub(super) fn many(terms: &mut Terms, least: u64, bits: usize, less: u64) -> Self {
        // x = low + (2^(bits - 1) - less) · high. This covers every value, and none is too large.
        let half = 1 << (bits - 1);
        assert!(less <= half, "a group is small");
        let (low, high) = (terms.input(bits - 1), terms.input(1));
        let parts: [(u128, &[Bit]); 2] = [(1, &low), ((half - less).into(), &high)];
        Self {
            word: terms.sum(64, &parts, least.into()),
            least,
            more: Vec::new(),
        }
    }

    /// One of these values.
    pub(super) fn within(terms: &mut Terms, values: &Range<u64>) -> Self {
        let others = values.end - values.start - 1;
        let bits = u64::BITS - others.leading_zeros();
        let more = terms.input(bits as usize);
        Self {
            word: terms.sum(64, &[(1, &more)], values.start.into()),
            least: values.start,
            more,
        }
    }

    /// The value of each of its bits when the number is `value`.
    pub(super) fn values(&self, value: u64) -> Map<Bit, Bit> {
        let bits = self.word.iter().chain(&self.more);
        let values = constant(value.into(), self.word.len())
            .into_iter()
            .chain(constant((value - self.least).into(), self.more.len()));
        let pairs = bits.copied().zip(values);
        pairs.filter(|(bit, _)| !bit.is_constant()).collect()
    }
}
