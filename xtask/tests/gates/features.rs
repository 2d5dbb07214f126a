//! `check features` notices that the prover changes features of the command's crates.

use crate::repository::Repository;

fn repository() -> Repository {
    let repository = Repository::clean();
    let features = "[features]\nwide = []\nwider = [\"wide\"]\n";
    repository.append("crates/lanes/Cargo.toml", features);
    repository.add_crate("proofs", &["lanes"], "");
    repository
}

/// Makes a crate ask for features of another one, which it may depend on already.
fn ask(repository: &Repository, crate_: &str, features: &str) {
    ask_in(
        repository,
        crate_,
        features,
        "sealstone-lanes",
        "dependencies",
    );
}

fn ask_in(repository: &Repository, crate_: &str, features: &str, package: &str, table: &str) {
    let name = format!("crates/{crate_}/Cargo.toml");
    let manifest = repository.read(&name);
    let lines = manifest.lines().filter(|line| !line.starts_with(package));
    let kept: String = lines.map(|line| format!("{line}\n")).collect();
    let directory = package.trim_start_matches("sealstone-");
    let entry = format!("[{table}.{package}]\npath = \"../{directory}\"\nfeatures = {features}\n");
    repository.write(&name, &(kept + &entry));
}

#[test]
fn clean_tree_passes() {
    let told = repository().passes("features");
    let expected = "4 packages of sealstone-cli, alone and with sealstone-proofs, 0 violations";
    assert!(told.contains(expected), "{told}");
}

#[test]
fn a_feature_that_only_the_prover_asks_for() {
    let repository = repository();
    ask(&repository, "proofs", "[\"wide\"]");
    let difference = "has the features none in the command, and wide where sealstone-proofs";
    repository.refuses(
        "features",
        &["sealstone-lanes v0.1.0", difference, "1 violations"],
    );
}

#[test]
fn one_more_feature() {
    let repository = repository();
    ask(&repository, "skein", "[\"wide\"]");
    ask(&repository, "proofs", "[\"wider\"]");
    let difference = "has the features wide in the command, and wide,wider where";
    repository.refuses("features", &[difference, "1 violations"]);
}

#[test]
fn a_feature_that_both_ask_for_passes() {
    let repository = repository();
    ask(&repository, "skein", "[\"wide\"]");
    ask(&repository, "proofs", "[\"wide\"]");
    repository.passes("features");
}

#[test]
fn a_feature_that_only_tests_of_the_prover_ask_for_passes() {
    let repository = repository();
    ask_in(
        &repository,
        "proofs",
        "[\"wide\"]",
        "sealstone-lanes",
        "dev-dependencies",
    );
    repository.passes("features");
}

#[test]
fn a_package_that_only_the_prover_has_passes() {
    let repository = repository();
    repository.add_crate("argon2", &[], "");
    repository.append("crates/argon2/Cargo.toml", "[features]\nwide = []\n");
    ask_in(
        &repository,
        "proofs",
        "[\"wide\"]",
        "sealstone-argon2",
        "dependencies",
    );
    repository.passes("features");
}

#[test]
fn a_repository_without_a_command() {
    let repository = repository();
    let other = "[package]\nname = \"other\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    repository.write("crates/cli/Cargo.toml", other);
    repository.refuses("features", &["cargo tree failed"]);
}
