//! The root seed as 24 words (BIP-39, English list).

mod suspect;

use std::fmt;

use bip39::{Language, Mnemonic};
use sealstone_primitives::secret::Secret;
use zeroize::Zeroizing;

use crate::wire::text;
use crate::{Error, Result};

pub use suspect::Suspect;

/// A root seed as 24 words, to be written on paper. It is wiped on drop and never printed by
/// `Debug`.
pub struct Words(Mnemonic);

const COUNT: usize = 24;
/// No two words of the list begin with the same four letters.
const ENOUGH: usize = 4;
/// The longest word of the list has 8 letters.
const MAX_TEXT: usize = COUNT * (8 + 1);

impl Words {
    /// Reads 24 words of the English list. The first four letters of each are enough. Case, white
    /// space, dashes, invisible characters and numbers between the words do not matter.
    ///
    /// # Errors
    /// [`Error::UnknownWord`] if one is not on the list; [`Error::Invalid`] if there are not 24, or
    /// their checksum is wrong.
    pub fn parse(typed: &str) -> Result<Self> {
        let typed = Zeroizing::new(typed.to_ascii_lowercase());
        let words = || typed_words(&typed);
        if words().count() != COUNT {
            return Err(Error::Invalid(WRONG_COUNT));
        }
        let mut text = Zeroizing::new(String::with_capacity(MAX_TEXT));
        for (i, word) in words().enumerate() {
            text.push_str(if i == 0 { "" } else { " " });
            text.push_str(complete(word).ok_or(Error::UnknownWord(i + 1))?);
        }
        let words = Mnemonic::parse_in_normalized(Language::English, &text).map_err(explain)?;
        Ok(Self(words))
    }

    pub(super) fn of_seed(seed: &Secret<32>) -> Self {
        Self(
            Mnemonic::from_entropy_in(Language::English, seed.expose())
                .expect("32 bytes make 24 words"),
        )
    }

    /// The words, separated by single spaces.
    pub fn expose(&self) -> Zeroizing<String> {
        let mut text = Zeroizing::new(String::with_capacity(MAX_TEXT));
        for (i, word) in self.0.words().enumerate() {
            text.push_str(if i == 0 { "" } else { " " });
            text.push_str(word);
        }
        text
    }

    /// Six lines of four numbered words, for copying to paper.
    pub fn numbered(&self) -> Zeroizing<String> {
        let mut text = Zeroizing::new(String::with_capacity(2 * MAX_TEXT));
        for (i, word) in self.0.words().enumerate() {
            let number = i + 1;
            match number % 4 {
                0 => text.push_str(&format!("{number:>2} {word}\n")),
                _ => text.push_str(&format!("{number:>2} {word:<9}")),
            }
        }
        text
    }

    pub(super) fn seed(&self) -> Secret<32> {
        let (entropy, _) = self.0.to_entropy_array();
        let entropy = Zeroizing::new(entropy);
        Secret::with(|seed| seed.copy_from_slice(&entropy[..32]))
    }
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Words(..)")
    }
}

const WRONG_COUNT: &str = "a passport is 24 words";

/// The words, without the numbers and marks of a list, even where they stand close to a word.
fn typed_words(typed: &str) -> impl Iterator<Item = &str> {
    const MARKS: [char; 8] = ['.', ')', '(', ':', '#', ',', ';', '*'];
    let is_mark = |c: char| c.is_ascii_digit() || MARKS.contains(&c);
    let bare = move |word: &'_ str| word.trim_start_matches(is_mark).len();
    typed.split(text::is_separator).filter_map(move |word| {
        let bare = &word[word.len() - bare(word)..];
        let bare = bare.trim_end_matches(MARKS);
        (!bare.is_empty()).then_some(bare)
    })
}

/// The word of the list that is `typed` or begins with it.
fn complete(typed: &str) -> Option<&'static str> {
    let list = Language::English.word_list();
    let begins = |word: &&&str| typed.len() >= ENOUGH && word.starts_with(typed);
    let exact = list.iter().find(|word| **word == typed);
    exact.or_else(|| list.iter().find(begins)).copied()
}

fn explain(e: bip39::Error) -> Error {
    Error::Invalid(match e {
        bip39::Error::InvalidChecksum => {
            "a word is wrong or in the wrong place: the words do not fit together"
        }
        _ => WRONG_COUNT,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entropy and words from the test vectors of BIP-39's reference implementation
    /// (trezor/python-mnemonic `vectors.json`).
    const VECTORS: [(&str, &str); 4] = [
        (
            "0000000000000000000000000000000000000000000000000000000000000000",
            "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon \
             abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon art",
        ),
        (
            "7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f",
            "legal winner thank year wave sausage worth useful legal winner thank year \
             wave sausage worth useful legal winner thank year wave sausage worth title",
        ),
        (
            "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            "zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo vote",
        ),
        (
            "68a79eaca2324873eacc50cb9c6eca8cc68ea5d936f98787c60c7ebc74e6ce7c",
            "hamster diagram private dutch cause delay private meat slide toddler razor book \
             happy fancy gospel tennis maple dilemma loan word shrug inflict delay length",
        ),
    ];

    #[test]
    fn words_are_those_of_bip_39() {
        for (hex, words) in VECTORS {
            let seed = Secret::from_slice(&data_encoding::HEXLOWER.decode(hex.as_bytes()).unwrap())
                .unwrap();
            assert_eq!(*Words::of_seed(&seed).expose(), words);
            assert_eq!(Words::parse(words).unwrap().seed(), seed);
            let sloppy = format!("  {}\n", words.to_uppercase().replace(' ', "\n\t"));
            assert_eq!(Words::parse(&sloppy).unwrap().seed(), seed);
        }
    }

    #[test]
    fn other_words_are_refused() {
        let good = VECTORS[3].1;
        let swapped = good.replacen("hamster diagram", "diagram hamster", 1);
        let short = "legal winner thank year wave sausage worth useful legal winner thank yellow";
        let long = format!("{good} zoo");
        for bad in ["", "hamster", short, &swapped, &long] {
            assert!(matches!(Words::parse(bad), Err(Error::Invalid(_))), "{bad}");
        }
        for unknown in ["hamsters", "ham", "hams7"] {
            let bad = good.replace("private dutch", &format!("{unknown} dutch"));
            assert!(
                matches!(Words::parse(&bad), Err(Error::UnknownWord(3))),
                "{bad}"
            );
        }
    }

    #[test]
    fn tables_and_beginnings_of_words_are_read() {
        for (_, words) in VECTORS {
            let seed = Words::parse(words).unwrap().seed();
            let numbered = |(i, word): (usize, &str)| {
                format!("{:>2}. {}\n", i + 1, &word[..word.len().min(4)])
            };
            let table: String = words.split(' ').enumerate().map(numbered).collect();
            assert_eq!(Words::parse(&table).unwrap().seed(), seed);
            assert_eq!(Words::parse(&table.replace('.', "")).unwrap().seed(), seed);
        }
    }

    #[test]
    fn four_letters_tell_the_words_of_the_list_apart() {
        let list = Language::English.word_list();
        let heads: std::collections::HashSet<&str> = list
            .iter()
            .map(|word| &word[..word.len().min(ENOUGH)])
            .collect();
        assert_eq!(heads.len(), list.len());
    }

    #[test]
    fn nothing_is_printed_by_itself() {
        assert_eq!(
            format!("{:?}", Words::of_seed(&Secret::zeroed())),
            "Words(..)"
        );
    }
}
