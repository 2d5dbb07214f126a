//! A tiny repository of the same shape as this one, to plant violations in.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

pub(crate) const FORBID: &str = "#![forbid(unsafe_code)]\n";
/// A crate that has `unsafe` in one file.
pub(crate) const DENY: &str = "#![deny(unsafe_code)]\n";
const DOCUMENTS: &[&str] = &[
    "README",
    "ASSURANCE",
    "SECURITY",
    "CONTRIBUTING",
    "CHANGELOG",
];

/// Traps for the gates: paths in comments, strings and raw strings.
const INNOCENT: &str = r##"//! use crate::passport in a comment
/* crate::passport */
const A: &str = "crate::passport \" crate::passport";
const B: &str = r#"crate::passport " "#;
const C: char = '"';
"##;

/// The status of a command, and its whole output.
pub(crate) struct Done {
    pub(crate) passed: bool,
    pub(crate) told: String,
}

pub(crate) struct Repository {
    directory: TempDir,
}

impl Repository {
    /// A clean repository, which every gate accepts.
    pub(crate) fn clean() -> Self {
        let repository = Self::empty();
        let manifest = "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\n";
        repository.write("Cargo.toml", &format!("{manifest}{}", lints()));
        repository.write(".gitignore", "/target/\n");
        for name in DOCUMENTS {
            repository.write(&format!("{name}.md"), &format!("# {name}\n"));
        }
        for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
            repository.write(name, "a licence\n");
        }
        repository.add_crates();
        repository.git(&["init", "--quiet"]);
        repository
    }

    pub(crate) fn empty() -> Self {
        Self {
            directory: TempDir::with_prefix("sealstone-gate-").unwrap(),
        }
    }

    fn add_crates(&self) {
        self.add_crate("lanes", &[], "pub fn word() { unsafe {} }\n");
        self.add_crate("skein", &["lanes"], FORBID);
        let library = "mod error;\nmod wire;\npub mod passport;\npub use error::Error;\n";
        self.add_crate("sealstone", &["skein"], &format!("{FORBID}{library}"));
        self.write("crates/sealstone/src/error.rs", "pub struct Error;\n");
        self.write(
            "crates/sealstone/src/wire.rs",
            &format!("{INNOCENT}use crate::Error;\n"),
        );
        let passport = "mod slot;\nuse crate::{Error, wire};\n";
        self.write("crates/sealstone/src/passport.rs", passport);
        let slot = "use super::super::wire;\nuse super::Error;\n";
        self.write("crates/sealstone/src/passport/slot.rs", slot);
        self.add_crate("cli", &["sealstone"], "");
        let main = format!("{FORBID}fn main() {{ sealstone::passport::new() }}\n");
        self.write("crates/cli/src/main.rs", &main);
        fs::remove_file(self.path("crates/cli/src/lib.rs")).unwrap();
    }

    /// A crate with this library, which depends on others beside it.
    pub(crate) fn add_crate(&self, name: &str, below: &[&str], library: &str) {
        self.add_crate_in("crates", name, below, library);
    }

    pub(crate) fn add_crate_in(&self, place: &str, name: &str, below: &[&str], library: &str) {
        let package = package(name);
        let lints = if place == "crates" {
            "[lints]\nworkspace = true\n"
        } else {
            ""
        };
        let below: String = below.iter().map(|other| dependency(other)).collect();
        let manifest = format!(
            "[package]\nname = \"{package}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
             license = \"MIT\"\npublish = false\n{lints}[dependencies]\n{below}"
        );
        self.write(&format!("{place}/{name}/Cargo.toml"), &manifest);
        self.write(&format!("{place}/{name}/src/lib.rs"), library);
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn append(&self, name: &str, text: &str) {
        self.write(name, &(self.read(name) + text));
    }

    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }

    /// A program that is found before all others on [`Repository::bin`]. Another process writes it:
    /// where this one does, a child that another thread starts meanwhile holds the file open, and
    /// the system runs no file that is open for writing (ETXTBSY).
    pub(crate) fn program(&self, name: &str, text: &str) {
        let mut install = Command::new("install");
        install.args(["-D", "-m", "755", "/dev/stdin"]);
        install.arg(self.path("bin").join(name));
        let mut install = install.stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = install.stdin.take().unwrap();
        stdin.write_all(text.as_bytes()).unwrap();
        drop(stdin);
        assert!(install.wait().unwrap().success());
    }

    /// `PATH`, with the programs of this repository first.
    pub(crate) fn bin(&self) -> String {
        format!(
            "{}:{}",
            self.path("bin").display(),
            std::env::var("PATH").unwrap()
        )
    }

    pub(crate) fn lines(&self, name: &str) -> usize {
        self.read(name).lines().count()
    }

    pub(crate) fn git(&self, arguments: &[&str]) {
        let mut git = Command::new("git");
        let done = git
            .arg("-C")
            .arg(self.path(""))
            .args(arguments)
            .output()
            .unwrap();
        assert!(done.status.success(), "git {arguments:?}: {done:?}");
    }

    /// `cargo xtask --root HERE WORDS…`, to be run.
    pub(crate) fn xtask(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        command.arg("--root").arg(self.path("")).args(words);
        command
    }

    pub(crate) fn passes(&self, gate: &str) -> String {
        passes(&mut self.xtask(&["check", gate]))
    }

    pub(crate) fn refuses(&self, gate: &str, expected: &[&str]) -> String {
        refuses(&mut self.xtask(&["check", gate]), expected)
    }
}

/// A command succeeds. Returns its output.
pub(crate) fn passes(command: &mut Command) -> String {
    let done = run(command);
    assert!(done.passed, "{}", done.told);
    done.told
}

/// A command fails, and its output has all texts of `expected`. Returns the output.
pub(crate) fn refuses(command: &mut Command, expected: &[&str]) -> String {
    let done = run(command);
    assert!(!done.passed, "{}", done.told);
    for text in expected {
        assert!(
            done.told.contains(text),
            "{text:?} is not in:\n{}",
            done.told
        );
    }
    done.told
}

pub(crate) fn run(command: &mut Command) -> Done {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    let told = [stdout, stderr].concat();
    Done {
        passed: status.success(),
        told: String::from_utf8_lossy(&told).into_owned(),
    }
}

/// A line of a manifest's dependencies.
pub(crate) fn dependency(name: &str) -> String {
    format!("{} = {{ path = \"../{name}\" }}\n", package(name))
}

fn package(name: &str) -> String {
    if name == "sealstone" {
        name.into()
    } else {
        format!("sealstone-{name}")
    }
}

/// A file of this repository.
pub(crate) fn own(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .join(name)
}

/// The lints of this repository.
pub(crate) fn lints() -> String {
    let manifest = fs::read_to_string(own("Cargo.toml")).unwrap();
    let start = manifest.find("[workspace.lints.rust]").unwrap();
    let end = start + manifest[start..].find("[profile").unwrap();
    manifest[start..end].into()
}
