//! Builds the program of kernels with each configuration, and proves it.

use super::{Way, ways};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;

const PROGRAM: &str = "sealstone-kernels";

/// All configurations, one for each processor at the same time. The first program that cannot be
/// built ends the run.
pub(super) fn all(
    root: &Path,
    target: &Path,
    directory: &Path,
    options: &[&str],
) -> Result<(), String> {
    let prover = target.join("release/sealstone-prove");
    if !prover.exists() {
        return Err(format!(
            "{} is missing: run make prove-levels",
            prover.display()
        ));
    }
    let todo = Mutex::new(ways());
    let take = || todo.lock().ok().and_then(|mut ways| ways.next());
    let work = || -> Result<(), String> {
        while let Some(way) = take() {
            let place = directory.join(way.name());
            let built = build(root, &place, way, options);
            built.inspect_err(|_| while take().is_some() {})?;
            prove_program(&prover, &place, way)?;
        }
        Ok(())
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        all.into_iter()
            .try_for_each(|one| one.join().unwrap_or_else(|_| Err("a panic".into())))
    })
}

fn build(root: &Path, place: &Path, way: Way, options: &[&str]) -> Result<(), String> {
    let Way { level, target } = way;
    let mut cargo = Command::new("cargo");
    cargo.args([
        "build",
        "--release",
        "--quiet",
        "--jobs",
        "1",
        "--package",
        PROGRAM,
    ]);
    cargo
        .args(options)
        .current_dir(root)
        .env("CARGO_TARGET_DIR", place);
    cargo.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", level);
    // Stronger than the one below.
    cargo.env_remove("CARGO_ENCODED_RUSTFLAGS");
    cargo.env("RUSTFLAGS", format!("-C target-cpu={target}"));
    match cargo.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!(
            "{PROGRAM} cannot be built at opt-level {level} for {target}"
        )),
        Err(error) => Err(format!("cargo: {error}")),
    }
}

/// Writes the results to a file, or none if the prover could not read the program. The prover's
/// table is not needed if all is proved. The file has the missing proofs.
fn prove_program(prover: &Path, place: &Path, way: Way) -> Result<(), String> {
    let proofs = place.join("proofs.json");
    if proofs.exists() {
        std::fs::remove_file(&proofs).map_err(|e| format!("{}: {e}", proofs.display()))?;
    }
    let mut command = Command::new(prover);
    command
        .args(["--alone", "--artefact"])
        .arg(place.join("release").join(PROGRAM));
    command
        .args(["--target-cpu", way.target, "--write-json"])
        .arg(&proofs);
    let run = command.stdout(Stdio::null()).status();
    run.map(|_| ())
        .map_err(|e| format!("{}: {e}", prover.display()))
}
