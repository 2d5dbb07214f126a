//! `check tree` keeps stray documents, build residue and loose ends out.

use crate::repository::Repository;
use std::os::unix::fs::symlink;

const LIBRARY: &str = "crates/skein/src/lib.rs";

/// A file is refused, for this.
fn refused(name: &str, text: &str, expected: &str) {
    let repository = Repository::clean();
    repository.write(name, text);
    repository.refuses("tree", &[expected]);
}

/// A line at the end of a source is refused, for this.
fn refused_line(line: &str, expected: &str) {
    let repository = Repository::clean();
    repository.append(LIBRARY, &format!("{line}\n"));
    let number = repository.lines(LIBRARY);
    repository.refuses("tree", &[&format!("{LIBRARY}:{number}: {expected}")]);
}

#[test]
fn clean_tree_passes() {
    let told = Repository::clean().passes("tree");
    assert!(told.contains("0 violations"), "{told}");
}

#[test]
fn status_report_at_the_root() {
    refused(
        "STATUS.md",
        "all done\n",
        "STATUS.md:1: no document of the design",
    );
}

#[test]
fn document_without_suffix() {
    refused(
        "CERTIFICATE",
        "certified\n",
        "CERTIFICATE:1: no document of the design",
    );
}

#[test]
fn document_below_the_root_passes() {
    let repository = Repository::clean();
    repository.write("spec/file.md", "# File\n");
    repository.passes("tree");
}

#[test]
fn missing_document() {
    let repository = Repository::clean();
    repository.remove("SECURITY.md");
    repository.refuses("tree", &["SECURITY.md:1: missing"]);
}

#[test]
fn committed_build_residue() {
    let repository = Repository::clean();
    repository.write("target/debug/x", "");
    repository.git(&["add", "--force", "target/debug/x"]);
    repository.refuses(
        "tree",
        &["target/debug/x:1: committed, though .gitignore names it"],
    );
}

#[test]
fn only_links_of_golden_packages_pass() {
    let repository = Repository::clean();
    let golden = "crates/sealstone/tests/golden";
    let others = [
        "spec/tools",
        "crates/sealstone/tests/link",
        &format!("{golden}s/link"),
    ];
    for name in others
        .into_iter()
        .chain([format!("{golden}/package/link").as_str()])
    {
        let (parent, _) = name.rsplit_once('/').unwrap();
        repository.write(&format!("{parent}/x"), "");
        symlink("target", repository.path(name)).unwrap();
        repository.git(&["add", name]);
    }
    let findings = others.map(|name| format!("{name}:1: a symbolic link"));
    let told = repository.refuses("tree", &findings.each_ref().map(String::as_str));
    assert!(!told.contains("golden/"), "{told}");
}

#[test]
fn loose_end() {
    refused_line("// TODO: think", "a loose end");
    refused_line("// FIXME", "a loose end");
}

#[test]
fn swallowed_failure() {
    refused(
        "scripts/do",
        "#!/bin/sh\nfalse || true\n",
        "scripts/do:2: a failure that is swallowed",
    );
    refused(
        "scripts/do.sh",
        "a ||true; b\n",
        "scripts/do.sh:1: a failure that is swallowed",
    );
}

#[test]
fn swallowed_failure_in_the_makefile() {
    refused(
        "Makefile",
        "test:\n\tcargo test || :\n",
        "Makefile:2: a failure that is swallowed",
    );
}

#[test]
fn boolean_or_in_rust_passes() {
    let repository = Repository::clean();
    repository.append(LIBRARY, "fn f(a: bool) -> bool { a || true }\n");
    repository.write("scripts/do", "#!/bin/sh\na || truest\nb || :>file\n");
    repository.passes("tree");
}
