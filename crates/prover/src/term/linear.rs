//! The stored parts of arithmetic terms: sums of bits with coefficients, and products.

use super::intern::Interner;
use super::{Bit, Word};

/// A sum `constant` + Σ coefficient · bit, modulo 2^`width`; all numbers are below 2^`width`, but
/// for negative coefficients of exact sums, which are numbers modulo 2^128.
#[derive(Clone, Debug)]
pub(super) struct Linear {
    pub(super) width: usize,
    pub(super) constant: u128,
    /// Sorted by bit; no coefficient is zero.
    pub(super) parts: Vec<(Bit, u128)>,
    /// The sum does not overflow: it is equal as an integer, not only modulo 2^`width`.
    pub(super) exact: bool,
}

/// The parts of a term.
pub(super) enum Form {
    /// A sum.
    Sum(Linear),
    /// A product of two words.
    Product([Word; 2]),
    /// AES's S-box of a byte.
    Substituted(Word),
    /// The low 128 bits of a polynomial's residue: where it is evaluated, and the coefficients.
    Residue([Word; 2], Vec<[Word; 3]>),
}

/// The properties of a [`Linear`] that do not need its parts.
pub(super) struct Shape {
    pub(super) width: usize,
    pub(super) exact: bool,
}

/// The properties of a term, beside its form.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    pub(super) width: usize,
    pub(super) linear: bool,
    pub(super) exact: bool,
}

/// All arithmetic terms, numbered in the order of their first appearance.
#[derive(Default)]
pub(super) struct Arithmetic {
    /// How each is written down, see [`encode`] and [`encode_product`].
    forms: Interner,
    terms: Vec<Term>,
}

struct Term {
    first_atom: u32,
    width: u32,
    /// Its bits may be replaced by its summands (see `arithmetic::eliminate`).
    transparent: bool,
    /// They have been, in some sum.
    replaced: bool,
    exact: bool,
    /// The kinds of the atoms in it.
    kinds: u8,
}

impl Arithmetic {
    /// How many numbers all terms are written with.
    pub(super) fn length(&self) -> usize {
        self.forms.length()
    }

    pub(super) fn first_atom(&self, term: u32) -> u32 {
        self.terms[term as usize].first_atom
    }

    /// The bits of a term.
    pub(super) fn bits(&self, term: u32) -> impl Iterator<Item = Bit> + use<> {
        let Term {
            first_atom, width, ..
        } = self.terms[term as usize];
        (first_atom..first_atom + width).map(Bit)
    }

    pub(super) fn is_transparent(&self, term: u32) -> bool {
        self.terms[term as usize].transparent
    }

    /// The kinds of the atoms in it.
    pub(super) fn kinds(&self, term: u32) -> u8 {
        self.terms[term as usize].kinds
    }

    /// Its bits are no longer replaced by its summands. Whether they were in a sum before.
    pub(super) fn make_opaque(&mut self, term: u32) -> bool {
        let term = &mut self.terms[term as usize];
        core::mem::take(&mut term.transparent) && term.replaced
    }

    /// The term written as `form`, if there is one.
    pub(super) fn find(&self, form: &[u32]) -> Option<u32> {
        self.forms.find(form)
    }

    /// A new term; its bits will be the atoms from `first_atom` on.
    pub(super) fn insert(&mut self, form: &[u32], first_atom: u32, kind: Kind, kinds: u8) -> u32 {
        let number = self.forms.number(form);
        assert_eq!(number as usize, self.terms.len(), "the term is new");
        self.terms.push(Term {
            first_atom,
            width: kind.width as u32,
            transparent: kind.linear,
            replaced: false,
            exact: kind.exact,
            kinds,
        });
        number
    }

    /// Whether a term is a sum that does not overflow.
    pub(super) fn is_exact_sum(&self, term: u32) -> bool {
        self.terms[term as usize].exact && self.forms.get(term)[0] == LINEAR
    }

    /// Whether a term is equal to its parts as an integer, its coefficients being signed numbers.
    pub(super) fn is_integer(&self, term: u32) -> bool {
        let kind = self.forms.get(term)[0];
        kind == PRODUCT || self.is_exact_sum(term) && self.shape(term).width < 128
    }

    /// Width and exactness of a term, without its parts.
    pub(super) fn shape(&self, term: u32) -> Shape {
        let Term { width, exact, .. } = self.terms[term as usize];
        Shape {
            width: width as usize,
            exact,
        }
    }

    /// The summands of a linear term, to put that in its place.
    pub(super) fn replace(&mut self, term: u32) -> Linear {
        self.terms[term as usize].replaced = true;
        self.linear(term)
    }

