//! AES's S-box as an operation that is not looked into: equal bytes have equal results.

use super::linear::{Kind, encode_substituted};
use super::{Bit, Terms, Word, constant, value};
use crate::aes::S_BOX;

impl Terms {
    /// AES's S-box of a byte (FIPS 197, 5.1.1).
    ///
    /// # Panics
    /// If it is not a byte.
    pub fn substitute(&mut self, byte: &[Bit]) -> Word {
        assert_eq!(byte.len(), 8, "a byte");
        if let Some(number) = value(byte) {
            return constant(S_BOX[number as usize].into(), 8);
        }
        let values = self.samples(byte);
        let values = values.map(|value| S_BOX[value as usize].into());
        let kinds = self.kinds_of(byte.iter());
        let kind = Kind {
            width: 8,
            linear: false,
            exact: true,
        };
        self.term(&encode_substituted(byte), kind, kinds, &values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_bytes_have_equal_results_and_no_others() {
        let mut terms = Terms::new(1);
        let (a, b) = (terms.input(8), terms.input(8));
        let (of_a, of_b) = (terms.substitute(&a), terms.substitute(&b));
        assert_eq!(terms.substitute(&a), of_a);
        assert!(of_a.iter().zip(&of_b).all(|(a, b)| a != b));
        for (number, result) in terms.samples(&a).into_iter().zip(terms.samples(&of_a)) {
            assert_eq!(result, S_BOX[number as usize].into());
            let of_number = terms.substitute(&constant(number, 8));
            assert_eq!(value(&of_number), Some(result));
        }
        assert!(of_a.iter().all(|bit| terms.depends_on_input(*bit)));
        let junk = terms.junk(8);
        let of_junk = terms.substitute(&junk);
        assert!(of_junk.iter().all(|bit| !terms.depends_on_input(*bit)));
    }
}
