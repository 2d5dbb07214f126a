//! Loops of any number of iterations, by induction on the remaining iterations.
//!
//! A function gets a buffer of `n` elements and `n`. It makes a step of the specification with each
//! element. The cases of one element and of none have normal proofs. For all `n` from 2 on, the
//! prover examines three parts of runs. The *header* of the loop is the target of the first jump
//! backwards.
//!
//! - *Base*: from the entry to the header, with `n` = 2 + u, u unknown. There, one step is done and
//!   `r` = n - 1 elements remain.
//! - *Step*: from the header, with `r` = 2 + v, in a state of which only the invariant is known.
//!   The run reaches the header again, and the invariant holds for the next step, the next address,
//!   and `r` - 1.
//! - *Exit*: from such a state with `r` = 1. The run returns, and the outputs are those of the
//!   specification after its last step.
//!
//! The *invariant* says of each bit of each register and of memory that it is one of these: a bit
//! of the words of the specification; of the address of the next element, or of the one after it;
//! of the number of remaining elements, of their number of bytes, or of their end address; of the
//! *frame*, the inputs that no iteration consumes; a constant; or anything (*havoc*), which is a
//! new unknown for each bit. The prover derives it from the state of the base. If it is too weak,
//! or not preserved, there is no proof.
//!
//! So by induction, the invariant holds each time that the run reaches the header. Each iteration
//! takes one from `r`, so the loop ends. At its end, the outputs are right.
//!
//! In step and exit, the buffer is one element at its own base: the next element. It exists,
//! because `r` is not zero. A run that reads another element after it stops.
//!
//! Code may count the bytes that are done, and add them to the address of the first element. So if
//! there is no proof, the prover tries the other kind of loop: the base has no address of the next
//! element, but places with the constant of one element's bytes. Each of these places holds the
//! *offset* in the invariant: the address of the next element minus that of the first.
//!
//! A place can hold a constant at the first arrival only: a saved offset of the element that is
//! done, say. If the step changes it, the place becomes *anything*, and base and step are tried
//! again. So they are if a place with the bytes of one element is not the offset.

use super::invariant::{Header, Left, Roles, near, plus, promises_too_much, unknowns};
use super::{
    Ends, Finding, Layout, NOT_FOLLOWED, Session, Subject, enter, outputs_of_run, residue_of,
};
use crate::contract::{Contents, Contract, Repeats, Steps, pick};
use crate::exec::{Base, Machine, Outcome, Reason, Region, Stop, Where};
use crate::hash::Set;
use crate::term::{Bit, Terms, Word, constant, value};
use crate::verdict::Verdict;
use std::collections::BTreeSet;

/// The largest number of runs of base, step and exit. Real loops need fewer than five.
const MOST_ROUNDS: usize = 16;

/// The progress of the run.
enum Progress {
    /// It has not reached the header.
    Base,
    /// It is in an iteration from the header on.
    Turn(Box<Header>),
    /// It has reached the header again.
    Again(Result<(), String>),
}

/// A run beside the specification, cut at the header.
struct Induction<'a> {
    steps: &'a Steps,
    contents: &'a Contents<Word>,
    left: Left,
    /// Whether the loop has the offset of the next element, and not its address.
    counts_bytes: bool,
    /// The words after the first step.
    first: Vec<Word>,
    /// The bytes of an element.
    bytes: u64,
    element: (u64, u32),
    /// The address of the first element, and the number of elements.
    pointer: Word,
    number: Word,
    progress: Progress,
    /// Guesses that a step has shown to be wrong.
    wrong: &'a BTreeSet<(Guess, Where)>,
    /// The other guesses, with the expected content at the next arrival.
    guesses: Vec<(Guess, Where, Word)>,
    /// Those of them that this step has shown to be wrong.
    more_wrong: BTreeSet<(Guess, Where)>,
}

/// A guess about a place that has a constant at the first arrival.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Guess {
    /// It is the offset, which is the bytes of one element then.
    Offset,
    /// It is the same at each arrival.
    Constant,
}

/// The words that hold a loop's position: the address of the next element, the end address, the
/// numbers of remaining elements and bytes, and the address after the next element.
fn places(terms: &mut Terms, pointer: &[Bit], left: &[Bit], bytes: u64) -> [Word; 5] {
    let behind = plus(terms, pointer, bytes as i64);
    let (pointer, left, bytes) = (pointer.to_vec(), left.to_vec(), u128::from(bytes));
    let end = terms.sum(64, &[(1, &pointer), (bytes, &left)], 0);
    let length = terms.sum(64, &[(bytes, &left)], 0);
    [pointer, end, left, length, behind]
}

