//! `check shell` fails on a shell program that shellcheck objects to.

use crate::repository::Repository;

#[test]
#[ignore = "needs shellcheck, which make lint installs"]
fn with_lint_tools_unquoted_variable() {
    let repository = Repository::clean();
    repository.write("good", "#!/bin/sh\nrm -r \"$1\"\n");
    repository.passes("shell");
    repository.write("bad", "#!/usr/bin/env bash\nrm -r $1\n");
    repository.refuses("shell", &["bad:2:", "SC2086"]);
}

#[test]
fn no_programs_is_no_pass() {
    Repository::clean().refuses("shell", &["no shell programs found"]);
}
