//! Skein as a whole, on symbolic bytes: every round of every block, nothing left out.
//!
//! A hash is three calls: the chaining value before the message, UBI over the message, and the output. Each is compared for
//! *any* chaining value before it, so they are right one after the other, whatever key or other argument comes first.

use super::Claim;
use super::counterexample::{Verdict, compare};
use super::modes::skein::{self as modes, Arguments, Bits, kind};
use super::symbol::{Arena, Symbol, SymbolicByte};
use crate::term::{Bit, Word};
use sealstone_skein::threefish::Block;
use sealstone_skein::{Parameters, Type, Ubi, output_block};

pub(super) fn claims() -> Vec<Claim> {
    let starts = "the chaining value before a message, with and without a key of 32 bytes and a personalisation of 40, for all of them";
    let lengths = "messages of 0 bytes to two blocks and one, and around three blocks, in one part or more, from any chaining value";
    let bits =
        "messages of 1 to 7, 249 to 263, 505 to 519 and 1017 to 1031 bits, from any chaining value";
    let outputs = "output blocks 0, 1 and 2^40, of any chaining value";
    vec![
        Claim::of("Skein-256, start", starts, || {
            every_start::<4>(&Arena::new(20))
        }),
        Claim::of("Skein-512, start", starts, || {
            every_start::<8>(&Arena::new(21))
        }),
        Claim::of("Skein-1024, start", starts, || {
            every_start::<16>(&Arena::new(22))
        }),
        Claim::of("Skein-256, message", lengths, || {
            in_groups::<4>(|arena, lengths| every_length::<4>(arena, lengths))
        }),
        Claim::of("Skein-512, message", lengths, || {
            in_groups::<8>(|arena, lengths| every_length::<8>(arena, lengths))
        }),
        Claim::of("Skein-1024, message", lengths, || {
            in_groups::<16>(|arena, lengths| every_length::<16>(arena, lengths))
        }),
        Claim::of("Skein-256, bits", bits, || {
            every_bit_length::<4>(&Arena::new(23))
        }),
        Claim::of("Skein-512, bits", bits, || {
            every_bit_length::<8>(&Arena::new(24))
        }),
        Claim::of("Skein-1024, bits", bits, || {
            every_bit_length::<16>(&Arena::new(25))
        }),
        Claim::of("Skein-256, output", outputs, || {
            every_output::<4>(&Arena::new(26))
        }),
        Claim::of("Skein-512, output", outputs, || {
            every_output::<8>(&Arena::new(27))
        }),
        Claim::of("Skein-1024, output", outputs, || {
            every_output::<16>(&Arena::new(28))
        }),
    ]
}

/// So many lengths share an arena: messages of one arena begin with the same bytes, and so with the same formulas.
const GROUP: usize = 32;

/// All up to two blocks and a byte, and those around three blocks.
fn lengths(block: usize) -> Vec<usize> {
    (0..=2 * block + 1)
        .chain(3 * block - 1..=3 * block + 1)
        .collect()
}

/// Where messages are cut into parts: nowhere, at a third, after a block, after a block and a byte, and after nothing.
fn cuts(block: usize, length: usize) -> Vec<Vec<usize>> {
    let all = [
        vec![],
        vec![length / 3],
        vec![block],
        vec![block + 1],
        vec![0, block, 2 * block],
    ];
    let allowed = all
        .into_iter()
        .filter(|cuts| cuts.iter().all(|cut| *cut <= length));
    let allowed: Vec<Vec<usize>> = allowed.collect();
    // Where blocks end, in all ways; elsewhere in one after the other.
    if length % block < 2 || length % block == block - 1 {
        allowed
    } else {
        vec![allowed[length % allowed.len()].clone()]
    }
}

fn in_groups<const N: usize>(prove: impl Fn(&Arena, &[usize]) -> Verdict) -> Verdict {
    let lengths = lengths(8 * N);
    Verdict::all(
        lengths
            .chunks(GROUP)
            .map(|group| prove(&Arena::new(29), group)),
    )
}

