//! One more part with any number of whole blocks, by induction over them.

use super::super::counterexample::SourceVerdict;
use super::super::value::{ValueByte, Values, compare_bytes};
use super::Hashing;
use core::cell::RefCell;
use sealstone_lanes::{Blocks, Part};

/// A hash whose blocks may be an unknown number.
pub(in super::super) trait Blockwise<'a>: Hashing<'a> {
    /// The state between two blocks: all that later blocks depend on.
    type Chain: Clone;

    /// Continues from this state. No byte waits.
    fn with_chain(chain: Self::Chain) -> Self;
    /// Adds a part with an unknown number of whole blocks.
    fn add_part(&mut self, part: Part<'_, ValueByte<'a>, Unknown<'_, Self::Chain>>);
    /// Adds one whole block, as the loop does.
    fn absorb(chain: &mut Self::Chain, block: &[ValueByte<'a>]);
}

/// An unknown number of blocks, one or more. It notes the state before them. After them, the state
/// is any state that [`Chains::after`] describes.
#[derive(Clone)]
pub(in super::super) struct Unknown<'n, C> {
    after: C,
    before: &'n RefCell<Vec<C>>,
}

impl<C> Blocks<C> for Unknown<'_, C> {
    fn absorb_into(self, chain: &mut C) {
        let before = core::mem::replace(chain, self.after);
        self.before.borrow_mut().push(before);
    }
}

/// The specified hash of the rest of a message.
type Specify<'a> = Box<dyn Fn(&[ValueByte<'a>]) -> Vec<ValueByte<'a>> + 'a>;

/// A state between two blocks, with unknown words, and the specification from there on.
pub(in super::super) struct AnyChain<'a, C> {
    pub(super) chain: C,
    pub(super) specify: Specify<'a>,
}

/// All states between two blocks.
pub(in super::super) struct Chains<'a, C> {
    pub(super) values: &'a Values,
    /// B, the bytes in a block.
    pub(super) block: usize,
    /// Together, all states.
    pub(super) before: Vec<AnyChain<'a, C>>,
    /// All states after at least one block, with unknowns of their own.
    pub(super) after: AnyChain<'a, C>,
}

/// Unknown bytes.
struct Bytes<'a> {
    /// The previous block in the buffer.
    earlier: Vec<ValueByte<'a>>,
    /// A whole block.
    block: Vec<ValueByte<'a>>,
    /// The bytes behind the whole blocks, and further bytes after which they are a block in the
    /// middle.
    rest: Vec<ValueByte<'a>>,
}

impl<'a, C> Chains<'a, C> {
    /// The same states of another type.
    #[cfg(test)]
    pub(in super::super) fn map<D>(self, to: impl Fn(C) -> D) -> Chains<'a, D> {
        let map = |any: AnyChain<'a, C>| AnyChain {
            chain: to(any.chain),
            specify: any.specify,
        };
        Chains {
            values: self.values,
            block: self.block,
            before: self.before.into_iter().map(map).collect(),
            after: map(self.after),
        }
    }
}

