//! Words identified by their operations. The proofs run whole hashes on them.
//!
//! A [`Symbol`](super::Symbol) has all its bits, and formulas of the rounds of several blocks are
//! long. Here a word is a number in a list of operations. The same operation on the same operands
//! gets the same number, which compilers call *value numbering*. The only rules are:
//!
//! - equal operands give equal results, and operations on constants are evaluated;
//! - + and ⊕ are commutative, and (a + b) - b = a, (a ⊕ b) ⊕ b = a and a ⊕ 0 = a;
//! - a rotation left by r is a rotation right by 64 - r, and rotations add up;
//! - a word consists of its eight bytes, and splitting it gives these bytes.
//!
//! All rules hold for machine words, so two results with the same number are equal words for all
//! inputs. The converse does not hold: the rules do not show (a + b) + c = a + (b + c). For a hash
//! and its specification that is no loss. They do the same operations, and bugs (a wrong tweak, a
//! wrong flag, a byte in the wrong place, a block too many) change the operands.
//!
//! F of BLAKE2b is one operation here: [`Value::f`]. A result for every function holds for F. A
//! separate row on symbols proves F itself. Threefish may be one operation too, E ([`Value::e`]),
//! if its rounds would take too long.
//!
//! If two numbers differ, the real operations run on random inputs until the results differ. These
//! inputs are a counterexample.

#[cfg(test)]
mod tests;

use super::counterexample::{Counterexample, NOTHING, SourceVerdict};
use super::modes::Strings;
use crate::spec;
use core::cell::RefCell;
use sealstone_lanes::{Scalar, Word};
use sealstone_prover::algebra::{Algebra, Numbers};
use sealstone_prover::term::{Interner, Random};

/// The operations of one proof, each once. In the traits of `sealstone-lanes` it takes the place of
/// the CPU token, so every word needs it.
#[derive(Default)]
pub struct Values {
    /// Each as an [`Operator`], a literal, and the numbers of the operands.
    operations: RefCell<Interner>,
    inputs: RefCell<Vec<Input>>,
}

/// A 64-bit word: the number of the operation that makes it.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    values: &'a Values,
    number: u32,
}

/// A byte.
#[derive(Clone, Copy)]
pub struct ValueByte<'a>(Value<'a>);

/// A word on which the source runs: a [`Value`], or one with a bug.
pub(super) trait Run<'a>:
    Scalar<Cpu = &'a Values, Byte = ValueByte<'a>> + From<Value<'a>> + Into<Value<'a>>
{
}
impl<'a, S> Run<'a> for S where
    S: Scalar<Cpu = &'a Values, Byte = ValueByte<'a>> + From<Value<'a>> + Into<Value<'a>>
{
}

struct Input {
    name: String,
    numbers: Vec<u32>,
    /// Bytes in each word.
    bytes: usize,
}

