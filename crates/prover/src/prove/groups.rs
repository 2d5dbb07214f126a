//! Elements of any number, by induction on the groups that a function takes them in.
//!
//! A function gets `n` ≥ 1 elements, N of them are a group. In each turn of its loop, it computes
//! the results of a group. It jumps back to the *header* while elements remain. If the last group
//! is too small, it leaves that to the caller. The function reaches the header before the first
//! group too. There, g groups are done, and q · N + t elements remain, q ≥ 0 and t from 1 to N. So
//! `n` is (g + q) · N + t, and all groups are G = g + q + 1. The header of a `while` loop may also
//! test whether anything remains. Then the run reaches the header once more, at the end. The
//! prover examines these parts of runs:
//!
//! - *Base*: from the entry to the header, for each t, with q unknown. The invariant holds for g =
//!   0.
//! - *Step*: from the header, in a state of which only the invariant is known, with N elements or
//!   more. The results of a group are right. Then the run splits, at the first branch that depends
//!   on what remains, or at the header if no such branch is before it. If more remains, it reaches
//!   the header, and the invariant holds for g + 1. If not, it returns g · N + N.
//! - *Exit*: from such a state with q = 0, for each t below N. The run returns. If t elements are
//!   enough for a group, their results are right and it returns g · N + t. Otherwise their results
//!   are as they were, and it returns g · N.
//!
//! # The invariant
//!
//! It says of each place (64 bits of a register, or of memory) one of these:
//!
//! - its content is w + a · `n` + b · G + c · g, with numbers a, b, c; w is what was there at the
//!   first arrival, without the multiple of `n` and G: an address, a constant, an input, or a
//!   formula of those in which `n` does not occur;
//! - *anything* (havoc): a new unknown for each bit.
//!
//! The rest of the stack is unknown: an unwritten part is *anything*, and a turn that reads
//! released stack before it writes it finds unknowns. The flags are unknown.
//!
//! The prover guesses the header, and c from three arrivals of a run on random numbers. The guess
//! needs no trust: base and step show that the invariant holds at this address.
//!
//! # Soundness
//!
//! Let `n` be any number of elements, at most 2^b. Then q and g are below 2^b at each arrival, and
//! base and step are for all of these. By the base, the first arrival keeps the invariant, with
//! g = 0. By the step, each next one does, with g + 1. Each takes one from q. When q is 0, the run
//! ends by an exit, or by the step if t is N. So all results of full groups are right, and those of
//! the last group.
//!
//! At the header, elements and results of the next group are the only ones that exist, each at its
//! own base: the address of the first element plus g groups. So a run that touches an element or a
//! result of another group stops, and there is no proof. That keeps earlier results as they are.
//! The step has an unknown number v ≥ 0 of elements behind its group, and an unknown number of
//! groups behind it, which need not fit together. Real runs are among these cases. After the
//! branch, v gets its values of both cases if the prover finds them. If not, v stays unknown, which
//! is correct too.
//!
//! Within a group, the specification has steps, and the loop over them is cut (`cut.rs`). A cut
//! forgets the position, which is in the words of the steps. Its value is known: its value at the
//! first cut, plus the amount that the steps have added. After the last cut the prover restores it
//! ([`Beside::restore`]).
//!
//! The numbers g, q, t and v count as addresses: not secret, and nothing is known of them. A branch
//! on them stops the proof, but for the one that the step splits at.

mod laws;
mod suggestion;

use super::cut::{Beside, Unknowns};
use super::induction::weaker;
use super::invariant::promises_too_much;
use super::{Finding, Layout, Session, Subject, enter, residue_of};
use crate::contract::{Access, Cell, Contents, Contract, Groups, Steps};
use crate::exec::{BRANCH, Base, Machine, Moment, Outcome, Reason, Region, Stop, Where};
use crate::term::{Bit, Mentions, Terms, Word, value};
use crate::verdict::Verdict;
use laws::{Laws, Point, Suggestion, number};

/// Why there is no proof.
enum Failure {
    Stopped(Stop),
    Other(String),
    /// The specification gives other words than the contract has.
    Misfit(String),
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Self::Other(why)
    }
}

impl From<&str> for Failure {
    fn from(why: &str) -> Self {
        Self::Other(why.into())
    }
}

/// How a run went on.
#[derive(PartialEq, Eq)]
enum Reached {
    Header,
    Return,
}

