//! `check layers` refuses every planted arrow and `unsafe`.

use crate::repository::{DENY, FORBID, Repository, dependency, lints};

const WIRE: &str = "crates/sealstone/src/wire.rs";
const ERROR: &str = "crates/sealstone/src/error.rs";
const LIBRARY: &str = "crates/sealstone/src/lib.rs";
const SKEIN: &str = "crates/skein/Cargo.toml";

fn refused(repository: &Repository, expected: &[&str]) {
    repository.refuses("layers", expected);
}

#[test]
fn clean_tree_passes() {
    let told = Repository::clean().passes("layers");
    assert!(told.contains("4 crates, 8 files, 0 violations"), "{told}");
}

#[test]
fn no_crates_is_no_pass() {
    let repository = Repository::clean();
    repository.write("Cargo.toml", "[workspace]\nmembers = []\n");
    refused(&repository, &["no crate found"]);
}

#[test]
fn a_file_that_is_no_rust_is_no_pass() {
    let repository = Repository::clean();
    repository.append(WIRE, "fn f(\n");
    refused(&repository, &[&format!("{WIRE}: no Rust")]);
}

#[test]
fn dependency_upwards() {
    let repository = Repository::clean();
    let manifest = "crates/lanes/Cargo.toml";
    repository.append(manifest, &dependency("skein"));
    let line = repository.lines(manifest);
    let arrow = "crates/lanes (words) -> crates/skein (kernels) points upwards";
    refused(&repository, &[&format!("{manifest}:{line}: {arrow}")]);
}

#[test]
fn dependency_sideways() {
    let repository = Repository::clean();
    repository.add_crate("argon2", &["skein"], DENY);
    let arrow = "crates/argon2 (kernels) -> crates/skein (kernels) points sideways";
    refused(
        &repository,
        &[&format!("crates/argon2/Cargo.toml:10: {arrow}")],
    );
}

#[test]
fn dev_dependency_upwards() {
    let repository = Repository::clean();
    repository.append(
        SKEIN,
        &format!("[dev-dependencies]\n{}", dependency("sealstone")),
    );
    let arrow = "crates/skein (kernels) -> crates/sealstone (products) points upwards";
    refused(&repository, &[&format!("{SKEIN}:12: {arrow}")]);
}

#[test]
fn dev_dependency_on_itself_passes() {
    let repository = Repository::clean();
    repository.append(
        SKEIN,
        &format!("[dev-dependencies]\n{}", dependency("skein")),
    );
    repository.passes("layers");
}

#[test]
fn renamed_dependency_upwards() {
    let repository = Repository::clean();
    let renamed = "other = { package = \"sealstone\", path = \"../sealstone\" }\n";
    repository.append(SKEIN, renamed);
    let line = format!("{SKEIN}:{}:", repository.lines(SKEIN));
    refused(
        &repository,
        &[&line, "crates/sealstone (products) points upwards"],
    );
}

#[test]
fn unknown_crate() {
    let repository = Repository::clean();
    repository.add_crate("extra", &[], FORBID);
    refused(&repository, &["crates/extra/Cargo.toml:1: unknown crate"]);
}

#[test]
fn checks_are_used_by_nobody() {
    let repository = Repository::clean();
    repository.add_crate("proofs", &[], FORBID);
    repository.append("crates/cli/Cargo.toml", &dependency("proofs"));
    refused(
        &repository,
        &["crates/cli (apps) -> crates/proofs (checks) points upwards"],
    );
}

#[test]
fn a_crate_for_tests_is_a_dev_dependency_only() {
    let repository = Repository::clean();
    repository.add_crate("testing", &[], FORBID);
    repository.append(
        SKEIN,
        &format!("[dev-dependencies]\n{}", dependency("testing")),
    );
    repository.passes("layers");
    repository.append("crates/lanes/Cargo.toml", &dependency("testing"));
    refused(
        &repository,
        &["crates/testing is for tests only, a dev-dependency"],
    );
}

#[test]
fn other_workspaces_are_read() {
    let repository = Repository::clean();
    repository.add_crate_in(".", "bench", &[], "");
    repository.append("bench/Cargo.toml", "[workspace]\n");
    refused(
        &repository,
        &["bench/src/lib.rs:1: lacks #![forbid(unsafe_code)]"],
    );
}

