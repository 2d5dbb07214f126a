//! `machine-proof`: compiles a contract and proves a program's function under it.
#![deny(unsafe_code)]

use clap::Parser;
use sealstone_prover::command::{Arguments, functions};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // A panic has printed the reason, for example a malformed program file.
    let result = std::panic::catch_unwind(|| run(&arguments));
    match result {
        Ok(Ok(code)) => code,
        Ok(Err(why)) => {
            eprintln!("machine-proof: {why}");
            ExitCode::from(2)
        }
        Err(_) => ExitCode::from(2),
    }
}

/// The target that programs are built for, independent of cargo's configuration: it runs here.
const TARGET: &str = match cfg!(target_env = "musl") {
    true => "x86_64-unknown-linux-musl",
    false => "x86_64-unknown-linux-gnu",
};

/// Proves it. The program of the contract prints the verdicts. Returns its exit status.
fn run(arguments: &Arguments) -> Result<ExitCode, String> {
    let contract = absolute(&arguments.contract)?;
    let build = absolute_new(&arguments.build_dir)?;
    // Checked before a build, which takes minutes.
    functions(arguments)?;
    let prover = prover(arguments)?;
    let package = Package::new(&contract, &prover)?;
    let manifest = package.write(&build)?;
    // Missing crates are no error of the contract.
    if !cargo("fetch", &manifest, &build)? {
        return Err(no_crates(&prover));
    }
    eprintln!("machine-proof: compiling {}", arguments.contract.display());
    if !cargo("build", &manifest, &build)? {
        return Err(format!("{} does not compile", arguments.contract.display()));
    }
    // `cargo run` may start it through another program.
    let program = build.join(TARGET).join("release").join(&package.name);
    let status = Command::new(&program)
        .args(std::env::args_os().skip(1))
        .status()
        .map_err(|error| about(&program, &error))?;
    Ok(match status.code() {
        Some(0) => ExitCode::SUCCESS,
        Some(1) => ExitCode::from(1),
        // It could not try, or the contract panicked. It has printed the reason.
        _ => ExitCode::from(2),
    })
}

/// Fetches or builds the program of the contract. Returns whether cargo succeeded; if not, it has
/// printed the reason.
fn cargo(verb: &str, manifest: &Path, build: &Path) -> Result<bool, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut cargo = Command::new(cargo);
    cargo.args([verb, "--quiet", "--target", TARGET]);
    cargo.arg("--manifest-path").arg(manifest);
    if verb == "build" {
        cargo.arg("--release").arg("--target-dir").arg(build);
    }
    let status = cargo.status();
    let status = status.map_err(|error| format!("cargo cannot be run: {error}"))?;
    Ok(status.success())
}

/// A hint for the case that cargo does not find the crates of the contract.
fn no_crates(prover: &Path) -> String {
    let manifest = prover.join("Cargo.toml");
    format!(
        "cargo does not find the crates that contracts are compiled with. If its configuration \
         replaces the registry by a folder (`cargo vendor`), that needs them too: call `cargo \
         vendor --sync {}`",
        manifest.display()
    )
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

/// The absolute path of an existing file.
fn absolute(path: &Path) -> Result<PathBuf, String> {
    let absolute = fs::canonicalize(path).map_err(|error| about(path, &error))?;
    match absolute.to_str() {
        Some(_) => Ok(absolute),
        None => Err(format!("{}: the path is not Unicode", absolute.display())),
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
    /// The lock file with the tested versions, if the prover is in its repository.
    lock: Option<PathBuf>,
}

impl Package {
    fn new(contract: &Path, prover: &Path) -> Result<Self, String> {
        let mut hasher = DefaultHasher::new();
        (contract, prover).hash(&mut hasher);
        // Each contract has its own name: several proofs may run at the same time.
        let name = format!("contract-{:016x}", hasher.finish());
        let path = prover.display().to_string();
        // Between single quotes, TOML takes all other characters literally.
        if path.contains('\'') || path.contains(char::is_control) {
            return Err(format!("{path}: cargo takes no such path"));
        }
        let manifest = format!(
            "[package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
             [dependencies]\nsealstone-prover = {{ path = '{path}' }}\n\n[workspace]\n"
        );
        let program = format!(
            "#[path = {contract:?}]\nmod contract;\n\n\
             fn main() -> std::process::ExitCode {{\n    \
             sealstone_prover::command::main(contract::contracts())\n}}\n"
        );
        let lock = prover.join("../../Cargo.lock");
        let lock = lock.exists().then_some(lock);
        Ok(Self {
            name,
            manifest,
            program,
            lock,
        })
    }

    /// Writes it below `build`. Returns the path of its manifest.
    fn write(&self, build: &Path) -> Result<PathBuf, String> {
        let place = build.join(&self.name);
        let manifest = place.join("Cargo.toml");
        let source = place.join("src");
        fs::create_dir_all(&source).map_err(|error| about(&source, &error))?;
        write(&manifest, self.manifest.as_bytes())?;
        // Written each time: cargo compares times only, and the contract may be another, older
        // file.
        write(&source.join("main.rs"), self.program.as_bytes())?;
        let lock = place.join("Cargo.lock");
        if let (Some(tested), false) = (&self.lock, lock.exists()) {
            let tested = fs::read(tested).map_err(|error| about(tested, &error))?;
            write(&lock, &tested)?;
        }
        Ok(manifest)
    }
}

/// Replaces a file atomically: another run may be reading it.
fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let new = path.with_extension(format!("new-{}", std::process::id()));
    fs::write(&new, bytes).map_err(|error| about(&new, &error))?;
    fs::rename(&new, path).map_err(|error| about(path, &error))
}
