//! Output of Skein between two parts.

use super::super::counterexample::SourceVerdict;
use super::super::modes::Strings;
use super::super::modes::skein::{kind, output_bytes, output_from};
use super::super::value::{Value, ValueByte, Values, compare_bytes};
use super::skein::UninterpretedE;
use sealstone_lanes::{Scalar, Word};
use sealstone_skein::threefish::Block;
use sealstone_skein::{Output, OutputData, OutputNumber};

/// An unknown number of a block plus a known number.
#[derive(Clone, Copy)]
pub(in super::super) struct AnyNumber<'a> {
    before: Value<'a>,
    more: u64,
}

/// The blocks are those of an uninterpreted cipher. A separate row and the machine code prove the
/// block of a number.
impl<'a> OutputNumber<Value<'a>> for AnyNumber<'a> {
    fn next(self) -> Self {
        let more = self.more + 1;
        Self { more, ..self }
    }
    fn block<const N: usize>(self, values: &'a Values, chain: &[Value<'a>; N]) -> [Value<'a>; N] {
        const FLAGS: u64 = 1 << 62 | 1 << 63;
        let mut counter = [Value::splat(values, 0); N];
        counter[0] = self.before.add(Value::splat(values, self.more));
        let tweak = [8, kind::OUTPUT << 56 | FLAGS].map(|word| Value::splat(values, word));
        let cipher = Value::e(chain, &tweak, &counter);
        core::array::from_fn(|i| cipher[i].xor(counter[i]))
    }
}

/// Data of an unknown number of bytes. It shows only the first ones, and gives as many of them as
/// the source wants.
pub(in super::super) struct Long<'d, B>(pub(in super::super) &'d mut [B]);

impl<'d, B> OutputData<'d, B> for Long<'d, B> {
    fn cut(self, most: usize) -> (&'d mut [B], Self) {
        let (part, others) = self.0.split_at_mut(most);
        (part, Self(others))
    }
}

