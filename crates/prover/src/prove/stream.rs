//! Data of any length, by induction on the iterations of the loop that transforms it.
//!
//! A function gets input, output and a length of `n` units. It transforms groups of g units in a
//! loop, as a stream cipher does. Its loop jumps back to the *header* if at least h units remain,
//! and its code after the loop transforms the rest. For all lengths that the contract allows, the
//! prover examines three parts of runs.
//!
//! - *Short*: `n` < g + h. The run returns, and the output is that of the specification.
//! - *Step*: `n` = g + h + u, u unknown. The run reaches the header, and the first group of the
//!   output is right. Then a second run begins at the header. Only the invariant is known of its
//!   state, and `r` = g + h + v units remain. This run reaches the header again. The next group of
//!   the output is right. The invariant holds again: for the next addresses, for the words of
//!   the next group, and for `r` - g.
//! - *Exit*: from such a state with h ≤ `r` < g + h. The run returns, and the output is right.
//!
//! The *invariant* says of each bit of each register and of memory that it is one of these: a bit
//! of the words that the specification carries from one group to the next; of the addresses after
//! the finished data; of `r`, or of `r` - h; of the *frame*, the inputs that no iteration consumes;
//! a constant; or anything (*havoc*), which is a new unknown for each bit. The prover derives it
//! from the state of the first iteration. Read-only memory does not change.
//!
//! # Soundness
//!
//! Every `n` from g + h on is k·g + `r` with k ≥ 1 and h ≤ `r` < g + h. The step from the entry
//! shows that the first arrival at the header keeps the invariant; the step from the header shows
//! that the next one does. Each takes g from `r`, so there are k of them, and then the exit. Step
//! and exit continue from the same arrival, so both have the same invariant.
//!
//! At the header, the prover removes the finished groups of input and output: a run that accesses
//! them again stops. The rest of each gets its own base. In the step, only the first group of the
//! rest exists, because more is not certain. So no iteration reads or changes a group of another
//! iteration or memory beside the data, and the output stays right.
//!
//! Lengths are below 2^b + g + h units, where 2^b units are 2^62 bytes: no memory has more. So `r`
//! is below 2^b + h at the header, and the step covers all of these.
//!
//! # Cases
//!
//! Short and exit have a finite number of lengths. One run covers them all, with an unknown length,
//! up to the first branch that depends on it. There the run splits into one run for each length. In
//! each, the bits of the length have their values, and data and output have this length. A formula
//! with the unknown length stays, which is correct for each value.

mod number;

use super::induction::weaker;
use super::invariant::{Header, Left, Roles, near as near_bits, plus, promises_too_much, unknowns};
use super::{Ends, Finding, Layout, Session, Subject, enter, residue_of};
use crate::contract::{Access, Contents, Contract, Stream};
use crate::exec::{BRANCH, Base, Machine, Moment, Outcome, Reason, Region, Stop};
use crate::hash::Set;
use crate::term::{Bit, Terms, Word};
use crate::verdict::Verdict;
use number::Number;
use std::ops::Range;

/// A part of the proof.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Short,
    /// Step, and then exit from the first arrival at the header.
    Long,
}

/// The progress of the run.
enum Progress {
    /// It has not reached the header.
    Begun,
    /// It is in an iteration from the header on.
    Turn(Box<Header>),
    /// It has reached the header again.
    Again(Result<(), String>),
    /// It has left the header, at this address, for the last time.
    Last(u64),
}

/// The first time that the run reaches the header.
struct Arrival {
    moment: Moment,
    address: u64,
    /// The words of the first group, and its data.
    words: Vec<Word>,
    data: Vec<u64>,
    /// The bits with a role in the invariant: carried words, addresses, remaining length.
    roles: Vec<Bit>,
    kept: Set<Bit>,
    addresses: Set<Bit>,
}

/// The remaining data, and the expected output.
struct Rest {
    /// Input and output, or one buffer for both.
    slices: Vec<Slice>,
    /// Their addresses.
    pointers: Vec<Word>,
    /// The index of the output in `slices`.
    output: usize,
    /// The expected output for the longest remaining data.
    expected: Vec<Bit>,
}

/// Data in memory.
struct Slice {
    start: u64,
    contents: Vec<Bit>,
    alignment: u64,
    writable: bool,
}