/// Where a step splits.
enum Split {
    /// At the branch of this address.
    Branch(u64),
    /// At the header, which no such branch is before.
    Header,
}

impl Split {
    /// The next instruction.
    fn next(&self, machine: &Machine<'_>) -> u64 {
        match self {
            Self::Branch(at) => *at,
            Self::Header => machine.next,
        }
    }
}

/// The runs of a proof, in one machine.
struct Runs<'a, 'm> {
    machine: Machine<'m>,
    /// The general registers at the entry.
    before: Vec<Word>,
    contract: &'a Contract,
    groups: &'a Groups,
    layout: &'a Layout,
    contents: &'a Contents<Word>,
    most_length: usize,
    finding: &'a mut Finding,
}

/// The memory of a group: where it starts.
struct Slices {
    output: u64,
}

impl Session {
    /// Proves a contract of any number of groups.
    pub(super) fn any_groups(
        &mut self,
        subject: Subject<'_>,
        (contract, groups): (&Contract, &Groups),
        layout: &Layout,
        finding: &mut Finding,
    ) -> Verdict {
        if let Some(verdict) = promises_too_much(contract) {
            return verdict;
        }
        let buffers = contract.buffers.iter();
        let mut written = buffers.filter(|buffer| buffer.access == Access::Write);
        assert!(
            written.all(|buffer| buffer.name == groups.output),
            "one output"
        );
        if !contract.has_own_groups(groups) {
            return Verdict::Unsupported(
                "elements or results that are other arguments or memory of the contract, too"
                    .into(),
            );
        }
        let contents = self.contents(contract, layout);
        let found = self.suggestion(subject, (contract, groups), layout, &contents);
        let unknowns = &mut self.unknowns;
        let proved = found.and_then(|suggestion| {
            let data = [groups.input, groups.output].map(|name| contract.index(name));
            let layout = layout.with_begin_of(&data, 0);
            let place = (contract, &layout);
            let (mut machine, arguments) = enter(&mut self.terms, subject, place, &contents);
            machine.most_steps = self.most_steps;
            let place = (layout.bases(contract), layout.stack);
            let before = machine.begin_call(subject.1.start, &arguments, place)?;
            machine.watched = Some(suggestion.header);
            let mut runs = Runs {
                machine,
                before,
                contract,
                groups,
                layout: &layout,
                contents: &contents,
                most_length: self.most_length,
                finding,
            };
            runs.prove(&suggestion, unknowns)
        });
        match proved {
            Ok(()) => Verdict::Proved,
            Err(Failure::Misfit(why)) => Verdict::Unsupported(why),
            Err(Failure::Other(why)) => weaker(Verdict::Unproved(why)),
            Err(Failure::Stopped(stop)) => weaker(self.judge(subject.0, &stop)),
        }
    }
}

/// An unknown number below 2^`bits` that counts as an address.
fn few_bits(terms: &mut Terms, bits: usize) -> Word {
    let mut word = terms.base(5, 0)[..bits].to_vec();
    word.resize(64, Bit::ZERO);
    word
}

/// An unknown number from 1 to `most`.
fn up_to(terms: &mut Terms, most: usize) -> Word {
    // 1 + x + rest · y, x below 2^bits and y below 2: every value, and none is too large.
    let bits = most.ilog2() as usize;
    let rest = (most - (1 << bits)) as u128;
    let (x, y) = (few_bits(terms, bits), few_bits(terms, 1));
    terms.sum(64, &[(1, &x), (rest, &y)], 1)
}

fn stop_at(machine: &Machine<'_>) -> Outcome<()> {
    Err(Stop {
        at: machine.next,
        visits: 0,
        reason: Reason::Unsupported("the header of its loop over groups".into()),
    })
}

impl Runs<'_, '_> {
    fn prove(&mut self, suggestion: &Suggestion, unknowns: &mut Unknowns) -> Result<(), Failure> {
        let (size, bits) = (self.groups.size, self.groups.bits());
        let terms = &mut *self.machine.terms;
        // Later than all inputs: what is later may stand for a formula with them.
        let q = few_bits(terms, bits);
        let g = few_bits(terms, bits);
        let (laws, arrival) = self.base(suggestion, &q)?;
        self.step((&laws, &arrival), &g, unknowns)?;
        for rest in 1..size {
            self.exit((&laws, &arrival), &g, rest, unknowns)?;
        }
        Ok(())
    }

