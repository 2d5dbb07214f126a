//! Output that is read in parts, with bugs.

use super::super::lengths::{AnyNumber, AnyOutput, Long, Reading};
use super::super::modes::Strings;
use super::super::modes::skein::{Threefish, output_bytes, output_from};
use super::super::value::{Value, ValueByte, Values};
use super::{Bug, Counterexample, is, refuted, reproduces, with};
use sealstone_lanes::{Portable, Scalar};
use sealstone_prover::algebra::Numbers;
use sealstone_skein::threefish::Block;
use sealstone_skein::{Output, OutputData, OutputNumber};

/// Words of Skein-256, and bytes of its blocks.
const N: usize = 4;
const BLOCK: usize = 8 * N;

/// Output that does not end here.
const ENDLESS: u64 = u64::MAX;

/// The number of turns of a part after which [`Rule::Ninth`] leaves out the next ones.
const RIGHT: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rule {
    Right,
    /// The number of the next block is too large by one.
    Counter,
    /// A block that a part reads to its end is read again.
    Same,
    /// After a part that ends within a block, the position is too small by one.
    Position,
    /// The first byte of the next block is the first one of this block.
    Boundary,
    /// Each part begins with the first byte of a block.
    Restart,
    /// All bits of the last byte count.
    Unmasked,
    /// The bits that are left are not counted.
    Left,
    /// A turn of a part adds nothing, from the ninth one on.
    Ninth,
}

/// A second implementation of reading in parts, which can have bugs.
#[derive(Clone)]
struct Reader<S: Scalar, C> {
    cpu: S::Cpu,
    chain: [S; N],
    number: C,
    skip: usize,
    left: u64,
    rule: Rule,
    /// The turns of the part so far.
    turns: usize,
}

impl<S: Scalar, C: OutputNumber<S>> Reader<S, C>
where
    [S; N]: Block<S>,
{
    fn new(cpu: S::Cpu, chain: [S; N], number: C, bits: u64, rule: Rule) -> Self {
        Self {
            cpu,
            chain,
            number,
            skip: 0,
            left: bits,
            rule,
            turns: 0,
        }
    }
    fn add(&mut self, data: &mut [S::Byte]) {
        if data.is_empty() {
            return;
        }
        if self.rule == Rule::Restart && self.skip > 0 {
            (self.number, self.skip) = (self.number.next(), 0);
        }
        let mut rest = data;
        while !rest.is_empty() {
            rest = self.add_first(rest);
        }
        if self.rule == Rule::Position && self.skip > 0 {
            self.skip -= 1;
        }
        self.turns = 0;
    }
    fn add_first<'d, D>(&mut self, data: D) -> D
    where
        D: OutputData<'d, S::Byte>,
        S::Byte: 'd,
    {
        let is = |rule| self.rule == rule;
        let (part, rest) = data.cut(BLOCK - self.skip + usize::from(is(Rule::Boundary)));
        let block = self.number.block(self.cpu, &self.chain).map(S::to_le_bytes);
        let (bits, count) = (8 * part.len() as u64, part.len());
        for (i, to) in part.iter_mut().enumerate() {
            let mut byte = block.as_flattened()[(self.skip + i) % BLOCK];
            if i == count - 1 && self.left < bits && !is(Rule::Unmasked) {
                byte = S::keep(byte, (self.left % 8) as u32);
            }
            if !is(Rule::Ninth) || self.turns < RIGHT {
                *to = S::xor_bytes(*to, byte);
            }
        }
        self.turns += 1;
        if !is(Rule::Left) {
            self.left = self.left.saturating_sub(bits);
        }
        self.skip += count;
        if self.skip >= BLOCK && !(is(Rule::Same) && count < BLOCK) {
            self.number = self.number.next();
            if self.rule == Rule::Counter {
                self.number = self.number.next();
            }
        }
        self.skip %= BLOCK;
        rest
    }
}

impl<'a, C: OutputNumber<Value<'a>>> Reading<'a> for Reader<Value<'a>, C> {
    fn xor_into(&mut self, data: &mut [ValueByte<'a>]) {
        self.add(data);
    }
    fn xor_into_first(&mut self, data: Long<'_, ValueByte<'a>>) {
        self.add_first(data);
    }
    fn rest(mut self) -> Vec<ValueByte<'a>> {
        let mut rest = vec![Value::byte(self.cpu, 0); self.left.div_ceil(8) as usize];
        self.add(&mut rest);
        rest
    }
}

/// A part from one byte to another, of output of a number of bits.
#[derive(Clone, Copy)]
struct Case {
    from: usize,
    to: usize,
    bits: u64,
    /// Whether the part is right, and what follows is wrong.
    shows_later: bool,
}

