//! `seal --to` completes approved contacts in real shells.

use std::fs;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process};

use crate::world::{World, succeed};

/// Alice is approved, and Bob under this label.
fn world_with(label: &str) -> World {
    let world = World::new();
    world.done(&[
        "trust", "approve", "-q", "--yes", "bob.pub", "--label", label,
    ]);
    world
}

/// The script for a shell, in a file.
fn script(world: &World, shell: &str) -> String {
    let name = format!("completions.{shell}");
    world.write(&name, &world.done(&["completions", shell]));
    name
}

fn is_missing(shell: &str) -> bool {
    let is_missing = Command::new(shell).arg("--version").output().is_err();
    if is_missing {
        println!("skipped: {shell} is not installed");
    }
    is_missing
}

/// Completions by bash of the last word of a line, sorted.
fn bash(world: &World, line: &str) -> String {
    let script = script(world, "bash");
    let complete = format!(
        ". ./{script}; COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}; \
         COMP_WORDS=($COMP_LINE ''); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
         [[ $(complete -p sealstone) == *_sealstone_with_contacts* ]] || exit 9; \
         _sealstone_with_contacts sealstone '' ''; printf '%s\\n' \"${{COMPREPLY[@]}}\" | sort"
    );
    String::from_utf8(succeed(&mut world.bash(&complete))).unwrap()
}

#[test]
fn only_approved_contacts_are_listed() {
    let world = World::new();
    assert_eq!(world.done(&["contacts"]), b"alice\n");
    assert_eq!(World::empty().done(&["contacts"]), b"");
}

#[test]
fn contacts_are_no_verb_for_people() {
    let world = World::empty();
    world.done(&["man", "-q", "man"]);
    assert!(!fs::exists(world.path("man/sealstone-contacts.1")).unwrap());
    let help = String::from_utf8(world.done(&["--help"])).unwrap();
    assert!(!help.contains("contacts, one per line"), "{help}");
}

#[test]
fn bash_completes_contacts() {
    let world = world_with("Bert Smith");
    assert_eq!(
        bash(&world, "sealstone seal --to "),
        "Bert\\ Smith\nalice\n"
    );
    assert_eq!(
        bash(&world, "sealstone -q seal plan.txt --to al"),
        "alice\n"
    );
    assert_eq!(bash(&world, "sealstone seal --to=al"), "alice\n");
    assert_eq!(bash(&world, "sealstone seal --to Be"), "Bert\\ Smith\n");
    assert_eq!(bash(&world, "sealstone reseal in --to al"), "alice\n");
    assert_eq!(bash(&world, "sealstone reseal --to=al"), "alice\n");
    let other = bash(&world, "sealstone tru");
    assert!(!other.contains("alice"), "{other}");
}

#[test]
fn bash_replaces_what_follows_the_at_sign() {
    let world = world_with("bert@example.org");
    assert_eq!(bash(&world, "sealstone seal --to be"), "bert@example.org\n");
    assert_eq!(bash(&world, "sealstone seal --to bert@ex"), "example.org\n");
}

/// fish and zsh need not be installed: `reseal` completes as `seal` does.
#[test]
fn contacts_follow_both_verbs_that_seal() {
    let world = World::empty();
    for (shell, option, contacts) in [
        ("fish", "seal\" -l to ", "sealstone contacts"),
        ("zsh", "'*--to=[", ":_sealstone_contacts'"),
    ] {
        let script = String::from_utf8(world.done(&["completions", shell])).unwrap();
        let lines = || script.lines().filter(|line| line.contains(option));
        assert_eq!(lines().count(), 2, "{shell}");
        assert!(lines().all(|line| line.contains(contacts)), "{shell}");
    }
}

