//! Finds a wrong word: the typed words and the checksum give the candidates.

use bip39::Language;
use zeroize::Zeroizing;

use super::{COUNT, Words, complete, typed_words};

/// A word that may be wrong, and the word of the list with which all fit together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspect {
    /// The place of the word, from 1.
    pub place: usize,
    /// The word that may have been meant.
    pub instead: &'static str,
}

/// How many letters may be wrong in a word that is on the list, and in one that is not.
const MAX_DISTANCE: usize = 2;
const MAX_DISTANCE_OF_UNKNOWN: usize = 3;

impl Words {
    /// How many words were typed.
    pub fn count(typed: &str) -> usize {
        typed_words(&Zeroizing::new(typed.to_ascii_lowercase())).count()
    }

    /// Which single word may be wrong, the likeliest first: every word of the list that is spelled
    /// like the typed one and with which the checksum is right. One in 256 wrong words passes.
    ///
    /// Empty if several words are not on the list, or there are not 24.
    pub fn suspects(typed: &str) -> Vec<Suspect> {
        let typed = Zeroizing::new(typed.to_ascii_lowercase());
        let words: Vec<&str> = typed_words(&typed).collect();
        let unknown: Vec<usize> = (0..words.len())
            .filter(|&i| complete(words[i]).is_none())
            .collect();
        let (places, max_distance) = match (words.len(), &unknown[..]) {
            (COUNT, []) => ((0..COUNT).collect(), MAX_DISTANCE),
            (COUNT, [one]) => (vec![*one], MAX_DISTANCE_OF_UNKNOWN),
            _ => return Vec::new(),
        };
        let mut found: Vec<(usize, Suspect)> = places
            .into_iter()
            .flat_map(|place| candidates(&words, place, max_distance))
            .collect();
        found.sort_by_key(|(distance, suspect)| (*distance, suspect.place));
        found.into_iter().map(|(_, suspect)| suspect).collect()
    }

    /// The typed words with another one at `place`, from 1.
    pub fn with_word(typed: &str, place: usize, word: &str) -> Zeroizing<String> {
        let mut text = Zeroizing::new(String::with_capacity(typed.len() + word.len() + COUNT));
        for (i, typed) in typed_words(typed).enumerate() {
            text.push_str(if i == 0 { "" } else { " " });
            text.push_str(if i + 1 == place { word } else { typed });
        }
        text
    }
}

/// The words for one place that are near enough and fit, with their distance.
fn candidates<'w>(
    words: &'w [&'w str],
    place: usize,
    max_distance: usize,
) -> impl Iterator<Item = (usize, Suspect)> + 'w {
    let list = Language::English.word_list().iter();
    list.filter_map(move |&instead| {
        let distance = distance(words[place], instead);
        if distance > max_distance || complete(words[place]) == Some(instead) {
            return None;
        }
        let mut changed = words.to_vec();
        changed[place] = instead;
        let text = Zeroizing::new(changed.join(" "));
        Words::parse(&text).ok()?;
        let place = place + 1;
        Some((distance, Suspect { place, instead }))
    })
}

/// How many letters are to be inserted, removed or changed, or exchanged with the next one (optimal
/// string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = match (i, j) {
                (0, n) | (n, 0) => n,
                _ => {
                    let changed = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    let exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                    let least = changed.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                    match exchanged {
                        true => least.min(rows[i - 2][j - 2] + 1),
                        false => least,
                    }
                }
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A test vector of BIP-39.
    const WORDS: &str = "hamster diagram private dutch cause delay private meat slide toddler razor book \
                         happy fancy gospel tennis maple dilemma loan word shrug inflict delay length";

    #[test]
    fn distances_are_those_of_the_definition() {
        for (a, b, expected) in [
            ("", "abc", 3),
            ("book", "book", 0),
            ("book", "back", 2),
            ("ab", "ba", 1),
            ("loan", "lona", 1),
            ("word", "sword", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
            assert_eq!(distance(b, a), expected, "{b} {a}");
        }
    }

    #[test]
    fn a_misspelled_word_is_pointed_at_with_the_right_one() {
        for (right, wrong, place) in [
            ("hamster", "hampster", 1),
            ("toddler", "todler", 10),
            ("gospel", "gosple", 15),
            ("length", "lenght", 24),
        ] {
            let typed = WORDS.replacen(right, wrong, 1);
            let suspects = Words::suspects(&typed);
            let expected = Suspect {
                place,
                instead: right,
            };
            assert_eq!(suspects.first(), Some(&expected), "{wrong}: {suspects:?}");
            let mended = Words::with_word(&typed, place, right);
            assert_eq!(
                Words::parse(&mended).unwrap().expose(),
                Words::parse(WORDS).unwrap().expose()
            );
        }
    }

    #[test]
    fn another_word_of_the_list_is_found_by_the_checksum() {
        // Each is on the list.
        for (right, wrong) in [("meat", "seat"), ("loan", "loud"), ("word", "wood")] {
            let typed = WORDS.replacen(right, wrong, 1);
            assert!(Words::parse(&typed).is_err());
            let suspects = Words::suspects(&typed);
            assert!(
                suspects.iter().any(|suspect| suspect.instead == right),
                "{suspects:?}"
            );
            for Suspect { place, instead } in suspects {
                assert!(Words::parse(&Words::with_word(&typed, place, instead)).is_ok());
            }
        }
    }

    #[test]
    fn nothing_is_guessed_where_nothing_is_known() {
        let two = WORDS
            .replacen("hamster", "hampster", 1)
            .replacen("toddler", "todler", 1);
        for typed in ["", "hamster", &two, &format!("{WORDS} zoo")] {
            assert!(Words::suspects(typed).is_empty(), "{typed}");
        }
    }

    #[test]
    fn lists_are_counted_without_their_numbers() {
        let numbered = |(i, word): (usize, &str)| format!("{}.{word}\n", i + 1);
        let list: String = WORDS.split_whitespace().enumerate().map(numbered).collect();
        assert_eq!(Words::count(&list), 24);
        assert!(Words::parse(&list).is_ok());
        assert_eq!(Words::count("1) hamster\n 2 - diagram\n#3: private"), 3);
    }
}
