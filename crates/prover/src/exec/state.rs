//! The visible state of a run, to compare two moments of it.

use super::{Flag, Flags, Machine, Word};
use crate::term::{Bit, Terms};
use std::collections::{BTreeMap, BTreeSet};

/// Registers and memory at one moment.
pub(crate) struct State {
    registers: Vec<Bit>,
    /// The memory that may be read, by address.
    bytes: BTreeMap<u64, [Bit; 8]>,
    /// Stack that was given up.
    stale: BTreeSet<u64>,
    upper_in_use: bool,
    /// Where the stack was aligned.
    aligned: Option<[u64; 3]>,
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
            aligned: self.aligned_stack(),
        }
    }

    /// Words of 64 bits: general registers, and aligned words of memory.
    pub(crate) fn words(&self) -> Vec<Word> {
        let memory = self.memory.eights().map(|bits| bits.to_vec());
        self.general.iter().cloned().chain(memory).collect()
    }
}

/// A place of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Where {
    /// A general-purpose register.
    General(usize),
    /// A part of a vector register.
    Vector(usize, usize),
    /// A mask register.
    Mask(usize),
    /// Eight bytes of memory, all of which can be read, at a multiple of eight.
    Memory(u64),
}

impl Machine<'_> {
    /// All places with their contents, in order.
    pub(crate) fn places(&self) -> Vec<(Where, Word)> {
        let mut places = Vec::new();
        for (i, word) in self.general.iter().enumerate() {
            places.push((Where::General(i), word.clone()));
        }
        for (i, vector) in self.vectors.iter().enumerate() {
            let parts = vector.chunks(64).enumerate();
            places.extend(parts.map(|(j, part)| (Where::Vector(i, j), part.to_vec())));
        }
        for (i, mask) in self.masks.iter().enumerate() {
            places.push((Where::Mask(i), mask.clone()));
        }
        let memory = self.memory.readable_eights();
        places.extend(memory.map(|(at, bits)| (Where::Memory(at), bits.to_vec())));
        places.sort_unstable_by_key(|(place, _)| *place);
        places
    }

    /// The content of a place; nothing if it cannot be read.
    pub(crate) fn at_place(&self, place: Where) -> Option<Word> {
        match place {
            Where::General(i) => Some(self.general[i].clone()),
            Where::Vector(i, j) => Some(self.vectors[i][64 * j..64 * (j + 1)].to_vec()),
            Where::Mask(i) => Some(self.masks[i].clone()),
            Where::Memory(at) => self.memory.readable_eight(at).map(|bits| bits.to_vec()),
        }
    }

    /// Changes a place that can be read.
    pub(crate) fn set_place(&mut self, place: Where, word: &[Bit]) {
        match place {
            Where::General(i) => self.general[i].copy_from_slice(word),
            Where::Vector(i, j) => self.vectors[i][64 * j..64 * (j + 1)].copy_from_slice(word),
            Where::Mask(i) => self.masks[i].copy_from_slice(word),
            Where::Memory(at) => self.memory.put(at, word),
        }
    }

    /// Changes all flags to unknown ones.
    pub(crate) fn forget_flags(&mut self) {
        let terms = &mut *self.terms;
        let mut junk = || Flag::Is(terms.junk(1)[0]);
        self.flags = Flags {
            carry: junk(),
            zero: junk(),
            sign: junk(),
            overflow: junk(),
        };
    }

    /// Whether the run may have left upper halves of vector registers in use.
    pub(crate) fn upper_in_use(&self) -> bool {
        self.upper_in_use
    }

    /// Assumes that the run has left upper halves of vector registers in use.
    pub(crate) fn use_upper_halves(&mut self) {
        self.upper_in_use = true;
    }

    /// Changes the words that flags are computed from.
    pub(crate) fn change_flags(&mut self, change: impl FnMut(&mut Terms, &mut Word)) {
        self.flags.change_words(self.terms, change);
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
        if self.aligned != later.aligned {
            return Err("a turn of its loop aligns the stack in another place".into());
        }
        if self.upper_in_use != later.upper_in_use {
            return Err("upper halves of vector registers differ from turn to turn".into());
        }
        Ok(())
    }
}
