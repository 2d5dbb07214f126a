//! The specifications of Threefish and Skein on numbers, against the vectors of their designers.

use sealstone_proofs::source::modes::skein::{self, Arguments, Bits};
use sealstone_proofs::source::modes::{Strings, tree};
use sealstone_proofs::spec::{self, threefish};
use sealstone_prover::algebra::Numbers;
use std::path::PathBuf;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pairs = digits.chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// From `first` downwards.
fn descending(first: u8, length: usize) -> Vec<u8> {
    (0..length).map(|i| first.wrapping_sub(i as u8)).collect()
}

/// From `first` upwards.
fn ascending(first: u8, length: usize) -> Vec<u8> {
    (0..length).map(|i| first.wrapping_add(i as u8)).collect()
}

/// `skein_golden_kat_internals.txt`: zeros; and counting bytes in key, tweak and block.
#[test]
fn threefish_of_the_designers() {
    let zeros = [
        "84da2a1f8beaee947066ae3e3103f1ad536db1f4a1192495116b9f3ce6133fd8",
        "b1a2bbc6ef6025bc40eb3822161f36e375d1bb0aee3186fbd19e47c5d479947b7bc2f8586e35f0cff7e7f03084b0b7b1f1ab3961a580a3e97eb41ea14a6d7bbe",
        "f05c3d0a3d05b304f785ddc7d1e036015c8aa76e2f217b06c6e1544c0bc1a90df0accb9473c24e0fd54fea68057f43329cb454761d6df5cf7b2e9b3614fbd5a2\
         0b2e4760b40603540d82eabc5482c171c832afbe68406bc39500367a592943fa9a5b4a43286ca3c4cf46104b443143d560a4b230488311df4feef7e1dfe8391e",
    ];
    let counting = [
        "e0d091ff0eea8fdfc98192e62ed80ad59d865d08588df476657056b5955e97df",
        "e304439626d45a2cb401cad8d636249a6338330eb06d45dd8b36b90e97254779272a0a8d99463504784420ea18c9a725af11dffea10162348927673d5c1caf3d",
        "a6654ddbd73cc3b05dd777105aa849bce49372eaaffc5568d254771bab85531c94f780e7ffaae430d5d8af8c70eebbe1760f3b42b737a89cb363490d670314bd\
         8aa41ee63c2e1f45fbd477922f8360b388d6125ea6c7af0ad7056d01796e90c83313f4150a5716b30ed5f569288ae974ce2b4347926fce57de44512177dd7cde",
    ];
    for (n, zeros, counting) in [4, 8, 16]
        .into_iter()
        .zip(zeros)
        .zip(counting)
        .map(|((n, a), b)| (n, a, b))
    {
        let size = 8 * n;
        encrypts(&vec![0; size], &[0; 16], &vec![0; size], zeros);
        encrypts(
            &ascending(0x10, size),
            &ascending(0, 16),
            &descending(0xff, size),
            counting,
        );
    }
}

fn encrypts(key: &[u8], tweak: &[u8], block: &[u8], expected: &str) {
    let [key, tweak, block] = [key, tweak, block].map(|bytes| Numbers.words(bytes));
    let cipher = threefish::encrypt(&mut Numbers, &key, &tweak, &block);
    assert_eq!(Numbers.to_bytes(&cipher), bytes(expected));
    let back = threefish::decrypt(&mut Numbers, &key, &tweak, &cipher);
    assert_eq!(back, block);
}

/// Skein 1.3, appendix B: the chaining values after the configuration.
#[test]
fn initial_values_of_the_specification() {
    let start = |n: usize| skein::start(&mut Numbers, n, &Arguments::of_output(64 * n as u64));
    #[rustfmt::skip]
    assert_eq!(start(4), [
        0xFC9DA860D048B449, 0x2FCA66479FA7D833, 0xB33BC3896656840F, 0x6A54E920FDE8DA69,
    ]);
    #[rustfmt::skip]
    assert_eq!(start(8), [
        0x4903ADFF749C51CE, 0x0D95DE399746DF03, 0x8FD1934127C79BCE, 0x9A255629FF352CB1,
        0x5DB62599DF6CA7B0, 0xEABE394CA9D5C3F4, 0x991112C71A75B523, 0xAE18A40B660FCC33,
    ]);
    #[rustfmt::skip]
    assert_eq!(start(16), [
        0xD593DA0741E72355, 0x15B5E511AC73E00C, 0x5180E5AEBAF2C4F0, 0x03BD41D3FCBCAFAF,
        0x1CAEC6FD1983A898, 0x6E510B8BCDD0589F, 0x77E2BDFDC6394ADA, 0xC11E1DB524DCB0A3,
        0xD6D14AF9C6329AB5, 0x6A9B0BFC6EB67E0D, 0x9243C60DCCFF1332, 0x1A1F1DDE743F02D4,
        0x0996753C10ED0BB8, 0x6572DD22F2B4969A, 0x61FD3062D00A579A, 0x1DE0536E8682E539,
    ]);
}

