//! Text as a terminal may safely show it.
//!
//! ```
//! use sealstone_terminal::text::{printable, quoted};
//!
//! assert_eq!(printable("two\nlines\u{1b}[2J"), "two\nlines\\u{1b}[2J");
//! assert_eq!(quoted("Mallory\", approved"), "\"Mallory\\\", approved\"");
//! ```

use std::fmt::Display;
use std::io;
use std::path::Path;

/// Text with nothing in it that a terminal would obey.
pub fn printable(text: &str) -> String {
    escape(text, |c| is_harmful(c) && c != '\n' && c != '\t')
}

/// A name within a message: it may hold anything, and must not look like a line of its own.
pub fn one_line(text: &str) -> String {
    escape(text, is_harmful)
}

/// A name that somebody else has chosen, in quotation marks that it cannot close.
pub fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", one_line(&escaped))
}

/// A name as [`quoted`], cut to 36 columns. Within a line of other text, a terminal breaks a longer
/// name, and its second part could imitate a line of its own.
pub fn quoted_short(name: &str) -> String {
    let fits = |name: &str| columns(&quoted(name)) <= SHORT;
    if fits(name) {
        return quoted(name);
    }
    let cut = |end: usize| format!("{}…", &name[..end]);
    let ends = name.char_indices().map(|(end, _)| cut(end));
    let longest = ends.take_while(|cut| fits(cut)).last();
    quoted(&longest.unwrap_or_default())
}

/// A text of several lines that somebody else has written. Each line is marked, and is too short to
/// be broken by a terminal of 80 columns, so that none looks like a message.
pub fn quoted_lines(text: &str) -> String {
    // Escapes are longer than what they stand for.
    let line = |line: &str| folded(&one_line(&line.replace('\t', "    ")));
    let lines = text.lines().flat_map(line);
    lines.map(|part| format!("\n  | {part}")).collect()
}

/// A file name that somebody else has chosen: in quotation marks, or in marked lines if a terminal
/// could break it.
pub fn quoted_name(name: &str) -> String {
    let short = quoted(name);
    match columns(&short) <= FOLD - 18 {
        true => format!(" {short}"),
        false => format!(":{}", quoted_lines(name)),
    }
}

/// The most columns that a text may take. A character that is not ASCII may be two columns wide.
pub fn columns(text: &str) -> usize {
    text.chars().map(|c| 1 + usize::from(!c.is_ascii())).sum()
}

const SHORT: usize = 36;

/// Columns of a quoted line. A character that is not ASCII may be two columns wide.
const FOLD: usize = 70;

fn folded(line: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut columns = 0;
    for c in line.chars() {
        columns += 1 + usize::from(!c.is_ascii());
        if columns > FOLD {
            parts.push(String::new());
            columns = 2;
        }
        parts.last_mut().expect("there is one").push(c);
    }
    parts
}

/// A path as messages show it.
pub fn shown(path: &Path) -> String {
    if path.as_os_str().is_empty() {
        return "''".to_owned();
    }
    one_line(&path.to_string_lossy())
}

/// JSON on one line, without the control characters that JSON allows in strings and terminals obey.
pub fn json_line(json: &impl Display) -> String {
    let mut line = String::new();
    for c in json.to_string().chars() {
        match is_harmful(c) {
            // All of them are below U+10000.
            true => line.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => line.push(c),
        }
    }
    line
}

/// Breaks lines of more than 80 columns in the middle of a fingerprint, whose second half goes
/// below the first. Commands must hold the first half only, so that they can be copied.
pub fn fold(text: &str) -> String {
    text.split_inclusive('\n').map(fold_line).collect()
}

fn fold_line(line: &str) -> String {
    let is_long = line.trim_end().chars().count() > COLUMNS;
    let Some(start) = find_fingerprint(line).filter(|_| is_long) else {
        return line.to_owned();
    };
    let (before, fingerprint) = line.split_at(start);
    let (first, second) = fingerprint.split_at(HALF_FINGERPRINT);
    match before.chars().count() {
        indent if indent + HALF_FINGERPRINT <= COLUMNS => {
            format!("{before}{first}\n{:indent$}{second}", "")
        }
        _ => format!("{}\n  {first}\n  {second}", before.trim_end()),
    }
}

/// Where 16 groups of 4 digits begin.
fn find_fingerprint(line: &str) -> Option<usize> {
    let is_in_place = |(i, byte): (usize, &u8)| match i % 5 {
        4 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    line.as_bytes()
        .windows(2 * HALF_FINGERPRINT - 1)
        .position(|window| window.iter().enumerate().all(is_in_place))
}

/// The columns of a usual terminal.
pub const COLUMNS: usize = 80;
/// 8 groups with the dashes behind them.
const HALF_FINGERPRINT: usize = 40;

/// Control characters, and those that change the order of what is around them.
fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn escape(text: &str, harmful: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match harmful(c) {
            true => out.extend(c.escape_unicode()),
            false => out.push(c),
        }
    }
    out
}

