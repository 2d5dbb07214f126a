//! Bugs planted below the source, which the comparison must find: a proof that cannot fail proves
//! nothing.
//!
//! Each counterexample must give the same wrong result when the same source, with the same bug,
//! runs on its numbers.

mod blake2b;
mod blocks;
mod fill;
mod kernels;
mod lengths;
mod output;
mod skein;
mod tree;

use super::counterexample::{Counterexample, SourceVerdict};
use super::symbol::Symbol;
use super::value::Value;
use crate::spec;
use core::cell::Cell;
use sealstone_lanes::{Lanes, Row, RowPair, Scalar, Vector, Word};

/// The fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Bug {
    None,
    /// One rotation is by one bit less.
    Rotation,
    /// A bit of a constant is wrong.
    Constant,
    /// A product is doubled without regard for overflow.
    Product,
    /// Two lanes are swapped when a row rotates, or two words of a table when it is read.
    Turn,
    /// Two halves are not swapped.
    Halves,
    /// A lane is loaded with the word of the previous lane.
    Lane,
    /// A block ends one byte too early.
    Position,
    /// The first block of a message is not flagged.
    First,
    /// The last block of a message is not flagged.
    Last,
    /// A message that ends within a byte is not flagged.
    BitPad,
    /// The wrong number of bits of the last byte counts.
    Padding,
    /// Two bytes of each word of a message are swapped.
    Bytes,
    /// A block of a message is not added to its cipher.
    Forward,
    /// A letter of the configuration string is wrong.
    Configuration,
    /// A key has the type of a personalisation.
    Kind,
    /// A position has no carry into its upper word.
    Carry,
    /// A full block is counted twice.
    Twice,
    /// A block of output has the number of another block.
    Counter,
    /// A node is on the level below.
    Level,
}

thread_local! {
    /// The bug of all words below. A separate type for each bug would need one more compiled copy
    /// of all kernels.
    static BUG: Cell<Bug> = const { Cell::new(Bug::None) };
}

/// Runs a function on words with a bug.
fn with<T>(bug: Bug, run: impl FnOnce() -> T) -> T {
    BUG.set(bug);
    let result = run();
    BUG.set(Bug::None);
    result
}

fn is(bug: Bug) -> bool {
    BUG.get() == bug
}

/// The public constant `x`, changed by the bug.
fn constant(x: u64) -> u64 {
    const C240: u64 = 0x1BD1_1BDA_A9FC_1A22;
    let (kind, level) = (x >> 56 & 63, x >> 48 & 127);
    let is_message = kind == 48;
    match BUG.get() {
        Bug::Constant if x == C240 || x == spec::blake2b::iv()[7] => x ^ 1 << 40,
        Bug::Position if x == 64 => 63,
        Bug::First if is_message => x & !(1 << 62),
        Bug::Last if is_message => x & !(1 << 63),
        Bug::BitPad if is_message => x & !(1 << 55),
        // Only the flags of a first or last block.
        Bug::Kind if x != 0 && x << 2 == 0 => x | 8 << 56,
        Bug::Counter if x == 1 << 40 => x ^ 1,
        Bug::Level if is_message && level == 5 => x ^ 1 << 48,
        _ => x,
    }
}

/// A word with the bug.
#[derive(Clone, Copy)]
struct Planted<W> {
    word: W,
    /// Whether it was made of bytes and has not changed since.
    loaded: bool,
}

impl<W> Planted<W> {
    fn of(word: W) -> Self {
        let loaded = false;
        Self { word, loaded }
    }
}

// Not inlined: see `Symbol`.
impl<W: Word> Word for Planted<W> {
    type Cpu = W::Cpu;

    #[inline(never)]
    fn splat(cpu: W::Cpu, x: u64) -> Self {
        Self::of(W::splat(cpu, constant(x)))
    }
    #[inline(never)]
    fn add(self, other: Self) -> Self {
        Self::of(self.word.add(other.word))
    }
    #[inline(never)]
    fn sub(self, other: Self) -> Self {
        Self::of(self.word.sub(other.word))
    }
    #[inline(never)]
    fn xor(self, other: Self) -> Self {
        Self::of(if is(Bug::Forward) && other.loaded {
            self.word
        } else {
            self.word.xor(other.word)
        })
    }
    #[inline(never)]
    fn mul_lo32(self, other: Self) -> Self {
        let product = self.word.mul_lo32(other.word);
        Self::of(if is(Bug::Product) {
            product.rotl::<1>()
        } else {
            product
        })
    }
    #[inline(never)]
    fn rotl<const R: u32>(self) -> Self {
        Self::of(if is(Bug::Rotation) && R == 46 {
            self.word.rotl::<45>()
        } else {
            self.word.rotl::<R>()
        })
    }
    #[inline(never)]
    fn rotr<const R: u32>(self) -> Self {
        Self::of(if is(Bug::Rotation) && R == 24 {
            self.word.rotr::<23>()
        } else {
            self.word.rotr::<R>()
        })
    }
}

impl<W: Scalar> Scalar for Planted<W> {
    type Byte = W::Byte;