/// Skein 1.3, appendix C: one byte, one block and two blocks of descending bytes; one byte by UBI
/// steps as well.
#[test]
fn skein_of_the_specification() {
    let cases: [(usize, [&str; 3]); 3] = [
        (
            4,
            [
                "0b98dcd198ea0e50a7a244c444e25c23da30c10fc9a1f270a6637f1f34e67ed2",
                "8d0fa4ef777fd759dfd4044e6f6a5ac3c774aec943dcfc07927b723b5dbf408b",
                "df28e916630d0b44c4a849dc9a02f07a07cb30f732318256b15d865ac4ae162f",
            ],
        ),
        (
            8,
            [
                "71b7bce6fe6452227b9ced6014249e5bf9a9754c3ad618ccc4e0aae16b316cc8ca698d864307ed3e80b6ef1570812ac5272dc409b5a012df2a579102f340617a",
                "45863ba3be0c4dfc27e75d358496f4ac9a736a505d9313b42b2f5eada79fc17f63861e947afb1d056aa199575ad3f8c9a3cc1780b5e5fa4cae050e989876625b",
                "91cca510c263c4ddd010530a33073309628631f308747e1bcbaa90e451cab92e5188087af4188773a332303e6667a7a210856f742139000071f48e8ba2a5adb7",
            ],
        ),
        (
            16,
            [
                "e62c05802ea0152407cdd8787fda9e35703de862a4fbc119cff8590afe79250bccc8b3faf1bd2422ab5c0d263fb2f8afb3f796f048000381531b6f00d85161bc\
             0fff4bef2486b1ebcd3773fabf50ad4ad5639af9040e3f29c6c931301bf79832e9da09857e831e82ef8b4691c235656515d437d2bda33bcec001c67ffde15ba8",
                "1f3e02c46fb80a3fcd2dfbbc7c173800b40c60c2354af551189ebf433c3d85f9ff1803e6d920493179ed7ae7fce69c3581a5a2f82d3e0c7a295574d0cd7d217c\
             484d2f6313d59a7718ead07d0729c24851d7e7d2491b902d489194e6b7d369db0ab7aa106f0ee0a39a42efc54f18d93776080985f907574f995ec6a37153a578",
                "842a53c99c12b0cf80cf69491be5e2f7515de8733b6ea9422dfd676665b5fa42ffb3a9c48c217777950848cecdb48f640f81fb92bef6f88f7a85c1f7cd1446c9\
             161c0afe8f25ae444f40d3680081c35aa43f640fd5fa3c3c030bcc06abac01d098bcc984ebd8322712921e00b1ba07d6d01f26907050255ef2c8e24f716c52a5",
            ],
        ),
    ];
    for (n, expected) in cases {
        for (length, expected) in [1, 8 * n, 16 * n].into_iter().zip(expected) {
            let start = skein::start(&mut Numbers, n, &Arguments::of_output(64 * n as u64));
            let message = descending(0xff, length);
            let hash = skein::hash(&mut Numbers, &start, Bits::of_bytes(&message));
            assert_eq!(
                Numbers.to_bytes(&hash),
                bytes(expected),
                "{n} words, {length} bytes"
            );
            let bits = Bits::of_bytes(&message);
            let chain = whole_message(&start, skein::kind::MESSAGE, 0, 0, bits);
            assert_eq!(
                Numbers.to_bytes(&spec::skein::output(&mut Numbers, &chain, &0)),
                bytes(expected),
                "the output's block of {n} words, {length} bytes"
            );
        }
    }
    assert_eq!(by_steps(&[0xff]), bytes(cases[1].1[0]));
}