#[test]
fn unsafe_let_in_outside_its_places() {
    let repository = Repository::clean();
    for level in ["allow", "expect", "warn"] {
        for lints in ["unsafe_code", "missing_docs, unsafe_code"] {
            let source = format!("\n#![{level}({lints})]\n");
            repository.write("crates/skein/tests/all.rs", &source);
            refused(
                &repository,
                &["crates/skein/tests/all.rs:2: unsafe outside"],
            );
        }
    }
}

#[test]
fn a_workspace_outside_without_a_lint() {
    let repository = Repository::clean();
    let manifest = "fuzz/Cargo.toml";
    repository.add_crate_in(".", "fuzz", &[], FORBID);
    let crate_alone = format!("{}\n[workspace]\n", repository.read(manifest));
    let lints = lints().replace("[workspace.lints.", "[lints.");
    repository.write(manifest, &format!("{crate_alone}{lints}"));
    repository.passes("layers");
    // One is missing, and one has another level.
    let lints = lints.replace("todo = \"warn\"\n", "");
    let lints = lints.replace("unsafe_code = \"deny\"", "unsafe_code = \"warn\"");
    repository.write(manifest, &format!("{crate_alone}{lints}"));
    let lacks = |table: &str, lint: &str| {
        format!("{manifest}:1: [lints.{table}] lacks the main workspace's {lint}")
    };
    let findings = [
        lacks("clippy", "todo = \"warn\""),
        lacks("rust", "unsafe_code = \"deny\""),
    ];
    refused(&repository, &findings.each_ref().map(String::as_str));
}

#[test]
fn a_crate_without_the_lints() {
    let repository = Repository::clean();
    repository.write(
        SKEIN,
        &repository.read(SKEIN).replace("workspace = true", ""),
    );
    refused(
        &repository,
        &[&format!("{SKEIN}:1: lacks the lints of the workspace")],
    );
}

#[test]
fn missing_forbid() {
    let repository = Repository::clean();
    for source in [
        "// #![forbid(unsafe_code)]\n",
        "mod a {\n    #![forbid(unsafe_code)]\n}\n",
    ] {
        repository.write(LIBRARY, source);
        refused(
            &repository,
            &[&format!("{LIBRARY}:1: lacks #![forbid(unsafe_code)]")],
        );
    }
}

#[test]
fn missing_forbid_in_a_program() {
    let repository = Repository::clean();
    let program = "crates/skein/src/bin/other.rs";
    repository.write(program, "fn main() {}\n");
    refused(
        &repository,
        &[&format!("{program}:1: lacks #![forbid(unsafe_code)]")],
    );
}

#[test]
fn deny_is_not_forbid() {
    let repository = Repository::clean();
    repository.write("crates/skein/src/lib.rs", DENY);
    refused(
        &repository,
        &["crates/skein/src/lib.rs:1: lacks #![forbid(unsafe_code)]"],
    );
}

#[test]
fn place_inside_a_crate() {
    let repository = Repository::clean();
    repository.add_crate("argon2", &["lanes"], &format!("{DENY}mod pages;\n"));
    let allowances = "#![allow(unsafe_code)]\nfn f() { unsafe {} }\n";
    repository.write("crates/argon2/src/pages/linux.rs", allowances);
    repository.passes("layers");
    repository.write("crates/argon2/src/other.rs", "#![allow(unsafe_code)]\n");
    refused(
        &repository,
        &["crates/argon2/src/other.rs:1: unsafe outside"],
    );
}

/// Appends a line to a file, and expects a finding there.
fn refused_line(name: &str, line: &str, expected: &str) {
    let repository = Repository::clean();
    repository.append(name, &format!("{line}\n"));
    let number = repository.lines(name);
    refused(&repository, &[&format!("{name}:{number}: {expected}")]);
}

#[test]
fn module_upwards() {
    let expected = "crate::passport: module wire -> passport is not an arrow downwards";
    refused_line(WIRE, "use crate::{error, passport::slot};", expected);
    refused_line(WIRE, "use crate::{error::{self}, passport};", expected);
    refused_line(WIRE, "fn f(p: &[crate::passport::Slot]) {}", expected);
    refused_line(
        WIRE,
        "fn f() { println!(\"{}\", crate::passport::new()) }",
        expected,
    );
}

