//! The packages of the repository, as `cargo metadata` lists them, and their sources.

use crate::{gate, rust};
use proc_macro2::TokenTree;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// One package of ours.
pub(super) struct Crate {
    /// Its directory, relative to the repository.
    pub(super) place: String,
    pub(super) directory: PathBuf,
    pub(super) manifest: String,
    pub(super) dependencies: Vec<Dependency>,
    /// The root files of its libraries and programs.
    pub(super) roots: Vec<PathBuf>,
    pub(super) sources: Vec<Source>,
}

pub(super) struct Dependency {
    /// Its name in the manifest.
    pub(super) name: String,
    pub(super) path: Option<PathBuf>,
    pub(super) is_for_tests: bool,
}

/// One .rs file.
pub(super) struct Source {
    pub(super) path: PathBuf,
    /// Relative to the repository.
    pub(super) name: String,
    pub(super) tokens: Vec<TokenTree>,
}

impl Source {
    pub(super) fn at(&self, line: usize, message: &str) -> String {
        format!("{}:{line}: {message}", self.name)
    }
}

/// The crates of all workspaces.
pub(super) fn read_all(root: &Path) -> Result<Vec<Crate>, String> {
    let mut packages = Vec::new();
    for manifest in gate::manifests(root) {
        packages.extend(gate::packages(&manifest)?);
    }
    let directories: Vec<PathBuf> = packages.iter().map(directory).collect();
    packages
        .iter()
        .map(|package| read(root, package, &directories))
        .collect()
}

fn directory(package: &Value) -> PathBuf {
    let manifest = Path::new(gate::text(&package["manifest_path"]));
    manifest.parent().unwrap_or(Path::new("")).into()
}

fn read(root: &Path, package: &Value, others: &[PathBuf]) -> Result<Crate, String> {
    let directory = directory(package);
    let dependencies = gate::list(&package["dependencies"])
        .iter()
        .map(dependency)
        .collect();
    let roots = gate::list(&package["targets"])
        .iter()
        .filter_map(root_file)
        .collect();
    let mut files = Vec::new();
    rust_files(&directory, &directory, others, &mut files)?;
    files.sort();
    let sources = files
        .iter()
        .map(|path| source(root, path))
        .collect::<Result<_, _>>()?;
    let manifest = gate::read(&directory.join("Cargo.toml"))?;
    Ok(Crate {
        place: relative(root, &directory),
        directory,
        manifest,
        dependencies,
        roots,
        sources,
    })
}

fn dependency(value: &Value) -> Dependency {
    let name = value["rename"]
        .as_str()
        .unwrap_or(gate::text(&value["name"]));
    Dependency {
        name: name.into(),
        path: value["path"].as_str().map(PathBuf::from),
        is_for_tests: value["kind"] == "dev",
    }
}

/// The root file of a target that is shipped or run: no test, bench, example or build script.
fn root_file(target: &Value) -> Option<PathBuf> {
    let others = ["test", "bench", "example", "custom-build"];
    let is_other = |kind: &Value| others.contains(&gate::text(kind));
    let is_shipped = !gate::list(&target["kind"]).iter().any(is_other);
    is_shipped.then(|| gate::text(&target["src_path"]).into())
}

/// Every .rs file below a directory, except those of crates inside of it and of what was built.
fn rust_files(
    directory: &Path,
    crate_directory: &Path,
    others: &[PathBuf],
    files: &mut Vec<PathBuf>,
) -> Result<(), String> {
    let is_other = directory != crate_directory && others.iter().any(|other| other == directory);
    if is_other || directory == crate_directory.join("target") {
        return Ok(());
    }
    let failed = |e| format!("{}: {e}", directory.display());
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
        if kind.is_dir() {
            rust_files(&path, crate_directory, others, files)?;
        } else if path.extension().is_some_and(|suffix| suffix == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

fn source(root: &Path, path: &Path) -> Result<Source, String> {
    let name = relative(root, path);
    let tokens = rust::tokens(&name, &gate::read(path)?)?;
    Ok(Source {
        path: path.into(),
        name,
        tokens,
    })
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root)
        .unwrap_or(path)
        .to_string_lossy()
        .into_owned()
}
