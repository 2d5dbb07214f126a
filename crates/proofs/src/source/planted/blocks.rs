//! Loops over whole blocks with bugs that no short part shows, and drivers with bugs around them.

use super::super::counterexample::SourceVerdict;
use super::super::lengths::{AnyBlake2b, AnySkein, Blockwise, Hashing, Unknown};
use super::super::modes::blake2b::{F, blocks};
use super::super::value::{ValueByte, Values};
use super::lengths::{After, OfBlake2b, PlantedTweak, number};
use super::{Bug, Counterexample, refuted, reproduces, with};
use sealstone_argon2::blake2b::{BLOCK, Block, Byte, Chain, Engine, LONGEST, Stream};
use sealstone_lanes::{Absorb, Blocks, Part, Scalar};
use sealstone_prover::algebra::Numbers;
use sealstone_skein::Ubi;

/// The number of blocks after which [`Counting`] leaves out the next ones.
const RIGHT: usize = 8;

/// A loop that counts.
#[derive(Clone)]
struct Counting<C> {
    chain: C,
    blocks: usize,
    rule: Rule,
}

impl<B, C: Absorb<B>> Absorb<B> for Counting<C> {
    fn absorb(&mut self, block: &B) {
        if self.blocks < RIGHT {
            self.chain.absorb(block);
        }
        self.blocks += 1;
    }
}

/// A bug of a driver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rule {
    Nothing,
    /// In long parts, the whole blocks are never absorbed.
    Never,
    /// In long parts, they are absorbed twice.
    Twice,
    /// The whole blocks are absorbed before the block that waits.
    Early,
    /// The last byte of the waiting block counts as zero.
    Short,
    /// The bytes that complete the waiting block wait again.
    Again,
}

/// A second driver of BLAKE2b, whose loop counts.
#[derive(Clone)]
struct Driven<E: Engine> {
    chain: Counting<Chain<E>>,
    waiting: Vec<Byte<E>>,
}

impl<E: Engine> Driven<E> {
    fn new(chain: Counting<Chain<E>>) -> Self {
        let waiting = Vec::new();
        Self { chain, waiting }
    }
    /// Adds a part, with its whole blocks this number of times.
    fn add(
        &mut self,
        part: Part<'_, Byte<E>, impl Blocks<Counting<Chain<E>>> + Clone>,
        times: usize,
    ) {
        let is_early = self.chain.rule == Rule::Early;
        if part.ends_block {
            let waits = !self.waiting.is_empty();
            if waits && !is_early {
                self.end_block(part.head);
            }
            for _ in 0..times {
                part.blocks.clone().absorb_into(&mut self.chain);
            }
            if waits && is_early {
                self.end_block(part.head);
            }
        }
        self.waiting.extend_from_slice(part.rest);
    }
    fn end_block(&mut self, head: &[Byte<E>]) {
        self.waiting.extend_from_slice(head);
        if self.chain.rule == Rule::Short {
            self.waiting[BLOCK - 1] = E::Scalar::byte(self.chain.chain.engine.scalars(), 0);
        }
        self.chain.chain.absorb(&block::<E>(&self.waiting));
        self.waiting.clear();
        if self.chain.rule == Rule::Again {
            self.waiting.extend_from_slice(head);
        }
    }
    /// Ends like the source.
    fn end(self) -> [Byte<E>; LONGEST] {
        let mut stream = Stream::with_chain(self.chain.chain);
        stream.update(&self.waiting);
        stream.finish()
    }
}

fn block<E: Engine>(bytes: &[Byte<E>]) -> Block<E> {
    core::array::from_fn(|i| bytes.as_chunks().0[i])
}

impl<'a, E: Engine<Scalar: Scalar<Byte = ValueByte<'a>>>> Hashing<'a> for Driven<E> {
    /// The loop counts from zero.
    fn update(&mut self, part: &[ValueByte<'a>]) {
        self.chain.blocks = 0;
        self.add(Part::<_, &[Block<E>]>::new(self.waiting.len(), part), 1);
    }
    fn finish(self) -> Vec<ValueByte<'a>> {
        self.end().to_vec()
    }
}

impl<'a, E: Engine<Scalar: Scalar<Byte = ValueByte<'a>>>> Blockwise<'a> for Driven<E> {
    type Chain = Counting<Chain<E>>;

    fn with_chain(chain: Self::Chain) -> Self {
        Self::new(chain)
    }
    fn add_part(&mut self, part: Part<'_, ValueByte<'a>, Unknown<'_, Self::Chain>>) {
        let times = match self.chain.rule {
            Rule::Never => 0,
            Rule::Twice => 2,
            _ => 1,
        };
        self.add(part, times);
    }
    fn absorb(chain: &mut Self::Chain, bytes: &[ValueByte<'a>]) {
        chain.absorb(&block::<E>(bytes));
    }
}

/// The induction for a driver whose loop has had this number of blocks.
fn induction(blocks: usize, rule: Rule) -> SourceVerdict {
    let values = Values::default();
    let chains = AnyBlake2b::of(&values).chains();
    let counting = |chain| Counting {
        chain,
        blocks,
        rule,
    };
    chains.map(counting).induction::<Driven<_>>()
}

/// No part of up to three blocks shows it.
#[test]
fn blake2b_whose_loop_is_wrong_from_the_ninth_block_on() {
    let values = Values::default();
    let any = AnyBlake2b::of(&values);
    let rule = Rule::Nothing;
    let driven = Driven::new(Counting {
        chain: OfBlake2b::new(any.engine(any.before), any.start).0,
        blocks: 0,
        rule,
    });
    assert!(any.parts.steps(&driven).holds());
    assert!(induction(RIGHT - 1, rule).holds());
    skips(&refuted(induction(RIGHT, rule)));
}

/// Checks that the loop leaves out the block of a counterexample.
fn skips(refuted: &Counterexample) {
    let (state, count) = (refuted.words("h"), refuted.words("position"));
    let [first, rest] = ["block", "rest"].map(|name| refuted.bytes(name));
    let chain = Chain {
        engine: After(0),
        state,
        count: number(count),
    };
    let mut chain = Counting {
        chain,
        blocks: RIGHT,
        rule: Rule::Nothing,
    };
    chain.absorb(&block::<After<u128>>(first));
    chain.blocks = 0;
    let mut driven = Driven::new(chain);
    driven.add(Part::<_, &[Block<After<u128>>]>::new(0, rest), 1);
    let specified = blocks(
        &mut Numbers,
        &F,
        state.to_vec(),
        &count,
        &[first, rest].concat(),
    );
    reproduces(refuted, &driven.end(), &specified);
}

#[test]
fn blake2b_that_treats_its_whole_blocks_wrongly() {
    for rule in [Rule::Early, Rule::Short, Rule::Again] {
        refuted(induction(0, rule));
    }
    for rule in [Rule::Never, Rule::Twice] {
        let verdict = induction(0, rule);
        assert!(
            matches!(verdict, SourceVerdict::Unproved(_)),
            "{rule:?}: {verdict}"
        );
    }
}

#[test]
fn skein_whose_blocks_have_wrong_flags() {
    const N: usize = 4;
    let values = Values::default();
    let any = AnySkein::<N>::of(&values);
    let induction = || {
        let chains = any.chains();
        let planted = chains.map(|chain| chain.map_tweak(PlantedTweak));
        planted.induction::<Ubi<_, N, _>>()
    };
    assert!(induction().holds());
    for bug in [Bug::First, Bug::Last] {
        with(bug, || refuted(induction()));
    }
}
