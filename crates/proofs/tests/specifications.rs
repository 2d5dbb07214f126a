//! The specifications on numbers, against published answers. Those of Skein and Argon2 are in
//! `skein.rs` and `argon2.rs`.

use sealstone_proofs::spec::{Numbers, blake2b, chacha20, sha256};

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pairs = digits.chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// FIPS 180-4 examples, as published by NIST: one block, two blocks, no block of message, three
/// blocks, a million bytes.
#[test]
fn sha256_of_the_standard() {
    let million = vec![b'a'; 1_000_000];
    let cases: [(&[u8], &str); 5] = [
        (
            b"abc",
            "ba7816bf 8f01cfea 414140de 5dae2223 b00361a3 96177a9c b410ff61 f20015ad",
        ),
        (
            b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61 d20638b8 e5c02693 0c3e6039 a33ce459 64ff2167 f6ecedd4 19db06c1",
        ),
        (
            b"",
            "e3b0c442 98fc1c14 9afbf4c8 996fb924 27ae41e4 649b934c a495991b 7852b855",
        ),
        (
            b"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
            "cf5b16a7 78af8380 036ce59e 7b049237 0b249b11 e8f07a51 afac4503 7afee9d1",
        ),
        (
            &million,
            "cdc76e5c 9914fb92 81a1c7e2 84d73e67 f1809a48 a497200e 046d39cc c7112cd0",
        ),
    ];
    for (message, digest) in cases {
        assert_eq!(sha256::hash(message).to_vec(), bytes(digest));
    }
}

/// RFC 8439, section 2.3.2 and appendix A.1.
#[test]
fn chacha20_of_the_rfc() {
    let zeros = [0; 32];
    let ascending: [u8; 32] = std::array::from_fn(|i| i as u8);
    let [mut last_one, mut second_ff] = [zeros; 2];
    (last_one[31], second_ff[1]) = (1, 0xff);
    let (nonce_2_3_2, nonce_2) = (
        [0, 0, 0, 9, 0, 0, 0, 0x4a, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2],
    );
    let cases = [
        (
            ascending,
            1,
            nonce_2_3_2,
            "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4ed2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e",
        ),
        (
            zeros,
            0,
            [0; 12],
            "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586",
        ),
        (
            zeros,
            1,
            [0; 12],
            "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f",
        ),
        (
            last_one,
            1,
            [0; 12],
            "3aeb5224ecf849929b9d828db1ced4dd832025e8018b8160b82284f3c949aa5a8eca00bbb4a73bdad192b5c42f73f2fd4e273644c8b36125a64addeb006c13a0",
        ),
        (
            second_ff,
            2,
            [0; 12],
            "72d54dfbf12ec44b362692df94137f328fea8da73990265ec1bbbea1ae9af0ca13b25aa26cb4a648cb9b9d1be65b2c0924a66c54d545ec1b7374f4872e99f096",
        ),
        (
            zeros,
            0,
            nonce_2,
            "c2c64d378cd536374ae204b9ef933fcd1a8b2288b3dfa49672ab765b54ee27c78a970e0e955c14f3a88e741b97c286f75f8fc299e8148362fa198a39531bed6d",
        ),
    ];
    for (key, counter, nonce, expected) in cases {
        let little = |bytes: &[u8]| -> Vec<u32> {
            let words = bytes.as_chunks::<4>().0.iter();
            words.map(|word| u32::from_le_bytes(*word)).collect()
        };
        let mut state = little(b"expand 32-byte k");
        state.extend(little(&key));
        state.push(counter);
        state.extend(little(&nonce));
        let stream = chacha20::block(&mut Numbers, &state);
        let stream: Vec<u8> = stream.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(stream, bytes(expected));
    }
}

/// RFC 7693, appendix A.
#[test]
fn blake2b_of_the_rfc() {
    let expected = "BA 80 A5 3F 98 1C 4D 0D 6A 27 97 B6 9F 12 F6 E9 4C 21 2F 14 68 5A C4 B7 4B 12 BB 6F DB FF A2 D1
        7D 87 C5 39 2A AB 79 2D C2 52 D5 DE 45 33 CC 95 18 D3 8A A8 DB F1 92 5A B9 23 86 ED D4 00 99 23";
    assert_eq!(blake2b::hash(b"", b"abc", 64), bytes(expected));
}

/// RFC 7693, appendix E: a hash over the hashes of many lengths of input, output and key.
#[test]
fn blake2b_self_test_of_the_rfc() {
    let sequence = |length: usize, seed: u32| -> Vec<u8> {
        let (mut a, mut b) = (0xdead_4bad_u32.wrapping_mul(seed), 1_u32);
        (0..length)
            .map(|_| {
                let sum = a.wrapping_add(b);
                (a, b) = (b, sum);
                (sum >> 24) as u8
            })
            .collect()
    };
    let mut all = Vec::new();
    for output in [20, 32, 48, 64] {
        for input in [0, 3, 128, 129, 255, 1024] {
            let message = sequence(input, input as u32);
            all.extend(blake2b::hash(b"", &message, output));
            all.extend(blake2b::hash(
                &sequence(output, output as u32),
                &message,
                output,
            ));
        }
    }
    let expected = "C2 3A 78 00 D9 81 23 BD 10 F5 06 C6 1E 29 DA 56 03 D7 63 B8 BB AD 2E 73 7F 5E 76 5A 7B CC D4 75";
    assert_eq!(blake2b::hash(b"", &all, 32), bytes(expected));
}
