//! The states of registers, flags and memory as formulas.

use super::{FLAGS, states};
use crate::exec::{Flag, Flags, Machine, Region};
use crate::image::Image;
use crate::native::{SCRATCH, State, Width};
use crate::term::{Bit, Terms, Word, constant};
use iced_x86::Code;

/// Common data of instructions of one code: the states of their trials, and these as formulas.
pub(super) struct Form {
    pub(super) drawn: Vec<State>,
    pub(super) terms: Terms,
    pub(super) image: Image,
    /// Unknowns whose samples are the states.
    pub(super) unknowns: Registers,
    /// Each state as constants. Empty until an instruction needs them.
    constants: Vec<Registers>,
}

impl Form {
    pub(super) fn new(code: Code, width: Width) -> Self {
        let (drawn, mut terms) = (states::drawn(code, width), Terms::new(1));
        // A register that this CPU lacks is zero in every state.
        let unknowns = Registers::of(|of| match drawn.iter().all(|state| of(state) == 0) {
            true => constant(0, 64),
            false => terms.input_with(64, &core::array::from_fn(|i| of(&drawn[i]).into())),
        });
        Self {
            drawn,
            terms,
            image: Image::default(),
            unknowns,
            constants: Vec::new(),
        }
    }

    /// State number `number` as constants. General registers and memory are those of `state`, which
    /// an instruction has changed.
    pub(super) fn constant(&mut self, number: usize, state: &State) -> Registers {
        if self.constants.is_empty() {
            let all = |state: &State| Registers::of(|of| constant(of(state).into(), 64));
            self.constants = self.drawn.iter().map(all).collect();
        }
        let word = |x: &u64| constant((*x).into(), 64);
        Registers {
            general: state.general.iter().map(word).collect(),
            memory: state.memory.iter().flat_map(word).collect(),
            ..self.constants[number].clone()
        }
    }
}

/// The state that an instruction can read and change, as formulas.
#[derive(Clone, PartialEq)]
pub(super) struct Registers {
    pub(super) general: Vec<Word>,
    pub(super) vectors: Vec<Word>,
    pub(super) masks: Vec<Word>,
    /// CF, ZF, SF, OF; `None` if undefined.
    pub(super) flags: [Option<Bit>; 4],
    pub(super) memory: Word,
}

impl Registers {
    /// The result of `word_of` for each word of a state.
    fn of(mut word_of: impl FnMut(&dyn Fn(&State) -> u64) -> Word) -> Self {
        Self {
            general: (0..16)
                .map(|i| word_of(&|state| state.general[i]))
                .collect(),
            vectors: (0..32)
                .map(|i| {
                    (0..8)
                        .flat_map(|j| word_of(&|state| state.vectors[i][j]))
                        .collect()
                })
                .collect(),
            masks: (0..8).map(|i| word_of(&|state| state.masks[i])).collect(),
            flags: FLAGS.map(|bit| Some(word_of(&|state| state.flags >> bit & 1)[0])),
            memory: (0..16)
                .flat_map(|i| word_of(&|state| state.memory[i]))
                .collect(),
        }
    }

    pub(super) fn machine<'a>(&self, terms: &'a mut Terms, image: &'a Image) -> Machine<'a> {
        let [carry, zero, sign, overflow] = self
            .flags
            .map(|flag| flag.map_or(Flag::Undefined, Flag::Is));
        let flags = Flags {
            carry,
            zero,
            sign,
            overflow,
        };
        let registers = [&self.general, &self.vectors, &self.masks].map(Vec::clone);
        let mut machine = Machine::with(terms, image, registers, flags);
        let region = Region {
            name: "scratch".into(),
            range: SCRATCH..SCRATCH + 128,
            writable: true,
        };
        machine.memory.declare(region, &self.memory);
        machine
    }

    pub(super) fn take(mut machine: Machine<'_>) -> Self {
        let flags = machine.flags.clone();
        let flags = [flags.carry, flags.zero, flags.sign, flags.overflow]
            .map(|flag| flag.value(machine.terms));
        Self {
            general: core::mem::take(&mut machine.general),
            vectors: core::mem::take(&mut machine.vectors),
            masks: core::mem::take(&mut machine.masks),
            flags,
            memory: machine.memory.contents(SCRATCH..SCRATCH + 128),
        }
    }
}
