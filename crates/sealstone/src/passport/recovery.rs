//! Recovery keys: random passphrases, to be written down and stored.

use std::fmt;

use sealstone_primitives::secret::Secret;
use zeroize::Zeroizing;

use super::spell;
use crate::{Error, Passphrase, Result};

/// A random key of 160 bits that opens a passport when its passphrases are lost. It is wiped on
/// drop and never printed by `Debug`.
///
/// ```
/// use sealstone::passport::RecoveryKey;
/// let key = RecoveryKey::parse("aaaa bbbb cccc dddd eeee ffff gggg 2345")?;
/// assert_eq!(*key.expose(), "AAAA-BBBB-CCCC-DDDD-EEEE-FFFF-GGGG-2345");
/// # Ok::<(), sealstone::Error>(())
/// ```
pub struct RecoveryKey(Passphrase);

const LEN: usize = 20;

impl RecoveryKey {
    /// Generates a key.
    pub fn generate() -> Self {
        Self::of_digits(&spell::encode(Secret::<LEN>::random().expose()))
    }

    /// Reads 32 letters and digits. Case, dashes, white space and invisible characters do not
    /// matter.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is anything else.
    pub fn parse(typed: &str) -> Result<Self> {
        let digits = spell::compact(typed);
        match spell::decode::<LEN>(&digits) {
            Some(_) => Ok(Self::of_digits(digits.as_bytes())),
            None => Err(Error::Invalid(
                "a recovery key is 32 letters A-Z and digits 2-7",
            )),
        }
    }

    /// The text to write down: 8 groups of 4.
    pub fn expose(&self) -> Zeroizing<String> {
        spell::group("", self.0.as_bytes(), 4)
    }

    /// The passphrase of its slot.
    pub(super) fn passphrase(&self) -> &Passphrase {
        &self.0
    }

    fn of_digits(digits: &[u8]) -> Self {
        Self(Passphrase::new(digits).expect("32 digits are not empty"))
    }
}

impl fmt::Debug for RecoveryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RecoveryKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back_from_every_spelling() {
        let key = RecoveryKey::generate();
        let shown = key.expose();
        assert_eq!(shown.len(), 32 + 7);
        for typed in [
            shown.to_string(),
            shown.to_lowercase(),
            shown.replace('-', " "),
            shown.replace('-', ""),
        ] {
            assert_eq!(*RecoveryKey::parse(&typed).unwrap().expose(), *shown);
        }
        assert_eq!(
            key.passphrase().as_bytes(),
            shown.replace('-', "").as_bytes()
        );
        assert_eq!(format!("{key:?}"), "RecoveryKey(..)");
    }

    #[test]
    fn other_text_is_refused() {
        for bad in [
            "",
            "AAAA",
            &"A".repeat(31),
            &"A".repeat(33),
            &"1".repeat(32),
            &"Ä".repeat(16),
        ] {
            assert!(RecoveryKey::parse(bad).is_err(), "{bad}");
        }
    }
}
