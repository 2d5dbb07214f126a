//! The test program in C, against the shared and the static library, under AddressSanitizer and
//! valgrind. Both must find the bugs planted in it.

#[path = "c/abi.rs"]
mod abi;
#[path = "shared/installed.rs"]
mod installed;

use installed::{Installed, here, passes, text};
use sealstone_token::privacypass::{IssuerKey, TokenType};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Compiles the program with these options, and returns its path.
fn compile(directory: &Path, options: &[&str], library: &[&str]) -> PathBuf {
    let parts = ["test.c", "streams.c", "packages.c", "tokens.c"];
    compile_parts(directory, &parts, options, library)
}

fn compile_parts(directory: &Path, parts: &[&str], options: &[&str], library: &[&str]) -> PathBuf {
    let program = directory.join("program");
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic"])
        .args(["-pthread", "-D_XOPEN_SOURCE=700"])
        .args(options)
        .args(parts.iter().map(|name| here("tests/c").join(name)))
        .arg("-o")
        .arg(&program)
        .args(Installed::get().flags(library));
    passes(&cc.output().unwrap(), "");
    program
}

const SHARED: &[&str] = &[];
const STATIC: &[&str] = &["--static"];

/// The statically linked program runs without the shared library.
fn run(program: Command) -> Output {
    Installed::get().run(program)
}

fn finds(done: &Output, words: &str) {
    let text = text(&done.stderr);
    assert!(
        !done.status.success() && text.contains(words),
        "{words}: {text}"
    );
}

#[test]
fn the_shared_and_the_static_library_work() {
    for library in [SHARED, STATIC] {
        let directory = tempfile::tempdir().unwrap();
        let program = compile(directory.path(), &["-O2"], library);
        passes(&run(Command::new(program)), " checks\n");
    }
}

/// AddressSanitizer and valgrind need more memory than the program allows itself.
#[test]
fn memory_that_is_missing_ends_no_program() {
    for library in [SHARED, STATIC] {
        let directory = tempfile::tempdir().unwrap();
        let program = compile_parts(directory.path(), &["memory.c"], &["-O2"], library);
        passes(&run(Command::new(program)), "enough memory\n");
    }
}

#[test]
fn address_sanitizer_finds_nothing_but_the_planted_bugs() {
    let directory = tempfile::tempdir().unwrap();
    let watched = |planted: &str| {
        let options = ["-g", "-fsanitize=address,undefined", planted];
        run(Command::new(compile(directory.path(), &options, SHARED)))
    };
    passes(&watched("-DPLANTED=0"), " checks\n");
    let leak = "LeakSanitizer: detected memory leaks";
    finds(&watched("-DPLANTED=1"), leak);
}

/// Without key derivations, which take 40 s in valgrind, and without making an RSA key.
#[test]
fn valgrind_finds_nothing_but_the_planted_bugs() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("rsa");
    let key = IssuerKey::generate(TokenType::BlindRsa2048).unwrap();
    std::fs::write(&path, key.encode().unwrap().expose()).unwrap();
    let rsa = format!("-DRSA_KEY=\"{}\"", path.display());
    let run = |planted| under_valgrind(&[planted, "-DKDF=0", &rsa]);
    passes(&run("-DPLANTED=0"), " checks\n");
    finds(&run("-DPLANTED=1"), "definitely lost");
    finds(&run("-DPLANTED=2"), "Invalid read");
    finds(&run("-DPLANTED=3"), "Invalid read");
}

#[test]
#[ignore = "takes a minute: key derivations under valgrind"]
fn valgrind_finds_nothing_in_key_derivations() {
    passes(&under_valgrind(&["-DPLANTED=0", "-DKDF=1"]), " checks\n");
}

fn under_valgrind(options: &[&str]) -> Output {
    let directory = tempfile::tempdir().unwrap();
    let options = [&["-g", "-DSTEP=1501"], options].concat();
    let program = compile(directory.path(), &options, SHARED);
    let mut valgrind = Command::new("valgrind");
    valgrind
        .args(["--quiet", "--error-exitcode=99", "--leak-check=full"])
        .arg("--errors-for-leak-kinds=definite,indirect")
        .arg("--show-leak-kinds=definite,indirect")
        .arg("--child-silent-after-fork=yes")
        .arg(program);
    run(valgrind)
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
        passes(&done.output().unwrap(), "");
    }
}

/// The library exports exactly the functions of the header, with the versions of the map.
#[test]
fn names_and_versions_are_those_of_the_header() {
    let library = Installed::get().library();
    let mut nm = Command::new("nm");
    let listed = nm.args(["-D", "--defined-only", "--with-symbol-versions"]);
    let listed = text(&listed.arg(library).output().unwrap().stdout);
    let names = listed.lines().filter_map(|it| it.rsplit(' ').next());
    let exported: BTreeSet<&str> = names.filter(|it| *it != "SEALSTONE_0.1").collect();
    let header = std::fs::read_to_string(here("include/sealstone.h")).unwrap();
    let words = header.split(|it: char| !it.is_alphanumeric() && it != '_');
    let functions = words
        .filter(|it| header.contains(&format!(" {it}(")) || header.contains(&format!("*{it}(")));
    let declared: BTreeSet<String> = functions
        .filter(|it| it.starts_with("sealstone_"))
        .map(|it| format!("{it}@@SEALSTONE_0.1"))
        .collect();
    assert!(declared.len() > 60, "{declared:?}");
    assert_eq!(exported, declared.iter().map(String::as_str).collect());
    let mut readelf = Command::new("readelf");
    let dynamic = readelf.arg("-d").arg(Installed::get().library()).output();
    assert!(text(&dynamic.unwrap().stdout).contains("[libsealstone.so.0.1]"));
}
