//! Passphrases: normalised, generated, and recognised in other spellings.

use bip39::Language;
use sealstone_primitives::rng;
use unicode_normalization::UnicodeNormalization;
use zeroize::Zeroizing;

use crate::{Error, Result};

/// A passphrase or recovery key in the form that Argon2id takes. Wiped on drop, never printed.
pub struct Passphrase(Zeroizing<Vec<u8>>);

/// Words of a generated passphrase, of 11 bits each.
const GENERATED_WORDS: usize = 10;
/// The longest word of the BIP-39 English list.
const MAX_WORD: usize = 8;

impl Passphrase {
    /// Makes a passphrase from text as typed.
    ///
    /// UTF-8 is normalised to NFC, so that the same words give the same key on every keyboard.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is empty.
    pub fn new(typed: &[u8]) -> Result<Self> {
        if typed.is_empty() {
            return Err(Error::Invalid("the passphrase is empty"));
        }
        let bytes = match std::str::from_utf8(typed) {
            Ok(text) => {
                // NFC is at most three times as long (Unicode Annex 15), so no reallocation
                // leaves a copy that is not wiped.
                let mut normal = String::with_capacity(3 * typed.len());
                normal.extend(text.nfc());
                normal.into_bytes()
            }
            Err(_) => typed.to_vec(),
        };
        Ok(Self(Zeroizing::new(bytes)))
    }

    /// As [`Passphrase::new`] for bytes from a file: drops one line ending at their end.
    ///
    /// # Errors
    /// [`Error::Invalid`] if nothing is left.
    pub fn from_line(read: &[u8]) -> Result<Self> {
        let line = read.strip_suffix(b"\n").unwrap_or(read);
        Self::new(line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// Generates one: ten words of the BIP-39 English list with dashes between them, 110 bits.
    ///
    /// ```
    /// let passphrase = sealstone::Passphrase::generate();
    /// let to_show = std::str::from_utf8(passphrase.expose()).unwrap();
    /// assert_eq!(to_show.split('-').count(), 10);
    /// ```
    pub fn generate() -> Self {
        let list = Language::English.word_list();
        let mut text = Vec::with_capacity(GENERATED_WORDS * (MAX_WORD + 1));
        for i in 0..GENERATED_WORDS {
            text.extend_from_slice(if i == 0 { b"" } else { b"-" });
            text.extend_from_slice(list[rng::below(list.len() as u32) as usize].as_bytes());
        }
        Self(Zeroizing::new(text))
    }

    /// A generated passphrase with dashes, if this is one that was typed with spaces or capitals.
    ///
    /// Unlocking tries it after the passphrase itself, which may have been chosen as it is.
    pub(crate) fn with_dashes(&self) -> Option<Self> {
        let typed = Zeroizing::new(std::str::from_utf8(&self.0).ok()?.to_ascii_lowercase());
        let words = || typed.split([' ', '-']).filter(|word| !word.is_empty());
        let is_on_list = |word| Language::English.find_word(word).is_some();
        if words().count() != GENERATED_WORDS || !words().all(is_on_list) {
            return None;
        }
        let mut text = Vec::with_capacity(GENERATED_WORDS * (MAX_WORD + 1));
        for (i, word) in words().enumerate() {
            text.extend_from_slice(if i == 0 { b"" } else { b"-" });
            text.extend_from_slice(word.as_bytes());
        }
        let dashed = Self(Zeroizing::new(text));
        (dashed.0 != self.0).then_some(dashed)
    }

    /// The bytes, to show a generated passphrase to its owner.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl std::fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Passphrase(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passphrases_are_normalised_and_lose_one_line_ending() {
        let composed = Passphrase::new("caf\u{e9}".as_bytes()).unwrap();
        let decomposed = Passphrase::from_line("cafe\u{301}\r\n".as_bytes()).unwrap();
        assert_eq!(composed.as_bytes(), decomposed.as_bytes());
        assert_eq!(Passphrase::from_line(b"a\n\n").unwrap().as_bytes(), b"a\n");
        assert_eq!(
            Passphrase::new(b"\xff\xfe").unwrap().as_bytes(),
            b"\xff\xfe"
        );
        assert!(Passphrase::from_line(b"\n").is_err());
        assert_eq!(format!("{composed:?}"), "Passphrase(..)");
    }

    #[test]
    fn generated_passphrases_are_ten_words_of_the_list() {
        let list = Language::English.word_list();
        assert_eq!(
            (list.len(), list.iter().map(|word| word.len()).max()),
            (2048, Some(MAX_WORD))
        );
        let (a, b) = (Passphrase::generate(), Passphrase::generate());
        let words: Vec<&str> = std::str::from_utf8(a.expose())
            .unwrap()
            .split('-')
            .collect();
        assert_eq!(words.len(), 10);
        assert!(words.iter().all(|word| list.contains(word)));
        assert_ne!(a.expose(), b.expose());
    }

    #[test]
    fn generated_passphrases_are_recognised_in_other_spellings() {
        let generated = Passphrase::generate();
        let shown = std::str::from_utf8(generated.expose()).unwrap();
        for typed in [
            shown.replace('-', " "),
            shown.to_uppercase(),
            format!(" {} ", shown.replace('-', "  ")),
        ] {
            let typed = Passphrase::new(typed.as_bytes()).unwrap();
            assert_eq!(typed.with_dashes().unwrap().expose(), generated.expose());
        }
        assert!(generated.with_dashes().is_none());
        for other in [
            "correct horse battery staple",
            &format!("{shown} zoo"),
            &shown.replacen('-', " x-", 1),
        ] {
            let other = Passphrase::new(other.as_bytes()).unwrap();
            assert!(other.with_dashes().is_none(), "{other:?}");
        }
    }
}