/// A run beside the specification.
struct Follower<'a> {
    stream: &'a Stream,
    contents: &'a Contents<Word>,
    part: Part,
    /// The words of the group before the rest.
    words: Vec<Word>,
    rest: Rest,
    length: Number,
    /// The first slot without a buffer.
    slot: usize,
    progress: Progress,
    arrival: Option<Arrival>,
}

impl Session {
    /// Proves a contract for data of any length.
    pub(super) fn any_length(
        &mut self,
        subject: Subject<'_>,
        (contract, stream): (&Contract, &Stream),
        layout: &Layout,
        finding: &mut Finding,
    ) -> Verdict {
        if let Some(verdict) = promises_too_much(contract) {
            return verdict;
        }
        let buffers = contract.buffers.iter();
        let mut written = buffers.filter(|buffer| buffer.access != Access::Read);
        let is_output = written.all(|buffer| buffer.name == stream.output);
        assert!(is_output && contract.results == 0, "one output");
        let mut contents = self.contents(contract, layout);
        for part in [Part::Short, Part::Long] {
            let length = match part {
                Part::Short => Number::within(&mut self.terms, &stream.short()),
                Part::Long => stream.many(&mut self.terms, 0),
            };
            contents[contract.index(stream.count)] = vec![length.word.clone()];
            let place = (contract, layout);
            let follower = Follower::new(&mut self.terms, stream, place, &contents, (part, length));
            let (given, needed) = (
                follower.rest.expected.len(),
                stream.longest() * stream.unit * 8,
            );
            if (given as u64) < needed {
                return Verdict::Unsupported(format!(
                    "the specification gives {} bytes for `{}`, but the data has {}",
                    given / 8,
                    stream.output,
                    needed / 8
                ));
            }
            let verdict = self.part_of_any(subject, contract, layout, follower, finding);
            if !verdict.is_proof() {
                return weaker(verdict);
            }
        }
        Verdict::Proved
    }

    fn part_of_any(
        &mut self,
        subject: Subject<'_>,
        contract: &Contract,
        layout: &Layout,
        mut follower: Follower<'_>,
        finding: &mut Finding,
    ) -> Verdict {
        let stream = follower.stream;
        let data = [stream.input, stream.output].map(|name| contract.index(name));
        let first = match follower.part {
            Part::Short => stream.least,
            Part::Long => stream.group,
        };
        let layout = layout.with_begin_of(&data, stream.unit * first);
        let place = (contract, &layout);
        let (mut machine, arguments) = enter(&mut self.terms, subject, place, follower.contents);
        machine.most_steps = self.most_steps;
        machine.most_length = self.most_length + machine.terms.length();
        let place = (layout.bases(contract), layout.stack);
        let mut ends = Vec::new();
        let begun = machine.begin_call(subject.1.start, &arguments, place);
        let called = begun.and_then(|before| {
            follower.run(&mut machine, &before, |machine, end| {
                finding.add_run(machine);
                let left = residue_of(machine, &layout, contract);
                finding.residue = finding.residue.or(left);
                ends.push(end);
            })
        });
        finding.add_run(&mut machine);
        finding.cases += ends.len();
        let expected = &follower.rest.expected;
        match (called, &follower.progress) {
            (_, Progress::Again(Err(why))) => Verdict::Unproved(why.clone()),
            (Err(stop), _) => self.judge(subject.0, &stop),
            (Ok(()), Progress::Last(_)) => self.compare_all(contract, &ends, expected, finding),
            (Ok(()), Progress::Begun) if follower.part == Part::Short => {
                self.compare_all(contract, &ends, expected, finding)
            }
            (Ok(()), _) => Verdict::Unproved("its loop ends early".into()),
        }
    }

    /// Compares the output of each length.
    fn compare_all(
        &mut self,
        contract: &Contract,
        ends: &[Word],
        expected: &[Bit],
        finding: &Finding,
    ) -> Verdict {
        assert!(!ends.is_empty(), "a length for each end");
        let cells = |bits: &[Bit]| vec![bits.chunks(64).map(<[Bit]>::to_vec).collect()];
        for end in ends {
            let ends = Ends {
                outputs: cells(end),
                expected: Some(cells(&expected[..end.len()])),
            };
            let verdict = self.compare(contract, &ends, finding.residue);
            if !verdict.is_proof() {
                return verdict;
            }
        }
        Verdict::Proved
    }
}

