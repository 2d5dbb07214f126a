//! The lengths of functions.

use super::Source;
use crate::rust::{self, is_group, is_mark, is_word, word};
use proc_macro2::{Delimiter, TokenTree};

/// The number of lines of every function with a body, from `fn` to the closing brace, in order.
pub(super) fn all(sources: &[Source]) -> Result<Vec<usize>, String> {
    let mut functions = Vec::new();
    for source in sources.iter().filter(|source| source.name.ends_with(".rs")) {
        functions.extend(lengths(&source.name, &source.text)?);
    }
    functions.sort_unstable();
    Ok(functions)
}

fn lengths(name: &str, text: &str) -> Result<Vec<usize>, String> {
    let mut found = Vec::new();
    rust::every_list(&rust::tokens(name, text)?, &mut |list| {
        found.extend((0..list.len()).filter_map(|at| length(&list[at..])));
    });
    Ok(found)
}

/// If a function begins here, its lines. A `fn` without a name is a type.
fn length(tokens: &[TokenTree]) -> Option<usize> {
    if !is_word(tokens.first(), "fn") || word(tokens.get(1)).is_none() {
        return None;
    }
    let is_end =
        |tree: &&TokenTree| is_mark(Some(tree), ';') || is_group(Some(tree), Delimiter::Brace);
    match tokens.iter().find(is_end)? {
        TokenTree::Group(body) => Some(body.span_close().end().line + 1 - rust::line(&tokens[0])),
        _ => None,
    }
}
