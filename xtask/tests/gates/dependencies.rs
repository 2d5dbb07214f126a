//! `check dependencies` refuses banned crates, licences and sources, and is honest about
//! advisories. Its tests need cargo-deny, which `make lint` installs.

use crate::repository::{Repository, passes, refuses};

const BANNED: &[&str] = &["bincode", "openssl-sys", "rsa", "sled"];

/// Makes `skein` depend on a crate of that name, outside the workspace's members.
fn depend_on(repository: &Repository, name: &str, lines: &str) {
    depend_from(
        repository,
        name,
        lines,
        &format!("path = \"../../outside/{name}\""),
    );
}

fn depend_from(repository: &Repository, name: &str, lines: &str, source: &str) {
    let manifest = format!("[package]\nname = \"{name}\"\nversion = \"1.0.0\"\n{lines}\n");
    repository.write(&format!("outside/{name}/Cargo.toml"), &manifest);
    repository.write(&format!("outside/{name}/src/lib.rs"), "");
    let dependency = format!("{name} = {{ version = \"1\", {source} }}\n");
    repository.append("crates/skein/Cargo.toml", &dependency);
}

fn refused(repository: &Repository, expected: &[&str]) {
    repository.refuses("dependencies", expected);
}

#[test]
#[ignore = "needs cargo-deny, which make lint installs"]
fn with_lint_tools_clean_tree_passes() {
    let told = Repository::clean().passes("dependencies");
    assert!(told.contains("bans ok, licenses ok, sources ok"), "{told}");
}

#[test]
#[ignore = "needs cargo-deny, which make lint installs"]
fn with_lint_tools_permissive_licence_passes() {
    let repository = Repository::clean();
    depend_on(&repository, "fine", "license = \"ISC\"");
    repository.passes("dependencies");
}

#[test]
#[ignore = "needs cargo-deny, which make lint installs"]
fn with_lint_tools_banned_crates() {
    let repository = Repository::clean();
    BANNED
        .iter()
        .for_each(|name| depend_on(&repository, name, "license = \"MIT\""));
    let banned = BANNED
        .iter()
        .map(|name| format!("crate '{name} = 1.0.0' is explicitly banned"));
    let banned: Vec<String> = banned.collect();
    refused(&repository, &["bans FAILED"]);
    refused(
        &repository,
        &banned.iter().map(String::as_str).collect::<Vec<_>>(),
    );
}

#[test]
#[ignore = "needs cargo-deny, which make lint installs"]
fn with_lint_tools_only_primitives_depends_on_aws_lc() {
    let repository = Repository::clean();
    depend_on(&repository, "aws-lc-sys", "license = \"MIT\"");
    refused(&repository, &["bans FAILED", "aws-lc-sys"]);
}

#[test]
#[ignore = "needs cargo-deny, which make lint installs"]
fn with_lint_tools_copyleft_licence() {
    let repository = Repository::clean();
    depend_on(&repository, "free", "license = \"GPL-3.0-only\"");
    refused(&repository, &["GPL-3.0-only", "licenses FAILED"]);
}

#[test]
#[ignore = "needs cargo-deny, which make lint installs"]
fn with_lint_tools_no_licence() {
    let repository = Repository::clean();
    depend_on(&repository, "nothing", "");
    refused(&repository, &["error[unlicensed]", "licenses FAILED"]);
}

#[test]
#[ignore = "needs cargo-deny, which make lint installs"]
fn with_lint_tools_unknown_source() {
    let repository = Repository::clean();
    let elsewhere = repository.path("outside/elsewhere").display().to_string();
    let source = format!("git = \"file://{elsewhere}\"");
    depend_from(
        &repository,
        "elsewhere",
        "license = \"MIT\"\n[workspace]",
        &source,
    );
    repository.git(&["init", "--quiet", &elsewhere]);
    repository.git(&["-C", &elsewhere, "add", "."]);
    let me = ["-c", "user.name=a", "-c", "user.email=a@b"];
    repository.git(&[&["-C", &elsewhere], &me[..], &["commit", "-qm", "a"]].concat());
    refused(
        &repository,
        &["error[source-not-allowed]", "sources FAILED"],
    );
}

#[test]
#[ignore = "needs cargo-deny, which make lint installs"]
fn with_lint_tools_advisories_that_cannot_be_had_are_not_claimed() {
    let repository = Repository::clean();
    // Fetching fails at once, whatever the machine can reach.
    repository.program("git", "#!/bin/sh\nexit 1\n");
    // Another process is fetching a copy.
    repository.write(
        "empty/advisory-dbs/half/.git/HEAD",
        "ref: refs/heads/main\n",
    );
    let check = || {
        let mut command = repository.xtask(&["check", "dependencies"]);
        command
            .env("CARGO_HOME", repository.path("empty"))
            .env("PATH", repository.bin());
        command.env_remove("SEALSTONE_ADVISORIES");
        command
    };
    let told = passes(&mut check());
    assert!(told.contains("advisories NOT CHECKED"), "{told}");
    let mut required = check();
    required.env("SEALSTONE_ADVISORIES", "require");
    refuses(&mut required, &["advisories are required"]);
}
