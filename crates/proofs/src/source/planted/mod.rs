//! Bugs, planted below the source, that the comparison must find: a proof that cannot fail proves nothing.

use super::counterexample::{Counterexample, Verdict};
use super::letter::{Slip, Spelling};
use super::symbol::SymbolicByte;
use super::symbol::{Arena, Symbol};
use super::{argon2, blake2b, skein, threefish};
use crate::spec::{self, Numbers};
use sealstone_argon2::blake2b::{Engine, LONGEST, Stream};
use sealstone_argon2::{from_words, to_words};
use sealstone_lanes::{Portable, Row, RowPair, Scalar, Vector, Word};
use sealstone_skein::threefish::Block;

const NONE: u8 = 0;
/// One rotation is by one bit less.
const ROTATION: u8 = 1;
/// A bit of a constant is wrong.
const CONSTANT: u8 = 2;
/// A product is doubled as if it could not overflow.
const PRODUCT: u8 = 3;
/// Two lanes change places when a row is turned, or two words of a table when it is read.
const LANE: u8 = 4;
/// The halves that should change places do not.
const HALVES: u8 = 5;

/// A word, or a row of words, with a bug.
#[derive(Clone, Copy)]
struct Planted<W, const BUG: u8>(W);

impl<W: Word, const BUG: u8> Word for Planted<W, BUG> {
    type Cpu = W::Cpu;

    fn splat(cpu: W::Cpu, x: u64) -> Self {
        const C240: u64 = 0x1BD1_1BDA_A9FC_1A22;
        let wrong = BUG == CONSTANT && (x == C240 || x == spec::blake2b::iv()[7]);
        Self(W::splat(cpu, x ^ u64::from(wrong) << 40))
    }
    fn add(self, other: Self) -> Self {
        Self(self.0.add(other.0))
    }
    fn sub(self, other: Self) -> Self {
        Self(self.0.sub(other.0))
    }
    fn xor(self, other: Self) -> Self {
        Self(self.0.xor(other.0))
    }
    fn mul_lo32(self, other: Self) -> Self {
        let product = self.0.mul_lo32(other.0);
        Self(if BUG == PRODUCT {
            product.rotl::<1>()
        } else {
            product
        })
    }
    fn rotl<const R: u32>(self) -> Self {
        Self(if BUG == ROTATION && R == 46 {
            self.0.rotl::<45>()
        } else {
            self.0.rotl::<R>()
        })
    }
    fn rotr<const R: u32>(self) -> Self {
        Self(if BUG == ROTATION && R == 24 {
            self.0.rotr::<23>()
        } else {
            self.0.rotr::<R>()
        })
    }
}

impl<W: Scalar, const BUG: u8> Scalar for Planted<W, BUG> {
    type Byte = W::Byte;

    fn byte(cpu: W::Cpu, x: u8) -> W::Byte {
        W::byte(cpu, x)
    }
    fn from_le_bytes(bytes: [W::Byte; 8]) -> Self {
        Self(W::from_le_bytes(bytes))
    }
    fn to_le_bytes(self) -> [W::Byte; 8] {
        self.0.to_le_bytes()
    }
    fn pad(byte: W::Byte, bits: u32) -> W::Byte {
        W::pad(byte, bits)
    }
}

impl<'a, const BUG: u8> From<Symbol<'a>> for Planted<Symbol<'a>, BUG> {
    fn from(symbol: Symbol<'a>) -> Self {
        Self(symbol)
    }
}

impl<'a, const BUG: u8> From<Planted<Symbol<'a>, BUG>> for Symbol<'a> {
    fn from(planted: Planted<Symbol<'a>, BUG>) -> Self {
        planted.0
    }
}

/// Rows of words without a bug, which are moved wrongly.
#[derive(Clone, Copy)]
struct Moved<W, const BUG: u8, const N: usize>([W; N]);

impl<W: Word, const BUG: u8, const N: usize> Word for Moved<W, BUG, N> {
    type Cpu = W::Cpu;