#[test]
fn fish_completes_contacts() {
    if is_missing("fish") {
        return;
    }
    let world = world_with("Bert Smith");
    let script = script(&world, "fish");
    let complete = |line: &str| {
        let words = format!("fish -c 'source {script}; complete -C \"{line}\"'");
        let shown = String::from_utf8(succeed(&mut world.bash(&words))).unwrap();
        // After a tab, fish describes the option.
        let words = shown.lines().map(|line| line.split('\t').next().unwrap());
        words.map(|word| format!("{word}\n")).collect::<String>()
    };
    assert_eq!(complete("sealstone seal --to "), "alice\nBert Smith\n");
    assert_eq!(complete("sealstone seal --to al"), "alice\n");
    assert_eq!(complete("sealstone reseal --to al"), "alice\n");
    let other = complete("sealstone trust approve --");
    assert!(
        other.contains("--label") && !other.contains("alice"),
        "{other}"
    );
}

/// zsh completes at a terminal only.
#[test]
fn zsh_completes_contacts() {
    if is_missing("zsh") {
        return;
    }
    let world = world_with("Bert Smith");
    let functions = world.path("functions");
    fs::create_dir(&functions).unwrap();
    fs::write(
        functions.join("_sealstone"),
        world.done(&["completions", "zsh"]),
    )
    .unwrap();
    let mut zsh = Zsh::start(&world);
    let mut keyboard = zsh.terminal.stdin.take().unwrap();
    writeln!(keyboard, "PS1='ready> '; fpath=(./functions $fpath)").unwrap();
    writeln!(
        keyboard,
        "autoload -U compinit; compinit -u -D; print loa''ded"
    )
    .unwrap();
    wait_for(&world, "loaded");
    write!(keyboard, "\x15sealstone seal --to al\t").unwrap();
    wait_for(&world, "seal --to alice");
    write!(keyboard, "\x15sealstone seal --to Be\t").unwrap();
    wait_for(&world, "seal --to Bert\\ Smith");
    write!(keyboard, "\x15sealstone reseal --to Be\t").unwrap();
    wait_for(&world, "reseal --to Bert\\ Smith");
    writeln!(keyboard, "\x15exit").unwrap();
    drop(keyboard);
    assert!(zsh.terminal.wait().unwrap().success());
}

/// A failing test leaves no process behind.
#[test]
fn zsh_ends_with_its_test() {
    if is_missing("zsh") {
        return;
    }
    let zsh = Zsh::start(&World::new());
    let pid = zsh.pid;
    test_kill_process(pid).unwrap();
    drop(zsh);
    assert_eq!(test_kill_process(pid), Err(Errno::SRCH));
}

/// An interactive zsh at its own terminal. The file `screen` has its output.
struct Zsh {
    /// The program that owns the terminal.
    terminal: Child,
    pid: Pid,
}

impl Zsh {
    fn start(world: &World) -> Self {
        let terminal = world
            .bash("TERM=dumb script -qec 'echo pid=$$.; exec zsh -f -i' /dev/null > screen 2>&1")
            .stdin(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        wait_for(world, ".");
        let screen = fs::read_to_string(world.path("screen")).unwrap();
        let (_, pid) = screen.split_once("pid=").unwrap();
        let (pid, _) = pid.split_once('.').unwrap();
        let pid = Pid::from_raw(pid.parse().unwrap()).unwrap();
        Self { terminal, pid }
    }
}

impl Drop for Zsh {
    /// The shell has its own session, so it does not end with the test.
    fn drop(&mut self) {
        if matches!(self.terminal.try_wait(), Ok(Some(_))) {
            return;
        }
        // Errors are ignored: the process may have ended.
        let _ = kill_process_group(self.pid, Signal::KILL);
        // The program that owns the terminal ends when its shell has ended.
        let _ = self.terminal.wait();
    }
}

fn wait_for(world: &World, text: &str) {
    let start = Instant::now();
    let screen = || fs::read(world.path("screen")).unwrap_or_default();
    let screen = || String::from_utf8_lossy(&screen()).into_owned();
    while !screen().contains(text) {
        let elapsed = start.elapsed();
        assert!(
            elapsed < Duration::from_secs(30),
            "no {text:?}: {}",
            screen()
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}
