//! Moments of a run. The prover continues from one moment several times: for each case of a number
//! that a branch depends on.

use super::place::Bases;
use super::{Flag, Flags, Machine, Memory, Word};
use crate::hash::Map;
use crate::term::{Bit, constant, value};

/// The state that the rest of a run depends on.
pub(crate) struct Moment {
    bases: Bases,
    general: Vec<Word>,
    vectors: Vec<Word>,
    masks: Vec<Word>,
    flags: Flags,
    memory: Memory,
    next: u64,
    upper_in_use: bool,
    steps: u64,
    on_stack: Vec<Bit>,
    lowest: u64,
    pointer: Word,
    touched: u64,
}

impl Machine<'_> {
    /// This moment. The next instruction is at `next`; it may be a branch that has stopped the run.
    pub(crate) fn moment(&self, next: u64) -> Moment {
        Moment {
            bases: self.bases.clone(),
            general: self.general.clone(),
            vectors: self.vectors.clone(),
            masks: self.masks.clone(),
            flags: self.flags.clone(),
            memory: self.memory.clone(),
            next,
            upper_in_use: self.upper_in_use,
            steps: self.steps,
            on_stack: self.on_stack.clone(),
            lowest: self.lowest,
            pointer: self.pointer.clone(),
            touched: self.touched,
        }
    }

    /// Returns to a moment of this run.
    pub(crate) fn return_to(&mut self, moment: &Moment) {
        let later = core::mem::replace(&mut self.bases, moment.bases.clone());
        self.bases.keep_code(later);
        self.general.clone_from(&moment.general);
        self.vectors.clone_from(&moment.vectors);
        self.masks.clone_from(&moment.masks);
        self.flags = moment.flags.clone();
        self.memory = moment.memory.clone();
        self.next = moment.next;
        self.upper_in_use = moment.upper_in_use;
        self.steps = moment.steps;
        self.on_stack.clone_from(&moment.on_stack);
        self.lowest = moment.lowest;
        self.pointer.clone_from(&moment.pointer);
        self.touched = moment.touched;
    }

    /// Assumes values for a number of 64 bits and for some bits. Replaces them by these values
    /// where they are not part of a larger formula, and in general registers and flags at a known
    /// distance from the number. Other formulas keep the number, which is correct too.
    pub(crate) fn assume(&mut self, (number, is): (&[Bit], u64), values: &Map<Bit, Bit>) {
        let terms = &mut *self.terms;
        let mut assume_word = |word: &mut Word| {
            if word.len() == 64 {
                let distance = terms.sub(word, number);
                if let Some(distance) = value(&distance) {
                    *word = constant((distance as u64).wrapping_add(is).into(), 64);
                }
            }
        };
        self.general.iter_mut().for_each(&mut assume_word);
        if let Flag::Zero(word) = &mut self.flags.zero {
            assume_word(word);
        }
        let assumed = |bit: &mut Bit| {
            if let Some(value) = values.get(bit) {
                *bit = *value;
            }
        };
        let registers = self.general.iter_mut().chain(&mut self.vectors);
        let registers = registers.chain(&mut self.masks).flatten();
        let memory = self.memory.words_with(|bit| values.contains_key(&bit));
        registers.for_each(assumed);
        memory.into_iter().flatten().for_each(assumed);
        self.flags.change(assumed);
    }
}
