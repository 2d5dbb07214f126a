//! What there is without the feature `std`: `scripts/test-argon2` runs these tests so, and the workspace's run has them with it.

use sealstone_argon2::blake2b::Blake2b;
use sealstone_argon2::{Argon2, Block, Params, PhcString, Variant, ZERO_BLOCK};

/// RFC 9106, sections 5.1 to 5.3.
const TAGS: [(Variant, &str); 3] = [
    (
        Variant::Argon2d,
        "512b391b6f1162975371d30919734294f868e3be3984f3c1a13a4db9fabe4acb",
    ),
    (
        Variant::Argon2i,
        "c814d9d1dc7f37aa13f0d77f2494bda1c8de6b016dd388d29952a4c4672b6ce8",
    ),
    (
        Variant::Argon2id,
        "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659",
    ),
];

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What was in the memory does not matter, and afterwards it is wiped, but not beyond what is needed.
#[test]
fn rfc_9106_in_memory_of_the_caller() {
    let mut dirty: Block = ZERO_BLOCK;
    dirty.iter_mut().for_each(|line| line.0 = [0x5555; 8]);
    for (variant, expected) in TAGS {
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

/// RFC 7693, appendix A.
#[test]
fn rfc_7693_abc() {
    let digest = Blake2b::new(64).chain(b"abc").finish();
    assert_eq!(
        hex(digest.as_ref()),
        "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1\
         7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923"
    );
}

/// RFC 9106's own parameters in the form of the PHC.
#[test]
fn phc_strings_are_read() {
    let text = "$argon2id$v=19$m=32,t=3,p=4$AgICAgICAgICAgICAgICAg$DWQN9Y14dmwIwDejSotTydAe8EUtdbZetSUg6WsB5lk";
    let phc: PhcString = text.parse().unwrap();
    assert_eq!(phc.to_string(), text);
}
