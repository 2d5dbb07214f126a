//! The environment variables that the manual names are those that the command reads.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::world::{World, succeed};

/// The crates of the command.
const CRATES: [&str; 10] = [
    "argon2",
    "cli",
    "files",
    "lanes",
    "primitives",
    "proved",
    "sealstone",
    "skein",
    "terminal",
    "token",
];

/// Functions of others that read variables. The manual does not name HOME: everybody has it.
const READ_BY_OTHERS: [(&str, &[&str]); 4] = [
    ("env::temp_dir(", &["TMPDIR"]),
    ("etcetera::choose_base_strategy(", &["XDG_DATA_HOME"]),
    (
        "rustls_native_certs::load_native_certs(",
        &["SSL_CERT_FILE", "SSL_CERT_DIR"],
    ),
    // ureq
    (
        "Agent::config_builder(",
        &["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"],
    ),
];

#[test]
fn the_manual_names_the_variables_that_the_command_reads() {
    let page = String::from_utf8(succeed(&mut World::empty().command(&["man"]))).unwrap();
    let (_, list) = page.split_once(".SH ENVIRONMENT\n").unwrap();
    let (list, _) = list.split_once(".SH ").unwrap();
    let terms = list.lines().filter_map(|line| line.strip_prefix("\\fB"));
    let named: BTreeSet<String> = terms
        .flat_map(|term| term.trim_end_matches("\\fR").split(", "))
        .map(str::to_owned)
        .collect();
    assert_eq!(named, read());
}

/// The variables that the sources read.
fn read() -> BTreeSet<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let sources = CRATES.map(|name| crates.join(name).join("src"));
    let mut read = BTreeSet::new();
    for source in sources.iter().flat_map(|directory| files(directory)) {
        let text = fs::read_to_string(&source).unwrap();
        if text.contains("env::var") {
            let variables = literals(&text, "\"").filter(|name| is_variable(name));
            read.extend(variables.map(str::to_owned));
        }
        let levels = literals(&text, "::disabled(\"");
        read.extend(levels.map(|level| format!("SEALSTONE_CPU_DISABLE_{level}")));
        for (function, variables) in READ_BY_OTHERS {
            if text.contains(function) {
                read.extend(variables.iter().map(|&name| name.to_owned()));
            }
        }
    }
    read
}

/// Each text between `before` and the next quotation mark.
fn literals<'t>(text: &'t str, before: &'t str) -> impl Iterator<Item = &'t str> {
    text.match_indices(before).filter_map(move |(at, _)| {
        let (literal, _) = text[at + before.len()..].split_once('"')?;
        Some(literal)
    })
}

/// Whether text has the form of a variable. Three letters are a word in capitals, as in a test.
fn is_variable(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    text.len() > 3 && text.chars().all(is_part)
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => files(&path),
            false => vec![path],
        })
        .collect()
}
