//! Permissions, replaced files, and leftover files.

use std::fs::Permissions;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::world::{PROFILE, World, refuse, succeed};

#[test]
fn secrets_are_private_and_the_rest_follows_the_umask() {
    let world = World::new();
    world.done(&["passport", "backup", "-q", "alice.passport", "-o", "words"]);
    world.done(&[
        "passport",
        "backup",
        "-q",
        "alice.passport",
        "--qr",
        "-o",
        "words.png",
    ]);
    world.done(&[
        "passport",
        "split",
        "-q",
        "alice.passport",
        "-k",
        "2",
        "-n",
        "2",
        "-o",
        "alice",
    ]);
    for secret in [
        "alice.passport",
        "words",
        "words.png",
        "alice-1.share",
        "data/sealstone/trust/key",
    ] {
        assert_eq!(world.mode(secret), 0o600, "{secret}");
    }
    for (umask, mode) in [("022", 0o644), ("077", 0o600), ("002", 0o664)] {
        let seal = format!(
            "umask {umask}; sealstone -q seal --force -r bob.pub --from alice.passport -o {umask}.sealed plan.txt"
        );
        succeed(&mut world.bash(&seal));
        let open = format!(
            "umask {umask}; sealstone -q open --force -i bob.passport -o {umask}.out {umask}.sealed"
        );
        succeed(&mut world.bash(&open));
        assert_eq!(
            (
                world.mode(&format!("{umask}.sealed")),
                world.mode(&format!("{umask}.out"))
            ),
            (mode, mode)
        );
    }
}

#[test]
fn force_replaces_content_behind_links_and_keeps_who_may_read_it() {
    let world = World::new();
    world.write("target", b"old");
    std::fs::set_permissions(world.path("target"), Permissions::from_mode(0o640)).unwrap();
    symlink("target", world.path("link")).unwrap();
    world.done(&[
        "seal",
        "-q",
        "--force",
        "-r",
        "bob.pub",
        "--unsigned",
        "-o",
        "link",
        "plan.txt",
    ]);
    assert!(world.path("link").symlink_metadata().unwrap().is_symlink());
    assert!(world.read("target").starts_with(b"\x89SEAL"));
    assert_eq!(world.mode("target"), 0o640);
}

#[test]
fn keys_are_never_replaced() {
    let world = World::new();
    let before = (world.read("alice.passport"), world.read("alice.pub"));
    world.write("lonely.pub", b"mine");
    for args in [
        &["passport", "new", "-o", "alice.passport", PROFILE][..],
        &["passport", "new", "-o", "lonely.passport", PROFILE],
        &["passport", "rotate", "bob.passport", "-o", "alice.passport"],
        &["passport", "backup", "alice.passport", "-o", "bob.passport"],
        &[
            "passport",
            "split",
            "bob.passport",
            "-k",
            "2",
            "-n",
            "2",
            "-o",
            "share",
        ],
    ] {
        world.write("share-2.share", b"somebody's");
        assert!(world.refused(args, 3).contains(" exists"), "{args:?}");
    }
    assert!(before == (world.read("alice.passport"), world.read("alice.pub")));
    assert_eq!(world.read("lonely.pub"), b"mine");
    assert!(!world.path("lonely.passport").exists() && !world.path("share-1.share").exists());
}

#[test]
fn a_directory_that_cannot_be_written_is_named_before_a_passphrase_is_asked_for() {
    let world = World::with_bob_approved();
    let said = world.refused(
        &[
            "seal",
            "-r",
            "bob.pub",
            "--from",
            "alice.passport",
            "-o",
            "missing/out",
            "plan.txt",
        ],
        3,
    );
    assert!(
        said.starts_with("sealstone: missing/out: No such file"),
        "{said}"
    );
}

#[test]
fn nothing_is_left_of_what_fails() {
    let world = World::new();
    world.done(&[
        "seal",
        "-q",
        "-r",
        "bob.pub",
        "--from",
        "alice.passport",
        "-o",
        "good",
        "plan.txt",
    ]);
    let mut altered = world.read("good");
    let last = altered.len() - 1;
    altered[last] ^= 1;
    world.write("altered", &altered);
    let before = world.names();
    world.refused(&["open", "-i", "bob.passport", "-o", "out", "altered"], 5);
    world.refused(&["open", "-i", "alice.passport", "-o", "out", "good"], 5);
    world.refused(
        &[
            "open",
            "-i",
            "bob.passport",
            "--passphrase-file",
            "plan.txt",
            "-o",
            "out",
            "good",
        ],
        5,
    );
    world.refused(
        &[
            "seal",
            "-r",
            "bob.pub",
            "--from",
            "alice.passport",
            "--passphrase-file",
            "plan.txt",
            "-o",
            "out",
            "plan.txt",
        ],
        5,
    );
    assert_eq!(world.names(), before);
}