impl<'a, C: Clone> Chains<'a, C> {
    /// The induction. The beginning: a part comes to any state, any number of bytes wait, and its
    /// whole blocks get the right state. The step: one block changes any state in the right way.
    /// The end: in any state after the blocks, any number of bytes is the rest of the part.
    pub(in super::super) fn induction<H: Blockwise<'a, Chain = C>>(&self) -> SourceVerdict {
        let bytes = Bytes {
            earlier: self.values.bytes("earlier", self.block),
            block: self.values.bytes("block", self.block),
            rest: self.values.bytes("rest", 2 * self.block + 1),
        };
        let steps = self.before.iter().map(|any| self.step::<H>(any, &bytes));
        SourceVerdict::all(steps).and(|| {
            let parts = self.before.iter().map(|any| self.parts::<H>(any, &bytes));
            SourceVerdict::all(parts)
        })
    }

    /// One block in the middle, from any state.
    fn step<H: Blockwise<'a, Chain = C>>(
        &self,
        any: &AnyChain<'a, C>,
        bytes: &Bytes<'a>,
    ) -> SourceVerdict {
        let mut chain = any.chain.clone();
        H::absorb(&mut chain, &bytes.block);
        self.compare_chain::<H>(chain, &bytes.rest, &self.from(any, &bytes.block, bytes))
    }

    /// Parts after each number of waiting bytes, with each length of the rest.
    fn parts<H: Blockwise<'a, Chain = C>>(
        &self,
        any: &AnyChain<'a, C>,
        bytes: &Bytes<'a>,
    ) -> SourceVerdict {
        let ends: Vec<_> = (0..=bytes.rest.len())
            .map(|length| (self.after.specify)(&bytes.rest[..length]))
            .collect();
        SourceVerdict::all((0..=self.block).map(|waiting| {
            let hash = self.state::<H>(any, waiting, bytes);
            // If no byte waits, the part begins with its whole blocks.
            let head = &bytes.block[waiting..if waiting == 0 { 0 } else { self.block }];
            let ended = &bytes.block[..waiting + head.len()];
            let begun = self.from(any, ended, bytes);
            SourceVerdict::all((1..=self.block).map(|rest| {
                let (mut hash, notes) = (hash.clone(), RefCell::default());
                hash.add_part(self.part(head, &notes, &bytes.rest[..rest]));
                self.begins::<H>(notes.take(), &begun, bytes)
                    .and(|| self.ends(hash, rest, &ends, bytes))
            }))
        }))
    }

    /// Any state with waiting bytes. Bytes of an earlier block follow them in the buffer.
    fn state<H: Blockwise<'a, Chain = C>>(
        &self,
        any: &AnyChain<'a, C>,
        waiting: usize,
        bytes: &Bytes<'a>,
    ) -> H {
        let mut hash = H::with_chain(any.chain.clone());
        hash.update(&bytes.earlier);
        let notes = RefCell::default();
        let mut part = self.part(&[], &notes, &bytes.block[..waiting]);
        part.blocks.after = any.chain.clone();
        hash.add_part(part);
        hash
    }

    fn part<'p>(
        &self,
        head: &'p [ValueByte<'a>],
        notes: &'p RefCell<Vec<C>>,
        rest: &'p [ValueByte<'a>],
    ) -> Part<'p, ValueByte<'a>, Unknown<'p, C>> {
        Part {
            ends_block: true,
            head,
            blocks: Unknown {
                after: self.after.chain.clone(),
                before: notes,
            },
            rest,
        }
    }

    /// The specified hash of these bytes and the further ones.
    fn from(
        &self,
        any: &AnyChain<'a, C>,
        first: &[ValueByte<'a>],
        bytes: &Bytes<'a>,
    ) -> Vec<ValueByte<'a>> {
        (any.specify)(&[first, &bytes.rest[..]].concat())
    }

    /// Whether the blocks got the right state, once.
    fn begins<H: Blockwise<'a, Chain = C>>(
        &self,
        notes: Vec<C>,
        specified: &[ValueByte<'a>],
        bytes: &Bytes<'a>,
    ) -> SourceVerdict {
        match <[C; 1]>::try_from(notes) {
            Ok([chain]) => self.compare_chain::<H>(chain, &bytes.rest, specified),
            Err(notes) => {
                let times = notes.len();
                SourceVerdict::Unproved(format!("the whole blocks are absorbed {times} times"))
            }
        }
    }

    /// Whether the state after the part is the specified one.
    fn ends<H: Hashing<'a>>(
        &self,
        mut hash: H,
        rest: usize,
        specified: &[Vec<ValueByte<'a>>],
        bytes: &Bytes<'a>,
    ) -> SourceVerdict {
        let now = compare_bytes(self.values, &hash.clone().finish(), &specified[rest]);
        now.and(|| {
            let further = rest + self.block + 1;
            hash.update(&bytes.rest[rest..further]);
            compare_bytes(self.values, &hash.finish(), &specified[further])
        })
    }

    /// Compares a state by the hash of further bytes. The first block of them shows every flag, as
    /// one in the middle.
    fn compare_chain<H: Blockwise<'a, Chain = C>>(
        &self,
        chain: C,
        further: &[ValueByte<'a>],
        specified: &[ValueByte<'a>],
    ) -> SourceVerdict {
        let mut hash = H::with_chain(chain);
        hash.update(further);
        compare_bytes(self.values, &hash.finish(), specified)
    }
}
