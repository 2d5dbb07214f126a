//! Checks the length of files and the width of prose, and prints the length of functions.
//!
//! Limits: 600 lines a file; 100 columns a line of comment or prose; half of the functions have at
//! most 8 lines. clippy limits each function (`clippy.toml`). Tables, code, links and generated
//! text may be wider.

mod functions;
mod prose;

use crate::gate::{self, Report};
use std::path::Path;

const MAX_FILE_LINES: usize = 600;
const MAX_MEDIAN_LINES: usize = 8;
const SOURCE_SUFFIXES: &[&str] = &[
    "rs", "py", "pyi", "sh", "c", "h", "cpp", "hpp", "go", "java", "js", "mjs", "css", "html",
];
/// Written by `scripts/header`.
const GENERATED: &str = "crates/capi/include/sealstone.h";
/// Programs without a suffix stand here.
const PROGRAM_PLACES: &[&str] = &["scripts", ".ci", "fuzz"];

/// A file that is code.
struct Source {
    name: String,
    text: String,
}

pub(crate) fn check(root: &Path) -> Result<Report, String> {
    let files = gate::repository_files(root)?;
    let mut sources = Vec::new();
    let mut findings = Vec::new();
    for name in files {
        if is_source(&name) || prose::is_read(&name) {
            let text = gate::read(&root.join(&name))?;
            findings.extend(prose::too_wide(&name, &text));
            findings.extend(too_long(&name, &text));
            sources.extend(is_source(&name).then_some(Source { name, text }));
        }
    }
    if sources.is_empty() {
        return Err(format!("no source file found in {}", root.display()));
    }
    let functions = functions::all(&sources)?;
    findings.extend(too_long_in_general(&functions));
    Ok(Report {
        looked_at: report(&sources, &functions),
        findings,
    })
}

fn is_source(name: &str) -> bool {
    let path = Path::new(name);
    let folder = path.parent().and_then(Path::to_str).unwrap_or_default();
    match path.extension().and_then(|suffix| suffix.to_str()) {
        Some(suffix) => SOURCE_SUFFIXES.contains(&suffix),
        None => PROGRAM_PLACES.contains(&folder),
    }
}

fn too_long(name: &str, text: &str) -> Option<String> {
    let lines = text.lines().count();
    let message = format!("{name}:1: {lines} lines, more than {MAX_FILE_LINES}");
    (is_source(name) && name != GENERATED && lines > MAX_FILE_LINES).then_some(message)
}

/// `functions` are lengths, in order.
fn too_long_in_general(functions: &[usize]) -> Option<String> {
    let median = *functions.get(functions.len() / 2)?;
    (median > MAX_MEDIAN_LINES)
        .then(|| format!("the median function has {median} lines, more than {MAX_MEDIAN_LINES}"))
}

fn report(sources: &[Source], functions: &[usize]) -> String {
    let files = sources.len();
    let longest = sources
        .iter()
        .map(|source| source.text.lines().count())
        .max()
        .unwrap_or(0);
    let Some(last) = functions.last() else {
        return format!("{files} files, no functions");
    };
    let (count, middle) = (functions.len(), functions[functions.len() / 2]);
    let ninetieth = functions[count * 9 / 10];
    format!(
        "{files} files (longest {longest} lines), {count} functions \
         (median {middle} lines, 90th percentile {ninetieth}, longest {last})"
    )
}
