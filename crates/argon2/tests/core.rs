//! The crate without the feature `std`. `scripts/test-argon2` runs these tests without it, and the
//! workspace's run with it.

use sealstone_argon2::blake2b::Blake2b;
use sealstone_argon2::{Argon2, Block, Params, PhcString, Variant, ZERO_BLOCK};
use sealstone_testing::{hex, rfc7693, rfc9106};

/// The initial content of the memory does not matter. Afterwards the used part of it is wiped.
#[test]
fn rfc_9106_in_memory_of_the_caller() {
    let mut dirty: Block = ZERO_BLOCK;
    dirty.iter_mut().for_each(|line| line.0 = [0x5555; 8]);
    for (variant, expected) in Variant::ALL.into_iter().zip(rfc9106::TAGS) {
        let argon2 = Argon2::new(Params::new(32, 3, 4).unwrap().with_variant(variant))
            .secret(&[3; 8])
            .associated_data(&[4; 12]);
        let (mut memory, mut tag) = ([dirty; 33], [0; 32]);
        argon2
            .hash_with(&[1; 32], &[2; 16], &mut tag, &mut memory)
            .unwrap();
        assert_eq!(hex(&tag), expected, "{variant:?}");
        assert_eq!((memory[31], memory[32]), (ZERO_BLOCK, dirty));
        assert!(memory[..32].iter().all(|block| *block == ZERO_BLOCK));
    }
}

#[test]
fn rfc_7693_abc() {
    let digest = Blake2b::new(64).chain(b"abc").finish();
    assert_eq!(hex(digest.as_ref()), rfc7693::ABC);
}

/// The parameters of RFC 9106's example, as a PHC string.
#[test]
fn phc_strings_are_read() {
    let text = "$argon2id$v=19$m=32,t=3,p=4$AgICAgICAgICAgICAgICAg\
                $DWQN9Y14dmwIwDejSotTydAe8EUtdbZetSUg6WsB5lk";
    let phc: PhcString = text.parse().unwrap();
    assert_eq!(phc.to_string(), text);
}
