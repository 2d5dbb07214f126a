//! Skein with bugs: before the message, in it, in its bits, and in the output.

use super::super::counterexample::SourceVerdict;
use super::super::modes::skein::{self as modes, Arguments, Bits, kind};
use super::super::skein::{Any, Before, Whole, hash_message, order_of, output, start_of};
use super::super::value::{Value, ValueByte, Values};
use super::{Bug, Planted, refuted, reproduces, to_bytes, with};
use crate::source::Counterexample;
use sealstone_lanes::{Portable, Scalar, Word};
use sealstone_prover::algebra::Numbers;
use sealstone_skein::threefish::Block;
use sealstone_skein::{Type, output_block, start_strings};

/// Words of Skein-256.
const N: usize = 4;

/// The specified chaining value after the first bits of the message.
fn specified(counterexample: &Counterexample, count: usize) -> Vec<u8> {
    let message = Bits {
        bytes: &counterexample.bytes("message")[..count.div_ceil(8)],
        count,
    };
    let start = counterexample.words::<N>("start");
    let value = modes::ubi(&mut Numbers, &start, message, kind::MESSAGE << 56, 0);
    to_bytes(&value)
}

/// A message of `count` bits with each of the bugs.
fn message_with(bugs: &[Bug], count: usize, cuts: &[usize]) {
    let values = Values::default();
    let any = Any::<N>::of(&values, 100);
    let verdict = || any.message::<Planted<Value<'_>>>(count, count, cuts);
    assert!(verdict().holds());
    for bug in bugs {
        with(*bug, || {
            let refuted = refuted(verdict());
            let computed = hash_message::<Planted<u64>, N>(
                Portable,
                refuted.words("start").map(Planted::of),
                &refuted.bytes("message")[..count.div_ceil(8)],
                count,
                cuts,
            );
            let computed = computed.map(|word| word.word);
            reproduces(&refuted, &to_bytes(&computed), &specified(&refuted, count));
        });
    }
}

#[test]
fn a_message_with_a_wrong_position_or_flag() {
    message_with(&[Bug::Position, Bug::First, Bug::Last], 8 * 65, &[32, 33]);
    message_with(&[Bug::First, Bug::Last], 0, &[]);
}

#[test]
fn a_message_with_swapped_bytes_or_a_wrong_cipher() {
    message_with(
        &[Bug::Bytes, Bug::Forward, Bug::Constant],
        8 * 65,
        &[32, 33],
    );
    message_with(&[Bug::Bytes, Bug::Forward, Bug::Rotation], 8 * 3, &[]);
}

#[test]
fn a_message_in_bits_with_a_wrong_last_byte_or_flag() {
    message_with(&[Bug::BitPad, Bug::Padding], 3, &[]);
    message_with(&[Bug::BitPad, Bug::Padding], 263, &[]);
}

/// UBI over a message, compared with the specification of a message that is a bit shorter.
#[test]
fn another_message() {
    let values = Values::default();
    let any = Any::<N>::of(&values, 65);
    let of = |specified| any.message::<Value<'_>>(specified, 8 * 65, &[32, 33]);
    assert!(of(8 * 65).holds());
    refuted(of(8 * 65 - 1));
}

/// A second implementation of UBI over parts, which can have bugs where parts are joined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joins {
    Right,
    /// A full block is compressed immediately, although it may be the last one.
    Early,
    /// A part that does not fill the block restarts it.
    Anew,
}

fn joined<S: Scalar>(
    cpu: S::Cpu,
    start: [S; N],
    message: &[S::Byte],
    cuts: &[usize],
    joins: Joins,
) -> [S; N] {
    let zero = S::byte(cpu, 0);
    let step = |chain: [S; N], waiting: &[S::Byte], end: usize, is_last: bool| {
        let mut bytes = waiting.to_vec();
        bytes.resize(8 * N, zero);
        let block: [S; N] = core::array::from_fn(|i| S::from_le_bytes(bytes.as_chunks().0[i]));
        let is_first = end <= 8 * N;
        let flags = u64::from(is_first) << 62 | u64::from(is_last) << 63;
        let tweak = [end as u64, kind::MESSAGE << 56 | flags].map(|word| S::splat(cpu, word));
        let cipher = block.encrypt(cpu, &chain, &tweak);
        core::array::from_fn(|i| Word::xor(cipher[i], block[i]))
    };
    let (mut chain, mut waiting, mut end) = (start, Vec::new(), 0);
    let mut from = 0;
    for cut in cuts.iter().copied().chain([message.len()]) {
        let part = &message[from..cut];
        from = cut;
        if joins == Joins::Anew && waiting.len() + part.len() < 8 * N {
            let both = waiting.len() + part.len();
            waiting.splice(..part.len().min(waiting.len()), part.iter().copied());
            waiting.resize(both, zero);
        } else {
            waiting.extend_from_slice(part);
        }
        let most = if joins == Joins::Early {
            8 * N - 1
        } else {
            8 * N
        };
        while waiting.len() > most {
            let rest = waiting.split_off(8 * N);
            end += 8 * N;
            chain = step(chain, &waiting, end, false);
            waiting = rest;
        }
    }
    step(chain, &waiting, end + waiting.len(), true)
}

