//! The paths in a source that begin with `crate` or `super`.

use crate::rust::{self, inside, is_group, is_mark, is_word};
use proc_macro2::{Delimiter, TokenTree};

/// The beginning of one path: as far as its first name.
pub(super) struct Use {
    pub(super) line: usize,
    /// How many modules it goes up from the file's own; `None` if it begins with `crate`.
    pub(super) ups: Option<usize>,
    /// The first name, or `*`.
    pub(super) name: String,
}

impl Use {
    pub(super) fn written(&self) -> String {
        let before = self
            .ups
            .map_or("crate::".into(), |ups| "super::".repeat(ups));
        format!("{before}{}", self.name)
    }
}

/// All of them; in `use crate::{a, b::c}` there are two.
pub(super) fn uses(tokens: &[TokenTree]) -> Vec<Use> {
    let mut found = Vec::new();
    search(tokens, 0, &mut found);
    found
}

/// `depth` counts the modules that are written in the file itself, as `mod tests { … }`: there the
/// first `super` is the file's module.
fn search(tokens: &[TokenTree], depth: usize, found: &mut Vec<Use>) {
    let mut at = 0;
    while at < tokens.len() {
        let rest = &tokens[at..];
        at += if is_visibility(rest) {
            2
        } else if is_module(rest) {
            search(&inside(&rest[2]), depth + 1, found);
            3
        } else if let Some((length, paths)) = path(rest) {
            found.extend(paths.into_iter().filter_map(|path| leaves(path, depth)));
            length
        } else {
            search(&inside(&rest[0]), depth, found);
            1
        };
    }
}

/// `pub(in crate::a)` is no use.
fn is_visibility(tokens: &[TokenTree]) -> bool {
    is_word(tokens.first(), "pub") && is_group(tokens.get(1), Delimiter::Parenthesis)
}

fn is_module(tokens: &[TokenTree]) -> bool {
    is_word(tokens.first(), "mod") && is_group(tokens.get(2), Delimiter::Brace)
}

/// The path as seen from the file, unless it stays inside.
fn leaves(path: Use, depth: usize) -> Option<Use> {
    match path.ups {
        Some(ups) if ups <= depth => None,
        Some(ups) => Some(Use {
            ups: Some(ups - depth),
            ..path
        }),
        None => Some(path),
    }
}

/// If a path begins here: how many tokens its beginning has, and where it leads.
fn path(tokens: &[TokenTree]) -> Option<(usize, Vec<Use>)> {
    let ups = if is_word(tokens.first(), "crate") {
        None
    } else if is_word(tokens.first(), "super") {
        Some(1)
    } else {
        return None;
    };
    let at = 1 + separator(&tokens[1..])?;
    let (length, ends) = branches(&tokens[at..], ups);
    Some((at + length, ends))
}

/// The length of `::`, if it is here.
fn separator(tokens: &[TokenTree]) -> Option<usize> {
    (is_mark(tokens.first(), ':') && is_mark(tokens.get(1), ':')).then_some(2)
}

/// The tokens after `crate::` or `super::`: a name, a star, a list, or another `super`.
fn branches(tokens: &[TokenTree], ups: Option<usize>) -> (usize, Vec<Use>) {
    let Some(first) = tokens.first() else {
        return (0, Vec::new());
    };
    let is_step = is_word(Some(first), "super") || is_word(Some(first), "self");
    if let (true, Some(length)) = (is_step, separator(&tokens[1..])) {
        let up = usize::from(is_word(Some(first), "super"));
        let (inner, found) = branches(&tokens[1 + length..], ups.map(|ups| ups + up));
        return (1 + length + inner, found);
    }
    if is_group(Some(first), Delimiter::Brace) {
        let list = inside(first);
        let parts = list.split(|tree| is_mark(Some(tree), ','));
        return (1, parts.flat_map(|part| branches(part, ups).1).collect());
    }
    let name = if is_mark(Some(first), '*') {
        Some("*".into())
    } else {
        rust::word(Some(first))
    };
    let name = name.filter(|name| name != "self");
    (
        1,
        name.map(|name| Use {
            line: rust::line(first),
            ups,
            name,
        })
        .into_iter()
        .collect(),
    )
}