/// The operators and their list, in the order of their numbers.
macro_rules! operators {
    ($($(#[$documentation:meta])* $operator:ident,)*) => {
        #[derive(Clone, Copy, PartialEq, Eq)]
        #[repr(u32)]
        enum Operator {
            $($(#[$documentation])* $operator,)*
        }

        const OPERATORS: &[Operator] = &[$(Operator::$operator,)*];
    };
}

operators! {
    /// An input. The literal is its index.
    AnyWord,
    AnyByte,
    /// A constant. The literal is its lower half, the operand its upper half.
    Constant,
    Add,
    Subtract,
    Xor,
    And,
    MultiplyHalves,
    /// The literal is the number of bits.
    RotateRight,
    ShiftRight,
    SwapBytes,
    /// A word of eight bytes.
    Join,
    /// The byte with the literal as its index.
    Split,
    /// See [`Strings::mark`]; the literal is the number of bits.
    Mark,
    /// See [`Strings::first`]; the literal is the number of bits.
    Keep,
    /// The word of F(h, m, t, f) with the literal as its index.
    F,
    /// The word of E(key, tweak, block) with the literal as its index.
    E,
}
use Operator::*;

/// The largest number of operands: those of E of 16 words.
const OPERANDS: usize = 34;

impl Operator {
    fn commutes(self) -> bool {
        matches!(self, Add | Xor | And | MultiplyHalves)
    }

    /// The result on numbers; `None` for an input and a constant.
    fn run(self, literal: u32, operands: &[u64]) -> Option<u64> {
        let n = literal as usize;
        Some(match (self, operands) {
            (Add, [a, b]) => a.wrapping_add(*b),
            (Subtract, [a, b]) => a.wrapping_sub(*b),
            (Xor, [a, b]) => a ^ b,
            (And, [a, b]) => a & b,
            (MultiplyHalves, [a, b]) => (a & 0xffff_ffff) * (b & 0xffff_ffff),
            (RotateRight, [a]) => a.rotate_right(literal),
            (ShiftRight, [a]) => a >> literal,
            (SwapBytes, [a]) => a.swap_bytes(),
            (Join, bytes) => {
                let bytes: Vec<u8> = bytes.iter().map(|byte| *byte as u8).collect();
                Strings::join(&mut Numbers, &bytes)
            }
            (Split, [a]) => Strings::split(&mut Numbers, a)[n].into(),
            (Mark, [a]) => Numbers.mark(&(*a as u8), n).into(),
            (Keep, [a]) => Numbers.first(&(*a as u8), n).into(),
            (F, _) => {
                let (h, m, t, f) = (
                    &operands[..8],
                    &operands[8..24],
                    &operands[24..26],
                    operands[26],
                );
                spec::blake2b::compress(&mut Numbers, h, m, t, &f)[n]
            }
            (E, _) => {
                let words = operands.len() / 2 - 1;
                let (key, others) = operands.split_at(words);
                let (tweak, block) = others.split_at(2);
                spec::threefish::encrypt(&mut Numbers, key, tweak, block)[n]
            }
            _ => return None,
        })
    }
}

impl Values {
    /// Unknown words. A proof about them holds for all values.
    pub fn words<const N: usize>(&self, name: &str) -> [Value<'_>; N] {
        let words = self.unknown(name, AnyWord, N);
        core::array::from_fn(|i| words[i])
    }

    /// Unknown bytes.
    pub fn bytes(&self, name: &str, length: usize) -> Vec<ValueByte<'_>> {
        let bytes = self.unknown(name, AnyByte, length);
        bytes.into_iter().map(ValueByte).collect()
    }

    fn unknown(&self, name: &str, operator: Operator, count: usize) -> Vec<Value<'_>> {
        let mut inputs = self.inputs.borrow_mut();
        let before: usize = inputs.iter().map(|input| input.numbers.len()).sum();
        let values: Vec<_> = (before..before + count)
            .map(|i| self.value(operator, i as u32, &[]))
            .collect();
        inputs.push(Input {
            name: name.to_owned(),
            numbers: values.iter().map(|value| value.number).collect(),
            bytes: if operator == AnyByte { 1 } else { 8 },
        });
        values
    }

    fn constant(&self, x: u64) -> Value<'_> {
        self.value(Constant, x as u32, &[(x >> 32) as u32])
    }

    /// The result of an operation without a simpler form.
    fn value(&self, operator: Operator, literal: u32, operands: &[u32]) -> Value<'_> {
        let mut items = [0; 2 + OPERANDS];
        items[..2].copy_from_slice(&[operator as u32, literal]);
        items[2..][..operands.len()].copy_from_slice(operands);
        let number = self
            .operations
            .borrow_mut()
            .number(&items[..2 + operands.len()]);
        Value {
            values: self,
            number,
        }
    }

    /// The result of an operation.
    fn apply(&self, operator: Operator, literal: u32, operands: &[u32]) -> Value<'_> {
        let constants: Option<Vec<u64>> = operands.iter().map(|x| self.known(*x)).collect();
        if let Some(result) = constants.and_then(|x| operator.run(literal, &x)) {
            return self.constant(result);
        }
        match (self.simpler(operator, literal, operands), operands) {
            (Some(number), _) => self.numbered(number),
            (_, [a, b]) if operator.commutes() && b < a => self.value(operator, literal, &[*b, *a]),
            _ => self.value(operator, literal, operands),
        }
    }

    /// The number of an operation with the same result.
    fn simpler(&self, operator: Operator, literal: u32, operands: &[u32]) -> Option<u32> {
        match (operator, operands) {
            (Subtract, [sum, b]) => self.other(Add, *sum, *b),
            (Xor, [a, b]) if self.known(*a) == Some(0) => Some(*b),
            (Xor, [a, b]) if self.known(*b) == Some(0) => Some(*a),
            (Xor, [a, b]) => self.other(Xor, *a, *b).or_else(|| self.other(Xor, *b, *a)),
            (RotateRight, [turned]) => {
                let (before, word) = match *self.operations.borrow().get(*turned) {
                    [operator, by, word] if operator == RotateRight as u32 => (by, word),
                    _ => return None,
                };
                Some(match (literal + before) % 64 {
                    0 => word,
                    by => self.value(RotateRight, by, &[word]).number,
                })
            }
            (Split, [word]) if self.is(Join, 0, *word) => {
                Some(self.operations.borrow().get(*word)[2 + literal as usize])
            }
            (Join, [first, ..]) if self.is(Split, 0, *first) => {
                let word = self.operations.borrow().get(*first)[2];
                let is_byte = |(i, byte): (u32, &u32)| {
                    self.is(Split, i, *byte) && self.operations.borrow().get(*byte)[2] == word
                };
                (0..).zip(operands).all(is_byte).then_some(word)
            }
            _ => None,
        }
    }

    /// The other operand, if the operation with number `of` is this one and has `one` as an
    /// operand.
    fn other(&self, operator: Operator, of: u32, one: u32) -> Option<u32> {
        match *self.operations.borrow().get(of) {
            [o, _, a, b] if o == operator as u32 && b == one => Some(a),
            [o, _, a, b] if o == operator as u32 && a == one => Some(b),
            _ => None,
        }
    }

    fn numbered(&self, number: u32) -> Value<'_> {
        Value {
            values: self,
            number,
        }
    }

    /// The constant with this number, if it is one.
    fn known(&self, number: u32) -> Option<u64> {
        match *self.operations.borrow().get(number) {
            [operator, low, high] if operator == Constant as u32 => {
                Some(u64::from(low) | u64::from(high) << 32)
            }
            _ => None,
        }
    }

    /// Whether this operation has this number, with any operands.
    fn is(&self, operator: Operator, literal: u32, number: u32) -> bool {
        self.operations.borrow().get(number)[..2] == [operator as u32, literal]
    }

    /// Whether one of these results depends on it, for each operation.
    fn needed(&self, results: &[u32]) -> Vec<bool> {
        let operations = self.operations.borrow();
        let mut needed = vec![false; operations.count()];
        for result in results {
            needed[*result as usize] = true;
        }
        for number in (0..needed.len()).rev() {
            let [operator, _, operands @ ..] = operations.get(number as u32) else {
                unreachable!("an operator, a literal and operands")
            };
            // A constant has a half of its number there.
            if needed[number] && OPERATORS[*operator as usize] != Constant {
                operands.iter().for_each(|x| needed[*x as usize] = true);
            }
        }
        needed
    }

    /// The results of the operations that are needed, and of all inputs, on random inputs. Others
    /// are zero.
    fn run(&self, random: &mut Random, needed: &[bool]) -> Vec<u64> {
        let operations = self.operations.borrow();
        let mut results: Vec<u64> = Vec::with_capacity(operations.count());
        for number in 0..operations.count() as u32 {
            let [operator, literal, operands @ ..] = operations.get(number) else {
                unreachable!("an operator, a literal and operands")
            };
            let result = match OPERATORS[*operator as usize] {
                AnyWord => random.number(),
                AnyByte => random.number() & 0xff,
                Constant => u64::from(*literal) | u64::from(operands[0]) << 32,
                _ if !needed[number as usize] => 0,
                operator => {
                    let operands: Vec<u64> =
                        operands.iter().map(|x| results[*x as usize]).collect();
                    let result = operator.run(*literal, &operands);
                    result.expect("an operation with as many operands as it has")
                }
            };
            results.push(result);
        }
        results
    }

    /// Compares two results, which must not be empty.
    fn compare(&self, computed: &[u32], specified: &[u32], bytes: usize) -> SourceVerdict {
        if specified.is_empty() {
            return SourceVerdict::Unproved(NOTHING.to_owned());
        }
        if computed == specified {
            return SourceVerdict::Proved;
        }
        if computed.len() != specified.len() {
            let (computed, specified) = (computed.len(), specified.len());
            return SourceVerdict::Unproved(format!(
                "{computed} words or bytes where {specified} are specified"
            ));
        }
        let (mut random, needed) = (Random::new(1), self.needed(&[computed, specified].concat()));
        for _ in 0..SAMPLES {
            let results = self.run(&mut random, &needed);
            let at = |numbers: &[u32], bytes: usize| -> Vec<u8> {
                let values = numbers.iter().map(|number| results[*number as usize]);
                values
                    .flat_map(|value| Strings::split(&mut Numbers, &value)[..bytes].to_vec())
                    .collect()
            };
            let (computed, specified) = (at(computed, bytes), at(specified, bytes));
            if computed != specified {
                let inputs = self.inputs.borrow();
                let inputs = inputs
                    .iter()
                    .map(|input| (input.name.clone(), at(&input.numbers, input.bytes)));
                return SourceVerdict::Refuted(Counterexample {
                    inputs: inputs.collect(),
                    computed,
                    specified,
                });
            }
        }
        SourceVerdict::Unproved("made in different ways, but the same on random inputs".to_owned())
    }
}