#[test]
fn parts_that_are_joined_wrongly() {
    let of = |joins: Joins, length: usize, cuts: &[usize]| {
        let values = Values::default();
        let any = Any::<N>::of(&values, length);
        let computed = any.computed(|start, message: &[ValueByte<'_>]| {
            joined(&values, start, message, cuts, joins)
        });
        any.compare(computed, 8 * length)
    };
    for (joins, length, cuts) in [(Joins::Early, 64, [32]), (Joins::Anew, 20, [7])] {
        assert!(of(Joins::Right, length, &cuts).holds());
        let refuted = refuted(of(joins, length, &cuts));
        let (start, message) = (refuted.words("start"), refuted.bytes("message"));
        let computed = joined::<u64>(Portable, start, message, &cuts, joins);
        reproduces(
            &refuted,
            &to_bytes(&computed),
            &specified(&refuted, 8 * length),
        );
    }
}

/// The result of the source on words `S` for a counterexample of a hash with a key, with the key or
/// without.
fn start_on<S: Scalar<Byte = u8, Cpu = Portable>>(
    counterexample: &Counterexample,
    with_key: bool,
    number: impl Fn(S) -> u64,
) where
    [S; N]: Block<S>,
{
    let key = counterexample.bytes("key").to_vec();
    let arguments = Arguments {
        key: key.clone(),
        ..Arguments::of_output(256)
    };
    let specified = modes::start(&mut Numbers, N, &arguments);
    let mut strings: [Vec<u8>; 5] = Default::default();
    if with_key {
        strings[0] = key;
    }
    let computed: [S; N] = start_of(Portable, 256, &strings, None);
    let computed = computed.map(number);
    reproduces(counterexample, &to_bytes(&computed), &to_bytes(&specified));
}

#[test]
fn a_start_with_a_wrong_configuration_or_type() {
    let values = Values::default();
    let key = Before::any(&values, 256, [40, 0, 0, 0, 0], None);
    let verdict = || key.start::<Planted<Value<'_>>, N>(&values, &key);
    assert!(verdict().holds());
    for bug in [Bug::Configuration, Bug::Kind] {
        with(bug, || {
            start_on::<Planted<u64>>(&refuted(verdict()), true, |word| word.word);
        });
    }
}

#[test]
fn a_start_without_the_key() {
    let values = Values::default();
    let key = Before::any(&values, 256, [40, 0, 0, 0, 0], None);
    let none = Before::any(&values, 256, [0; 5], None);
    let refuted = refuted(none.start::<Value<'_>, N>(&values, &key));
    start_on::<u64>(&refuted, false, |word| word);
}

#[test]
fn output_with_a_wrong_counter() {
    with(Bug::Counter, || {
        let of = |i| output::<Planted<Value<'_>>, N>(&Values::default(), i);
        assert!(of(1).holds());
        let refuted = refuted(of(1 << 40));
        let chain = refuted.words::<N>("chain");
        let computed = output_block(Portable, &chain.map(Planted::of), 1 << 40);
        let specified = modes::output(&mut Numbers, &chain, 1 << 40);
        reproduces(
            &refuted,
            &to_bytes(&computed.map(|word: Planted<u64>| word.word)),
            &to_bytes(&specified),
        );
    });
}

/// Strings in the right order, changed by `plant`.
fn strings_with(plant: impl Fn(&mut Vec<(Type, Value<'_>)>)) -> SourceVerdict {
    order_of(&Values::default(), 31, |key, configuration, arguments| {
        let mut strings = start_strings(key, configuration, arguments).collect();
        plant(&mut strings);
        strings
    })
}

#[test]
fn arguments_in_a_wrong_order_or_of_a_wrong_type() {
    assert!(strings_with(|_| ()).holds());
    refuted(strings_with(|strings| strings.swap(0, 1)));
    refuted(strings_with(|strings| strings.swap(4, 5)));
    refuted(strings_with(|strings| {
        strings.pop();
    }));
    refuted(strings_with(|strings| strings[2].0 = Type::PublicKey));
    refuted(strings_with(|strings| strings[5].1 = strings[4].1));
}

#[test]
fn a_whole_hash_with_a_bug_in_one_of_its_calls() {
    let values = Values::default();
    let whole = Whole::<N>::of(&values);
    let case = [5, 261, 300];
    let planted = || whole.hash::<Planted<Value<'_>>>(case, case);
    assert!(planted().holds());
    for bug in [
        Bug::First,
        Bug::Last,
        Bug::BitPad,
        Bug::Padding,
        Bug::Configuration,
    ] {
        with(bug, || refuted(planted()));
    }
    for other in [[0, 261, 300], [5, 260, 300], [5, 261, 299]] {
        refuted(whole.hash::<Value<'_>>(case, other));
    }
}
