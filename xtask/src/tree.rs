//! Refuses files that do not belong into the repository.
//!
//! The root holds the documents of the design and no others; nothing that is ignored is committed;
//! code has no loose ends, and scripts swallow no failure. clippy refuses stubs and tests that are
//! ignored without a reason.

use crate::gate::{self, Report};
use std::path::Path;

const DOCUMENTS: &[&str] = &[
    "ASSURANCE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "SECURITY.md",
];
const DOCUMENT_SUFFIXES: &[&str] = &[
    "md", "txt", "rst", "adoc", "org", "html", "pdf", "tex", "docx",
];

const CODE_SUFFIXES: &[&str] = &["rs", "py", "sh", "mk", "toml", "yml", "yaml", "c", "h"];
/// Programs without a suffix stand here.
const SHELL_PLACES: &[&str] = &["scripts", ".ci"];
/// These files contain the words that they search.
const EXEMPT: &[&str] = &["xtask/src/tree.rs", "xtask/tests/gates/tree.rs"];

pub(crate) fn check(root: &Path) -> Result<Report, String> {
    let files = gate::repository_files(root)?;
    let mut findings = documents(&files);
    findings.extend(ignored(root)?);
    findings.extend(links(root)?);
    for name in files
        .iter()
        .filter(|name| is_code(name) && !EXEMPT.contains(&name.as_str()))
    {
        findings.extend(leftovers(root, name)?);
    }
    Ok(Report {
        looked_at: format!("{} files", files.len()),
        findings,
    })
}

fn documents(files: &[String]) -> Vec<String> {
    let at_root: Vec<&str> = files
        .iter()
        .map(String::as_str)
        .filter(|name| !name.contains('/'))
        .collect();
    let unknown = at_root
        .iter()
        .filter(|name| is_document(name) && !DOCUMENTS.contains(name));
    let unknown = unknown.map(|name| {
        format!(
            "{name}:1: no document of the design ({})",
            DOCUMENTS.join(", ")
        )
    });
    let missing = DOCUMENTS.iter().filter(|name| !at_root.contains(name));
    unknown
        .chain(missing.map(|name| format!("{name}:1: missing")))
        .collect()
}

fn is_document(name: &str) -> bool {
    match suffix(name) {
        Some(suffix) => DOCUMENT_SUFFIXES.contains(&suffix.to_lowercase().as_str()),
        None => name == name.to_uppercase(),
    }
}

fn suffix(name: &str) -> Option<&str> {
    Path::new(name)
        .extension()
        .and_then(|suffix| suffix.to_str())
}

fn ignored(root: &Path) -> Result<Vec<String>, String> {
    let listed = gate::git(
        root,
        &[
            "ls-files",
            "-z",
            "--cached",
            "--ignored",
            "--exclude-standard",
        ],
    )?;
    let names = listed.split('\0').filter(|name| !name.is_empty());
    Ok(names
        .map(|name| format!("{name}:1: committed, though .gitignore names it"))
        .collect())
}

/// Links are for one machine; only packages of the golden files have one.
fn links(root: &Path) -> Result<Vec<String>, String> {
    let listed = gate::git(root, &["ls-files", "-z", "--stage"])?;
    let links = listed
        .split('\0')
        .filter(|entry| entry.starts_with("120000 "));
    let names = links
        .filter_map(|entry| entry.split_once('\t'))
        .map(|(_, name)| name);
    let stray = names.filter(|name| !name.starts_with("crates/sealstone/tests/golden/"));
    Ok(stray
        .map(|name| format!("{name}:1: a symbolic link"))
        .collect())
}

fn is_code(name: &str) -> bool {
    is_shell(name) || suffix(name).is_some_and(|suffix| CODE_SUFFIXES.contains(&suffix))
}

/// Programs without a suffix, and Makefiles.
fn is_shell(name: &str) -> bool {
    let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
    match suffix(name) {
        Some(suffix) => suffix == "sh",
        None => file == "Makefile" || SHELL_PLACES.contains(&folder),
    }
}

fn leftovers(root: &Path, name: &str) -> Result<Vec<String>, String> {
    let bytes = std::fs::read(root.join(name)).map_err(|e| format!("{name}: {e}"))?;
    let text = String::from_utf8_lossy(&bytes);
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mut note = |what| found.push((index + 1, what));
        if words(line).any(|word| ["TODO", "FIXME"].contains(&word)) {
            note("a loose end");
        }
        // Shell and Make only: elsewhere `|| true` is an ordinary expression.
        if is_shell(name) && swallows(line) {
            note("a failure that is swallowed");
        }
    }
    Ok(found
        .iter()
        .map(|(line, what)| format!("{name}:{line}: {what}"))
        .collect())
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
}

/// `|| true` or `|| :`.
fn swallows(line: &str) -> bool {
    line.split("||").skip(1).map(str::trim_start).any(|rest| {
        let is_true = words(rest).next() == Some("true");
        let is_colon = rest
            .strip_prefix(':')
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace));
        is_true || is_colon
    })
}
