//! The header for C++, and the examples in C, Go and Java: each compiles and runs.

#[path = "shared/installed.rs"]
mod installed;

use installed::{Installed, here, passes, text};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn version(program: impl AsRef<std::ffi::OsStr>, argument: &str) -> Option<String> {
    let done = Command::new(program).arg(argument).output().ok()?;
    done.status
        .success()
        .then(|| text(&done.stdout) + &text(&done.stderr))
}

#[test]
fn the_header_for_c_plus_plus_works() {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("program");
    let mut compiler = Command::new("c++");
    let done = compiler
        .args(["-std=c++17", "-Wall", "-Wextra", "-Werror", "-pedantic"])
        .args(["-g", "-fsanitize=address,undefined"])
        .arg(here("tests/cpp/test.cpp"))
        .arg("-o")
        .arg(&program)
        .args(Installed::get().flags(&[]));
    passes(&done.output().unwrap(), "");
    passes(&Installed::get().run(Command::new(program)), " checks\n");
}

/// Functions of the C header that no header for C++ calls.
fn unwrapped(header: &str, wrappers: &str) -> Vec<String> {
    let words = |text: &str| -> BTreeSet<String> {
        let words = text.split(|it: char| !it.is_alphanumeric() && it != '_');
        let ours = words.filter(|it| it.starts_with("sealstone_"));
        ours.map(String::from).collect()
    };
    let is_function =
        |it: &String| header.contains(&format!(" {it}(")) || header.contains(&format!("*{it}("));
    let functions: Vec<String> = words(header).into_iter().filter(is_function).collect();
    assert!(functions.len() > 60, "{functions:?}");
    let code = wrappers
        .lines()
        .map(|line| line.split("//").next().unwrap_or(""));
    let called = words(&code.collect::<Vec<_>>().join("\n"));
    let mut functions = functions.into_iter();
    functions
        .by_ref()
        .filter(|it| !called.contains(it))
        .collect()
}

#[test]
fn every_function_has_a_wrapper_in_c_plus_plus() {
    let read = |name: &str| std::fs::read_to_string(here("include").join(name)).unwrap();
    let parts = ["core.hpp", "files.hpp", "packages.hpp", "tokens.hpp"];
    let wrappers: String = parts.map(|it| read(&format!("sealstone/{it}"))).concat();
    let header = read("sealstone.h");
    assert_eq!(unwrapped(&header, &wrappers), [""; 0]);
    // A comment may name it.
    let planted = wrappers.replace("sealstone_open_fd", "sealstone_open_nothing");
    let planted = planted + "// See sealstone_open_fd(3).\n";
    assert_eq!(unwrapped(&header, &planted), ["sealstone_open_fd"]);
}

/// The example seals and opens files, and reports a wrong passphrase.
#[test]
fn the_example_in_c_works() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    let mut compiler = Command::new("cc");
    let done = compiler
        .args([
            "-std=c11",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-pedantic",
            "-D_XOPEN_SOURCE=700",
        ])
        .arg(here("examples/c/seal.c"))
        .arg("-o")
        .arg(place("seal"))
        .args(Installed::get().flags(&[]));
    passes(&done.output().unwrap(), "");
    let params = sealstone::KdfParams::new(7168, 5, 1).unwrap();
    let bob = sealstone::passport::Passport::generate("Bob", 1_790_000_000).unwrap();
    let passphrase = sealstone::Passphrase::new(b"correct horse").unwrap();
    let slot = sealstone::passport::NewSlot {
        key: sealstone::passport::SlotKey::Passphrase(&passphrase),
        name: "",
        created: 1_790_000_000,
        params,
        on_progress: sealstone::NO_PROGRESS,
    };
    let locked = sealstone::passport::SecretPassport::new(&bob, &slot).unwrap();
    std::fs::write(place("bob.secret"), locked.to_armor()).unwrap();
    std::fs::write(place("bob.public"), bob.public().to_armor()).unwrap();
    std::fs::write(place("plain"), vec![7; 200_000]).unwrap();
    let seal = |words: [&str; 2], from: &str, to: &str, passphrase: &str| {
        let mut command = Command::new(place("seal"));
        command
            .args(words)
            .current_dir(directory.path())
            .env("SEALSTONE_PASSPHRASE", passphrase)
            .stdin(std::fs::File::open(place(from)).unwrap())
            .stdout(std::fs::File::create(place(to)).unwrap());
        // `output` would take the descriptors.
        let child = command.stderr(std::process::Stdio::piped());
        child.env("LD_LIBRARY_PATH", Installed::get().path("lib"));
        child.spawn().unwrap().wait_with_output().unwrap()
    };
    passes(&seal(["seal", "bob.public"], "plain", "sealed", ""), "");
    passes(
        &seal(["open", "bob.secret"], "sealed", "opened", "correct horse"),
        "",
    );
    assert_eq!(
        std::fs::read(place("plain")).unwrap(),
        std::fs::read(place("opened")).unwrap()
    );
    let wrong = seal(["open", "bob.secret"], "sealed", "nothing", "wrong horse");
    assert_eq!(text(&wrong.stderr), "seal: bob.secret: wrong passphrase\n");
    assert!(std::fs::read(place("nothing")).unwrap().is_empty());
}