impl Session {
    /// Proves a contract with a repeated buffer.
    pub(super) fn by_induction(
        &mut self,
        subject: Subject<'_>,
        (contract, repeats): (&Contract, &Repeats),
        layout: &Layout,
        finding: &mut Finding,
    ) -> Verdict {
        if let Some(verdict) = promises_too_much(contract) {
            return verdict;
        }
        let Some(steps) = &contract.steps else {
            return Verdict::Unsupported("a loop without steps of a specification".into());
        };
        if !contract.reads_in_order(*repeats, steps) {
            return Verdict::Unsupported("steps that do not read an element each, in order".into());
        }
        let contents = self.contents(contract, layout);
        let loops = (contract, repeats, &**steps);
        let by_address = self.by_parts(subject, loops, false, layout, &contents, finding);
        if by_address.is_proof()
            || self
                .by_parts(subject, loops, true, layout, &contents, finding)
                .is_proof()
        {
            return Verdict::Proved;
        }
        weaker(by_address)
    }

    /// Step and exit.
    fn by_parts(
        &mut self,
        subject: Subject<'_>,
        (contract, repeats, steps): (&Contract, &Repeats, &Steps),
        counts_bytes: bool,
        layout: &Layout,
        contents: &Contents<Word>,
        finding: &mut Finding,
    ) -> Verdict {
        let mut wrong = BTreeSet::new();
        let mut parts = vec![Left::One, Left::Many];
        let mut rounds = 0;
        while let Some(left) = parts.pop() {
            rounds += 1;
            let buffer = contract.index(repeats.buffer);
            let elements = contract.buffers.len();
            let bytes = 8 * (contents[buffer].len() - repeats.before) as u64;
            let before = 8 * repeats.before as u64;
            let alignment = contract.buffers[buffer].alignment;
            let is_kept = [bytes, before].iter().all(|x| x.is_multiple_of(alignment));
            assert!(is_kept, "every element has the alignment of the buffer");
            let mut induction = Induction {
                steps,
                contents,
                left,
                counts_bytes,
                first: first_step(&mut self.terms, steps, contents),
                bytes,
                element: (
                    Layout::slot(elements, alignment),
                    alignment.trailing_zeros(),
                ),
                pointer: plus(&mut self.terms, &layout.words[buffer], before as i64),
                number: contents[contract.index(repeats.count)][0].clone(),
                progress: Progress::Base,
                wrong: &wrong,
                guesses: Vec::new(),
                more_wrong: BTreeSet::new(),
            };
            let verdict = self.part(subject, contract, layout, &mut induction, finding);
            let more_wrong = induction.more_wrong;
            match verdict.is_proof() {
                true => {}
                // Another guess, or a weaker invariant.
                false if !more_wrong.is_empty() && rounds < MOST_ROUNDS => {
                    wrong.extend(more_wrong);
                    parts.push(left);
                }
                false => return verdict,
            }
        }
        Verdict::Proved
    }

    /// Base and step, or base and exit.
    fn part(
        &mut self,
        subject: Subject<'_>,
        contract: &Contract,
        layout: &Layout,
        induction: &mut Induction<'_>,
        finding: &mut Finding,
    ) -> Verdict {
        let place = (contract, layout);
        let (mut machine, arguments) = enter(&mut self.terms, subject, place, induction.contents);
        machine.most_steps = self.most_steps;
        machine.most_length = self.most_length + machine.terms.length();
        let [start, end, ..] = places(
            machine.terms,
            &induction.pointer,
            &induction.number,
            induction.bytes,
        );
        machine.set_end(start, end);
        let called = machine.call_watched(
            subject.1.start,
            &arguments,
            (layout.bases(contract), layout.stack),
            |machine, entry| induction.at_turn(machine, entry),
        );
        finding.add_run(&mut machine);
        let outputs = called.is_ok().then(|| {
            let left = residue_of(&machine, layout, contract);
            finding.residue = finding.residue.or(left);
            outputs_of_run(&machine, contract, layout)
        });
        match (called, outputs, &induction.progress) {
            (_, _, Progress::Again(Ok(()))) => Verdict::Proved,
            (_, _, Progress::Again(Err(why))) => Verdict::Unproved(why.clone()),
            (Err(stop), _, _) => self.judge(subject.0, &stop),
            (Ok(()), Some(outputs), Progress::Turn(header)) if induction.left == Left::One => {
                let expected = (induction.steps.end)(&mut self.terms, &header.words);
                let expected = Some(expected);
                self.compare(contract, &Ends { outputs, expected }, finding.residue)
            }
            (Ok(()), _, Progress::Turn(_)) => Verdict::Unproved("its loop ends early".into()),
            (Ok(()), _, Progress::Base) => Verdict::Unproved(NOT_FOLLOWED.into()),
        }
    }
}

