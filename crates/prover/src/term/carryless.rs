//! Products of polynomials over GF(2), whose coefficients are the bits of words: sums of products,
//! so that they need no atoms of their own.
//!
//! A factor may be such a product itself, say in a chain of multiplications: its bits are sums of
//! hundreds of products of two atoms, and to multiply them out is too much. So *long* parts get
//! names. Of a bit of a factor, the part that is not a sum of atoms becomes a sum of stand-ins:
//! atoms for polynomials that are linearly independent, found by Gaussian elimination. That is a
//! linear map, and it is the same for all factors. So the product stays bilinear. For example,
//! where Karatsuba's method multiplies by the sum of two named words, it multiplies by the sum of
//! their names.

use super::{Bit, LONGEST_OF_PRODUCTS, TABLE, Terms, Word, cancel_pairs, symmetric_difference};
use crate::hash::Map;

/// Long polynomials that have stand-ins, in echelon form.
#[derive(Default)]
pub(super) struct Names {
    rows: Vec<Row>,
    /// For each product, the number of the row whose pivot it is, plus one; or zero.
    pivots: Vec<u32>,
    /// For each product, in how many polynomials it is that were named.
    counts: Vec<u32>,
    /// Bits that were factors, with their names.
    known: Map<Bit, Bit>,
}

/// A sum of polynomials that have stand-ins. One of its products is its *pivot*, which no later row
/// has.
struct Row {
    sum: Vec<u32>,
    stand_ins: Vec<u32>,
}

impl Names {
    fn of_pivot(&self, product: u32) -> Option<u32> {
        let entry = self.pivots.get((product - TABLE) as usize)?;
        entry.checked_sub(1)
    }

    /// Takes rows away until no pivot is left: what remains, and the stand-ins of all that was
    /// taken.
    fn reduced(&self, polynomial: &[u32]) -> Row {
        let (mut rest, mut stand_ins) = (polynomial.to_vec(), Vec::new());
        loop {
            let pivots = rest.iter().filter_map(|product| self.of_pivot(*product));
            // The pivots of later rows may come or go with the first one.
            let Some(first) = pivots.min() else {
                break;
            };
            let row = &self.rows[first as usize];
            rest = sum(&rest, &row.sum);
            stand_ins = sum(&stand_ins, &row.stand_ins);
        }
        Row {
            sum: rest,
            stand_ins,
        }
    }

    fn insert(&mut self, row: Row, pivot: u32) {
        self.rows.push(row);
        *entry(&mut self.pivots, pivot) = self.rows.len() as u32;
    }

    fn count(&mut self, polynomial: &[u32]) {
        for product in polynomial {
            *entry(&mut self.counts, *product) += 1;
        }
    }

    /// The product that is in the fewest polynomials: with such pivots, rows stay short.
    fn rarest(&self, sum: &[u32]) -> Option<u32> {
        let count = |product: &&u32| self.counts.get((**product - TABLE) as usize);
        sum.iter().min_by_key(count).copied()
    }
}

/// The entry of a product, which is zero if the product is new.
fn entry(table: &mut Vec<u32>, product: u32) -> &mut u32 {
    let place = (product - TABLE) as usize;
    if table.len() <= place {
        table.resize(place + 1, 0);
    }
    &mut table[place]
}

fn sum(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut sum = Vec::with_capacity(a.len() + b.len());
    symmetric_difference(a, b, &mut sum);
    sum
}

impl Terms {
    /// The product of two polynomials over GF(2). Bit i of a word is the coefficient of xⁱ. It has
    /// as many bits as both of them; the top one is zero.
    pub fn carryless_product(&mut self, a: &[Bit], b: &[Bit]) -> Word {
        let is_number = |word: &[Bit]| word.iter().all(|bit| bit.is_constant());
        let (x, y) = match is_number(a) || is_number(b) {
            true => (a.to_vec(), b.to_vec()),
            false => {
                self.longest = LONGEST_OF_PRODUCTS;
                (self.with_names(a), self.with_names(b))
            }
        };
        let places = 0..a.len() + b.len();
        places
            .map(|place| self.coefficient(&x, &y, place))
            .collect()
    }

    /// The coefficient of x^`place` in the product.
    fn coefficient(&mut self, x: &[Bit], y: &[Bit], place: usize) -> Bit {
        let (mut summands, mut samples) = (Vec::new(), 0);
        for i in (place + 1).saturating_sub(y.len())..x.len().min(place + 1) {
            let (a, b) = (x[i], y[place - i]);
            summands.extend(self.cross_products(a, b));
            samples ^= self.bit_samples(a) & self.bit_samples(b);
        }
        summands.sort_unstable();
        let bit = self.polynomial(&cancel_pairs(&summands));
        self.check(bit, samples);
        bit
    }

    fn with_names(&mut self, word: &[Bit]) -> Word {
        let is_new = |bit: &&Bit| {
            let (_, long) = self.short_and_long(**bit);
            !long.is_empty() && !self.names.known.contains_key(bit)
        };
        let new: Word = word.iter().filter(is_new).copied().collect();
        for bit in &new {
            let (_, long) = self.short_and_long(*bit);
            self.names.count(&long);
        }
        for bit in new {
            let name = self.linear_name(bit);
            self.names.known.insert(bit, name);
        }
        let names = word.iter();
        let names = names.map(|bit| self.names.known.get(bit).unwrap_or(bit));
        names.copied().collect()
    }

    /// The summands of a bit that are atoms, and the others.
    fn short_and_long(&self, bit: Bit) -> (Vec<u32>, Vec<u32>) {
        let summands = self.summands(bit, &mut [0]).to_vec();
        summands.into_iter().partition(|product| *product < TABLE)
    }

