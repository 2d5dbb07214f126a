//! Proofs of loops, one iteration after the other.
//!
//! A function that hashes 64 blocks in a loop gives formulas as large as 64 blocks, although each
//! iteration does the same. But an iteration does not depend on the origin of its words. So machine
//! and specification run side by side, and are *cut* at the header of the loop, once an iteration:
//! unknowns replace their words, and both continue from there.
//!
//! # The invariant
//!
//! Let wₖ be the words of the specification after k steps. A state of the machine is *coupled* with
//! wₖ if each bit of wₖ is in a register, on the stack or in a buffer that the function may write,
//! formula by formula (all but the first `uncoupled` words). The prover cuts only in such a state.
//! Without cuts there is no proof. The *frame* is the set of bits of the entry that no cut has
//! replaced. (In a loop over groups, it is those of its header.) Nothing rests on it: a cut may
//! replace or leave any of them.
//!
//! A cut forgets (*havocs*) everything except this coupling:
//!
//! - a bit of wₖ becomes a new unknown, the same one in all places;
//! - so does a bit that the next step reads;
//! - a bit of an auxiliary word becomes a formula over those unknowns, and leaves the frame;
//! - the frame, constants and addresses stay;
//! - every other bit becomes a separate unknown.
//!
//! # Soundness
//!
//! An unknown has every value, including the value of the formula before. Auxiliary words are the
//! same function of the words before the cut and after it, so they keep their values too. A result
//! after the cut holds for each coupled state, and the run is in one of them. The proof assumes
//! nothing else about the loop: neither its start nor its number of iterations. A cut can only lose
//! a fact: for example, that two bits outside of the specification's words are equal.
//!
//! Every cut has the same unknowns. So the formulas of all iterations are the same, and need memory
//! once. When an unknown is reused, no live formula contains it, neither in the machine nor in the
//! specification.
//!
//! If no state is coupled, the formulas grow with every iteration, without end. So a run stops when
//! its formulas have grown too much since the last cut: the prover does not find that its loop
//! follows the specification.
//!
//! After a cut, samples are no longer the function's values on the sample inputs. So they refute
//! something only if native runs reproduce it.
//!
//! # Example
//!
//! ```text
//! step:     w ← (w + block) rotated by 7            function:   mov   rax, [rdi]
//! reads:    one cell of the second buffer           header:     add   rax, [rsi]
//!                                                               rol   rax, 7
//!                                                               add   rsi, 8
//!                                                               dec   ecx
//!                                                               jnz   header
//!                                                               mov   [rdi], rax
//! ```
//!
//! After the first jump back, rax holds (x₀ + b₀) rotated: all of w₁. So the state is coupled: rax
//! becomes 64 unknowns u, and so does w₁. The cell b₁ becomes unknowns too, in memory and for the
//! specification. rsi is an address and ecx a constant: both stay. The flags become unknowns, and
//! no output may depend on them. One iteration later, rax holds (u + b₁) rotated by 7, and so does
//! the specification: they are cut again, with the same u. In the end, one step remains; its
//! formula is compared with `[rdi]`. If the loop rotated by 8, no state would be coupled. The
//! verdict would be that no turn of the loop is seen to be a step of the specification.
//! [`Stepwise`](crate::contract::Stepwise) has the same example as a program.

use crate::contract::{Contents, Steps, pick};
use crate::exec::{Machine, Outcome, Reason, Stop, Where};
use crate::hash::{Map, Set};
use crate::term::{Bit, Terms, Word, value};

/// The most steps without a cut before them.
const MOST_UNCUT: usize = 2;

/// Without a cut, formulas may become as long as this part of a run's limit. The
/// functions that were proved with it need less than a thirtieth.
const UNCUT_PART: usize = 8;

