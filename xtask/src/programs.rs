//! The workspace's programs of tests, as cargo builds them.

use crate::gate::text;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program of tests.
pub(crate) struct Program {
    pub(crate) package: String,
    /// The name of the library, or of a file in `tests`.
    pub(crate) target: String,
    directory: PathBuf,
    file: PathBuf,
}

impl Program {
    /// Starts the program as cargo does.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.file);
        command
            .current_dir(&self.directory)
            .env("CARGO_MANIFEST_DIR", &self.directory);
        command
    }
}

/// Builds every program of tests, with these options of cargo.
pub(crate) fn build(root: &Path, options: &[&str]) -> Result<Vec<Program>, String> {
    let mut cargo = Command::new("cargo");
    cargo
        .args(["test", "--workspace", "--no-run"])
        .args(options)
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
    let messages = said.lines().map(serde_json::from_str::<Value>);
    let programs: Vec<_> = messages
        .filter_map(|message| program(&message.ok()?))
        .collect();
    match programs.is_empty() {
        true => Err("cargo names no program of tests".into()),
        false => Ok(programs),
    }
}

fn program(message: &Value) -> Option<Program> {
    let is_test = message["reason"] == "compiler-artifact" && message["profile"]["test"] == true;
    let file = message["executable"].as_str().filter(|_| is_test)?;
    let manifest = Path::new(text(&message["manifest_path"]));
    Some(Program {
        package: package_of(text(&message["package_id"])),
        target: text(&message["target"]["name"]).into(),
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

#[cfg(test)]
mod tests {
    use super::package_of;

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
