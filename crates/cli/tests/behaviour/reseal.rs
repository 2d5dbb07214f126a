//! `reseal`, `edit` and git: the same content for other recipients, or new content for the same
//! ones.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::world::{PROFILE, World, executable, json, refuse, succeed};

/// Alice and Bob know each other; Alice has sealed her plan to both.
fn world() -> World {
    let world = World::with_bob_approved();
    let new = [
        "passport",
        "new",
        "-q",
        "-o",
        "carol.passport",
        "--label",
        "carol",
        PROFILE,
    ];
    world.done(&new);
    world.done(&["trust", "approve", "-q", "--yes", "carol.pub"]);
    let seal = [
        "seal",
        "-q",
        "--from",
        "alice.passport",
        "--note",
        "a note",
        "plan.txt",
    ];
    world.done(&[&seal[..], &["-r", "alice.pub", "-r", "bob.pub"]].concat());
    world
}

const RESEAL: [&str; 6] = [
    "reseal",
    "-i",
    "alice.passport",
    "--from",
    "alice.passport",
    "plan.txt.sealed",
];

fn opens(world: &World, who: &str) -> bool {
    let passport = format!("{who}.passport");
    let open = ["open", "-q", "-i", &passport, "-o", "-", "plan.txt.sealed"];
    let opened = world.command(&open).output().unwrap();
    assert!(!opened.status.success() || opened.stdout == b"attack at dawn\n");
    opened.status.success()
}

fn who_opens(world: &World) -> [bool; 3] {
    ["alice", "bob", "carol"].map(|who| opens(world, who))
}

#[test]
fn recipients_are_added_and_removed() {
    let world = world();
    assert_eq!(who_opens(&world), [true, true, false]);
    world.done(&[&RESEAL[..], &["-r", "carol.pub"]].concat());
    assert_eq!(who_opens(&world), [true, true, true]);
    world.done(&[&RESEAL[..], &["--remove", "bob"]].concat());
    assert_eq!(who_opens(&world), [true, false, true]);
    // Name and note are preserved.
    let open = [
        "open",
        "--json",
        "-i",
        "carol.passport",
        "-o",
        "out",
        "plan.txt.sealed",
    ];
    let opened = json(&world.done(&open));
    assert_eq!(
        (&opened["name"], &opened["note"]),
        (&"plan.txt".into(), &"a note".into())
    );
    assert_eq!(opened["sender"]["label"], "alice");
}

#[test]
fn the_form_and_the_signature_change() {
    let world = world();
    let size = || fs::metadata(world.path("plan.txt.sealed")).unwrap().len();
    let before = size();
    world.done(&[&RESEAL[..], &["--pad", "--suite", "aes256gcm"]].concat());
    assert!(size() > before);
    assert_eq!(who_opens(&world), [true, true, false]);
    let unsigned = [
        "reseal",
        "-i",
        "bob.passport",
        "--unsigned",
        "-a",
        "plan.txt.sealed",
    ];
    world.done(&unsigned);
    assert!(
        world
            .read("plan.txt.sealed")
            .starts_with(b"-----BEGIN SEALSTONE FILE-----")
    );
    let open = [
        "open",
        "--json",
        "-i",
        "bob.passport",
        "-o",
        "out",
        "plan.txt.sealed",
    ];
    assert_eq!(json(&world.done(&open))["signed"], false);
}

/// Cipher, armor, and whether the length is hidden: then the private part is long.
fn form(world: &World) -> (String, bool, bool) {
    let seen = json(&world.done(&["inspect", "--json", "plan.txt.sealed"]));
    let suite = seen["suite"].as_str().unwrap().to_owned();
    let is_padded = seen["header_bytes"].as_u64().unwrap() > 11_000;
    (suite, seen["armored"].as_bool().unwrap(), is_padded)
}

