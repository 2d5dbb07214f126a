//! The visible state of a run, to compare two moments of it.

use super::{Machine, Word};
use crate::term::Bit;
use std::collections::{BTreeMap, BTreeSet};

/// Registers and memory at one moment.
pub(crate) struct State {
    registers: Vec<Bit>,
    /// The memory that may be read, by address.
    bytes: BTreeMap<u64, [Bit; 8]>,
    /// Stack that was given up.
    stale: BTreeSet<u64>,
    upper_in_use: bool,
}

impl Machine<'_> {
    /// The state that the run can see, without the flags.
    pub(crate) fn state(&self) -> State {
        let registers = self.general.iter().chain(&self.vectors);
        let registers = registers.chain(&self.masks).flatten().copied();
        let (bytes, stale) = self.memory.bytes();
        State {
            registers: registers.collect(),
            bytes,
            stale,
            upper_in_use: self.upper_in_use,
        }
    }

    /// Words of 64 bits: general registers, and aligned words of memory.
    pub(crate) fn words(&self) -> Vec<Word> {
        let memory = self.memory.eights().map(|bits| bits.to_vec());
        self.general.iter().cloned().chain(memory).collect()
    }
}

impl State {
    /// Whether each bit has become in `later` the bit that `next` gives. `None` allows any bit.
    pub(crate) fn becomes(
        &self,
        later: &Self,
        next: impl Fn(Bit) -> Option<Bit>,
    ) -> Result<(), String> {
        let is_right = |before: &Bit, after: &Bit| {
            let expected = if before.is_constant() {
                Some(*before)
            } else {
                next(*before)
            };
            expected.is_none_or(|expected| expected == *after)
        };
        let mut registers = self.registers.iter().zip(&later.registers);
        if !registers.all(|(before, after)| is_right(before, after)) {
            return Err("a register is not what the invariant of its loop says".into());
        }
        for (address, before) in &self.bytes {
            let Some(after) = later.bytes.get(address) else {
                return Err("memory that its loop needs was given up".into());
            };
            if !before
                .iter()
                .zip(after)
                .all(|(before, after)| is_right(before, after))
            {
                return Err("memory is not what the invariant of its loop says".into());
            }
        }
        if !later.stale.is_subset(&self.stale) {
            return Err("a turn of its loop gives up stack".into());
        }
        if self.upper_in_use != later.upper_in_use {
            return Err("upper halves of vector registers differ from turn to turn".into());
        }
        Ok(())
    }
}
