//! The library as `make install` installs it, made once for each test program.
#![allow(dead_code, reason = "no test program uses all of it")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// A path of this crate.
pub(crate) fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Asserts that the program has succeeded, and that its output ends with these words.
pub(crate) fn passes(done: &Output, words: &str) {
    let (out, err) = (text(&done.stdout), text(&done.stderr));
    assert!(
        done.status.success() && out.ends_with(words),
        "{out}\n{err}"
    );
}

/// A directory with lib/ and include/.
pub(crate) struct Installed(tempfile::TempDir);

impl Installed {
    /// Made by scripts/library from the static library that cargo has built beside this test.
    pub(crate) fn get() -> &'static Self {
        static INSTALLED: OnceLock<Installed> = OnceLock::new();
        INSTALLED.get_or_init(|| {
            let test = std::env::current_exe().unwrap();
            let archive = test.with_file_name("libsealstone_capi.a");
            let place = tempfile::tempdir().unwrap();
            let mut library = Command::new(here("../../scripts/library"));
            let done = library.arg(archive).arg(place.path()).output().unwrap();
            passes(&done, "");
            Self(place)
        })
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    pub(crate) fn library(&self) -> PathBuf {
        self.path("lib/libsealstone.so")
    }

    /// The output of pkg-config for a compiler; with `--static`, for the static library alone.
    pub(crate) fn flags(&self, options: &[&str]) -> Vec<String> {
        let mut command = Command::new("pkg-config");
        let done = self.run_in(
            command
                .args(["--cflags", "--libs", "sealstone"])
                .args(options),
        );
        passes(&done, "");
        let flags = text(&done.stdout);
        let flags = flags.split_whitespace().map(String::from);
        match options.contains(&"--static") {
            // The linker prefers shared libraries, and both exist.
            true => flags
                .map(|it| it.replace("-lsealstone", "-l:libsealstone.a"))
                .collect(),
            false => flags.collect(),
        }
    }

    /// Runs a program that uses the library.
    pub(crate) fn run(&self, mut program: Command) -> Output {
        self.run_in(&mut program)
    }

    pub(crate) fn run_in(&self, program: &mut Command) -> Output {
        program
            .env("LD_LIBRARY_PATH", self.path("lib"))
            .env("PKG_CONFIG_PATH", self.path("lib/pkgconfig"))
            .output()
            .unwrap()
    }
}