/// Skein-512-512 of a message of one block: the steps that the kernels of the tree are compared
/// with.
fn by_steps(message: &[u8]) -> Vec<u8> {
    let ubi = |chain: &[u64], kind: u64, data: &[u8]| -> Vec<u64> {
        let place = spec::skein::Place {
            level: 0,
            kind,
            first: true,
            last: true,
        };
        let mut block = data.to_vec();
        block.resize(64, 0);
        let tweak = [data.len() as u64, place.word()];
        let block = Numbers.words(&block);
        spec::skein::step(&mut Numbers, chain, &tweak, &block)
    };
    let mut configuration = b"SHA3\x01\0\0\0".to_vec();
    configuration.extend(512_u64.to_le_bytes());
    configuration.resize(32, 0);
    let chain = ubi(&[0; 8], 4, &configuration);
    let chain = ubi(&chain, spec::skein::MESSAGE, message);
    Numbers.to_bytes(&ubi(&chain, 63, &[0; 8]))
}

/// `skein_golden_kat.txt`: three states, lengths in bits, long outputs, keys and trees.
/// `scripts/fetch-vectors` puts the file into `.tools/skein`.
#[test]
fn skein_of_the_designers() {
    let tools = || concat!(env!("CARGO_MANIFEST_DIR"), "/../../.tools").into();
    let directory = std::env::var_os("SEALSTONE_VECTORS").map_or_else(tools, PathBuf::from);
    let Ok(text) = std::fs::read_to_string(directory.join("skein/skein_golden_kat.txt")) else {
        println!("skipped: the designers' vectors are not there; run scripts/fetch-vectors");
        return;
    };
    let cases = text.split("--------------------------------");
    let cases: Vec<Case> = cases.filter_map(Case::parse).collect();
    assert_eq!(cases.len(), 491, "every case is executed");
    let count = |is: fn(&&Case) -> bool| cases.iter().filter(is).count();
    assert_eq!(count(|case| case.header.contains("MAC")), 114);
    assert_eq!(count(|case| case.arguments.tree != [0; 3]), 35);
    for case in &cases {
        for (name, ubi) in WAYS {
            assert_eq!(case.hash(ubi), case.result, "{} by {name}", case.header);
        }
    }
    let full_nodes = cases.iter().map(Case::full_nodes).sum::<usize>();
    assert_eq!(full_nodes, 25, "nodes of Skein-512 with whole blocks");
    println!(
        "skein_golden_kat.txt: {} cases, 0 disagreements",
        cases.len()
    );
}

