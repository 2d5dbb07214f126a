//! `cargo xtask test` names the skipped tests at the end, and a failure stays one.

use crate::repository::{Repository, refuses};

const CARGO: &str = r#"#!/usr/bin/env bash
[[ $* == "test --workspace --no-fail-fast --locked -- --show-output" ]] || exit 2
cat <<END
test a::passes ... ok
test a::lacks ... ok
test a::fails ... FAILED

successes:

---- a::passes stdout ----
chatter

---- a::lacks stdout ----
skipped: no vectors


successes:
    a::passes
    a::lacks

failures:

---- a::fails stdout ----
it failed because

test result: FAILED. 2 passed; 1 failed
END
exit 101
"#;

#[test]
fn skipped_tests_are_told_at_the_end_and_a_failure_stays_one() {
    let repository = Repository::empty();
    repository.program("cargo", CARGO);
    let mut command = repository.xtask(&["test", "--locked"]);
    let expected = [
        "test a::passes ... ok\n",
        "it failed because",
        "\n1 tests were skipped:\n  a::lacks: no vectors\n",
    ];
    let told = refuses(command.env("PATH", repository.bin()), &expected);
    assert!(
        !told.contains("chatter") && told.ends_with("no vectors\n"),
        "{told}"
    );
}

#[test]
fn passing_tests_pass() {
    let repository = Repository::empty();
    repository.program("cargo", &CARGO.replace("exit 101", "exit 0"));
    let mut command = repository.xtask(&["test", "--locked"]);
    crate::repository::passes(command.env("PATH", repository.bin()));
}
