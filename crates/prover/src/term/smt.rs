//! Formulas as text in SMT-LIB 2, to ask a solver where two bits differ.

use super::arithmetic::mask;
use super::linear::Form;
use super::{Atom, Bit, ONE, Terms, Word};
use crate::aes::S_BOX;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;

/// More atoms than this are not asked about.
const MOST: usize = 20_000;

impl Terms {
    /// The question where one of the pairs differs, which asks for the values of all atoms that are
    /// unknowns; nothing if it is too large, or nothing is unknown. A result of a division is an
    /// unknown of its own there, so an answer may be wrong.
    pub(crate) fn where_differ(&self, pairs: &[(Bit, Bit)]) -> Option<String> {
        let wrapped = self.wrapped.iter();
        let stands_for: HashMap<u32, Bit> = wrapped.map(|(bit, atom)| (atom.0, *bit)).collect();
        let bits = pairs.iter().flat_map(|(a, b)| [*a, *b]);
        // A formula is made of older atoms: in the order of their numbers, all are defined in time.
        let atoms = self.reachable(bits.collect(), &stands_for)?;
        let mut text = String::from("(set-option :produce-models true)\n(set-logic QF_BV)\n");
        let (mut unknown, mut terms) = (Vec::new(), BTreeSet::new());
        for atom in atoms {
            if let Some(bit) = stands_for.get(&atom) {
                let _ = writeln!(text, "(define-fun a{atom} () Bool {})", self.bit_text(*bit));
            } else if let Atom::Arithmetic(term) = self.atoms[atom as usize] {
                if terms.insert(term) {
                    self.define_term(&mut text, term);
                }
                let place = atom - self.arithmetic.first_atom(term);
                let bit = format!("((_ extract {place} {place}) t{term})");
                let _ = writeln!(text, "(define-fun a{atom} () Bool (= {bit} #b1))");
            } else {
                let _ = writeln!(text, "(declare-const a{atom} Bool)");
                unknown.push(format!("a{atom}"));
            }
        }
        let different = pairs
            .iter()
            .map(|(a, b)| format!("(xor {} {})", self.bit_text(*a), self.bit_text(*b)));
        let different: Vec<String> = different.collect();
        let _ = writeln!(text, "(assert (or false {}))", different.join(" "));
        let _ = writeln!(text, "(check-sat)\n(get-value ({}))", unknown.join(" "));
        (!unknown.is_empty()).then_some(text)
    }

    /// All atoms that bits are made of.
    fn reachable(&self, bits: Vec<Bit>, stands_for: &HashMap<u32, Bit>) -> Option<BTreeSet<u32>> {
        let (mut atoms, mut pending) = (BTreeSet::new(), bits);
        while let Some(bit) = pending.pop() {
            for product in self.summands(bit, &mut [0]) {
                for atom in self.factors(*product, &mut [0]) {
                    if !atoms.insert(*atom) {
                        continue;
                    }
                    pending.extend(stands_for.get(atom));
                    if let Atom::Arithmetic(term) = self.atoms[*atom as usize] {
                        pending.extend(self.arithmetic.operands(term));
                    }
                }
            }
            if atoms.len() > MOST {
                return None;
            }
        }
        Some(atoms)
    }

    fn bit_text(&self, bit: Bit) -> String {
        let mut room = [0];
        let summands = self.summands(bit, &mut room).iter();
        let products: Vec<String> = summands.map(|x| self.product_text(*x)).collect();
        applied("xor", "false", &products)
    }

    fn product_text(&self, product: u32) -> String {
        let mut room = [0];
        let factors = self.factors(product, &mut room).iter();
        let names: Vec<String> = factors.map(|atom| format!("a{atom}")).collect();
        assert!(product == ONE || !names.is_empty(), "a product has factors");
        applied("and", "true", &names)
    }

