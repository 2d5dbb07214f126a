//! Text as a terminal may safely show it.

use std::path::Path;

use serde_json::Value;

/// Text with nothing in it that a terminal would obey.
pub(crate) fn printable(text: &str) -> String {
    escape(text, |c| is_harmful(c) && c != '\n' && c != '\t')
}

/// A name within a message: it may hold anything, and must not look like a line of its own.
pub(crate) fn one_line(text: &str) -> String {
    escape(text, is_harmful)
}

/// A path as messages show it.
pub(crate) fn shown(path: &Path) -> String {
    if path.as_os_str().is_empty() {
        return "''".to_owned();
    }
    one_line(&path.to_string_lossy())
}

/// JSON on one line, without the control characters that JSON allows in strings and terminals obey.
pub(crate) fn json_line(value: &Value) -> String {
    let mut line = String::new();
    for c in value.to_string().chars() {
        match is_harmful(c) {
            // All of them are below U+10000.
            true => line.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => line.push(c),
        }
    }
    line
}

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