fn first_step(terms: &mut Terms, steps: &Steps, contents: &Contents<Word>) -> Vec<Word> {
    let words = (steps.begin)(terms, contents);
    let (buffer, cells) = (steps.reads)(0);
    (steps.step)(terms, 0, &words, &pick(&contents[buffer], &cells))
}

/// The registers and places on the stack that hold this number.
fn places_of(machine: &mut Machine<'_>, number: &Word) -> Vec<Where> {
    let mut places = machine.places();
    places.retain(|(place, word)| {
        let is_register_or_stack = match place {
            Where::General(_) => true,
            Where::Memory(address) => machine.memory.is_stack(*address),
            Where::Vector(..) | Where::Mask(_) => false,
        };
        is_register_or_stack
            && match value(number) {
                Some(_) => word == number,
                None => value(&machine.terms.sub(word, number)) == Some(0),
            }
    });
    places.into_iter().map(|(place, _)| place).collect()
}

/// Whether the machine has all bits of these words.
fn has_all(machine: &Machine<'_>, words: &[Word]) -> bool {
    let bits: Set<Bit> = machine.bits().collect();
    let mut needed = words.iter().flatten();
    needed.all(|bit| bit.is_constant() || bits.contains(bit))
}

/// After the invariant, a finding may be about states that no run reaches. So it does not refute.
pub(super) fn weaker(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Refuted(why) | Verdict::Unproved(why) => {
            Verdict::Unproved(format!("{why}, by induction on the turns of its loop"))
        }
        other => other,
    }
}

