//! Keys that no option replaces, people with the same name, and directories that cannot be created.

use crate::world::{PROFILE, World, json, refuse, succeed};

#[test]
fn not_even_force_replaces_a_secret_passport() {
    let world = World::new();
    world.done(&["seal", "-q", "--unsigned", "-r", "alice.pub", "plan.txt"]);
    let before = world.read("bob.passport");
    for line in [
        "sealstone passport export alice.passport -o bob.passport --force",
        "sealstone seal --unsigned -r alice.pub -o bob.passport --force plan.txt",
        "sealstone open -i alice.passport -o bob.passport --force plan.txt.sealed",
    ] {
        let said = refuse(&mut world.bash(line), 3);
        assert!(said.contains("never replaced"), "{line}: {said}");
        assert_eq!(world.read("bob.passport"), before, "{line}");
    }
}

#[test]
fn a_directory_that_cannot_be_made_is_an_error() {
    let world = World::new();
    for directory in ["/proc/nope/a", "/dev/null/a/b"] {
        let mut deny = world.command(&["trust", "deny", "alice.pub"]);
        let said = refuse(deny.env("SEALSTONE_TRUST_DIR", directory), 3);
        // Nothing has taken effect: there is no store.
        assert!(!said.contains("may have taken effect"), "{said}");
    }
}

#[test]
fn a_stranger_with_the_name_of_a_friend_is_told_from_the_friend() {
    let world = World::new();
    let mallory = ["passport", "new", "-q", "-o", "mallory.passport"];
    world.done(&[&mallory[..], &["--label", "ALICE", PROFILE]].concat());
    let seal = ["seal", "-q", "--from", "mallory.passport", "-r", "bob.pub"];
    world.done(&[&seal[..], &["plan.txt"]].concat());
    let open = ["open", "-i", "bob.passport", "-o", "out", "plan.txt.sealed"];
    let said = world.refused(&open, 6);
    assert!(
        said.contains("it is NOT the sender of that name that you approved:"),
        "{said}"
    );

    let approve = world
        .command(&["trust", "approve", "--yes", "--same-label", "mallory.pub"])
        .output();
    let said = String::from_utf8(approve.unwrap().stderr).unwrap();
    assert!(
        said.contains("this is not the \"alice\" that you approved as"),
        "{said}"
    );
}

#[test]
fn names_that_mean_several_are_listed() {
    let world = World::new();
    let other = ["passport", "new", "-q", "-o", "other.passport"];
    world.done(&[&other[..], &["--label", "alice", PROFILE]].concat());
    world.done(&["trust", "deny", "-q", "other.pub"]);
    for verb in ["show", "approve", "deny", "revoke", "compromised"] {
        let said = world.refused(&["trust", verb, "alice"], 2);
        for line in ["2 trust records", "approved ", "denied "] {
            assert!(said.contains(line), "{verb}: {said}");
        }
    }
    let said = succeed(&mut world.command(&["trust", "show", "other.pub"]));
    assert!(said.starts_with(b"denied\n"));
}

#[test]
fn a_change_that_did_not_reach_the_disk_may_have_happened_all_the_same() {
    let world = World::new();
    let said = refuse(
        &mut world.bash("ulimit -f 0; sealstone trust deny alice"),
        3,
    );
    assert!(said.contains("may have taken effect"), "{said}");
}

