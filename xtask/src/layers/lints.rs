//! The lints of the workspaces outside of the main one, which cannot inherit them: each lint of the
//! main one has to be in their manifests, at the same level.

use crate::gate;
use std::path::Path;

/// One lint in a table of a manifest: `[workspace.lints.TABLE]` or `[lints.TABLE]`.
#[derive(PartialEq)]
struct Lint<'a> {
    table: &'a str,
    line: &'a str,
}

pub(super) fn check(root: &Path) -> Result<Vec<String>, String> {
    let main = gate::read(&root.join("Cargo.toml"))?;
    let wanted = lints(&main, "[workspace.lints.");
    let mut findings = Vec::new();
    for name in gate::OTHER_MANIFESTS {
        let path = root.join(name);
        if !path.exists() {
            continue;
        }
        let manifest = gate::read(&path)?;
        let found = lints(&manifest, "[lints.");
        let missing = wanted.iter().filter(|lint| !found.contains(lint));
        findings.extend(missing.map(|Lint { table, line }| {
            format!("{name}:1: [lints.{table}] lacks the main workspace's {line}")
        }));
    }
    Ok(findings)
}

/// The lints below the headings that begin with `heading`.
fn lints<'a>(manifest: &'a str, heading: &str) -> Vec<Lint<'a>> {
    let mut table = None;
    let mut found = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            let name = line.strip_prefix(heading);
            table = name.and_then(|name| name.strip_suffix(']'));
        } else if let Some(table) = table.filter(|_| line.contains('=') && !line.starts_with('#')) {
            found.push(Lint { table, line });
        }
    }
    found
}
