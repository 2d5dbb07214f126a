//! The paths in a source that begin with `crate` or `super`, and those that begin with a name.

use crate::rust::{self, inside, is_group, is_mark, is_word};
use proc_macro2::{Delimiter, TokenTree};

/// One path.
#[derive(Clone, Debug)]
pub(super) struct Use {
    pub(super) line: usize,
    /// How many modules it goes up from the file's own; `None` if it begins with `crate`.
    pub(super) ups: Option<usize>,
    /// Its names, at least one; the last may be `*`.
    pub(super) names: Vec<String>,
    /// The name after `as`.
    alias: Option<String>,
}

impl Use {
    /// The first name, or `*`.
    pub(super) fn name(&self) -> &str {
        &self.names[0]
    }

    /// The name that a `use` of it brings into the file.
    pub(super) fn brings(&self) -> &str {
        let last = self.names.last().map_or("", String::as_str);
        self.alias.as_deref().unwrap_or(last)
    }

    pub(super) fn written(&self) -> String {
        let before = self
            .ups
            .map_or("crate::".into(), |ups| "super::".repeat(ups));
        format!("{before}{}", self.name())
    }
}

/// The part of a path that was read.
#[derive(Clone)]
struct Prefix {
    line: usize,
    ups: Option<usize>,
    names: Vec<String>,
}

impl Prefix {
    fn new(ups: Option<usize>) -> Self {
        Self {
            line: 1,
            ups,
            names: Vec::new(),
        }
    }

    fn step(&mut self, tree: &TokenTree, name: String) {
        match name.as_str() {
            "self" => {}
            "super" => self.ups = self.ups.map(|ups| ups + 1),
            "crate" => self.ups = None,
            _ => self.names.push(name),
        }
        if self.names.len() == 1 {
            self.line = rust::line(tree);
        }
    }

    /// The whole path; none if it names no more than a module above.
    fn end(self, alias: Option<String>) -> Vec<Use> {
        let whole = (!self.names.is_empty()).then_some(Use {
            line: self.line,
            ups: self.ups,
            names: self.names,
            alias,
        });
        whole.into_iter().collect()
    }
}

/// The paths of the `use` statements that stand in the file itself, not in a module or function.
pub(super) fn imports(tokens: &[TokenTree]) -> Vec<Use> {
    let starts = (0..tokens.len()).filter(|&at| is_word(tokens.get(at), "use"));
    starts
        .flat_map(|at| branches(&tokens[at + 1..], Prefix::new(Some(0))).1)
        .collect()
}

/// All of them; in `use crate::{a, b::c}` there are two.
pub(super) fn uses(tokens: &[TokenTree]) -> Vec<Use> {
    let mut found = Vec::new();
    search(tokens, 0, &mut found);
    found
}

/// The paths that begin with a name, such as `child::f`, seen from the file. Names of other crates
/// and of types are among them.
pub(super) fn inner(tokens: &[TokenTree]) -> Vec<Use> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let (length, paths) = inner_path(&tokens[at..]);
        found.extend(paths);
        at += length;
    }
    found
}

/// The number of tokens of a path, or of one other token, and the paths in them.
fn inner_path(tokens: &[TokenTree]) -> (usize, Vec<Use>) {
    if let Some((length, _)) = path(tokens) {
        return (length, Vec::new());
    }
    let is_name = rust::word(tokens.first()).is_some();
    if is_name && separator(&tokens[1..]).is_some() {
        return branches(tokens, Prefix::new(Some(0)));
    }
    (1, inner(&inside(&tokens[0])))
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

/// `pub(in crate::a)` does not use anything.
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
    let (length, ends) = branches(&tokens[at..], Prefix::new(ups));
    Some((at + length, ends))
}

/// The length of `::`, if it is here.
fn separator(tokens: &[TokenTree]) -> Option<usize> {
    (is_mark(tokens.first(), ':') && is_mark(tokens.get(1), ':')).then_some(2)
}

/// The tokens after a prefix: a name, which another may follow, a star, or a list.
fn branches(tokens: &[TokenTree], mut prefix: Prefix) -> (usize, Vec<Use>) {
    let Some(first) = tokens.first() else {
        return (0, Vec::new());
    };
    if is_group(Some(first), Delimiter::Brace) {
        let list = inside(first);
        let parts = list.split(|tree| is_mark(Some(tree), ','));
        let found = parts.flat_map(|part| branches(part, prefix.clone()).1);
        return (1, found.collect());
    }
    let Some(name) = name(first) else {
        return (0, prefix.end(None));
    };
    prefix.step(first, name);
    let Some(length) = separator(&tokens[1..]) else {
        return (1, prefix.end(alias(&tokens[1..])));
    };
    let (inner, found) = branches(&tokens[1 + length..], prefix);
    (1 + length + inner, found)
}

fn name(tree: &TokenTree) -> Option<String> {
    let star = is_mark(Some(tree), '*').then(|| "*".to_string());
    star.or_else(|| rust::word(Some(tree)))
}

fn alias(tokens: &[TokenTree]) -> Option<String> {
    let is_alias = is_word(tokens.first(), "as");
    is_alias.then(|| rust::word(tokens.get(1))).flatten()
}
