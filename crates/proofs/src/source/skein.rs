//! Skein as a whole, on symbolic bytes.
//!
//! A hash is three calls: the chaining value before the message, UBI over the message, and the
//! output. Each is compared for *any* chaining value before it. So their sequence is right for
//! every key and other argument before it. Some hashes are also compared as a whole.
//!
//! Source and specification run every round of every block. The comparison is by the operations of
//! the words ([`Values`]).

use super::Claim;
use super::counterexample::SourceVerdict;
use super::modes::skein::{self as modes, Arguments, Bits, kind};
use super::value::{Run, Value, ValueByte, Values, compare_bytes, compare_words};
use sealstone_lanes::{Scalar, Word};
use sealstone_skein::threefish::Block;
use sealstone_skein::tree::Shape;
use sealstone_skein::{Parameters, Skein, Type, Ubi, output_block, start_strings};

pub(super) fn claims() -> Vec<Claim> {
    let starts = "the chaining value before a message, with and without each of the five arguments and a tree, arguments of 1 to 129 bytes, for all of them";
    let lengths = "messages of every length from 0 to 300 bytes and around three blocks, each in one part and in up to four, from any chaining value";
    let bits = "messages of every number of bits from 1 to 2400, from any chaining value";
    let outputs = "output blocks 0, 1, 2^40 and 2^64 - 1, of any chaining value";
    let arguments = "order and types of the strings before a message, with and without each of the five arguments, of every length";
    let wholes = "key, message and output in one call after the other: no key or one of 5 bytes, seven lengths of messages up to two blocks and a byte, six of outputs up to three blocks";
    vec![
        Claim::of("Skein-256, start", starts, every_start::<4>),
        Claim::of("Skein-512, start", starts, every_start::<8>),
        Claim::of("Skein-1024, start", starts, every_start::<16>),
        Claim::of("Skein-256, message", lengths, every_length::<4>),
        Claim::of("Skein-512, message", lengths, every_length::<8>),
        Claim::of("Skein-1024, message", lengths, every_length::<16>),
        Claim::of("Skein-256, bits", bits, every_bit_length::<4>),
        Claim::of("Skein-512, bits", bits, every_bit_length::<8>),
        Claim::of("Skein-1024, bits", bits, every_bit_length::<16>),
        Claim::of("Skein-256, output", outputs, every_output::<4>),
        Claim::of("Skein-512, output", outputs, every_output::<8>),
        Claim::of("Skein-1024, output", outputs, every_output::<16>),
        Claim::of("Skein, every argument", arguments, every_argument),
        Claim::of("Skein-256, as a whole", wholes, every_whole::<4>),
        Claim::of("Skein-512, as a whole", wholes, every_whole::<8>),
        Claim::of("Skein-1024, as a whole", wholes, every_whole::<16>),
    ]
}

/// The number of messages that share a list of operations. They begin with the same bytes, and so
/// with the same operations.
const GROUP: usize = 64;

/// The longest message for which all lengths are proved.
const LONGEST: usize = 300;

/// The cuts of messages into parts: none, at a third, after a block, after a block and a byte, and
/// after the empty start and each block.
fn cuts(block: usize, length: usize) -> impl Iterator<Item = Vec<usize>> {
    let all = [
        vec![],
        vec![length / 3],
        vec![block],
        vec![block + 1],
        vec![0, block, 2 * block],
    ];
    all.into_iter()
        .filter(move |cuts| cuts.iter().all(|cut| *cut <= length))
}

