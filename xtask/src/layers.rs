//! Holds the layers of the design: arrows point downwards only, `unsafe` stays in its places.
//!
//! Reads the crates from `cargo metadata`, and from the source the paths that begin with `crate` or
//! `super`. (`cargo modules` looks at one crate at a time, and knows no order of layers.) The
//! compiler holds the rest: a crate can be named only if it is a dependency, and the workspace
//! denies `unsafe_code`, so that only an attribute lets it in.

mod arrows;
mod circles;
mod krate;
mod lints;
mod modules;
mod paths;
mod tables;
mod unsafety;

use crate::gate::Report;
use krate::Crate;
use std::path::Path;

pub(crate) fn check(root: &Path) -> Result<Report, String> {
    let crates = krate::read_all(root)?;
    if crates.is_empty() {
        return Err(format!("no crate found in {}", root.display()));
    }
    let mut findings: Vec<String> = crates
        .iter()
        .flat_map(|krate| findings(krate, &crates))
        .collect();
    findings.extend(lints::check(root)?);
    findings.sort();
    findings.dedup();
    let sources: usize = crates.iter().map(|krate| krate.sources.len()).sum();
    Ok(Report {
        looked_at: format!("{} crates, {sources} files", crates.len()),
        findings,
    })
}

fn findings(krate: &Crate, crates: &[Crate]) -> Vec<String> {
    let mut found = arrows::check(krate, crates);
    found.extend(unsafety::check(krate));
    found.extend(modules::check(krate));
    found.extend(circles::check(krate));
    found
}