#[test]
fn the_form_stays_unless_another_is_named() {
    let world = world();
    let usual = form(&world);
    assert_eq!((usual.1, usual.2), (false, false));
    world.done(&[&RESEAL[..], &["--pad", "--armor", "--suite", "aes256gcm"]].concat());
    let other = form(&world);
    assert!(other.0 != usual.0 && other.1 && other.2, "{other:?}");
    world.done(&[&RESEAL[..], &["-r", "carol.pub"]].concat());
    assert_eq!(form(&world), other);
    let mut edit = world.command(&EDIT);
    succeed(edit.env("EDITOR", editor(&world, "echo more >> \"$1\"")));
    assert_eq!(form(&world), other);
    for (option, left) in [
        ("--no-pad", (other.0.clone(), true, false)),
        ("--no-armor", (other.0.clone(), false, false)),
        ("--suite=xchacha20poly1305", usual),
    ] {
        world.done(&[&RESEAL[..], &[option]].concat());
        assert_eq!(form(&world), left, "{option}");
    }
}

/// The lines of strace about writes of plain text by a command.
fn plain_writes(world: &World, line: &str, editor: &str) -> Option<Vec<String>> {
    if !world.bash("strace true").output().unwrap().status.success() {
        println!("skipped: strace is not installed, or may not trace");
        return None;
    }
    let trace = "strace -f -y -o calls -e trace=write,pwrite64,writev,pwritev,sendto";
    succeed(world.bash(&format!("{trace} {line}")).env("EDITOR", editor));
    let calls = String::from_utf8(world.read("calls")).unwrap();
    let plain = calls.lines().filter(|line| line.contains("attack at"));
    Some(plain.map(str::to_owned).collect())
}

/// Plain text goes through pipes between threads, and into the file in memory that is edited.
#[test]
#[cfg(target_os = "linux")]
fn no_plain_text_reaches_a_disk() {
    let world = world();
    let open = "sealstone open -i bob.passport -o copy plan.txt.sealed";
    let Some(found) = plain_writes(&world, open, "") else {
        return;
    };
    assert_eq!(found.len(), 1, "the search finds nothing: {found:?}");
    assert!(!found[0].contains("<pipe:"), "{found:?}");
    let reseal = format!("sealstone {} -r carol.pub", RESEAL.join(" "));
    let found = plain_writes(&world, &reseal, "").unwrap();
    assert!(!found.is_empty());
    assert!(
        found.iter().all(|line| line.contains("<pipe:")),
        "{found:?}"
    );
    let edit = format!("sealstone {}", EDIT.join(" "));
    let found = plain_writes(&world, &edit, "sed -i s/dawn/noon/").unwrap();
    let in_memory = |line: &&String| line.contains("</dev/shm/.sealstone-");
    assert!(found.iter().filter(in_memory).count() >= 1, "{found:?}");
    let in_pipe = |line: &&String| line.contains("<pipe:");
    assert!(
        found.iter().all(|line| in_memory(&line) || in_pipe(&line)),
        "{found:?}"
    );
}

/// `/dev/shm` is a directory on the disk there.
#[test]
#[cfg(target_os = "linux")]
fn nothing_is_edited_where_nothing_is_in_memory() {
    let world = world();
    let script = format!(
        "[ $(stat -f -c %T .) != tmpfs ] || exit 99
         unshare -rm bash -c 'mount --bind . /dev/shm || exit 99; sealstone {}'",
        EDIT.join(" ")
    );
    let mut edit = world.bash(&script);
    let output = edit.env("EDITOR", "touch edited; true").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code();
    if code == Some(99) || said.contains("unshare") {
        println!("skipped: no name space of its own, or all is in memory: {said}");
        return;
    }
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("no directory in memory"), "{said}");
    assert!(!world.path("edited").exists());
}

#[test]
fn a_file_that_somebody_else_changed_is_not_replaced() {
    let world = world();
    let theirs = world.read("plan.txt.sealed");
    let script = r#"
        sed -i s/dawn/noon/ "$1"
        cp plan.txt.sealed other && mv other plan.txt.sealed
    "#;
    let mut edit = world.command(&EDIT);
    let said = refuse(edit.env("EDITOR", editor(&world, script)), 3);
    assert!(said.contains("another program changed it"), "{said}");
    assert!(world.read("plan.txt.sealed") == theirs);
    let place = said.split("your text is in ").nth(1).expect(&said);
    let place = std::path::Path::new(place.split(", in memory").next().unwrap());
    let text = fs::read(place.join("plan.txt"));
    fs::remove_dir_all(place).unwrap();
    assert_eq!(text.unwrap(), b"attack at noon\n");
}

