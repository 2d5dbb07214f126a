//! Pipes, named pipes, process substitution, devices.

use std::io::Write;
use std::process::Stdio;

use crate::world::{World, refuse, succeed};

/// More than two chunks, and more than any pipe holds.
const LEN: usize = 2_500_000;

fn content() -> Vec<u8> {
    (0..LEN).map(|i| (i % 251) as u8).collect()
}

/// A world with a signed file of more than two chunks.
fn with_big_file() -> World {
    let world = World::with_bob_approved();
    world.write("big", &content());
    world.done(&[
        "seal",
        "-q",
        "-r",
        "bob.pub",
        "--from",
        "alice.passport",
        "-o",
        "big.sealed",
        "big",
    ]);
    world
}

#[test]
fn content_goes_through_pipes() {
    let world = with_big_file();
    let line = "cat big | sealstone -q seal -r bob.pub --from alice.passport | cat | sealstone -q open -i bob.passport | cat";
    assert!(succeed(&mut world.bash(line)) == content());
}

#[test]
fn everything_can_be_a_process_substitution() {
    let world = with_big_file();
    let line = "sealstone -q seal -r <(cat bob.pub) --from <(cat alice.passport) --passphrase-file <(cat passphrase) -o - <(cat big) \
                | sealstone -q open -i <(cat bob.passport) --passphrase-fd 3 3< <(cat passphrase) --from <(cat alice.pub) -o - -";
    assert!(succeed(&mut world.bash(line)) == content());
}

#[test]
fn named_pipes_are_read_and_written() {
    let world = with_big_file();
    let line = "mkfifo in out; cat big > in & cat out > copied & \
                sealstone -q seal -r bob.pub --unsigned -o out in && wait && sealstone -q open -i bob.passport copied -o -";
    assert!(succeed(&mut world.bash(line)) == content());
}

#[test]
fn a_file_that_does_not_begin_at_its_beginning_is_opened() {
    let world = with_big_file();
    let line = "(echo 0123456789; cat big.sealed) > both; { read line; sealstone -q open -i bob.passport; } < both";
    assert!(succeed(&mut world.bash(line)) == content());
}

#[test]
fn a_full_device_fails_with_its_name() {
    let world = with_big_file();
    for line in [
        "sealstone seal -r bob.pub --unsigned -o /dev/full big",
        "sealstone open -i bob.passport -o /dev/full big.sealed",
        "sealstone seal -r bob.pub --unsigned -o - big > /dev/full",
        "sealstone inspect big.sealed > /dev/full",
    ] {
        let said = refuse(&mut world.bash(line), 3);
        assert!(said.contains("No space left on device"), "{line}: {said}");
    }
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let world = with_big_file();
    for command in [
        "seal -r bob.pub --unsigned -o - big",
        "open -i bob.passport -o - big.sealed",
        "open -i bob.passport < big.sealed",
        "--help",
    ] {
        // `true` does not read: bytes that do not fit in the pipe cannot be written.
        let line = format!("sealstone {command} 2>said | true; echo ${{PIPESTATUS[0]}}; cat said");
        let printed = String::from_utf8(succeed(&mut world.bash(&line))).unwrap();
        // Help fits in the pipe, and may have been written before `true` was gone.
        let allowed: &[&str] = if command == "--help" {
            &["0\n", "3\n"]
        } else {
            &["3\n"]
        };
        assert!(allowed.contains(&printed.as_str()), "{command}: {printed}");
    }
}

