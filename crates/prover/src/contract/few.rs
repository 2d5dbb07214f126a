//! Contracts of a few elements, from a contract of any number.
//!
//! A proof by induction never refutes: its states at the header of the loop may be impossible. With
//! few elements, a whole run shows what the function does. Each contract here is an instance of
//! the one for any number. So an input that refutes it refutes that one too.
//!
//! A contract has no instances here if its data is not simply unknown words in memory of its own:
//! if a part of it is fixed, or another buffer is the same memory or points into it.

use super::{
    Argument, Buffer, Cell, Contents, Contract, Formula, Groups, Repeats, Steps, Stream, pick,
};
use crate::term::{Bit, Terms, Word, constant};
use std::rc::Rc;

/// The result of a contract of a few elements. `None` if the formulas become longer than a limit.
type Limited = dyn Fn(&mut Terms, &Contents<Word>, usize) -> Option<Contents<Word>>;

/// A contract of a few elements.
pub(crate) struct Few {
    pub(crate) contract: Contract,
    /// The number of elements, as text: `blocks = 2`.
    pub(crate) number: String,
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
    /// Contracts of a few elements, if this is one of any number.
    pub(crate) fn of_few(&self) -> Vec<Few> {
        let few = |mut numbers: Vec<u64>, of: &dyn Fn(u64) -> Few| {
            numbers.dedup();
            numbers.into_iter().map(of).collect()
        };
        match (&self.repeats, &self.steps, &self.stream, &self.groups) {
            (Some(repeats), Some(steps), ..) if self.is_step(*repeats, steps) => {
                few(vec![2, 3], &|number| {
                    self.of_elements(*repeats, steps, number)
                })
            }
            (_, _, Some(stream), _) if self.is_plain(&[stream.input, stream.output]) => {
                let longest = stream.longest();
                let numbers = vec![stream.least, longest, longest + 1];
                few(numbers, &|number| self.of_units(stream, number))
            }
            (_, _, _, Some(groups)) if self.is_plain(&[groups.input, groups.output]) => {
                let [size, least] = [groups.size, groups.least].map(|number| number as u64);
                let numbers = vec![least, size, size + least];
                few(numbers, &|number| self.of_groups(groups, number))
            }
            _ => Vec::new(),
        }
    }

    /// Whether these buffers hold unknown words, and no other buffer is the same memory or points
    /// into it.
    fn is_plain(&self, names: &[&str]) -> bool {
        let is_own = |buffer: &Buffer| match names.contains(&buffer.name) {
            true => {
                buffer.same_as.is_none() && buffer.cells.iter().all(|cell| *cell == Cell::Input)
            }
            false => {
                let is_inside =
                    |cell: &Cell| matches!(cell, Cell::Inside(of, _) if names.contains(of));
                !buffer.same_as.is_some_and(|of| names.contains(&of))
                    && !buffer.cells.iter().any(is_inside)
            }
        };
        self.buffers.iter().all(is_own)
    }

    /// Whether elements and results are memory of their own, and nothing else in the contract is
    /// one of them: other groups have others.
    pub(crate) fn has_own_groups(&self, groups: &Groups) -> bool {
        let names = [groups.input, groups.output];
        let is_variable = |name: &&str| self.buffers[self.index(name)].variable.is_some();
        let is_value = |argument: &Argument| match argument {
            Argument::Value(name, _) | Argument::Twice(name, _) => names.contains(name),
            _ => false,
        };
        self.is_plain(&names)
            && !names.iter().any(is_variable)
            && !names.contains(&groups.position.0)
            && !self.arguments.iter().any(is_value)
    }

    /// Whether a step reads the cells of an element in their order.
    fn is_step(&self, repeats: Repeats, steps: &Steps) -> bool {
        self.is_plain(&[repeats.buffer]) && self.reads_in_order(repeats, steps)
    }

