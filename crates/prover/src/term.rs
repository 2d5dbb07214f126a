//! Canonical formulas: two bits that are equal for algebraic reasons are the same number.
//!
//! # Bits
//!
//! A [`Bit`] is a polynomial over GF(2), in algebraic normal form: a set of products of *atoms*,
//! added modulo 2. Every Boolean function has exactly one such form, so over the same atoms two
//! bits are equal for all inputs exactly when their forms are. Exclusive or is the symmetric
//! difference of the sets; and is their product, in which x · x = x and equal products cancel.
//!
//! An atom is a bit of an input, a bit of an arithmetic linear combination or product, or a
//! *wrapped* bit: a stand-in for a polynomial that would become too large. (Factors of `pclmulqdq`
//! have stand-ins by a rule of their own.) Distinct atoms may be equal in truth (we only fail to
//! notice); equal numbers always mean equal bits. So "the same" is a proof, and "not the same"
//! alone is not a refutation.
//!
//! # Samples
//!
//! Every bit carries its value on [`SAMPLES`] random inputs. They refute (two bits that differ on a
//! sample differ), and they watch the rules: each result of a rule is compared, on all samples,
//! with what the operation means. A wrong rule ends the program.

mod arithmetic;
mod carryless;
mod integers;
mod intern;
mod kinds;
mod linear;
mod numbers;
mod recent;
mod residue;
mod samples;
mod smt;
mod substitute;
#[cfg(test)]
mod tests;

pub use intern::Interner;
pub(crate) use kinds::Mentions;
pub use samples::{Random, SAMPLES};
pub(crate) use smt::read_values;

use crate::hash::Map;
use linear::Memo;

/// A bit of a formula. See the [module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bit(u32);

/// Bits, the least significant first.
pub type Word = Vec<Bit>;

impl Bit {
    /// 0.
    pub const ZERO: Self = Self(0);
    /// 1, the polynomial whose only product is the empty one.
    pub const ONE: Self = Self(ONE);

    /// Whether it is 0 or 1.
    pub fn is_constant(self) -> bool {
        self.0 <= ONE
    }

    /// Its number among the atoms, if it is one.
    pub(crate) fn atom(self) -> Option<usize> {
        (ONE < self.0 && self.0 < TABLE).then_some(self.0 as usize)
    }
}

impl From<bool> for Bit {
    fn from(bit: bool) -> Self {
        if bit { Self::ONE } else { Self::ZERO }
    }
}

// Numbers of products: 1 is the empty one, others below `TABLE` are atoms, those with the flag are
// in the table of products. Numbers of bits: 0 is zero, others below `TABLE` are the products of
// the same number, those with the flag are in the table of polynomials.
const ONE: u32 = 1;
const TABLE: u32 = 1 << 31;

/// More summands than this are wrapped,
const LONGEST: usize = 1024;
/// and than this where products of polynomials are multiplied out: a bit of eight products of 128
/// bits has 2560 summands.
const LONGEST_OF_PRODUCTS: usize = 1 << 14;
/// In products of more summands than this, factors are wrapped.
const WIDEST: usize = 16;
/// Namely those of more summands than this.
const LONG: usize = 4;

#[derive(Clone, Copy, Debug)]
enum Atom {
    /// A bit of an input that is secret or computed with, or a stand-in for a bit that depends on
    /// one.
    Input,
    /// A bit of an unknown value on which nothing must depend, or a stand-in for a bit that depends
    /// only on such bits.
    Junk,
    /// A bit of an address.
    Base,
    /// A bit of the arithmetic term of this number.
    Arithmetic(u32),
}

