//! Text that people will see: it must not be able to imitate other output.

use crate::{Error, Result};

/// Whether `c` would let text hide, overwrite or reorder what is shown around it.
fn misleading(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Accepts `text` if it is `min..=max` bytes of printable text.
pub(crate) fn check(text: &str, min: usize, max: usize, what: &'static str) -> Result<()> {
    let fits = (min..=max).contains(&text.len());
    if fits && !text.chars().any(misleading) {
        Ok(())
    } else {
        Err(Error::Malformed(what))
    }
}

/// Like [`check`] for text of several lines: line feeds and tabs are allowed.
pub(crate) fn check_lines(text: &str, min: usize, max: usize, what: &'static str) -> Result<()> {
    let fits = (min..=max).contains(&text.len());
    let clean = !text
        .chars()
        .any(|c| misleading(c) && c != '\n' && c != '\t');
    if fits && clean {
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
        ] {
            assert!(check(bad, 1, 64, "label").is_err(), "{bad:?}");
        }
        assert!(check(&"a".repeat(65), 1, 64, "label").is_err());
        assert!(check_lines("a\rb", 1, 64, "note").is_err());
    }
}
