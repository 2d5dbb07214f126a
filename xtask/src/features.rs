//! Holds that the command which is proved is the command which is installed.
//!
//! `make prove` builds the command together with the prover, and Cargo gives every crate the
//! features that anything in one build asks for. So nothing that the command is made of may have
//! other features in that build than in a build of the command alone.

use crate::gate::{self, Report};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

const COMMAND: &str = "sealstone-cli";
const PROVER: &str = "sealstone-proofs";

/// For each package, the sets of features with which it is built: one for programs of the build,
/// one for the result.
type Features = BTreeMap<String, BTreeSet<String>>;

pub(crate) fn check(root: &Path) -> Result<Report, String> {
    let alone = features(root, &[COMMAND])?;
    let together = features(root, &[COMMAND, PROVER])?;
    let nothing = BTreeSet::new();
    let both = alone
        .iter()
        .map(|(name, sets)| (name, sets, together.get(name).unwrap_or(&nothing)));
    let differ = both.filter(|(_, alone, together)| alone != together);
    let findings = differ
        .map(|(name, alone, together)| difference(name, alone, together))
        .collect();
    let looked_at = format!(
        "{} packages of {COMMAND}, alone and with {PROVER}",
        alone.len()
    );
    Ok(Report {
        looked_at,
        findings,
    })
}

fn features(root: &Path, packages: &[&str]) -> Result<Features, String> {
    let mut cargo = Command::new("cargo");
    cargo.args([
        "tree",
        "--edges",
        "normal,build",
        "--prefix",
        "none",
        "--format",
        "{p}|{f}",
    ]);
    cargo.args(packages.iter().flat_map(|package| ["--package", package]));
    let listed = gate::output(cargo.current_dir(root).env("CARGO_TERM_COLOR", "never"))?;
    let mut found = Features::new();
    for line in listed.lines() {
        if let Some((package, names)) = line.trim_end_matches(" (*)").split_once('|') {
            found
                .entry(package.into())
                .or_default()
                .insert(names.trim().into());
        }
    }
    Ok(found)
}

fn difference(package: &str, alone: &BTreeSet<String>, together: &BTreeSet<String>) -> String {
    let (alone, together) = (shown(alone), shown(together));
    format!(
        "Cargo.toml:1: {package} has the features {alone} in the command, \
         and {together} where {PROVER} is built with it"
    )
}

fn shown(sets: &BTreeSet<String>) -> String {
    let names = sets
        .iter()
        .map(|set| if set.is_empty() { "none" } else { set });
    names.collect::<Vec<_>>().join(" or ")
}
