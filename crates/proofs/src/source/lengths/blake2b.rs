//! BLAKE2b between two parts.

use super::super::modes::blake2b::hash_after;
use super::super::uninterpreted::{Bug, UninterpretedEngine, UninterpretedF};
use super::super::value::{ValueByte, Values};
use super::{Counted, Hashing, Parts};
use sealstone_argon2::blake2b::{BLOCK, Engine, LONGEST, Stream};
use sealstone_lanes::Scalar;

/// Any message after any number of bytes.
pub(in super::super) struct AnyBlake2b<'a> {
    pub(in super::super) parts: Parts<'a>,
    values: &'a Values,
    /// The number of bytes before the message.
    pub(in super::super) before: Counted<'a>,
}

impl<'a> AnyBlake2b<'a> {
    pub(in super::super) fn of(values: &'a Values) -> Self {
        let before = Counted::any(values, "count");
        let specify = |message: &[ValueByte<'a>]| {
            let (a, lengths) = (&mut { values }, [0, LONGEST]);
            hash_after(a, &UninterpretedF, &before.before, message, lengths)
        };
        Self {
            parts: Parts::new(values, BLOCK, specify),
            values,
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

    /// The source.
    pub(super) fn stream(&self) -> Stream<UninterpretedEngine<'a, Counted<'a>>> {
        Stream::new(self.engine(self.before), &[], LONGEST)
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
