//! The specifications of G, of the reference block and of BLAKE2b on numbers, against published
//! vectors of Argon2. The rest of Argon2 is transcribed here.

use sealstone_proofs::spec::{argon2, blake2b};
use sealstone_prover::algebra::Numbers;
use std::collections::HashMap;
use std::path::PathBuf;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pairs = digits.chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn words(bytes: &[u8]) -> Vec<u64> {
    let words = bytes.as_chunks::<8>().0.iter();
    words.map(|word| u64::from_le_bytes(*word)).collect()
}

fn from_words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// RFC 9106, sections 5.1 to 5.3: 32 KiB, 3 passes, 4 lanes.
#[test]
fn argon2_of_the_rfc() {
    let tags = [
        "512b391b6f1162975371d30919734294f868e3be3984f3c1a13a4db9fabe4acb",
        "c814d9d1dc7f37aa13f0d77f2494bda1c8de6b016dd388d29952a4c4672b6ce8",
        "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659",
    ];
    for (variant, tag) in tags.into_iter().enumerate() {
        let hash = Argon2 {
            variant,
            lanes: 4,
            memory: 32,
            passes: 3,
            length: 32,
            inputs: [vec![1; 32], vec![2; 16], vec![3; 8], vec![4; 12]],
        };
        assert_eq!(hash.tag(), bytes(tag), "variant {variant}");
    }
}

/// Vectors that pyca/cryptography collected from RFC 9106, OpenSSL and the `argon2` command;
/// `scripts/fetch-vectors` puts them into `.tools/vectors`. The tests of the implementation run the
/// cases of 128 MiB.
#[test]
fn argon2_of_others() {
    let tools = || concat!(env!("CARGO_MANIFEST_DIR"), "/../../.tools").into();
    let directory = std::env::var_os("SEALSTONE_VECTORS").map_or_else(tools, PathBuf::from);
    let files = [("argon2d", 3), ("argon2i", 4), ("argon2id", 5)];
    for (variant, (name, expected)) in files.into_iter().enumerate() {
        let Ok(text) = std::fs::read_to_string(directory.join(format!("vectors/KDF/{name}.txt")))
        else {
            println!("skipped: the vectors of {name} are not there; run scripts/fetch-vectors");
            continue;
        };
        let mut ran = 0;
        for case in text.split("COUNT").skip(1) {
            let fields = case.lines().filter_map(|line| line.split_once('='));
            let fields: HashMap<&str, &str> = fields
                .map(|(key, value)| (key.trim(), value.trim()))
                .collect();
            let number = |name: &str| fields[name].parse::<usize>().unwrap();
            let string = |name: &str| bytes(fields.get(name).copied().unwrap_or_default());
            let hash = Argon2 {
                variant,
                lanes: number("lanes"),
                memory: number("memcost"),
                passes: number("iter"),
                length: number("length"),
                inputs: ["pass", "salt", "secret", "ad"].map(string),
            };
            if hash.memory <= 1024 {
                assert_eq!(hash.tag(), string("output"), "{name} {fields:?}");
                ran += 1;
            }
        }
        assert_eq!(ran, expected, "every smaller case of {name} is executed");
    }
}

/// Version 0x13.
struct Argon2 {
    /// y: 0 is Argon2d, 1 Argon2i, 2 Argon2id.
    variant: usize,
    lanes: usize,
    /// KiB.
    memory: usize,
    passes: usize,
    length: usize,
    /// Password, salt, secret and associated data.
    inputs: [Vec<u8>; 4],
}

type Block = Vec<u64>;

/// The place of a block: pass, slice, lane, and number in its segment.
type Place = [usize; 4];

impl Argon2 {
    /// q, the length of a lane.
    fn columns(&self) -> usize {
        self.memory / (4 * self.lanes) * 4
    }

    fn segment(&self) -> usize {
        self.columns() / 4
    }

    /// Section 3.2.
    fn tag(&self) -> Vec<u8> {
        // Step 1: H_0.
        let mut input = numbers(&[
            self.lanes,
            self.length,
            self.memory,
            self.passes,
            0x13,
            self.variant,
        ]);
        for string in &self.inputs {
            input.extend(numbers(&[string.len()]));
            input.extend(string);
        }
        let h0 = blake2b::hash(b"", &input, 64);
        // Steps 2 to 4.
        let mut memory: Vec<Vec<Block>> = vec![vec![vec![0; 128]; self.columns()]; self.lanes];
        for (lane, blocks) in memory.iter_mut().enumerate() {
            for (column, block) in blocks[..2].iter_mut().enumerate() {
                let input = [&h0[..], &numbers(&[column, lane])].concat();
                *block = words(&variable_hash(&input, 1024));
            }
        }
        // Steps 5 and 6.
        for (pass, slice) in (0..self.passes).flat_map(|pass| (0..4).map(move |i| (pass, i))) {
            for lane in 0..self.lanes {
                let first = if pass == 0 && slice == 0 { 2 } else { 0 };
                for index in first..self.segment() {
                    self.next_block(&mut memory, [pass, slice, lane, index]);
                }
            }
        }
        // Steps 7 and 8.
        let last = memory
            .iter()
            .map(|blocks| blocks[self.columns() - 1].clone());
        let sum = last.reduce(|a, b| xor(&a, &b)).unwrap();
        variable_hash(&from_words(&sum), self.length)
    }

    fn next_block(&self, memory: &mut [Vec<Block>], place: Place) {
        let [pass, slice, lane, index] = place;
        let column = slice * self.segment() + index;
        let before = memory[lane][(column + self.columns() - 1) % self.columns()].clone();
        let is_independent = self.variant == 1 || self.variant == 2 && pass == 0 && slice < 2;
        let word = if is_independent {
            self.independent_word(place)
        } else {
            before[0]
        };
        let (l, z) = self.reference(place, word);
        let new = argon2::compress(&mut Numbers, &before, &memory[l][z].clone());
        let old = &mut memory[lane][column];
        *old = if pass > 0 { xor(&new, old) } else { new };
    }

    /// Section 3.4.1.2.
    fn independent_word(&self, [pass, slice, lane, index]: Place) -> u64 {
        let blocks = self.lanes * self.columns();
        let counter = index / 128 + 1;
        let mut input = vec![0; 128];
        for (word, number) in [
            pass,
            lane,
            slice,
            blocks,
            self.passes,
            self.variant,
            counter,
        ]
        .into_iter()
        .enumerate()
        {
            input[word] = number as u64;
        }
        let zero = vec![0; 128];
        let block = argon2::compress(&mut Numbers, &zero, &input);
        argon2::compress(&mut Numbers, &zero, &block)[index % 128]
    }

    /// Section 3.4.2: lane and column.
    fn reference(&self, [pass, slice, lane, index]: Place, word: u64) -> (usize, usize) {
        let length = self.segment();
        // The lane is chosen if other lanes have finished segments. W begins with the oldest
        // remaining segment.
        let (first_lane, choice) = match (pass, slice) {
            (0, 0) => (lane, 1),
            _ => (0, self.lanes),
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

fn xor(a: &[u64], b: &[u64]) -> Block {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

/// As 32-bit little-endian words.
fn numbers(numbers: &[usize]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| (*number as u32).to_le_bytes())
        .collect()
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