/// All formulas of a proof.
pub struct Terms {
    atoms: Vec<Atom>,
    atom_samples: Vec<u64>,
    products: Interner,
    product_samples: Vec<u64>,
    product_kinds: Vec<u8>,
    polynomials: Interner,
    polynomial_samples: Vec<u64>,
    polynomial_kinds: Vec<u8>,
    wrapped: Map<Bit, Bit>,
    names: carryless::Names,
    longest: usize,
    arithmetic: linear::Arithmetic,
    divisions: numbers::Divisions,
    residues: residue::Residues,
    integers: integers::Names,
    bounds: integers::Bounds,
    memo: Memo,
    xors: recent::Recent,
    random: Random,
    scratch: Vec<u32>,
}

impl Terms {
    /// No formulas yet.
    pub fn new(seed: u64) -> Self {
        // Atoms 0 and 1 do not exist: their numbers mean zero and one.
        Self {
            atoms: vec![Atom::Input; 2],
            atom_samples: vec![0, u64::MAX],
            products: Interner::default(),
            product_samples: Vec::new(),
            product_kinds: Vec::new(),
            polynomials: Interner::default(),
            polynomial_samples: Vec::new(),
            polynomial_kinds: Vec::new(),
            wrapped: Map::default(),
            names: carryless::Names::default(),
            longest: LONGEST,
            arithmetic: linear::Arithmetic::default(),
            divisions: numbers::Divisions::default(),
            residues: residue::Residues::default(),
            integers: integers::Names::default(),
            bounds: integers::Bounds::default(),
            memo: Memo::default(),
            xors: recent::Recent::default(),
            random: Random::new(seed),
            scratch: Vec::new(),
        }
    }

    /// An input of `width` bits, with random samples.
    pub fn input(&mut self, width: usize) -> Word {
        (0..width)
            .map(|_| {
                let samples = self.random.number();
                Bit(self.atom(Atom::Input, samples))
            })
            .collect()
    }

    /// `width` bits of which nothing is known, and on which no result should depend.
    pub fn junk(&mut self, width: usize) -> Word {
        (0..width)
            .map(|_| {
                let samples = self.random.number();
                Bit(self.atom(Atom::Junk, samples))
            })
            .collect()
    }

    /// An address whose low `known` bits are those of `number`, and of which nothing else is known.
    /// On all samples it is `number`.
    pub fn base(&mut self, number: u64, known: u32) -> Word {
        let mut word = constant(number.into(), known as usize);
        for i in known..64 {
            let samples = (number >> i & 1).wrapping_neg();
            word.push(Bit(self.atom(Atom::Base, samples)));
        }
        word
    }

    /// An input with given samples: an unknown whose value on the sample inputs is known.
    pub fn input_with(&mut self, width: usize, values: &[u128; SAMPLES]) -> Word {
        samples::bits(values)[..width]
            .iter()
            .map(|samples| Bit(self.atom(Atom::Input, *samples)))
            .collect()
    }

    /// The value on each sample input. At most 128 bits.
    pub fn samples(&self, word: &[Bit]) -> [u128; SAMPLES] {
        samples::values(word.iter().map(|bit| self.bit_samples(*bit)))
    }

    /// The value on each sample input: bit `i` on input `i`.
    pub fn bit_samples(&self, bit: Bit) -> u64 {
        match bit.0.checked_sub(TABLE) {
            Some(number) => self.polynomial_samples[number as usize],
            None => self.atom_samples[bit.0 as usize],
        }
    }

    /// How many atoms and polynomials there are.
    pub fn size(&self) -> usize {
        self.atoms.len() + self.polynomials.count()
    }

    /// How many numbers of 32 bits all formulas are written with.
    pub fn length(&self) -> usize {
        let tables = self.products.length() + self.polynomials.length();
        self.atoms.len() + tables + self.arithmetic.length()
    }

