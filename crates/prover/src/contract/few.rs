//! Contracts of a few elements, from a contract of any number.
//!
//! A proof by induction never refutes: its states at the header of the loop may be impossible. With
//! few elements, a whole run shows what the function does. Each contract here is an instance of
//! the one for any number. So an input that refutes it refutes that one too.

use super::{Buffer, Cell, Contents, Contract, Formula, Groups, Repeats, Steps, Stream, pick};
use crate::term::{Bit, Terms, Word, constant};
use std::rc::Rc;

/// The result of a contract of a few elements. `None` if the formulas become longer than a limit.
type Limited = dyn Fn(&mut Terms, &Contents<Word>, usize) -> Option<Contents<Word>>;

/// A contract of a few elements.
pub(crate) struct Few {
    pub(crate) contract: Contract,
    limited: Rc<Limited>,
}

impl Few {
    /// Whether the formulas are at most this long.
    pub(crate) fn is_short(
        &self,
        terms: &mut Terms,
        contents: &Contents<Word>,
        most_length: usize,
    ) -> bool {
        let most = terms.length() + most_length;
        (self.limited)(terms, contents, most).is_some()
    }
}

impl Contract {
    /// Contracts of a few numbers of elements, if this is one of any number.
    pub(crate) fn of_few(&self) -> Vec<Few> {
        if let (Some(repeats), Some(steps)) = (self.repeats, &self.steps) {
            let few = [2, 3].map(|number| self.of_elements(repeats, steps, number));
            return few.into();
        }
        if let Some(stream) = &self.stream {
            let few = [stream.least, stream.longest(), stream.longest() + 1];
            return few.map(|number| self.of_units(stream, number)).into();
        }
        if let Some(groups) = &self.groups {
            let few = [groups.least, groups.size, groups.size + groups.least];
            return few.map(|number| self.of_groups(groups, number)).into();
        }
        Vec::new()
    }

    /// The contract with other buffers and another formula.
    fn few(&self, buffers: Vec<Buffer>, limited: Rc<Limited>) -> Few {
        let [symbolic, numeric] = [&limited, &limited].map(Rc::clone);
        let formula = Formula {
            symbolic: Box::new(move |terms, contents| {
                symbolic(terms, contents, usize::MAX).expect("there is no limit")
            }),
            numeric: Box::new(move |_, contents| on_numbers(&*numeric, contents)),
        };
        let contract = Contract {
            buffers,
            arguments: self.arguments.clone(),
            formula,
            steps: None,
            repeats: None,
            stream: None,
            groups: None,
            ..*self
        };
        Few { contract, limited }
    }

    /// Each element is a step.
    fn of_elements(&self, repeats: Repeats, steps: &Rc<Steps>, number: usize) -> Few {
        let [buffer, count] = [repeats.buffer, repeats.count].map(|name| self.index(name));
        let mut buffers = self.buffers.clone();
        let element = buffers[buffer].cells.split_off(repeats.before);
        let cells = element.len();
        let all = (0..number).flat_map(|_| element.iter().cloned());
        buffers[buffer].cells.extend(all);
        buffers[count].cells = vec![Cell::Number(number as u64)];
        let steps = Rc::clone(steps);
        let limited = move |terms: &mut Terms, contents: &Contents<Word>, most: usize| {
            let mut words = (steps.begin)(terms, contents);
            let (buffer, first) = (steps.reads)(0);
            for element in 0..number {
                let read: Vec<usize> = first.iter().map(|cell| cell + element * cells).collect();
                let read = pick(&contents[buffer], &read);
                words = (steps.step)(terms, element.min(1), &words, &read);
                is_below(terms, most)?;
            }
            Some((steps.end)(terms, &words))
        };
        self.few(buffers, Rc::new(limited))
    }

