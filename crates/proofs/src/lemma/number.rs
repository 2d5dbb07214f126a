//! The operations of lemmas and specifications, on plain numbers and on expressions.

use sealstone_lanes::Index;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Not, Rem, Sub};

/// A number. Unlike the operations of [`Index`], the operators are those of integers. They do not
/// wrap in an [`Expression`](super::Expression). In a `u64`, the program ends if one would wrap.
pub trait Number:
    Index<Truth: Logic>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Rem<Output = Self>
{
}

/// A truth value.
pub trait Logic: Copy + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self> {}

impl Number for u64 {}
impl Logic for bool {}

/// `a` ≤ `b`.
pub(super) fn at_most<N: Number>(a: N, b: N) -> N::Truth {
    !b.is_below(a)
}

/// If `a` then `b`.
pub(super) fn implies<T: Logic>(a: T, b: T) -> T {
    !a | b
}