/// Fails unless `bytes` are harmless on a terminal. Control characters in a file could change the
/// screen or imitate messages.
///
/// Returns how many of the bytes can be shown now. An incomplete character waits for its rest.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`].
pub fn check_text(bytes: &[u8]) -> io::Result<usize> {
    let not_text = || {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            "the content is not text (choose -o FILE, or -o - to see it all the same)",
        )
    };
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(e) if e.error_len().is_none() => {
            std::str::from_utf8(&bytes[..e.valid_up_to()]).map_err(|_| not_text())?
        }
        Err(_) => return Err(not_text()),
    };
    // A carriage return at the end of a piece waits for the line feed in the next.
    let text = text.strip_suffix('\r').unwrap_or(text);
    let lines = text.replace("\r\n", "\n");
    if printable(&lines) != lines {
        return Err(not_text());
    }
    Ok(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_cut_within_a_line() {
        let fits = "x".repeat(SHORT - 2);
        assert_eq!(quoted_short(&fits), format!("\"{fits}\""));
        assert_eq!(
            quoted_short(&"x".repeat(SHORT - 1)),
            format!("\"{}…\"", "x".repeat(SHORT - 4))
        );
        for long in ["\u{202e}", "\"", "é", "\\"] {
            let shown = quoted_short(&long.repeat(255 / long.len()));
            assert!((SHORT - 8..=SHORT).contains(&columns(&shown)), "{shown}");
            assert!(shown.ends_with("…\""), "{shown}");
        }
    }

    #[test]
    fn a_quoted_name_cannot_end_its_quotation() {
        assert_eq!(quoted("Alice"), "\"Alice\"");
        assert_eq!(quoted("x\", approved"), "\"x\\\", approved\"");
        assert_eq!(quoted("x\\\"\n"), "\"x\\\\\\\"\\u{a}\"");
    }

    #[test]
    fn no_quoted_line_begins_a_line_of_the_terminal() {
        let text = format!(
            "one\n\ttwo\n{}sealstone: three\n{}",
            " ".repeat(80),
            "名".repeat(80)
        );
        let shown = quoted_lines(&text);
        for line in shown.split('\n').skip(1) {
            let columns = line.chars().map(|c| if c.is_ascii() { 1 } else { 2 });
            assert!(
                line.starts_with("  | ") && columns.sum::<usize>() < 80,
                "{line}"
            );
        }
        assert!(shown.contains("|     two") && shown.contains("three"));
    }
    #[test]
    fn a_long_name_is_broken_before_the_terminal_breaks_it() {
        assert_eq!(quoted_name("a.txt"), " \"a.txt\"");
        let imitation = format!("a{}opened x (from yourself)", " ".repeat(80));
        let shown = quoted_name(&imitation);
        assert!(
            shown
                .lines()
                .skip(1)
                .all(|line| line.starts_with("  | ") && line.len() < 80)
        );
        assert!(shown.starts_with(":\n"));
    }

    /// Each of these characters is shown as eight.
    #[test]
    fn escapes_do_not_make_a_line_longer() {
        let imitation = format!("{}aaaaopened x (from yourself)", "\u{202e}".repeat(9));
        for shown in [quoted_name(&imitation), quoted_lines(&imitation)] {
            let mut lines = shown.lines().skip(1);
            assert!(shown.contains("\\u{202e}"), "{shown}");
            assert!(lines.all(|line| line.starts_with("  | ") && line.len() < 80));
        }
    }

    #[test]
    fn fingerprints_fit_into_80_columns() {
        let fingerprint =
            "0211-6365-1d59-6306-51e6-1fad-401b-5038-2a86-3bec-d8d0-562b-48c4-3c51-df87-cffd";
        let (first, second) = fingerprint.split_at(40);
        assert_eq!(
            fold(&format!("möbius {fingerprint} and more\nnext line\n")),
            format!("möbius {first}\n       {second} and more\nnext line\n")
        );
        let text = "x".repeat(50);
        assert_eq!(
            fold(&format!("{text} {fingerprint}")),
            format!("{text}\n  {first}\n  {second}")
        );
        // The label that a stranger chooses makes no difference.
        let label = format!("from \"sealstone \": {fingerprint}");
        assert_eq!(fold(&label).lines().count(), 2);
        for whole in [fingerprint, "no fingerprint"] {
            assert_eq!(fold(whole), whole);
        }
    }

    #[test]
    fn text_is_shown_and_what_a_terminal_would_obey_is_not() {
        for (good, shown) in [
            (&b"plain\r\ntext\n"[..], 12),
            ("Grüße\t名前".as_bytes(), 14),
            (b"half a character \xc3", 17),
            (b"half a line ending\r", 18),
        ] {
            assert_eq!(check_text(good).unwrap(), shown, "{good:?}");
        }
        for bad in [
            &b"\x1b[31m"[..],
            b"\x9b31m",
            b"\xc2\x9b31m",
            "\u{202e}".as_bytes(),
            b"over\rwritten",
            b"\x08",
            b"\x00",
        ] {
            assert!(check_text(bad).is_err(), "{bad:?}");
        }
    }
}