#[test]
fn module_upwards_through_super() {
    let expected = "super::wire: module error -> wire is not an arrow downwards";
    refused_line(ERROR, "fn f() { super::wire::g() }", expected);
    refused_line(ERROR, "fn f() { self::super::wire::g() }", expected);
    refused_line(ERROR, "mod tests { use super::super::wire; }", expected);
}

#[test]
fn module_upwards_through_a_reexport() {
    let repository = Repository::clean();
    repository.append(LIBRARY, "pub use passport::{Other, Passport};\n");
    repository.append(WIRE, "fn f(p: crate::Passport) {}\n");
    let line = repository.lines(WIRE);
    let expected = format!("{WIRE}:{line}: crate::Passport: module wire -> passport");
    refused(&repository, &[&expected]);
}

#[test]
fn everything_from_the_root() {
    refused_line(
        WIRE,
        "use crate::*;",
        "crate::*: name the module that defines it",
    );
    refused_line(
        WIRE,
        "use super::*;",
        "super::*: name the module that defines it",
    );
}

#[test]
fn unknown_module() {
    let repository = Repository::clean();
    repository.write("crates/sealstone/src/extra.rs", FORBID);
    refused(
        &repository,
        &["crates/sealstone/src/extra.rs:1: unknown module extra"],
    );
}

#[test]
fn the_file_of_a_nested_module_is_no_other_module() {
    let repository = Repository::clean();
    repository.append(ERROR, "mod tests {\n    use super::wire;\n}\n");
    repository.passes("layers");
}

#[test]
fn visibility_is_no_use() {
    let repository = Repository::clean();
    repository.append(WIRE, "pub(in crate::passport) fn f() {}\n");
    repository.passes("layers");
}

const SLOT: &str = "crates/sealstone/src/passport/slot.rs";
const WORDS: &str = "crates/sealstone/src/passport/words.rs";
const KEYS: &str = "crates/sealstone/src/passport/keys.rs";

/// A clean repository with these files in the crate `skein`, which has no order of modules.
fn with_files(files: &[(&str, &str)]) -> Repository {
    let repository = Repository::clean();
    for (name, text) in files {
        repository.write(&format!("crates/skein/src/{name}"), text);
    }
    repository
}

#[test]
fn circle_of_two_files_by_an_inline_path() {
    let repository = with_files(&[
        ("a.rs", "use crate::b;\n"),
        ("b.rs", "\nfn f() { crate::a::g(&[crate::a::H]) }\n"),
    ]);
    let expected = "crates/skein/src/a.rs:1: a circle of files: a -> b -> a";
    refused(&repository, &[expected, "1 violations"]);
}

#[test]
fn circle_of_three_files_through_super() {
    let repository = Repository::clean();
    repository.append(SLOT, "use super::words::Words;\n");
    repository.write(WORDS, "use super::{super::error, keys};\n");
    repository.write(KEYS, "struct Keys(super::slot::Slot);\n");
    let circle = "passport::keys -> passport::slot -> passport::words -> passport::keys";
    let expected = format!("{KEYS}:1: a circle of files: {circle}");
    refused(&repository, &[&expected, "1 violations"]);
}

#[test]
fn circle_that_a_reexport_hides() {
    let names = [
        "pub use b::Name;",
        "use b::Other as Name;",
        "use b::inner::{self as Name};",
    ];
    for name in names {
        let repository = with_files(&[
            ("a.rs", &format!("mod b;\nmod c;\n{name}\n")),
            ("a/b.rs", "use super::c::f;\n"),
            ("a/c.rs", "fn f(name: super::Name) {}\n"),
        ]);
        let expected = "crates/skein/src/a/b.rs:1: a circle of files: a::b -> a::c -> a::b";
        refused(&repository, &[expected]);
    }
}

