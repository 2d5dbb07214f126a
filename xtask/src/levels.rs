//! Proves every kernel as rustc compiles it at opt-level 1, 2, 3 and s, for baseline x86-64, for
//! x86-64-v3 and with AVX-512 everywhere.
//!
//! It builds the program of `crates/proofs/kernels`, which calls every kernel once; all else is as
//! in a release. The prover must find every kernel in each of these programs: one that the compiler
//! has left without a function of its own is "not there", and fails. The instructions that a proof
//! met are compared with this CPU as in `make prove`.

mod build;
mod complaints;

use crate::gate::{list, text};
use serde_json::Value;
use std::path::Path;

const LEVELS: &[&str] = &["1", "2", "3", "s"];
const TARGETS: &[&str] = &["x86-64", "x86-64-v3", "x86-64-v4"];
const VERDICTS: &[&str] = &["PROVED", "REFUTED", "UNPROVED", "UNSUPPORTED"];
const NOT_THERE: &str = "there is no function";

/// A build configuration.
#[derive(Clone, Copy)]
struct Way {
    level: &'static str,
    target: &'static str,
}

/// The proofs of the program with this configuration. `None` if the prover could not read it.
struct Found {
    way: Way,
    proofs: Option<Value>,
}

impl Way {
    fn name(self) -> String {
        format!("{}-{}", self.level, self.target)
    }
}

impl Found {
    fn kernels(&self) -> &[Value] {
        self.proofs
            .as_ref()
            .map_or(&[], |proofs| list(&proofs["kernels"]))
    }
}

/// Builds and proves, then reads the results.
pub(crate) fn prove(root: &Path, options: &[&str]) -> Result<bool, String> {
    let target = root.join(std::env::var("CARGO_TARGET_DIR").unwrap_or("target".into()));
    let directory = target.join("levels");
    build::all(root, &target, &directory, options)?;
    read(&directory)
}

/// Prints the table of earlier results, and complaints.
pub(crate) fn read(directory: &Path) -> Result<bool, String> {
    let found = ways()
        .map(|way| found(directory, way))
        .collect::<Result<Vec<_>, _>>()?;
    println!("{}", table(&found));
    let mut complaints: Vec<String> = found.iter().flat_map(complaints::of).collect();
    complaints.extend(complaints::differences(&found));
    complaints
        .iter()
        .for_each(|complaint| eprintln!("levels: {complaint}"));
    if complaints.is_empty() {
        println!("levels: every kernel is proved in {} programs", found.len());
    }
    Ok(complaints.is_empty())
}

fn ways() -> impl Iterator<Item = Way> {
    LEVELS
        .iter()
        .flat_map(|level| TARGETS.iter().map(|target| Way { level, target }))
}

fn found(directory: &Path, way: Way) -> Result<Found, String> {
    let file = directory.join(way.name()).join("proofs.json");
    if !file.exists() {
        return Ok(Found { way, proofs: None });
    }
    let proofs = serde_json::from_str(&crate::gate::read(&file)?);
    let proofs = proofs.map_err(|e| format!("{}: {e}", file.display()))?;
    Ok(Found {
        way,
        proofs: Some(proofs),
    })
}

fn table(found: &[Found]) -> String {
    let columns = VERDICTS.iter().chain(&["not there", "stack bytes"]);
    let columns: String = columns.map(|name| format!("{name:>12}")).collect();
    let heading = format!("{:9}  {:10}{columns}", "opt-level", "target");
    let rows = found.iter().map(row);
    std::iter::once(heading)
        .chain(rows)
        .collect::<Vec<_>>()
        .join("\n")
}

/// The last number is the largest residue of a kernel: no kernel promises to wipe.
fn row(found: &Found) -> String {
    let rows = found.kernels();
    let verdict = |row| {
        if is_not_there(row) {
            "not there"
        } else {
            text(&row["verdict"])
        }
    };
    let count = |name: &str| rows.iter().filter(|row| verdict(row) == name).count() as u64;
    let counts = VERDICTS
        .iter()
        .chain(&["not there"])
        .map(|name| count(name));
    let stack = rows
        .iter()
        .filter_map(|row| row["residue"]["stack"].as_u64())
        .max();
    let numbers = counts
        .chain([stack.unwrap_or(0)])
        .map(|number| format!("{number:12}"));
    let numbers: String = numbers.collect();
    format!("{:9}  {:10}{numbers}", found.way.level, found.way.target)
}

fn is_not_there(row: &Value) -> bool {
    text(&row["reason"]).starts_with(NOT_THERE)
}
