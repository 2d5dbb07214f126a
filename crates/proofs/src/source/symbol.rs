//! Words of formulas in place of numbers. The proofs run the kernels' source on them.

use super::input::Input;
use core::cell::RefCell;
use sealstone_lanes::{Scalar, Word};
use sealstone_prover::term::{Bit, Terms, constant};

/// The formulas of one proof. In the traits of `sealstone-lanes` it takes the place of the CPU
/// token, so every word needs it.
pub struct Arena {
    terms: RefCell<Terms>,
    words: RefCell<Vec<[Bit; 64]>>,
    inputs: RefCell<Vec<Input>>,
}

/// A 64-bit word whose bits are formulas. The bits are in the arena, so that the word is small and
/// `Copy`, as the traits demand.
#[derive(Clone, Copy)]
pub struct Symbol<'a> {
    arena: &'a Arena,
    number: u32,
}

/// A byte whose bits are formulas.
#[derive(Clone, Copy)]
pub struct SymbolicByte<'a> {
    arena: &'a Arena,
    bits: [Bit; 8],
}

impl Arena {
    /// An arena without formulas. `seed` chooses the sample inputs.
    pub fn new(seed: u64) -> Self {
        Self {
            terms: RefCell::new(Terms::new(seed)),
            words: RefCell::default(),
            inputs: RefCell::default(),
        }
    }

    /// Runs a function on the formulas: a specification. It should run before the source, because
    /// it marks opaque sums (see [`Terms::make_opaque`]), which keeps formulas short.
    pub fn with<T>(&self, run: impl FnOnce(&mut Terms) -> T) -> T {
        run(&mut self.terms.borrow_mut())
    }

    /// Unknown words. A proof about them holds for all values.
    pub fn words<const N: usize>(&self, name: &str) -> [Symbol<'_>; N] {
        let bits = self.input(name, 64 * N);
        core::array::from_fn(|i| self.symbol(&bits[64 * i..][..64]))
    }

    /// Unknown bytes.
    pub fn bytes(&self, name: &str, length: usize) -> Vec<SymbolicByte<'_>> {
        let bits = self.input(name, 8 * length);
        bits.as_chunks()
            .0
            .iter()
            .map(|bits| SymbolicByte {
                arena: self,
                bits: *bits,
            })
            .collect()
    }

    /// The word with these 64 bits, the least significant first.
    ///
    /// # Panics
    /// If the number of bits is not 64.
    pub fn symbol(&self, bits: &[Bit]) -> Symbol<'_> {
        let mut words = self.words.borrow_mut();
        words.push(bits.try_into().expect("64 bits"));
        Symbol {
            arena: self,
            number: words.len() as u32 - 1,
        }
    }

    /// All inputs so far.
    pub(super) fn inputs(&self) -> Vec<Input> {
        self.inputs.borrow().clone()
    }

    fn input(&self, name: &str, bits: usize) -> Vec<Bit> {
        let bits = self.with(|terms| terms.input(bits));
        self.inputs.borrow_mut().push(Input {
            name: name.to_owned(),
            bits: bits.clone(),
        });
        bits
    }
}

impl Symbol<'_> {
    /// Its bits, the least significant first.
    pub fn bits(self) -> [Bit; 64] {
        self.arena.words.borrow()[self.number as usize]
    }

    /// The word that `compute` makes of the bits of two words.
    #[inline(never)]
    fn combine(self, other: Self, compute: fn(&mut Terms, &[Bit], &[Bit]) -> Vec<Bit>) -> Self {
        let (a, b) = (self.bits(), other.bits());
        let bits = self.arena.with(|terms| compute(terms, &a, &b));
        self.arena.symbol(&bits)
    }
}

impl SymbolicByte<'_> {
    /// Its bits, the least significant first.
    pub fn bits(self) -> [Bit; 8] {
        self.bits
    }
}

// Kernels on real words are unrolled and inlined. Here this would only cost compile time, so
// nothing is inlined.
impl<'a> Word for Symbol<'a> {
    type Cpu = &'a Arena;

    #[inline(never)]
    fn splat(arena: &'a Arena, x: u64) -> Self {
        arena.symbol(&constant(x.into(), 64))
    }
    #[inline(never)]
    fn add(self, other: Self) -> Self {
        self.combine(other, Terms::add)
    }
    #[inline(never)]
    fn sub(self, other: Self) -> Self {
        self.combine(other, Terms::sub)
    }
    #[inline(never)]
    fn xor(self, other: Self) -> Self {
        self.combine(other, |terms, a, b| {
            a.iter().zip(b).map(|(a, b)| terms.xor(*a, *b)).collect()
        })
    }
    #[inline(never)]
    fn mul_lo32(self, other: Self) -> Self {
        self.combine(other, |terms, a, b| terms.product_of(&a[..32], &b[..32]))
    }
    #[inline(never)]
    fn rotl<const R: u32>(self) -> Self {
        let mut bits = self.bits();
        bits.rotate_right(R as usize);
        self.arena.symbol(&bits)
    }
    #[inline(never)]
    fn rotr<const R: u32>(self) -> Self {
        let mut bits = self.bits();
        bits.rotate_left(R as usize);
        self.arena.symbol(&bits)
    }
}

impl<'a> Scalar for Symbol<'a> {
    type Byte = SymbolicByte<'a>;

    #[inline(never)]
    fn byte(arena: &'a Arena, x: u8) -> SymbolicByte<'a> {
        let bits = core::array::from_fn(|i| Bit::from(x >> i & 1 == 1));
        SymbolicByte { arena, bits }
    }
    #[inline(never)]
    fn from_le_bytes(bytes: [SymbolicByte<'a>; 8]) -> Self {
        bytes[0]
            .arena
            .symbol(bytes.map(|byte| byte.bits).as_flattened())
    }
    #[inline(never)]
    fn to_le_bytes(self) -> [SymbolicByte<'a>; 8] {
        let bits = self.bits();
        core::array::from_fn(|i| SymbolicByte {
            arena: self.arena,
            bits: bits.as_chunks().0[i],
        })
    }
    #[inline(never)]
    fn pad(byte: SymbolicByte<'a>, bits: u32) -> SymbolicByte<'a> {
        let mark = 7 - bits as usize;
        let mut padded = byte.bits;
        padded[..mark].fill(Bit::ZERO);
        padded[mark] = Bit::ONE;
        SymbolicByte {
            bits: padded,
            ..byte
        }
    }
    #[inline(never)]
    fn keep(byte: SymbolicByte<'a>, bits: u32) -> SymbolicByte<'a> {
        let mut kept = byte.bits;
        kept[..8 - bits as usize].fill(Bit::ZERO);
        SymbolicByte { bits: kept, ..byte }
    }
    #[inline(never)]
    fn xor_bytes(a: SymbolicByte<'a>, b: SymbolicByte<'a>) -> SymbolicByte<'a> {
        let bit = |i: usize| a.arena.with(|terms| terms.xor(a.bits[i], b.bits[i]));
        let bits = core::array::from_fn(bit);
        SymbolicByte { bits, ..a }
    }
}