impl Stream {
    /// Lengths with which the run does not reach the header.
    fn short(&self) -> Range<u64> {
        self.least..self.longest() + 1
    }

    /// A length of a group and `needed` units or more, without the `less` largest.
    fn many(&self, terms: &mut Terms, less: u64) -> Number {
        Number::many(terms, self.group + self.needed, self.many_bits(), less)
    }

    /// The possible remaining lengths at the last arrival at the header.
    fn last(&self) -> Range<u64> {
        self.needed..self.longest() + 1
    }
}

impl<'a> Follower<'a> {
    fn new(
        terms: &mut Terms,
        stream: &'a Stream,
        (contract, layout): (&Contract, &Layout),
        contents: &'a Contents<Word>,
        (part, length): (Part, Number),
    ) -> Self {
        let words = (stream.begin)(terms, contents);
        let input = contract.index(stream.input);
        let expected = (stream.transform)(terms, contents, &words, &contents[input]).concat();
        // The specification must mark opaque sums before the machine reaches them.
        (stream.next)(terms, &words);
        let mut names = vec![stream.input, stream.output];
        names.dedup();
        let buffers: Vec<usize> = names.iter().map(|name| contract.index(name)).collect();
        let slices = buffers.iter().map(|buffer| Slice {
            start: layout.ranges[*buffer].start,
            contents: contents[*buffer].concat(),
            alignment: contract.buffers[*buffer].alignment,
            writable: contract.buffers[*buffer].access == Access::Write,
        });
        let rest = Rest {
            slices: slices.collect(),
            pointers: buffers
                .iter()
                .map(|buffer| layout.words[*buffer].clone())
                .collect(),
            output: buffers.len() - 1,
            expected,
        };
        let group = stream.group * stream.unit;
        let mut alignments = rest.slices.iter().map(|slice| slice.alignment);
        let is_kept = alignments.all(|alignment| group.is_multiple_of(alignment));
        assert!(is_kept, "every group has the alignment of its buffer");
        Self {
            stream,
            contents,
            part,
            words,
            rest,
            length,
            slot: contract.buffers.len(),
            progress: Progress::Begun,
            arrival: None,
        }
    }

