//! Hashes of every length, by induction over the parts of a message.
//!
//! Between two parts, the state of BLAKE2b, and of Skein's UBI, represents the message so far: all
//! blocks except the last are hashed and counted, and the last block, of 1 to B bytes, is buffered.
//! (Before the first byte, the buffer is empty.) Each row here shows the step: a state that
//! represents a message gets one more part, and then it represents the longer message. By induction
//! it does so after all parts, for every message and every cut.
//!
//! # The step
//!
//! - **From any state.** The message begins at an unknown chaining value and position, and has
//!   unknown bytes. So the chaining value, the position, the buffered bytes, and the bytes after
//!   them from an earlier block are arbitrary. The number of buffered bytes is enumerated: none
//!   before the first byte, else 1 to B; without a block before them, and with one.
//! - **Any part.** First, every length up to three blocks more than fill the buffered block is
//!   enumerated. Then an unknown number of whole blocks takes the place of the part's middle.
//! - **The state afterwards** must have the specified hash. That alone does not determine the
//!   state: it does not show a flag of the last block that is set too early, or a buffered zero
//!   that is not counted. So one more part of B + 1 unknown bytes follows, and the hash must be the
//!   specified one again. F of BLAKE2b and the cipher of Skein are uninterpreted here. The buffered
//!   block is then one of their arguments, as a block in the middle, with the chaining value, the
//!   position and the flags. The first unknown byte in it shows how many bytes were buffered.
//!
//! # Any number of blocks
//!
//! The first bytes of a long part fill the buffered block. Of the n bytes after them, (n - 1) / B
//! blocks are whole and not the last. The rest is buffered. Four proofs make the step for any n:
//!
//! - **The cut.** A [lemma](crate::lemma) shows that the numbers of [`Cut`](sealstone_lanes::Cut)
//!   are right, for each number of buffered bytes and every length of a part.
//! - **The beginning.** `Stream::add` and `Ubi::add` are generic over the whole blocks. Here they
//!   get an unknown number of them, which notes the state before the blocks. From any state and
//!   each number of buffered bytes, it is the specified one, and it is noted once.
//! - **One block.** In any state between two blocks, the loop's body makes the specified state of
//!   any block. By induction, the loop does so for any number of blocks. BLAKE2b's state is one
//!   structure. Its h and its count are unknown here. A new field does not compile.
//! - **The end.** The unknown number of blocks puts any state in the place of the noted one. After
//!   each number of buffered bytes and for each length of the rest, the state after the part is
//!   specified.
//!
//! These lines are read, not proved. The steps up to three blocks run them:
//!
//! - `Stream` and `Ubi` keep the chaining value, the count or tweak, and the buffered bytes, and
//!   nothing else that a part could change.
//! - `update` gives the cut part to `add`.
//! - [`Part::new`](sealstone_lanes::Part::new) gives block, buffered bytes and length to the cut,
//!   and passes its numbers to `split_at` and `as_chunks` of the standard library. A test runs it
//!   for lengths up to 2^63 - 1, on bytes of no size.
//! - `for block in self { chain.absorb(block) }` is the loop of BLAKE2b. It is generic over the
//!   state and the block, so it cannot look at them. Another test counts its calls.
//! - A slice of blocks gives itself to `absorb`, UBI's loop. Its variables are the chaining value
//!   and the tweak, both unknown here. The loop itself is proved in machine code, for any number of
//!   blocks.
//!
//! # The position
//!
//! The source is generic over the count of BLAKE2b and over the tweak of Skein. So it can add bytes
//! and set flags, but not read them. Here the count is an unknown number of 128 bits plus a known
//! number of bytes ([`Counted`]). The shipped code counts in `u128`. We rely on Rust for its sum
//! and its two words. The proofs of machine code cover Skein's
//! [`Tweak`](sealstone_skein::UbiTweak), for all tweaks.
//!
//! Positions of Skein have 96 bits, and the unknown number has 128. Its upper bits stand for the
//! type of the string and the level of a tree, because source and specification only add to the
//! position and set flags. So the rows cover UBI of every argument, not only of a message.
//!
//! # Output
//!
//! Between two parts, [`Output`](sealstone_skein::Output) has a chaining value, the number of a
//! block, the bytes of that block that are read, and the bits that are left. A part is read in
//! turns, one for each block that it touches. The induction is over these turns:
//!
//! - **From any state.** The chaining value and the number are unknown. The number of bytes read is
//!   enumerated: 0 to B - 1.
//! - **A turn within a block.** Every length up to the end of the block is enumerated. Output ends
//!   at each bit of the part's last byte, one bit later, or not in this block.
//! - **A turn of a longer part.** The source gets data of an unknown length. It must take all bytes
//!   up to the end of the block, and no more.
//! - **The state afterwards** must give what is specified next: a block and a byte, or all that is
//!   left. So this also compares the bits that are left.
//! - The block function is uninterpreted: `E` of an unknown number. Other rows prove it.
//!
//! The rows also run all parts that touch two or three blocks, and all output of 1 bit to three
//! blocks at once. These lines are read, not proved:
//!
//! - `while !rest.is_empty() { rest = self.xor_into_first(rest) }` takes the turns.
//! - A slice gives the first `most` bytes, or all if there are fewer.
//! - The source compares the bits and bytes that are left with those of a part, subtracts these,
//!   and takes the bits of the last byte.
//! - The shipped number is a `u64`. Its next one is `self + 1`, and its block is `output_block`.
//! - `seek` divides a position by B, and `position` multiplies. Tests run both.
//! - `Output` keeps nothing else that a part reads or changes.
//! - `configuration` writes the number of output bits. The rows of start run it for some numbers.
//!
//! # Levels of a tree
//!
//! Above the pieces of a sealed file, a [`Level`] has the number of its current node, and up to 16
//! children of that node. It is generic over the values of nodes: it can copy, wipe and hash them.
//! It is generic over the number: it can take the next one, and ask whether it is the first. The
//! induction is over children:
//!
//! - **From any state.** The current node is the first one, or has an unknown number. Values of an
//!   earlier node are left in the places of its children.
//! - **One more child**, until two nodes are full, and one child more. Only the first child of a
//!   node closes a node: the one before, with its number and its 16 children.
//! - **The state** after each child is all that the level has: the number, and the children so far.
//!   So after its first child, each node has the same state.
//! - **The end** after each child. The current node has its number and its children. If it is the
//!   first node and has one child, then that is the root.
//!
//! These lines are read, not proved. A row runs them for 1 to 4,400 pieces:
//!
//! - `Root::push` takes pieces in order. `Root::add` gives the value of a node to the level above,
//!   and makes that level, from node 0 on, if there is none.
//! - `Root::output` closes the levels from the lowest one on, up to the root.
//! - `node_above` and `value_of_level` give the number of the level to the hash, and the number of
//!   the node, multiplied by its bytes.
//! - The shipped number is a `u64`. Its next one is `self + 1`, and the first one is 0.
//! - `Level` keeps nothing else that a child changes.

