//! KDF, PBKDF, PRNG and stream cipher, each composed from the functions of the specification.

use std::panic::{AssertUnwindSafe, catch_unwind};

use sealstone_lanes::Portable;
use sealstone_skein::{
    Mac, Parameters, Prng, Skein512, StreamCipher, Type, Ubi, derive_key, derive_key_from_password,
};
use sealstone_testing::skein as spec;

const KEY: &[u8] =
    b"a key that is longer than sixty-four bytes, so that it takes two blocks of UBI";

fn zero_block() -> Vec<u8> {
    vec![0; 64]
}

#[test]
fn a_derived_key_is_a_keyed_hash_of_nothing() {
    let skein = spec::Skein {
        block: 64,
        output_bits: 800,
        key: KEY,
        arguments: vec![(spec::KDF, b"name")],
        tree: [0; 3],
    };
    let mut key = [0; 100];
    derive_key::<8>(KEY, b"name", &mut key);
    assert_eq!(key[..], skein.hash(b"", 0));
}

#[test]
fn a_password_key_is_a_narrow_tree_over_repeated_salt() {
    let skein = spec::Skein {
        block: 32,
        output_bits: 256,
        key: b"password",
        arguments: vec![],
        tree: [1, 1, 255],
    };
    for repetitions in [1, 2, 1000] {
        let salt = b"a salt of 21 bytes...".repeat(repetitions);
        let mut key = [0; 32];
        derive_key_from_password::<4>(
            b"password",
            b"a salt of 21 bytes...",
            repetitions as u64,
            &mut key,
        );
        assert_eq!(
            key[..],
            skein.hash(&salt, 8 * salt.len()),
            "{repetitions} repetitions"
        );
    }
}

/// Section 4.9, literally.
#[test]
fn prng() {
    let hash = spec::Skein {
        block: 64,
        output_bits: 512,
        ..Default::default()
    };
    let reseed =
        |state: &[u8], seed: &[u8]| hash.hash(&[state, seed].concat(), 8 * (64 + seed.len()));
    let output = |state: &[u8], bytes: usize| -> Vec<u8> {
        let blocks = (0..bytes.div_ceil(64) as u64)
            .flat_map(|i| spec::ubi(state, &i.to_le_bytes(), 64, spec::OUT << 120));
        blocks.take(bytes).collect()
    };

    let mut state = reseed(&zero_block(), b"seed");
    let mut prng = Prng::<8>::new(b"seed");
    for len in [1, 64, 0, 1000] {
        let expected = output(&state, 64 + len);
        let mut bytes = vec![0xff; len];
        prng.fill(&mut bytes);
        assert_eq!(bytes, expected[64..]);
        state = expected[..64].to_vec();
    }
    state = reseed(&state, b"more");
    prng.reseed(b"more");
    let mut bytes = [0; 10];
    prng.fill(&mut bytes);
    assert_eq!(bytes[..], output(&state, 74)[64..]);
}

/// Computed by pyskein 1.0: `StreamCipher(bytes(range(32)), nonce=b"nonce").keystream(80)`.
const PYSKEIN_STREAM: &str = "742138f772e2bb2890d5bb9ec3642799308c25d843f6bae2352a2fa5f4430dc860956678ccb1981eee6d41fc53b2ece9c20571bd7cbb60b36936213c99a65b72d18a56734ff563ef7694bbc335071874";

#[test]
fn stream_cipher() {
    let key: Vec<u8> = (0..32).collect();
    let mut stream = [0; 80];
    StreamCipher::<8>::new(&key, b"nonce").apply(&mut stream);
    assert_eq!(
        stream
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>(),
        PYSKEIN_STREAM
    );

    let mut parts = [0xff; 80];
    let mut cipher = StreamCipher::<8>::new(&key, b"nonce");
    cipher.seek(13);
    cipher.apply(&mut parts[13..64]);
    cipher.apply(&mut parts[64..]);
    cipher.seek(0);
    cipher.apply(&mut parts[..13]);
    assert!(
        parts
            .iter()
            .zip(stream)
            .all(|(part, byte)| part ^ byte == 0xff)
    );
}

