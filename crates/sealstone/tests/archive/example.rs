//! The worked example of `spec/archive.md`, and other programs that read tar files.

use std::path::{Path, PathBuf};
use std::process::Command;

use data_encoding::HEXLOWER;
use sealstone_primitives::hash::sha3_256;

use crate::common::{Memory, sample};

const PAGE: &str = include_str!("../../../../spec/archive.md");

/// A value of the page. A line that begins with spaces continues the value before it.
fn value(name: &str) -> String {
    let (_, section) = PAGE.split_once("## Worked example").unwrap();
    let block = section.split("```").nth(1).unwrap();
    let (_, rest) = block.split_once(&format!("{name:10} = ")).unwrap();
    let mut lines = rest.lines();
    let mut value = lines.next().unwrap().to_owned();
    lines
        .take_while(|line| line.starts_with(' '))
        .for_each(|line| value += line.trim());
    value
}

fn example() -> Vec<u8> {
    let mut memory = Memory::default()
        .directory("d")
        .file("d/ä", b"")
        .sparse("hole", 1 << 20, &[((1 << 20) - 1, 1)], b"\x01")
        .link("to", "d/ä");
    memory.0[1].0.mode = 0o600;
    memory.archive()
}

#[test]
fn the_archive_of_the_page_is_what_we_write() {
    let archive = example();
    let (tar, rest) = archive.split_at(value("tar length").parse().unwrap());
    assert_eq!(HEXLOWER.encode(&sha3_256(tar)), value("SHA3-256"));
    assert_eq!(HEXLOWER.encode(rest), value("the rest"));
}

/// Writes the sample and runs a program on it. `None` if the program is missing.
fn run(name: &str, program: &str, arguments: &[&str]) -> Option<String> {
    let path =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.tar", std::process::id()));
    std::fs::write(&path, sample().archive()).unwrap();
    let output = Command::new(program).args(arguments).arg(&path).output();
    std::fs::remove_file(path).unwrap();
    let Ok(output) = output else {
        println!("skipped: {program} is not installed");
        return None;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && said.is_empty(),
        "{program}: {said}"
    );
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn a_second_implementation_reads_the_same() {
    let script: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests/interop/archive.py"]
        .iter()
        .collect();
    let listed = run(
        "python",
        "python3",
        &["-B", script.to_str().unwrap(), "read"],
    );
    if let Some(listed) = listed {
        assert_eq!(listed.lines().count(), sample().0.len());
    }
}

#[test]
fn tar_lists_it_without_a_word() {
    if let Some(listed) = run("tar", "tar", &["--quoting-style=escape", "-tf"]) {
        assert_eq!(listed.lines().count(), sample().0.len());
    }
}
