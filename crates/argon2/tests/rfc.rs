//! The test vectors of RFC 9106 and RFC 7693, for the crate and for the specifications in
//! `sealstone-testing`.

use sealstone_argon2::blake2b::Blake2b;
use sealstone_argon2::{Arena, Argon2, Cpu, Params, Variant};
use sealstone_testing::{hex, rfc7693, rfc9106};

#[test]
fn rfc_9106_on_every_instruction_set_and_any_number_of_threads() {
    for cpu in Cpu::available() {
        for threads in 1..=5 {
            for (variant, expected) in Variant::ALL.into_iter().zip(rfc9106::TAGS) {
                let params = Params::new(32, 3, 4).unwrap().with_variant(variant);
                let argon2 = Argon2::new(params)
                    .secret(&[3; 8])
                    .associated_data(&[4; 12])
                    .on(cpu)
                    .threads(threads);
                let mut tag = [0; 32];
                argon2
                    .hash(&[1; 32], &[2; 16], &mut tag, &mut Arena::new())
                    .unwrap();
                assert_eq!(hex(&tag), expected, "{variant:?} {cpu:?} {threads} threads");
            }
        }
    }
}

#[test]
fn rfc_9106_by_the_specification() {
    for (variant, expected) in rfc9106::TAGS.into_iter().enumerate() {
        let tag = rfc9106::Argon2::example(variant).tag();
        assert_eq!(hex(&tag), expected, "{variant}");
    }
}

#[test]
fn rfc_7693_on_every_instruction_set() {
    for cpu in Cpu::available() {
        let hash = |key: &[u8], message: &[u8], len| {
            Blake2b::on(cpu, key, len)
                .chain(message)
                .finish()
                .as_ref()
                .to_vec()
        };
        assert_eq!(hex(&hash(&[], b"abc", 64)), rfc7693::ABC, "{cpu:?}");
        assert_eq!(
            hex(&rfc7693::self_test(hash)),
            rfc7693::SELF_TEST,
            "{cpu:?}"
        );
    }
    assert_eq!(hex(&Blake2b::hash(b"abc")), rfc7693::ABC);
}

#[test]
fn rfc_7693_by_the_specification() {
    assert_eq!(hex(&rfc7693::blake2b(&[], b"abc", 64)), rfc7693::ABC);
    let found = rfc7693::self_test(rfc7693::blake2b);
    assert_eq!(hex(&found), rfc7693::SELF_TEST);
}
