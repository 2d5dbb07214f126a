//! The specifications on numbers, against published vectors. Those of Skein and Argon2 are in
//! `skein.rs` and `argon2.rs`.

mod ghash;

use sealstone_proofs::spec::blake3::{self, Counting};
use sealstone_proofs::spec::{aes, blake2b, chacha20, keccak, poly1305, sha256, sha512};
use sealstone_prover::algebra::Numbers;

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

/// FIPS 180-4 examples, as published by NIST: one block, two blocks, no block of message.
#[test]
fn sha512_of_the_standard() {
    let cases: [(&[u8], &str); 3] = [
        (
            b"abc",
            "ddaf35a193617aba cc417349ae204131 12e6fa4e89a97ea2 0a9eeee64b55d39a
             2192992a274fc1a8 36ba3c23a3feebbd 454d4423643ce80e 2a9ac94fa54ca49f",
        ),
        (
            b"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
            "8e959b75dae313da 8cf4f72814fc143f 8f7779c6eb9f7fa1 7299aeadb6889018
             501d289e4900f7e4 331b99dec4b5433a c7d329eeb6dd2654 5e96e55b874be909",
        ),
        (
            b"",
            "cf83e1357eefb8bd f1542850d66d8007 d620e4050b5715dc 83f4a921d36ce9ce
             47d0d13c5d85f2b0 ff8318d2877eec2f 63b931bd47417a81 a538327af927da3e",
        ),
    ];
    for (message, digest) in cases {
        assert_eq!(sha512::hash(message).to_vec(), bytes(digest));
    }
}