/// One UBI call of a message or an output: the chaining value before it, its type, the level in a
/// tree, its start, its message.
type Ubi = fn(&[u64], u64, u8, usize, Bits<'_, u8>) -> Vec<u64>;

/// The specifications that kernels are compared with.
const WAYS: [(&str, Ubi); 4] = [
    ("whole messages", whole_message),
    ("blocks", by_blocks),
    ("nodes", by_nodes),
    ("blocks of output", by_output),
];

fn whole_message(
    start: &[u64],
    kind: u64,
    level: u8,
    begin: usize,
    bits: Bits<'_, u8>,
) -> Vec<u64> {
    let upper = kind << 56 | u64::from(level) << 48;
    skein::ubi(&mut Numbers, start, bits, upper, begin as u64)
}

/// Blocks that are not the last, then the last one.
fn by_blocks(start: &[u64], kind: u64, level: u8, begin: usize, bits: Bits<'_, u8>) -> Vec<u64> {
    let mut upper = match kind {
        spec::skein::MESSAGE => spec::skein::message_in_tree(&mut Numbers, &level.into()),
        _ => kind << 56,
    };
    upper |= spec::skein::FIRST;
    let mut bytes = bits.bytes.to_vec();
    if let (Some(last), used @ 1..) = (bytes.last_mut(), bits.count % 8) {
        // Section 4.4: a one after the last bit, then zeros. Only the tweak of the last block has
        // the flag for it.
        *last = *last & 0xff << (8 - used) | 0x80 >> used;
    }
    let length = 8 * start.len();
    let inner = bytes.len().saturating_sub(1) / length * length;
    let (inner, last) = bytes.split_at(inner);
    let tweak = [begin as u64, upper];
    let blocks = Numbers.words(inner);
    let (chain, mut tweak) = spec::skein::inner_blocks(&mut Numbers, start, &tweak, &blocks);
    tweak[1] |= u64::from(!bits.count.is_multiple_of(8)) << 55;
    let count = last.len() as u64;
    let mut last = last.to_vec();
    last.resize(length, 0);
    let last = Numbers.words(&last);
    spec::skein::last_block(&mut Numbers, &chain, &tweak, &last, &count)
}

/// Full nodes as a whole, everything else by blocks.
fn by_nodes(start: &[u64], kind: u64, level: u8, begin: usize, bits: Bits<'_, u8>) -> Vec<u64> {
    if kind != spec::skein::MESSAGE || !is_full_node(start.len(), bits) {
        return by_blocks(start, kind, level, begin, bits);
    }
    let (blocks, begin) = (Numbers.words(bits.bytes), begin as u64);
    spec::skein::node(&mut Numbers, start, level.into(), &begin, &blocks)
}

/// The output by its blocks, everything else as whole messages.
fn by_output(start: &[u64], kind: u64, level: u8, begin: usize, bits: Bits<'_, u8>) -> Vec<u64> {
    if kind != skein::kind::OUTPUT {
        return whole_message(start, kind, level, begin, bits);
    }
    let number = bits.bytes.try_into().expect("the eight bytes of a number");
    spec::skein::output(&mut Numbers, start, &u64::from_le_bytes(number))
}

/// Whether [`spec::skein::node`] covers this: whole blocks of eight words.
fn is_full_node(words: usize, bits: Bits<'_, u8>) -> bool {
    words == 8 && bits.count > 0 && bits.count.is_multiple_of(512)
}

struct Case {
    header: String,
    words: usize,
    arguments: Arguments<u8>,
    message_bits: usize,
    message: Vec<u8>,
    result: Vec<u8>,
}

impl Case {
    fn parse(text: &str) -> Option<Self> {
        let header = text.lines().find(|line| line.starts_with(":Skein-"))?;
        let numbers: Vec<usize> = header
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|number| number.parse().ok())
            .collect();
        let tree = header.split_once("Tree: ").map_or([0; 3], |(_, tree)| {
            let mut fields = tree
                .split(", ")
                .map(|field| u8::from_str_radix(&field[field.len() - 2..], 16).unwrap());
            std::array::from_fn(|_| fields.next().unwrap())
        });
        let section = |title: &str| -> Vec<u8> {
            let lines = text.lines().skip_while(|line| !line.starts_with(title));
            let lines = lines.skip(1).take_while(|line| line.starts_with("    "));
            lines
                .flat_map(str::split_whitespace)
                .filter_map(|byte| u8::from_str_radix(byte, 16).ok())
                .collect()
        };
        Some(Self {
            header: header.to_owned(),
            words: numbers[0] / 64,
            arguments: Arguments {
                key: section("MAC key"),
                tree,
                ..Arguments::of_output(numbers[1] as u64)
            },
            message_bits: numbers[2],
            message: section("Message data"),
            result: section("Result"),
        })
    }

    /// Hashes the message, with or without a tree, and computes the needed blocks of output.
    fn hash(&self, ubi: Ubi) -> Vec<u8> {
        let start = skein::start(&mut Numbers, self.words, &self.arguments);
        let node = |level: u8, position: usize, bits: Bits<'_, u8>| {
            ubi(&start, skein::kind::MESSAGE, level, position, bits)
        };
        let value = if self.arguments.tree == [0; 3] {
            let (bytes, count) = (&self.message[..], self.message_bits);
            node(0, 0, Bits { bytes, count })
        } else {
            let value = self.tree(|level, position, bytes| {
                Numbers.to_bytes(&node(level, position, Bits::of_bytes(bytes)))
            });
            Numbers.words(&value)
        };
        let bits = self.arguments.output_bits as usize;
        let mut output = Vec::new();
        for i in 0..bits.div_ceil(64 * self.words) {
            let counter = (i as u64).to_le_bytes();
            let block = ubi(&value, skein::kind::OUTPUT, 0, 0, Bits::of_bytes(&counter));
            output.extend(Numbers.to_bytes(&block));
        }
        output.truncate(bits.div_ceil(8));
        if let (Some(last), used @ 1..) = (output.last_mut(), bits % 8) {
            *last &= 0xff << (8 - used);
        }
        output
    }

    fn tree(&self, mut node: impl FnMut(u8, usize, &[u8]) -> Vec<u8>) -> Vec<u8> {
        assert_eq!(self.message_bits, 8 * self.message.len());
        let shape = self.arguments.tree;
        tree::tree(8 * self.words, shape, &self.message, &mut node)
    }

    /// The number of nodes of its tree that [`by_nodes`] hashes as a whole.
    fn full_nodes(&self) -> usize {
        let mut count = 0;
        if self.arguments.tree != [0; 3] {
            self.tree(|_, _, bytes| {
                count += usize::from(is_full_node(self.words, Bits::of_bytes(bytes)));
                vec![0; 8 * self.words]
            });
        }
        count
    }
}
