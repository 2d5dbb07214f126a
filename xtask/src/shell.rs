//! Runs shellcheck over every shell program of the repository.

use crate::gate::{self, Report};
use std::path::Path;
use std::process::Command;

pub(crate) fn check(root: &Path) -> Result<Report, String> {
    let mut programs = gate::repository_files(root)?;
    programs.retain(|name| is_shell(&root.join(name)));
    if programs.is_empty() {
        return Err("no shell programs found".into());
    }
    let mut shellcheck = Command::new("shellcheck");
    shellcheck
        .args(["--shell=bash", "--format=gcc"])
        .args(&programs)
        .current_dir(root);
    let done = shellcheck
        .output()
        .map_err(|e| format!("shellcheck: {e}"))?;
    let said = String::from_utf8_lossy(&done.stdout);
    let findings: Vec<String> = said.lines().map(String::from).collect();
    if !done.status.success() && findings.is_empty() {
        return Err(format!(
            "shellcheck failed: {}",
            String::from_utf8_lossy(&done.stderr)
        ));
    }
    Ok(Report {
        looked_at: format!("{} programs", programs.len()),
        findings,
    })
}

/// Whether the first line names `sh` or `bash`.
fn is_shell(path: &Path) -> bool {
    let Ok(bytes) = std::fs::read(path) else {
        return false;
    };
    let first = bytes
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    let first = String::from_utf8_lossy(first);
    let interpreter = first.strip_prefix("#!").map(|rest| rest.trim_end());
    interpreter.is_some_and(|rest| {
        let last = rest.rsplit(['/', ' ']).next().unwrap_or_default();
        ["sh", "bash"].contains(&last)
    })
}