#[test]
fn the_example_in_go_works() {
    // "go version go1.21.4 linux/amd64". The distribution may offer an older one.
    let shown = version("go", "version").expect("Go: run `scripts/setup test`");
    let minor = shown.split_once("go1.").and_then(|(_, minor)| {
        let mut numbers = minor.split(|c: char| !c.is_ascii_digit());
        numbers.next()?.parse().ok()
    });
    if minor.is_none_or(|it: u32| it < 21) {
        println!("skipped: Go is older than 1.21: {}", shown.trim());
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("program");
    let mut go = Command::new("go");
    go.args(["build", "-o"])
        .arg(&program)
        .arg(".")
        .current_dir(here("examples/go"))
        .env("GOTOOLCHAIN", "local");
    passes(&Installed::get().run(go), "");
    let mut program = Command::new(program);
    program.env("GODEBUG", "cgocheck=1");
    let done = Installed::get().run(program);
    passes(&done, "package: <nil> true\n");
    assert_eq!(
        text(&done.stdout),
        "right password: <nil>\n\
         wrong password: 5: wrong password\n\
         opened: <nil> true\n\
         altered: 6: the content was altered or damaged, or the file is cut short\n\
         package: <nil> true\n"
    );
}

/// The `bin` directory of a JDK of version 22 or later, the first with java.lang.foreign.
fn jdk() -> Option<PathBuf> {
    let homes = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten();
    let installed = homes.filter_map(|it| Some(it.ok()?.path().join("bin")));
    let named = std::env::var_os("JAVA_HOME").map(|it| Path::new(&it).join("bin"));
    let is_new = |bin: &PathBuf| {
        let shown = version(bin.join("javac"), "-version").unwrap_or_default();
        let number = shown.trim().strip_prefix("javac ").unwrap_or_default();
        let major = number.split('.').next().and_then(|it| it.parse().ok());
        major.is_some_and(|it: u32| it >= 22)
    };
    named.into_iter().chain(installed).find(is_new)
}

#[test]
fn the_example_in_java_works() {
    let Some(bin) = jdk() else {
        println!("skipped: there is no JDK 22 or later in JAVA_HOME or /usr/lib/jvm");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let mut javac = Command::new(bin.join("javac"));
    javac
        .args(["-Xlint:all,-restricted", "-Werror", "-d"])
        .arg(directory.path())
        .arg(here("examples/java/Sealstone.java"));
    passes(&javac.output().unwrap(), "");
    let mut java = Command::new(bin.join("java"));
    java.args(["--enable-native-access=ALL-UNNAMED", "-cp"])
        .arg(directory.path())
        .arg("Sealstone")
        .arg(Installed::get().library());
    let done = Installed::get().run(java);
    passes(&done, " has not signed\n");
    let expected = "right password: ok\n\
        wrong password: 5: wrong password\n\
        opened: true\n\
        altered: 6: the content was altered or damaged, or the file is cut short\n\
        package: ok\n\
        other: 12: ";
    assert!(
        text(&done.stdout).starts_with(expected),
        "{}",
        text(&done.stdout)
    );
}
