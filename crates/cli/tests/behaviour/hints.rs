//! Messages for incomplete commands and for scripts. They must be helpful.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::world::{PROFILE, World, json, refuse, succeed};

/// A command without a terminal, in its own session.
fn away(world: &World, line: &str) -> Command {
    world.bash(&format!("setsid -w {line}"))
}

/// The text on standard error, which must not be empty.
#[track_caller]
fn says(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    said
}

#[test]
fn verbs_of_other_programs_lead_to_ours() {
    let world = World::empty();
    for (theirs, ours) in [
        ("encrypt", "sealstone seal"),
        ("decrypt", "sealstone open"),
        ("keygen", "sealstone passport new"),
    ] {
        let said = world.refused(&[theirs], 2);
        assert!(said.contains(ours), "{said}");
    }
}

#[test]
fn a_missing_new_passphrase_names_the_options_that_give_it() {
    let world = World::new();
    let file = "--passphrase-file passphrase";
    for (line, option) in [
        (
            format!("seal -p --from alice.passport {file} plan.txt"),
            "use --recipient-passphrase-file FILE",
        ),
        (
            "seal -p --from alice.passport plan.txt".to_owned(),
            "use --recipient-passphrase-file FILE",
        ),
        (
            format!("passport slot add alice.passport {file}"),
            "use --new-passphrase-file FILE",
        ),
        (
            format!("passport slot change alice.passport {file}"),
            "use --new-passphrase-file FILE",
        ),
    ] {
        let said = refuse(&mut away(&world, &format!("sealstone {line}")), 2);
        assert!(said.contains(option), "{line}: {said}");
    }
    let mut unsigned = away(&world, "sealstone seal -p --unsigned plan.txt");
    let said = refuse(unsigned.env_remove("SEALSTONE_PASSPHRASE"), 2);
    assert!(said.contains("use --passphrase-file FILE"), "{said}");
    // The advice helps.
    let new = "passport slot add -q alice.passport --new-passphrase-file passphrase";
    succeed(&mut away(&world, &format!("sealstone {new} {file}")));
}

#[test]
fn a_short_new_passphrase_is_taken_with_a_warning() {
    let world = World::empty();
    for (name, passphrase, warned) in [
        ("a", "x\n", true),
        ("b", "sevenen\n", true),
        ("c", "ÄÖÜÄÖÜÄ\n", true),
        ("d", "eight ok\n", false),
    ] {
        world.write("new", passphrase.as_bytes());
        let passport = format!("{name}.passport");
        let args = [
            "passport",
            "new",
            "-o",
            &passport,
            "--passphrase-file",
            "new",
        ];
        let said = says(&mut world.command(&[&args[..], &["--label", name, PROFILE]].concat()));
        let warning = "shorter than 8 characters";
        assert_eq!(said.contains(warning), warned, "{passphrase}: {said}");
    }
}

#[test]
fn no_secret_is_shown_where_nothing_can_be_saved() {
    let world = World::new();
    for line in [
        "sealstone passport new --generate-passphrase -o missing/p.passport --label P",
        "sealstone passport new --generate-passphrase -o /proc/p.passport --label P",
        // A file without a name cannot be replaced, no matter who asks.
        "cp alice.passport gone.passport; exec 3< gone.passport; rm gone.passport; sealstone passport slot add /dev/fd/3 --recovery",
    ] {
        let said = refuse(&mut world.bash(line), 3);
        assert!(!said.contains("this once"), "{line}: {said}");
    }
}

#[test]
fn an_approved_contact_without_keys_is_asked_for() {
    let world = World::new();
    let shown = world.done(&["passport", "show", "--json", "bob.pub"]);
    let fingerprint = json(&shown)["fingerprint"].as_str().unwrap().to_owned();
    let approve = ["trust", "approve", "-q", "--yes", "--label", "Bobby"];
    world.done(&[&approve[..], &[&fingerprint]].concat());
    let said = world.refused(&["seal", "--unsigned", "--to", "Bobby", "plan.txt"], 2);
    assert!(said.contains("trust approve FILE.pub"), "{said}");
    // Approval helps, and then Bob has the same name as before.
    world.done(&["trust", "approve", "-q", "--yes", "bob.pub"]);
    world.done(&["seal", "-q", "--unsigned", "--to", "Bobby", "plan.txt"]);
    world.done(&["trust", "revoke", "-q", "Bobby"]);
    let said = world.refused(&["seal", "--unsigned", "-r", "bob.pub", "plan.txt"], 7);
    assert!(said.contains("\"Bobby\" is revoked"), "{said}");
}