    /// `a` ⊕ `b`.
    pub fn xor(&mut self, a: Bit, b: Bit) -> Bit {
        if a == b {
            return Bit::ZERO;
        }
        if a == Bit::ZERO || b == Bit::ZERO {
            return a.max(b);
        }
        // a ⊕ b = b ⊕ a.
        let (a, b) = (a.min(b), a.max(b));
        if let Some(bit) = self.xors.get(a.0, b.0) {
            return Bit(bit);
        }
        let mut sum = core::mem::take(&mut self.scratch);
        sum.clear();
        symmetric_difference(
            self.summands(a, &mut [0]),
            self.summands(b, &mut [0]),
            &mut sum,
        );
        let bit = if sum.len() > self.longest {
            let stands_for = [a, b].map(|bit| {
                let short = self.wrap(bit);
                self.summands(short, &mut [0])[0]
            });
            self.polynomial(&[
                stands_for[0].min(stands_for[1]),
                stands_for[0].max(stands_for[1]),
            ])
        } else {
            self.polynomial(&sum)
        };
        self.scratch = sum;
        self.check(bit, self.bit_samples(a) ^ self.bit_samples(b));
        self.xors.put(a.0, b.0, bit.0);
        bit
    }

    /// `a` · `b`.
    pub fn and(&mut self, a: Bit, b: Bit) -> Bit {
        if a == b || b == Bit::ONE {
            return a;
        }
        if a == Bit::ONE {
            return b;
        }
        if a == Bit::ZERO || b == Bit::ZERO {
            return Bit::ZERO;
        }
        for (one, other) in [(a, b), (b, a)] {
            if self.is_wide(a, b) && self.is_complement(one) {
                // (p ⊕ 1) · q = p · q ⊕ q: what is wrapped for a bit is wrapped for its complement.
                let not = self.not(one);
                let product = self.and(not, other);
                return self.xor(product, other);
            }
        }
        self.multiplied(a, b)
    }

    /// The product as it is, with no look at complements.
    fn multiplied(&mut self, a: Bit, b: Bit) -> Bit {
        let (x, y) = self.narrow(a, b);
        let mut summands = self.cross_products(x, y);
        summands.sort_unstable();
        let bit = self.polynomial(&cancel_pairs(&summands));
        self.check(bit, self.bit_samples(a) & self.bit_samples(b));
        bit
    }

    /// 1 ⊕ `a`.
    pub fn not(&mut self, a: Bit) -> Bit {
        self.xor(a, Bit::ONE)
    }

    /// `a` ∨ `b` = `a` ⊕ `b` ⊕ `a` · `b`.
    pub fn or(&mut self, a: Bit, b: Bit) -> Bit {
        let (sum, product) = (self.xor(a, b), self.and(a, b));
        self.xor(sum, product)
    }

    /// `yes` where `condition`, else `no`: `no` ⊕ `condition` · (`yes` ⊕ `no`).
    pub fn select(&mut self, condition: Bit, yes: Bit, no: Bit) -> Bit {
        let difference = self.xor(yes, no);
        let change = self.and(condition, difference);
        self.xor(no, change)
    }

    /// Whether all bits are zero.
    pub fn is_zero(&mut self, word: &[Bit]) -> Bit {
        self.is_zero_by(word, Self::zero_by_rules)
    }

    fn is_zero_by(&mut self, word: &[Bit], rules: fn(&mut Self, &[Bit]) -> Bit) -> Bit {
        let zero = rules(self, word);
        let meaning = word
            .iter()
            .fold(u64::MAX, |zero, bit| zero & !self.bit_samples(*bit));
        self.check(zero, meaning);
        zero
    }

    /// - *low zeros* change nothing;
    /// - *positive*: a sum that cannot be zero is not;
    /// - *sign*: x is zero exactly when -x is, so a sum stands for its negative too. (Whether a = b
    ///   can be asked of a - b and b - a.) And a sum whose negative cannot be zero is not zero.
    fn zero_by_rules(&mut self, word: &[Bit]) -> Bit {
        let zeros = word.iter().take_while(|bit| **bit == Bit::ZERO).count();
        let word = &word[zeros..];
        if word.is_empty() {
            return Bit::ONE;
        }
        if word.contains(&Bit::ONE) || self.least(word) > 0 {
            return Bit::ZERO;
        }
        if matches!(self.arithmetic_bit(word[0]), Some((_, 0))) {
            let negative = self.sum(word.len(), &[(u128::MAX, word)], 0);
            if self.least(&negative) > 0 {
                return Bit::ZERO;
            }
            if negative[..] < *word {
                return self.all_are_zero(&negative);
            }
        }
        self.all_are_zero(word)
    }

