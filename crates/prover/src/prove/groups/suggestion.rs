//! A run on random numbers, which suggests an invariant.

use super::laws::{Places, Suggestion};
use super::{Failure, few_bits, stop_at};
use crate::contract::{Cell, Contents, Contract, Groups};
use crate::exec::{Machine, Where};
use crate::prove::{Layout, Session, Subject, enter};
use crate::term::{Random, Terms, Word, constant};

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
        let input = layout.words[contract.index(groups.input)].clone();
        let bytes = (8 * groups.cells[0] * groups.size) as u128;
        let second = self.terms.sum(64, &[(1, &input)], bytes);
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
        let entry = machine.moment(machine.next);
        let (mut lowest, mut arrivals) = (u64::MAX, Vec::new());
        let run = machine.go_on(&before, |machine, _| {
            let next = machine.next;
            let is_header = match machine.watched {
                Some(header) => next == header,
                // A call of another library is no turn.
                None if next < subject.1.start => false,
                None => next < lowest && has_word(machine, &second),
            };
            if next >= subject.1.start {
                lowest = lowest.min(next);
            }
            if is_header {
                machine.watched = Some(next);
                arrivals.push((all_places(machine), machine.memory.given_up()));
            }
            match arrivals.len() {
                2 => stop_at(machine),
                _ => Ok(()),
            }
        });
        let Ok([(second, given_up), (third, more_given_up)]) = <[_; 2]>::try_from(arrivals) else {
            run?;
            return Err("no loop over groups is found".into());
        };
        machine.return_to(&entry);
        let run = machine.go_on(&before, |machine, _| match Some(machine.next) {
            next if next == machine.watched => stop_at(machine),
            _ => Ok(()),
        });
        let header = machine.watched.expect("two arrivals");
        if machine.next != header {
            run?;
            return Err("it returns before its loop over groups".into());
        }
        Ok(Suggestion {
            header,
            arrivals: [all_places(&machine), second, third],
            given_up: &given_up | &more_given_up,
        })
    }
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

fn has_word(machine: &Machine<'_>, word: &Word) -> bool {
    let on_stack = |place: &Where| match place {
        Where::Memory(address) => machine.memory.is_stack(*address),
        _ => true,
    };
    machine.general.contains(word)
        || machine
            .places()
            .iter()
            .any(|(place, found)| on_stack(place) && found == word)
}
