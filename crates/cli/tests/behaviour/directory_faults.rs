//! Failures with sealed directories: no incomplete file is left, and the user gets a message.

use std::fs::{self, Permissions};
use std::io::Cursor;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use sealstone::archive::{Entry, EntryKind, Item, Tree, Writer};
use sealstone::file::{Metadata, Sealer, Workers};
use sealstone::passport::PublicPassport;

use crate::directory::{LIST, OPEN, SEAL, assert_clean, sealed, with};
use crate::world::{World, json, refuse};

/// A file of another archive, or of an altered one, leaves nothing behind.
#[test]
fn an_altered_one_leaves_nothing() {
    let world = sealed();
    let good = world.read("tree.sealed");
    for place in [good.len() - 1, good.len() / 2, 3000] {
        let mut altered = good.clone();
        altered[place] ^= 1;
        world.write("tree.sealed", &altered);
        world.refused(&with(&OPEN, &["-o", "new", "tree.sealed"]), 5);
        assert!(!world.path("new").exists());
        assert_clean(&world);
    }
    world.write("tree.sealed", &good);
    let stranger = with(
        &OPEN,
        &["--trust-dir", "nobody", "-o", "new", "tree.sealed"],
    );
    let said = world.refused(&stranger, 6);
    assert!(said.contains("you have not approved its sender"), "{said}");
    world.refused(&with(&LIST, &["--trust-dir", "nobody2", "tree.sealed"]), 6);
    world.refused(&with(&stranger, &["a/large"]), 6);
    assert!(!world.path("new").exists());
    assert_clean(&world);
}

#[test]
fn a_disk_that_is_full_leaves_nothing() {
    let world = sealed();
    // The file of 3 MiB exceeds the limit.
    let line = "ulimit -f 1024; sealstone open --no-sync -i bob.passport -o new tree.sealed";
    let said = refuse(&mut world.bash(line), 3);
    assert!(said.contains("a/large: "), "{said}");
    let line = "ulimit -f 1024; sealstone open --no-sync -i bob.passport -o new tree.sealed a";
    let said = refuse(&mut world.bash(line), 3);
    assert!(said.contains("large: "), "{said}");
    assert!(!world.path("new").exists());
    assert_clean(&world);
}

#[test]
fn a_signal_leaves_nothing() {
    let world = World::with_bob_approved();
    fs::create_dir(world.path("tree")).unwrap();
    for i in 0..3000 {
        fs::write(world.path(format!("tree/{i}")), "x").unwrap();
    }
    world.done(&SEAL);
    let args = with(&OPEN, &["-o", "new", "tree.sealed"]);
    let mut command = world.heeding_signals(&args);
    command.env("SEALSTONE_PASSPHRASE", crate::world::PASSPHRASE);
    let mut child = command.spawn().unwrap();
    // After it has begun to unpack.
    let begun = || {
        world
            .names()
            .iter()
            .any(|name| name.starts_with(".sealstone-"))
    };
    while !begun() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let _ = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    let status = child.wait().unwrap();
    assert!(!status.success() || world.path("new").exists());
    assert_clean(&world);
}

/// Members in order, as on other systems.
struct Foreign(std::vec::IntoIter<(String, EntryKind)>);

impl Tree for Foreign {
    type Content = Cursor<&'static [u8]>;

    fn next(&mut self) -> sealstone::Result<Option<Item<Self::Content>>> {
        Ok(self.0.next().map(|(path, kind)| {
            let (content, mode) = match kind {
                EntryKind::File { .. } => (&b"content"[..], 0o644),
                _ => (&b""[..], 0o755),
            };
            let entry = Entry {
                path: path.into_bytes(),
                kind,
                mode,
                modified: 0,
            };
            Item {
                entry,
                map: None,
                content: Cursor::new(content),
            }
        }))
    }
}

/// Seals to Bob members that a directory of this system cannot have.
fn seal_foreign(world: &World, members: Vec<(String, EntryKind)>) {
    let bob = PublicPassport::from_armor(&world.read("bob.pub")).unwrap();
    let mut sealer = Sealer::new();
    sealer.to_passport(bob.contact()).metadata(Metadata {
        directory: true,
        ..Metadata::default()
    });
    let mut file = Vec::new();
    let content = Writer::new(Foreign(members.into_iter()), None);
    sealer.seal(content, &mut file, Workers::new(1)).unwrap();
    world.write("foreign.sealed", &file);
}

