//! The specifications against published vectors. Those of Skein are in `tests/skein.rs`.

use super::Strings;
use super::blake2b::{F, hash, hprime};
use crate::source::counterexample::hex;
use sealstone_prover::algebra::Numbers;

/// RFC 7693, appendix A.
#[test]
fn blake2b_of_abc() {
    let expected = "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1\
                    7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923";
    assert_eq!(hex(&hash(&mut Numbers, &F, &[], b"abc", 64)), expected);
}

/// RFC 7693, appendix E: a hash of hashes of many lengths, with and without a key.
#[test]
fn blake2b_self_test() {
    let sequence = |length: usize, seed: u32| -> Vec<u8> {
        let mut a = 0xDEAD_4BAD_u32.wrapping_mul(seed);
        let mut b = 1_u32;
        let bytes = (0..length).map(|_| {
            let sum = a.wrapping_add(b);
            (a, b) = (b, sum);
            (sum >> 24) as u8
        });
        bytes.collect()
    };
    let mut all = Vec::new();
    for output in [20, 32, 48, 64] {
        for length in [0, 3, 128, 129, 255, 1024] {
            let message = sequence(length, length as u32);
            all.extend(hash(&mut Numbers, &F, &[], &message, output));
            all.extend(hash(
                &mut Numbers,
                &F,
                &sequence(output, output as u32),
                &message,
                output,
            ));
        }
    }
    let expected = "c23a7800d98123bd10f506c61e29da5603d763b8bbad2e737f5e765a7bccd475";
    assert_eq!(hex(&hash(&mut Numbers, &F, &[], &all, 32)), expected);
}

/// RFC 9106, section 5.1: block 0 of the memory of Argon2d after pass 0 is H′ of the pre-hashing
/// digest and two numbers.
#[test]
fn hprime_of_the_first_block() {
    let digest = "b8819791a0359660bb7709c85fa48f04d5d82c05c5f215ccdb885491717cf757\
                  082c28b951be381410b5fc2eb7274033b9fdc7ae672bcaac5d179097a4af3109";
    let byte = |i: usize| u8::from_str_radix(&digest[2 * i..][..2], 16).expect("hexadecimal");
    let mut input: Vec<u8> = (0..64).map(byte).collect();
    input.extend([0; 8]);
    let block = hprime(&mut Numbers, &F, &input, 1024);
    let words = Numbers.words(&block);
    let expected = [
        0xdb2f_ea6b_2c6f_5c8a,
        0x7194_13be_00f8_2634,
        0xa1e3_f6dd_42aa_25cc,
        0x3ea8_efd4_d55a_c0d1,
    ];
    assert_eq!(words[..4], expected);
}