/// The part that refutes each rule.
const WRONG: [(Rule, Case); 6] = {
    const fn case(from: usize, to: usize, bits: u64, shows_later: bool) -> Case {
        Case {
            from,
            to,
            bits,
            shows_later,
        }
    }
    [
        (Rule::Counter, case(5, 40, ENDLESS, false)),
        (Rule::Same, case(5, 32, ENDLESS, true)),
        (Rule::Position, case(0, 20, ENDLESS, true)),
        (Rule::Boundary, case(5, 40, ENDLESS, false)),
        (Rule::Restart, case(5, 20, ENDLESS, false)),
        (Rule::Unmasked, case(5, 20, 157, false)),
    ]
};

/// The part or what follows, as it was compared on numbers.
fn reproduce<C>(
    refuted: &Counterexample,
    case: Case,
    mut output: C,
    mut add: impl FnMut(&mut C, &mut [u8]),
) {
    let Case {
        from,
        to,
        bits,
        shows_later,
    } = case;
    let (chain, [number]) = (refuted.words::<N>("chain"), refuted.words("number"));
    let mut data = refuted.bytes("data").to_vec();
    let (before, behind) = data.split_at_mut(from);
    let (part, further) = behind.split_at_mut(to - from);
    let further = &mut further[..=BLOCK];
    add(&mut output, before);
    add(&mut output, part);
    add(&mut output, further);
    let (from, computed) = if shows_later {
        (to, &*further)
    } else {
        (from, &*part)
    };

    let blocks = (0..5).flat_map(|i| output_from(&mut Numbers, &Threefish, &chain, &(number + i)));
    let stream: Vec<u8> = blocks.flat_map(u64::to_le_bytes).collect();
    let end = from + computed.len();
    let specified = output_bytes(&mut Numbers, &stream, bits, from, end);
    let data = &refuted.bytes("data")[from..end];
    let both = data.iter().zip(&specified);
    let specified: Vec<u8> = both.map(|(a, b)| Numbers.xor_bytes(a, b)).collect();
    reproduces(refuted, computed, &specified);
}

#[test]
fn output_that_reads_in_parts_wrongly() {
    let values = Values::default();
    let any = AnyOutput::<N>::of(&values);
    let reader = |rule| {
        let (chain, number) = (any.chain, any.number);
        let values = &values;
        move |bits| Reader::new(values, chain, number, bits, rule)
    };
    assert!(any.induction(reader(Rule::Right)).holds());
    for (rule, case) in WRONG {
        refuted(any.induction(reader(rule)));
        let refuted = refuted(any.part(&reader(rule), case.from, case.to, case.bits));
        let (chain, [number]) = (refuted.words("chain"), refuted.words("number"));
        let output = Reader::new(Portable, chain, number, case.bits, rule);
        reproduce(&refuted, case, output, Reader::add);
    }
    assert!(!any.induction(reader(Rule::Left)).holds());
}

/// No part of up to three blocks shows it.
#[test]
fn output_whose_loop_is_wrong_from_the_ninth_turn_on() {
    let values = Values::default();
    let any = AnyOutput::<N>::of(&values);
    let after = |turns| {
        let (chain, number, values) = (any.chain, any.number, &values);
        move |bits| Reader {
            turns,
            ..Reader::new(values, chain, number, bits, Rule::Ninth)
        }
    };
    assert!(any.induction(after(0)).holds());
    let refuted = refuted(any.long(&after(RIGHT), 0));
    let (chain, [number]) = (refuted.words("chain"), refuted.words("number"));
    let output = Reader {
        turns: RIGHT,
        ..Reader::new(Portable, chain, number, ENDLESS, Rule::Ninth)
    };
    let case = Case {
        from: 0,
        to: BLOCK,
        bits: ENDLESS,
        shows_later: false,
    };
    reproduce(&refuted, case, output, Reader::add);
}

/// The number of a block, with the bug.
#[derive(Clone, Copy)]
struct PlantedNumber<C>(C);

impl<S: Scalar, C: OutputNumber<S>> OutputNumber<S> for PlantedNumber<C> {
    fn next(self) -> Self {
        let next = self.0.next();
        Self(if is(Bug::Counter) { next.next() } else { next })
    }
    fn block<const M: usize>(self, cpu: S::Cpu, chain: &[S; M]) -> [S; M]
    where
        [S; M]: Block<S>,
    {
        self.0.block(cpu, chain)
    }
}

/// The shipped source, with a wrong counter below it.
#[test]
fn output_that_counts_its_blocks_wrongly() {
    let values = Values::default();
    let any = AnyOutput::<N>::of(&values);
    let number: PlantedNumber<AnyNumber<'_>> = PlantedNumber(any.number);
    let source = |bits| Output::with_number(&values, any.chain, number, bits);
    assert!(any.induction(source).holds());
    let case = WRONG[0].1;
    with(Bug::Counter, || {
        refuted(any.induction(source));
        let refuted = refuted(any.part(&source, case.from, case.to, case.bits));
        let (chain, [number]) = (refuted.words("chain"), refuted.words("number"));
        let output =
            Output::<N, u64, _>::with_number(Portable, chain, PlantedNumber(number), ENDLESS);
        reproduce(&refuted, case, output, Output::xor_into);
    });
}
