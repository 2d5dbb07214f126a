//! The README's commands, in order, with an empty home.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::process::Output;

use crate::world::{PASSPHRASE, PROFILE, World};

const README: &str = include_str!("../../../../README.md");

/// Commands that install or need the network. They have separate tests.
const ELSEWHERE: [&str; 2] = ["cd sealstone", "make "];

/// Options instead of answers to prompts, and low costs of key derivations.
const SHELL: &str = r#"
sealstone() {
    case "$1 $2" in
    "passport new") set -- "$@" "$PROFILE" ;;
    "passport restore") set -- "$@" "$PROFILE" --label me --words-file words ;;
    "passport backup") set -- "$@" --force ;;
    "trust approve" | "trust sign") set -- "$@" --yes ;;
    "password calibrate") set -- "${@/#500/20}" && set -- "${@/#1GiB/16MiB}" ;;
    "password hash") set -- "$@" --memory-kib 64 --iterations 1 ;;
    "seal -p") set -- "$@" "$PROFILE" --recipient-passphrase-file passphrase ;;
    esac
    command sealstone "$@"
}
"#;

/// What a command needs that no earlier command of the README makes: files of the reader and of
/// other people. Nothing is removed, so that the reader can enter the commands in order.
const BEFORE: [(&str, &str); 8] = [
    (
        "sealstone seal -r bob.pub --from alice.passport",
        "echo report > report.pdf",
    ),
    (
        "sealstone passport restore",
        "command sealstone passport backup --force > words",
    ),
    ("sealstone seal letter.pdf", "echo letter > letter.pdf"),
    (
        "sealstone seal -r bob.pub -r carol.pub",
        "for who in carol mallory; do \
         command sealstone passport new -q -o $who.passport --label $who \"$PROFILE\"; done",
    ),
    (
        "sealstone seal plan.txt notes.txt",
        "echo 1 > plan.txt; echo 2 > notes.txt",
    ),
    (
        "sealstone seal photos",
        "mkdir -p photos/2026; echo sun > photos/2026/sun.jpg",
    ),
    (
        "sealstone edit plan.txt.sealed",
        "export EDITOR='echo more >>'",
    ),
    (
        "sealstone sign --policy",
        "mkdir release; echo 1 > release/1; echo '{\"use\": \"any\"}' > terms.json",
    ),
];

/// The commands of all console blocks.
fn commands(readme: &str) -> Vec<&str> {
    let mut is_console = false;
    let mut commands = Vec::new();
    for line in readme.lines() {
        if line.starts_with("```") {
            is_console = line == "```console";
        } else if is_console && let Some(command) = line.strip_prefix("$ ") {
            commands.push(command);
        }
    }
    commands
}

/// Runs the commands of `readme` one after the other. The error names the failing one and its
/// output.
fn run(readme: &str) -> Result<usize, String> {
    let world = World::empty();
    world.write("a.iso", b"an image");
    DirBuilder::new()
        .mode(0o700)
        .create(world.path("run"))
        .unwrap();
    let commands: Vec<_> = commands(readme)
        .into_iter()
        .filter(|command| ELSEWHERE.iter().all(|other| !command.starts_with(other)))
        .collect();
    for command in &commands {
        let output = run_one(&world, command);
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!("$ {command}\n{}\n{said}", output.status));
        }
    }
    Ok(commands.len())
}

fn run_one(world: &World, command: &str) -> Output {
    let before = BEFORE
        .iter()
        .filter(|(start, _)| command.starts_with(start));
    let before: String = before.map(|(_, line)| format!("{line}\n")).collect();
    // A line of a pipe fails if any of its commands does.
    let script = format!("set -e\n{SHELL}{before}set -o pipefail\n{command}");
    let mut bash = world.bash(&script);
    bash.env("PROFILE", PROFILE).env("USER", "tester");
    bash.env("XDG_RUNTIME_DIR", world.path("run"));
    bash.env("SEALSTONE_PASSPHRASE", PASSPHRASE);
    bash.output().unwrap()
}

#[test]
fn every_command_of_the_readme_works_on_an_empty_home() {
    let ran = run(README).unwrap_or_else(|failed| panic!("{failed}"));
    assert!(ran > 30, "only {ran} commands were found");
}

#[test]
fn a_wrong_command_is_noticed() {
    for planted in [
        "$ sealstone seal --no-such-option report.pdf",
        "$ sealstone seal missing.pdf             # a comment",
        "$ sealstone unknown",
        "$ cat missing | sealstone hash",
        // The output of the command before is there.
        "$ sealstone seal -p a.iso && sealstone seal -p a.iso",
    ] {
        let readme = format!("```console\n$ sealstone hash a.iso\n{planted}\n```\n");
        let failed = run(&readme).unwrap_err();
        assert!(failed.starts_with(planted), "{failed}");
    }
    for right in ["sealstone hash a.iso", "sealstone seal -p a.iso"] {
        assert_eq!(run(&format!("```console\n$ {right}\n```")), Ok(1));
    }
    assert_eq!(run("```sh\n$ sealstone unknown\n```"), Ok(0));
}