    /// Factor by factor: without complements, the products before stay apart, and a solver has less
    /// to do.
    fn all_are_zero(&mut self, word: &[Bit]) -> Bit {
        word.iter().fold(Bit::ONE, |zero, bit| {
            let not = self.not(*bit);
            self.multiplied(zero, not)
        })
    }

    /// The products of `a`'s and `b`'s summands, in any order, with repetitions.
    fn cross_products(&mut self, a: Bit, b: Bit) -> Vec<u32> {
        let (a, b) = (
            self.summands(a, &mut [0]).to_vec(),
            self.summands(b, &mut [0]).to_vec(),
        );
        let mut all = Vec::with_capacity(a.len() * b.len());
        for x in &a {
            for y in &b {
                all.push(self.multiply(*x, *y));
            }
        }
        all
    }

    /// The product of two products: the union of their factors, since x · x = x.
    fn multiply(&mut self, x: u32, y: u32) -> u32 {
        if x == ONE || y == ONE {
            return x.max(y);
        }
        if x < TABLE && y < TABLE && x != y {
            return self.product(&[x.min(y), x.max(y)]);
        }
        let mut factors = self.factors(x, &mut [0]).to_vec();
        factors.extend_from_slice(self.factors(y, &mut [0]));
        factors.sort_unstable();
        factors.dedup();
        match factors[..] {
            [atom] => atom,
            _ => self.product(&factors),
        }
    }

    /// The same bits, wrapped as far as needed so that their product is small; in whatever order
    /// they are.
    fn narrow(&mut self, a: Bit, b: Bit) -> (Bit, Bit) {
        if !self.is_wide(a, b) {
            return (a, b);
        }
        let wrap_long = |this: &mut Self, bit| match this.summands_of(bit) > LONG {
            true => this.wrap(bit),
            false => bit,
        };
        (wrap_long(self, a), wrap_long(self, b))
    }

    /// Whether a product would have too many summands.
    fn is_wide(&self, a: Bit, b: Bit) -> bool {
        self.summands_of(a) * self.summands_of(b) > WIDEST
    }

    /// How many summands a bit has.
    fn summands_of(&self, bit: Bit) -> usize {
        self.summands(bit, &mut [0]).len()
    }

    /// An atom that stands for `bit`; the bit itself if it is short.
    fn wrap(&mut self, bit: Bit) -> Bit {
        if bit.0 < TABLE || self.summands(bit, &mut [0]).len() == 1 {
            return bit;
        }
        self.stand_in(bit)
    }

    /// An atom that stands for `bit`.
    fn stand_in(&mut self, bit: Bit) -> Bit {
        if let Some(atom) = self.wrapped.get(&bit) {
            return *atom;
        }
        let kind = if self.depends_on_input(bit) {
            Atom::Input
        } else {
            Atom::Junk
        };
        let atom = Bit(self.atom(kind, self.bit_samples(bit)));
        self.wrapped.insert(bit, atom);
        atom
    }

    fn atom(&mut self, atom: Atom, samples: u64) -> u32 {
        let number = self.atoms.len() as u32;
        assert!(number < TABLE, "too many atoms");
        self.atoms.push(atom);
        self.atom_samples.push(samples);
        number
    }

    fn product(&mut self, factors: &[u32]) -> u32 {
        let number = self.products.number(factors);
        if number as usize == self.product_samples.len() {
            let samples = factors.iter().map(|atom| self.atom_samples[*atom as usize]);
            self.product_samples
                .push(samples.fold(u64::MAX, |all, one| all & one));
            let kinds = factors.iter().map(|atom| self.kinds_of_atom(*atom));
            self.product_kinds.push(kinds.fold(0, |all, one| all | one));
        }
        TABLE + number
    }