    fn splat(cpu: W::Cpu, x: u64) -> Self {
        Self(Word::splat(cpu, x))
    }
    fn add(self, other: Self) -> Self {
        Self(Word::add(self.0, other.0))
    }
    fn sub(self, other: Self) -> Self {
        Self(Word::sub(self.0, other.0))
    }
    fn xor(self, other: Self) -> Self {
        Self(Word::xor(self.0, other.0))
    }
    fn mul_lo32(self, other: Self) -> Self {
        Self(Word::mul_lo32(self.0, other.0))
    }
    fn rotl<const R: u32>(self) -> Self {
        Self(Word::rotl::<R>(self.0))
    }
    fn rotr<const R: u32>(self) -> Self {
        Self(Word::rotr::<R>(self.0))
    }
}

impl<W: Scalar, const BUG: u8, const N: usize> Vector<N> for Moved<W, BUG, N> {
    type Lane = W;

    fn load(_: W::Cpu, words: &[W; N]) -> Self {
        Self(*words)
    }
    fn to_array(self) -> [W; N] {
        self.0
    }
}

impl<W: Scalar, const BUG: u8> RowPair for Moved<W, BUG, 8> {
    const IN_STEP: usize = 1;

    fn turn<const K: usize>(self) -> Self {
        let mut words = RowPair::turn::<K>(self.0);
        if BUG == LANE && K == 3 {
            words.swap(5, 6);
        }
        Self(words)
    }
    fn swap_halves(self) -> Self {
        if BUG == HALVES {
            self
        } else {
            Self(RowPair::swap_halves(self.0))
        }
    }
}

impl<W: Scalar, const BUG: u8> Row for Moved<W, BUG, 4> {
    type Table = [W; 16];

    fn turn<const K: usize>(self) -> Self {
        Self(Row::turn::<K>(self.0))
    }
    fn table(_: W::Cpu, words: &[W; 16]) -> [W; 16] {
        *words
    }
    fn pick(table: &[W; 16], [a, b, c, d]: [usize; 4]) -> Self {
        let numbers = if BUG == LANE && a == 14 {
            [b, a, c, d]
        } else {
            [a, b, c, d]
        };
        Self(<[W; 4] as Row>::pick(table, numbers))
    }
}

fn refuted(verdict: Verdict) -> Counterexample {
    match verdict {
        Verdict::Refuted(counterexample) => counterexample,
        other => panic!("a planted bug is {other}"),
    }
}