fn every_length<const N: usize>() -> SourceVerdict
where
    for<'a> [Value<'a>; N]: Block<Value<'a>>,
{
    let block = 8 * N;
    let around = (3 * block - 1..=3 * block + 1).filter(|length| *length > LONGEST);
    let lengths: Vec<usize> = (0..=LONGEST).chain(around).collect();
    SourceVerdict::all(lengths.chunks(GROUP).map(|group| {
        let values = Values::default();
        let any = Any::<N>::of(&values, LONGEST.max(3 * block + 1));
        let cases = group
            .iter()
            .flat_map(|length| cuts(block, *length).map(move |cuts| (8 * length, cuts)));
        SourceVerdict::all(cases.map(|(bits, cuts)| any.message::<Value<'_>>(bits, bits, &cuts)))
    }))
}

fn every_bit_length<const N: usize>() -> SourceVerdict
where
    for<'a> [Value<'a>; N]: Block<Value<'a>>,
{
    let counts: Vec<usize> = (1..=8 * LONGEST).collect();
    SourceVerdict::all(counts.chunks(GROUP).map(|group| {
        let values = Values::default();
        let any = Any::<N>::of(&values, LONGEST);
        SourceVerdict::all(
            group
                .iter()
                .map(|count| any.message::<Value<'_>>(*count, *count, &[])),
        )
    }))
}

/// Any chaining value and any message.
pub(super) struct Any<'a, const N: usize> {
    values: &'a Values,
    start: [Value<'a>; N],
    message: Vec<ValueByte<'a>>,
}

impl<'a, const N: usize> Any<'a, N> {
    /// A message of up to `longest` bytes.
    pub(super) fn of(values: &'a Values, longest: usize) -> Self {
        Self {
            values,
            start: values.words("start"),
            message: values.bytes("message", longest),
        }
    }

    /// The source's UBI over `count` bits of the message, against the specification of `specified`
    /// bits.
    pub(super) fn message<S: Run<'a>>(
        &self,
        specified: usize,
        count: usize,
        cuts: &[usize],
    ) -> SourceVerdict
    where
        [S; N]: Block<S>,
    {
        let bytes = &self.message[..count.div_ceil(8)];
        let chain = hash_message(self.values, self.start.map(S::from), bytes, count, cuts);
        self.compare(chain.map(S::into), specified)
    }

    /// The result from the chaining value and the whole message.
    #[cfg(test)]
    pub(super) fn computed<T>(
        &self,
        compute: impl FnOnce([Value<'a>; N], &[ValueByte<'a>]) -> T,
    ) -> T {
        compute(self.start, &self.message)
    }

    /// Compares a chaining value after a message with that of a message of `specified` bits.
    pub(super) fn compare(&self, computed: [Value<'a>; N], specified: usize) -> SourceVerdict {
        let m = Bits {
            bytes: &self.message[..specified.div_ceil(8)],
            count: specified,
        };
        let specified = modes::ubi(&mut { self.values }, &self.start, m, kind::MESSAGE << 56, 0);
        compare_words(self.values, &computed, &specified)
    }
}

/// The source's UBI over `count` bits of a message that is cut into parts. A full last byte is
/// passed as a byte or as eight bits, alternately.
pub(super) fn hash_message<S: Scalar, const N: usize>(
    cpu: S::Cpu,
    start: [S; N],
    message: &[S::Byte],
    count: usize,
    cuts: &[usize],
) -> [S; N]
where
    [S; N]: Block<S>,
{
    let mut ubi = Ubi::new(cpu, start, Type::Message);
    let mut from = 0;
    for cut in cuts.iter().copied().chain([message.len()]) {
        ubi.update(&message[from..cut]);
        from = cut;
    }
    match count % 8 {
        0 if count.is_multiple_of(16) => ubi.finish(),
        0 => ubi.finish_bits(8),
        bits => ubi.finish_bits(bits as u32),
    }
}

/// The arguments of a hash, in the order of the specification.
#[derive(Clone)]
pub(super) struct Before<'a> {
    output_bits: u64,
    /// Key, personalisation, public key, key identifier and nonce.
    strings: [Vec<ValueByte<'a>>; 5],
    tree: Option<[u8; 3]>,
}

impl<'a> Before<'a> {
    /// Unknown arguments of these lengths.
    pub(super) fn any(
        values: &'a Values,
        output_bits: u64,
        lengths: [usize; 5],
        tree: Option<[u8; 3]>,
    ) -> Self {
        let names = [
            "key",
            "personalisation",
            "public key",
            "key identifier",
            "nonce",
        ];
        Self {
            output_bits,
            strings: core::array::from_fn(|i| values.bytes(names[i], lengths[i])),
            tree,
        }
    }

    /// The source's chaining value before a message against the specification of `specified`.
    pub(super) fn start<S: Run<'a>, const N: usize>(
        &self,
        values: &'a Values,
        specified: &Self,
    ) -> SourceVerdict
    where
        [S; N]: Block<S>,
    {
        let computed: [S; N] = start_of(values, self.output_bits, &self.strings, self.tree);
        let [key, personalization, public_key, key_identifier, nonce] = specified.strings.clone();
        let arguments = Arguments {
            output_bits: specified.output_bits,
            key,
            personalization,
            public_key,
            key_identifier,
            nonce,
            tree: specified.tree.unwrap_or_default(),
        };
        let specified = modes::start(&mut { values }, N, &arguments);
        compare_words(values, &computed.map(S::into), &specified)
    }
}

/// The source's chaining value before a message.
pub(super) fn start_of<S: Scalar, const N: usize>(
    cpu: S::Cpu,
    output_bits: u64,
    strings: &[Vec<S::Byte>; 5],
    tree: Option<[u8; 3]>,
) -> [S; N]
where
    [S; N]: Block<S>,
{
    let [key, personalization, public_key, key_identifier, nonce] = strings;
    let shape = tree.map(|[leaf, fan_out, height]| {
        Shape::new(leaf, fan_out, height).expect("a shape that is allowed")
    });
    Parameters::new()
        .output_bits(output_bits)
        .key(key)
        .personalization(personalization)
        .public_key(public_key)
        .key_id(key_identifier)
        .nonce(nonce)
        .start(cpu, shape)
}

fn every_start<const N: usize>() -> SourceVerdict
where
    for<'a> [Value<'a>; N]: Block<Value<'a>>,
{
    let case = |output_bits, lengths, tree| {
        let values = Values::default();
        let before = Before::any(&values, output_bits, lengths, tree);
        before.start::<Value<'_>, N>(&values, &before)
    };
    let trees = [None, Some([1, 2, 3]), Some([6, 4, 255])];
    let subsets = (0..32).map(|subset| {
        let lengths = [32, 40, 100, 7, 16];
        core::array::from_fn(|i| if subset >> i & 1 == 1 { lengths[i] } else { 0 })
    });
    let subsets = subsets.zip(1..).map(|(lengths, i)| {
        let output_bits = [8 * i, 1 << 40, u64::MAX][i as usize % 3];
        case(output_bits, lengths, trees[i as usize / 3 % 3])
    });
    let lengths = (0..5).flat_map(|argument| {
        (1..=129).map(move |length| {
            let mut lengths = [0; 5];
            lengths[argument] = length;
            lengths
        })
    });
    SourceVerdict::all(subsets)
        .and(|| SourceVerdict::all(lengths.map(|lengths| case(64 * N as u64, lengths, None))))
}