/// Cells of a message. The last one is padded with zeros.
fn padded_cells(message: &[u8]) -> Vec<u64> {
    let cells = message.chunks(8).map(|chunk| {
        let mut cell = [0; 8];
        cell[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(cell)
    });
    cells.collect()
}

/// RFC 8439, 2.5.1: a byte of 1 follows each block of a message.
fn poly1305_of(key: &str, message: &[u8]) -> Vec<u8> {
    let blocks = message.chunks(16).map(|block| {
        let mut cells = padded_cells(&[block, &[1]].concat());
        cells.resize(3, 0);
        [cells[0], cells[1], cells[2]]
    });
    let blocks: Vec<[u64; 3]> = blocks.collect();
    let tag = poly1305::tag(&mut Numbers, &padded_cells(&bytes(key)), &blocks);
    tag.iter().flat_map(|cell| cell.to_le_bytes()).collect()
}

/// RFC 8439, 2.5.2, and A.3 from test vector 7 on: numbers around the prime and its multiples.
#[test]
fn poly1305_of_the_standard() {
    let tag = poly1305_of(
        "85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b",
        b"Cryptographic Forum Research Group",
    );
    assert_eq!(tag, bytes("a8061dc1305136c6c22b8baf0c0127a9"));
    let [zeros, ones] = ["00", "ff"].map(|byte| byte.repeat(16));
    let cases = [
        ["02", &zeros, &ones, "03"],
        ["02", &ones, "02000000000000000000000000000000", "03"],
        [
            "01",
            &zeros,
            "ffffffffffffffffffffffffffffffff f0ffffffffffffffffffffffffffffff
             11000000000000000000000000000000",
            "05",
        ],
        [
            "01",
            &zeros,
            "ffffffffffffffffffffffffffffffff fbfefefefefefefefefefefefefefefe
             01010101010101010101010101010101",
            "",
        ],
        [
            "02",
            &zeros,
            "fdffffffffffffffffffffffffffffff",
            "faffffffffffffffffffffffffffffff",
        ],
        [
            "010000000000000004",
            &zeros,
            "e33594d7505e43b90000000000000000 3394d7505e4379cd0100000000000000
             00000000000000000000000000000000 01000000000000000000000000000000",
            "14000000000000005500000000000000",
        ],
        [
            "010000000000000004",
            &zeros,
            "e33594d7505e43b90000000000000000 3394d7505e4379cd0100000000000000
             00000000000000000000000000000000",
            "13",
        ],
    ];
    for [r, s, message, tag] in cases {
        let found = poly1305_of(&format!("{r:0<32}{s}"), &bytes(message));
        assert_eq!(found, bytes(&format!("{tag:0<32}")), "{message}");
    }
}

/// RFC 8439, 2.8.2: its data end in the middle of a cell.
#[test]
fn chacha20_poly1305_of_the_standard() {
    let data = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.";
    let ciphertext = bytes(
        "d31a8d34648e60db7b86afbc53ef7ec2 a4aded51296e08fea9e2b5a736ee62d6
         3dbea45e8ca9671282fafb69da92728b 1a71de0a9e060b2905d6a5b67ecd3b36
         92ddbd7f2d778b8c9803aee328091b58 fab324e4fad675945585808b4831d7bc
         3ff4def08e4b7a9de576d26586cec64b 6116",
    );
    let little = |hex: &str| -> Vec<u32> {
        let bytes = bytes(hex);
        let words = bytes.as_chunks::<4>().0.iter();
        words.map(|word| u32::from_le_bytes(*word)).collect()
    };
    let key = little("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f");
    let nonce = little("070000004041424344454647");
    let additional = bytes("50515253c0c1c2c3c4c5c6c7");
    let keys = (&key[..], &nonce[..]);
    let (encrypted, _) = poly1305::seal(&mut Numbers, keys, &padded_cells(data), &[]);
    let encrypted: Vec<u8> = encrypted
        .iter()
        .flat_map(|cell| cell.to_le_bytes())
        .collect();
    assert_eq!(encrypted[..data.len()], ciphertext);
    let parts = [&additional, &ciphertext].map(|part| padded_cells(part));
    let lengths = [additional.len(), data.len()].map(|length| length as u64);
    let tag = poly1305::aead_tag(&mut Numbers, keys, [&parts[0], &parts[1]], lengths);
    let tag: Vec<u8> = tag.iter().flat_map(|cell| cell.to_le_bytes()).collect();
    assert_eq!(tag, bytes("1ae10b594f09e26a7e902ecbd0600691"));
}

/// FIPS 202 example, as published by NIST: SHA3-256 of no message is the permutation of one padded
/// block.
#[test]
fn keccak_of_the_standard() {
    let mut state = vec![0; 25];
    (state[0], state[16]) = (6, 1 << 63);
    for round in 0..24 {
        state = keccak::round(&mut Numbers, &state, &keccak::round_constant(round));
    }
    let digest: Vec<u8> = state[..4]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    let expected = "a7ffc6f8bf1ed766 51c14756a061d662 f580ff4de43b49fa 82d80a4b80f8434a";
    assert_eq!(digest, bytes(expected));
}

fn aes_bytes(hex: &str) -> Vec<u64> {
    bytes(hex).into_iter().map(u64::from).collect()
}

fn aes_cells(hex: &str) -> Vec<u64> {
    aes::cells(&mut Numbers, &aes_bytes(hex))
}

const AES_KEY: &str = "603deb1015ca71be2b73aef0857d7781 1f352c073b6108d72d9810a30914dff4";

/// FIPS 197, appendices A.3 and C.3 (of 2001).
#[test]
fn aes_of_the_standard() {
    let keys = aes::key_expansion(&mut Numbers, &aes_bytes(AES_KEY));
    let last = "fe4890d1e6188d0b046df344706c631e";
    assert_eq!(keys[16 * aes::ROUNDS..], aes_bytes(last));

    let ascending: Vec<u64> = (0..32).collect();
    let keys = aes::key_expansion(&mut Numbers, &ascending);
    let input = aes_bytes("00112233445566778899aabbccddeeff");
    let output = aes::cipher(&mut Numbers, &input, &keys);
    assert_eq!(output, aes_bytes("8ea2b7ca516745bfeafc49904b496089"));
}

/// SP 800-38A, F.5.5; and SP 800-38D: only 32 bits count.
#[test]
fn counter_mode_of_the_standards() {
    let keys = aes::key_expansion(&mut Numbers, &aes_bytes(AES_KEY));
    let keys = aes::cells(&mut Numbers, &keys);
    let counter = aes_cells("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
    let data = aes_cells(
        "6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51
         30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710",
    );
    let expected = aes_cells(
        "601ec313775789a5b7a7f504bbf3d228 f443e3ca4d62b59aca84e990cacaf5c5
         2b0930daa23de94ce87017ba2d84988d dfc9c58db67aada613c2dd08457941a6",
    );
    for step in [1, 2, 3, 8] {
        let output = aes::counter_mode(&mut Numbers, &data, &keys, &counter, step);
        assert_eq!(output, expected, "{step}");
    }
    let [last, first] = ["ffffffff", "00000000"].map(|counter| {
        let nonce = "f0f1f2f3f4f5f6f7f8f9fafb";
        aes_cells(&format!("{nonce}{counter}"))
    });
    let of = |counter: &[u64], blocks: usize| {
        aes::counter_mode(&mut Numbers, &vec![0; 2 * blocks], &keys, counter, 8)
    };
    assert_eq!(of(&last, 9)[2..], of(&first, 8));
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
        let mut state = little(b"expand 32-byte k");
        state.extend(little(&key));
        state.push(counter);
        state.extend(little(&nonce));
        let stream = chacha20::block(&mut Numbers, &state);
        let stream: Vec<u8> = stream.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(stream, bytes(expected));
    }
}

fn little(bytes: &[u8]) -> Vec<u32> {
    let words = bytes.as_chunks::<4>().0.iter();
    words.map(|word| u32::from_le_bytes(*word)).collect()
}

/// RFC 8439, section 2.4.2. The result does not depend on the number of blocks at once.
#[test]
fn chacha20_encrypts_the_text_of_the_rfc() {
    let key: [u8; 32] = std::array::from_fn(|i| i as u8);
    let input = little(&bytes("01 00 00 00 00 00 00 00 00 00 00 4a 00 00 00 00"));
    let text = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.";
    // The text has 114 bytes: its last word is half.
    let (mut padded, expected) = (
        text.to_vec(),
        bytes(
            "6e 2e 35 9a 25 68 f9 80 41 ba 07 28 dd 0d 69 81 e9 7e 7a ec 1d 43 60 c2 0a 27 af cc fd 9f ae 0b
            f9 1b 65 c5 52 47 33 ab 8f 59 3d ab cd 62 b3 57 16 39 d6 24 e6 51 52 ab 8f 53 0c 35 9f 08 61 d8
            07 ca 0d bf 50 0d 6a 61 56 a3 8e 08 8a 22 b6 5e 52 bc 51 4d 16 cc f8 06 81 8c e9 1a b7 79 37 36
            5a f9 0b bf 74 a3 5b e6 b4 0b 8e ed f2 78 5e 42 87 4d",
        ),
    );
    padded.extend([0, 0]);
    for step in [1, 2, 4] {
        let output = chacha20::encrypt(&mut Numbers, &little(&key), &input, &little(&padded), step);
        let output: Vec<u8> = output.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(output[..114], expected);
    }
}

/// A key stream is the encryption of zeros, and its counter wraps.
#[test]
fn chacha20_has_the_key_stream_of_its_encryption() {
    let key: [u8; 32] = std::array::from_fn(|i| i as u8);
    let input = [u32::MAX - 1, 2, 3, 4];
    let mut state = little(b"expand 32-byte k");
    state.extend(little(&key));
    state.extend(input);
    let stream = chacha20::stream(&mut Numbers, &state, 4);
    let zeros = [0; 64];
    let encrypted = chacha20::encrypt(&mut Numbers, &little(&key), &input, &zeros, 1);
    assert_eq!(stream, encrypted);
}

/// draft-irtf-cfrg-xchacha-03, section 2.2.1.
#[test]
fn hchacha20_of_the_draft() {
    let key: [u8; 32] = std::array::from_fn(|i| i as u8);
    let input = little(&bytes("00 00 00 09 00 00 00 4a 00 00 00 00 31 41 59 27"));
    let output = chacha20::hchacha20(&mut Numbers, &little(&key), &input);
    let expected = "82413b42 27b27bfe d30e4250 8a877d73 a0f9e4d5 8a74a853 c12ec413 26d3ecdc";
    let output: Vec<u8> = output.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert_eq!(output, bytes(expected));
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

/// Of the vectors that the designers publish (`test_vectors.json`), those around the ends of blocks
/// and chunks: length, hash and keyed hash.
const BLAKE3: [(usize, &str, &str); 12] = [
    (
        0,
        "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
        "92b2b75604ed3c761f9d6f62392c8a9227ad0ea3f09573e783f1498a4ed60d26",
    ),
    (
        1,
        "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213",
        "6d7878dfff2f485635d39013278ae14f1454b8c0a3a2d34bc1ab38228a80c95b",
    ),
    (
        63,
        "e9bc37a594daad83be9470df7f7b3798297c3d834ce80ba85d6e207627b7db7b",
        "bb1eb5d4afa793c1ebdd9fb08def6c36d10096986ae0cfe148cd101170ce37ae",
    ),
    (
        64,
        "4eed7141ea4a5cd4b788606bd23f46e212af9cacebacdc7d1f4c6dc7f2511b98",
        "ba8ced36f327700d213f120b1a207a3b8c04330528586f414d09f2f7d9ccb7e6",
    ),
    (
        65,
        "de1e5fa0be70df6d2be8fffd0e99ceaa8eb6e8c93a63f2d8d1c30ecb6b263dee",
        "c0a4edefa2d2accb9277c371ac12fcdbb52988a86edc54f0716e1591b4326e72",
    ),
    (
        1023,
        "10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11",
        "c951ecdf03288d0fcc96ee3413563d8a6d3589547f2c2fb36d9786470f1b9d6e",
    ),
    (
        1024,
        "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7",
        "75c46f6f3d9eb4f55ecaaee480db732e6c2105546f1e675003687c31719c7ba4",
    ),
    (
        1025,
        "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444",
        "357dc55de0c7e382c900fd6e320acc04146be01db6a8ce7210b7189bd664ea69",
    ),
    (
        2048,
        "e776b6028c7cd22a4d0ba182a8bf62205d2ef576467e838ed6f2529b85fba24a",
        "879cf1fa2ea0e79126cb1063617a05b6ad9d0b696d0d757cf053439f60a99dd1",
    ),
    (
        2049,
        "5f4d72f40d7a5f82b15ca2b2e44b1de3c2ef86c426c95c1af0b6879522563030",
        "9f29700902f7c86e514ddc4df1e3049f258b2472b6dd5267f61bf13983b78dd5",
    ),
    (
        3073,
        "7124b49501012f81cc7f11ca069ec9226cecb8a2c850cfe644e327d22d3e1cd3",
        "68dede9bef00ba89e43f31a6825f4cf433389fedae75c04ee9f0cf16a427c95a",
    ),
    (
        8193,
        "bab6c09cb8ce8cf459261398d2e7aef35700bf488116ceb94a36d0f5f1b7bc3b",
        "954a2a75420c8d6547e3ba5b98d963e6fa6491addc8c023189cc519821b4a1f5",
    ),
];

#[test]
fn blake3_of_the_designers() {
    let key = b"whats the Elvish word for friend";
    for (length, hash, keyed) in BLAKE3 {
        let message: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
        assert_eq!(
            blake3::hash(None, &message).to_vec(),
            bytes(hash),
            "{length}"
        );
        let keyed_hash = blake3::hash(Some(key), &message);
        assert_eq!(keyed_hash.to_vec(), bytes(keyed), "{length}");
    }
}

/// All methods of counting give the same number.
#[test]
fn blake3_counters_are_sums() {
    let ends = [
        0,
        1,
        u32::MAX.into(),
        1 << 32,
        (1 << 32) + 1,
        u64::MAX - 1,
        u64::MAX,
    ];
    for counter in ends {
        for distance in 0..20 {
            let sum = counter.wrapping_add(distance);
            for counting in [Counting::Addend, Counting::Before, Counting::Choice] {
                let words = [counter as u32, (counter >> 32) as u32];
                let words = blake3::advanced(&mut Numbers, &words, distance, counting);
                let expected = [sum as u32, (sum >> 32) as u32];
                assert_eq!(words, expected, "{counter} + {distance}, {counting:?}");
            }
        }
    }
}