/// A directory, and a file and a directory whose names are too long, with a file below.
fn too_long() -> Vec<(String, EntryKind)> {
    let file = EntryKind::File { size: 7 };
    let directory = "long".repeat(70);
    let below = format!("{directory}/below");
    vec![
        ("a".to_owned(), EntryKind::Directory),
        ("a/b".to_owned(), file.clone()),
        (format!("a/{}", "c".repeat(256)), file.clone()),
        (directory, EntryKind::Directory),
        (below, file.clone()),
        ("z".to_owned(), file),
    ]
}

#[test]
fn names_that_this_system_cannot_hold_are_reported_and_the_rest_is_unpacked() {
    let world = World::with_bob_approved();
    seal_foreign(&world, too_long());
    let said = world.refused(&with(&OPEN, &["-o", "new", "foreign.sealed"]), 3);
    assert!(
        said.contains("3 of its 6 members cannot be stored here, the others are in new"),
        "{said}"
    );
    for named in [
        format!("a/{}: ", "c".repeat(256)),
        format!("{}: ", "long".repeat(70)),
        "/below: its directory is left out".to_owned(),
        "--as-tar".to_owned(),
    ] {
        assert!(said.contains(&named), "{named}: {said}");
    }
    assert_eq!(world.read("new/a/b"), b"content");
    assert_eq!(world.read("new/z"), b"content");
    assert_eq!(fs::read_dir(world.path("new")).unwrap().count(), 2);

    // A part of the directory, and each member under another name.
    let said = world.refused(&with(&OPEN, &["-o", "part", "foreign.sealed", "a"]), 3);
    assert!(
        said.contains("1 of its 2 members") && said.contains("in part"),
        "{said}"
    );
    assert_eq!(world.read("part/b"), b"content");
    let long = format!("a/{}", "c".repeat(256));
    world.done(&with(&OPEN, &["-o", "short", "foreign.sealed", &long]));
    assert_eq!(world.read("short"), b"content");
    let said = world.refused(&with(&OPEN, &["foreign.sealed", &long]), 3);
    assert!(said.contains("too long"), "{said}");
    let printed = world.done(&with(&LIST, &["--json", "foreign.sealed"]));
    let first = String::from_utf8(printed).unwrap();
    assert_eq!(json(first.lines().next().unwrap().as_bytes())["members"], 6);
    world.done(&with(
        &OPEN,
        &["--as-tar", "-o", "foreign.tar", "foreign.sealed"],
    ));
    assert_clean(&world);
}

/// The command line that unpacks everything, and one that unpacks a part.
fn unpacking(to: &str) -> [String; 2] {
    let open = OPEN.join(" ");
    ["", " a"].map(|part| format!("sealstone {open} -o {to} tree.sealed{part}"))
}

#[test]
fn a_disk_that_is_full_or_read_only_is_said() {
    let world = sealed();
    fs::create_dir(world.path("out")).unwrap();
    for (options, why) in [
        ("size=1m", "o space left"),
        // Not even the directories fit.
        ("nr_inodes=4", "o space left"),
        ("ro", "ead-only"),
    ] {
        for line in unpacking("out/new") {
            // The remaining files are listed while the disk is mounted.
            let line = format!("{line}; code=$?; ls -A out >&2; exit $code");
            let Some((code, said)) = world.on_a_disk("out", options, &line, &[]) else {
                return;
            };
            assert_eq!(code, 3, "{options}: {said}");
            assert!(said.contains(why), "{options}: {said}");
            assert!(
                !said.contains(".sealstone-") && !said.ends_with("new\n"),
                "{said}"
            );
        }
    }
    assert_clean(&world);
}

#[test]
fn a_directory_that_may_not_be_written_to_is_said() {
    let world = sealed();
    fs::create_dir(world.path("shut")).unwrap();
    fs::set_permissions(world.path("shut"), Permissions::from_mode(0o555)).unwrap();
    for line in unpacking("shut/new") {
        // Root without the capabilities to write everywhere.
        let line = format!(
            "as=; [ $(id -u) != 0 ] || as=\"setpriv --bounding-set -all --inh-caps -all\"; $as {line}"
        );
        let said = refuse(&mut world.bash(&line), 3);
        assert!(
            said.contains("shut") && said.contains("ermission denied"),
            "{said}"
        );
    }
    assert_eq!(fs::read_dir(world.path("shut")).unwrap().count(), 0);
    assert_clean(&world);
}
