//! BLAKE2b: F, hashes made of it, and H′ made of them.

use super::Claim;
use super::counterexample::{Verdict, compare};
use super::letter::{Letter, Slip, Spelling};
use super::modes::blake2b as modes;
use super::symbol::{Arena, Symbol, SymbolicByte};
use crate::spec;
use crate::term::{Bit, Word};
use sealstone_argon2::blake2b::{Input, Stream};
use sealstone_argon2::hprime;
use sealstone_lanes::{Row as LaneRow, Scalar};

pub(super) fn claims() -> Vec<Claim> {
    vec![
        Claim::of(
            "BLAKE2b F",
            "all words equal RFC 7693, 3.2, for all h, m, t, f",
            || compress::<[Symbol<'_>; 4]>(&Arena::new(3)),
        ),
        Claim::of(
            "BLAKE2b",
            "every length from 0 to 300 bytes, each cut in four ways, for all messages",
            unkeyed,
        ),
        Claim::of(
            "BLAKE2b with a key",
            "keys of 1 to 64 bytes, lengths around block ends, outputs of 1 to 64 bytes, for all keys and messages",
            keyed,
        ),
        Claim::of(
            "H′",
            "every output length from 4 to 1024 bytes, for all inputs of 72 bytes; and of 0 to 1100 in parts",
            all_hprime,
        ),
    ]
}

/// The source's `compress` on rows `R`, against the specification.
pub(super) fn compress<'a, R>(arena: &'a Arena) -> Verdict
where
    R: LaneRow<Cpu = &'a Arena, Lane: From<Symbol<'a>> + Into<Symbol<'a>>>,
    R::Lane: sealstone_lanes::Word<Cpu = &'a Arena>,
{
    let (h, m, t) = (
        arena.words::<8>("h"),
        arena.words::<16>("m"),
        arena.words::<2>("t"),
    );
    let [f] = arena.words("f");
    let words = |symbols: &[Symbol<'_>]| -> Vec<Word> {
        symbols.iter().map(|word| word.bits().to_vec()).collect()
    };
    let specified = arena.with(|terms| {
        spec::blake2b::compress(
            terms,
            &words(&h),
            &words(&m),
            &words(&t),
            &f.bits().to_vec(),
        )
    });

    let mut state = h.map(R::Lane::from);
    let input = Input {
        words: &m.map(R::Lane::from),
        counter: t.map(R::Lane::from),
        last: f.into(),
    };
    sealstone_argon2::blake2b::compress::<R>(arena, arena, &mut state, &input);
    let computed: Vec<Bit> = state
        .into_iter()
        .flat_map(|word| word.into().bits())
        .collect();
    compare(arena, &computed, &specified.concat())
}

fn unkeyed() -> Verdict {
    Verdict::all((0..=300).map(|length| {
        let cuts: [&[usize]; 4] = [&[], &[length / 3, 2 * length / 3], &[128], &[1, 129, 256]];
        Verdict::all(cuts.map(|cuts| hash(Slip::None, 0, length, 64, cuts)))
    }))
}

fn keyed() -> Verdict {
    let lengths = [0, 1, 127, 128, 129, 255, 256, 257];
    Verdict::all((1..=64).flat_map(|size| {
        lengths.map(|length| hash(Slip::None, size, length, 65 - size, &[length / 2]))
    }))
}

/// The source's stream with a key, cut where it says, against the specification.
pub(super) fn hash(
    slip: Slip,
    key: usize,
    length: usize,
    output: usize,
    cuts: &[usize],
) -> Verdict {
    let (arena, letter) = (Arena::new(4), Letter::default());
    let (key, message) = (arena.bytes("key", key), arena.bytes("message", length));
    let specified =
        arena.with(|terms| modes::hash(terms, &letter, &bits(&key), &bits(&message), output));

    let spelling = Spelling {
        arena: &arena,
        letter: &letter,
        slip,
    };
    let mut stream = Stream::new(spelling, &key, output);
    let mut start = 0;
    for cut in cuts.iter().copied().filter(|cut| *cut <= length) {
        stream.update(&message[start..cut]);
        start = cut;
    }
    stream.update(&message[start..]);
    let computed = stream.finish();
    compare(
        &arena,
        &bits(&computed[..output]).concat(),
        &specified.concat(),
    )
}

fn all_hprime() -> Verdict {
    let every = (4..=1024).map(|output| hprime_of(of_source, &[72], output));
    let parts: [&[usize]; 5] = [&[], &[64, 4, 4], &[1, 0, 127], &[1024], &[1000, 100]];
    let sampled = parts.into_iter().flat_map(|parts| {
        [4, 32, 64, 65, 128, 1024].map(|output| hprime_of(of_source, parts, output))
    });
    Verdict::all(every.chain(sampled))
}

/// H′: the source's, or one with a bug.
pub(super) type HPrime = for<'a> fn(Spelling<'a>, &[&[SymbolicByte<'a>]], &mut [SymbolicByte<'a>]);

/// The source's.
pub(super) fn of_source<'a>(
    engine: Spelling<'a>,
    parts: &[&[SymbolicByte<'a>]],
    out: &mut [SymbolicByte<'a>],
) {
    hprime(engine, parts, out);
}

/// H′ of parts of these lengths, against the specification.
pub(super) fn hprime_of(compute: HPrime, parts: &[usize], output: usize) -> Verdict {
    let (arena, letter) = (Arena::new(5), Letter::default());
    let parts: Vec<Vec<SymbolicByte<'_>>> = parts
        .iter()
        .map(|length| arena.bytes("part", *length))
        .collect();
    let specified =
        arena.with(|terms| modes::hprime(terms, &letter, &bits(&parts.concat()), output));

    let spelling = Spelling {
        arena: &arena,
        letter: &letter,
        slip: Slip::None,
    };
    let mut computed = vec![Symbol::byte(&arena, 0); output];
    let parts: Vec<&[SymbolicByte<'_>]> = parts.iter().map(Vec::as_slice).collect();
    compute(spelling, &parts, &mut computed);
    compare(&arena, &bits(&computed).concat(), &specified.concat())
}

fn bits(bytes: &[SymbolicByte<'_>]) -> Vec<Word> {
    bytes.iter().map(|byte| byte.bits().to_vec()).collect()
}
