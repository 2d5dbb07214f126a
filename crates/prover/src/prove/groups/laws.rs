//! The invariant of a loop over groups: a law for each place of 64 bits.

use crate::exec::{Machine, Where};
use crate::term::{Mentions, Terms, Word, constant, value};
use std::collections::{BTreeMap, BTreeSet};

/// The contents of all places at one moment.
pub(super) type Places = BTreeMap<Where, Word>;

/// A moment at the header: g groups are done, q · `size` + t elements remain, t from 1 to `size`.
#[derive(Clone)]
pub(super) struct Point {
    /// g.
    pub(super) done: Word,
    /// The number of all elements: (g + q) · `size` + t.
    pub(super) elements: Word,
    /// The number of all groups: g + q + 1.
    pub(super) groups: Word,
}

impl Point {
    pub(super) fn new(terms: &mut Terms, size: u128, [g, q, t]: [&Word; 3]) -> Self {
        Self {
            done: g.clone(),
            elements: terms.sum(64, &[(size, g), (size, q), (1, t)], 0),
            groups: terms.sum(64, &[(1, g), (1, q)], 1),
        }
    }
}

/// The value of a place at each arrival at the header.
enum Law {
    /// `rest` + `counts` · (elements, groups) + `step` · g. Nothing in `rest` depends on q, t or g.
    Follows {
        rest: Word,
        counts: [u128; 2],
        step: u128,
    },
    /// These unknowns: anything.
    Anything(Word),
}

/// The invariant.
pub(super) struct Laws {
    laws: BTreeMap<Where, Law>,
    /// Stack that may have been given up. A turn that reads it before it writes it finds unknowns.
    given_up: BTreeSet<u64>,
    /// Whether upper halves of vector registers may be in use. That is the worse case: only
    /// `vzeroupper` ends it.
    upper_in_use: bool,
    /// Where the stack was aligned.
    aligned: Option<[u64; 3]>,
    /// The lowest address of the stack that was accessed, or a higher one.
    touched: u64,
}

/// The first three arrivals at the header, with some numbers in the place of inputs. They suggest
/// an invariant; nothing that is proved rests on them.
pub(super) struct Suggestion {
    pub(super) header: u64,
    pub(super) arrivals: [Places; 3],
    /// Stack that was given up at the second or third arrival.
    pub(super) given_up: BTreeSet<u64>,
    /// Whether upper halves of vector registers are in use at the third arrival.
    pub(super) upper_in_use: bool,
}

impl Laws {
    /// A law for each place of the first arrival.
    pub(super) fn derive(
        machine: &mut Machine<'_>,
        suggestion: &Suggestion,
        point: &Point,
        unknowns: &mut Mentions,
        scales: &[u128],
    ) -> Self {
        let mut given_up = machine.memory.given_up();
        given_up.extend(&suggestion.given_up);
        let mut laws = BTreeMap::new();
        for (place, word) in machine.places() {
            let terms = &mut *machine.terms;
            let step = step(terms, suggestion, place);
            let rest = step.and_then(|_| rest(terms, &word, point, unknowns, scales));
            let law = match (rest, step) {
                (Some((rest, counts)), Some(step)) => Law::Follows { rest, counts, step },
                _ => Law::Anything(anything(terms, &word, suggestion.arrivals[1].get(&place))),
            };
            laws.insert(place, law);
        }
        Self {
            laws,
            given_up,
            upper_in_use: machine.upper_in_use() || suggestion.upper_in_use,
            aligned: machine.aligned_stack(),
            touched: machine.touched(),
        }
    }

    /// Makes the state of the first arrival that of any arrival.
    pub(super) fn assume(&self, machine: &mut Machine<'_>, point: &Point) {
        for (place, law) in &self.laws {
            let word = law.content(machine.terms, point);
            machine.set_place(*place, &word);
        }
        for (address, bytes) in machine.memory.parts() {
            for byte in (0..8).filter(|byte| bytes >> byte & 1 == 1) {
                let unknown = machine.terms.input(8);
                machine.memory.put(address + byte, &unknown);
            }
        }
        for address in &self.given_up {
            let unknown = machine.terms.junk(8);
            let unknown = unknown.as_chunks::<8>().0[0];
            machine.memory.give_up_byte(*address, &unknown);
        }
        machine.forget_flags();
        if self.upper_in_use {
            machine.use_upper_halves();
        }
    }