fn every_length<'a, const N: usize>(arena: &'a Arena, lengths: &[usize]) -> Verdict
where
    [Symbol<'a>; N]: Block<Symbol<'a>>,
{
    let start = arena.words::<N>("start");
    let message = arena.bytes("message", 24 * N + 1);
    Verdict::all(lengths.iter().flat_map(|length| {
        let cuts = cuts(8 * N, *length).into_iter();
        cuts.map(|cuts| message_of(arena, start, &message[..*length], 8 * length, &cuts))
            .collect::<Vec<_>>()
    }))
}

fn every_bit_length<'a, const N: usize>(arena: &'a Arena) -> Verdict
where
    [Symbol<'a>; N]: Block<Symbol<'a>>,
{
    let start = arena.words::<N>("start");
    let message = arena.bytes("message", 129);
    let counts = (1..8_usize)
        .chain(249..264)
        .chain(505..520)
        .chain(1017..1032);
    Verdict::all(
        counts.map(|count| message_of(arena, start, &message[..count.div_ceil(8)], count, &[])),
    )
}

/// The source's UBI over `count` bits of a message that is cut into parts, against the specification.
fn message_of<'a, const N: usize>(
    arena: &'a Arena,
    start: [Symbol<'a>; N],
    message: &[SymbolicByte<'a>],
    count: usize,
    cuts: &[usize],
) -> Verdict
where
    [Symbol<'a>; N]: Block<Symbol<'a>>,
{
    message_against(arena, start, count, message, count, cuts)
}

/// The same, where the specification is of another number of bits.
pub(super) fn message_against<'a, const N: usize>(
    arena: &'a Arena,
    start: [Symbol<'a>; N],
    specified: usize,
    message: &[SymbolicByte<'a>],
    count: usize,
    cuts: &[usize],
) -> Verdict
where
    [Symbol<'a>; N]: Block<Symbol<'a>>,
{
    let g = words(&start);
    let specified = arena.with(|terms| {
        let m = Bits {
            bytes: &strings(message),
            count: specified,
        };
        modes::ubi(terms, &g, m, kind::MESSAGE << 56, 0)
    });
    let mut ubi = Ubi::new(arena, start, Type::Message);
    let mut from = 0;
    for cut in cuts.iter().copied().chain([message.len()]) {
        ubi.update(&message[from..cut]);
        from = cut;
    }
    let chain = match count % 8 {
        0 => ubi.finish(),
        bits => ubi.finish_bits(bits as u32),
    };
    compare(arena, &bits(chain), &specified.concat())
}

fn every_start<'a, const N: usize>(arena: &'a Arena) -> Verdict
where
    [Symbol<'a>; N]: Block<Symbol<'a>>,
{
    let (key, personalization) = (arena.bytes("key", 32), arena.bytes("personalization", 40));
    let none = Vec::new();
    let cases = [
        (&none, &none),
        (&key, &none),
        (&none, &personalization),
        (&key, &personalization),
    ];
    Verdict::all(
        cases
            .into_iter()
            .zip(1..)
            .map(|((key, personalization), output_bits)| {
                let arguments = Arguments {
                    output_bits,
                    key: strings(key),
                    personalization: strings(personalization),
                    tree: [0; 3],
                };
                let specified = arena.with(|terms| modes::start(terms, N, &arguments));
                let parameters = Parameters::new()
                    .output_bits(output_bits)
                    .key(key)
                    .personalization(personalization);
                let computed: [Symbol<'a>; N] = parameters.start(arena, None);
                compare(arena, &bits(computed), &specified.concat())
            }),
    )
}

fn every_output<'a, const N: usize>(arena: &'a Arena) -> Verdict
where
    [Symbol<'a>; N]: Block<Symbol<'a>>,
{
    let chain = arena.words::<N>("chain");
    Verdict::all([0, 1, 1 << 40].map(|i| {
        let specified = arena.with(|terms| modes::output(terms, &words(&chain), i));
        compare(
            arena,
            &bits(output_block(arena, &chain, i)),
            &specified.concat(),
        )
    }))
}

fn words(symbols: &[Symbol<'_>]) -> Vec<Word> {
    symbols.iter().map(|word| word.bits().to_vec()).collect()
}

fn strings(bytes: &[SymbolicByte<'_>]) -> Vec<Word> {
    bytes.iter().map(|byte| byte.bits().to_vec()).collect()
}

fn bits<const N: usize>(words: [Symbol<'_>; N]) -> Vec<Bit> {
    words.into_iter().flat_map(Symbol::bits).collect()
}