    /// From the entry to the header, for each number of elements in the last group.
    fn base(&mut self, suggestion: &Suggestion, q: &Word) -> Result<(Laws, Moment), Failure> {
        let entry = self.machine.moment(self.machine.next);
        let mut first = None;
        for last in 1..=self.groups.size {
            self.machine.return_to(&entry);
            let point = self.point([&number(0), q, &number(last)]);
            self.put_elements(&point.elements);
            if self.go_on(None)? == Reached::Return {
                return Err("it returns before its loop over groups".into());
            }
            let (laws, _) = first.get_or_insert_with(|| {
                let mut unknowns = Mentions::of(&unknown_bits(q));
                let scales = self.scales();
                let machine = &mut self.machine;
                let laws = Laws::derive(machine, suggestion, &point, &mut unknowns, &scales);
                (laws, machine.moment(machine.next))
            });
            laws.hold(&mut self.machine, &point)?;
        }
        first.ok_or_else(|| "a group has elements".into())
    }

    /// A group of `size` elements, and both ways from there.
    fn step(
        &mut self,
        (laws, arrival): (&Laws, &Moment),
        g: &Word,
        unknowns: &mut Unknowns,
    ) -> Result<(), Failure> {
        let (groups, size) = (self.groups, self.groups.size as u128);
        let terms = &mut *self.machine.terms;
        let (q, t) = (few_bits(terms, groups.bits()), up_to(terms, groups.size));
        let elements_behind = few_bits(terms, groups.bits() + 1);
        let groups_behind = few_bits(terms, groups.bits());
        let next = terms.sum(64, &[(1, g)], 1);
        let point = Point {
            done: g.clone(),
            elements: terms.sum(64, &[(size, g), (1, &elements_behind)], size),
            groups: terms.sum(64, &[(1, g), (1, &groups_behind)], 1),
        };
        let behind = [unknown_bits(&elements_behind), unknown_bits(&groups_behind)].concat();
        let last = self.point([g, &number(0), &number(groups.size)]);
        let more = self.point([&next, &q, &t]);

        let slices = self.at_header(laws, arrival, &point, groups.size);
        let steps = (groups.steps)(groups.size);
        let contents = self.contents_of_group(g);
        let mut beside = self.beside(&steps, &contents, unknowns);
        let split = match self.go_on(Some(&mut beside)) {
            Err(Failure::Stopped(stop)) if is_branch(&stop) => Split::Branch(stop.at),
            Err(why) => return Err(why),
            Ok(Reached::Header) => Split::Header,
            Ok(Reached::Return) => {
                return Err("no branch depends on how many groups remain".into());
            }
        };
        let expected = self.expected(&mut beside, groups.size)?;
        self.is_right(&slices, &expected)?;
        beside.restore(&mut self.machine);
        let moment = self.machine.moment(split.next(&self.machine));

        self.choose(&point, &last, &behind);
        if self.go_on(None)? == Reached::Header {
            return Err("its loop over groups does not end in time".into());
        }
        self.is_right(&slices, &expected)?;
        self.returned(&last.elements)?;

        self.machine.return_to(&moment);
        self.choose(&point, &more, &behind);
        if matches!(split, Split::Branch(_)) && self.go_on(None)? == Reached::Return {
            return Err("its loop over groups ends early".into());
        }
        self.is_right(&slices, &expected)?;
        laws.hold(&mut self.machine, &more)?;
        self.finding.cuts += beside.cuts;
        Ok(())
    }

    /// The last group has this number of elements, not all that it could have.
    fn exit(
        &mut self,
        (laws, arrival): (&Laws, &Moment),
        g: &Word,
        rest: usize,
        unknowns: &mut Unknowns,
    ) -> Result<(), Failure> {
        let point = self.point([g, &number(0), &number(rest)]);
        let slices = self.at_header(laws, arrival, &point, rest);
        let is_left = rest < self.groups.least;
        let steps = (!is_left).then(|| (self.groups.steps)(rest));
        let contents = self.contents_of_group(g);
        let mut beside = steps
            .as_ref()
            .map(|steps| self.beside(steps, &contents, unknowns));
        // A loop whose header sees that nothing remains goes there once more.
        let ended = match self.go_on(beside.as_mut())? {
            Reached::Header => self.go_on(beside.as_mut())?,
            Reached::Return => Reached::Return,
        };
        if ended == Reached::Header {
            return Err("its loop over groups does not end in time".into());
        }
        let expected = match &mut beside {
            Some(beside) => self.expected(beside, rest)?,
            None => self.output_before(rest),
        };
        self.is_right(&slices, &expected)?;
        let done = if is_left { 0 } else { rest };
        let size = self.groups.size as u128;
        let done = self.machine.terms.sum(64, &[(size, g)], done as u128);
        self.returned(&done)?;
        self.finding.cuts += beside.map_or(0, |beside| beside.cuts);
        Ok(())
    }