    /// Whether the laws hold.
    pub(super) fn hold(&self, machine: &mut Machine<'_>, point: &Point) -> Result<(), String> {
        for (place, law) in &self.laws {
            if matches!(law, Law::Anything(_)) {
                continue;
            }
            let expected = law.content(machine.terms, point);
            let found = machine.at_place(*place);
            let is_right = found.as_ref().is_some_and(|found| {
                *found == expected || value(&machine.terms.sub(found, &expected)) == Some(0)
            });
            let is_given_up = |at: u64| (at..at + 8).any(|byte| self.given_up.contains(&byte));
            let may_be_gone = matches!(place, Where::Memory(at) if is_given_up(*at));
            if !is_right && !may_be_gone {
                return Err(format!(
                    "{place:x?} is not what the invariant of its loop over groups says"
                ));
            }
        }
        if !machine.memory.given_up().is_subset(&self.given_up) {
            return Err("a turn of its loop over groups gives up stack".into());
        }
        if machine.aligned_stack() != self.aligned {
            return Err("a turn of its loop over groups aligns the stack in another place".into());
        }
        if machine.touched() > self.touched {
            return Err("its loop over groups may skip the guard of the stack".into());
        }
        if machine.upper_in_use() && !self.upper_in_use {
            return Err("upper halves of vector registers are in use after a turn".into());
        }
        Ok(())
    }
}

impl Law {
    fn content(&self, terms: &mut Terms, point: &Point) -> Word {
        match self {
            Self::Anything(unknown) => unknown.clone(),
            Self::Follows {
                rest,
                counts: [0, 0],
                step: 0,
            } => rest.clone(),
            Self::Follows {
                rest,
                counts: [elements, groups],
                step,
            } => {
                let parts: [(u128, &[_]); 4] = [
                    (1, rest),
                    (*elements, &point.elements),
                    (*groups, &point.groups),
                    (*step, &point.done),
                ];
                terms.sum(64, &parts, 0)
            }
        }
    }
}

/// By how much the content of a place grows with each group.
fn step(terms: &mut Terms, suggestion: &Suggestion, place: Where) -> Option<u128> {
    let mut words = Vec::new();
    for arrival in &suggestion.arrivals {
        words.push(arrival.get(&place)?);
    }
    let mut steps = words.windows(2).map(|pair| match pair[0] == pair[1] {
        true => Some(0),
        false => value(&terms.sub(pair[1], pair[0])),
    });
    let step = steps.next()??;
    steps.all(|next| next == Some(step)).then_some(step)
}

/// A word less a multiple of the counts, without their unknowns; and that multiple.
pub(super) fn rest(
    terms: &mut Terms,
    word: &Word,
    point: &Point,
    unknowns: &mut Mentions,
    scales: &[u128],
) -> Option<(Word, [u128; 2])> {
    let is_free = |terms: &Terms, word: &Word, unknowns: &mut Mentions| {
        !word.iter().any(|bit| terms.may_mention(*bit, unknowns))
    };
    if is_free(terms, word, unknowns) {
        return Some((word.clone(), [0, 0]));
    }
    for scale in scales {
        for counts in [[*scale, 0], [0, *scale]] {
            let [elements, groups] = counts.map(u128::wrapping_neg);
            let parts: [(u128, &[_]); 3] = [
                (1, word),
                (elements, &point.elements),
                (groups, &point.groups),
            ];
            let rest = terms.sum(64, &parts, 0);
            if is_free(terms, &rest, unknowns) {
                return Some((rest, counts));
            }
        }
    }
    None
}

/// An unknown for each bit. It counts as an input, unless only junk was there.
fn anything(terms: &mut Terms, first: &Word, next: Option<&Word>) -> Word {
    let is_junk = |bit: usize| {
        let bits = [Some(first), next].into_iter().flatten();
        let mut bits = bits.map(|word| word[bit]);
        next.is_some()
            && bits.all(|bit| !terms.depends_on_input(bit) && !terms.depends_on_address(bit))
            && next.is_some_and(|word| !word[bit].is_constant())
    };
    let kinds: Vec<bool> = (0..64).map(is_junk).collect();
    let bits = kinds.into_iter().map(|is_junk| match is_junk {
        true => terms.junk(1)[0],
        false => terms.input(1)[0],
    });
    bits.collect()
}

/// The number `x` as a word.
pub(super) fn number(x: usize) -> Word {
    constant(x as u128, 64)
}