    fn define_term(&self, text: &mut String, term: u32) {
        let width = self.arithmetic.shape(term).width;
        let value = match self.arithmetic.form(term) {
            Form::Sum(linear) => self.sum_text(width, linear.constant, &linear.parts),
            Form::Product(factors) => {
                let factors = factors.map(|word| {
                    let parts = word.iter().enumerate();
                    let parts: Vec<(Bit, u128)> = parts.map(|(i, bit)| (*bit, 1 << i)).collect();
                    self.sum_text(width, 0, &parts)
                });
                format!("(bvmul {} {})", factors[0], factors[1])
            }
            Form::Substituted(byte) => {
                let parts = byte.iter().enumerate();
                let parts: Vec<(Bit, u128)> = parts.map(|(i, bit)| (*bit, 1 << i)).collect();
                s_box_text(&self.sum_text(8, 0, &parts))
            }
            Form::Residue(r, coefficients) => {
                let number = |words: &[Word]| self.wide_text(words);
                let coefficients: Vec<String> =
                    coefficients.iter().map(|words| number(words)).collect();
                residue_text(&number(&r), &coefficients)
            }
        };
        let _ = writeln!(text, "(define-fun t{term} () (_ BitVec {width}) {value})");
    }

    /// A number of several words, as one of 321 bits.
    fn wide_text(&self, words: &[Word]) -> String {
        let texts = words.iter().rev().map(|word| {
            let parts = word.iter().enumerate();
            let parts: Vec<(Bit, u128)> = parts.map(|(i, bit)| (*bit, 1 << i)).collect();
            self.sum_text(64, 0, &parts)
        });
        let texts: Vec<String> = texts.collect();
        let zeros = 321 - 64 * words.len();
        format!("((_ zero_extend {zeros}) (concat {}))", texts.join(" "))
    }

    fn sum_text(&self, width: usize, plus: u128, parts: &[(Bit, u128)]) -> String {
        let number = |x: u128| format!("(_ bv{} {width})", x & mask(width));
        let mut summands = vec![number(plus)];
        summands.extend(parts.iter().map(|(bit, coefficient)| {
            let (bit, yes, no) = (self.bit_text(*bit), number(*coefficient), number(0));
            format!("(ite {bit} {yes} {no})")
        }));
        applied("bvadd", "", &summands)
    }
}

/// A polynomial's residue: all numbers in it are below 2^321.
fn residue_text(r: &str, coefficients: &[String]) -> String {
    const PRIME: &str = "(_ bv1361129467683753853853498429727072845819 321)";
    let value = coefficients
        .iter()
        .fold("(_ bv0 321)".to_owned(), |value, coefficient| {
            format!("(bvurem (bvmul (bvadd {value} {coefficient}) {r}) {PRIME})")
        });
    format!("((_ extract 127 0) {value})")
}

/// AES's S-box, as a choice among all its values.
fn s_box_text(byte: &str) -> String {
    let choices = (1..256).map(|x| format!("(ite (= x (_ bv{x} 8)) (_ bv{} 8) ", S_BOX[x]));
    let choices: String = choices.collect();
    let (first, ends) = (S_BOX[0], ")".repeat(255));
    format!("(let ((x {byte})) {choices}(_ bv{first} 8){ends})")
}

/// An operator on operands, of which there may be one or none.
fn applied(operator: &str, none: &str, operands: &[String]) -> String {
    match operands {
        [] => none.into(),
        [one] => one.clone(),
        _ => format!("({operator} {})", operands.join(" ")),
    }
}