#[test]
fn circle_through_an_uncle() {
    let repository = with_files(&[
        ("a.rs", "mod c;\n"),
        ("a/c.rs", "use crate::b::B;\n"),
        ("b.rs", "use super::a::c::C;\n"),
    ]);
    refused(&repository, &["a circle of files: a::c -> b -> a::c"]);
}

/// One file of the circle uses the parent of another, which uses its child.
#[test]
fn circle_through_a_parent_that_uses_its_child() {
    for parent in ["use c::C;", "pub use self::c::C;", "fn f() { g(c::h()) }"] {
        let repository = with_files(&[
            ("a.rs", &format!("mod c;\n{parent}\n")),
            ("a/c.rs", "use crate::b::B;\n"),
            ("b.rs", "use super::a::A;\n"),
        ]);
        refused(
            &repository,
            &["crates/skein/src/a.rs:2: a circle of files: a -> a::c -> b -> a"],
        );
    }
}

#[test]
fn circle_through_a_child_that_uses_its_parent() {
    let repository = with_files(&[
        ("a.rs", "mod c;\nuse crate::b::B;\n"),
        ("a/c.rs", "use super::A;\n"),
        ("b.rs", "use crate::a::c::C;\n"),
    ]);
    let circle = "a -> b -> a::c -> a";
    let expected = format!("crates/skein/src/a.rs:2: a circle of files: {circle}");
    refused(&repository, &[&expected]);
}

#[test]
fn circle_that_a_star_hides() {
    let repository = with_files(&[
        ("a.rs", "mod b;\nmod c;\nuse b::Name;\n"),
        ("a/b.rs", "use super::c::f;\n"),
        ("a/c.rs", "use super::*;\n"),
    ]);
    refused(&repository, &["a circle of files: a::b -> a::c -> a::b"]);
}

#[test]
fn a_parent_and_its_children_may_form_a_circle() {
    let repository = with_files(&[
        ("a.rs", "mod x;\nmod y;\nuse x::X;\n"),
        ("a/x.rs", "use super::y::Y;\n"),
        ("a/y.rs", "use super::A;\nuse crate::b::B;\n"),
        ("b.rs", "struct B;\n"),
    ]);
    repository.passes("layers");
}

#[test]
fn circle_in_another_workspace() {
    let repository = Repository::clean();
    repository.add_crate_in(".", "python", &[], FORBID);
    repository.append("python/Cargo.toml", "[workspace]\n");
    repository.write("python/src/a.rs", "use crate::b::B;\n");
    repository.write("python/src/b.rs", "use crate::a::A;\n");
    refused(
        &repository,
        &["python/src/a.rs:1: a circle of files: a -> b -> a"],
    );
}

#[test]
fn a_parent_and_its_descendants_may_use_each_other() {
    let repository = with_files(&[
        ("a.rs", "mod b;\nuse b::{B, c::C};\npub struct A;\n"),
        ("a/b.rs", "pub mod c;\nuse super::A;\nuse self::c::C;\n"),
        ("a/b/c.rs", "use super::B;\nuse crate::a::A;\n"),
    ]);
    repository.passes("layers");
}

#[test]
fn a_chain_of_files_passes() {
    let repository = with_files(&[
        ("a.rs", "use crate::{b, c};\n"),
        ("b.rs", "use crate::c;\n"),
        ("c.rs", "// use crate::a;\n"),
    ]);
    repository.passes("layers");
}

#[test]
fn tests_may_use_any_file() {
    let repository = with_files(&[("a.rs", "use crate::b;\n"), ("b.rs", "")]);
    let file = "crates/skein/src/b.rs";
    let tests = "mod tests {\n    use crate::a;\n}\n";
    repository.write(file, &format!("#[cfg(test)]\n{tests}"));
    repository.passes("layers");
    for condition in ["", "#[cfg(not(test))]\n", "#[cfg(unix)]\n"] {
        repository.write(file, &format!("{condition}{tests}"));
        refused(&repository, &["a circle of files: a -> b -> a"]);
    }
}

#[test]
fn reexports_in_a_ring_end() {
    let repository = with_files(&[
        ("a.rs", "pub use crate::b::Name;\n"),
        ("b.rs", "pub use crate::a::Name;\n"),
    ]);
    refused(&repository, &["a circle of files: a -> b -> a"]);
}