    /// The bit with these summands, which are sorted and distinct.
    fn polynomial(&mut self, summands: &[u32]) -> Bit {
        match summands {
            [] => return Bit::ZERO,
            [product] if *product < TABLE => return Bit(*product),
            _ => {}
        }
        let number = self.polynomials.number(summands);
        if number as usize == self.polynomial_samples.len() {
            let samples = summands
                .iter()
                .map(|product| match product.checked_sub(TABLE) {
                    Some(number) => self.product_samples[number as usize],
                    None => self.atom_samples[*product as usize],
                });
            self.polynomial_samples
                .push(samples.fold(0, |sum, one| sum ^ one));
            let kinds = summands.iter();
            let kinds = kinds.map(|product| self.kinds_of_product(*product));
            self.polynomial_kinds
                .push(kinds.fold(0, |all, one| all | one));
        }
        Bit(TABLE + number)
    }

    /// The summands of a bit, sorted. `room` is for one that is not in a table.
    fn summands<'a>(&'a self, bit: Bit, room: &'a mut [u32; 1]) -> &'a [u32] {
        one_or_table(bit.0, &self.polynomials, room)
    }

    /// The factors of a product, sorted.
    fn factors<'a>(&'a self, product: u32, room: &'a mut [u32; 1]) -> &'a [u32] {
        match product {
            ONE => &[],
            _ => one_or_table(product, &self.products, room),
        }
    }

    /// The arithmetic term of a bit, and the bit's place in it, if the bit belongs to one.
    fn arithmetic_bit(&self, bit: Bit) -> Option<(u32, usize)> {
        match self.atoms.get(bit.0 as usize)? {
            Atom::Arithmetic(term) => {
                Some((*term, (bit.0 - self.arithmetic.first_atom(*term)) as usize))
            }
            _ => None,
        }
    }

    /// Every rule ends here: what it gave must be on all samples what the operation means.
    fn check(&self, result: Bit, meaning: u64) {
        assert_eq!(self.bit_samples(result), meaning, "a rewrite rule is wrong");
    }
}

fn one_or_table<'a>(number: u32, table: &'a Interner, room: &'a mut [u32; 1]) -> &'a [u32] {
    match (number, number.checked_sub(TABLE)) {
        (0, _) => &[],
        (_, Some(number)) => table.get(number),
        _ => {
            room[0] = number;
            room
        }
    }
}

/// The elements of exactly one of two sorted sets, sorted.
fn symmetric_difference(a: &[u32], b: &[u32], out: &mut Vec<u32>) {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            core::cmp::Ordering::Less => {
                out.push(a[i]);
                i += 1;
            }
            core::cmp::Ordering::Greater => {
                out.push(b[j]);
                j += 1;
            }
            core::cmp::Ordering::Equal => {
                i += 1;
                j += 1;
            }
        }
    }
    out.extend_from_slice(&a[i..]);
    out.extend_from_slice(&b[j..]);
}

/// The elements that occur an odd number of times in a sorted sequence: x ⊕ x = 0.
fn cancel_pairs(sorted: &[u32]) -> Vec<u32> {
    sorted
        .chunk_by(|a, b| a == b)
        .filter(|group| group.len() % 2 == 1)
        .map(|group| group[0])
        .collect()
}

/// The word of `width` bits whose value is `x` modulo 2^`width`.
pub fn constant(x: u128, width: usize) -> Word {
    (0..width)
        .map(|i| Bit::from(i < 128 && x >> i & 1 == 1))
        .collect()
}

/// The value of a word, if it is the same for all inputs.
pub fn value(word: &[Bit]) -> Option<u128> {
    let mut value = 0;
    for (i, bit) in word.iter().enumerate() {
        match *bit {
            Bit::ZERO => {}
            Bit::ONE if i < 128 => value |= 1 << i,
            _ => return None,
        }
    }
    Some(value)
}
