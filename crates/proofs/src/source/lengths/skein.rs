//! UBI of Skein between two parts.

use super::super::counterexample::SourceVerdict;
use super::super::modes::skein::{Bits, Cipher, ubi_blocks, ubi_from};
use super::super::value::{Value, ValueByte, Values, compare_bytes};
use super::blocks::{AnyChain, Blockwise, Chains, Unknown};
use super::{Counted, Hashing, Parts};
use sealstone_argon2::blake2b::Count;
use sealstone_lanes::{Blocks, Part, Scalar, Word};
use sealstone_skein::threefish::Block;
use sealstone_skein::{Ubi, UbiBlocks, UbiTweak};

/// E in a specification, uninterpreted.
pub(super) struct UninterpretedE<const N: usize>;

impl<'a, const N: usize> Cipher<&'a Values> for UninterpretedE<N> {
    fn encrypt(
        &self,
        _: &mut &'a Values,
        key: &[Value<'a>],
        tweak: &[Value<'a>; 2],
        plaintext: &[Value<'a>],
    ) -> Vec<Value<'a>> {
        let key: &[_; N] = key.try_into().expect("a key as long as a block");
        Value::e(key, tweak, plaintext).to_vec()
    }
}

/// A position with the type and the level of a block, and its flags. The position has 96 bits. The
/// type and the level are above them.
#[derive(Clone, Copy)]
pub(in super::super) struct AnyTweak<C> {
    pub(in super::super) position: C,
    pub(in super::super) flags: u64,
}

const FIRST: u64 = 1 << 62;
const FINAL: u64 = 1 << 63;
const BIT_PAD: u64 = 1 << 55;

impl<C> AnyTweak<C> {
    /// The tweak before the first block of a message.
    pub(in super::super) fn of(position: C) -> Self {
        let flags = FIRST;
        Self { position, flags }
    }

    /// T0 and T1.
    pub(in super::super) fn words<S: Scalar>(self, cpu: S::Cpu) -> [S; 2]
    where
        C: Count<S>,
    {
        let [low, high] = self.position.words(cpu);
        [low, Word::xor(high, S::splat(cpu, self.flags))]
    }
}

/// A cipher for a kind of words.
pub(in super::super) trait Encrypt: Scalar {
    /// E(`key`, `tweak`, `block`).
    fn encrypt<const N: usize>(
        cpu: Self::Cpu,
        key: &[Self; N],
        tweak: &[Self; 2],
        block: [Self; N],
    ) -> [Self; N]
    where
        [Self; N]: Block<Self>;
}

impl Encrypt for Value<'_> {
    fn encrypt<const N: usize>(
        _: Self::Cpu,
        key: &[Self; N],
        tweak: &[Self; 2],
        block: [Self; N],
    ) -> [Self; N] {
        Value::e(key, tweak, &block)
    }
}

impl<S: Encrypt, C: Count<S>> UbiTweak<S> for AnyTweak<C> {
    fn advance(self, bytes: usize) -> Self {
        let position = self.position.plus(bytes);
        Self { position, ..self }
    }
    fn after_first(self) -> Self {
        let flags = self.flags & !FIRST;
        Self { flags, ..self }
    }
    fn last(self) -> Self {
        let flags = self.flags | FINAL;
        Self { flags, ..self }
    }
    fn bit_padded(self) -> Self {
        let flags = self.flags | BIT_PAD;
        Self { flags, ..self }
    }
    fn encrypt<const N: usize>(self, cpu: S::Cpu, key: &[S; N], block: [S; N]) -> [S; N]
    where
        [S; N]: Block<S>,
    {
        S::encrypt(cpu, key, &self.words(cpu), block)
    }
}

/// Any message from any chaining value and any position, and of any type.
pub(in super::super) struct AnySkein<'a, const N: usize> {
    pub(in super::super) parts: Parts<'a>,
    values: &'a Values,
    pub(in super::super) start: [Value<'a>; N],
    /// The tweak before the first block.
    pub(in super::super) tweak: AnyTweak<Counted<'a>>,
}

impl<'a, const N: usize> AnySkein<'a, N>
where
    [Value<'a>; N]: Block<Value<'a>>,
{
    pub(in super::super) fn of(values: &'a Values) -> Self {
        let start = values.words::<N>("start");
        let tweak = AnyTweak::of(Counted::any(values, "position"));
        let specify = |message: &[ValueByte<'a>]| {
            specified(values, &start, &tweak.position, Bits::of_bytes(message))
        };
        Self {
            parts: Parts::new(values, 8 * N, specify),
            values,
            start,
            tweak,
        }
    }

    /// All states between two blocks: before the first block, and after it.
    pub(in super::super) fn chains(&self) -> Chains<'a, AnyState<'a, N>> {
        Chains {
            values: self.values,
            block: 8 * N,
            before: vec![
                self.chain(FIRST, ["start", "position"]),
                self.chain(0, ["chain", "later position"]),
            ],
            after: self.chain(0, ["chain after the blocks", "position after the blocks"]),
        }
    }

    fn chain(&self, first: u64, [chain, position]: [&str; 2]) -> AnyChain<'a, AnyState<'a, N>> {
        let values = self.values;
        let (value, position) = (values.words(chain), Counted::any(values, position));
        let flags = first;
        let tweak = AnyTweak { position, flags };
        let specify = move |message: &[ValueByte<'a>]| {
            let (a, e) = (&mut { values }, &UninterpretedE::<N>);
            let m = Bits::of_bytes(message);
            let chain = ubi_blocks(a, e, &value, m, [0, first], &position.before);
            chain.into_iter().flat_map(Scalar::to_le_bytes).collect()
        };
        AnyChain {
            chain: UbiChain {
                values,
                value,
                tweak,
            },
            specify: Box::new(specify),
        }
    }

    /// The source.
    pub(super) fn ubi(&self) -> Ubi<Value<'a>, N, AnyTweak<Counted<'a>>> {
        self.ubi_with(self.tweak)
    }

    /// The source with another tweak.
    pub(in super::super) fn ubi_with<T: UbiTweak<Value<'a>>>(
        &self,
        tweak: T,
    ) -> Ubi<Value<'a>, N, T> {
        Ubi::with_tweak(self.values, self.start, tweak)
    }