    /// Whether each step reads the cells of its element, in their order.
    pub(crate) fn reads_in_order(&self, repeats: Repeats, steps: &Steps) -> bool {
        let buffer = self.index(repeats.buffer);
        let first = repeats.before..self.buffers[buffer].cells.len();
        let later = first.clone().map(|cell| cell + first.len());
        (steps.reads)(0) == (buffer, first.clone().collect())
            && (steps.reads)(1) == (buffer, later.collect())
    }

    /// The contract with other buffers and another formula.
    fn few(&self, number: String, buffers: Vec<Buffer>, limited: Rc<Limited>) -> Few {
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
        Few {
            contract,
            number,
            limited,
        }
    }

    /// Each element is a step.
    fn of_elements(&self, repeats: Repeats, steps: &Rc<Steps>, number: u64) -> Few {
        let [buffer, count] = [repeats.buffer, repeats.count].map(|name| self.index(name));
        let first = self.buffers[buffer].cells.len();
        let element = first - repeats.before;
        let mut buffers = self.buffers.clone();
        let all = repeats.before + number as usize * element;
        buffers[buffer].cells = vec![Cell::Input; all];
        buffers[count].cells = vec![Cell::Number(number)];
        let steps = Rc::clone(steps);
        let limited = move |terms: &mut Terms, contents: &Contents<Word>, most: usize| {
            // The specification sees as much as in the contract of any number.
            let mut of_first = contents.clone();
            of_first[buffer].truncate(first);
            let mut words = (steps.begin)(terms, &of_first);
            let elements = contents[buffer][repeats.before..].chunks(element);
            for (step, read) in elements.enumerate() {
                words = (steps.step)(terms, step.min(1), &words, read);
                is_below(terms, most)?;
            }
            Some((steps.end)(terms, &words))
        };
        let number = format!("{} = {number}", repeats.count);
        self.few(number, buffers, Rc::new(limited))
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
            // The specification sees as much as in the contract of any length.
            let mut of_longest = contents.clone();
            for buffer in [input, output] {
                of_longest[buffer].resize(longest.div_ceil(64), constant(0, 64));
            }
            let mut words = (stream.begin)(terms, &of_longest);
            loop {
                let zeros = [Bit::ZERO].into_iter().cycle();
                let rest = data.iter().copied().chain(zeros);
                let rest: Word = rest.take(longest.next_multiple_of(64)).collect();
                let rest: Vec<Word> = rest.chunks(64).map(<[Bit]>::to_vec).collect();
                let done = (stream.transform)(terms, &of_longest, &words, &rest).concat();
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
        let number = format!("{} = {number}", self.buffers[count].name);
        self.few(number, buffers, Rc::new(limited))
    }

    /// So many elements, in groups.
    fn of_groups(&self, groups: &Rc<Groups>, number: u64) -> Few {
        let number = number as usize;
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
                // The specification sees as much as in the contract of any number.
                let mut of_group = contents.clone();
                for (buffer, cells) in [input, output].into_iter().zip(groups.cells) {
                    of_group[buffer] = contents[buffer][done * cells..][..elements * cells].into();
                    of_group[buffer].resize(groups.size * cells, constant(0, 64));
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
                let of_elements = (steps.end)(terms, &words).into_iter().next()?;
                if of_elements.len() != elements * cells {
                    return None;
                }
                results[done * cells..][..elements * cells].clone_from_slice(&of_elements);
                done += elements;
            }
            Some(vec![results, vec![constant(done as u128, 64)]])
        };
        self.few(format!("elements = {number}"), buffers, Rc::new(limited))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::{Algebra, Numbers};
    use crate::contract::{Access, Stepwise};

    /// Its first step differs from the others.
    #[derive(Clone, Copy)]
    struct Sum;

    impl Stepwise for Sum {
        fn steps(&self) -> usize {
            1
        }
        fn begin<A: Algebra<64>>(&self, a: &mut A, contents: &Contents<A::Word>) -> Vec<A::Word> {
            vec![a.add(&contents[0][0], &contents[1][0])]
        }
        fn reads(&self, number: usize) -> (usize, Vec<usize>) {
            (1, vec![1 + 2 * number, 2 + 2 * number])
        }
        fn step<A: Algebra<64>>(
            &self,
            a: &mut A,
            number: usize,
            words: &[A::Word],
            read: &[A::Word],
        ) -> Vec<A::Word> {
            let number = a.number(number as u64);
            let sum = a.add(&words[0], &read[0]);
            let sum = a.rotate_left(&sum, 7);
            let sum = a.add(&sum, &read[1]);
            vec![a.add(&sum, &number)]
        }
    }

    #[test]
    fn elements_are_steps() {
        let few = Contract::stepwise(Sum)
            .buffer("sum", 1, 8, Access::Write)
            .repeats("elements", (2, 8), "number")
            .after(1)
            .of_few();
        for (number, few) in [2_usize, 3].into_iter().zip(&few) {
            let contents = numbers(&few.contract);
            assert_eq!(contents[1].len(), 1 + 2 * number);
            assert_eq!(few.contract.buffers[2].cells, [Cell::Number(number as u64)]);
            let mut sum = contents[0][0].wrapping_add(contents[1][0]);
            for (i, element) in contents[1][1..].chunks(2).enumerate() {
                sum = sum.wrapping_add(element[0]).rotate_left(7);
                sum = sum.wrapping_add(element[1]).wrapping_add(i.min(1) as u64);
            }
            assert_eq!(result(few, &contents), [[sum]]);
        }
    }

    /// Groups of 16 bytes, and a key that is rotated for each word.
    #[test]
    fn data_is_transformed_in_groups() {
        let rotated = |a: &mut Terms, key: &Word, by| Algebra::<64>::rotate_left(a, key, by);
        let stream = Stream {
            input: "input",
            output: "output",
            count: "length",
            unit: 1,
            group: 16,
            least: 3,
            needed: 1,
            begin: Box::new(|_, contents| contents[0].clone()),
            next: Box::new(move |a, key| vec![rotated(a, &key[0], 18)]),
            transform: Box::new(move |a, _, key, data| {
                assert_eq!(data.len(), 2, "as long as the longest data");
                let second = rotated(a, &key[0], 9);
                let keys = [&key[0], &second];
                let pairs = data.iter().zip(keys);
                let words = pairs.map(|(data, key)| Algebra::<64>::xor(a, data, key));
                words.collect()
            }),
            carried: Box::new(|_, _, _| Vec::new()),
        };
        let few = Contract::new(crate::formula!(|_a, contents| contents.clone()))
            .buffer("key", 1, 8, Access::Read)
            .stream(stream)
            .of_few();
        for (length, few) in [3_usize, 16, 17].into_iter().zip(&few) {
            let contents = numbers(&few.contract);
            assert_eq!(few.contract.buffers[3].cells, [Cell::Number(length as u64)]);
            let mut expected = bytes(&contents[1]);
            assert_eq!(expected.len(), length.next_multiple_of(8));
            for (i, byte) in bytes(&contents[2]).into_iter().take(length).enumerate() {
                let key = contents[0][0].rotate_left(9 * (i / 8) as u32);
                expected[i] = byte ^ key.to_le_bytes()[i % 8];
            }
            assert_eq!(bytes(&result(few, &contents)[0]), expected);
        }
    }

    fn bytes(cells: &[u64]) -> Vec<u8> {
        let cells = cells.iter().copied();
        cells.flat_map(u64::to_le_bytes).collect()
    }

    /// The first word of an element, rotated, plus the second one and its position.
    #[derive(Clone, Copy)]
    struct Placed {
        elements: usize,
    }

    impl Stepwise for Placed {
        fn steps(&self) -> usize {
            1
        }
        fn begin<A: Algebra<64>>(&self, _a: &mut A, contents: &Contents<A::Word>) -> Vec<A::Word> {
            vec![contents[2][1].clone()]
        }
        fn reads(&self, _number: usize) -> (usize, Vec<usize>) {
            (0, (0..2 * self.elements).collect())
        }
        fn step<A: Algebra<64>>(
            &self,
            a: &mut A,
            _number: usize,
            words: &[A::Word],
            read: &[A::Word],
        ) -> Vec<A::Word> {
            let mut position = words[0].clone();
            let distance = a.number(24);
            let mut results = Vec::new();
            for element in read.chunks(2) {
                let first = a.rotate_left(&element[0], 5);
                let sum = a.add(&first, &element[1]);
                results.push(a.add(&sum, &position));
                position = a.add(&position, &distance);
            }
            results
        }
    }

    #[test]
    fn elements_are_taken_in_groups() {
        let groups = |least| Groups {
            input: "elements",
            output: "results",
            cells: [2, 1],
            position: ("record", 1),
            distance: 24,
            size: 2,
            least,
            steps: Box::new(|elements| Steps::new(Placed { elements })),
        };
        let contract = |least| {
            Contract::stepwise(Placed { elements: 2 })
                .buffer("elements", 4, 8, Access::Read)
                .buffer("results", 2, 8, Access::Write)
                .record("record", vec![Cell::Elements, Cell::Input], 8, Access::Read)
                .returns(1)
                .in_groups(groups(least))
        };
        let mut few = contract(1).of_few();
        // The third of these is left to the caller.
        few.push(contract(2).of_groups(&Rc::new(groups(2)), 3));
        for ((number, done), few) in [(1, 1), (2, 2), (3, 3), (3, 2)].into_iter().zip(&few) {
            let contents = numbers(&few.contract);
            assert_eq!([contents[0].len(), contents[1].len()], [2 * number, number]);
            assert_eq!(
                few.contract.buffers[2].cells[0],
                Cell::Number(number as u64)
            );
            let mut expected = contents[1].clone();
            for (i, element) in contents[0].chunks(2).take(done).enumerate() {
                let position = contents[2][1].wrapping_add(24 * i as u64);
                let sum = element[0].rotate_left(5).wrapping_add(element[1]);
                expected[i] = sum.wrapping_add(position);
            }
            assert_eq!(result(few, &contents), [expected, vec![done as u64]]);
        }
    }

    /// The data would have other contents, or other places, than the contract says.
    #[test]
    fn data_that_is_not_simply_unknown_has_no_instances() {
        let contract = || {
            Contract::stepwise(Sum)
                .buffer("sum", 1, 8, Access::Write)
                .repeats("elements", (2, 8), "number")
                .after(1)
        };
        assert_eq!(contract().of_few().len(), 2);
        let mut fixed = contract();
        fixed.buffers[1].cells[2] = Cell::Number(0);
        let shared = contract().buffer("key", 3, 8, Access::Read);
        let shared = shared.with_same("the same", "key", "elements");
        let cells = vec![Cell::Inside("elements", 16)];
        let inside = contract().record("ends", cells, 8, Access::Read);
        let mut moved = contract();
        moved.repeats.as_mut().expect("elements").before = 0;
        for other in [fixed, shared, inside, moved] {
            assert_eq!(other.of_few().len(), 0);
        }
    }

    /// Any numbers for the cells of a contract.
    fn numbers(contract: &Contract) -> Contents<u64> {
        let mut number = 1_u64;
        let buffers = contract.buffers.iter();
        let buffers = buffers.map(|buffer| {
            let cells = buffer.cells.iter();
            let cells = cells.map(|_| {
                number = number.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                number
            });
            cells.collect()
        });
        buffers.collect()
    }

    /// The result on numbers. It fits into the limit, and not into less.
    fn result(few: &Few, contents: &Contents<u64>) -> Contents<u64> {
        let mut terms = Terms::new(1);
        let cells = |cells: &Vec<u64>| cells.iter().map(|_| terms.input(64)).collect();
        let formulas: Contents<Word> = contents.iter().map(cells).collect();
        assert!(!few.is_short(&mut terms, &formulas, 0));
        assert!(few.is_short(&mut terms, &formulas, 1 << 20));
        (few.contract.formula.numeric)(&mut Numbers, contents)
    }
}
