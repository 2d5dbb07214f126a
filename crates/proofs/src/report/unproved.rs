//! Compares the list of others' unproved code with the programs.
//!
//! The names of functions tell which of them do the work of rows ([`Family`]). Such a function has
//! a proof, or the list names it with the reason. What the list names is in the program, and has no
//! proof. Code without a name, because the compiler inlines it, is not found.

use super::Row;
use crate::catalog::{Code, Family, Unproved};
use sealstone_prover::image::{Image, Symbol};
use std::collections::BTreeSet;

/// The differences.
pub(super) fn compare(
    images: &[Image],
    rows: &[Row],
    families: &[Family],
    list: &[Unproved],
) -> Vec<String> {
    let mut findings = Vec::new();
    for family in families {
        let Some(image) = family.program(images) else {
            continue;
        };
        let listed = list.iter().filter(|it| it.library == family.library);
        let listed: Vec<&Code> = listed.map(|it| &it.code).collect();
        findings.extend(without_reason(image, rows, family, &listed));
        findings.extend(listed.iter().filter_map(|code| stale(image, code)));
    }
    let is_known = |it: &&Unproved| families.iter().any(|family| family.library == it.library);
    let unknown = list.iter().filter(|it| !is_known(it));
    findings.extend(unknown.map(|it| format!("{} is in the list, and is no library", it.library)));
    findings
}

/// The functions of a family that have neither a proof nor a reason, or both.
fn without_reason(image: &Image, rows: &[Row], family: &Family, listed: &[&Code]) -> Vec<String> {
    let proved = starts(image, rows);
    let mut findings = Vec::new();
    for symbol in image.symbols().iter().filter(|symbol| family.has(symbol)) {
        let is_proved = proved.contains(&Image::in_file(symbol.start));
        let what = match (is_proved, listed.iter().any(|code| code.names(symbol))) {
            (false, false) => "does the work of a row, and has neither a proof nor a reason",
            (true, true) => "has a proof, and is in the list of what has none",
            _ => continue,
        };
        findings.push(format!("{} of {}: it {what}", symbol.name, image.name));
    }
    findings
}

/// The start addresses of the functions that these rows prove in a program.
fn starts(image: &Image, rows: &[Row]) -> BTreeSet<u64> {
    let rows = rows.iter().filter(|row| row.artefact == image.name);
    let functions = rows
        .filter(|row| row.verdict.is_proof())
        .flat_map(|row| &row.functions);
    functions.map(|(function, _)| function.start).collect()
}

/// The sentence of the list about this code that is not true of the program, if there is one.
fn stale(image: &Image, code: &Code) -> Option<String> {
    let has = |name: &&&str| image.symbols().iter().any(|symbol| is_named(symbol, name));
    let program = &image.name;
    match code {
        Code::Functions(names) => {
            let name = names.iter().find(|name| !has(name))?;
            Some(format!(
                "{name} is in the list, and no function of {program} has this name"
            ))
        }
        Code::Nameless { absent, .. } => {
            let name = absent.iter().find(has)?;
            Some(format!(
                "the list says that {program} has no function {name}, and it has"
            ))
        }
    }
}

impl Family {
    /// The program that has the library: the command, or the prover's own program, which is last.
    fn program<'i>(&self, images: &'i [Image]) -> Option<&'i Image> {
        if self.shipped {
            images.first()
        } else {
            images.last()
        }
    }

    /// Whether a function is of this family.
    fn has(&self, symbol: &Symbol) -> bool {
        let is_one = |names: &[&str]| names.iter().any(|name| is_named(symbol, name));
        is_one(self.names) && !is_one(self.callers)
    }
}

impl Code {
    fn names(&self, symbol: &Symbol) -> bool {
        match self {
            Self::Functions(names) => names.iter().any(|name| is_named(symbol, name)),
            Self::Nameless { .. } => false,
        }
    }
}

/// Whether a function has this name. A star in it stands for any text.
fn is_named(symbol: &Symbol, name: &str) -> bool {
    let bare = bare(&symbol.name);
    match name.split_once('*') {
        Some((begin, end)) => bare
            .strip_prefix(begin)
            .is_some_and(|rest| rest.ends_with(end)),
        None => bare == name,
    }
}

/// A name without what aws-lc and assemblers put before it, and without what a compiler puts behind
/// it where it makes a copy or cuts off a part.
fn bare(name: &str) -> &str {
    let name = match name.strip_prefix("aws_lc_") {
        Some(rest) => rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_'),
        None => name.trim_start_matches('_'),
    };
    name.split_once('.').map_or(name, |(before, _)| before)
}

#[cfg(test)]
mod tests;