/// Unknowns that cuts put in the place of formulas.
#[derive(Default)]
pub(super) struct Unknowns {
    /// For the words of the specification, by their place in them.
    words: Vec<Bit>,
    /// For the cells that the next step reads.
    read: Vec<Bit>,
    /// For all other bits: those that depend on an input, and those that do not.
    others: [Vec<Bit>; 2],
}

/// The specification beside a run of the machine.
pub(super) struct Beside<'a> {
    steps: &'a Steps,
    contents: &'a Contents<Word>,
    unknowns: &'a mut Unknowns,
    /// The number of completed steps.
    done: usize,
    /// The words after the next step. They are computed before the machine reaches it, because the
    /// specification marks the opaque sums
    /// ([`Algebra::opaque`](crate::algebra::Algebra::opaque)) for the machine.
    next: Vec<Word>,
    /// Whether the atom of this number is in the frame: an input that no cut has replaced.
    frame: Vec<bool>,
    /// The number of cuts.
    pub(super) cuts: usize,
    /// The length of all formulas at the last cut, and their allowed growth until the next one.
    length: usize,
    most_grown: usize,
    /// Whether the run was stopped because no iteration was found to be a step.
    pub(super) is_lost: bool,
    /// The unknowns in the place of each uncoupled word since the last cut; and the word without
    /// unknowns of cuts, if it is known.
    origins: Vec<(Word, Option<Word>)>,
}

impl<'a> Beside<'a> {
    pub(super) fn new(
        terms: &mut Terms,
        steps: &'a Steps,
        contents: &'a Contents<Word>,
        unknowns: &'a mut Unknowns,
        most_length: usize,
    ) -> Self {
        let mut frame = Vec::new();
        add_to(&mut frame, contents.iter().flatten().flatten().copied());
        let words = (steps.begin)(terms, contents);
        let next = (steps.step)(terms, 0, &words, &read(steps, contents, 0));
        Self {
            steps,
            contents,
            unknowns,
            done: 0,
            next,
            frame,
            cuts: 0,
            length: terms.length(),
            most_grown: most_length / UNCUT_PART,
            is_lost: false,
            origins: Vec::new(),
        }
    }

    /// Adds bits to the frame. No cut may have put them there.
    pub(super) fn frame(&mut self, bits: impl Iterator<Item = Bit>) {
        add_to(&mut self.frame, bits);
    }

    /// Called at each iteration of a loop. Cuts, if the machine has all words of the next step and
    /// it is not the last step. `entry` are the registers at the entry.
    pub(super) fn at_turn(&mut self, machine: &mut Machine<'_>, entry: &[Word]) -> Outcome<()> {
        if self.done + 1 >= self.steps.count {
            return Ok(());
        }
        if self.is_coupled(machine) {
            if self.cuts == 0 {
                add_to(&mut self.frame, entry.iter().flatten().copied());
            }
            self.done += 1;
            self.cut(machine);
            self.length = machine.terms.length();
        } else if machine.terms.length() > self.length + self.most_grown {
            self.is_lost = true;
            return Err(Stop {
                at: machine.next,
                visits: 0,
                reason: Reason::Unsupported("its formulas become too many".into()),
            });
        }
        Ok(())
    }

    /// Whether the machine has all words of the next step that are coupled.
    fn is_coupled(&self, machine: &Machine<'_>) -> bool {
        let words = self.next[self.steps.uncoupled..].iter().flatten();
        let mut needed = words.filter(|bit| !bit.is_constant());
        // In most iterations, the first word is missing already.
        let is_near = needed
            .next()
            .is_none_or(|first| machine.bits().any(|bit| bit == *first));
        if !is_near {
            return false;
        }
        let bits: Set<Bit> = machine.bits().collect();
        needed.all(|bit| bits.contains(bit))
    }

