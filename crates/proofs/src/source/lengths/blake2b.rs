//! BLAKE2b between two parts.

use super::super::modes::blake2b::blocks;
use super::super::uninterpreted::{Bug, UninterpretedEngine, UninterpretedF};
use super::super::value::{Value, ValueByte, Values};
use super::blocks::{AnyChain, Blockwise, Chains, Unknown};
use super::{Counted, Hashing, Parts};
use sealstone_argon2::blake2b::{BLOCK, Chain, Count, Engine, Stream};
use sealstone_lanes::{Absorb, Part, Scalar};

/// Any message from any h and after any number of bytes. With them, it is one with any key and any
/// length of its output.
pub(in super::super) struct AnyBlake2b<'a> {
    pub(in super::super) parts: Parts<'a>,
    values: &'a Values,
    /// h before the message.
    pub(in super::super) start: [Value<'a>; 8],
    /// The number of bytes before the message.
    pub(in super::super) before: Counted<'a>,
}

impl<'a> AnyBlake2b<'a> {
    pub(in super::super) fn of(values: &'a Values) -> Self {
        let (start, before) = (values.words("start"), Counted::any(values, "count"));
        let specify = |message: &[ValueByte<'a>]| {
            let a = &mut { values };
            blocks(a, &UninterpretedF, start.to_vec(), &before.before, message)
        };
        Self {
            parts: Parts::new(values, BLOCK, specify),
            values,
            start,
            before,
        }
    }

    /// The engine that counts with `before`.
    pub(in super::super) fn engine<C>(&self, before: C) -> UninterpretedEngine<'a, C> {
        UninterpretedEngine {
            values: self.values,
            before,
            bug: Bug::None,
        }
    }

    /// All states between two blocks.
    pub(in super::super) fn chains(&self) -> Chains<'a, AnyState<'a>> {
        Chains {
            values: self.values,
            block: BLOCK,
            before: vec![self.chain(["h", "position"])],
            after: self.chain(["h after the blocks", "position after the blocks"]),
        }
    }

    fn chain(&self, [h, position]: [&str; 2]) -> AnyChain<'a, AnyState<'a>> {
        let (values, count) = (self.values, Counted::any(self.values, position));
        let state = values.words(h);
        let specify = move |message: &[ValueByte<'a>]| {
            let a = &mut { values };
            blocks(a, &UninterpretedF, state.to_vec(), &count.before, message)
        };
        AnyChain {
            chain: Chain {
                engine: self.engine(count),
                state,
                count,
            },
            specify: Box::new(specify),
        }
    }

    /// The source, which counts with `before`.
    pub(in super::super) fn stream<C: Count<Value<'a>>>(
        &self,
        before: C,
    ) -> Stream<UninterpretedEngine<'a, C>> {
        Stream::with_chain(Chain {
            engine: self.engine(before),
            state: self.start,
            count: before,
        })
    }
}

impl<'a, E> Hashing<'a> for Stream<E>
where
    E: Engine<Scalar: Scalar<Byte = ValueByte<'a>>>,
{
    fn update(&mut self, part: &[ValueByte<'a>]) {
        self.update(part);
    }
    fn finish(mut self) -> Vec<ValueByte<'a>> {
        Stream::finish(&mut self).to_vec()
    }
}

/// The state of the source's loop.
pub(in super::super) type AnyState<'a> = Chain<UninterpretedEngine<'a, Counted<'a>>>;

impl<'a, C: Count<Value<'a>>> Blockwise<'a> for Stream<UninterpretedEngine<'a, C>> {
    type Chain = Chain<UninterpretedEngine<'a, C>>;

    fn with_chain(chain: Self::Chain) -> Self {
        Self::with_chain(chain)
    }
    fn add_part(&mut self, part: Part<'_, ValueByte<'a>, Unknown<'_, Self::Chain>>) {
        self.add(part);
    }
    fn absorb(chain: &mut Self::Chain, block: &[ValueByte<'a>]) {
        let block = core::array::from_fn(|i| block.as_chunks().0[i]);
        Absorb::absorb(chain, &block);
    }
}
