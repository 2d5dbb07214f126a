//! The states on which an instruction is compared.

use super::FLAGS;
use super::movable::Movable;
use crate::native::{State, Width};
use crate::term::{Random, SAMPLES};
use iced_x86::Code;

/// The number of kinds of states, which alternate.
pub(super) const KINDS: usize = 8;

/// One state for each sample, for all instructions of a code: alternately random, of special
/// numbers, of equal words, and of small numbers. Registers that the CPU lacks are zero.
pub(super) fn drawn(code: Code, width: Width) -> Vec<State> {
    let mut random = Random::new(code as u64 + 1);
    (0..SAMPLES)
        .map(|sample| {
            let mut state = match sample % KINDS {
                1 | 5 => of_words(&mut random, special),
                3 => {
                    let word = special(&mut random);
                    of_words(&mut random, |_| word)
                }
                6 => of_words(&mut random, |random| random.number() & SMALL_BYTES),
                7 => of_words(&mut random, |random| random.number() % 80),
                _ => of_words(&mut random, Random::number),
            };
            let words = |bit: &usize| (random.number() & 1) << bit;
            state.flags = FLAGS.iter().map(words).sum::<u64>() | 2;
            if width == Width::Avx2 {
                keep_avx2(&mut state);
            }
            state
        })
        .collect()
}

fn keep_avx2(state: &mut State) {
    state.masks = [0; 8];
    for (number, vector) in state.vectors.iter_mut().enumerate() {
        let from = if number < 16 { 4 } else { 0 };
        vector[from..].fill(0);
    }
}

/// The same states with the values that one instruction needs in registers: its address, a divisor
/// that is not zero.
pub(super) fn fitted(drawn: &[State], moved: &Movable) -> Vec<State> {
    let mut random = Random::new(!(moved.instruction.code() as u64));
    let mut states = drawn.to_vec();
    for state in &mut states {
        for (register, value) in moved.fixed() {
            state.general[register] = value;
        }
        if moved.divides() {
            make_divisible(state, moved, &mut random);
        }
    }
    states
}

/// Bytes from 0 to 15, some with the top bit: the bits that shuffles of bytes read.
const SMALL_BYTES: u64 = 0x8f0f_0f8f_0f0f_0f0f;

fn of_words(random: &mut Random, mut word: impl FnMut(&mut Random) -> u64) -> State {
    let mut words = |_| word(random);
    State {
        vectors: core::array::from_fn(|_| core::array::from_fn(&mut words)),
        general: core::array::from_fn(&mut words),
        masks: core::array::from_fn(&mut words),
        flags: 2,
        memory: core::array::from_fn(&mut words),
    }
}

/// A number at an end of some range.
fn special(random: &mut Random) -> u64 {
    const NUMBERS: [u64; 10] = [
        0,
        1,
        2,
        u64::MAX,
        1 << 63,
        (1 << 63) - 1,
        1 << 32,
        u32::MAX as u64,
        1 << 31,
        0x8000_0000_8000_0000,
    ];
    match random.number() as usize % (NUMBERS.len() + 2) {
        n if n < NUMBERS.len() => NUMBERS[n],
        _ => random.number() % 200,
    }
}

/// Makes the upper half of the dividend smaller than the divisor, so that the division does not
/// fault.
fn make_divisible(state: &mut State, moved: &Movable, random: &mut Random) {
    let bits = moved.divisor_bits();
    let mask = u64::MAX >> (64 - bits);
    let divisor = moved.divisor(state) & mask;
    let divisor = if divisor == 0 {
        let new = random.number() | 1;
        moved.set_divisor(state, new);
        moved.divisor(state) & mask
    } else {
        divisor
    };
    state.general[2] = match random.number() % 3 {
        0 => 0,
        1 => divisor - 1,
        _ => random.number() % divisor,
    };
}