    /// Sums of atoms stay, and names stand for the rest.
    fn linear_name(&mut self, bit: Bit) -> Bit {
        let (short, long) = self.short_and_long(bit);
        let names = self.names_of(&long);
        let named = self.polynomial(&sum(&short, &names));
        self.check(named, self.bit_samples(bit));
        named
    }

    /// The stand-ins whose sum is a polynomial, sorted. If there are none, it gets one.
    fn names_of(&mut self, long: &[u32]) -> Vec<u32> {
        let mut row = self.names.reduced(long);
        let Some(pivot) = self.names.rarest(&row.sum) else {
            return row.stand_ins;
        };
        let polynomial = self.polynomial(long);
        let Bit(name) = self.stand_in(polynomial);
        row.stand_ins = sum(&row.stand_ins, &[name]);
        self.names.insert(row, pivot);
        vec![name]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::{LONGEST, SAMPLES, constant};

    fn added(terms: &mut Terms, a: &[Bit], b: &[Bit]) -> Word {
        let pairs = a.iter().zip(b);
        pairs.map(|(a, b)| terms.xor(*a, *b)).collect()
    }

    /// The rule itself is checked on all samples whenever it is applied.
    #[test]
    fn products_are_those_of_polynomials() {
        let mut terms = Terms::new(1);
        let (a, b) = (terms.input(8), terms.input(8));
        let product = terms.carryless_product(&a, &b);
        let numbers = [&a, &b, &product].map(|word| terms.samples(word));
        for sample in 0..SAMPLES {
            let [a, b, product] = numbers.each_ref().map(|values| values[sample]);
            let shifted = (0..8).filter(|i| b >> i & 1 == 1).map(|i| a << i);
            assert_eq!(product, shifted.fold(0, |sum, one| sum ^ one));
        }
        let (x, y) = (constant(0b101, 3), constant(0b11, 2));
        assert_eq!(terms.carryless_product(&x, &y), constant(0b1111, 5));
        assert_eq!(terms.carryless_product(&b, &a), product);
    }

    /// Whichever factor is named first, as Karatsuba's method needs it.
    #[test]
    fn names_keep_products_bilinear() {
        for order in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let mut terms = Terms::new(2);
            let words: Vec<Word> = (0..3).map(|_| terms.input(16)).collect();
            let product = terms.carryless_product(&words[0], &words[1]);
            let (low, high) = product.split_at(16);
            let factors = [low.to_vec(), high.to_vec(), added(&mut terms, low, high)];
            let mut products = [const { Word::new() }; 3];
            for i in order {
                products[i] = terms.carryless_product(&factors[i], &words[2]);
            }
            assert_eq!(added(&mut terms, &products[0], &products[1]), products[2]);
            assert_ne!(products[0], products[2]);
        }
    }

    /// An atom and a product: the atom is left as it is, and the product has a name.
    #[test]
    fn sums_of_atoms_have_no_names() {
        let mut terms = Terms::new(3);
        let (a, b) = (terms.input(2), terms.input(4));
        let long = terms.and(a[0], a[1]);
        let mixed = terms.xor(long, b[0]);
        let named = terms.with_names(&[mixed]);
        let name = terms.xor(named[0], b[0]);
        assert_eq!(terms.wrapped.get(&long), Some(&name));
        let short = terms.xor(b[1], b[2]);
        assert_eq!(terms.with_names(&[short]), [short]);
        let junk = terms.junk(2);
        let long = terms.and(junk[0], junk[1]);
        let named = terms.with_names(&[long]);
        assert!(!terms.depends_on_input(named[0]) && terms.depends_on_input(mixed));
    }

    /// Products by numbers are sums of the other factor's bits.
    #[test]
    fn what_is_multiplied_by_a_number_has_no_name() {
        let mut terms = Terms::new(5);
        let bits = terms.input(2);
        let long = [terms.and(bits[0], bits[1])];
        let (one, product) = (constant(1, 1), [long[0], Bit::ZERO]);
        assert_eq!(terms.carryless_product(&long, &one), product);
        assert_eq!(terms.carryless_product(&one, &long), product);
        assert!(terms.wrapped.is_empty());
    }

    /// Such a product may be longer than sums are, and nothing is wrapped where nothing is added.
    #[test]
    fn nothing_is_added_to_a_long_bit() {
        let mut terms = Terms::new(6);
        let sums = [(); 2].map(|()| {
            let bits = terms.input(LONGEST).into_iter();
            bits.fold(Bit::ZERO, |sum, bit| terms.xor(sum, bit))
        });
        let long = terms.carryless_product(&sums, &constant(0b11, 2))[1];
        assert_eq!(terms.summands_of(long), 2 * LONGEST);
        assert_eq!(terms.xor(Bit::ZERO, long), long);
        assert_eq!(terms.xor(long, Bit::ZERO), long);
    }

    /// A product that only one of two has is a pivot, rather than a product that both have.
    #[test]
    fn rare_products_are_pivots() {
        let mut terms = Terms::new(4);
        let bits = terms.input(6);
        let products = [0, 2, 4].map(|i| terms.and(bits[i], bits[i + 1]));
        let both = [1, 2].map(|i| terms.xor(products[0], products[i]));
        terms.with_names(&both);
        let products = products.map(|bit| terms.summands(bit, &mut [0])[0]);
        let rows = products.map(|product| terms.names.of_pivot(product));
        assert_eq!(rows, [None, Some(0), Some(1)]);
        // Each is named and counted once.
        terms.with_names(&[both[0], both[1], bits[0]]);
        let counts = products.map(|product| *entry(&mut terms.names.counts, product));
        assert_eq!((counts, terms.names.known.len()), ([2, 1, 1], 2));
    }
}