    fn point(&mut self, numbers: [&Word; 3]) -> Point {
        Point::new(self.machine.terms, self.groups.size as u128, numbers)
    }

    /// Multiples in which places may hold the numbers of elements and groups.
    fn scales(&self) -> Vec<u128> {
        let [a, b] = self.groups.cells.map(|cells| 8 * cells as u128);
        let all = [1, self.groups.size as u128, a, b];
        let negative = all.map(u128::wrapping_neg);
        [all, negative].concat()
    }

    /// Writes the number of elements wherever the contract says.
    fn put_elements(&mut self, elements: &Word) {
        let buffers = self.contract.buffers.iter().zip(&self.layout.ranges);
        for (buffer, range) in buffers {
            let cells = buffer.cells.iter().enumerate();
            for (cell, _) in cells.filter(|(_, cell)| **cell == Cell::Elements) {
                let address = range.start + 8 * cell as u64;
                self.machine.memory.put(address, elements);
            }
        }
    }

    /// Continues to the header or to the return.
    fn go_on(&mut self, mut beside: Option<&mut Beside<'_>>) -> Result<Reached, Failure> {
        let machine = &mut self.machine;
        machine.most_length = self.most_length + machine.terms.length();
        let header = machine.watched;
        let mut is_again = false;
        let run = machine.go_on(&self.before, |machine, entry| {
            if Some(machine.next) == header {
                is_again = true;
                return stop_at(machine);
            }
            match &mut beside {
                Some(beside) => beside.at_turn(machine, entry),
                None => Ok(()),
            }
        });
        self.finding.add_run(machine);
        self.finding.cases += 1;
        if is_again {
            return Ok(Reached::Header);
        }
        run?;
        let left = residue_of(machine, self.layout, self.contract);
        self.finding.residue = self.finding.residue.or(left);
        Ok(Reached::Return)
    }

    /// Any state at the header, with this number of elements in the next group.
    fn at_header(
        &mut self,
        laws: &Laws,
        arrival: &Moment,
        point: &Point,
        elements: usize,
    ) -> Slices {
        let machine = &mut self.machine;
        machine.return_to(arrival);
        laws.assume(machine, point);
        let slot = self.contract.buffers.len();
        let names = [self.groups.input, self.groups.output];
        let starts = [0, 1].map(|i| {
            let buffer = self.contract.index(names[i]);
            let Groups { cells, size, .. } = self.groups;
            let bytes = 8 * cells[i] as u64;
            let alignment = self.contract.buffers[buffer].alignment;
            let alignment = if bytes.is_multiple_of(alignment) {
                alignment
            } else {
                1
            };
            let start = Layout::slot(slot + i, alignment);
            let group = u128::from(bytes) * *size as u128;
            let address = &self.layout.words[buffer];
            let region = Region {
                name: format!("`{}` of a group", names[i]),
                range: start..start + bytes * elements as u64,
                writable: i == 1,
            };
            let word = machine
                .terms
                .sum(64, &[(1, address), (group, &point.done)], 0);
            machine.add_base(Base {
                name: region.name.clone(),
                word,
                start,
                known: alignment.trailing_zeros(),
            });
            let contents = &self.contents[buffer][..elements * cells[i]];
            machine.memory.declare(region, &contents.concat());
            start
        });
        Slices { output: starts[1] }
    }

    /// The inputs of the specification of a group. The position among them is that of the group's
    /// first element.
    fn contents_of_group(&mut self, g: &Word) -> Contents<Word> {
        let mut contents = self.contents.clone();
        let (buffer, cell) = self.groups.position;
        let position = &mut contents[self.contract.index(buffer)][cell];
        let group = u128::from(self.groups.distance) * self.groups.size as u128;
        let sum = [(1, &position[..]), (group, &g[..])];
        *position = self.machine.terms.sum(64, &sum, 0);
        contents
    }