impl Induction<'_> {
    /// Called after a jump backwards.
    fn at_turn(&mut self, machine: &mut Machine<'_>, entry: &[Word]) -> Outcome<()> {
        let result = match &self.progress {
            Progress::Base if self.has_first_step(machine) => {
                self.cut(machine, entry).map(|header| {
                    self.progress = Progress::Turn(Box::new(header));
                })
            }
            Progress::Turn(header) if machine.next == header.address => {
                let kept = header.is_kept(&machine.state());
                let guesses = self.guesses.iter();
                let wrong = guesses.filter(|(_, place, word)| {
                    machine.at_place(*place).is_some_and(|now| now != *word)
                });
                self.more_wrong = wrong.map(|(guess, place, _)| (*guess, *place)).collect();
                let kept = match self.left {
                    Left::One => Err("its loop does not end in time".into()),
                    Left::Many => kept,
                };
                self.progress = Progress::Again(kept);
                Err(String::from("the header again"))
            }
            _ => return Ok(()),
        };
        result.map_err(|why| {
            if !matches!(self.progress, Progress::Again(_)) {
                self.progress = Progress::Again(Err(why.clone()));
            }
            Stop {
                at: machine.next,
                visits: 0,
                reason: Reason::Unsupported(why),
            }
        })
    }

    /// Whether the machine has all words of the specification after the first step, and the
    /// address of the next element or its offset.
    fn has_first_step(&self, machine: &mut Machine<'_>) -> bool {
        let offset = constant(self.bytes.into(), 64);
        has_all(machine, &self.first)
            && match self.counts_bytes {
                false => {
                    let next = plus(machine.terms, &self.pointer, self.bytes as i64);
                    has_all(machine, &[next])
                }
                true => !places_of(machine, &offset).is_empty(),
            }
    }

    /// An unknown number of bytes that are done. It counts as an address: it is not secret.
    fn unknown_offset(&self, terms: &mut Terms) -> Word {
        let bits = 64 - self.bytes.ilog2() as usize;
        let mut done = terms.base(5, 0)[..bits].to_vec();
        done.resize(64, Bit::ZERO);
        terms.sum(64, &[(self.bytes.into(), &done)], 0)
    }

    /// Replaces everything that the invariant does not know by unknowns.
    fn cut(&mut self, machine: &mut Machine<'_>, entry: &[Word]) -> Result<Header, String> {
        let counts_bytes = self.counts_bytes;
        let terms = &mut *machine.terms;
        let (start, known) = self.element;
        let offset = self.unknown_offset(terms);
        let element = match counts_bytes {
            false => terms.base(start, known),
            true => terms.sum(64, &[(1, &self.pointer), (1, &offset)], 0),
        };
        let left = match self.left {
            Left::One => constant(1, 64),
            Left::Many => {
                let more = terms.input(63 - self.bytes.ilog2() as usize);
                terms.sum(64, &[(1, &more)], 2)
            }
        };
        let words = unknowns(terms, &self.first);
        let read: Vec<Word> = (0..self.bytes / 8).map(|_| terms.input(64)).collect();
        let after = (self.steps.step)(terms, 1, &words, &read);
        if (self.steps.step)(terms, 2, &words, &read) != after {
            return Err("its specification has other steps for later elements".into());
        }
        let is_like = |(a, b): (&Word, &Word)| a.len() == b.len();
        if after.len() != words.len() || !words.iter().zip(&after).all(is_like) {
            return Err("the specification gives other words after a step than before it".into());
        }

        let [pointer, next_element] =
            [&self.pointer, &element].map(|word| plus(terms, word, self.bytes as i64));
        let [before, left_after] = [&self.number, &left].map(|number| plus(terms, number, -1));
        let old = places(terms, &pointer, &before, self.bytes);
        let new = places(terms, &element, &left, self.bytes);
        let later = places(terms, &next_element, &left_after, self.bytes);

        let old = self.first.iter().chain(&old).flatten();
        let new_bits = words.iter().chain(&new).flatten();
        let later = after.iter().chain(&later).flatten();
        let mut roles = Roles::default();
        for ((old, new), later) in old.zip(new_bits).zip(later) {
            roles.add([*old, *new, *later], self.left)?;
        }
        if counts_bytes {
            self.guess_offsets(machine, &mut roles, offset, [&before, &left, &left_after])?;
        }
        let element_addresses = match counts_bytes {
            false => near(machine, &self.pointer),
            // The address of the first element stays.
            true => Set::default(),
        };
        let kept = self.kept(machine.terms, entry);
        roles.replace_all(machine, &kept, &element_addresses);
        self.guess_constants(machine, &mut roles);
        let state = machine.state();
        let region = Region {
            name: "the next element".into(),
            range: start..start + self.bytes,
            writable: false,
        };
        let base = Base {
            name: region.name.clone(),
            word: element,
            start,
            known,
        };
        machine.add_base(base);
        let [start, end, ..] = new;
        machine.set_end(start, end);
        machine.memory.declare(region, &read.concat());
        Ok(Header {
            address: machine.next,
            state,
            next: roles.next,
            anything: roles.anything,
            words: after,
        })
    }

    /// Puts the offset where the machine has the bytes of one element, and the number of all bytes
    /// where it has that. `left` are the remaining elements at the first arrival, at any arrival,
    /// and at the next one.
    fn guess_offsets(
        &mut self,
        machine: &mut Machine<'_>,
        roles: &mut Roles,
        offset: Word,
        left: [&Word; 3],
    ) -> Result<(), String> {
        let terms = &mut *machine.terms;
        let offset_later = plus(terms, &offset, self.bytes as i64);
        let offsets = [constant(self.bytes.into(), 64), offset, offset_later];
        let totals =
            [0, 1, 2].map(|i| terms.sum(64, &[(1, &offsets[i]), (self.bytes.into(), left[i])], 0));
        for [old, new, later] in [offsets, totals] {
            for (new, later) in new.iter().zip(&later) {
                roles.add([*new, *new, *later], self.left)?;
            }
            for place in places_of(machine, &old) {
                if !self.wrong.contains(&(Guess::Offset, place)) {
                    machine.set_place(place, &new);
                    self.guesses.push((Guess::Offset, place, later.clone()));
                }
            }
        }
        Ok(())
    }

    /// Replaces a constant that differs at another arrival by an unknown.
    fn guess_constants(&mut self, machine: &mut Machine<'_>, roles: &mut Roles) {
        for (place, word) in machine.places() {
            if value(&word).is_none() {
                continue;
            }
            if !self.wrong.contains(&(Guess::Constant, place)) {
                self.guesses.push((Guess::Constant, place, word));
                continue;
            }
            let unknown = machine.terms.input(word.len());
            roles.anything.extend(unknown.iter().copied());
            machine.set_place(place, &unknown);
        }
    }

    /// Inputs of the function that no iteration consumes: contents of buffers, and registers at the
    /// entry.
    fn kept(&self, terms: &mut Terms, entry: &[Word]) -> Set<Bit> {
        let (buffer, cells) = (self.steps.reads)(0);
        let mut used = pick(&self.contents[buffer], &cells);
        used.extend((self.steps.begin)(terms, self.contents));
        let used: Set<Bit> = used.into_iter().flatten().collect();
        let contents = self.contents.iter().flatten().flatten();
        let kept = contents.filter(|bit| !used.contains(bit));
        kept.chain(entry.iter().flatten()).copied().collect()
    }
}