/// Output that is read in parts.
pub(in super::super) trait Reading<'a>: Clone {
    /// One more part.
    fn xor_into(&mut self, data: &mut [ValueByte<'a>]);
    /// The first turn of a part of an unknown number of bytes.
    fn xor_into_first(&mut self, data: Long<'_, ValueByte<'a>>);
    /// All that is left.
    fn rest(self) -> Vec<ValueByte<'a>>;
}

impl<'a, const N: usize, C> Reading<'a> for Output<N, Value<'a>, C>
where
    [Value<'a>; N]: Block<Value<'a>>,
    C: OutputNumber<Value<'a>>,
{
    fn xor_into(&mut self, data: &mut [ValueByte<'a>]) {
        self.xor_into(data);
    }
    fn xor_into_first(&mut self, data: Long<'_, ValueByte<'a>>) {
        let _ = self.xor_into_first(data);
    }
    fn rest(self) -> Vec<ValueByte<'a>> {
        self.into_vec()
    }
}

/// Output that does not end while a proof reads it.
const ENDLESS: u64 = u64::MAX;

/// The largest number of blocks that a part touches.
const BLOCKS: usize = 3;

/// Output of any chaining value, from the block with any number on.
pub(in super::super) struct AnyOutput<'a, const N: usize> {
    values: &'a Values,
    pub(in super::super) chain: [Value<'a>; N],
    pub(in super::super) number: AnyNumber<'a>,
    /// What the output is added to. It has the same index as the byte of the output.
    data: Vec<ValueByte<'a>>,
    /// The specified blocks.
    stream: Vec<ValueByte<'a>>,
}

impl<'a, const N: usize> AnyOutput<'a, N>
where
    [Value<'a>; N]: Block<Value<'a>>,
{
    pub(in super::super) fn of(values: &'a Values) -> Self {
        let (chain, [before]) = (values.words::<N>("chain"), values.words("number"));
        let a = &mut { values };
        let blocks = (0..=BLOCKS as u64 + 1).flat_map(|i| {
            let number = before.add(Value::splat(values, i));
            output_from(a, &UninterpretedE::<N>, &chain, &number)
        });
        let stream: Vec<_> = blocks.flat_map(Scalar::to_le_bytes).collect();
        Self {
            values,
            chain,
            number: AnyNumber { before, more: 0 },
            data: values.bytes("data", stream.len()),
            stream,
        }
    }

    /// The source, with this number of bits.
    pub(in super::super) fn source(&self, bits: u64) -> Output<N, Value<'a>, AnyNumber<'a>> {
        Output::with_number(self.values, self.chain, self.number, bits)
    }

    /// The induction over the turns of a part and over parts, and output of up to three blocks.
    /// `start` makes output of a number of bits.
    pub(in super::super) fn induction<R: Reading<'a>>(
        &self,
        start: impl Fn(u64) -> R,
    ) -> SourceVerdict {
        let skips = || 0..8 * N;
        let long = SourceVerdict::all(skips().map(|skip| self.long(&start, skip)));
        long.and(|| SourceVerdict::all(skips().map(|skip| self.within(&start, skip))))
            .and(|| SourceVerdict::all(skips().map(|skip| self.parts(&start, skip))))
            .and(|| self.whole(&start))
    }

    /// The first turn of a part that is longer than the rest of its block. Output ends nowhere, or
    /// one bit behind the block.
    pub(in super::super) fn long<R: Reading<'a>>(
        &self,
        start: &impl Fn(u64) -> R,
        skip: usize,
    ) -> SourceVerdict {
        let block = 8 * N;
        SourceVerdict::all([ENDLESS, 8 * block as u64 + 1].map(|bits| {
            let mut output = self.at(start(bits), skip);
            let mut data = self.data[skip..2 * block].to_vec();
            output.xor_into_first(Long(&mut data));
            let (computed, untouched) = data.split_at(block - skip);
            let now = self.compare(computed, skip, bits);
            now.and(|| compare_bytes(self.values, untouched, &self.data[block..2 * block]))
                .and(|| self.state(&output, block, bits))
        }))
    }

    /// Parts within one block: each of them, with each end in its last byte, a bit behind it, and
    /// far away.
    fn within<R: Reading<'a>>(&self, start: &impl Fn(u64) -> R, skip: usize) -> SourceVerdict {
        let cases = (skip + 1..=8 * N).flat_map(|to| {
            let bits = 8 * to as u64;
            (bits - 7..=bits + 1)
                .chain([ENDLESS])
                .map(move |bits| (to, bits))
        });
        SourceVerdict::all(cases.map(|(to, bits)| self.part(start, skip, to, bits)))
    }

    /// Parts that end in later blocks.
    fn parts<R: Reading<'a>>(&self, start: &impl Fn(u64) -> R, skip: usize) -> SourceVerdict {
        let (ends, output) = (8 * N + 1..=8 * N * BLOCKS, self.at(start(ENDLESS), skip));
        SourceVerdict::all(ends.map(|to| self.part_of(output.clone(), skip, to, ENDLESS)))
    }

    /// All output at once, of each number of bits.
    fn whole<R: Reading<'a>>(&self, start: &impl Fn(u64) -> R) -> SourceVerdict {
        let bits = 1..=64 * (N * BLOCKS) as u64;
        SourceVerdict::all(bits.map(|bits| self.state(&start(bits), 0, bits)))
    }

    /// One part, from a byte of the first block to another byte, of output of this number of bits.
    pub(in super::super) fn part<R: Reading<'a>>(
        &self,
        start: &impl Fn(u64) -> R,
        from: usize,
        to: usize,
        bits: u64,
    ) -> SourceVerdict {
        self.part_of(self.at(start(bits), from), from, to, bits)
    }

    fn part_of<R: Reading<'a>>(
        &self,
        mut output: R,
        from: usize,
        to: usize,
        bits: u64,
    ) -> SourceVerdict {
        let mut data = self.data[from..to].to_vec();
        output.xor_into(&mut data);
        self.compare(&data, from, bits)
            .and(|| self.state(&output, to, bits))
    }

    /// The state after a number of bytes.
    fn at<R: Reading<'a>>(&self, mut output: R, position: usize) -> R {
        output.xor_into(&mut self.data[..position].to_vec());
        output
    }

    /// Compares what a part at `from` became.
    fn compare(&self, computed: &[ValueByte<'a>], from: usize, bits: u64) -> SourceVerdict {
        let (a, to) = (&mut { self.values }, from + computed.len());
        let bytes = output_bytes(a, &self.stream, bits, from, to);
        let both = self.data[from..to].iter().zip(&bytes);
        let specified: Vec<_> = both.map(|(data, byte)| a.xor_bytes(data, byte)).collect();
        compare_bytes(self.values, computed, &specified)
    }

    /// Compares a state at `position` by what is left: all of it, or a block and a byte.
    fn state(&self, output: &impl Reading<'a>, position: usize, bits: u64) -> SourceVerdict {
        let mut output = output.clone();
        if bits == ENDLESS {
            let mut data = self.data[position..=position + 8 * N].to_vec();
            output.xor_into(&mut data);
            return self.compare(&data, position, bits);
        }
        let (rest, end) = (output.rest(), bits.div_ceil(8) as usize);
        if position == end && rest.is_empty() {
            return SourceVerdict::Proved;
        }
        let a = &mut { self.values };
        let specified = output_bytes(a, &self.stream, bits, position, end);
        compare_bytes(self.values, &rest, &specified)
    }
}
