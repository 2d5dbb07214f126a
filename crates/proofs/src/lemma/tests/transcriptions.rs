//! RFC 9106, section 3.4.2, is transcribed three times, because each use needs other words.
//! The lemmas need integers for solvers (`lemma/rfc9106.rs`). The proofs of machine code need words
//! modulo 2^64 (`spec/argon2.rs`). The tests of the kernels need a list of blocks that a person can
//! check (`sealstone_testing::rfc9106`). All three must name the same block.

use crate::lemma::{Case, SEGMENTS, rfc9106};
use crate::spec::argon2;
use sealstone_lanes::Portable;
use sealstone_prover::algebra::Numbers;
use sealstone_prover::term::Random;
use sealstone_testing::rfc9106 as listed;

/// Returns the lane and the column of the reference block.
type Transcription = fn(&Case<u64>) -> (u64, u64);

fn of_tests(case: &Case<u64>) -> (u64, u64) {
    let argon2 = listed::Argon2 {
        p: case.lanes as usize,
        ..Default::default()
    };
    let pass = usize::from(!case.first_pass);
    let (lane, index) = (case.lane as usize, case.index as usize);
    let columns = 4 * case.length as usize;
    let (l, z) = argon2.reference([pass, case.slice, lane, index], columns, case.word);
    (l as u64, z as u64)
}

fn of_lemmas(case: &Case<u64>) -> (u64, u64) {
    rfc9106::reference(Portable, case)
}

fn of_machine_code(case: &Case<u64>) -> (u64, u64) {
    let slice = case.slice as u64;
    let (oldest, finished) = match case.first_pass {
        true => (0, slice * case.length),
        false => ((slice + 1) % 4, 3 * case.length),
    };
    let (first_lane, choice) = match (case.first_pass, slice) {
        (true, 0) => (case.lane, 1),
        _ => (0, case.lanes),
    };
    let segment = argon2::Segment {
        lane: case.lane,
        length: case.length,
        oldest,
        finished,
        first_lane,
        choice,
    };
    let place = argon2::reference(&mut Numbers, &segment, &case.index, &case.word);
    let (slice, block) = (place[0], place[1]);
    let column = slice * case.length + block % case.length;
    (block / case.length, column)
}

/// All positions in small memories, each with several pseudo-random words.
fn cases() -> Vec<Case<u64>> {
    let mut random = Random::new(5);
    let mut cases = Vec::new();
    for (first_pass, slice) in SEGMENTS {
        let first = if (first_pass, slice) == (true, 0) {
            2
        } else {
            0
        };
        for (lanes, length) in (1..=4).flat_map(|lanes| (2..=6).map(move |length| (lanes, length)))
        {
            for (lane, index) in (0..lanes).flat_map(|i| (first..length).map(move |j| (i, j))) {
                let words = [
                    0,
                    u64::MAX,
                    random.number(),
                    random.number(),
                    random.number(),
                ];
                cases.extend(words.map(|word| Case {
                    first_pass,
                    slice,
                    lanes,
                    length,
                    lane,
                    index,
                    word,
                }));
            }
        }
    }
    cases
}

/// The first case in which the transcriptions give different blocks.
fn difference(one: Transcription, other: Transcription) -> Option<Case<u64>> {
    cases().into_iter().find(|case| one(case) != other(case))
}

#[test]
fn the_transcriptions_name_the_same_block() {
    for other in [of_lemmas, of_machine_code] {
        let difference = difference(of_tests, other);
        assert!(difference.is_none(), "{difference:?}");
    }
}

#[test]
fn planted_transcriptions_differ() {
    let planted: [Transcription; 4] = [
        |case| {
            of_lemmas(&Case {
                index: case.index + 1,
                ..*case
            })
        },
        |case| {
            of_lemmas(&Case {
                lanes: case.lanes + 1,
                ..*case
            })
        },
        |case| {
            of_machine_code(&Case {
                slice: (case.slice + 1) % 4,
                ..*case
            })
        },
        |case| {
            of_machine_code(&Case {
                word: case.word ^ 1 << 31,
                ..*case
            })
        },
    ];
    for wrong in planted {
        assert!(difference(of_tests, wrong).is_some());
    }
}