/// With and without each argument.
fn every_argument() -> SourceVerdict {
    SourceVerdict::all((0..32).map(|subset| {
        order_of(
            &Values::default(),
            subset,
            |key, configuration, arguments| start_strings(key, configuration, arguments).collect(),
        )
    }))
}

/// Strings in an order, with their types.
type Ordered<'a> = Vec<(Type, Value<'a>)>;

/// The strings before a message as the source orders them, against the specification. An unknown
/// word stands for each string, whatever its length. UBI is an uninterpreted function of a chaining
/// value, a type and a string.
pub(super) fn order_of<'a>(
    values: &'a Values,
    subset: usize,
    order: impl FnOnce(Option<Value<'a>>, Value<'a>, [Option<Value<'a>>; 4]) -> Ordered<'a>,
) -> SourceVerdict {
    let ([configuration], strings) = (values.words("configuration"), values.words::<5>("strings"));
    let given: [_; 5] = core::array::from_fn(|i| (subset >> i & 1 == 1).then_some(strings[i]));
    let [key, arguments @ ..] = given;
    let number = |x| Value::splat(values, x);
    let ubi = |chain: [Value<'a>; 8], (kind, string): (u64, Value<'a>)| {
        Value::e(&chain, &[number(kind), string], &[number(0); 8])
    };
    let computed = order(key, configuration, arguments).into_iter();
    let computed = computed.map(|(kind, string)| (kind as u64, string));
    let specified = modes::before_message(configuration, given).into_iter();
    let [computed, specified] = [
        computed.fold([number(0); 8], ubi),
        specified.fold([number(0); 8], ubi),
    ];
    compare_words(values, &computed, &specified)
}

fn every_whole<const N: usize>() -> SourceVerdict
where
    for<'a> [Value<'a>; N]: Block<Value<'a>>,
{
    let (values, block) = (Values::default(), 8 * N);
    let whole = Whole::<N>::of(&values);
    let messages = [
        0,
        3,
        8,
        8 * block - 8,
        8 * block,
        8 * block + 5,
        16 * block + 8,
    ];
    let outputs = [1, 8, 64 * N, 64 * N + 5, 192 * N - 1, 192 * N];
    let cases = messages.into_iter().flat_map(|message| {
        let outputs = outputs.into_iter();
        outputs.flat_map(move |output| [0, 5].map(|key| [key, message, output]))
    });
    SourceVerdict::all(cases.map(|case| whole.hash::<Value<'_>>(case, case)))
}

/// A hash with any key and message.
pub(super) struct Whole<'a, const N: usize> {
    values: &'a Values,
    key: Vec<ValueByte<'a>>,
    message: Vec<ValueByte<'a>>,
}

impl<'a, const N: usize> Whole<'a, N> {
    pub(super) fn of(values: &'a Values) -> Self {
        let (key, message) = (values.bytes("key", 5), values.bytes("message", 16 * N + 1));
        Self {
            values,
            key,
            message,
        }
    }

    /// The source against the specification. Each case has the bytes of the key, the bits of the
    /// message, and the bits of the output.
    pub(super) fn hash<S: Run<'a>>(
        &self,
        computed: [usize; 3],
        specified: [usize; 3],
    ) -> SourceVerdict
    where
        [S; N]: Block<S>,
    {
        let [key, message, output] = computed;
        let message = Bits {
            bytes: &self.message[..message.div_ceil(8)],
            count: message,
        };
        let computed = hash_of::<S, N>(self.values, &self.key[..key], message, output as u64);
        compare_bytes(self.values, &computed, &self.specified(specified))
    }

    fn specified(&self, [key, message, output]: [usize; 3]) -> Vec<ValueByte<'a>> {
        let a = &mut { self.values };
        let arguments = Arguments {
            key: self.key[..key].to_vec(),
            ..Arguments::of_output(output as u64)
        };
        let start = modes::start(a, N, &arguments);
        let message = Bits {
            bytes: &self.message[..message.div_ceil(8)],
            count: message,
        };
        let chain = modes::ubi(a, &start, message, kind::MESSAGE << 56, 0);
        let blocks = (0..3).flat_map(|i| modes::output(a, &chain, i));
        let stream: Vec<_> = blocks.flat_map(Scalar::to_le_bytes).collect();
        modes::output_bytes(a, &stream, output as u64, 0, output.div_ceil(8))
    }
}

