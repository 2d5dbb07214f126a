//! Lines of prose and comments that are too wide to read.

use super::PROGRAM_PLACES;
use std::path::Path;

const MAX_COLUMNS: usize = 100;

/// Whether a file may hold prose or comments, and how those begin.
fn mark(name: &str) -> Option<&'static str> {
    let path = Path::new(name);
    match path.extension().and_then(|suffix| suffix.to_str()) {
        Some("md") => Some(""),
        Some("rs" | "c" | "h" | "cpp" | "hpp" | "go" | "java" | "js" | "mjs" | "ts") => Some("//"),
        Some("css") => Some("/*"),
        Some("html") => Some("<!--"),
        Some("py" | "pyi" | "sh" | "toml" | "yml" | "yaml") => Some("#"),
        Some("lua") => Some("--"),
        None if is_program(path) => Some("#"),
        _ => None,
    }
}

/// Whether a file without a suffix is one of those whose comments begin with `#`.
fn is_program(path: &Path) -> bool {
    let is_recipe = path.ends_with("Makefile") || path.ends_with("Dockerfile");
    is_recipe || PROGRAM_PLACES.iter().any(|place| path.starts_with(place))
}

pub(super) fn is_read(name: &str) -> bool {
    mark(name).is_some()
}

pub(super) fn too_wide(name: &str, text: &str) -> Vec<String> {
    let lines = match mark(name) {
        Some("") => markdown(text),
        Some(mark) => comments(text, mark),
        None => Vec::new(),
    };
    let wide = lines.into_iter().filter(|(_, line)| is_too_wide(line));
    let prose = wide.map(|(number, line)| (number, line.chars().count(), "prose"));
    let printed = help(name, text).filter(|(_, columns)| *columns > MAX_COLUMNS);
    let printed = printed.map(|(number, columns)| (number, columns, "`make help`"));
    let message = |(number, columns, place)| {
        format!("{name}:{number}: {columns} columns of {place}, more than {MAX_COLUMNS}")
    };
    prose.chain(printed).map(message).collect()
}

/// The lines that `make help` prints of a Makefile: the number of each, and its columns. `make` and
/// the target come before the text, and the target takes 18 columns or more.
fn help<'t>(name: &str, text: &'t str) -> impl Iterator<Item = (usize, usize)> + use<'t> {
    let is_makefile = Path::new(name).ends_with("Makefile");
    let lines = (1..).zip(text.lines()).filter(move |_| is_makefile);
    lines.filter_map(|(number, line)| {
        let (target, rest) = line.split_once(':')?;
        let (_, help) = rest.rsplit_once("## ")?;
        let columns = "make ".len() + target.len().max(18) + 1 + help.chars().count();
        (!line.starts_with(['#', '\t'])).then_some((number, columns))
    })
}

/// A line that could be broken: it has a space before the limit.
fn is_too_wide(line: &str) -> bool {
    let words = line.trim_matches(['/', '!', '#', '*', '"', '-', ' ']);
    let breakable = words.chars().take(MAX_COLUMNS - 10).any(|c| c == ' ');
    line.chars().count() > MAX_COLUMNS && breakable
}

/// Whether a line is the row of a table. Prose may begin with the bar of an absolute value.
fn is_row(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('|') && line.ends_with('|')
}

/// Lines that are neither code nor tables.
fn markdown(text: &str) -> Vec<(usize, &str)> {
    let mut is_fenced = false;
    let mut indentation = Indentation::default();
    let mut lines: Vec<(usize, &str)> = (1..).zip(text.lines()).collect();
    lines.retain(|(_, line)| {
        is_fenced ^= line.trim_start().starts_with("```");
        let is_code = indentation.is_code(line) || is_fenced;
        !is_code && !is_row(line) && !line.trim_start().starts_with('<')
    });
    lines
}

/// Finds code that four spaces mark. In a list, a line with four spaces is prose of an item.
#[derive(Default)]
struct Indentation {
    is_list: bool,
    /// The line before is text: four spaces cannot begin code.
    is_paragraph: bool,
}

impl Indentation {
    /// Takes the next line. Returns whether it is code.
    fn is_code(&mut self, line: &str) -> bool {
        let is_blank = line.trim().is_empty();
        let is_indented = line.starts_with("    ");
        if begins_item(line) && !is_indented {
            self.is_list = true;
        } else if !self.is_paragraph && !is_blank && !line.starts_with(' ') {
            self.is_list = false;
        }
        let is_code = is_indented && !self.is_list && !self.is_paragraph;
        self.is_paragraph = !is_blank && !is_code;
        is_code
    }
}

/// Whether a line begins an item of a list: `- a`, `1. a`.
fn begins_item(line: &str) -> bool {
    let line = line.trim_start();
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = number.len() < line.len() && number.starts_with(". ");
    is_numbered || line.starts_with("- ") || line.starts_with("* ")
}

/// Lines that are comments, have one after code, are within `/* */`, or within the quotation marks
/// of Python's documentation. Comments of Rust may hold tables and code too.
fn comments<'t>(text: &'t str, mark: &str) -> Vec<(usize, &'t str)> {
    let mut quotation = Quotation::None;
    let mut is_block = false;
    let mut is_code = false;
    let mut lines: Vec<(usize, &str)> = (1..).zip(text.lines()).collect();
    lines.retain(|(_, line)| {
        let start = line.trim_start();
        if let Some(is_prose) = quotation.takes(start).filter(|_| mark == "#") {
            return is_prose;
        }
        if takes_block(&mut is_block, start, mark) {
            return !is_row(start.trim_start_matches(['/', '*', ' ']));
        }
        let Some(rest) = start.strip_prefix(mark) else {
            return has_comment_after_code(line, mark);
        };
        let rest = rest.trim_start_matches(['/', '!']).trim_start();
        is_code ^= rest.starts_with("```");
        !is_code && !is_row(rest) && !line.starts_with("#!/")
    });
    lines
}

/// Whether a line begins with `/*` or is in such a comment, which `is_block` remembers.
fn takes_block(is_block: &mut bool, line: &str, mark: &str) -> bool {
    let is_part = *is_block || mark.starts_with('/') && line.starts_with("/*");
    *is_block = is_part && !line.contains("*/");
    is_part
}

/// Whether prose follows code on a line. `type: ignore` is for type checkers, so it is no prose.
fn has_comment_after_code(line: &str, mark: &str) -> bool {
    let Some((code, comment)) = line.rsplit_once(&format!(" {mark} ")) else {
        return false;
    };
    let is_quoted = code.replace("\\\"", "").matches('"').count() % 2 == 1;
    !is_quoted && !comment.starts_with("type: ")
}

/// Whether a line of Python is in a triple-quoted string, and the kind of this string.
#[derive(PartialEq)]
enum Quotation {
    None,
    /// Documentation: it begins a line.
    Prose,
    Value,
}

impl Quotation {
    /// Takes the next line. If it is part of a quotation, returns whether that is prose.
    fn takes(&mut self, line: &str) -> Option<bool> {
        let marks = line.matches("\"\"\"").count();
        let begins = *self == Self::None && line.starts_with("\"\"\"");
        let (is_prose, is_value) = (*self == Self::Prose || begins, *self == Self::Value);
        if marks % 2 == 1 {
            *self = match self {
                Self::None if begins => Self::Prose,
                Self::None => Self::Value,
                Self::Prose | Self::Value => Self::None,
            };
        }
        (is_prose || is_value || marks > 0).then_some(is_prose)
    }
}