    /// The parts of a term.
    pub(super) fn form(&self, term: u32) -> Form {
        let form = self.forms.get(term);
        if form[0] == LINEAR {
            return Form::Sum(self.linear(term));
        }
        if form[0] == SUBSTITUTED {
            return Form::Substituted(form[1..].iter().map(|bit| Bit(*bit)).collect());
        }
        if form[0] == RESIDUE {
            let words: Vec<Word> = form[1..].chunks(64).map(word_of).collect();
            let (r, coefficients) = words.split_at(2);
            let coefficients = coefficients.as_chunks::<3>().0.to_vec();
            return Form::Residue([r[0].clone(), r[1].clone()], coefficients);
        }
        let factors: Word = form[2..].iter().map(|bit| Bit(*bit)).collect();
        let (x, y) = factors.split_at(form[1] as usize);
        Form::Product([x.to_vec(), y.to_vec()])
    }

    /// The bits that a term is made of.
    pub(super) fn operands(&self, term: u32) -> Word {
        match self.form(term) {
            Form::Sum(linear) => linear.parts.into_iter().map(|(bit, _)| bit).collect(),
            Form::Product(factors) => factors.concat(),
            Form::Substituted(byte) => byte,
            Form::Residue(r, coefficients) => [r.concat(), coefficients.concat().concat()].concat(),
        }
    }

    /// The summands of a linear term.
    pub(super) fn linear(&self, term: u32) -> Linear {
        let Term { width, exact, .. } = self.terms[term as usize];
        decode(self.forms.get(term), width as usize, exact)
    }
}

impl Linear {
    /// The least and the greatest value that it can have as an integer, coefficients of half of
    /// 2^`width` and more being negative; nothing if that is not a number from 0 to 2^127.
    pub(super) fn range(&self) -> Option<(u128, u128)> {
        let (mut least, mut most) = (self.constant as i128, self.constant as i128);
        for (_, coefficient) in &self.parts {
            let signed = self.signed(*coefficient) as i128;
            let end = if signed < 0 { &mut least } else { &mut most };
            *end = end.checked_add(signed)?;
        }
        (self.constant >> 127 == 0 && least >= 0).then_some((least as u128, most as u128))
    }

    /// The least value of an exact sum.
    pub(super) fn least(&self) -> Option<u128> {
        self.range().map(|(least, _)| least)
    }

    /// A coefficient as a number modulo 2^128 of the same sign.
    pub(super) fn signed(&self, coefficient: u128) -> u128 {
        match self.width {
            _ if self.exact => coefficient,
            128 => coefficient,
            width if coefficient >> (width - 1) == 1 => coefficient + (u128::MAX << width),
            _ => coefficient,
        }
    }
}

const LINEAR: u32 = 0;
const PRODUCT: u32 = 1;
const SUBSTITUTED: u32 = 2;
const RESIDUE: u32 = 3;

/// A linear combination as numbers: kind, width, constant, then runs. In a run, bits are
/// consecutive and coefficients double. Most sums are of a few words, and so of a few runs.
pub(super) fn encode(linear: &Linear) -> Vec<u32> {
    let mut form = vec![LINEAR, linear.width as u32];
    push(&mut form, linear.constant);
    let follows =
        |a: &(Bit, u128), b: &(Bit, u128)| b.0.0 == a.0.0 + 1 && b.1 >> 1 == a.1 && b.1 & 1 == 0;
    for run in linear.parts.chunk_by(follows) {
        form.extend([run[0].0.0, run.len() as u32]);
        push(&mut form, run[0].1);
    }
    form
}

fn decode(form: &[u32], width: usize, exact: bool) -> Linear {
    let (runs, _) = form[6..].as_chunks::<6>();
    let parts = runs.iter().flat_map(|[bit, length, a, b, c, d]| {
        let coefficient = pull([*a, *b, *c, *d]);
        (0..*length).map(move |i| (Bit(bit + i), coefficient << i))
    });
    Linear {
        width,
        constant: pull([form[2], form[3], form[4], form[5]]),
        parts: parts.collect(),
        exact,
    }
}

/// A product as numbers: kind, the length of the first factor, the factors.
pub(super) fn encode_product(a: &[Bit], b: &[Bit]) -> Vec<u32> {
    let mut form = vec![PRODUCT, a.len() as u32];
    form.extend(a.iter().chain(b).map(|bit| bit.0));
    form
}

/// AES's S-box of a byte as numbers: kind, the bits.
pub(super) fn encode_substituted(byte: &[Bit]) -> Vec<u32> {
    let bits = byte.iter().map(|bit| bit.0);
    core::iter::once(SUBSTITUTED).chain(bits).collect()
}

