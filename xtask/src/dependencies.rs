//! Licences, banned crates and sources of every dependency (`deny.toml`), and the RustSec
//! advisories where they can be had.
//!
//! The advisories are a git repository that not every machine can reach. If there is no copy and
//! none can be fetched, this says so and goes on; with `SEALSTONE_ADVISORIES=require` it fails.

use crate::gate::{self, Report};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

const FETCH: Duration = Duration::from_secs(60);
const STALE: Duration = Duration::from_secs(7 * 24 * 3600);

pub(crate) fn check(root: &Path) -> Result<Report, String> {
    let manifests = gate::manifests(root);
    let first = manifests.first().ok_or("no manifest found")?;
    if !copies().iter().any(|copy| is_fresh(copy)) && !fetch(first) {
        println!("dependencies: the RustSec advisories cannot be fetched from here");
    }
    let mut findings = Vec::new();
    for manifest in &manifests {
        println!(
            "dependencies: {}",
            manifest.strip_prefix(root).unwrap_or(manifest).display()
        );
        let all = [
            deny(manifest, &[], &["bans", "licenses", "sources"]),
            advisories(manifest),
        ];
        findings.extend(all.into_iter().filter_map(Result::err));
    }
    Ok(Report {
        looked_at: format!("{} workspaces", manifests.len()),
        findings,
    })
}

/// The copies of the advisories that cargo-deny keeps. Git writes the index of a repository last:
/// without an index, another process is fetching the copy and may remove it.
fn copies() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    let cargo = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or(home)
        .unwrap_or_default();
    let directories = std::fs::read_dir(cargo.join("advisory-dbs"))
        .into_iter()
        .flatten()
        .flatten();
    directories
        .map(|entry| entry.path().join(".git"))
        .filter(|git| git.join("index").exists())
        .collect()
}

fn is_fresh(copy: &Path) -> bool {
    let changed = copy.metadata().and_then(|data| data.modified());
    let age = changed.map(|changed| SystemTime::now().duration_since(changed));
    age.is_ok_and(|age| age.is_ok_and(|age| age < STALE))
}

/// Asks for the advisories; gives up when that takes too long. Whether they came.
fn fetch(manifest: &Path) -> bool {
    let mut command = cargo_deny(manifest, &["fetch", "db"]);
    let Ok(mut child) = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn() else {
        return false;
    };
    let start = Instant::now();
    while start.elapsed() < FETCH {
        if let Ok(Some(status)) = child.try_wait() {
            return status.success();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    child
        .kill()
        .and_then(|()| child.wait())
        .is_ok_and(|status| status.success())
}

fn advisories(manifest: &Path) -> Result<(), String> {
    if !copies().is_empty() {
        return deny(manifest, &["--offline"], &["advisories"]);
    }
    if std::env::var("SEALSTONE_ADVISORIES").is_ok_and(|value| value == "require") {
        return Err("advisories are required and there is no copy of them".into());
    }
    println!(
        "dependencies: advisories NOT CHECKED (no copy of the RustSec database on this machine)"
    );
    Ok(())
}

fn deny(manifest: &Path, options: &[&str], checks: &[&str]) -> Result<(), String> {
    let mut command = cargo_deny(manifest, options);
    command.args(["check", "--hide-inclusion-graph"]);
    if checks.contains(&"licenses") {
        command.args(["--allow", "license-exception-not-encountered"]);
        command.args(["--allow", "unused-wrapper"]);
    }
    let status = command
        .args(checks)
        .status()
        .map_err(|e| format!("cargo-deny: {e}"))?;
    let said = format!("{}:1: cargo-deny refuses it", manifest.display());
    if status.success() { Ok(()) } else { Err(said) }
}

fn cargo_deny(manifest: &Path, arguments: &[&str]) -> Command {
    let ours = gate::own_root().join(".tools/bin/cargo-deny");
    let mut command = Command::new(if ours.exists() {
        ours
    } else {
        "cargo-deny".into()
    });
    command.arg("--manifest-path").arg(manifest);
    command
        .arg("--config")
        .arg(gate::own_root().join("deny.toml"));
    command.args(["--log-level", "warn"]).args(arguments);
    command
}