#[test]
fn nothing_changes_if_it_cannot_be_done() {
    let world = world();
    let before = world.read("plan.txt.sealed");
    let refused = |args: &[&str], code, why: &str| {
        let said = world.refused(args, code);
        assert!(said.contains(why), "{said}");
        assert!(world.read("plan.txt.sealed") == before);
        let names = world.names();
        assert!(!names.iter().any(|name| name.starts_with('.')), "{names:?}");
    };
    refused(
        &[&RESEAL[..], &["--remove", "carol"]].concat(),
        2,
        "is not a recipient",
    );
    let carol = [
        "reseal",
        "-i",
        "carol.passport",
        "--unsigned",
        "plan.txt.sealed",
    ];
    refused(&carol, 5, "sealed for somebody else");
    // An altered file is not sealed again, although its beginning is intact.
    let mut altered = world.read("plan.txt.sealed");
    let last = altered.len() - 1;
    altered[last] ^= 1;
    world.write("altered.sealed", &altered);
    let mut reseal = RESEAL;
    reseal[5] = "altered.sealed";
    world.refused(&[&reseal[..], &["-o", "new.sealed"]].concat(), 5);
    assert!(!world.path("new.sealed").exists());
    world.refused(&reseal, 5);
    assert!(world.read("altered.sealed") == altered);
}

#[test]
fn recipients_that_cannot_be_kept_are_told() {
    let world = world();
    let seal = [
        "seal",
        "-q",
        "--force",
        "--from",
        "alice.passport",
        "plan.txt",
        "-r",
        "alice.pub",
    ];
    world.done(&[&seal[..], &["--anonymous"]].concat());
    let said = world.refused(&RESEAL, 2);
    assert!(
        said.contains("cannot be kept") && said.contains("--remove-unnamed"),
        "{said}"
    );
    world.done(&[&RESEAL[..], &["--remove-unnamed", "-r", "bob.pub"]].concat());
    assert_eq!(who_opens(&world), [false, true, false]);
    // The message names a recipient whose keys are missing.
    let stranger = [
        "passport",
        "new",
        "-q",
        "-o",
        "dave.passport",
        "--label",
        "dave",
        PROFILE,
    ];
    world.done(&stranger);
    world.done(&[&seal[..], &["-r", "dave.pub"]].concat());
    let said = world.refused(&RESEAL, 2);
    assert!(
        said.contains("public keys of a recipient are not known"),
        "{said}"
    );
    world.done(&[&RESEAL[..], &["-r", "dave.pub"]].concat());
    assert_eq!(who_opens(&world), [true, false, false]);
}

/// An editor that does what `script` says with the file `$1`.
fn editor(world: &World, script: &str) -> String {
    let path = world.path("editor");
    executable(&path, format!("#!/bin/sh\n{script}\n").as_bytes());
    path.display().to_string()
}

const EDIT: [&str; 6] = [
    "edit",
    "-i",
    "alice.passport",
    "--from",
    "alice.passport",
    "plan.txt.sealed",
];

#[test]
fn a_text_is_edited_in_memory_and_sealed_for_the_same_people() {
    let world = world();
    let edit = |script: &str| {
        let mut command = world.command(&EDIT);
        command.env("EDITOR", editor(&world, script));
        command
    };
    let script = "pwd > where; echo \"$1\" >> where; sed -i s/dawn/noon/ \"$1\"";
    succeed(&mut edit(script));
    for who in ["alice", "bob"] {
        let passport = format!("{who}.passport");
        let open = ["open", "-q", "-i", &passport, "-o", "-", "plan.txt.sealed"];
        assert_eq!(world.done(&open), b"attack at noon\n");
    }
    // The file had the name of the text. It was removed with its directory.
    let place = String::from_utf8(world.read("where")).unwrap();
    let place = place.lines().last().unwrap();
    assert!(place.ends_with("/plan.txt"), "{place}");
    assert!(!fs::exists(place).unwrap());
    assert!(!fs::exists(std::path::Path::new(place).parent().unwrap()).unwrap());

    let before = world.read("plan.txt.sealed");
    succeed(&mut edit("true"));
    assert!(
        world.read("plan.txt.sealed") == before,
        "it was sealed again without a change"
    );
    let said = refuse(&mut edit("echo half > \"$1\"; exit 1"), 3);
    assert!(said.contains("the editor failed"), "{said}");
    assert!(world.read("plan.txt.sealed") == before);
}