#[test]
fn recipients_are_called_what_the_trust_store_calls_them() {
    let world = World::new();
    let approve = ["trust", "approve", "-q", "--yes", "--label", "Bobby"];
    world.done(&[&approve[..], &["bob.pub"]].concat());
    for whom in [["--to", "Bobby"], ["-r", "bob.pub"]] {
        let seal = ["seal", "--unsigned", "--force", "plan.txt"];
        let said = says(&mut world.command(&[&seal[..], &whom].concat()));
        assert!(said.contains("(for \"Bobby\" "), "{said}");
        let sealed = world.done(&[&seal[..], &whom, &["--json"]].concat());
        let recipient = &json(&sealed)["recipients"][0];
        assert_eq!(recipient["label"], "Bobby");
        assert_eq!(recipient["calls_itself"], "bob");
    }
}

#[test]
fn a_file_that_a_passphrase_opens_as_well_says_so() {
    let world = World::new();
    let seal = [
        "seal",
        "-q",
        "--unsigned",
        "--anonymous",
        "-r",
        "bob.pub",
        "plan.txt",
    ];
    let open = [
        "open",
        "-i",
        "alice.passport",
        "-o",
        "out",
        "plan.txt.sealed",
    ];
    world.done(&seal);
    let said = world.refused(&open, 5);
    assert!(!said.contains("passphrase"), "{said}");
    world.done(&[&seal[..], &["--force", "-p", PROFILE]].concat());
    let said = world.refused(&open, 5);
    assert!(
        said.contains("can also be opened with a passphrase: choose -p"),
        "{said}"
    );
    world.done(&["open", "-q", "-p", "-o", "out", "plan.txt.sealed"]);
}

#[test]
fn one_profile_that_is_asked_for_is_the_one_that_is_measured() {
    let world = World::empty();
    let bench = ["password", "bench", "--rounds=1", "--json", "--profile"];
    for (args, name) in [
        (&["interactive"][..], "interactive"),
        (&["owasp-7m"], "owasp-7m"),
        (&["owasp-7m", "--iterations=1"], "custom"),
    ] {
        let measured = json(&world.done(&[&bench[..], args].concat()));
        let results = measured["results"].as_array().unwrap();
        assert_eq!(results.len(), 1, "{args:?}");
        assert_eq!(results[0]["profile"], name, "{args:?}");
    }
}

#[test]
fn a_quiet_check_prints_what_the_next_one_expects() {
    let world = World::new();
    let line = "sealstone trust check -q --expect \"$(sealstone trust check -q)\"";
    let printed = String::from_utf8(succeed(&mut world.bash(line))).unwrap();
    assert_eq!(printed.lines().count(), 1, "{printed}");
}

#[test]
fn a_passport_that_is_something_else_is_named() {
    let world = World::new();
    world.write("big", &[b'x'; 70_000]);
    let said = world.refused(&["open", "-i", "big", "-o", "out", "plan.txt"], 4);
    assert!(
        said.starts_with("sealstone: big: longer than 65536 bytes"),
        "{said}"
    );
    for show in [["show", "big"].as_slice(), &["slot", "list", "big"]] {
        let said = world.refused(&[&["passport"], show].concat(), 4);
        assert!(
            said.starts_with("sealstone: big: longer than 65536 bytes"),
            "{said}"
        );
    }
}

