//! The table of published vectors.

use crate::gate::{self, text};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// In the order of the table.
const PACKAGES: &[&str] = &[
    "sealstone-primitives",
    "sealstone-argon2",
    "sealstone-skein",
    "sealstone-token",
    "sealstone",
];

/// A program of tests, and the directory of its package.
struct Program {
    package: String,
    directory: PathBuf,
    file: PathBuf,
}

pub(super) fn table(root: &Path) -> Result<String, String> {
    let programs = programs(root)?;
    let mut rows: Vec<String> = [
        "| crate | vectors | cases | disagreements |",
        "|---|---|---|---|",
    ]
    .map(Into::into)
    .into();
    for wanted in PACKAGES {
        let mut sets = Vec::new();
        for program in programs.iter().filter(|program| program.package == *wanted) {
            sets.extend(run(program)?);
        }
        sets.sort();
        let row = |(name, count)| format!("| `{wanted}` | {name} | {count} | 0 |");
        rows.extend(sets.into_iter().map(row));
    }
    Ok(rows.join("\n") + "\n")
}

/// Every program of tests, built as `make test` builds them.
fn programs(root: &Path) -> Result<Vec<Program>, String> {
    let mut cargo = Command::new("cargo");
    cargo.args(["test", "--quiet", "--workspace", "--tests", "--no-run"]);
    cargo
        .arg("--message-format=json-render-diagnostics")
        .current_dir(root);
    let done = cargo
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| format!("cargo: {e}"))?;
    if !done.status.success() {
        return Err("the tests cannot be built".into());
    }
    let said = String::from_utf8_lossy(&done.stdout);
    Ok(said
        .lines()
        .filter_map(|line| program(&serde_json::from_str(line).ok()?))
        .collect())
}

fn program(message: &Value) -> Option<Program> {
    let is_test = message["reason"] == "compiler-artifact" && message["profile"]["test"] == true;
    let file = message["executable"].as_str().filter(|_| is_test)?;
    let manifest = Path::new(text(&message["manifest_path"]));
    Some(Program {
        package: package_of(text(&message["package_id"])),
        directory: manifest.parent()?.into(),
        file: file.into(),
    })
}

/// The name in `path+file:///…/crates/argon2#sealstone-argon2@0.1.0`, or in
/// `path+file:///…/sealstone#0.1.0`, where the directory has it.
fn package_of(id: &str) -> String {
    let (path, rest) = id.split_once('#').unwrap_or((id, ""));
    let name = rest.split_once('@').map(|(name, _)| name);
    name.unwrap_or_else(|| path.rsplit('/').next().unwrap_or_default())
        .into()
}

/// Name and number of cases of every set of vectors that a program ran.
fn run(program: &Program) -> Result<Vec<(String, u64)>, String> {
    let mut command = Command::new(&program.file);
    command
        .args(["--nocapture", "--test-threads=1"])
        .current_dir(&program.directory);
    command.env("CARGO_MANIFEST_DIR", &program.directory);
    // The table is of what the scripts fetch, on every machine alike.
    let said = gate::output(command.env_remove("SEALSTONE_VECTORS"))?;
    Ok(said.lines().filter_map(|line| set(line.trim())).collect())
}

/// Reads `NAME: N cases, 0 disagreements`, perhaps behind `test NAME ... `.
fn set(line: &str) -> Option<(String, u64)> {
    let (name, count) = line
        .strip_suffix(" cases, 0 disagreements")?
        .rsplit_once(": ")?;
    let behind = name
        .strip_prefix("test ")
        .and_then(|rest| rest.split_once(" ... "));
    let name = behind.map_or(name, |(_, name)| name);
    Some((name.trim_start_matches('.').into(), count.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::{package_of, set};

    #[test]
    fn sets_are_read_with_and_without_the_name_of_their_test() {
        let expected = Some(("RFC 9106: Argon2id".to_string(), 12));
        assert_eq!(
            set("RFC 9106: Argon2id: 12 cases, 0 disagreements"),
            expected
        );
        assert_eq!(
            set("test rfc::all ... RFC 9106: Argon2id: 12 cases, 0 disagreements"),
            expected
        );
        assert_eq!(
            set("..RFC 9106: Argon2id: 12 cases, 0 disagreements"),
            expected
        );
        assert_eq!(set("RFC 9106: 12 cases, 1 disagreements"), None);
        assert_eq!(set("RFC 9106: some cases, 0 disagreements"), None);
    }

    #[test]
    fn packages_are_named_by_their_id_or_directory() {
        assert_eq!(
            package_of("path+file:///a/crates/argon2#sealstone-argon2@0.1.0"),
            "sealstone-argon2"
        );
        assert_eq!(
            package_of("path+file:///a/crates/sealstone#0.1.0"),
            "sealstone"
        );
    }
}
