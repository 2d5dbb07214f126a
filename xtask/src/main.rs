//! Gates and generated tables of this repository: `cargo xtask`, by an alias in
//! `.cargo/config.toml`.
//!
//! ```text
//! cargo xtask check [GATE…]               the gates; all of them, if none is named
//! cargo xtask test [--check-vectors] [--also COMMAND]… [CARGO OPTION…]
//!                                         the tests beside these commands, and at the end which
//!                                         were skipped and what failed
//! cargo xtask assurance [--proofs FILE [--check]]
//!                                         a generated table of ASSURANCE.md
//! cargo xtask levels [--read DIRECTORY | CARGO OPTION…]
//!                                         every kernel as compiled at every level
//! ```
//!
//! With `--root DIRECTORY` before the verb they look at another repository, as the tests do.
#![forbid(unsafe_code)]

mod assurance;
mod dependencies;
mod features;
mod gate;
mod layers;
mod levels;
mod programs;
mod rust;
mod shell;
mod sizes;
mod tests;
mod tree;

use gate::{Gate, Report};
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask [--root DIRECTORY] check \
    [layers|features|sizes|tree|shell|dependencies]…
       cargo xtask [--root DIRECTORY] test [--check-vectors] [--also COMMAND]… [CARGO OPTION]…
       cargo xtask [--root DIRECTORY] assurance [--proofs FILE [--check]]
       cargo xtask [--root DIRECTORY] levels [--read RESULTS | CARGO OPTION…]";

const GATES: &[(&str, Gate)] = &[
    ("layers", layers::check),
    ("features", features::check),
    ("sizes", sizes::check),
    ("tree", tree::check),
    ("shell", shell::check),
    ("dependencies", dependencies::check),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let holds = match words.as_slice() {
        ["--root", root, words @ ..] => run(Path::new(root), words),
        words => run(&gate::own_root(), words),
    };
    match holds {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the verb. Returns whether it succeeded.
fn run(root: &Path, words: &[&str]) -> Result<bool, String> {
    let root = &root
        .canonicalize()
        .map_err(|e| format!("{}: {e}", root.display()))?;
    match words {
        ["check", gates @ ..] => check(root, gates),
        ["test", words @ ..] => tests::run(root, words),
        ["assurance"] => assurance::write_vectors(root),
        ["assurance", "--proofs", file] => assurance::proofs(root, Path::new(file), false),
        ["assurance", "--proofs", file, "--check"] => {
            assurance::proofs(root, Path::new(file), true)
        }
        ["levels", "--read", results] => levels::read(Path::new(results)),
        ["levels", options @ ..] => levels::prove(root, options),
        _ => Err(USAGE.into()),
    }
}

/// Runs the gates of these names, or all; every gate runs, even after one has failed.
fn check(root: &Path, names: &[&str]) -> Result<bool, String> {
    let results = chosen(names)?
        .into_iter()
        .map(|(name, gate)| report(name, gate(root)));
    Ok(results.fold(true, |holds, result| holds & result))
}

fn chosen(names: &[&str]) -> Result<Vec<(&'static str, Gate)>, String> {
    if names.is_empty() {
        return Ok(GATES.to_vec());
    }
    let find = |name: &&str| GATES.iter().find(|(known, _)| known == name).copied();
    names
        .iter()
        .map(|name| find(name).ok_or_else(|| USAGE.to_string()))
        .collect()
}

/// Prints every finding and one closing line. Returns whether there was no finding.
fn report(name: &str, result: Result<Report, String>) -> bool {
    match result {
        Ok(report) => {
            report
                .findings
                .iter()
                .for_each(|finding| eprintln!("{finding}"));
            println!(
                "{name}: {}, {} violations",
                report.looked_at,
                report.findings.len()
            );
            report.findings.is_empty()
        }
        Err(message) => {
            eprintln!("{name}: {message}");
            false
        }
    }
}
