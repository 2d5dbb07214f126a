//! clippy, with the lints of this repository, refuses long or tangled functions, `unsafe`, stubs,
//! tests that are ignored without a reason, and a module in `mod.rs`.

use crate::repository::{Repository, own};
use std::process::Command;

/// Clippy's output on a crate with this library.
fn clippy(repository: &Repository, library: &str) -> String {
    std::fs::copy(own("clippy.toml"), repository.path("clippy.toml")).unwrap();
    let library = format!("//! A crate.\n{library}");
    repository.write("crates/lanes/src/lib.rs", &library);
    let mut cargo = Command::new("cargo");
    cargo.args([
        "clippy",
        "--offline",
        "-qp",
        "sealstone-lanes",
        "--",
        "-Dwarnings",
    ]);
    // A target directory of its own, or cargo takes a report of this one for that of another.
    cargo.env("CARGO_TARGET_DIR", repository.path("target"));
    let done = cargo.current_dir(repository.path("")).output().unwrap();
    String::from_utf8_lossy(&done.stderr).into_owned()
}

fn function(lines: usize) -> String {
    let body = "    std::hint::black_box(1);\n".repeat(lines);
    format!("/// A function.\npub fn long() {{\n{body}}}\n")
}

fn stub(name: &str) -> String {
    format!("/// A function.\npub fn f() {{\n    {name}!()\n}}\n")
}

fn tangled() -> String {
    let branch = |n| format!("    if a == {n} {{\n        c += b;\n    }}\n");
    let branches: String = (0..26).map(branch).collect();
    let head = "/// A function.\npub fn tangled(a: u8, b: u8) -> u8 {\n    let mut c = 0;\n";
    format!("{head}{branches}    c\n}}\n")
}

#[test]
#[ignore = "needs clippy, which make lint installs"]
fn with_lint_tools_a_function_at_the_limit_passes() {
    let said = clippy(&Repository::clean(), &function(80));
    assert!(!said.contains("error"), "{said}");
}

#[test]
#[ignore = "needs clippy, which make lint installs"]
fn with_lint_tools_violations_are_refused() {
    let unsafe_block = "/// A function.\npub fn f() -> u8 {\n    // SAFETY: no.\n    \
         unsafe { std::ptr::null::<u8>().read() }\n}\n";
    let ignored = "/// A test.\n#[ignore]\npub fn f() {}\n";
    let planted = [
        (function(81), "this function has too many lines (81/80)"),
        (tangled(), "the function has a cognitive complexity of"),
        (unsafe_block.into(), "usage of an `unsafe` block"),
        (stub("todo"), "`todo` should not be present"),
        (
            stub("unimplemented"),
            "`unimplemented` should not be present",
        ),
        (ignored.into(), "`#[ignore]` without reason"),
    ];
    for (source, expected) in planted {
        let said = clippy(&Repository::clean(), &source);
        assert!(said.contains(expected), "{expected:?} is not in:\n{said}");
    }
}

#[test]
#[ignore = "needs clippy, which make lint installs"]
fn with_lint_tools_module_files_have_one_way() {
    let repository = Repository::clean();
    repository.write("crates/lanes/src/inner/mod.rs", "//! A module.\n");
    let said = clippy(&repository, "mod inner;\n");
    assert!(said.contains("`mod.rs` files are not allowed"), "{said}");
}
