//! `unsafe` stays in its places.

use super::krate::{Crate, Source};
use super::tables::UNSAFE;
use crate::rust;
use proc_macro2::TokenTree;
use std::path::Path;

pub(super) fn check(krate: &Crate) -> Vec<String> {
    let mut findings: Vec<String> = krate
        .roots
        .iter()
        .filter_map(|root| missing_level(krate, root))
        .collect();
    findings.extend(
        krate
            .sources
            .iter()
            .flat_map(|source| allowances(krate, source)),
    );
    findings
}

/// Every library and program says in its root file that it has no `unsafe`.
fn missing_level(krate: &Crate, root: &Path) -> Option<String> {
    if is_place(&krate.place) {
        return None;
    }
    let Some(source) = krate.sources.iter().find(|source| source.path == root) else {
        let where_it_is = root.display();
        return Some(format!(
            "{}/Cargo.toml:1: {where_it_is} is not in the crate",
            krate.place
        ));
    };
    let level = if has_a_place(krate) { "deny" } else { "forbid" };
    let says_so = source
        .tokens
        .windows(3)
        .any(|three| is_inner_attribute(three, level));
    (!says_so).then(|| source.at(1, &format!("lacks #![{level}(unsafe_code)]")))
}

fn is_place(name: &str) -> bool {
    UNSAFE.iter().any(|(place, _)| *place == name)
}

/// Whether single files of the crate, or all, may have `unsafe`.
fn has_a_place(krate: &Crate) -> bool {
    let within = format!("{}/", krate.place);
    UNSAFE
        .iter()
        .any(|(place, _)| place.starts_with(&within) || *place == krate.place)
}

fn is_inner_attribute(three: &[TokenTree], level: &str) -> bool {
    let attribute = rust::inside(&three[2]);
    rust::is_mark(three.first(), '#')
        && rust::is_mark(three.get(1), '!')
        && rust::is_word(attribute.first(), level)
        && lets_in(&attribute)
}

/// The workspace denies `unsafe`. An attribute that allows it is in its places only.
fn allowances(krate: &Crate, source: &Source) -> Vec<String> {
    let is_root = source.path.file_name().is_some_and(|name| name == "lib.rs");
    if is_place(&krate.place) || is_place(&source.name) || (is_root && has_a_place(krate)) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    rust::every_list(&source.tokens, &mut |list| {
        for pair in list
            .windows(2)
            .filter(|pair| is_level(&pair[0]) && lets_in(pair))
        {
            let message = format!("unsafe outside the places for it ({})", places());
            findings.push(source.at(rust::line(&pair[0]), &message));
        }
    });
    findings
}

fn is_level(tree: &TokenTree) -> bool {
    ["allow", "expect", "warn"]
        .iter()
        .any(|level| rust::is_word(Some(tree), level))
}

/// Whether a level and its group, as in `allow(unsafe_code)`, name this lint.
fn lets_in(attribute: &[TokenTree]) -> bool {
    let lints = attribute.get(1).map(rust::inside).unwrap_or_default();
    lints
        .iter()
        .any(|lint| rust::is_word(Some(lint), "unsafe_code"))
}

fn places() -> String {
    UNSAFE
        .iter()
        .map(|(place, _)| *place)
        .collect::<Vec<_>>()
        .join(", ")
}