#[test]
fn a_signal_ends_it_and_leaves_nothing() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let world = World::with_bob_approved();
        let before = world.names();
        // It waits for input that does not come.
        let mut seal = world.heeding_signals(&["seal", "-r", "bob.pub", "--unsigned", "-o", "out"]);
        let mut child = seal
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // `wait` would close it, and the end of the input would race with the signal.
        let input = child.stdin.take();
        wait_until_it_waits(&child);
        kill_process(Pid::from_child(&child), signal).unwrap();
        let status = child.wait().unwrap();
        drop(input);
        assert_eq!(
            std::os::unix::process::ExitStatusExt::signal(&status),
            Some(signal.as_raw())
        );
        let mut said = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        assert_eq!(said, "");
        assert_eq!(world.names(), before);
    }
}

#[test]
fn without_a_terminal_it_says_where_a_passphrase_can_come_from() {
    let world = World::new();
    let line = "env -u SEALSTONE_PASSPHRASE setsid -w sealstone seal -r bob.pub --from alice.passport plan.txt";
    let said = refuse(&mut world.bash(line), 2);
    for option in [
        "--passphrase-file",
        "--passphrase-fd",
        "SEALSTONE_PASSPHRASE",
    ] {
        assert!(said.contains(option), "{said}");
    }
}

#[test]
fn passphrase_files_that_others_can_read_are_warned_about_and_empty_ones_refused() {
    let world = World::new();
    std::fs::set_permissions(world.path("passphrase"), Permissions::from_mode(0o604)).unwrap();
    let mut export = world.command(&[
        "passport",
        "export",
        "alice.passport",
        "--passphrase-file",
        "passphrase",
    ]);
    let output = export.output().unwrap();
    assert!(output.status.success());
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .starts_with("warning: passphrase can be read by others")
    );
    world.write("empty", b"\n");
    let said = world.refused(
        &[
            "passport",
            "export",
            "alice.passport",
            "--passphrase-file",
            "empty",
        ],
        2,
    );
    assert!(said.contains("the passphrase is empty"), "{said}");
}

#[test]
fn nobody_reads_its_memory_and_it_leaves_no_core() {
    let world = World::new();
    let mut child = world
        .command(&["seal", "-r", "bob.pub", "--unsigned", "-o", "out"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until_it_waits(&child);
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", child.id())).unwrap();
    let core = limits
        .lines()
        .find(|line| line.starts_with("Max core file size"))
        .unwrap();
    assert_eq!(
        core.split_whitespace().skip(4).take(2).collect::<Vec<_>>(),
        ["0", "0"]
    );
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Waits until it has opened its output and waits for input.
fn wait_until_it_waits(child: &Child) {
    let deadline = Instant::now() + Duration::from_secs(20);
    let waits = || {
        let threads = std::fs::read_dir(format!("/proc/{}/task", child.id())).ok()?;
        // The signal thread and at least one worker.
        (threads.count() > 2).then_some(())
    };
    while waits().is_none() {
        assert!(Instant::now() < deadline, "it never began to read");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The armor in a mail: a byte order mark, a greeting, quotes, CRLF, a signature.
fn as_mail(armor: &[u8]) -> Vec<u8> {
    let armor = String::from_utf8(armor.to_vec()).unwrap();
    let quoted: String = armor.lines().map(|line| format!("> {line}\n")).collect();
    let mail = format!("\u{feff}Hello Bob,\nAlice wrote:\n\n{quoted}\n-- \nCarol\n");
    mail.replace('\n', "\r\n").into_bytes()
}

#[test]
fn armor_is_found_in_a_mail() {
    let world = World::new();
    world.write("mail.pub", &as_mail(&world.read("bob.pub")));
    let seal = ["seal", "-q", "-a", "--unsigned", "-r", "mail.pub"];
    world.done(&[&seal[..], &["-o", "armored", "plan.txt"]].concat());
    world.write("mail.sealed", &as_mail(&world.read("armored")));
    let shown = String::from_utf8(world.done(&["inspect", "mail.sealed"])).unwrap();
    assert!(
        shown.contains("sealed file (version 1, armored)"),
        "{shown}"
    );
    world.done(&["open", "-i", "bob.passport", "-o", "out", "mail.sealed"]);
    assert_eq!(world.read("out"), world.read("plan.txt"));
}

#[test]
fn a_result_that_belongs_in_a_file_is_not_written_to_one_called_dash() {
    let world = World::new();
    for command in [
        "passport new -o -",
        "passport rotate alice.passport -o -",
        "passport restore -o -",
        "passport join share -o -",
        "token keygen --root -o -",
        "token keygen --type p384 -o -",
        "token request challenge --key issuer.key.pub --state -",
        "monitor report --html -",
        "verify some.package --html -",
        "verify some.package --secret-file secret --derive key=-",
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        let said = refuse(&mut world.command(&words), 2);
        assert!(said.contains("name a file (one called - is ./-)"), "{said}");
        assert!(!world.path("-").exists(), "{command}");
    }
    world.done(&["token", "keygen", "--root", "-o", "./-"]);
    assert_eq!(world.mode("-"), 0o600);
}
