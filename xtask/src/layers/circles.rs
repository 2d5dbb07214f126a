//! Circles between the files of one crate. A circle may consist of a parent and its own
//! descendants; every other circle is refused, even if it leads through a parent and its child.
//!
//! A name that a file takes from another, which has it from a third by `use`, counts as a use of
//! the third, and `*` counts as a use of all such names: a re-export hides no circle.

use super::krate::{Crate, Source};
use super::modules;
use super::paths::{self, Use};
use crate::rust::{inside, is_group, is_mark, is_word};
use proc_macro2::{Delimiter, TokenTree};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The path of the module that a file holds.
type Module = Vec<String>;
/// Which module uses which others, each with the line.
type Arrows = BTreeMap<Module, BTreeMap<Module, usize>>;

/// The imports of a module's file by `use`; a crate's root may have several files.
#[derive(Default)]
struct File<'a> {
    sources: Vec<&'a Source>,
    imports: Vec<Use>,
}

type Files<'a> = BTreeMap<Module, File<'a>>;

/// No chain of re-exports is longer; one that leads back to its beginning ends here.
const LONGEST_CHAIN: usize = 8;

pub(super) fn check(krate: &Crate) -> Vec<String> {
    let files = files(krate);
    let arrows: Arrows = files
        .iter()
        .map(|(module, file)| (module.clone(), arrows_from(module, file, &files)))
        .collect();
    circles(&arrows)
        .iter()
        .map(|circle| finding(circle, &arrows, &files))
        .collect()
}

fn finding(circle: &[Module], arrows: &Arrows, files: &Files<'_>) -> String {
    let names: Vec<String> = circle.iter().map(|module| module.join("::")).collect();
    let message = format!("a circle of files: {} -> {}", names.join(" -> "), names[0]);
    let next = &circle[1];
    files[&circle[0]].sources[0].at(arrows[&circle[0]][next], &message)
}

fn files(krate: &Crate) -> Files<'_> {
    let directory = krate.directory.join("src");
    let mut files = Files::new();
    for source in krate
        .sources
        .iter()
        .filter(|source| source.path.starts_with(&directory))
    {
        let file = files
            .entry(modules::module_path(krate, source))
            .or_default();
        file.sources.push(source);
        file.imports.extend(paths::imports(&source.tokens));
    }
    files
}

/// The arrows from one file to others.
fn arrows_from(module: &Module, file: &File<'_>, files: &Files<'_>) -> BTreeMap<Module, usize> {
    let mut arrows = BTreeMap::new();
    for source in &file.sources {
        let tokens = without_tests(&source.tokens);
        let used = [paths::uses(&tokens), paths::inner(&tokens)].concat();
        for used in used {
            for target in reached(module, &used, &used.names, files, LONGEST_CHAIN) {
                if target != *module {
                    arrows.entry(target).or_insert(used.line);
                }
            }
        }
    }
    arrows
}

/// The tokens of a file, less each `#[cfg(test)] mod tests { … }`: a test may use any file.
fn without_tests(tokens: &[TokenTree]) -> Vec<TokenTree> {
    let mut left = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if is_tests(&tokens[at..]) {
            at += TESTS_LEN;
        } else {
            left.push(tokens[at].clone());
            at += 1;
        }
    }
    left
}

/// `#`, `[cfg(test)]`, `mod`, the name and the braces.
const TESTS_LEN: usize = 5;

fn is_tests(tokens: &[TokenTree]) -> bool {
    let attribute = tokens.get(1).map(inside).unwrap_or_default();
    let condition = attribute.get(1).map(inside).unwrap_or_default();
    is_mark(tokens.first(), '#')
        && is_word(attribute.first(), "cfg")
        && matches!(condition.as_slice(), [only] if is_word(Some(only), "test"))
        && is_word(tokens.get(2), "mod")
        && is_group(tokens.get(4), Delimiter::Brace)
}

/// The modules that a path written in `from` reaches: the one that it names, and those that this
/// one has the name from.
fn reached(
    from: &Module,
    used: &Use,
    names: &[String],
    files: &Files<'_>,
    chain: usize,
) -> Vec<Module> {
    let depth = used.ups.map_or(0, |ups| from.len().saturating_sub(ups));
    let mut module = from[..depth].to_vec();
    let mut names = names.iter();
    let mut rest = names.as_slice();
    while let Some(name) = names.next() {
        let inner = [module.as_slice(), std::slice::from_ref(name)].concat();
        if !files.contains_key(&inner) {
            break;
        }
        module = inner;
        rest = names.as_slice();
    }
    let mut found = vec![module.clone()];
    if let (Some((name, rest)), Some(file), true) =
        (rest.split_first(), files.get(&module), chain > 0)
    {
        let is_it = |import: &&Use| name == "*" || import.brings() == name;
        for import in file.imports.iter().filter(is_it) {
            let names = [&import.names, rest].concat();
            found.extend(reached(&module, import, &names, files, chain - 1));
        }
    }
    found
}

/// For every arrow between two branches of the tree that lies on a circle the shortest one, each
/// circle once. All modules of the circle are below the module at which the branches part: a circle
/// that contains that module consists of a parent and its descendants.
fn circles(arrows: &Arrows) -> BTreeSet<Vec<Module>> {
    let mut circles = BTreeSet::new();
    for (from, targets) in arrows {
        for target in targets.keys() {
            let Some(parting) = parting(from, target) else {
                continue;
            };
            if let Some(mut circle) = way(arrows, target, from, parting) {
                let first = (0..circle.len()).min_by_key(|&at| &circle[at]);
                circle.rotate_left(first.unwrap_or(0));
                circles.insert(circle);
            }
        }
    }
    circles
}

/// The module at which the branches to two modules part; none if one of them is above the other.
fn parting<'m>(one: &'m Module, other: &Module) -> Option<&'m [String]> {
    let common = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    (common < one.len() && common < other.len()).then_some(&one[..common])
}

/// The shortest way from one module to another below `parting`, both ends named.
fn way(arrows: &Arrows, from: &Module, to: &Module, parting: &[String]) -> Option<Vec<Module>> {
    let mut before: BTreeMap<&Module, &Module> = BTreeMap::new();
    let mut next = VecDeque::from([from]);
    while let Some(module) = next.pop_front() {
        if module == to {
            let steps = std::iter::successors(Some(to), |at| before.get(at).copied());
            let mut way: Vec<Module> = steps.cloned().collect();
            way.reverse();
            return Some(way);
        }
        for target in arrows.get(module).into_iter().flat_map(BTreeMap::keys) {
            let is_below = target.len() > parting.len() && target.starts_with(parting);
            if is_below && target != from && !before.contains_key(target) {
                before.insert(target, module);
                next.push_back(target);
            }
        }
    }
    None
}