/// The number of random inputs to try if two results have different operations.
const SAMPLES: usize = 64;

/// Compares all words of two results.
pub(super) fn compare_words(
    values: &Values,
    computed: &[Value<'_>],
    specified: &[Value<'_>],
) -> SourceVerdict {
    let [computed, specified] =
        [computed, specified].map(|words| words.iter().map(|word| word.number).collect::<Vec<_>>());
    values.compare(&computed, &specified, 8)
}

/// Compares all bytes of two results.
pub(super) fn compare_bytes(
    values: &Values,
    computed: &[ValueByte<'_>],
    specified: &[ValueByte<'_>],
) -> SourceVerdict {
    let [computed, specified] = [computed, specified]
        .map(|bytes| bytes.iter().map(|byte| byte.0.number).collect::<Vec<_>>());
    values.compare(&computed, &specified, 1)
}

impl<'a> Value<'a> {
    fn apply(self, operator: Operator, literal: u32, others: &[Self]) -> Self {
        let mut operands = [self.number; OPERANDS];
        for (number, other) in operands[1..].iter_mut().zip(others) {
            *number = other.number;
        }
        self.values
            .apply(operator, literal, &operands[..=others.len()])
    }

    /// F(h, m, t, f) of BLAKE2b, uninterpreted: equal arguments give equal results.
    pub(super) fn f(h: &[Self], m: &[Self], t: &[Self], f: Self) -> [Self; 8] {
        let others: Vec<Self> = [&h[1..], m, t, &[f]].concat();
        core::array::from_fn(|i| h[0].apply(F, i as u32, &others))
    }

    /// E(key, tweak, block) of Threefish, uninterpreted in the same way.
    pub(super) fn e<const N: usize>(
        key: &[Self; N],
        tweak: &[Self; 2],
        block: &[Self],
    ) -> [Self; N] {
        let others: Vec<Self> = [&key[1..], tweak, block].concat();
        core::array::from_fn(|i| key[0].apply(E, i as u32, &others))
    }

    /// Zero, of the same proof.
    pub(super) fn cleared(self) -> Self {
        self.values.constant(0)
    }
}

impl ValueByte<'_> {
    /// Zero, of the same proof.
    pub(super) fn cleared(self) -> Self {
        Self(self.0.cleared())
    }
}

// Kernels on real words are unrolled and inlined. Here this would only cost compile time, so
// nothing is inlined.
impl<'a> Word for Value<'a> {
    type Cpu = &'a Values;

    #[inline(never)]
    fn splat(values: &'a Values, x: u64) -> Self {
        values.constant(x)
    }
    #[inline(never)]
    fn add(self, other: Self) -> Self {
        self.apply(Add, 0, &[other])
    }
    #[inline(never)]
    fn sub(self, other: Self) -> Self {
        self.apply(Subtract, 0, &[other])
    }
    #[inline(never)]
    fn xor(self, other: Self) -> Self {
        self.apply(Xor, 0, &[other])
    }
    #[inline(never)]
    fn mul_lo32(self, other: Self) -> Self {
        self.apply(MultiplyHalves, 0, &[other])
    }
    #[inline(never)]
    fn rotl<const R: u32>(self) -> Self {
        self.apply(RotateRight, 64 - R, &[])
    }
    #[inline(never)]
    fn rotr<const R: u32>(self) -> Self {
        self.apply(RotateRight, R, &[])
    }
}

impl<'a> Scalar for Value<'a> {
    type Byte = ValueByte<'a>;

    #[inline(never)]
    fn byte(values: &'a Values, x: u8) -> ValueByte<'a> {
        ValueByte(values.constant(x.into()))
    }
    #[inline(never)]
    fn from_le_bytes(bytes: [ValueByte<'a>; 8]) -> Self {
        let [first, others @ ..] = bytes.map(|byte| byte.0);
        first.apply(Join, 0, &others)
    }
    #[inline(never)]
    fn to_le_bytes(self) -> [ValueByte<'a>; 8] {
        core::array::from_fn(|i| ValueByte(self.apply(Split, i as u32, &[])))
    }
    #[inline(never)]
    fn pad(byte: ValueByte<'a>, bits: u32) -> ValueByte<'a> {
        ValueByte(byte.0.apply(Mark, bits, &[]))
    }
    #[inline(never)]
    fn keep(byte: ValueByte<'a>, bits: u32) -> ValueByte<'a> {
        ValueByte(byte.0.apply(Keep, bits, &[]))
    }
    #[inline(never)]
    fn xor_bytes(a: ValueByte<'a>, b: ValueByte<'a>) -> ValueByte<'a> {
        ValueByte(a.0.apply(Xor, 0, &[b.0]))
    }
}

// For the specifications.
impl<'a> Algebra<64> for &'a Values {
    type Word = Value<'a>;

    fn number(&mut self, x: u64) -> Value<'a> {
        self.constant(x)
    }
    fn add(&mut self, a: &Value<'a>, b: &Value<'a>) -> Value<'a> {
        a.apply(Add, 0, &[*b])
    }
    fn sub(&mut self, a: &Value<'a>, b: &Value<'a>) -> Value<'a> {
        a.apply(Subtract, 0, &[*b])
    }
    fn xor(&mut self, a: &Value<'a>, b: &Value<'a>) -> Value<'a> {
        a.apply(Xor, 0, &[*b])
    }
    fn and(&mut self, a: &Value<'a>, b: &Value<'a>) -> Value<'a> {
        a.apply(And, 0, &[*b])
    }
    fn rotate_right(&mut self, a: &Value<'a>, n: usize) -> Value<'a> {
        a.apply(RotateRight, n as u32, &[])
    }
    fn shift_right(&mut self, a: &Value<'a>, n: usize) -> Value<'a> {
        a.apply(ShiftRight, n as u32, &[])
    }
    fn multiply_halves(&mut self, a: &Value<'a>, b: &Value<'a>) -> Value<'a> {
        a.apply(MultiplyHalves, 0, &[*b])
    }
    fn swap_bytes(&mut self, a: &Value<'a>) -> Value<'a> {
        a.apply(SwapBytes, 0, &[])
    }
}

impl<'a> Strings for &'a Values {
    type Byte = ValueByte<'a>;

    fn byte(&mut self, x: u8) -> ValueByte<'a> {
        ValueByte(self.constant(x.into()))
    }
    fn join(&mut self, bytes: &[ValueByte<'a>]) -> Value<'a> {
        let numbers: Vec<u32> = bytes.iter().map(|byte| byte.0.number).collect();
        self.apply(Join, 0, &numbers)
    }
    fn split(&mut self, word: &Value<'a>) -> Vec<ValueByte<'a>> {
        (0..8)
            .map(|i| ValueByte(word.apply(Split, i, &[])))
            .collect()
    }
    fn mark(&mut self, byte: &ValueByte<'a>, bits: usize) -> ValueByte<'a> {
        ValueByte(byte.0.apply(Mark, bits as u32, &[]))
    }
    fn first(&mut self, byte: &ValueByte<'a>, bits: usize) -> ValueByte<'a> {
        ValueByte(byte.0.apply(Keep, bits as u32, &[]))
    }
    fn xor_bytes(&mut self, a: &ValueByte<'a>, b: &ValueByte<'a>) -> ValueByte<'a> {
        ValueByte(a.0.apply(Xor, 0, &[b.0]))
    }
}
