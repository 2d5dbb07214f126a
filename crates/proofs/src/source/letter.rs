//! F of BLAKE2b as a letter: a function of which nothing is known, but that equal arguments give equal results.
//!
//! What is proved with the letter holds for every function in its place, and so for F; that F itself is right is proved beside
//! it. So a hash of many blocks needs no formulas as deep as the rounds of all of them.

use super::modes::blake2b::Compression;
use super::symbol::{Arena, Symbol, SymbolicByte};
use crate::spec::{self, Numbers};
use crate::term::{Bit, SAMPLES, Terms, Word};
use core::cell::RefCell;
use sealstone_argon2::blake2b::{Engine, Input};
use std::collections::HashMap;

/// The results so far, by their arguments.
#[derive(Default)]
pub(super) struct Letter(RefCell<HashMap<Vec<Bit>, Vec<Word>>>);

impl Compression<Terms> for Letter {
    fn compress(
        &self,
        terms: &mut Terms,
        h: &[Word],
        m: &[Word],
        t: &[Word],
        f: &Word,
    ) -> Vec<Word> {
        let arguments: Vec<&Word> = h.iter().chain(m).chain(t).chain([f]).collect();
        let key: Vec<Bit> = arguments.iter().copied().flatten().copied().collect();
        let mut known = self.0.borrow_mut();
        known
            .entry(key)
            .or_insert_with(|| result(terms, &arguments))
            .clone()
    }
}

/// Eight unknown words, whose samples are those of F: when something is not equal, the counterexample is one of BLAKE2b.
fn result(terms: &mut Terms, arguments: &[&Word]) -> Vec<Word> {
    let samples: Vec<[u128; SAMPLES]> = arguments.iter().map(|word| terms.samples(word)).collect();
    let mut results = [[0; SAMPLES]; 8];
    for i in 0..SAMPLES {
        let words: Vec<u64> = samples.iter().map(|values| values[i] as u64).collect();
        let (h, m, t, f) = (&words[..8], &words[8..24], &words[24..26], words[26]);
        let values = spec::blake2b::compress(&mut Numbers, h, m, t, &f);
        results
            .iter_mut()
            .zip(values)
            .for_each(|(result, value)| result[i] = value.into());
    }
    results
        .iter()
        .map(|values| terms.input_with(64, values))
        .collect()
}

/// An engine of the source's BLAKE2b that computes F by its letter.
#[derive(Clone, Copy)]
pub(super) struct Spelling<'a> {
    /// Where formulas are.
    pub(super) arena: &'a Arena,
    /// F.
    pub(super) letter: &'a Letter,
    /// A bug, planted to see that it is found.
    pub(super) slip: Slip,
}

/// What the source might get wrong on its way to F.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Slip {
    /// Nothing.
    None,
    /// The count of bytes is always zero.
    #[cfg(test)]
    Counter,
    /// No block is the last one.
    #[cfg(test)]
    Last,
    /// F leaves the state as it was.
    #[cfg(test)]
    State,
}

impl<'a> Engine for Spelling<'a> {
    type Scalar = Symbol<'a>;

    fn scalars(self) -> &'a Arena {
        self.arena
    }
    fn compress(self, state: &mut [Symbol<'a>; 8], input: &Input<'_, Symbol<'a>>) {
        let words = |symbols: &[Symbol<'_>]| -> Vec<Word> {
            symbols.iter().map(|word| word.bits().to_vec()).collect()
        };
        #[cfg_attr(not(test), expect(unused_mut, reason = "only bugs change them"))]
        let (h, m, mut t, mut f) = (
            words(state),
            words(input.words),
            words(&input.counter),
            input.last.bits().to_vec(),
        );
        match self.slip {
            Slip::None => {}
            #[cfg(test)]
            Slip::Counter => t.fill(vec![Bit::ZERO; 64]),
            #[cfg(test)]
            Slip::Last => f = vec![Bit::ZERO; 64],
            #[cfg(test)]
            Slip::State => return,
        }
        let result = self
            .arena
            .with(|terms| self.letter.compress(terms, &h, &m, &t, &f));
        *state = core::array::from_fn(|i| self.arena.symbol(&result[i]));
    }
    /// Symbols are no secrets; but what is wiped too early must be missing.
    fn wipe(words: &mut [Symbol<'a>], bytes: &mut [SymbolicByte<'a>]) {
        words.iter_mut().for_each(|word| *word = word.cleared());
        bytes.iter_mut().for_each(|byte| *byte = byte.cleared());
    }
}
