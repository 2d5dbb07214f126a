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
    "passport restore")
        rm -f "$XDG_DATA_HOME"/sealstone/default.*
        set -- "$@" "$PROFILE" --label me --words-file words
        ;;
    "passport backup") set -- "$@" --force ;;
    "trust approve" | "trust sign") set -- "$@" --yes ;;
    "password calibrate") set -- "${@/#500/20}" && set -- "${@/#1GiB/16MiB}" ;;
    "password hash") set -- "$@" --memory-kib 64 --iterations 1 ;;
    "seal -p") set -- "$@" "$PROFILE" --recipient-passphrase-file passphrase ;;
    esac
    command sealstone "$@"
}
"#;

/// The files that a command needs and that no earlier command makes.
const BEFORE: [(&str, &str); 13] = [
    (
        "sealstone passport new -o alice.passport",
        "echo report > report.pdf; for who in Bob carol mallory; do \
         command sealstone passport new -q -o ${who,}.passport --label $who \"$PROFILE\"; done",
    ),
    (
        "sealstone open -i bob.passport report.pdf.sealed",
        "rm report.pdf",
    ),
    (
        "sealstone passport restore",
        "command sealstone passport backup --force > words",
    ),
    (
        "sealstone seal ",
        "rm -f report.pdf.sealed; command sealstone trust approve -q --yes bob.pub",
    ),
    (
        "sealstone seal --to Bob plan.txt",
        "echo 1 > plan.txt; echo 2 > notes.txt",
    ),
    (
        "sealstone seal photos",
        "mkdir -p photos/2026; echo sun > photos/2026/sun.jpg",
    ),
    (
        "sealstone open report.pdf.sealed",
        "rm -f report.pdf.sealed; command sealstone seal -q report.pdf; rm report.pdf",
    ),
    (
        "sealstone reseal --to Bob",
        "rm -f report.pdf.sealed; echo report > report.pdf; command sealstone seal -q report.pdf",
    ),
    (
        "sealstone edit plan.txt.sealed",
        "rm -f plan.txt.sealed; command sealstone seal -q plan.txt; export EDITOR='echo more >>'",
    ),
    (
        "sealstone verify --signer alice.pub",
        "command sealstone sign --force --from alice.passport report.pdf",
    ),
    (
        "sealstone sign --policy",
        "mkdir release; echo 1 > release/1; echo '{\"use\": \"any\"}' > terms.json",
    ),
    (
        "sealstone trust deny mallory",
        "for who in mallory carol; do command sealstone trust approve -q --yes $who.pub; done",
    ),
    (
        "sealstone password verify",
        "command sealstone password hash --memory-kib 64 --iterations 1 > stored.txt",
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
    ] {
        let readme = format!("```console\n$ sealstone hash a.iso\n{planted}\n```\n");
        let failed = run(&readme).unwrap_err();
        assert!(failed.starts_with(planted), "{failed}");
    }
    assert_eq!(run("```console\n$ sealstone hash a.iso\n```"), Ok(1));
    assert_eq!(run("```sh\n$ sealstone unknown\n```"), Ok(0));
}
