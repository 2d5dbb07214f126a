//! Arrows between crates. cargo-deny says which crates may use aws-lc (`deny.toml`).

use super::krate::{Crate, Dependency};
use super::tables::{LAYERS, TESTS_ONLY, layer};

pub(super) fn check(krate: &Crate, crates: &[Crate]) -> Vec<String> {
    let mut findings = Vec::new();
    if layer(&krate.place).is_none() {
        findings.push(at(
            krate,
            1,
            "unknown crate, give it a row in LAYERS of xtask/src/layers",
        ));
    }
    if krate.place.starts_with("crates/") && !has_the_lints(krate) {
        findings.push(at(krate, 1, "lacks the lints of the workspace"));
    }
    for dependency in &krate.dependencies {
        let wrong = wrong_arrow(krate, dependency, crates);
        let line = manifest_line(krate, dependency);
        findings.extend(wrong.iter().map(|message| at(krate, line, message)));
    }
    findings
}

fn at(krate: &Crate, line: usize, message: &str) -> String {
    format!("{}/Cargo.toml:{line}: {message}", krate.place)
}

fn has_the_lints(krate: &Crate) -> bool {
    let lines: Vec<&str> = krate.manifest.lines().collect();
    lines
        .windows(2)
        .any(|pair| pair == ["[lints]", "workspace = true"])
}

fn wrong_arrow(krate: &Crate, dependency: &Dependency, crates: &[Crate]) -> Vec<String> {
    let target = crates.iter().find(|other| is_at(other, dependency));
    let Some(target) = target.filter(|target| target.place != krate.place) else {
        return Vec::new();
    };
    let mut wrong = Vec::new();
    match (layer(&krate.place), layer(&target.place)) {
        (Some(from), Some(to)) if to < from => {}
        (Some(from), Some(to)) => wrong.push(arrow(krate, from, target, to)),
        _ => wrong.push(format!(
            "{} -> {}: one has no layer",
            krate.place, target.place
        )),
    }
    if TESTS_ONLY.contains(&target.place.as_str()) && !dependency.is_for_tests {
        wrong.push(format!(
            "{} is for tests only, a dev-dependency",
            target.place
        ));
    }
    wrong
}

fn is_at(krate: &Crate, dependency: &Dependency) -> bool {
    let path = dependency
        .path
        .as_ref()
        .and_then(|path| path.canonicalize().ok());
    path.is_some_and(|path| path == krate.directory)
}

fn arrow(krate: &Crate, from: usize, target: &Crate, to: usize) -> String {
    let direction = if to > from { "upwards" } else { "sideways" };
    let (source, destination) = (LAYERS[from].0, LAYERS[to].0);
    format!(
        "{} ({source}) -> {} ({destination}) points {direction}",
        krate.place, target.place
    )
}

/// The line that names the dependency; 1 if it is written in a way that is not seen.
fn manifest_line(krate: &Crate, dependency: &Dependency) -> usize {
    let found = krate
        .manifest
        .lines()
        .position(|line| names(line, &dependency.name));
    found.map_or(1, |index| index + 1)
}

fn names(line: &str, name: &str) -> bool {
    let rest = line.trim_start().trim_start_matches('"').strip_prefix(name);
    let is_key = |rest: &str| rest.trim_start_matches(['"', ' ']).starts_with(['.', '=']);
    rest.is_some_and(is_key) || line.contains(&format!("dependencies.{name}]"))
}