#[test]
fn a_closed_stream_is_neither_empty_nor_the_null_device() {
    let world = with_big_file();
    for command in [
        "seal -r bob.pub --unsigned -o - big",
        "open -i bob.passport -o - big.sealed",
        "open -i bob.passport < big.sealed",
        "inspect big.sealed",
        "inspect --json big.sealed",
        "hash big",
        "hash --json big",
        "trust list",
        "completions bash",
        "man",
        "--help",
        "--version",
    ] {
        let said = refuse(&mut world.bash(&format!("sealstone {command} >&-")), 3);
        let lines = said.matches("standard output is closed").count();
        assert_eq!(lines, 1, "{command}: {said}");
        for chosen in [">/dev/null", "1<>/dev/null"] {
            succeed(&mut world.bash(&format!("sealstone {command} {chosen}")));
        }
    }
    for (command, code) in [("seal -r bob.pub --unsigned -o out -", 3), ("hash", 1)] {
        let said = refuse(&mut world.bash(&format!("sealstone {command} <&-")), code);
        assert!(
            said.contains("standard input is closed"),
            "{command}: {said}"
        );
        assert!(!world.path("out").exists());
    }
    // A command that writes only files needs neither.
    succeed(&mut world.bash("sealstone seal -r bob.pub --unsigned -o out big <&- >&- 2>&-"));
    succeed(&mut world.bash("sealstone open -i bob.passport out -o back <&- >&- 2>&-"));
    assert!(world.read("back") == content());
}

#[test]
fn nothing_of_an_altered_signed_file_reaches_a_pipe() {
    let world = with_big_file();
    let mut altered = world.read("big.sealed");
    let last = altered.len() - 1;
    altered[last] ^= 1;
    world.write("altered.sealed", &altered);
    for line in [
        "sealstone open -i bob.passport altered.sealed -o -",
        "cat altered.sealed | sealstone open -i bob.passport",
        "head -c 2000000 big.sealed | sealstone open -i bob.passport",
        "(cat big.sealed; echo) | sealstone open -i bob.passport",
    ] {
        let said = refuse(&mut world.bash(line), 5);
        assert!(said.contains("altered or damaged"), "{line}: {said}");
    }
}

#[test]
fn a_file_that_is_cut_short_is_said_to_be() {
    let world = with_big_file();
    let len = world.read("big.sealed").len();
    for (kept, code, words) in [
        (0, 4, "standard input: not a sealed file: it is empty"),
        (3, 5, "standard input: the file is cut short"),
        (200, 5, "standard input: the file is cut short"),
        (2_000_000, 5, "or the file is cut short"),
        (len - 1, 5, "or the file is cut short"),
    ] {
        let line = format!("head -c {kept} big.sealed | sealstone open -i bob.passport");
        let said = refuse(&mut world.bash(&line), code);
        assert!(said.contains(words), "{kept}: {said}");
    }
    world.write("empty", b"");
    let said = world.refused(&["inspect", "empty"], 4);
    assert!(said.contains("it is empty"), "{said}");
}

#[test]
fn a_strangers_file_is_withheld_from_pipes_and_recorded() {
    let world = with_big_file();
    let stranger = "sealstone --trust-dir empty open -i bob.passport";
    refuse(&mut world.bash(&format!("cat big.sealed | {stranger}")), 6);
    let list = "sealstone --trust-dir empty trust list";
    assert!(succeed(&mut world.bash(list)).starts_with(b"pending "));
    let accepted = format!("cat big.sealed | {stranger} --accept-pending");
    assert!(succeed(&mut world.bash(&accepted)) == content());
    assert!(succeed(&mut world.bash(list)).starts_with(b"pending "));
}

#[test]
fn a_stranger_whose_file_is_altered_is_not_recorded() {
    let world = with_big_file();
    let mut altered = world.read("big.sealed");
    let middle = altered.len() / 2;
    altered[middle] ^= 1;
    world.write("altered.sealed", &altered);
    world.refused(
        &[
            "--trust-dir",
            "empty",
            "open",
            "-i",
            "bob.passport",
            "-o",
            "out",
            "altered.sealed",
        ],
        5,
    );
    assert!(!world.path("empty").exists() && !world.path("out").exists());
}

#[test]
fn one_thing_at_a_time_comes_from_standard_input() {
    let world = World::new();
    let mut child = world
        .command(&["passport", "show", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(&world.read("alice.pub"))
        .unwrap();
    let shown = child.wait_with_output().unwrap();
    assert!(shown.status.success() && shown.stdout.starts_with(b"public passport"));
    let line = "cat bob.pub | sealstone seal -r - --unsigned -";
    let said = refuse(&mut world.bash(line), 2);
    assert!(
        said.contains("cannot both come from standard input"),
        "{said}"
    );
}