#[test]
fn the_last_bytes_of_a_key_stream() {
    let key: Vec<u8> = (0..32).collect();
    let start = spec::Skein {
        block: 64,
        output_bits: u64::MAX,
        key: &key,
        arguments: vec![(spec::NON, b"nonce")],
        tree: [0; 3],
    };
    let last = spec::ubi(&start.start(), b"", 0, spec::MSG << 120);
    let counter = (1_u64 << 55) - 1;
    let block = spec::ubi(&last, &counter.to_le_bytes(), 64, spec::OUT << 120);

    let mut stream = [0; 63];
    let mut cipher = StreamCipher::<8>::new(&key, b"nonce");
    cipher.seek((1 << 61) - 64);
    cipher.apply(&mut stream);
    assert_eq!(stream[..], block[..63]);
    // The length in the configuration is 2^64 - 1 bits: the byte after these has one undefined bit.
    assert_panics("1 bytes of 0 left", || cipher.apply(&mut [0]));
    assert_panics("byte 2305843009213693952 of 2305843009213693951", || {
        StreamCipher::<8>::new(&key, b"nonce").seek(1 << 61);
    });
}

#[test]
fn inputs_that_would_be_no_secret_are_refused() {
    assert_panics("a MAC without a key", || drop(Mac::<8>::new(b"", 256)));
    assert_panics("a tag of no bits", || drop(Mac::<8>::new(KEY, 0)));
    assert_panics("a derived key without a master key", || {
        derive_key::<8>(b"", b"name", &mut [0; 32]);
    });
    assert_panics("a derived key without a name", || {
        derive_key::<8>(KEY, b"", &mut [0; 32]);
    });
    assert_panics("a derived key without a password or salt", || {
        derive_key_from_password::<8>(b"password", b"", 1, &mut [0; 32]);
    });
    assert_panics("a salt that is not used", || {
        derive_key_from_password::<8>(b"password", b"salt", 0, &mut [0; 32]);
    });
}

#[test]
fn bits_of_a_last_byte_are_counted() {
    for bits in [0, 9] {
        let message = format!("{bits} bits of a byte");
        let new = || Ubi::<u64, 8>::new(Portable, [0; 8], Type::Message);
        assert_panics(&message, || {
            new().finish_bits(bits);
        });
        assert_panics(&message, || drop(Skein512::new().finish_bits(0, bits)));
    }
}

/// Proofs cover one part in any state. A count of parts, of any width up to 16 bits, would show
/// here.
#[test]
fn seventy_thousand_parts() {
    let message: Vec<u8> = (0..70_000_u32).map(|i| (i % 251) as u8).collect();
    let mut hash = Skein512::new();
    message.chunks(1).for_each(|part| hash.update(part));
    assert_eq!(hash.finish(), by_specification(&message)[..]);
}

#[test]
fn every_cut_into_two_parts() {
    let message: Vec<u8> = (0..200).collect();
    let expected = by_specification(&message);
    for cut in 0..=message.len() {
        let mut hash = Skein512::new();
        hash.update(&message[..cut]);
        hash.update(&message[cut..]);
        assert_eq!(hash.finish(), expected[..], "after {cut} bytes");
    }
}

/// Skein-512-512 of the message alone.
fn by_specification(message: &[u8]) -> Vec<u8> {
    let skein = spec::Skein {
        block: 64,
        output_bits: 512,
        key: &[],
        arguments: vec![],
        tree: [0; 3],
    };
    skein.hash(message, 8 * message.len())
}

#[track_caller]
fn assert_panics(expected: &str, work: impl FnOnce()) {
    let panic = catch_unwind(AssertUnwindSafe(work)).expect_err(expected);
    let message = match panic.downcast::<String>() {
        Ok(message) => *message,
        Err(panic) => panic.downcast::<&str>().unwrap().to_string(),
    };
    assert_eq!(message, expected);
}

#[test]
fn output_ends_at_its_end() {
    let parameters = Parameters::new().output_bits(8 * 64 + 1);
    let output = || Skein512::with(&parameters).output();
    let mut bytes = [0; 66];
    assert_panics("66 bytes wanted of 65 left", || output().read(&mut bytes));
    // The others are not looked at before their turn.
    let mut output = output();
    let rest = output.xor_into_first(&mut bytes[..]);
    assert_eq!(rest.len(), 2);
    assert_panics("2 bytes wanted of 1 left", || {
        let _ = output.xor_into_first(rest);
    });
    assert_eq!(bytes[64..], [0; 2], "nothing was added beyond the end");
}

#[test]
fn mac_refuses_wrong_and_short_tags() {
    let mac = || Mac::<16>::new(KEY, 128).chain(b"message");
    let mut tag = mac().finish();
    assert!(mac().verify(&tag));
    assert!(!mac().verify(&tag[..15]));
    tag[0] ^= 1;
    assert!(!mac().verify(&tag));
}