    /// Runs the function. Passes the output to `returned` after each return, for each length of the
    /// last case.
    fn run(
        &mut self,
        machine: &mut Machine<'_>,
        before: &[Word],
        returned: impl FnMut(&mut Machine<'_>, Word),
    ) -> Outcome<()> {
        let mut run = machine.go_on(before, |machine, entry| self.at_turn(machine, entry));
        if matches!(self.progress, Progress::Again(Ok(()))) {
            let arrival = self.arrival.take().expect("an arrival before");
            machine.return_to(&arrival.moment);
            if let Err(why) = self.cut(machine, &arrival, Left::One) {
                return unsupported(machine, &why);
            }
            self.progress = Progress::Last(arrival.address);
            run = machine.go_on(before, |machine, entry| self.at_turn(machine, entry));
        }
        match (self.part, &self.progress) {
            (Part::Short, Progress::Begun) => {
                self.split(machine, before, run, self.stream.short(), returned)
            }
            (Part::Long, Progress::Last(_)) => {
                self.split(machine, before, run, self.stream.last(), returned)
            }
            _ => run,
        }
    }

    /// Continues for each of these lengths, from the branch at which a run has stopped.
    fn split(
        &mut self,
        machine: &mut Machine<'_>,
        before: &[Word],
        run: Outcome<()>,
        lengths: Range<u64>,
        mut returned: impl FnMut(&mut Machine<'_>, Word),
    ) -> Outcome<()> {
        let branch = match run {
            Err(stop) if matches!(stop.reason, Reason::Secret(BRANCH, _)) => stop.at,
            Err(stop) => return Err(stop),
            Ok(()) if lengths.end - lengths.start == 1 => {
                returned(machine, self.output(machine, lengths.start));
                return Ok(());
            }
            Ok(()) => return unsupported(machine, "no branch depends on its length"),
        };
        let moment = machine.moment(branch);
        for length in lengths.clone() {
            machine.return_to(&moment);
            let number = (&self.length.word[..], length);
            machine.assume(number, &self.length.values(length));
            self.extend(machine, [lengths.start, length]);
            machine.go_on(before, |machine, entry| self.at_turn(machine, entry))?;
            returned(machine, self.output(machine, length));
        }
        Ok(())
    }

    /// The contents of the first `units` units of the output.
    fn output(&self, machine: &Machine<'_>, units: u64) -> Word {
        let start = self.rest.slices[self.rest.output].start;
        let range = start..start + units * self.stream.unit;
        machine.memory.contents(range)
    }

    /// Grows the data from `before` to `now` units.
    fn extend(&self, machine: &mut Machine<'_>, [before, now]: [u64; 2]) {
        let bits = |units: u64| 8 * (units * self.stream.unit) as usize;
        for slice in &self.rest.slices {
            let added = &slice.contents[bits(before)..bits(now)];
            machine.memory.extend(slice.start, added);
        }
    }

    /// Called after a jump backwards.
    fn at_turn(&mut self, machine: &mut Machine<'_>, entry: &[Word]) -> Outcome<()> {
        let stopped = match &self.progress {
            Progress::Begun if self.part == Part::Long && self.is_advanced(machine) => {
                match self.arrive(machine, entry) {
                    Ok(()) => return Ok(()),
                    Err(why) => Err(why),
                }
            }
            Progress::Turn(header) if machine.next == header.address => {
                let right = self.group_is_right(machine);
                right.and_then(|()| header.is_kept(&machine.state()))
            }
            Progress::Last(address) if machine.next == *address => {
                Err("its loop does not end in time".into())
            }
            _ => return Ok(()),
        };
        self.progress = Progress::Again(stopped);
        unsupported(machine, "the header again")
    }

    /// Whether registers hold all addresses after the first group.
    fn is_advanced(&self, machine: &mut Machine<'_>) -> bool {
        let group = self.stream.group * self.stream.unit;
        let mut pointers = self.rest.pointers.iter();
        pointers.all(|pointer| {
            let next = plus(machine.terms, pointer, group as i64);
            machine.general.contains(&next)
        })
    }

    /// Checks a group of the output.
    fn group_is_right(&self, machine: &Machine<'_>) -> Result<(), String> {
        let output = self.output(machine, self.stream.group);
        match output == self.rest.expected[..output.len()] {
            true => Ok(()),
            false => Err("what a turn of its loop writes is not shown to be right".into()),
        }
    }

    /// Records the first arrival at the header.
    fn arrive(&mut self, machine: &mut Machine<'_>, entry: &[Word]) -> Result<(), String> {
        self.group_is_right(machine)?;
        let group = self.stream.group as i64;
        let bytes = group * self.stream.unit as i64;
        let left = plus(machine.terms, &self.length.word, -group);
        let pointers = self.rest.pointers.iter();
        let pointers: Vec<Word> = pointers
            .map(|pointer| plus(machine.terms, pointer, bytes))
            .collect();
        let roles = self.roles(machine.terms, &self.words, &pointers, &left);
        let near = self.rest.pointers.iter();
        let addresses = near
            .flat_map(|pointer| near_bits(machine, pointer))
            .collect();
        let slices = self.rest.slices.iter();
        let arrival = Arrival {
            moment: machine.moment(machine.next),
            address: machine.next,
            words: self.words.clone(),
            data: slices.map(|slice| slice.start).collect(),
            roles,
            kept: self.kept(entry),
            addresses,
        };
        let header = self.cut(machine, &arrival, Left::Many)?;
        self.progress = Progress::Turn(Box::new(header));
        self.arrival = Some(arrival);
        Ok(())
    }

    /// The bits with a role in the invariant, after a group with these words.
    fn roles(
        &self,
        terms: &mut Terms,
        words: &[Word],
        pointers: &[Word],
        left: &[Bit],
    ) -> Vec<Bit> {
        let mut roles = words.to_vec();
        roles.extend((self.stream.next)(terms, words));
        roles.extend((self.stream.carried)(terms, self.contents, words));
        roles.extend_from_slice(pointers);
        roles.push(left.to_vec());
        roles.push(plus(terms, left, -(self.stream.needed as i64)));
        roles.concat()
    }

    /// Replaces everything that the invariant does not know by unknowns, at the first arrival at
    /// the header.
    fn cut(
        &mut self,
        machine: &mut Machine<'_>,
        arrival: &Arrival,
        kind: Left,
    ) -> Result<Header, String> {
        let (stream, terms) = (self.stream, &mut *machine.terms);
        let group = stream.group as i64;
        let (left, units) = match kind {
            Left::One => (Number::within(terms, &stream.last()), stream.needed),
            // The lengths that reach the header from the entry, after one group.
            Left::Many => (stream.many(terms, stream.group), stream.group),
        };
        let words = unknowns(terms, &arrival.words);
        let next = (stream.next)(terms, &words);
        let rest = self.next_rest(terms, &next);
        let after = plus(terms, &left.word, -group);
        let bytes = group * stream.unit as i64;
        let pointers = rest.pointers.iter();
        let behind: Vec<Word> = pointers.map(|word| plus(terms, word, bytes)).collect();
        let new = self.roles(terms, &words, &rest.pointers, &left.word);
        let later = self.roles(terms, &next, &behind, &after);
        let mut roles = Roles::default();
        for ((old, new), later) in arrival.roles.iter().zip(new).zip(later) {
            roles.add([*old, new, later], kind)?;
        }
        for start in &arrival.data {
            machine.memory.withdraw(*start);
        }
        let read_only = machine.memory.read_only();
        roles.replace_all(machine, &arrival.kept, &arrival.addresses);
        for (start, contents) in read_only {
            machine.memory.put(start, &contents);
        }
        let state = machine.state();
        rest.declare(machine, units * stream.unit);
        (self.words, self.rest, self.length) = (next.clone(), rest, left);
        Ok(Header {
            address: arrival.address,
            state,
            next: roles.next,
            anything: roles.anything,
            words: next,
        })
    }

    /// The remaining data at the header, which are unknown.
    fn next_rest(&self, terms: &mut Terms, words: &[Word]) -> Rest {
        let mut slices = Vec::new();
        let mut pointers = Vec::new();
        for (number, old) in self.rest.slices.iter().enumerate() {
            let start = Layout::slot(self.slot + number, old.alignment);
            pointers.push(terms.base(start, old.alignment.trailing_zeros()));
            slices.push(Slice {
                start,
                contents: terms_of(terms, old.contents.len()),
                ..*old
            });
        }
        let data = &slices[0].contents;
        let data: Vec<Word> = data.chunks(64).map(<[Bit]>::to_vec).collect();
        let expected = (self.stream.transform)(terms, self.contents, words, &data);
        Rest {
            slices,
            pointers,
            output: self.rest.output,
            expected: expected.concat(),
        }
    }

    /// Inputs of the function that no iteration consumes: contents of buffers, and registers at the
    /// entry, without the words of the first group, the data and the length.
    fn kept(&self, entry: &[Word]) -> Set<Bit> {
        let data = self.rest.slices.iter().flat_map(|slice| &slice.contents);
        let used = data.chain(self.words.iter().flatten());
        let used: Set<Bit> = used.chain(&self.length.word).copied().collect();
        let contents = self.contents.iter().flatten().flatten();
        let kept = contents.filter(|bit| !used.contains(bit));
        kept.chain(entry.iter().flatten()).copied().collect()
    }
}

impl Rest {
    /// Declares its first `bytes` bytes.
    fn declare(&self, machine: &mut Machine<'_>, bytes: u64) {
        for (slice, pointer) in self.slices.iter().zip(&self.pointers) {
            let region = Region {
                name: "the data that are left".into(),
                range: slice.start..slice.start + bytes,
                writable: slice.writable,
            };
            machine.add_base(Base {
                name: region.name.clone(),
                word: pointer.clone(),
                start: slice.start,
                known: slice.alignment.trailing_zeros(),
            });
            let bits = &slice.contents[..8 * bytes as usize];
            machine.memory.declare(region, bits);
        }
    }
}

fn terms_of(terms: &mut Terms, bits: usize) -> Vec<Bit> {
    (0..bits.div_ceil(64))
        .flat_map(|_| terms.input(64))
        .collect()
}

fn unsupported(machine: &Machine<'_>, why: &str) -> Outcome<()> {
    Err(Stop {
        at: machine.next,
        visits: 0,
        reason: Reason::Unsupported(why.into()),
    })
}