    /// Data of so many units. The buffers may have some bytes more, which stay as they are.
    fn of_units(&self, stream: &Rc<Stream>, number: u64) -> Few {
        let names = [stream.input, stream.output, stream.count];
        let [input, output, count] = names.map(|name| self.index(name));
        let bytes = (number * stream.unit) as usize;
        let mut buffers = self.buffers.clone();
        for buffer in [input, output] {
            buffers[buffer].cells = vec![Cell::Input; bytes.div_ceil(8)];
        }
        buffers[count].cells = vec![Cell::Number(number)];
        let stream = Rc::clone(stream);
        let [group, longest] =
            [stream.group, stream.longest()].map(|units| 8 * (units * stream.unit) as usize);
        let limited = move |terms: &mut Terms, contents: &Contents<Word>, most: usize| {
            let (data, before) = (contents[input].concat(), contents[output].concat());
            let (mut data, mut result) = (&data[..8 * bytes], Vec::new());
            let mut words = (stream.begin)(terms, contents);
            loop {
                let padding = vec![Bit::ZERO; longest.next_multiple_of(64)];
                let mut rest: Word = data.iter().copied().chain(padding).collect();
                rest.truncate(longest.next_multiple_of(64));
                let rest: Vec<Word> = rest.chunks(64).map(<[Bit]>::to_vec).collect();
                let done = (stream.transform)(terms, contents, &words, &rest).concat();
                is_below(terms, most)?;
                if data.len() <= longest {
                    result.extend(&done[..data.len()]);
                    result.extend(&before[result.len()..]);
                    return Some(vec![result.chunks(64).map(<[Bit]>::to_vec).collect()]);
                }
                result.extend(&done[..group]);
                data = &data[group..];
                words = (stream.next)(terms, &words);
            }
        };
        self.few(buffers, Rc::new(limited))
    }

    /// So many elements, in groups.
    fn of_groups(&self, groups: &Rc<Groups>, number: usize) -> Few {
        let [input, output] = [groups.input, groups.output].map(|name| self.index(name));
        let position = (self.index(groups.position.0), groups.position.1);
        let mut buffers = self.buffers.clone();
        for (buffer, cells) in [input, output].into_iter().zip(groups.cells) {
            buffers[buffer].cells = vec![Cell::Input; number * cells];
        }
        let all = buffers.iter_mut().flat_map(|buffer| &mut buffer.cells);
        for cell in all.filter(|cell| **cell == Cell::Elements) {
            *cell = Cell::Number(number as u64);
        }
        let groups = Rc::clone(groups);
        let limited = move |terms: &mut Terms, contents: &Contents<Word>, most: usize| {
            let mut results = contents[output].clone();
            let mut done = 0;
            while number - done >= groups.least {
                let elements = groups.size.min(number - done);
                let mut of_group = contents.clone();
                for (buffer, cells) in [input, output].into_iter().zip(groups.cells) {
                    of_group[buffer] = contents[buffer][done * cells..][..elements * cells].into();
                }
                let distance = u128::from(groups.distance) * done as u128;
                let first = &contents[position.0][position.1];
                of_group[position.0][position.1] = terms.sum(64, &[(1, first)], distance);
                let steps = (groups.steps)(elements);
                let mut words = (steps.begin)(terms, &of_group);
                for step in 0..steps.count {
                    let (buffer, cells) = (steps.reads)(step);
                    let read = pick(&of_group[buffer], &cells);
                    words = (steps.step)(terms, step, &words, &read);
                    is_below(terms, most)?;
                }
                let cells = groups.cells[1];
                let of_elements = (steps.end)(terms, &words).swap_remove(0);
                results[done * cells..][..elements * cells].clone_from_slice(&of_elements);
                done += elements;
            }
            Some(vec![results, vec![constant(done as u128, 64)]])
        };
        self.few(buffers, Rc::new(limited))
    }
}

/// `None` if the formulas are longer than this.
fn is_below(terms: &Terms, most: usize) -> Option<()> {
    (terms.length() <= most).then_some(())
}

/// The result for these numbers: that of the formulas, on any sample.
fn on_numbers(limited: &Limited, contents: &Contents<u64>) -> Contents<u64> {
    let mut terms = Terms::new(0);
    let word = |number: &u64| constant(u128::from(*number), 64);
    let buffers = contents.iter();
    let contents = buffers.map(|cells| cells.iter().map(word).collect());
    let results = limited(&mut terms, &contents.collect(), usize::MAX);
    let number = |word: &Word| terms.samples(word)[0] as u64;
    let buffers = results.expect("there is no limit").into_iter();
    buffers
        .map(|cells| cells.iter().map(number).collect())
        .collect()
}
