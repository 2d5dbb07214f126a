//! BLAKE2b: F, hashes made of it, and H′ made of them.

use super::Claim;
use super::counterexample::{SourceVerdict, compare};
use super::modes::blake2b as modes;
use super::symbol::{Arena, Symbol};
use super::uninterpreted::{Bug, UninterpretedEngine, UninterpretedF};
use super::value::{Value, ValueByte, Values, compare_bytes};
use crate::spec;
use sealstone_argon2::blake2b::{Byte, Engine, Input, Stream};
use sealstone_argon2::hprime;
use sealstone_lanes::{Row as LaneRow, Scalar};
use sealstone_prover::term::{Bit, Word};

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
pub(super) fn compress<'a, R>(arena: &'a Arena) -> SourceVerdict
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

fn unkeyed() -> SourceVerdict {
    SourceVerdict::all((0..=300).map(|length| {
        let cuts: [&[usize]; 4] = [&[], &[length / 3, 2 * length / 3], &[128], &[1, 129, 256]];
        SourceVerdict::all(cuts.map(|cuts| hash(Bug::None, 0, length, 64, cuts)))
    }))
}

fn keyed() -> SourceVerdict {
    let lengths = [0, 1, 127, 128, 129, 255, 256, 257];
    SourceVerdict::all((1..=64).flat_map(|size| {
        lengths.map(|length| hash(Bug::None, size, length, 65 - size, &[length / 2]))
    }))
}

/// Compares the source's stream with a key and these cuts with the specification.
pub(super) fn hash(
    bug: Bug,
    key: usize,
    length: usize,
    output: usize,
    cuts: &[usize],
) -> SourceVerdict {
    let values = Values::default();
    let (key, message) = (values.bytes("key", key), values.bytes("message", length));
    let specified = modes::hash(&mut &values, &UninterpretedF, &key, &message, output);
    let engine = UninterpretedEngine {
        values: &values,
        before: 0,
        bug,
    };
    let computed = stream_of(engine, &key, &message, output, cuts);
    compare_bytes(&values, &computed, &specified)
}

/// The source's stream with these cuts.
pub(super) fn stream_of<E: Engine>(
    engine: E,
    key: &[Byte<E>],
    message: &[Byte<E>],
    output: usize,
    cuts: &[usize],
) -> Vec<Byte<E>> {
    let mut stream = Stream::new(engine, key, output);
    let mut start = 0;
    for cut in cuts.iter().copied().filter(|cut| *cut <= message.len()) {
        stream.update(&message[start..cut]);
        start = cut;
    }
    stream.update(&message[start..]);
    stream.finish()[..output].to_vec()
}

fn all_hprime() -> SourceVerdict {
    let every = (4..=1024).map(|output| hprime_of(of_source, &[72], output));
    let parts: [&[usize]; 5] = [&[], &[64, 4, 4], &[1, 0, 127], &[1024], &[1000, 100]];
    let sampled = parts.into_iter().flat_map(|parts| {
        [4, 32, 64, 65, 128, 1024].map(|output| hprime_of(of_source, parts, output))
    });
    SourceVerdict::all(every.chain(sampled))
}

/// H′: the source's, or one with a bug.
pub(super) type HPrime =
    for<'a> fn(UninterpretedEngine<'a>, &[&[ValueByte<'a>]], &mut [ValueByte<'a>]);

/// The source's H′.
pub(super) fn of_source<'a>(
    engine: UninterpretedEngine<'a>,
    parts: &[&[ValueByte<'a>]],
    out: &mut [ValueByte<'a>],
) {
    hprime(engine, parts, out);
}

/// H′ of parts of these lengths, against the specification.
pub(super) fn hprime_of(compute: HPrime, parts: &[usize], output: usize) -> SourceVerdict {
    let values = Values::default();
    let parts: Vec<Vec<ValueByte<'_>>> = parts
        .iter()
        .map(|length| values.bytes("part", *length))
        .collect();
    let specified = modes::hprime(&mut &values, &UninterpretedF, &parts.concat(), output);
    let engine = UninterpretedEngine {
        values: &values,
        before: 0,
        bug: Bug::None,
    };
    let mut computed = vec![Value::byte(&values, 0); output];
    let parts: Vec<&[ValueByte<'_>]> = parts.iter().map(Vec::as_slice).collect();
    compute(engine, &parts, &mut computed);
    compare_bytes(&values, &computed, &specified)
}
