//! Arrows between the modules of one crate, where an order is declared.

use super::krate::{Crate, Source};
use super::paths::{self, Use};
use super::tables;
use crate::rust::{is_mark, is_word, word, words};
use std::collections::BTreeMap;

/// A name that `lib.rs` offers at the root, and the module it comes from.
type Reexports = BTreeMap<String, String>;

pub(super) fn check(krate: &Crate) -> Vec<String> {
    let Some(rows) = tables::order(&krate.place) else {
        return Vec::new();
    };
    let reexports = reexports(krate);
    let sources = krate.sources.iter();
    sources
        .flat_map(|source| check_source(krate, source, rows, &reexports))
        .collect()
}

fn check_source(
    krate: &Crate,
    source: &Source,
    rows: &[&[&str]],
    reexports: &Reexports,
) -> Vec<String> {
    let module = module_path(krate, source);
    let Some(own) = module.first() else {
        return Vec::new();
    };
    let Some(height) = height(rows, own) else {
        let message = format!("unknown module {own}, give it a row in MODULES of xtask/src/layers");
        return vec![source.at(1, &message)];
    };
    let wrong = |used: &Use| {
        let target = target(used, module.len(), reexports)?;
        wrong_arrow(used, &target, height, own, rows).map(|message| source.at(used.line, &message))
    };
    paths::uses(&source.tokens)
        .iter()
        .filter_map(wrong)
        .collect()
}

fn height(rows: &[&[&str]], module: &str) -> Option<usize> {
    rows.iter().position(|row| row.contains(&module))
}

/// The path of the module that a file holds; empty for a crate root or a file outside of `src`.
pub(super) fn module_path(krate: &Crate, source: &Source) -> Vec<String> {
    let within = source.path.strip_prefix(krate.directory.join("src"));
    let Ok(within) = within.map(|path| path.with_extension("")) else {
        return Vec::new();
    };
    let parts = within
        .iter()
        .map(|part| part.to_string_lossy().into_owned());
    let parts: Vec<String> = parts.collect();
    let is_root = ["lib", "main"].iter().any(|root| parts == [*root]) || parts[0] == "bin";
    if is_root { Vec::new() } else { parts }
}

/// The top module that a path reaches; `None` if it stays inside its own. `super` of a nested
/// module reaches its siblings, no other top modules.
fn target(used: &Use, depth: usize, reexports: &Reexports) -> Option<String> {
    let reaches_the_root = used.ups.is_none_or(|ups| ups >= depth);
    reaches_the_root.then(|| {
        reexports
            .get(used.name())
            .map_or(used.name(), String::as_str)
            .to_string()
    })
}

fn wrong_arrow(
    used: &Use,
    target: &str,
    height_of_own: usize,
    own: &str,
    rows: &[&[&str]],
) -> Option<String> {
    match height(rows, target) {
        None => Some(format!(
            "{}: name the module that defines it",
            used.written()
        )),
        Some(height) if target == own || height < height_of_own => None,
        Some(_) => Some(format!(
            "{}: module {own} -> {target} is not an arrow downwards",
            used.written()
        )),
    }
}

/// From each `pub use module::…;` of `lib.rs`.
fn reexports(krate: &Crate) -> Reexports {
    let library = krate.directory.join("src/lib.rs");
    let mut found = Reexports::new();
    let Some(source) = krate.sources.iter().find(|source| source.path == library) else {
        return found;
    };
    for statement in source.tokens.split(|tree| is_mark(Some(tree), ';')) {
        let start = statement
            .windows(2)
            .position(|pair| is_word(pair.first(), "pub") && is_word(pair.get(1), "use"));
        let Some(path) = start.map(|start| &statement[start + 2..]) else {
            continue;
        };
        if let Some(module) = word(path.first()) {
            found.extend(
                words(&path[1..])
                    .into_iter()
                    .map(|name| (name, module.clone())),
            );
        }
    }
    found
}