    /// The chaining values of messages that end within a byte, for each number of bytes in the
    /// first and the second block.
    pub(in super::super) fn bits<T: UbiTweak<Value<'a>>>(
        &self,
        empty: &Ubi<Value<'a>, N, T>,
    ) -> SourceVerdict {
        let bytes = (1..=16 * N).flat_map(|bytes| (1..=8).map(move |bits| (bytes, bits)));
        SourceVerdict::all(bytes.map(|(bytes, bits)| {
            let computed = self.parts.state(empty, bytes).finish_bits(bits);
            let message = Bits {
                bytes: &self.parts.message[..bytes],
                count: 8 * (bytes - 1) + bits as usize,
            };
            let specified = specified(self.values, &self.start, &self.tweak.position, message);
            compare_bytes(self.values, &to_bytes(computed), &specified)
        }))
    }
}

fn specified<'a, const N: usize>(
    values: &'a Values,
    start: &[Value<'a>; N],
    position: &Counted<'a>,
    message: Bits<'_, ValueByte<'a>>,
) -> Vec<ValueByte<'a>> {
    let (a, e) = (&mut { values }, &UninterpretedE::<N>);
    let chain = ubi_from(a, e, start, message, 0, &position.before);
    chain.into_iter().flat_map(Scalar::to_le_bytes).collect()
}

fn to_bytes<const N: usize>(words: [Value<'_>; N]) -> Vec<ValueByte<'_>> {
    words.into_iter().flat_map(Scalar::to_le_bytes).collect()
}

impl<'a, const N: usize, T> Hashing<'a> for Ubi<Value<'a>, N, T>
where
    [Value<'a>; N]: Block<Value<'a>>,
    T: UbiTweak<Value<'a>>,
{
    fn update(&mut self, part: &[ValueByte<'a>]) {
        self.update(part);
    }
    fn finish(mut self) -> Vec<ValueByte<'a>> {
        to_bytes(Ubi::finish(&mut self))
    }
}

/// The state of the source between two blocks.
#[derive(Clone)]
pub(in super::super) struct UbiChain<'a, const N: usize, T> {
    values: &'a Values,
    value: [Value<'a>; N],
    tweak: T,
}

impl<'a, const N: usize, T> UbiChain<'a, N, T> {
    /// The same with another tweak.
    #[cfg(test)]
    pub(in super::super) fn map_tweak<U>(self, to: impl FnOnce(T) -> U) -> UbiChain<'a, N, U> {
        UbiChain {
            values: self.values,
            value: self.value,
            tweak: to(self.tweak),
        }
    }
}

pub(in super::super) type AnyState<'a, const N: usize> = UbiChain<'a, N, AnyTweak<Counted<'a>>>;

impl<'a, const N: usize, T> UbiBlocks<Value<'a>, N, T> for Unknown<'_, UbiChain<'a, N, T>> {
    fn absorb(self, values: &'a Values, chain: &mut [Value<'a>; N], tweak: T) -> T {
        let mut state = UbiChain {
            values,
            value: *chain,
            tweak,
        };
        self.absorb_into(&mut state);
        *chain = state.value;
        state.tweak
    }
}

impl<'a, const N: usize, T: UbiTweak<Value<'a>>> Blockwise<'a> for Ubi<Value<'a>, N, T>
where
    [Value<'a>; N]: Block<Value<'a>>,
{
    type Chain = UbiChain<'a, N, T>;

    fn with_chain(chain: Self::Chain) -> Self {
        Self::with_tweak(chain.values, chain.value, chain.tweak)
    }
    fn add_part(&mut self, part: Part<'_, ValueByte<'a>, Unknown<'_, Self::Chain>>) {
        self.add(part);
    }
    fn absorb(chain: &mut Self::Chain, block: &[ValueByte<'a>]) {
        let block: [_; N] = core::array::from_fn(|i| block.as_chunks().0[i]);
        let values = chain.values;
        chain.tweak = UbiBlocks::absorb(&[block][..], values, &mut chain.value, chain.tweak);
    }
}
