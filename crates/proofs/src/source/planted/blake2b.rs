//! BLAKE2b and H′ with bugs.

use super::super::blake2b::{self, HPrime, stream_of};
use super::super::modes::blake2b as modes;
use super::super::uninterpreted::{Bug, UninterpretedEngine};
use super::{refuted, reproduces};
use sealstone_argon2::blake2b::{Byte, Engine, Input, LONGEST, Stream};
use sealstone_lanes::{Cpu, Portable, Scalar};
use sealstone_prover::algebra::Numbers;

/// The shipped F on numbers, with a bug in its arguments.
#[derive(Clone, Copy)]
struct Buggy(Bug);

impl Engine for Buggy {
    type Scalar = u64;
    type Count = u128;

    fn count(self) -> u128 {
        0
    }
    fn scalars(self) -> Portable {
        Portable
    }
    fn compress(self, state: &mut [u64; 8], input: &Input<'_, u64>) {
        let Input {
            words,
            mut counter,
            mut last,
        } = *input;
        match self.0 {
            Bug::None => {}
            Bug::Counter => counter = [0; 2],
            Bug::Last => last = 0,
            Bug::State => return,
        }
        let input = Input {
            words,
            counter,
            last,
        };
        Cpu::best().compress(state, &input);
    }
    fn wipe(words: &mut [u64], bytes: &mut [u8]) {
        Cpu::wipe(words, bytes);
    }
}

#[test]
fn a_wrong_counter_no_last_block_or_no_f() {
    for (key, length, output, cuts) in [(0, 200, 64, &[][..]), (7, 100, 20, &[1])] {
        assert!(blake2b::hash(Bug::None, key, length, output, cuts).holds());
        for bug in [Bug::Counter, Bug::Last, Bug::State] {
            let refuted = refuted(blake2b::hash(bug, key, length, output, cuts));
            let (key, message) = (refuted.bytes("key"), refuted.bytes("message"));
            reproduces(
                &refuted,
                &stream_of(Buggy(bug), key, message, output, cuts),
                &modes::hash(&mut Numbers, &modes::F, key, message, output),
            );
        }
    }
}

/// The source's H′, which wipes the last value before it is copied.
fn wiped_too_early<E: Engine>(engine: E, parts: &[&[Byte<E>]], out: &mut [Byte<E>]) {
    let length = (out.len() as u32).to_le_bytes();
    let length = length.map(|byte| E::Scalar::byte(engine.scalars(), byte));
    let mut hash = Stream::new(engine, &[], out.len().min(LONGEST));
    hash.update(&length);
    parts.iter().for_each(|part| hash.update(part));
    let mut value = hash.finish();
    E::wipe(&mut [], &mut value);
    let len = out.len();
    out.copy_from_slice(&value[..len]);
}

#[test]
fn hprime_that_wipes_too_early() {
    assert!(blake2b::hprime_of(blake2b::of_source, &[72], 32).holds());
    let bug: HPrime =
        |engine: UninterpretedEngine<'_>, parts, out| wiped_too_early(engine, parts, out);
    let refuted = refuted(blake2b::hprime_of(bug, &[72], 32));
    let part = refuted.bytes("part");
    let mut computed = [1; 32];
    wiped_too_early(Cpu::best(), &[part], &mut computed);
    let specified = modes::hprime(&mut Numbers, &modes::F, part, 32);
    reproduces(&refuted, &computed, &specified);
}
