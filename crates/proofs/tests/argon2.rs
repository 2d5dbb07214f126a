//! The specifications of G, of the reference block and of BLAKE2b on numbers, against published
//! vectors of Argon2.

use sealstone_proofs::spec::{argon2, blake2b};
use sealstone_prover::algebra::Numbers;
use sealstone_testing::rfc9106::{Argon2, Block, Functions, Place, TAGS};
use sealstone_testing::{pyca, unhex};

/// The specification that the prover compares machine code with.
struct Specified;

impl Functions for Specified {
    fn blake2b(&self, input: &[u8], length: usize) -> Vec<u8> {
        blake2b::hash(b"", input, length)
    }

    fn g(&self, x: &Block, y: &Block) -> Block {
        let words = argon2::compress(&mut Numbers, x, y);
        words.try_into().unwrap()
    }

    fn reference(&self, hash: &Argon2, place: Place, q: usize, word: u64) -> (usize, usize) {
        let [pass, slice, lane, index] = place;
        let length = q / 4;
        // The lane is chosen if other lanes have finished segments. W begins with the oldest
        // remaining segment.
        let (first_lane, choice) = match (pass, slice) {
            (0, 0) => (lane, 1),
            _ => (0, hash.p),
        };
        let (oldest, finished) = match pass {
            0 => (0, slice),
            _ => ((slice + 1) % 4, 3),
        };
        let fields = [lane, length, oldest, finished * length, first_lane, choice];
        let segment = argon2::Segment::of(&fields.map(|field| field as u64));
        let found = argon2::reference(&mut Numbers, &segment, &(index as u64), &word);
        let [slice, block] = [0, 1].map(|i| found[i] as usize);
        (block / length, slice * length + block % length)
    }
}

/// RFC 9106, sections 5.1 to 5.3: 32 KiB, 3 passes, 4 lanes.
#[test]
fn argon2_of_the_rfc() {
    for (variant, tag) in TAGS.into_iter().enumerate() {
        let hash = Argon2::example(variant);
        assert_eq!(hash.tag_of(&Specified), unhex(tag), "variant {variant}");
    }
}

/// The tests of the implementation run the cases of 128 MiB.
#[test]
fn argon2_of_others() {
    for (variant, expected) in [3, 4, 5].into_iter().enumerate() {
        let Some(cases) = pyca::argon2(variant) else {
            continue;
        };
        let small: Vec<_> = cases.iter().filter(|(hash, _)| hash.m <= 1024).collect();
        assert_eq!(small.len(), expected, "every smaller case is executed");
        for (hash, tag) in small {
            assert_eq!(hash.tag_of(&Specified), *tag, "{hash:?}");
        }
    }
}