#[test]
fn a_full_standard_output_is_named() {
    let world = World::new();
    for line in [
        "completions bash",
        "man",
        "hash plan.txt",
        "trust list",
        "password hash --output raw-hex --salt-hex 00112233445566778899aabbccddeeff --profile owasp-7m --passphrase-file passphrase",
    ] {
        let said = refuse(&mut world.bash(&format!("sealstone {line} > /dev/full")), 3);
        assert_eq!(
            said, "sealstone: standard output: No space left on device\n",
            "{line}"
        );
    }
}

/// The passport with one bit flipped, in the byte at this distance from the end of the armored
/// content.
fn flipped(world: &World, from_end: usize) -> String {
    let armor = String::from_utf8(world.read("bob.passport")).unwrap();
    let lines: Vec<&str> = armor.lines().collect();
    let (ends, text) = (
        [lines[0], lines[lines.len() - 1]],
        lines[1..lines.len() - 1].concat(),
    );
    let mut bytes = STANDARD.decode(text).unwrap();
    let at = bytes.len() - from_end;
    bytes[at] ^= 1;
    let text = STANDARD.encode(bytes);
    let lines: Vec<&str> = text
        .as_bytes()
        .chunks(64)
        .map(|line| str::from_utf8(line).unwrap())
        .collect();
    format!("{}\n{}\n{}\n", ends[0], lines.join("\n"), ends[1])
}

/// If its owner has no other copy, the words restore it.
#[test]
fn a_damaged_passport_may_be_why_it_does_not_unlock() {
    let world = World::new();
    // After the wrapped seed of the only slot come 4 bytes and the MAC.
    for from_end in [32 + 4 + 1, 1] {
        let what = "wrong passphrase\n  if it is the right one";
        world.write("damaged.passport", flipped(&world, from_end).as_bytes());
        let said = world.refused(&["passport", "export", "damaged.passport", "-o", "out"], 5);
        let expected = format!("damaged.passport: {what}");
        assert!(said.contains(&expected), "{said}");
        assert!(said.contains("sealstone passport restore"), "{said}");
    }
}

#[test]
fn a_name_that_cannot_be_told_is_left_out_with_a_warning() {
    let world = World::with_bob_approved();
    let seal = ["seal", "--unsigned", "-r", "bob.pub", "-o"];
    for (number, name) in [&b"two\nlines"[..], b"not \xff text"].iter().enumerate() {
        let name = OsStr::from_bytes(name);
        fs::write(world.path(name), b"content").unwrap();
        for (more, warned) in [
            (&["--json"][..], true),
            (&["-q"], true),
            (&["-q", "--no-name"], false),
            (&["-q", "--name", "it"], false),
        ] {
            let sealed = format!("{number}-{}.sealed", more.concat());
            let args = [&seal[..], &[&sealed], more].concat();
            let output = world.command(&args).arg(name).output().unwrap();
            assert!(output.status.success());
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(said.contains("sealed without its name"), warned, "{said}");
            assert_eq!(said.lines().count(), usize::from(warned), "{said}");
            if more == ["--json"] {
                assert!(json(said.as_bytes())["warning"].is_string());
                assert!(json(&output.stdout).get("warning").is_none());
            }
        }
    }
}

#[test]
fn machines_get_one_object_a_line() {
    let world = World::new();
    world.done(&["seal", "-q", "--unsigned", "-r", "bob.pub", "plan.txt"]);
    let open = ["open", "--json", "-i", "bob.passport", "-o", "-"];
    let said = says(&mut world.command(&[&open[..], &["plan.txt.sealed"]].concat()));
    let objects: Vec<_> = said.lines().map(|line| json(line.as_bytes())).collect();
    assert_eq!(objects.len(), 2, "{said}");
    assert!(
        objects[0]["warning"].is_string() && objects[1]["content_bytes"] == 15,
        "{said}"
    );
}

#[test]
fn the_code_of_an_unreadable_file_is_that_of_the_command() {
    let world = World::new();
    let output = world
        .command(&["hash", "--json", "nofile"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = &json(&output.stderr)["error"];
    assert_eq!(
        (error["code"].as_i64(), &error["kind"]),
        (Some(1), &"io".into())
    );
}