/// The values of atoms, from what a solver prints: `sat`, and `((a12 true) (a13 false))`.
pub(crate) fn read_values(answer: &str) -> Option<BTreeMap<usize, bool>> {
    let values = answer.trim().strip_prefix("sat")?;
    let is_between = |c: char| c.is_whitespace() || c == '(' || c == ')';
    let words: Vec<&str> = values
        .split(is_between)
        .filter(|word| !word.is_empty())
        .collect();
    let pairs = words.as_chunks::<2>().0.iter();
    pairs
        .map(|[name, value]| Some((name.strip_prefix('a')?.parse().ok()?, value.parse().ok()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::constant;

    #[test]
    fn answers_are_read() {
        let values = read_values("sat\n((a12 true)\n (a13 false))\n").unwrap();
        assert_eq!(values, BTreeMap::from([(12, true), (13, false)]));
        for other in [
            "",
            "unsat\n(error \"no model\")",
            "unknown",
            "sat ((x true))",
        ] {
            assert_eq!(read_values(other), None, "{other}");
        }
    }

    #[test]
    fn a_question_defines_every_atom_before_it_is_used() {
        let mut terms = Terms::new(1);
        let (x, y) = (terms.input(8), terms.input(8));
        let sum = terms.add(&x, &y);
        let product = terms.product_of(&sum, &x);
        let byte = terms.substitute(&product[..8]);
        let zero = terms.is_zero(&[&product[..], &byte].concat());
        let text = terms.where_differ(&[(zero, Bit::ONE)]).unwrap();
        let mut defined = BTreeSet::new();
        for line in text.lines() {
            let words: Vec<&str> = line.split(['(', ')', ' ']).collect();
            let is_name = |word: &&&str| {
                let digits = word.strip_prefix(['a', 't']).unwrap_or_default();
                !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
            };
            let mut names = words.iter().filter(is_name);
            if line.starts_with("(declare") || line.starts_with("(define") {
                let name = names.next().unwrap();
                assert!(names.all(|other| defined.contains(other)), "{line}");
                defined.insert(*name);
            } else {
                assert!(names.all(|name| defined.contains(name)), "{line}");
            }
        }
        assert!(defined.len() > 16, "{text}");
        assert_eq!(terms.where_differ(&[(constant(1, 1)[0], Bit::ONE)]), None);
    }

    /// The lines of the question, without the first two and the last two.
    fn question(terms: &Terms, pairs: &[(Bit, Bit)]) -> Vec<String> {
        let text = terms.where_differ(pairs).unwrap();
        let lines: Vec<String> = text.lines().map(String::from).collect();
        lines[2..lines.len() - 2].to_vec()
    }

    #[test]
    fn a_question_says_what_formulas_mean() {
        let mut terms = Terms::new(1);
        let word = terms.input(4);
        let product = terms.and(word[0], word[1]);
        let lines = question(&terms, &[(product, Bit::ONE)]);
        let declared = |atom: u32| format!("(declare-const a{atom} Bool)");
        let asserted = "(assert (or false (xor (and a2 a3) true)))".into();
        assert_eq!(lines, [declared(2), declared(3), asserted]);

        let sum = terms.add(&word[..2], &word[2..]);
        let lines = question(&terms, &[(sum[1], word[0])]);
        let term = "(define-fun t0 () (_ BitVec 2) (bvadd (_ bv0 2) (ite a2 (_ bv1 2) (_ bv0 2)) \
                    (ite a3 (_ bv2 2) (_ bv0 2)) (ite a4 (_ bv1 2) (_ bv0 2)) \
                    (ite a5 (_ bv2 2) (_ bv0 2))))";
        let bit = "(define-fun a7 () Bool (= ((_ extract 1 1) t0) #b1))";
        assert_eq!(lines[..4], [2, 3, 4, 5].map(declared));
        assert_eq!(lines[4..], [term, bit, "(assert (or false (xor a7 a2)))"]);

        let product = terms.product_of(&word[..2], &word[2..]);
        let lines = question(&terms, &[(product[0], Bit::ZERO)]);
        let factor = |low: u32, high: u32| {
            let bit = |atom, number| format!("(ite a{atom} (_ bv{number} 4) (_ bv0 4))");
            format!("(bvadd (_ bv0 4) {} {})", bit(low, 1), bit(high, 2))
        };
        let product = format!("(bvmul {} {})", factor(2, 3), factor(4, 5));
        let term = format!("(define-fun t1 () (_ BitVec 4) {product})");
        assert_eq!(lines[4], term);
    }

    #[test]
    fn a_byte_of_the_s_box_is_chosen_among_all() {
        let text = s_box_text("b");
        assert!(text.starts_with("(let ((x b)) (ite (= x (_ bv1 8)) (_ bv124 8) (ite (= x "));
        assert!(text.contains("(ite (= x (_ bv255 8)) (_ bv22 8) (_ bv99 8)))"));
        assert_eq!(text.matches('(').count(), text.matches(')').count());
    }

    #[test]
    fn not_too_many_atoms_are_asked_about() {
        let mut terms = Terms::new(1);
        let pairs: Vec<(Bit, Bit)> = terms
            .input(MOST + 1)
            .into_iter()
            .map(|bit| (bit, Bit::ZERO))
            .collect();
        assert!(terms.where_differ(&pairs).is_none());
        assert!(terms.where_differ(&pairs[1..]).is_some());
    }

    #[test]
    #[should_panic(expected = "a product has factors")]
    fn zero_is_no_product() {
        let mut terms = Terms::new(1);
        let [a, b] = [(); 2].map(|()| terms.input(1)[0]);
        let product = terms.and(a, b);
        let product = terms.summands(product, &mut [0])[0];
        let texts = [ONE, a.0, product].map(|product| terms.product_text(product));
        assert_eq!(texts, ["true", "a2", "(and a2 a3)"]);
        terms.product_text(0);
    }
}