mod blake2b;
mod blocks;
mod levels;
mod output;
mod skein;

pub(super) use blake2b::AnyBlake2b;
pub(super) use levels::any_number;
pub(super) use output::AnyOutput;
pub(super) use skein::AnySkein;
#[cfg(test)]
pub(super) use {
    blocks::{Blockwise, Unknown},
    levels::{AnyNode, Children},
    output::{AnyNumber, Long, Reading},
    skein::{AnyTweak, Encrypt},
};

use super::Claim;
use super::counterexample::SourceVerdict;
use super::modes::plus;
use super::value::{Value, ValueByte, Values, compare_bytes};
use sealstone_argon2::blake2b::{Count, Stream};
use sealstone_skein::Ubi;
use sealstone_skein::tree::Level;

pub(super) fn claims() -> Vec<Claim> {
    let blake2b = "messages of every length, by induction over parts: in any state between two parts, one more part with any number of blocks, by induction over them";
    let skein = "UBI over every number of bytes and bits, by induction over parts: in any state between two parts, one more part with any number of blocks, by induction over them";
    let output = "output of every number of bits, by induction over parts: in any state between two parts, one more part of any length, by induction over its blocks";
    let levels = "each level above the pieces, by induction over its children: a node gets 16 of them, in order, the next node gets the next ones, and a level with one child has the root";
    vec![
        Claim::of("BLAKE2b, every length", blake2b, || {
            let values = Values::default();
            let any = AnyBlake2b::of(&values);
            let parts = any.parts.steps(&any.stream(any.before));
            parts.and(|| any.chains().induction::<Stream<_>>())
        }),
        Claim::of("Skein-256, every length", skein, every_skein::<4>),
        Claim::of("Skein-512, every length", skein, every_skein::<8>),
        Claim::of("Skein-1024, every length", skein, every_skein::<16>),
        Claim::of("Skein-256, every output", output, every_output::<4>),
        Claim::of("Skein-512, every output", output, every_output::<8>),
        Claim::of("Skein-1024, every output", output, every_output::<16>),
        Claim::of(
            "tree of sealed files, every number of pieces",
            levels,
            || any_number(Level::from_node),
        ),
    ]
}

