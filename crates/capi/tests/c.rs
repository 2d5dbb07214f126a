//! The test program in C, against the shared and the static library, watched by AddressSanitizer
//! and valgrind. Both have to find the bugs that are planted in it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Where cargo has put the libraries: beside this test.
fn libraries() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().to_owned()
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Compiles the program with these options, and returns where it is.
fn compile(directory: &Path, options: &[&str], library: &[&str]) -> PathBuf {
    let program = directory.join("program");
    let mut cc = Command::new("cc");
    cc.args([
        "-std=c11",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-pedantic",
        "-D_POSIX_C_SOURCE=200809L",
    ])
    .args(options)
    .arg("-I")
    .arg(here("include"))
    .arg(here("tests/c/test.c"))
    .arg("-o")
    .arg(&program)
    .arg("-L")
    .arg(libraries())
    .args(library);
    let done = cc.output().unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    program
}

const SHARED: &[&str] = &["-lsealstone_capi"];
const STATIC: &[&str] = &["-l:libsealstone_capi.a", "-lpthread", "-ldl", "-lm"];

fn run(mut program: Command) -> Output {
    program
        .env("LD_LIBRARY_PATH", libraries())
        .output()
        .unwrap()
}

fn passes(done: &Output) {
    let text = String::from_utf8_lossy(&done.stdout);
    assert!(
        done.status.success() && text.ends_with(" checks\n"),
        "{text}{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

fn finds(done: &Output, words: &str) {
    let text = String::from_utf8_lossy(&done.stderr);
    assert!(
        !done.status.success() && text.contains(words),
        "{words}: {text}"
    );
}

#[test]
fn the_shared_and_the_static_library_work() {
    for library in [SHARED, STATIC] {
        let directory = tempfile::tempdir().unwrap();
        passes(&run(Command::new(compile(
            directory.path(),
            &["-O2"],
            library,
        ))));
    }
}

#[test]
fn address_sanitizer_finds_nothing_but_the_planted_bugs() {
    let directory = tempfile::tempdir().unwrap();
    let watched = |planted: &str| {
        let options = ["-g", "-fsanitize=address,undefined", planted];
        run(Command::new(compile(directory.path(), &options, SHARED)))
    };
    passes(&watched("-DPLANTED=0"));
    finds(
        &watched("-DPLANTED=1"),
        "LeakSanitizer: detected memory leaks",
    );
}

#[test]
fn valgrind_finds_nothing_but_the_planted_bugs() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("skipped: valgrind is not installed");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let watched = |planted: &str| {
        let program = compile(directory.path(), &["-g", "-DSTEP=301", planted], SHARED);
        let mut valgrind = Command::new("valgrind");
        valgrind
            .args(["--quiet", "--error-exitcode=99", "--leak-check=full"])
            .args([
                "--errors-for-leak-kinds=definite,indirect",
                "--child-silent-after-fork=yes",
            ])
            .arg(program);
        run(valgrind)
    };
    passes(&watched("-DPLANTED=0"));
    finds(&watched("-DPLANTED=1"), "definitely lost");
    finds(&watched("-DPLANTED=2"), "Invalid read");
}

/// The header is C++ too, and pedantic C of 1999.
#[test]
fn the_header_compiles_alone() {
    for language in [["-xc++", "-std=c++11"], ["-xc", "-std=c99"]] {
        let mut compiler = Command::new("cc");
        compiler.args(["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-pedantic"]);
        let done = compiler
            .args(language)
            .arg(here("tests/c/alone.c"))
            .arg("-I")
            .arg(here("include"));
        let done = done.output().unwrap();
        if String::from_utf8_lossy(&done.stderr).contains("cc1plus") {
            println!("skipped: there is no C++ compiler");
            continue;
        }
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
    }
}

/// What the library exports is what the header declares.
#[test]
fn no_other_names_are_exported() {
    let library = libraries().join("libsealstone_capi.so");
    let mut nm = Command::new("nm");
    let listed = nm
        .args(["-D", "--defined-only"])
        .arg(library)
        .output()
        .unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let exported: BTreeSet<&str> = listed
        .lines()
        .filter_map(|it| it.rsplit(' ').next())
        .collect();
    let header = std::fs::read_to_string(here("include/sealstone.h")).unwrap();
    let words = header.split(|it: char| !it.is_alphanumeric() && it != '_');
    let functions = words.filter(|it| header.contains(&format!("{it}(")));
    let declared: BTreeSet<&str> = functions
        .filter(|it| it.starts_with("sealstone_"))
        .collect();
    assert_eq!(exported, declared);
}
