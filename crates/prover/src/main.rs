//! `machine-proof`: compiles a contract, and has a program's function proved under it.
#![deny(unsafe_code)]

use clap::Parser;
use sealstone_prover::command::{Arguments, functions};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    run(&Arguments::parse()).unwrap_or_else(|why| {
        eprintln!("machine-proof: {why}");
        ExitCode::from(2)
    })
}

/// Proves it. The program of the contract prints the verdicts; its exit status is given back.
fn run(arguments: &Arguments) -> Result<ExitCode, String> {
    let contract = absolute(&arguments.contract)?;
    let build = absolute_new(&arguments.build_dir)?;
    // Before a build of minutes.
    functions(arguments)?;
    let prover = prover(arguments)?;
    let package = Package::new(&contract, &prover);
    let manifest = package.write(&build)?;
    eprintln!("machine-proof: compiling {}", arguments.contract.display());
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut cargo = Command::new(cargo);
    cargo.args(["run", "--quiet", "--release", "--manifest-path"]);
    cargo.arg(manifest).arg("--target-dir").arg(&build);
    cargo.arg("--").args(std::env::args_os().skip(1));
    let status = cargo
        .status()
        .map_err(|error| format!("cargo cannot be run: {error}"))?;
    Ok(match status.code() {
        Some(0) => ExitCode::SUCCESS,
        Some(1) => ExitCode::from(1),
        // The contract does not compile or panics, and has said so.
        _ => ExitCode::from(2),
    })
}

/// The source of the crate that contracts are compiled with.
fn prover(arguments: &Arguments) -> Result<PathBuf, String> {
    let built_from = Path::new(env!("CARGO_MANIFEST_DIR"));
    let place = arguments.prover.as_deref().unwrap_or(built_from);
    match place.join("src/command.rs").exists() {
        true => absolute(place),
        false => Err(format!(
            "the crate sealstone-prover is not in {}: say where it is with --prover",
            place.display()
        )),
    }
}

/// A path that holds from everywhere, of something that exists.
fn absolute(path: &Path) -> Result<PathBuf, String> {
    let absolute = fs::canonicalize(path).map_err(|error| about(path, &error))?;
    match absolute.to_str() {
        Some(_) => Ok(absolute),
        None => Err(format!("{}: the path is no Unicode", absolute.display())),
    }
}

fn absolute_new(path: &Path) -> Result<PathBuf, String> {
    fs::create_dir_all(path).map_err(|error| about(path, &error))?;
    absolute(path)
}

fn about(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// The package that compiles one contract.
struct Package {
    name: String,
    manifest: String,
    program: String,
    /// The versions that the prover is tested with, if it is in its repository.
    lock: Option<PathBuf>,
}

impl Package {
    fn new(contract: &Path, prover: &Path) -> Self {
        let mut hasher = DefaultHasher::new();
        (contract, prover).hash(&mut hasher);
        // A name of its own for each contract: proofs of several may run at once.
        let name = format!("contract-{:016x}", hasher.finish());
        let manifest = format!(
            "[package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
             [dependencies]\nsealstone-prover = {{ path = {prover:?} }}\n\n[workspace]\n"
        );
        let program = format!(
            "#[path = {contract:?}]\nmod contract;\n\n\
             fn main() -> std::process::ExitCode {{\n    \
             sealstone_prover::command::main(contract::contracts())\n}}\n"
        );
        let lock = prover.join("../../Cargo.lock");
        let lock = lock.exists().then_some(lock);
        Self {
            name,
            manifest,
            program,
            lock,
        }
    }

    /// Writes it below `build`. The path of its manifest.
    fn write(&self, build: &Path) -> Result<PathBuf, String> {
        let place = build.join(&self.name);
        let manifest = place.join("Cargo.toml");
        let source = place.join("src");
        fs::create_dir_all(&source).map_err(|error| about(&source, &error))?;
        write_new(&manifest, &self.manifest)?;
        write_new(&source.join("main.rs"), &self.program)?;
        let lock = place.join("Cargo.lock");
        if let (Some(tested), false) = (&self.lock, lock.exists()) {
            fs::copy(tested, &lock).map_err(|error| about(&lock, &error))?;
        }
        Ok(manifest)
    }
}

/// Leaves a file alone that holds the text: cargo compiles what is newer than its result.
fn write_new(path: &Path, text: &str) -> Result<(), String> {
    match fs::read_to_string(path) {
        Ok(old) if old == text => Ok(()),
        _ => fs::write(path, text).map_err(|error| about(path, &error)),
    }
}