/// The residue of a polynomial as numbers: kind, the bits.
pub(super) fn encode_residue(r: &[Word; 2], coefficients: &[[Word; 3]]) -> Vec<u32> {
    let words = r.iter().chain(coefficients.iter().flatten());
    let bits = words.flatten().map(|bit| bit.0);
    core::iter::once(RESIDUE).chain(bits).collect()
}

fn word_of(bits: &[u32]) -> Word {
    bits.iter().map(|bit| Bit(*bit)).collect()
}

fn push(form: &mut Vec<u32>, x: u128) {
    form.extend([
        x as u32,
        (x >> 32) as u32,
        (x >> 64) as u32,
        (x >> 96) as u32,
    ]);
}

fn pull(parts: [u32; 4]) -> u128 {
    parts
        .into_iter()
        .rev()
        .fold(0, |x, part| (x << 32) + u128::from(part))
}

/// Results of sums, by what was added: specification and machine code mostly add the same.
#[derive(Default)]
pub(super) struct Memo {
    sums: Interner,
    /// For each sum, the bits of its result as runs.
    results: Interner,
    result_of: Vec<u32>,
}

impl Memo {
    /// How a sum is written down. Commutative: the summands are sorted.
    pub(super) fn key(width: usize, parts: &[(u128, &[Bit])], constant: u128) -> Vec<u32> {
        let mut parts = parts.to_vec();
        parts.sort_unstable();
        let mut key = vec![width as u32];
        push(&mut key, constant);
        for (coefficient, word) in parts {
            key.push(word.len() as u32);
            push(&mut key, coefficient);
            push_runs(&mut key, word);
        }
        key
    }

    pub(super) fn get(&self, key: &[u32]) -> Option<Word> {
        let number = self.result_of[self.sums.find(key)? as usize];
        let (runs, _) = self.results.get(number).as_chunks::<2>();
        let bits = runs.iter().flat_map(|[start, length]| {
            // A run of zeros stays at zero; all others count up.
            let step = u32::from(*start != 0);
            (0..*length).map(move |i| Bit(start + step * i))
        });
        Some(bits.collect())
    }

    pub(super) fn insert(&mut self, key: &[u32], result: &[Bit]) {
        let mut runs = Vec::new();
        push_runs(&mut runs, result);
        let result = self.results.number(&runs);
        if self.sums.number(key) as usize == self.result_of.len() {
            self.result_of.push(result);
        }
    }
}

/// Consecutive bits as start and length; zeros as one run.
fn push_runs(out: &mut Vec<u32>, word: &[Bit]) {
    let follows = |a: &Bit, b: &Bit| match a.0 {
        0 => b.0 == 0,
        a => b.0 == a + 1,
    };
    for run in word.chunk_by(follows) {
        out.extend([run[0].0, run.len() as u32]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read_as_they_were_written() {
        let parts = vec![
            (Bit(7), 1),
            (Bit(8), 2),
            (Bit(9), 4),
            (Bit(11), 8),
            (Bit(12), 3),
            (Bit(13), 6),
            (Bit(14), 1 << 100),
        ];
        let linear = Linear {
            width: 128,
            constant: u128::MAX - 5,
            parts,
            exact: false,
        };
        let form = encode(&linear);
        assert_eq!(form.len(), 6 + 4 * 6);
        let read = decode(&form, 128, false);
        assert_eq!((read.constant, read.parts), (linear.constant, linear.parts));
    }

    #[test]
    fn results_are_remembered_whatever_the_order() {
        let word = |bits: &[u32]| -> Word { bits.iter().map(|bit| Bit(*bit)).collect() };
        let (a, b) = (word(&[4, 5, 6, 0, 0, 1]), word(&[0, 0, 9, 8]));
        let result = word(&[0, 0, 1, 12, 13, 0, 9, 8, 8, 7]);
        let mut memo = Memo::default();
        memo.insert(&Memo::key(6, &[(1, &a), (2, &b)], 3), &result);
        assert_eq!(
            memo.get(&Memo::key(6, &[(2, &b), (1, &a)], 3)),
            Some(result)
        );
        assert_eq!(memo.get(&Memo::key(6, &[(1, &b), (2, &a)], 3)), None);
        assert_eq!(memo.get(&Memo::key(6, &[(2, &b), (1, &a)], 4)), None);
    }

    #[test]
    #[should_panic(expected = "the term is new")]
    fn a_term_is_inserted_once() {
        let mut arithmetic = Arithmetic::default();
        let kind = Kind {
            width: 1,
            linear: false,
            exact: true,
        };
        let form = encode_substituted(&[Bit(2)]);
        assert_eq!(arithmetic.insert(&form, 3, kind, 0), 0);
        arithmetic.insert(&form, 4, kind, 0);
    }
}
