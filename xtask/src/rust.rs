//! Rust sources as tokens: a path in a comment, a string or a doc comment is no use.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::str::FromStr;

/// The tokens of a file.
pub(crate) fn tokens(name: &str, text: &str) -> Result<Vec<TokenTree>, String> {
    let stream = TokenStream::from_str(text).map_err(|e| format!("{name}: no Rust: {e}"))?;
    Ok(stream.into_iter().collect())
}

/// The tokens inside of a group.
pub(crate) fn inside(tree: &TokenTree) -> Vec<TokenTree> {
    match tree {
        TokenTree::Group(group) => group.stream().into_iter().collect(),
        _ => Vec::new(),
    }
}

pub(crate) fn is_word(tree: Option<&TokenTree>, word: &str) -> bool {
    matches!(tree, Some(TokenTree::Ident(ident)) if ident == word)
}

pub(crate) fn is_mark(tree: Option<&TokenTree>, mark: char) -> bool {
    matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == mark)
}

pub(crate) fn is_group(tree: Option<&TokenTree>, delimiter: Delimiter) -> bool {
    matches!(tree, Some(TokenTree::Group(group)) if group.delimiter() == delimiter)
}

/// The name that a token is, if it is one.
pub(crate) fn word(tree: Option<&TokenTree>) -> Option<String> {
    match tree {
        Some(TokenTree::Ident(ident)) => Some(ident.to_string()),
        _ => None,
    }
}

/// The line of a token, from 1.
pub(crate) fn line(tree: &TokenTree) -> usize {
    tree.span().start().line
}

/// Calls `look` with every list of tokens: that of the file, and that of every group in it.
pub(crate) fn every_list(tokens: &[TokenTree], look: &mut impl FnMut(&[TokenTree])) {
    look(tokens);
    for tree in tokens {
        let inner = inside(tree);
        if !inner.is_empty() {
            every_list(&inner, look);
        }
    }
}

/// Every name in these tokens, those in groups too.
pub(crate) fn words(tokens: &[TokenTree]) -> Vec<String> {
    let mut found = Vec::new();
    every_list(tokens, &mut |list| {
        found.extend(list.iter().filter_map(|tree| word(Some(tree))));
    });
    found
}
