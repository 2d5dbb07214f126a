//! Skein as a whole (The Skein Hash Function Family, version 1.3, sections 3.4 and 3.5), without a
//! tree.

use super::{Strings, plus};
use crate::spec::threefish;

/// Table 6: types of arguments.
pub mod kind {
    #![allow(missing_docs)]
    pub const KEY: u64 = 0;
    pub const CONFIGURATION: u64 = 4;
    pub const PERSONALIZATION: u64 = 8;
    pub const PUBLIC_KEY: u64 = 12;
    pub const KEY_IDENTIFIER: u64 = 16;
    pub const NONCE: u64 = 20;
    pub const MESSAGE: u64 = 48;
    pub const OUTPUT: u64 = 63;
}

/// A string of bits. In the last byte, only the most significant bits may count.
#[derive(Clone, Copy)]
pub struct Bits<'a, B> {
    /// The bytes.
    pub bytes: &'a [B],
    /// The number of bits that count, at most eight times the number of bytes.
    pub count: usize,
}

impl<'a, B> Bits<'a, B> {
    /// All bits of these bytes.
    pub fn of_bytes(bytes: &'a [B]) -> Self {
        let count = 8 * bytes.len();
        Self { bytes, count }
    }
}

/// E(K, T, P) of section 3.3.
pub trait Cipher<A: Strings> {
    /// The ciphertext.
    fn encrypt(
        &self,
        a: &mut A,
        key: &[A::Word],
        tweak: &[A::Word; 2],
        plaintext: &[A::Word],
    ) -> Vec<A::Word>;
}

/// Threefish.
pub struct Threefish;

impl<A: Strings> Cipher<A> for Threefish {
    fn encrypt(
        &self,
        a: &mut A,
        key: &[A::Word],
        tweak: &[A::Word; 2],
        plaintext: &[A::Word],
    ) -> Vec<A::Word> {
        threefish::encrypt(a, key, tweak, plaintext)
    }
}

/// Section 3.4: UBI(G, M, T_s). `start` is the upper word of T_s; `position` the lower one.
pub fn ubi<A: Strings>(
    a: &mut A,
    g: &[A::Word],
    m: Bits<'_, A::Byte>,
    start: u64,
    position: u64,
) -> Vec<A::Word> {
    let position = [position, 0].map(|word| a.number(word));
    ubi_from(a, &Threefish, g, m, start, &position)
}

/// The same with any cipher, and for positions of 96 bits: the upper word of `position` has 32.
pub fn ubi_from<A: Strings>(
    a: &mut A,
    cipher: &impl Cipher<A>,
    g: &[A::Word],
    m: Bits<'_, A::Byte>,
    start: u64,
    position: &[A::Word; 2],
) -> Vec<A::Word> {
    ubi_blocks(a, cipher, g, m, [start, FIRST], position)
}

/// The flag of a first block in the upper word of a tweak.
pub const FIRST: u64 = 1 << 62;

/// The loop over the blocks of `m`, from any chaining value on. `start` has what all blocks have in
/// the upper words of their tweaks, and what only the first block has: [`FIRST`], or nothing if
/// other blocks are before them.
pub fn ubi_blocks<A: Strings>(
    a: &mut A,
    cipher: &impl Cipher<A>,
    g: &[A::Word],
    m: Bits<'_, A::Byte>,
    [start, at_first]: [u64; 2],
    position: &[A::Word; 2],
) -> Vec<A::Word> {
    let nb = 8 * g.len();
    let mut bytes = m.bytes.to_vec();
    // M′: a last byte that is not full gets a one and zeros, and B is set.
    let b = !m.count.is_multiple_of(8);
    if let (true, Some(last)) = (b, bytes.last_mut()) {
        *last = a.mark(last, m.count % 8);
    }
    // M″: zeros, up to a number of blocks that is not zero.
    let nm = bytes.len();
    let zero = a.byte(0);
    bytes.resize(nm.next_multiple_of(nb).max(nb), zero);

    let k = bytes.len() / nb;
    let mut h = g.to_vec();
    for (i, block) in bytes.chunks(nb).enumerate() {
        let (first, last) = (i == 0, i == k - 1);
        let [low, high] = plus(a, position, nm.min((i + 1) * nb) as u64);
        let at_last = u64::from(last) << 63 | u64::from(last && b) << 55;
        let flags = a.number(start | if first { at_first } else { 0 } | at_last);
        let tweak = [low, a.xor(&high, &flags)];
        let words = a.words(block);
        let c = cipher.encrypt(a, &h, &tweak, &words);
        h = c.iter().zip(&words).map(|(c, m)| a.xor(c, m)).collect();
    }
    h
}