/// The verdict on an interrupted change is right for a change that was written completely and for
/// one that was not.
#[test]
fn check_says_what_the_next_change_does_to_an_interrupted_one() {
    let approve = ["trust", "approve", "-q", "--yes"];
    let says = |world: &World| {
        let output = world.command(&["trust", "check"]).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    for (whole, status) in [(false, "denied"), (true, "approved")] {
        let world = World::new();
        let (log, head) = ("data/sealstone/trust/log", "data/sealstone/trust/head");
        world.done(&["trust", "deny", "-q", "bob.pub"]);
        assert!(!says(&world).contains("interrupted"));
        let before = world.read(head);
        world.done(&[&approve[..], &["bob.pub"]].concat());
        let entries = world.read(log);
        // The head that does not count the change, and the log with all or a part of the last
        // entry.
        world.write(head, &before);
        let cut = usize::from(!whole);
        world.write(log, &entries[..entries.len() - cut]);
        let said = says(&world);
        assert!(
            said.contains("keeps the complete entries and removes the incomplete one")
                && said.contains("repeat it"),
            "{said}"
        );
        let show = || json(&world.done(&["trust", "show", "--json", "bob"]))["status"].clone();
        assert_eq!(show(), status);
        world.done(&["trust", "deny", "-q", "alice.pub"]);
        assert_eq!(show(), status);
        assert!(!says(&world).contains("interrupted"));
    }
}

/// A fingerprint takes two lines, and a command that a message names fits into one.
#[test]
fn fingerprints_and_commands_fit_into_80_columns() {
    let world = World::new();
    let fits = |said: &str| {
        for line in said.lines() {
            let is_digits = |word: &str| word.chars().all(|c| c == '-' || c.is_ascii_hexdigit());
            let has_digits = line
                .split(' ')
                .any(|word| word.len() >= 39 && is_digits(word));
            let is_wide = line.chars().count() > 80;
            assert!(!(has_digits && is_wide), "{said}");
        }
    };
    let open = ["open", "-i", "alice.passport", "-i", "bob.passport"];
    let stranger = ["new", "-q", "-o", "carol.passport", "--label", "Carol"];
    world.done(&[&["passport"], &stranger[..], &[PROFILE]].concat());
    let seal = ["seal", "-q", "--from", "carol.passport", "-r", "bob.pub"];
    world.done(&[&seal[..], &["-o", "from-carol", "plan.txt"]].concat());
    let open = [&open[..], &["-o", "-", "from-carol"]].concat();
    let said = world.refused(&open, 6);
    fits(&said);
    // The command works as it stands there.
    let approve = "sealstone trust approve ";
    let line = said.lines().find(|line| line.contains(approve)).unwrap();
    succeed(&mut world.bash(&format!("{line} --yes")));
    world.done(&open);

    let rotate = ["passport", "rotate", "carol.passport", "-o", "new.passport"];
    let rotated = world.command(&rotate).output().unwrap();
    let said = String::from_utf8(rotated.stderr).unwrap();
    fits(&said);
    let revoke = "sealstone trust revoke ";
    let line = said.lines().find(|line| line.contains(revoke)).unwrap();
    succeed(&mut world.bash(line));
    fits(&world.refused(&open, 7));

    world.done(&["keys", "set", "-q", "bob.passport", "--max-uses", "1"]);
    let sign = ["sign", "--from", "bob.passport", "plan.txt", "-o"];
    world.done(&[&sign[..], &["one"]].concat());
    let used_up = world.command(&[&sign[..], &["two"]].concat()).output();
    let said = String::from_utf8(used_up.unwrap().stderr).unwrap();
    assert!(said.contains("sealstone keys set "), "{said}");
    fits(&said);
}

#[test]
fn a_dash_is_standard_output_for_secrets_too() {
    let world = World::new();
    let backup = ["passport", "backup", "-q", "bob.passport"];
    let split = ["passport", "split", "-q", "bob.passport", "-k2", "-n3"];
    for command in [&backup[..], &split] {
        let to_dash = [command, &["-o", "-"]].concat();
        let said = world.refused(&to_dash, 2);
        assert!(said.contains("the whole passport in clear text"), "{said}");
        let forced = world.done(&[&to_dash[..], &["--force"]].concat());
        let lines = String::from_utf8(forced).unwrap().lines().count();
        assert_eq!(lines, if command == split { 3 } else { 1 });
        let printed = json(&world.done(&[&to_dash[..], &["--json"]].concat()));
        assert!(printed["words"].is_string() || printed["shares"].is_array());
    }
    let names = world.names();
    assert!(!names.iter().any(|name| name.starts_with('-')), "{names:?}");
}
