//! The image of deploy/Dockerfile, if a container engine exists.

use std::path::Path;
use std::process::{Command, Output};

/// The output of `docker` or `podman`.
fn engine(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let run = |program| {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&root).output()
    };
    let done = run("docker").or_else(|_| run("podman"));
    done.expect("docker or podman")
}

#[test]
#[ignore = "builds an image for many minutes: needs docker or podman, and the network"]
fn the_image_is_built_and_runs() {
    const NAME: &str = "sealstone-server-test";
    let built = engine(&["build", "-f", "deploy/Dockerfile", "-t", NAME, "."]);
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{said}");
    let ran = engine(&["run", "--rm", NAME, "--version"]);
    let said = String::from_utf8_lossy(&ran.stdout);
    let version = concat!("sealstone-server ", env!("CARGO_PKG_VERSION"));
    assert_eq!(said.trim(), version);
}
