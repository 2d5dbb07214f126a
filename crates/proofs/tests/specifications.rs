//! The specifications on numbers, against published answers.

use sealstone_proofs::spec::{Numbers, argon2, blake2b, chacha20, sha256, skein, threefish};

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pairs = digits.chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes
        .as_chunks::<8>()
        .0
        .iter()
        .map(|word| u64::from_le_bytes(*word))
        .collect()
}

fn from_words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// FIPS 180-4 examples, as published by NIST: one block, two blocks, no block of message.
#[test]
fn sha256_of_the_standard() {
    let cases: [(&[u8], &str); 3] = [
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
    ];
    for (message, digest) in cases {
        assert_eq!(sha256::hash(message).to_vec(), bytes(digest));
    }
}

/// RFC 8439, section 2.3.2.
#[test]
fn chacha20_of_the_rfc() {
    let key: Vec<u32> = (0..8)
        .map(|i| u32::from_le_bytes([4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3]))
        .collect();
    let mut state = vec![0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];
    state.extend(key);
    state.extend([1, 0x0900_0000, 0x4a00_0000, 0]);
    let expected: [u32; 16] = [
        0xe4e7_f110,
        0x1559_3bd1,
        0x1fdd_0f50,
        0xc471_20a3,
        0xc7f4_d1c7,
        0x0368_c033,
        0x9aaa_2204,
        0x4e6c_d4c3,
        0x4664_82d2,
        0x09aa_9f07,
        0x05d7_c214,
        0xa202_8bd9,
        0xd19c_12b5,
        0xb94e_16de,
        0xe883_d0cb,
        0x4e3c_50a2,
    ];
    assert_eq!(chacha20::block(&mut Numbers, &state), expected);
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

/// The designers' known-answer tests of Threefish with zeros (`skein_golden_kat_internals.txt`).
#[test]
fn threefish_of_the_designers() {
    let cases = [
        (4, "84da2a1f8beaee947066ae3e3103f1ad536db1f4a1192495116b9f3ce6133fd8"),
        (
            8,
            "b1a2bbc6ef6025bc40eb3822161f36e375d1bb0aee3186fbd19e47c5d479947b7bc2f8586e35f0cff7e7f03084b0b7b1f1ab3961a580a3e97eb41ea14a6d7bbe",
        ),
        (
            16,
            "f05c3d0a3d05b304f785ddc7d1e036015c8aa76e2f217b06c6e1544c0bc1a90df0accb9473c24e0fd54fea68057f43329cb454761d6df5cf7b2e9b3614fbd5a2
             0b2e4760b40603540d82eabc5482c171c832afbe68406bc39500367a592943fa9a5b4a43286ca3c4cf46104b443143d560a4b230488311df4feef7e1dfe8391e",
        ),
    ];
    for (n, expected) in cases {
        let cipher = threefish::encrypt(&mut Numbers, &vec![0; n], &[0; 2], &vec![0; n]);
        assert_eq!(from_words(&cipher), bytes(expected), "{n} words");
        assert_eq!(
            threefish::decrypt(&mut Numbers, &vec![0; n], &[0; 2], &cipher),
            vec![0; n]
        );
    }
}

/// Skein-512-512 of the byte FF (Skein 1.3, appendix C.2), by UBI steps: configuration, message, output.
#[test]
fn skein_of_the_specification() {
    let ubi = |chain: &[u64], kind: u64, data: &[u8]| -> Vec<u64> {
        let place = skein::Place {
            level: 0,
            kind,
            first: true,
            last: true,
        };
        let mut block = data.to_vec();
        block.resize(64, 0);
        skein::step(
            &mut Numbers,
            chain,
            &[data.len() as u64, place.word()],
            &words(&block),
        )
    };
    let mut configuration = b"SHA3\x01\0\0\0".to_vec();
    configuration.extend(512_u64.to_le_bytes());
    configuration.resize(32, 0);
    let chain = ubi(&[0; 8], 4, &configuration);
    let chain = ubi(&chain, skein::MESSAGE, &[0xff]);
    let expected = "71B7BCE6FE6452227B9CED6014249E5BF9A9754C3AD618CCC4E0AAE16B316CC8CA698D864307ED3E80B6EF1570812AC5272DC409B5A012DF2A579102F340617A";
    assert_eq!(from_words(&ubi(&chain, 63, &[0; 8])), bytes(expected));
}

/// RFC 9106, section 5: all of Argon2 around the compression function, with 32 KiB, 3 passes, 4 lanes.
#[test]
fn argon2_of_the_rfc() {
    let tags = [
        "512b391b6f1162975371d30919734294f868e3be3984f3c1a13a4db9fabe4acb",
        "c814d9d1dc7f37aa13f0d77f2494bda1c8de6b016dd388d29952a4c4672b6ce8",
        "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659",
    ];
    for (variant, tag) in tags.into_iter().enumerate() {
        assert_eq!(rfc_example(variant), bytes(tag), "variant {variant}");
    }
}

const LANES: usize = 4;
const COLUMNS: usize = 8;
const SEGMENT: usize = 2;
const PASSES: usize = 3;

type Block = Vec<u64>;

fn rfc_example(variant: usize) -> Vec<u8> {
    let numbers = |numbers: &[usize]| -> Vec<u8> {
        numbers
            .iter()
            .flat_map(|number| (*number as u32).to_le_bytes())
            .collect()
    };
    // Section 3.2, step 1: H_0.
    let mut input = numbers(&[LANES, 32, 32, PASSES, 0x13, variant]);
    for (byte, length) in [(1, 32), (2, 16), (3, 8), (4, 12)] {
        input.extend(numbers(&[length]));
        input.extend(vec![byte; length]);
    }
    let h0 = blake2b::hash(b"", &input, 64);
    // Steps 2 to 4.
    let mut memory: Vec<Vec<Block>> = vec![vec![vec![0; 128]; COLUMNS]; LANES];
    for (lane, blocks) in memory.iter_mut().enumerate() {
        for (column, block) in blocks[..2].iter_mut().enumerate() {
            *block = words(&variable_hash(
                &[&h0[..], &numbers(&[column, lane])].concat(),
                1024,
            ));
        }
    }
    // Steps 5 and 6.
    for (pass, slice, lane) in (0..PASSES).flat_map(|pass| {
        (0..4).flat_map(move |slice| (0..LANES).map(move |lane| (pass, slice, lane)))
    }) {
        for index in 0..SEGMENT {
            if pass > 0 || slice > 0 {
                next_block(&mut memory, [pass, slice, lane, index], variant);
            }
        }
    }
    // Steps 7 and 8.
    let last = memory.iter().map(|blocks| blocks[COLUMNS - 1].clone());
    let sum = last
        .reduce(|a, b| a.iter().zip(b).map(|(a, b)| a ^ b).collect())
        .unwrap();
    variable_hash(&from_words(&sum), 32)
}

/// Section 3.3: H'.
fn variable_hash(input: &[u8], length: usize) -> Vec<u8> {
    let first = [&(length as u32).to_le_bytes()[..], input].concat();
    if length <= 64 {
        return blake2b::hash(b"", &first, length);
    }
    let mut v = blake2b::hash(b"", &first, 64);
    let mut out = v[..32].to_vec();
    while length - out.len() > 64 {
        v = blake2b::hash(b"", &v, 64);
        out.extend(&v[..32]);
    }
    out.extend(blake2b::hash(b"", &v, length - out.len()));
    out
}

fn next_block(memory: &mut [Vec<Block>], [pass, slice, lane, index]: [usize; 4], variant: usize) {
    let column = slice * SEGMENT + index;
    let before = memory[lane][(column + COLUMNS - 1) % COLUMNS].clone();
    let word = match variant {
        0 => before[0],
        1 => independent_word([pass, slice, lane, index], variant),
        _ if pass == 0 && slice < 2 => independent_word([pass, slice, lane, index], variant),
        _ => before[0],
    };
    let (l, z) = reference([pass, slice, lane, index], word);
    let new = argon2::compress(&mut Numbers, &before, &memory[l][z].clone());
    let old = &mut memory[lane][column];
    *old = new
        .iter()
        .zip(&*old)
        .map(|(new, old)| if pass > 0 { new ^ old } else { *new })
        .collect();
}

/// Section 3.4.1.2.
fn independent_word([pass, slice, lane, index]: [usize; 4], variant: usize) -> u64 {
    let mut input = vec![0; 128];
    for (word, number) in [pass, lane, slice, LANES * COLUMNS, PASSES, variant, 1]
        .into_iter()
        .enumerate()
    {
        input[word] = number as u64;
    }
    let zero = vec![0; 128];
    let block = argon2::compress(&mut Numbers, &zero, &input);
    argon2::compress(&mut Numbers, &zero, &block)[index]
}

/// Section 3.4.2: lane and column.
fn reference([pass, slice, lane, index]: [usize; 4], word: u64) -> (usize, usize) {
    let l = if pass == 0 && slice == 0 {
        lane
    } else {
        (word >> 32) as usize % LANES
    };
    let finished = SEGMENT * if pass == 0 { slice } else { 3 };
    let area = match (l == lane, index) {
        (true, _) => finished + index - 1,
        (false, 0) => finished - 1,
        _ => finished,
    };
    let x = (word & 0xffff_ffff).pow(2) >> 32;
    let y = (area as u64 * x) >> 32;
    let start = if pass == 0 { 0 } else { (slice + 1) * SEGMENT };
    (l, (start + area - 1 - y as usize) % COLUMNS)
}