#[test]
fn planting_nothing_changes_nothing() {
    let arena = Arena::new(40);
    assert!(argon2::compress::<Moved<Planted<Symbol<'_>, NONE>, NONE, 8>, true>(&arena).holds());
    assert!(blake2b::compress::<Moved<Planted<Symbol<'_>, NONE>, NONE, 4>>(&arena).holds());
    assert!(threefish::encrypt::<Planted<Symbol<'_>, NONE>, 8>(&arena).holds());
    assert!(threefish::decrypt::<Planted<Symbol<'_>, NONE>, 8>(&arena).holds());
}

/// What G with a bug gives on the numbers of a counterexample.
fn reproduce_g<P: RowPair<Lane = Planted<u64, BUG>, Cpu = Portable>, const BUG: u8>(
    counterexample: &Counterexample,
) {
    let [x, y] = ["x", "y"].map(|name| {
        counterexample
            .words::<128>(name)
            .expect("the input is there")
    });
    let mut out = from_words(&[Planted(0); 128]);
    let [bx, by] = [x, y].map(|words| from_words(&words.map(Planted)));
    sealstone_argon2::compress::<P, false>(Portable, &bx, &by, &mut out, |_| ());
    let computed: Vec<u8> = to_words(&out)
        .iter()
        .flat_map(|word| word.0.to_le_bytes())
        .collect();
    let specified = spec::argon2::compress(&mut Numbers, &x, &y);
    let specified: Vec<u8> = specified
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    assert_eq!(counterexample.computed[..1024], computed);
    assert_eq!(counterexample.specified[..1024], specified);
    assert_ne!(computed, specified);
}

macro_rules! g_with_bug {
    ($name:ident, $word:ident, $moved:ident) => {
        #[test]
        fn $name() {
            let verdict = argon2::compress::<Moved<Planted<Symbol<'_>, $word>, $moved, 8>, false>(
                &Arena::new(41),
            );
            reproduce_g::<Moved<Planted<u64, $word>, $moved, 8>, $word>(&refuted(verdict));
        }
    };
}
g_with_bug!(g_with_a_wrong_rotation, ROTATION, NONE);
g_with_bug!(g_with_a_wrong_product, PRODUCT, NONE);
g_with_bug!(g_with_swapped_lanes, NONE, LANE);
g_with_bug!(g_with_halves_left_where_they_are, NONE, HALVES);

#[test]
fn blake2b_with_a_wrong_rotation_constant_or_schedule() {
    let arena = Arena::new(42);
    refuted(blake2b::compress::<[Planted<Symbol<'_>, ROTATION>; 4]>(
        &arena,
    ));
    refuted(blake2b::compress::<[Planted<Symbol<'_>, CONSTANT>; 4]>(
        &arena,
    ));
    refuted(blake2b::compress::<Moved<Symbol<'_>, LANE, 4>>(&arena));
}

#[test]
fn threefish_with_a_wrong_rotation_or_constant() {
    threefish_with::<ROTATION>();
    threefish_with::<CONSTANT>();
}

fn threefish_with<const BUG: u8>() {
    let counterexample = refuted(threefish::encrypt::<Planted<Symbol<'_>, BUG>, 8>(
        &Arena::new(43),
    ));
    let [key, block] =
        ["key", "block"].map(|name| counterexample.words::<8>(name).expect("the input is there"));
    let tweak = counterexample
        .words::<2>("tweak")
        .expect("the input is there");
    let computed =
        block
            .map(Planted::<u64, BUG>)
            .encrypt(Portable, &key.map(Planted), &tweak.map(Planted));
    let computed: Vec<u8> = computed
        .iter()
        .flat_map(|word| word.0.to_le_bytes())
        .collect();
    let specified = spec::threefish::encrypt(&mut Numbers, &key, &tweak, &block);
    let specified: Vec<u8> = specified
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    assert_eq!(
        (&counterexample.computed, &counterexample.specified),
        (&computed, &specified)
    );
    assert_ne!(computed, specified);
}

#[test]
fn blake2b_with_a_wrong_counter_without_a_last_block_or_without_f() {
    assert!(blake2b::hash(Slip::None, 0, 200, 64, &[]).holds());
    for slip in [Slip::Counter, Slip::Last, Slip::State] {
        refuted(blake2b::hash(slip, 0, 200, 64, &[]));
        refuted(blake2b::hash(slip, 7, 100, 20, &[1]));
    }
}

/// The source's H′ with the last wipe before what it wipes is copied.
fn wiped_too_early<'a>(
    engine: Spelling<'a>,
    parts: &[&[SymbolicByte<'a>]],
    out: &mut [SymbolicByte<'a>],
) {
    let length = (out.len() as u32).to_le_bytes();
    let length = length.map(|byte| Symbol::byte(engine.arena, byte));
    let mut hash = Stream::new(engine, &[], out.len().min(LONGEST));
    hash.update(&length);
    parts.iter().for_each(|part| hash.update(part));
    let mut value = hash.finish();
    Spelling::wipe(&mut [], &mut value);
    let len = out.len();
    out.copy_from_slice(&value[..len]);
}

#[test]
fn hprime_that_wipes_too_early() {
    assert!(blake2b::hprime_of(blake2b::of_source, &[72], 32).holds());
    refuted(blake2b::hprime_of(wiped_too_early, &[72], 32));
}

/// UBI over a message and the specification of another one, which is a bit shorter.
#[test]
fn skein_of_other_messages() {
    let arena = Arena::new(44);
    let start = arena.words::<4>("start");
    let message = arena.bytes("message", 65);
    let of =
        |specified| skein::message_against(&arena, start, specified, &message, 8 * 65, &[32, 33]);
    assert!(of(8 * 65).holds());
    refuted(of(8 * 65 - 1));
}