/// The source's hash of a message, which it gets in two parts.
fn hash_of<S: Scalar, const N: usize>(
    cpu: S::Cpu,
    key: &[S::Byte],
    message: Bits<'_, S::Byte>,
    output_bits: u64,
) -> Vec<S::Byte>
where
    [S; N]: Block<S>,
{
    let parameters = Parameters::new().output_bits(output_bits).key(key);
    let whole = message.count / 8;
    let (first, second) = message.bytes[..whole].split_at(whole / 3);
    let hash = Skein::<N, S>::with_words(cpu, &parameters);
    let hash = hash.chain(first).chain(second);
    match (message.bytes.get(whole), message.count % 8) {
        (Some(last), bits) => hash.finish_bits(*last, bits as u32),
        (None, _) => hash.finish(),
    }
}

fn every_output<const N: usize>() -> SourceVerdict
where
    for<'a> [Value<'a>; N]: Block<Value<'a>>,
{
    let values = Values::default();
    SourceVerdict::all([0, 1, 1 << 40, u64::MAX].map(|i| output::<Value<'_>, N>(&values, i)))
}

/// Block `i` of the source's output against the specification.
pub(super) fn output<'a, S: Run<'a>, const N: usize>(values: &'a Values, i: u64) -> SourceVerdict
where
    [S; N]: Block<S>,
{
    let chain = values.words::<N>("chain");
    let computed = output_block(values, &chain.map(S::from), i);
    let specified = modes::output(&mut { values }, &chain, i);
    compare_words(values, &computed.map(S::into), &specified)
}