fn every_output<const N: usize>() -> SourceVerdict
where
    for<'a> [Value<'a>; N]: sealstone_skein::threefish::Block<Value<'a>>,
{
    let values = Values::default();
    let any = AnyOutput::<N>::of(&values);
    any.induction(|bits| any.source(bits))
}

fn every_skein<const N: usize>() -> SourceVerdict
where
    for<'a> [Value<'a>; N]: sealstone_skein::threefish::Block<Value<'a>>,
{
    let values = Values::default();
    let any = AnySkein::<N>::of(&values);
    let ubi = any.ubi();
    let parts = any.parts.steps(&ubi).and(|| any.bits(&ubi));
    parts.and(|| any.chains().induction::<Ubi<_, N, _>>())
}

/// A hash between two parts of its message.
pub(super) trait Hashing<'a>: Clone {
    /// One more part.
    fn update(&mut self, part: &[ValueByte<'a>]);
    /// The hash.
    fn finish(self) -> Vec<ValueByte<'a>>;
}

/// A message, and the specified hash of each of its beginnings.
pub(super) struct Parts<'a> {
    values: &'a Values,
    /// B, the bytes in a block.
    block: usize,
    message: Vec<ValueByte<'a>>,
    /// The specified results, by the number of bytes.
    specified: Vec<Vec<ValueByte<'a>>>,
}

/// The largest number of blocks of a message: one before the state, a buffered one, two whole ones,
/// and a last one. Then [`Parts::further`] bytes follow.
const BLOCKS: usize = 5;

impl<'a> Parts<'a> {
    /// Precomputes the results of `specify`, the specification.
    fn new(
        values: &'a Values,
        block: usize,
        specify: impl Fn(&[ValueByte<'a>]) -> Vec<ValueByte<'a>>,
    ) -> Self {
        let message = values.bytes("message", BLOCKS * block + Self::further(block));
        let specified = (0..=message.len()).map(|length| specify(&message[..length]));
        Self {
            values,
            block,
            specified: specified.collect(),
            message,
        }
    }

    /// The number of further bytes after which the buffered block is one in the middle.
    fn further(block: usize) -> usize {
        block + 1
    }

    /// The step from all states: before the first byte, and with each number of buffered bytes,
    /// without and with a block before them.
    pub(super) fn steps(&self, empty: &impl Hashing<'a>) -> SourceVerdict {
        SourceVerdict::all((0..=2 * self.block).map(|before| self.steps_from(empty, before)))
    }

    /// The step after a number of bytes, with each length of a part.
    fn steps_from(&self, empty: &impl Hashing<'a>, before: usize) -> SourceVerdict {
        let state = self.state(empty, before);
        let is_first = before <= self.block;
        let waiting = if is_first {
            before
        } else {
            before - self.block
        };
        let longest = 4 * self.block - waiting;
        SourceVerdict::all((0..=longest).map(|part| self.step_from(&state, before, part)))
    }

    /// The step after a number of bytes, with a part of one length.
    #[cfg(test)]
    pub(super) fn step(
        &self,
        empty: &impl Hashing<'a>,
        before: usize,
        part: usize,
    ) -> SourceVerdict {
        self.step_from(&self.state(empty, before), before, part)
    }

    /// The state after a number of bytes. A first block is a separate part.
    fn state<H: Hashing<'a>>(&self, empty: &H, before: usize) -> H {
        let mut state = empty.clone();
        let (first, others) = self.message[..before].split_at(before.min(self.block));
        state.update(first);
        state.update(others);
        state
    }

    fn step_from(&self, state: &impl Hashing<'a>, before: usize, part: usize) -> SourceVerdict {
        let mut state = state.clone();
        let length = before + part;
        state.update(&self.message[before..length]);
        let longer = length + Self::further(self.block);
        self.compare(&state, length).and(|| {
            state.update(&self.message[length..longer]);
            self.compare(&state, longer)
        })
    }

    fn compare(&self, state: &impl Hashing<'a>, length: usize) -> SourceVerdict {
        compare_bytes(
            self.values,
            &state.clone().finish(),
            &self.specified[length],
        )
    }
}

/// An unknown number of bytes plus a known number.
#[derive(Clone, Copy)]
pub(super) struct Counted<'a> {
    before: [Value<'a>; 2],
    more: u64,
}

impl<'a> Counted<'a> {
    fn any(values: &'a Values, name: &str) -> Self {
        let before = values.words(name);
        Self { before, more: 0 }
    }
}

impl<'a> Count<Value<'a>> for Counted<'a> {
    fn plus(self, bytes: usize) -> Self {
        let more = self.more + bytes as u64;
        Self { more, ..self }
    }
    fn words(self, mut values: &'a Values) -> [Value<'a>; 2] {
        plus(&mut values, &self.before, self.more)
    }
}
