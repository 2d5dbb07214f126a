//! Common parts of the gates: how they report, and how they ask git and cargo.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Looks at the repository in a directory. An error means that the gate could not look.
pub(crate) type Gate = fn(&Path) -> Result<Report, String>;

/// The findings of a gate: `FILE:LINE: what is wrong`, one line each.
pub(crate) struct Report {
    pub(crate) looked_at: String,
    pub(crate) findings: Vec<String>,
}

/// The workspaces: the main one, and the separate ones. `crates/token/tests/interop/rust` is not
/// among them: it compares tokens with a crate that needs `rsa`, which `deny.toml` bans.
pub(crate) const WORKSPACES: &[&str] = &[".", "bench", "fuzz", "python", "xtask"];

/// The manifests of the workspaces outside of the main one.
pub(crate) const OTHER_MANIFESTS: &[&str] = &[
    "bench/Cargo.toml",
    "fuzz/Cargo.toml",
    "python/Cargo.toml",
    "xtask/Cargo.toml",
    "crates/token/tests/interop/rust/Cargo.toml",
];

/// This repository.
pub(crate) fn own_root() -> PathBuf {
    let parent = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    parent.expect("xtask is a folder of the repository").into()
}

/// The manifests of the workspaces that a repository has.
pub(crate) fn manifests(root: &Path) -> Vec<PathBuf> {
    let all = WORKSPACES
        .iter()
        .map(|workspace| root.join(workspace).join("Cargo.toml"));
    all.filter(|manifest| manifest.exists()).collect()
}

/// Every file that is committed or would be, relative to `root`.
pub(crate) fn repository_files(root: &Path) -> Result<Vec<String>, String> {
    let listed = git(
        root,
        &[
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ],
    )?;
    let mut names: Vec<String> = listed.split('\0').map(String::from).collect();
    names.retain(|name| !name.is_empty() && root.join(name).is_file());
    names.sort();
    names.dedup();
    Ok(names)
}

pub(crate) fn git(root: &Path, arguments: &[&str]) -> Result<String, String> {
    output(Command::new("git").arg("-C").arg(root).args(arguments))
}

/// The packages of one workspace, from `cargo metadata`.
pub(crate) fn packages(manifest: &Path) -> Result<Vec<Value>, String> {
    let mut cargo = Command::new("cargo");
    cargo.args([
        "metadata",
        "--no-deps",
        "--offline",
        "--format-version=1",
        "--manifest-path",
    ]);
    let said = output(cargo.arg(manifest))?;
    let metadata: Value = serde_json::from_str(&said).map_err(|e| e.to_string())?;
    Ok(list(&metadata["packages"]).to_vec())
}

/// A list in JSON; whatever else is there counts as an empty one.
pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Text in JSON; whatever else is there counts as empty.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The output of a program; an error if it fails.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let done = command
        .output()
        .map_err(|e| format!("{}: {e}", name_of(command)))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        return Err(format!("{} failed: {}", name_of(command), said.trim()));
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// The program and its first argument that is not an option, as a person would call it.
pub(crate) fn name_of(command: &Command) -> String {
    let program = command.get_program().to_string_lossy();
    let mut words = command.get_args().map(|word| word.to_string_lossy());
    let verb = words.find(|word| !word.starts_with('-') && !word.contains('/'));
    format!("{program} {}", verb.unwrap_or_default())
        .trim_end()
        .into()
}

pub(crate) fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}
