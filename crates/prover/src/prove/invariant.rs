//! The invariant of a loop of any number of iterations, derived from the state of the first one.

use crate::contract::Contract;
use crate::exec::{Machine, State};
use crate::hash::{Map, Set};
use crate::term::{Bit, Terms, Word, value};
use crate::verdict::Verdict;

/// The number of remaining elements at the header.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    One,
    /// Two or more.
    Many,
}

/// The invariant, at the header.
pub(super) struct Header {
    pub(super) address: u64,
    pub(super) state: State,
    /// For each bit that follows the specification, its value one iteration later. A bit that is
    /// neither here nor in `anything` stays.
    pub(super) next: Map<Bit, Bit>,
    pub(super) anything: Set<Bit>,
    /// The words of the specification after the next step.
    pub(super) words: Vec<Word>,
}

/// An induction cannot show that no secret remains: a later iteration may leave more than the
/// first.
pub(super) fn promises_too_much(contract: &Contract) -> Option<Verdict> {
    let why = "a promise to wipe, for a loop of any length";
    contract.wipes.then(|| Verdict::Unsupported(why.into()))
}

/// The sum of a word and a number.
pub(super) fn plus(terms: &mut Terms, word: &[Bit], number: i64) -> Word {
    terms.sum(64, &[(1, word)], number as u64 as u128)
}

/// Bits of addresses at a known distance from `pointer`. They differ between iterations.
pub(super) fn near(machine: &mut Machine<'_>, pointer: &[Bit]) -> Set<Bit> {
    let mut bits = Set::default();
    for word in machine.words() {
        let distance = machine.terms.sub(&word, pointer);
        if value(&distance).is_some() {
            bits.extend(word);
        }
    }
    bits
}

/// An unknown for each bit that is not a constant, and the same one for the same bit.
pub(super) fn unknowns(terms: &mut Terms, words: &[Word]) -> Vec<Word> {
    let mut unknown_of = Map::default();
    let mut unknown = |bit: &Bit| match bit.is_constant() {
        true => *bit,
        false => *unknown_of.entry(*bit).or_insert_with(|| terms.input(1)[0]),
    };
    let words = words.iter();
    words
        .map(|word| word.iter().map(&mut unknown).collect())
        .collect()
}

/// Bits, and the unknowns that replace them.
#[derive(Default)]
pub(super) struct Roles {
    /// At the cut.
    pub(super) new: Map<Bit, Bit>,
    /// One iteration later.
    pub(super) next: Map<Bit, Bit>,
    pub(super) anything: Set<Bit>,
}

impl Roles {
    /// A bit of the specification or of a place: in the base, at the cut, and one iteration later.
    pub(super) fn add(&mut self, [old, new, later]: [Bit; 3], left: Left) -> Result<(), String> {
        if old.is_constant() {
            // It is the same in every iteration.
            return match left == Left::One || new == old && later == old {
                true => Ok(()),
                false => Err("a constant of its first turn changes later".into()),
            };
        }
        let new = *self.new.entry(old).or_insert(new);
        if left == Left::One {
            return Ok(());
        }
        if new.is_constant() {
            return Err("what its first turn computes is a constant later".into());
        }
        // Bits that were equal in the first iteration must be equal in all iterations.
        match *self.next.entry(new).or_insert(later) == later {
            true => Ok(()),
            false => Err("what is equal in its first turn differs later".into()),
        }
    }

    /// Replaces every bit of the machine that may differ in another iteration.
    pub(super) fn replace_all(
        &mut self,
        machine: &mut Machine<'_>,
        kept: &Set<Bit>,
        element_addresses: &Set<Bit>,
    ) {
        let stays = |terms: &Terms, bit: Bit| {
            let is_kept = kept.contains(&bit) || terms.is_of_address(bit);
            is_kept && !element_addresses.contains(&bit)
        };
        let (new, anything) = (&self.new, &mut self.anything);
        machine.change_all(
            |terms, bit| !bit.is_constant() && (new.contains_key(&bit) || !stays(terms, bit)),
            |terms, bit| {
                if let Some(bit) = new.get(&bit) {
                    return *bit;
                }
                if stays(terms, bit) {
                    return bit;
                }
                let unknown = match terms.depends_on_input(bit) {
                    true => terms.input(1)[0],
                    false => terms.junk(1)[0],
                };
                anything.insert(unknown);
                unknown
            },
        );
    }
}

impl Header {
    /// Whether the invariant holds one iteration later.
    pub(super) fn is_kept(&self, later: &State) -> Result<(), String> {
        self.state.becomes(later, |bit| {
            if self.anything.contains(&bit) {
                return None;
            }
            Some(self.next.get(&bit).copied().unwrap_or(bit))
        })
    }
}