    fn cut(&mut self, machine: &mut Machine<'_>) {
        let words = core::mem::take(&mut self.next);
        let read = read(self.steps, self.contents, self.done);
        let mut unknown_of = Map::default();
        for (bits, unknowns) in [
            (&words[..], &mut self.unknowns.words),
            (&read[..], &mut self.unknowns.read),
        ] {
            for (i, bit) in bits.iter().flatten().enumerate() {
                if i == unknowns.len() {
                    unknowns.extend(machine.terms.input(1));
                }
                if !bit.is_constant() {
                    unknown_of.entry(*bit).or_insert(unknowns[i]);
                    remove_from(&mut self.frame, *bit);
                }
            }
        }
        let replaced = |bit: &Bit| unknown_of.get(bit).copied().unwrap_or(*bit);
        let replace = |words: &[Word]| -> Vec<Word> {
            let words = words.iter();
            words
                .map(|word| word.iter().map(replaced).collect())
                .collect()
        };
        let (new_words, new_read) = (replace(&words), replace(&read));
        self.remember_origins(machine.terms, &words, &new_words);
        let before = (self.steps.auxiliary)(machine.terms, self.done, &words);
        let after = (self.steps.auxiliary)(machine.terms, self.done, &new_words);
        for (bit, unknown) in before.iter().flatten().zip(after.iter().flatten()) {
            unknown_of.entry(*bit).or_insert(*unknown);
            remove_from(&mut self.frame, *bit);
        }
        let mut used = [0; 2];
        let (frame, others) = (&self.frame, &mut self.unknowns.others);
        let is_framed = |bit: Bit| {
            bit.atom()
                .is_some_and(|atom| frame.get(atom) == Some(&true))
        };
        machine.change_all(
            |terms, bit| !bit.is_constant() && !is_framed(bit) && !terms.is_of_address(bit),
            |terms, bit| {
                if let Some(unknown) = unknown_of.get(&bit) {
                    return *unknown;
                }
                if is_framed(bit) || terms.is_of_address(bit) {
                    return bit;
                }
                let kind = usize::from(terms.depends_on_input(bit));
                let (others, used) = (&mut others[kind], &mut used[kind]);
                if *used == others.len() {
                    others.extend(if kind == 1 {
                        terms.input(1)
                    } else {
                        terms.junk(1)
                    });
                }
                *used += 1;
                others[*used - 1]
            },
        );
        self.next = (self.steps.step)(machine.terms, self.done, &new_words, &new_read);
        self.cuts += 1;
    }

    /// Follows the uncoupled words through a cut. Each is the word before the first cut, plus the
    /// numbers that the steps have added since.
    fn remember_origins(&mut self, terms: &mut Terms, words: &[Word], new_words: &[Word]) {
        let count = self.steps.uncoupled;
        let origins = (0..count).map(|i| match self.origins.get(i) {
            None => Some(words[i].clone()),
            Some((before, origin)) => {
                let added = terms.sub(&words[i], before);
                let origin = origin.as_ref()?;
                Some(terms.sum(64, &[(1, origin)], value(&added)?))
            }
        });
        let origins: Vec<Option<Word>> = origins.collect();
        self.origins = new_words[..count].iter().cloned().zip(origins).collect();
    }

    /// Puts the uncoupled words without unknowns of cuts back, wherever they are, and words at a
    /// known distance from them: after the last cut. The unknowns are these words in the run, so
    /// this is an equation that holds.
    pub(super) fn restore(&self, machine: &mut Machine<'_>) {
        let known = self.origins.iter();
        let known: Vec<(&Word, &Word)> = known
            .filter_map(|(now, origin)| Some((now, origin.as_ref()?)))
            .filter(|(now, _)| now.iter().any(|bit| !bit.is_constant()))
            .collect();
        for (place, word) in machine.places() {
            let is_near = match place {
                Where::General(_) => true,
                Where::Memory(address) => machine.memory.is_stack(address),
                Where::Vector(..) | Where::Mask(_) => false,
            };
            if !is_near {
                continue;
            }
            for (now, origin) in &known {
                let distance = machine.terms.sub(&word, now);
                if let Some(distance) = value(&distance) {
                    let word = machine.terms.sum(64, &[(1, origin)], distance);
                    machine.set_place(place, &word);
                }
            }
        }
        let flags = machine.flags.clone();
        let pairs = known.iter();
        let origin_of: Map<Bit, Bit> = pairs
            .flat_map(|(now, origin)| now.iter().copied().zip(origin.iter().copied()))
            .filter(|(now, _)| !now.is_constant())
            .collect();
        machine.change_all(
            |_, bit| origin_of.contains_key(&bit),
            |_, bit| origin_of.get(&bit).copied().unwrap_or(bit),
        );
        machine.flags = flags;
    }