/// The inputs of a hash beside the message.
#[derive(Clone)]
pub struct Arguments<B> {
    /// N_o.
    pub output_bits: u64,
    /// K.
    pub key: Vec<B>,
    /// PRS.
    pub personalization: Vec<B>,
    /// PK.
    pub public_key: Vec<B>,
    /// KDF.
    pub key_identifier: Vec<B>,
    /// NON.
    pub nonce: Vec<B>,
    /// Y_l, Y_f and Y_m.
    pub tree: [u8; 3],
}

impl<B> Arguments<B> {
    /// No argument but the length of the output.
    pub fn of_output(output_bits: u64) -> Self {
        Self {
            output_bits,
            key: Vec::new(),
            personalization: Vec::new(),
            public_key: Vec::new(),
            key_identifier: Vec::new(),
            nonce: Vec::new(),
            tree: [0; 3],
        }
    }
}

/// Section 3.5.5: what is hashed before the message, in ascending order of the types of table 6:
/// the configuration, and the arguments that are there.
pub fn before_message<T>(configuration: T, arguments: [Option<T>; 5]) -> Vec<(u64, T)> {
    let kinds = [
        kind::KEY,
        kind::PERSONALIZATION,
        kind::PUBLIC_KEY,
        kind::KEY_IDENTIFIER,
        kind::NONCE,
    ];
    let mut strings = vec![(kind::CONFIGURATION, configuration)];
    for (kind, argument) in kinds.into_iter().zip(arguments) {
        strings.extend(argument.map(|argument| (kind, argument)));
    }
    strings.sort_by_key(|(kind, _)| *kind);
    strings
}

/// Section 3.5.5: the chaining value before the message, for a state of `words` words.
pub fn start<A: Strings>(a: &mut A, words: usize, arguments: &Arguments<A::Byte>) -> Vec<A::Word> {
    // Table 7: schema identifier, version, reserved, N_o, Y_l, Y_f, Y_m, reserved.
    let mut configuration = b"SHA3\x01\0\0\0".to_vec();
    configuration.extend(arguments.output_bits.to_le_bytes());
    configuration.extend(arguments.tree);
    configuration.resize(32, 0);
    let configuration = a.string(&configuration);
    let strings = [
        &arguments.key,
        &arguments.personalization,
        &arguments.public_key,
        &arguments.key_identifier,
        &arguments.nonce,
    ]
    .map(|string| (!string.is_empty()).then_some(string));
    let mut g = vec![a.number(0); words];
    for (kind, string) in before_message(&configuration, strings) {
        g = ubi(a, &g, Bits::of_bytes(string), kind << 56, 0);
    }
    g
}

/// Section 3.5.4: the first block of the hash of `message`, from the chaining value before it.
pub fn hash<A: Strings>(a: &mut A, start: &[A::Word], message: Bits<'_, A::Byte>) -> Vec<A::Word> {
    let g = ubi(a, start, message, kind::MESSAGE << 56, 0);
    output(a, &g, 0)
}

/// Section 3.5.3: block `i` of Output(G).
pub fn output<A: Strings>(a: &mut A, g: &[A::Word], i: u64) -> Vec<A::Word> {
    let i = a.number(i);
    output_from(a, &Threefish, g, &i)
}

/// The same with any cipher, for a number of the block that may be unknown.
pub fn output_from<A: Strings>(
    a: &mut A,
    cipher: &impl Cipher<A>,
    g: &[A::Word],
    i: &A::Word,
) -> Vec<A::Word> {
    let (counter, zero) = (a.split(i), a.number(0));
    let position = [zero.clone(), zero];
    let counter = Bits::of_bytes(&counter);
    ubi_from(a, cipher, g, counter, kind::OUTPUT << 56, &position)
}

/// Section 3.5.3: bytes `from` to `to` of Output(G, N_o), where `stream` has the bytes of its
/// blocks. The last byte may have fewer bits: the least significant ones are zero.
pub fn output_bytes<A: Strings>(
    a: &mut A,
    stream: &[A::Byte],
    bits: u64,
    from: usize,
    to: usize,
) -> Vec<A::Byte> {
    let mut bytes = stream[from..to].to_vec();
    if let (Some(last), true) = (bytes.last_mut(), 8 * to as u64 > bits) {
        *last = a.first(last, (bits % 8) as usize);
    }
    bytes
}