/// Ctrl-C reaches all processes at the terminal. The editor decides its meaning.
#[test]
#[cfg(target_os = "linux")]
fn an_interrupt_belongs_to_the_editor() {
    let world = world();
    let script = r#"
        p=$PPID
        while [ "$(cat /proc/$p/comm)" != sealstone ]; do p=$(awk '{print $4}' /proc/$p/stat); done
        kill -INT $p; sleep 0.3
        sed -i s/dawn/noon/ "$1"
    "#;
    let mut command = world.command(&EDIT);
    succeed(command.env("EDITOR", editor(&world, script)));
    let open = [
        "open",
        "-q",
        "-i",
        "bob.passport",
        "-o",
        "-",
        "plan.txt.sealed",
    ];
    assert_eq!(world.done(&open), b"attack at noon\n");
}

#[test]
fn a_text_that_cannot_be_sealed_is_not_lost() {
    let world = world();
    let before = world.read("plan.txt.sealed");
    let script = r#"ulimit -S -f unlimited; printf '%0100000d' 7 >> "$1""#;
    let edit = format!("ulimit -S -f 8; exec sealstone {}", EDIT.join(" "));
    let mut command = world.bash(&edit);
    let said = refuse(command.env("EDITOR", editor(&world, script)), 3);
    assert!(world.read("plan.txt.sealed") == before);
    let path = said.split("your text is in ").nth(1).expect(&said);
    let path = std::path::Path::new(path.split(", in memory").next().unwrap());
    let mode = fs::metadata(path).unwrap().permissions().mode();
    let text = fs::read(path.join("plan.txt"));
    fs::remove_dir_all(path).unwrap();
    assert_eq!(mode & 0o777, 0o700);
    assert_eq!(text.unwrap().len(), b"attack at dawn\n".len() + 100_000);
}

/// The commands about git in the help of `edit`, literally.
#[test]
fn git_shows_differences_and_filters() {
    let world = world();
    let help = String::from_utf8(world.done(&["edit", "--help"])).unwrap();
    let commands = |with: &str| -> String {
        let lines = help.lines().map(str::trim).filter(|line| {
            (line.starts_with("git config") || line.starts_with("echo")) && line.contains(with)
        });
        lines.map(|line| format!("{line}\n")).collect()
    };
    let (differences, filters) = (commands("diff"), commands("filter"));
    assert_eq!(
        (differences.lines().count(), filters.lines().count()),
        (2, 4),
        "{help}"
    );
    let script = format!(
        r#"
        set -e
        export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
        sealstone passport new -q --label me {PROFILE}
        git init -q repo && cd repo
        git config user.email a@example.org && git config user.name a
        {differences}
        sealstone seal -q -o plan.txt.sealed ../plan.txt
        git add . && git commit -qm one
        echo 'attack at noon' | sealstone seal -q --force -o plan.txt.sealed
        git diff plan.txt.sealed
        {filters}
        mkdir secret && echo hidden > secret/a && git add secret/a .gitattributes && git commit -qm two
        git cat-file blob HEAD:secret/a | grep -q hidden && exit 1
        rm secret/a && git checkout -q -- secret/a && cat secret/a
    "#
    );
    if !world
        .bash("git --version")
        .output()
        .unwrap()
        .status
        .success()
    {
        println!("skipped: git is not installed");
        return;
    }
    let shown = String::from_utf8(succeed(&mut world.bash(&script))).unwrap();
    for line in ["-attack at dawn", "+attack at noon", "hidden"] {
        assert!(shown.lines().any(|shown| shown == line), "{shown}");
    }
}
