//! The test vectors of RFC 9106 and RFC 7693, for the crate and for the specification in `spec`.

mod published;
mod spec;

use published::{ABC, TAGS, hex};
use sealstone_argon2::blake2b::Blake2b;
use sealstone_argon2::{Arena, Argon2, Cpu, Params};

#[test]
fn rfc_9106_on_every_instruction_set_and_any_number_of_threads() {
    for cpu in Cpu::available() {
        for threads in 1..=5 {
            for (variant, expected) in TAGS {
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
    for (variant, expected) in TAGS {
        let argon2 = spec::Argon2 {
            p_password: vec![1; 32],
            s_salt: vec![2; 16],
            k_secret: vec![3; 8],
            x_data: vec![4; 12],
            p: 4,
            t_tag: 32,
            m: 32,
            t: 3,
            v: 0x13,
            y: variant as usize,
        };
        assert_eq!(hex(&argon2.tag()), expected, "{variant:?}");
    }
}

/// RFC 7693, appendix E: the hash of the hashes of many lengths, with a key and without.
const SELF_TEST: &str = "c23a7800d98123bd10f506c61e29da5603d763b8bbad2e737f5e765a7bccd475";

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
        assert_eq!(hex(&hash(&[], b"abc", 64)), ABC, "{cpu:?}");
        assert_eq!(hex(&self_test(hash)), SELF_TEST, "{cpu:?}");
    }
    assert_eq!(hex(&Blake2b::hash(b"abc")), ABC);
}

#[test]
fn rfc_7693_by_the_specification() {
    assert_eq!(hex(&spec::blake2b(&[], b"abc", 64)), ABC);
    assert_eq!(hex(&self_test(spec::blake2b)), SELF_TEST);
}

fn self_test(hash: impl Fn(&[u8], &[u8], usize) -> Vec<u8>) -> Vec<u8> {
    let mut all = Vec::new();
    for outlen in [20, 32, 48, 64] {
        for inlen in [0, 3, 128, 129, 255, 1024] {
            let message = sequence(inlen, inlen as u32);
            all.extend(hash(&[], &message, outlen));
            all.extend(hash(&sequence(outlen, outlen as u32), &message, outlen));
        }
    }
    hash(&[], &all, 32)
}

/// `selftest_seq` of appendix E.
fn sequence(len: usize, seed: u32) -> Vec<u8> {
    let (mut a, mut b) = (0xDEAD4BAD_u32.wrapping_mul(seed), 1_u32);
    let next = |_| {
        let t = a.wrapping_add(b);
        (a, b) = (b, t);
        (t >> 24) as u8
    };
    (0..len).map(next).collect()
}
