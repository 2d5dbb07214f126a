//! A run on random numbers, which suggests an invariant.

use super::laws::{Places, Suggestion};
use super::{Failure, few_bits, is_branch, stop_at};
use crate::contract::{Cell, Contents, Contract, Groups};
use crate::exec::{Machine, Outcome};
use crate::prove::{Layout, Session, Subject, enter};
use crate::term::{Random, Terms, Word, constant};
use std::ops::Range;

impl Session {
    /// Runs on random numbers to the header, for the first three times, with more groups behind.
    pub(super) fn suggestion(
        &mut self,
        subject: Subject<'_>,
        (contract, groups): (&Contract, &Groups),
        layout: &Layout,
        contents: &Contents<Word>,
    ) -> Result<Suggestion, Failure> {
        let more = few_bits(&mut self.terms, groups.bits());
        let size = groups.size as u128;
        let elements = self.terms.sum(64, &[(size, &more)], 2 * size + 1);
        let contents = on_numbers(&self.terms, contract, contents, &elements);
        let place = (contract, layout);
        let (mut machine, arguments) = enter(&mut self.terms, subject, place, &contents);
        machine.most_steps = self.most_steps;
        machine.most_length = self.most_length + machine.terms.length();
        let place = (layout.bases(contract), layout.stack);
        let before = machine.begin_call(subject.1.start, &arguments, place)?;
        // Two groups are in memory.
        for name in [groups.input, groups.output] {
            let buffer = contract.index(name);
            let start = layout.ranges[buffer].start;
            machine.memory.extend(start, &contents[buffer].concat());
        }
        let output = contract.index(groups.output);
        let group = 8 * (groups.cells[1] * groups.size) as u64;
        let results = [0, group].map(|at| {
            let start = layout.ranges[output].start + at;
            start..start + group
        });
        let entry = machine.moment(machine.next);
        let (joins, run) = joins(&mut machine, &before);
        for header in joins {
            machine.return_to(&entry);
            if let Some(suggestion) = arrivals(&mut machine, &before, header, &results) {
                return Ok(suggestion);
            }
        }
        // At some time, a branch depends on the number of groups.
        match run {
            Err(stop) if !is_branch(&stop) => Err(stop.into()),
            _ => Err("no loop over groups is found".into()),
        }
    }
}

/// The joins of a run, in their order. The first turn of a loop over groups comes to code that was
/// not executed before. The second one joins it at the header, by a jump backwards, or from code
/// that the first turn skips: the advance to the next group may be above the header.
fn joins(machine: &mut Machine<'_>, before: &[Word]) -> (Vec<u64>, Outcome<()>) {
    let mut joins = Vec::new();
    machine.watches_joins = true;
    let run = machine.go_on(before, |machine, _| {
        if machine.is_join() {
            joins.push(machine.next);
        }
        Ok(())
    });
    machine.watches_joins = false;
    (joins, run)
}

/// The first three arrivals at an address, if each turn between them writes the results of one
/// group. The turns of a loop within a group do not.
fn arrivals(
    machine: &mut Machine<'_>,
    before: &[Word],
    header: u64,
    results: &[Range<u64>; 2],
) -> Option<Suggestion> {
    let mut arrivals = Vec::new();
    let contents = |machine: &Machine<'_>| {
        let results = results.iter().cloned();
        results
            .map(|group| machine.memory.contents(group))
            .collect()
    };
    let at_first: Vec<Word> = contents(machine);
    machine.watched = Some(header);
    let run = machine.go_on(before, |machine, _| {
        if machine.next == header {
            let written = contents(machine);
            let written = written
                .iter()
                .zip(&at_first)
                .map(|(now, first)| now != first);
            let expected = [0, 1].map(|group| group < arrivals.len());
            if !written.eq(expected) {
                return stop_at(machine);
            }
            arrivals.push((all_places(machine), machine.memory.given_up()));
        }
        match arrivals.len() {
            3 => stop_at(machine),
            _ => Ok(()),
        }
    });
    let stopped = run.is_err();
    let [(first, _), (second, given_up), (third, more_given_up)] = arrivals.try_into().ok()?;
    stopped.then(|| Suggestion {
        header,
        arrivals: [first, second, third],
        given_up: &given_up | &more_given_up,
        upper_in_use: machine.upper_in_use(),
    })
}

fn all_places(machine: &Machine<'_>) -> Places {
    machine.places().into_iter().collect()
}

/// The contents with random numbers in the place of inputs.
fn on_numbers(
    terms: &Terms,
    contract: &Contract,
    contents: &Contents<Word>,
    elements: &Word,
) -> Contents<Word> {
    let mut random = Random::new(0x6e0);
    let buffers = contract.buffers.iter().zip(contents);
    let buffers = buffers.map(|(buffer, words)| {
        let cells = buffer.cells.iter().zip(words);
        let words = cells.map(|(cell, word)| match cell {
            Cell::Elements => elements.clone(),
            _ if word.iter().any(|bit| terms.depends_on_input(*bit)) => {
                constant(random.number().into(), 64)
            }
            _ => word.clone(),
        });
        words.collect()
    });
    buffers.collect()
}