    /// The specification of a group beside the machine, which is at the header.
    fn beside<'b>(
        &mut self,
        steps: &'b Steps,
        contents: &'b Contents<Word>,
        unknowns: &'b mut Unknowns,
    ) -> Beside<'b> {
        let terms = &mut *self.machine.terms;
        let mut beside = Beside::new(terms, steps, contents, unknowns, self.most_length);
        let places = self.machine.places().into_iter();
        beside.frame(places.flat_map(|(_, word)| word));
        beside
    }

    /// The results of a group of so many elements.
    fn expected(&mut self, beside: &mut Beside<'_>, elements: usize) -> Result<Vec<Word>, Failure> {
        if beside.is_lost {
            return Err(super::NOT_FOLLOWED.into());
        }
        let Some(expected) = beside.end(self.machine.terms) else {
            return Err(super::NOT_FOLLOWED.into());
        };
        let results = expected.into_iter().next().unwrap_or_default();
        let (given, needed) = (results.len(), elements * self.groups.cells[1]);
        match given == needed && results.iter().all(|word| word.len() == 64) {
            true => Ok(results),
            false => Err(Failure::Misfit(format!(
                "the specification gives {given} words for `{}` of a group, but {elements} \
                 elements have {needed}",
                self.groups.output
            ))),
        }
    }

    /// The results' memory at the header.
    fn output_before(&self, elements: usize) -> Vec<Word> {
        let buffer = self.contract.index(self.groups.output);
        self.contents[buffer][..elements * self.groups.cells[1]].to_vec()
    }

    /// Compares the results of a group.
    fn is_right(&self, slices: &Slices, expected: &[Word]) -> Result<(), Failure> {
        let range = slices.output..slices.output + 8 * expected.len() as u64;
        let found = self.machine.memory.contents(range);
        let pairs = found.chunks(64).zip(expected);
        match pairs.enumerate().find(|(_, (found, word))| found != word) {
            None => Ok(()),
            Some((i, _)) => Err(format!(
                "{} `{}` of a group, word {i}",
                super::WRONG_OUTPUT,
                self.groups.output
            )
            .into()),
        }
    }

    /// Compares what it returns.
    fn returned(&mut self, expected: &Word) -> Result<(), Failure> {
        let found = self.machine.general[super::RESULTS[0]].clone();
        let difference = self.machine.terms.sub(&found, expected);
        match value(&difference) {
            Some(0) => Ok(()),
            _ => Err(format!("{} what it returns", super::WRONG_OUTPUT).into()),
        }
    }

    /// Puts the numbers of a case in the place of unknown numbers of elements and groups, in
    /// registers, on the stack and in flags. Other formulas keep the unknowns, which is true too.
    fn choose(&mut self, before: &Point, after: &Point, unknowns: &[Bit]) {
        let scales = self.scales();
        let mut mentions = Mentions::of(unknowns);
        let mut change = |terms: &mut Terms, word: &mut Word| {
            let is_known = |bit: &Bit| !terms.depends_on_address(*bit);
            if word.len() != 64 || word.iter().all(is_known) {
                return;
            }
            let found = laws::rest(terms, word, before, &mut mentions, &scales);
            if let Some((rest, [elements, groups])) = found
                && [elements, groups] != [0, 0]
            {
                let parts: [(u128, &[Bit]); 3] = [
                    (1, &rest),
                    (elements, &after.elements),
                    (groups, &after.groups),
                ];
                *word = terms.sum(64, &parts, 0);
            }
        };
        let machine = &mut self.machine;
        for (place, mut word) in machine.places() {
            let is_near = matches!(place, Where::General(_) | Where::Memory(_));
            if is_near {
                let old = word.clone();
                change(machine.terms, &mut word);
                if word != old {
                    machine.set_place(place, &word);
                }
            }
        }
        machine.change_flags(change);
    }
}

fn is_branch(stop: &Stop) -> bool {
    matches!(stop.reason, Reason::Secret(BRANCH, _))
}

/// The bits of a number that are not known.
fn unknown_bits(word: &Word) -> Vec<Bit> {
    let bits = word.iter().copied();
    bits.filter(|bit| !bit.is_constant()).collect()
}
