//! Words that record the operations on them.

use super::number::{Logic, Number};
use sealstone_lanes::{Index, Scalar, Word};
use std::cell::RefCell;
use std::convert::Infallible;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Not, Rem, Sub};

/// The recorded operations. Each entry refers to earlier ones only.
#[derive(Debug, Default)]
pub struct Formula {
    entries: RefCell<Vec<Entry>>,
}

/// A number of a formula.
#[derive(Clone, Copy, Debug)]
pub struct Expression<'f> {
    pub(super) formula: &'f Formula,
    pub(super) entry: usize,
}

/// A truth value of a formula.
#[derive(Clone, Copy, Debug)]
pub struct Truth<'f> {
    pub(super) formula: &'f Formula,
    pub(super) entry: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Constant(u64),
    /// An unknown below 2^32.
    Input(&'static str),
    /// 2^32 times the first entry, and the second one, which is below 2^32.
    Join(usize, usize),
    Apply(Operator, Vec<usize>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    /// The first argument selects one of the others.
    Select,
    Below,
    Equal,
    And,
    Or,
    Not,
}

impl Formula {
    /// An unknown below 2^32.
    pub fn input(&self, name: &'static str) -> Expression<'_> {
        self.number(Entry::Input(name))
    }

    /// An unknown below 2^64: two unknown halves, each below 2^32.
    pub fn long_input(&self, high: &'static str, low: &'static str) -> Expression<'_> {
        let [high, low] = [high, low].map(|name| self.input(name).entry);
        self.number(Entry::Join(high, low))
    }

    pub(super) fn entries(&self) -> Vec<Entry> {
        self.entries.borrow().clone()
    }

    fn number(&self, entry: Entry) -> Expression<'_> {
        let entry = self.push(entry);
        Expression {
            formula: self,
            entry,
        }
    }

    fn truth(&self, operator: Operator, arguments: &[usize]) -> Truth<'_> {
        let entry = self.push(Entry::Apply(operator, arguments.to_vec()));
        Truth {
            formula: self,
            entry,
        }
    }

    fn push(&self, entry: Entry) -> usize {
        let mut entries = self.entries.borrow_mut();
        entries.push(entry);
        entries.len() - 1
    }
}

impl<'f> Expression<'f> {
    fn apply(self, operator: Operator, other: Self) -> Self {
        let arguments = vec![self.entry, other.entry];
        self.formula.number(Entry::Apply(operator, arguments))
    }

    fn compare(self, operator: Operator, other: Self) -> Truth<'f> {
        self.formula.truth(operator, &[self.entry, other.entry])
    }

    fn constant(self, x: u64) -> Self {
        self.formula.number(Entry::Constant(x))
    }

    /// The high and the low half, if it is a long input: for l < 2^32, ⌊(2^32 h + l) / 2^32⌋ = h
    /// and (2^32 h + l) mod 2^32 = l.
    fn halves(self) -> Option<[Self; 2]> {
        match self.formula.entries.borrow()[self.entry] {
            Entry::Join(high, low) => Some([high, low].map(|entry| Self { entry, ..self })),
            _ => None,
        }
    }

    fn is_2_32(self) -> bool {
        self.formula.entries.borrow()[self.entry] == Entry::Constant(1 << 32)
    }

    /// The factor in a product of low halves. For a long input, it is the low half. Other words
    /// must be below 2^32, which is a [condition](super::exact).
    fn factor(self) -> Self {
        self.halves().map_or(self, |[_, low]| low)
    }
}

impl<'f> Word for Expression<'f> {
    type Cpu = &'f Formula;

    fn splat(formula: &'f Formula, x: u64) -> Self {
        formula.number(Entry::Constant(x))
    }
    fn add(self, other: Self) -> Self {
        self + other
    }
    fn sub(self, other: Self) -> Self {
        self - other
    }
    fn xor(self, _: Self) -> Self {
        not_arithmetic("exclusive or")
    }
    fn mul_lo32(self, other: Self) -> Self {
        self.factor() * other.factor()
    }
    fn rotl<const R: u32>(self) -> Self {
        not_arithmetic("rotation")
    }
    fn rotr<const R: u32>(self) -> Self {
        not_arithmetic("rotation")
    }
}

/// Indices do not consist of bytes, so this type of byte has no values.
impl Scalar for Expression<'_> {
    type Byte = Infallible;

    fn byte(_: Self::Cpu, _: u8) -> Infallible {
        not_arithmetic("a byte")
    }
    fn from_le_bytes(bytes: [Infallible; 8]) -> Self {
        match bytes[0] {}
    }
    fn to_le_bytes(self) -> [Infallible; 8] {
        not_arithmetic("a byte")
    }
    fn pad(byte: Infallible, _: u32) -> Infallible {
        byte
    }
    fn keep(byte: Infallible, _: u32) -> Infallible {
        byte
    }
    fn xor_bytes(byte: Infallible, _: Infallible) -> Infallible {
        byte
    }
}

impl<'f> Index for Expression<'f> {
    type Truth = Truth<'f>;

    fn shift_right<const R: u32>(self) -> Self {
        self / self.constant(1 << R)
    }
    fn remainder(self, divisor: Self) -> Self {
        self % divisor
    }
    fn is_below(self, other: Self) -> Truth<'f> {
        self.compare(Operator::Below, other)
    }
    fn is_equal(self, other: Self) -> Truth<'f> {
        self.compare(Operator::Equal, other)
    }
    fn select(truth: Truth<'f>, yes: Self, no: Self) -> Self {
        let arguments = vec![truth.entry, yes.entry, no.entry];
        yes.formula
            .number(Entry::Apply(Operator::Select, arguments))
    }
}

/// Ends the program: formulas of integers cannot represent code that works on single bits.
fn not_arithmetic(what: &str) -> ! {
    panic!("a lemma about integers cannot follow code that uses {what}")
}

macro_rules! operators {
    ($type:ident, $method:ident: $($trait:ident $function:ident $operator:ident),+) => {$(
        impl $trait for $type<'_> {
            type Output = Self;

            fn $function(self, other: Self) -> Self {
                self.$method(Operator::$operator, other)
            }
        }
    )+};
}
operators!(Expression, apply: Add add Add, Sub sub Subtract, Mul mul Multiply);
operators!(Truth, apply: BitAnd bitand And, BitOr bitor Or);

impl Div for Expression<'_> {
    type Output = Self;

    fn div(self, divisor: Self) -> Self {
        match self.halves() {
            Some([high, _]) if divisor.is_2_32() => high,
            _ => self.apply(Operator::Divide, divisor),
        }
    }
}

impl Rem for Expression<'_> {
    type Output = Self;

    fn rem(self, divisor: Self) -> Self {
        match self.halves() {
            Some([_, low]) if divisor.is_2_32() => low,
            _ => self.apply(Operator::Remainder, divisor),
        }
    }
}

impl Truth<'_> {
    fn apply(self, operator: Operator, other: Self) -> Self {
        self.formula.truth(operator, &[self.entry, other.entry])
    }
}

impl Not for Truth<'_> {
    type Output = Self;

    fn not(self) -> Self {
        self.formula.truth(Operator::Not, &[self.entry])
    }
}

impl Number for Expression<'_> {}
impl Logic for Truth<'_> {}