    /// The result of the specification. `None` if the remaining steps would need too many formulas:
    /// the function has no such loop, or its loop ended early. No cut follows, because the unknowns
    /// of the last one are in the result.
    pub(super) fn end(&mut self, terms: &mut Terms) -> Option<Contents<Word>> {
        let left = self.done + 1..self.steps.count;
        if left.len() > MOST_UNCUT {
            return None;
        }
        let mut words = self.next.clone();
        for number in left {
            let cells = read(self.steps, self.contents, number);
            words = (self.steps.step)(terms, number, &words, &cells);
        }
        self.done = self.steps.count;
        Some((self.steps.end)(terms, &words))
    }
}

/// Whether the formulas of all steps, without a cut, are at most this much longer than those that
/// exist.
pub(super) fn are_short(
    terms: &mut Terms,
    steps: &Steps,
    contents: &Contents<Word>,
    most_length: usize,
) -> bool {
    let most = terms.length() + most_length;
    let mut words = (steps.begin)(terms, contents);
    for number in 0..steps.count {
        let cells = read(steps, contents, number);
        words = (steps.step)(terms, number, &words, &cells);
        if terms.length() > most {
            return false;
        }
    }
    true
}

fn read(steps: &Steps, contents: &Contents<Word>, number: usize) -> Vec<Word> {
    let (buffer, cells) = (steps.reads)(number);
    pick(&contents[buffer], &cells)
}

fn add_to(frame: &mut Vec<bool>, bits: impl Iterator<Item = Bit>) {
    for atom in bits.filter_map(Bit::atom) {
        if frame.len() <= atom {
            frame.resize(atom + 1, false);
        }
        frame[atom] = true;
    }
}

fn remove_from(frame: &mut [bool], bit: Bit) {
    if let Some(framed) = bit.atom().and_then(|atom| frame.get_mut(atom)) {
        *framed = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::Algebra;
    use crate::contract::Stepwise;

    /// The example of this module.
    #[derive(Clone, Copy)]
    struct Example;

    impl Stepwise for Example {
        fn steps(&self) -> usize {
            40
        }

        fn step<A: Algebra<64>>(
            &self,
            a: &mut A,
            _number: usize,
            words: &[A::Word],
            read: &[A::Word],
        ) -> Vec<A::Word> {
            let sum = a.add(&words[0], &read[0]);
            vec![a.rotate_left(&sum, 7)]
        }
    }

    /// Whether the steps are short, and by how much the formulas have grown.
    fn measured(most_length: usize) -> (bool, usize) {
        let mut terms = Terms::new(1);
        let first = vec![terms.input(64)];
        let contents = vec![first, (0..40).map(|_| terms.input(64)).collect()];
        let before = terms.length();
        let are_short = are_short(&mut terms, &Steps::new(Example), &contents, most_length);
        (are_short, terms.length() - before)
    }

    /// The steps are measured as they are made: that ends at the limit.
    #[test]
    fn steps_without_cuts_are_measured() {
        let (are_short, all) = measured(1 << 24);
        assert!(are_short);
        let (are_short, some) = measured(all / 2);
        assert!(!are_short);
        assert!(all / 2 < some && some < all * 3 / 4, "{some} of {all}");
    }
}
