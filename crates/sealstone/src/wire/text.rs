//! Rules for text that people will see: it must not imitate other output.

use crate::{Error, Result};

use unicode_normalization::{UnicodeNormalization, is_nfc};

/// Characters that are invisible, or change how the text around them is shown: Unicode 16
/// categories Cf, Zl and Zp, the private use areas, and the rest of `Default_Ignorable_Code_Point`.
const UNSEEN: &[std::ops::RangeInclusive<char>] = &[
    '\u{ad}'..='\u{ad}',
    '\u{34f}'..='\u{34f}',
    '\u{600}'..='\u{605}',
    '\u{61c}'..='\u{61c}',
    '\u{6dd}'..='\u{6dd}',
    '\u{70f}'..='\u{70f}',
    '\u{890}'..='\u{891}',
    '\u{8e2}'..='\u{8e2}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180b}'..='\u{180f}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{2800}'..='\u{2800}',
    '\u{3164}'..='\u{3164}',
    '\u{e000}'..='\u{f8ff}',
    '\u{fe00}'..='\u{fe0f}',
    '\u{feff}'..='\u{feff}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{fff0}'..='\u{fffb}',
    '\u{110bd}'..='\u{110bd}',
    '\u{110cd}'..='\u{110cd}',
    '\u{13430}'..='\u{1343f}',
    '\u{1bca0}'..='\u{1bca3}',
    '\u{1d173}'..='\u{1d17a}',
    '\u{e0000}'..='\u{10ffff}',
];

/// Whether `c` lets text hide, overwrite or reorder the text around it.
fn misleading(c: char) -> bool {
    c.is_control() || UNSEEN.iter().any(|range| range.contains(&c))
}

/// Whether spaces could make two texts look alike: at an end, doubled, or of another width.
pub(crate) fn odd_spaces(text: &str) -> bool {
    let other = |c: char| c.is_whitespace() && c != ' ';
    text.starts_with(' ') || text.ends_with(' ') || text.contains("  ") || text.contains(other)
}

/// Whether `c` may stand between the digits that a person types: white space, a dash, or a
/// character that is not seen.
pub(crate) fn is_separator(c: char) -> bool {
    let dash = matches!(
        c,
        '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}'
    );
    dash || c.is_whitespace() || misleading(c)
}

/// The digits that a person typed, in lower case.
pub(crate) fn typed_digits(typed: &str) -> String {
    let digits = typed.chars().filter(|c| !is_separator(*c));
    digits.map(|c| c.to_ascii_lowercase()).collect()
}

/// The label that a person typed: in form NFC, with single spaces, without invisible characters.
pub(crate) fn typed_label(typed: &str) -> String {
    let visible = |c: &char| c.is_whitespace() || !misleading(*c);
    let text: String = typed.nfc().filter(visible).collect();
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

/// Accepts a label of `min..=max` bytes if no other bytes look like it.
pub(crate) fn check(text: &str, min: usize, max: usize, what: &'static str) -> Result<()> {
    let clear = is_nfc(text) && !odd_spaces(text) && !text.chars().any(misleading);
    fits(text, min, max, clear, what)
}

/// Accepts one line of text without control characters and reordering characters.
///
/// Invisible characters are allowed, because emoji contain them.
pub(crate) fn check_line(text: &str, min: usize, max: usize, what: &'static str) -> Result<()> {
    fits(text, min, max, !text.chars().any(reordering), what)
}

/// Like [`check_line`] for text of several lines: line feeds and tabs are allowed.
pub(crate) fn check_lines(text: &str, min: usize, max: usize, what: &'static str) -> Result<()> {
    let clear = !text
        .chars()
        .any(|c| reordering(c) && c != '\n' && c != '\t');
    fits(text, min, max, clear, what)
}

/// Text of unknown origin as one line that cannot imitate other output.
pub(crate) fn shown(text: &str) -> String {
    let clear = |c: char| {
        if reordering(c) {
            char::REPLACEMENT_CHARACTER
        } else {
            c
        }
    };
    text.chars().map(clear).collect()
}

/// Control characters, line and paragraph separators, bidirectional embeddings, overrides and
/// isolates.
fn reordering(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn fits(text: &str, min: usize, max: usize, clear: bool, what: &'static str) -> Result<()> {
    let fits = clear && (min..=max).contains(&text.len());
    if fits {
        Ok(())
    } else {
        Err(Error::Malformed(what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printable_text_of_the_right_size_passes() {
        for good in ["Alice", "Ålice Öberg", "名前", "a b-c"] {
            check(good, 1, 64, "label").unwrap();
        }
        check("", 0, 64, "note").unwrap();
        check_lines("one\n\ttwo", 1, 64, "note").unwrap();
    }

    #[test]
    fn misleading_or_oversized_text_is_refused() {
        for bad in [
            "",
            "a\nb",
            "a\x1b[2J",
            "a\u{202e}b",
            "a\u{2066}b",
            "\u{85}",
            "\u{7f}",
            "Alice\u{200b}",
            "Alice\u{200d}",
            "Alice\u{ad}",
            "Alice\u{3164}",
            "Alice\u{e0041}",
            "Alice\u{2028}",
            "Alice ",
            " Alice",
            "Al  ice",
            "Al\u{a0}ice",
            "A\u{30a}lice",
        ] {
            assert!(check(bad, 1, 64, "label").is_err(), "{bad:?}");
        }
        assert!(check(&"a".repeat(65), 1, 64, "label").is_err());
        for bad in ["a\rb", "a\u{2029}b", "a\u{202e}b", "a\u{9b}31m"] {
            assert!(check_lines(bad, 1, 64, "note").is_err(), "{bad:?}");
            assert!(check_line(bad, 1, 64, "name").is_err(), "{bad:?}");
        }
        check_line(
            "A\u{30a}  \u{1f469}\u{200d}\u{1f4bb}\u{fe0f}.pdf",
            1,
            64,
            "name",
        )
        .unwrap();
    }
}