    #[inline(never)]
    fn byte(cpu: W::Cpu, x: u8) -> W::Byte {
        let is_wrong = is(Bug::Configuration) && x == b'H';
        W::byte(cpu, if is_wrong { b'h' } else { x })
    }
    #[inline(never)]
    fn from_le_bytes(mut bytes: [W::Byte; 8]) -> Self {
        if is(Bug::Bytes) {
            bytes.swap(2, 3);
        }
        let (word, loaded) = (W::from_le_bytes(bytes), true);
        Self { word, loaded }
    }
    #[inline(never)]
    fn to_le_bytes(self) -> [W::Byte; 8] {
        self.word.to_le_bytes()
    }
    #[inline(never)]
    fn pad(byte: W::Byte, bits: u32) -> W::Byte {
        W::pad(byte, if is(Bug::Padding) { bits % 7 + 1 } else { bits })
    }
    #[inline(never)]
    fn keep(byte: W::Byte, bits: u32) -> W::Byte {
        W::keep(byte, if is(Bug::Padding) { bits % 7 + 1 } else { bits })
    }
    #[inline(never)]
    fn xor_bytes(a: W::Byte, b: W::Byte) -> W::Byte {
        W::xor_bytes(a, b)
    }
}

macro_rules! convert {
    ($($word:ident)*) => { $(
        impl<'a> From<$word<'a>> for Planted<$word<'a>> {
            fn from(word: $word<'a>) -> Self {
                Self::of(word)
            }
        }

        impl<'a> From<Planted<$word<'a>>> for $word<'a> {
            fn from(planted: Planted<$word<'a>>) -> Self {
                planted.word
            }
        }
    )* };
}
convert!(Symbol Value);

/// Words side by side. Moves, loads and counts have the bug.
#[derive(Clone, Copy)]
struct Moved<W, const N: usize>([W; N]);

impl<W: Word, const N: usize> Word for Moved<W, N> {
    type Cpu = W::Cpu;

    #[inline(never)]
    fn splat(cpu: W::Cpu, x: u64) -> Self {
        Self(Word::splat(cpu, constant(x)))
    }
    #[inline(never)]
    fn add(self, other: Self) -> Self {
        Self(Word::add(self.0, other.0))
    }
    #[inline(never)]
    fn sub(self, other: Self) -> Self {
        Self(Word::sub(self.0, other.0))
    }
    #[inline(never)]
    fn xor(self, other: Self) -> Self {
        Self(Word::xor(self.0, other.0))
    }
    #[inline(never)]
    fn mul_lo32(self, other: Self) -> Self {
        Self(Word::mul_lo32(self.0, other.0))
    }
    #[inline(never)]
    fn rotl<const R: u32>(self) -> Self {
        Self(Word::rotl::<R>(self.0))
    }
    #[inline(never)]
    fn rotr<const R: u32>(self) -> Self {
        Self(Word::rotr::<R>(self.0))
    }
}

impl<W: Scalar, const N: usize> Vector<N> for Moved<W, N> {
    type Lane = W;

    #[inline(never)]
    fn load(_: W::Cpu, words: &[W; N]) -> Self {
        let mut words = *words;
        if is(Bug::Lane) && N > 1 {
            words[1] = words[0];
        }
        Self(words)
    }
    fn to_array(self) -> [W; N] {
        self.0
    }
}

impl<W: Scalar, const N: usize> Lanes<N> for Moved<W, N> {
    #[inline(never)]
    fn load_blocks(cpu: W::Cpu, blocks: [&[W::Byte; 64]; N]) -> [Self; 8] {
        <[W; N]>::load_blocks(cpu, blocks).map(Self)
    }
    #[inline(never)]
    fn to_blocks(words: [Self; 8]) -> [[W::Byte; 64]; N] {
        <[W; N]>::to_blocks(words.map(|word| word.0))
    }
}

impl<W: Scalar> RowPair for Moved<W, 8> {
    const IN_STEP: usize = 1;

    #[inline(never)]
    fn turn<const K: usize, const ALTERNATING: bool>(self) -> Self {
        if is(Bug::Halves) {
            return Self(RowPair::turn::<K, false>(self.0));
        }
        let mut words = RowPair::turn::<K, ALTERNATING>(self.0);
        if is(Bug::Turn) && K == 3 {
            words.swap(5, 6);
        }
        Self(words)
    }
}

impl<W: Scalar> Row for Moved<W, 4> {
    type Table = [W; 16];

    #[inline(never)]
    fn turn<const K: usize>(self) -> Self {
        Self(Row::turn::<K>(self.0))
    }
    #[inline(never)]
    fn table(_: W::Cpu, words: &[W; 16]) -> [W; 16] {
        *words
    }
    #[inline(never)]
    fn pick(table: &[W; 16], [a, b, c, d]: [usize; 4]) -> Self {
        let numbers = if is(Bug::Turn) && a == 14 {
            [b, a, c, d]
        } else {
            [a, b, c, d]
        };
        Self(<[W; 4] as Row>::pick(table, numbers))
    }
}

fn refuted(verdict: SourceVerdict) -> Counterexample {
    match verdict {
        SourceVerdict::Refuted(counterexample) => counterexample,
        other => panic!("a planted bug is {other}"),
    }
}

/// Little-endian.
fn to_bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Checks that the same source with the same bug gives the same results on the numbers of a
/// counterexample.
fn reproduces(counterexample: &Counterexample, computed: &[u8], specified: &[u8]) {
    assert_eq!(counterexample.computed, computed);
    assert_eq!(counterexample.specified, specified);
    assert_ne!(computed, specified);
}
