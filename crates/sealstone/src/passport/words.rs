//! The root seed as 24 words (BIP-39, English list).

use std::fmt;

use bip39::{Language, Mnemonic};
use sealstone_primitives::secret::Secret;
use zeroize::Zeroizing;

use crate::{Error, Result};

/// A root seed as 24 words, to be written on paper. Wiped on drop, never printed by itself.
pub struct Words(Mnemonic);

const COUNT: usize = 24;
/// The longest word of the list has 8 letters.
const MAX_TEXT: usize = COUNT * (8 + 1);

impl Words {
    /// Reads 24 words of the English list; case and white space do not matter.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a word is not on the list, there are not 24, or they do not fit together.
    pub fn parse(typed: &str) -> Result<Self> {
        let text = Zeroizing::new(typed.to_ascii_lowercase());
        let words = Mnemonic::parse_in_normalized(Language::English, &text).map_err(explain)?;
        if words.word_count() == COUNT {
            Ok(Self(words))
        } else {
            Err(Error::Invalid(WRONG_COUNT))
        }
    }

    pub(super) fn of_seed(seed: &Secret<32>) -> Self {
        Self(
            Mnemonic::from_entropy_in(Language::English, seed.expose())
                .expect("32 bytes make 24 words"),
        )
    }

    /// The words, separated by single spaces: to be shown, or to be put into a QR code.
    pub fn expose(&self) -> Zeroizing<String> {
        let mut text = Zeroizing::new(String::with_capacity(MAX_TEXT));
        for (i, word) in self.0.words().enumerate() {
            text.push_str(if i == 0 { "" } else { " " });
            text.push_str(word);
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

fn explain(e: bip39::Error) -> Error {
    Error::Invalid(match e {
        bip39::Error::UnknownWord(_) => "a word is not on the BIP-39 English list",
        bip39::Error::InvalidChecksum => {
            "a word is wrong or in the wrong place: the words do not fit together"
        }
        _ => WRONG_COUNT,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the test vectors of BIP-39's reference implementation (trezor/python-mnemonic `vectors.json`): entropy, words.
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
        let unknown = good.replace("hamster", "hamsters");
        for bad in ["", "hamster", short, &swapped, &long, &unknown] {
            assert!(matches!(Words::parse(bad), Err(Error::Invalid(_))), "{bad}");
        }
    }

    #[test]
    fn nothing_is_printed_by_itself() {
        assert_eq!(
            format!("{:?}", Words::of_seed(&Secret::zeroed())),
            "Words(..)"
        );
    }
}
