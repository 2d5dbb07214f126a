//! Sealed directories: `seal DIR`, `list`, `open` of all and of some members.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use crate::world::{World, json, refuse, succeed};

pub(crate) const SEAL: [&str; 7] = [
    "seal",
    "-q",
    "-r",
    "bob.pub",
    "--from",
    "alice.passport",
    "tree",
];
pub(crate) const OPEN: [&str; 4] = ["open", "--no-sync", "-i", "bob.passport"];
pub(crate) const LIST: [&str; 3] = ["list", "-i", "bob.passport"];

/// A directory of this name with all kinds of members.
fn plant(world: &World, name: &str) {
    let root = world.path(name);
    for directory in ["empty", "a/b/c", "tools"] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    fs::write(root.join("a/b/c/plan.txt"), "attack at dawn\n").unwrap();
    fs::write(root.join("a/large"), vec![7; 3 << 20]).unwrap();
    fs::write(root.join("a b"), "").unwrap();
    let odd = OsString::from_vec(b"odd\n\x1b[2J \xff\xe4".to_vec());
    fs::write(root.join(odd), "odd").unwrap();
    fs::write(root.join("tools/run"), "#!/bin/sh\n").unwrap();
    let mode = |path: &str, mode| {
        fs::set_permissions(root.join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("tools/run", 0o755);
    mode("a/b/c/plan.txt", 0o640);
    mode("a/b", 0o700);
    symlink("a/b/c/plan.txt", root.join("link")).unwrap();
    symlink("/nowhere", root.join("dangling")).unwrap();
    let sparse = fs::File::create(root.join("sparse")).unwrap();
    sparse.set_len(64 << 20).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&sparse, b"end", (64 << 20) - 3).unwrap();
}

fn world() -> World {
    let world = World::with_bob_approved();
    plant(&world, "tree");
    world
}

/// A world where `tree` is sealed as `tree.sealed`.
pub(crate) fn sealed() -> World {
    let world = world();
    world.done(&SEAL);
    world
}

/// Seals `plan.txt`, which is not a directory.
fn seal_plan(world: &World) {
    let seal = [&SEAL[..6], &["plan.txt"]].concat();
    world.done(&seal);
}

pub(crate) fn with<'a>(verb: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [verb, more].concat()
}

/// Asserts that both directories are the same, as far as an archive stores it.
#[track_caller]
fn assert_same(a: &Path, b: &Path) {
    let names = |path: &Path| {
        let entries = fs::read_dir(path).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(a), names(b), "{}", a.display());
    for name in names(a) {
        let (a, b) = (a.join(&name), b.join(&name));
        let (x, y) = (a.symlink_metadata().unwrap(), b.symlink_metadata().unwrap());
        assert_eq!(
            (x.mode(), x.len(), x.mtime()),
            (y.mode(), y.len(), y.mtime()),
            "{}",
            a.display()
        );
        match x.file_type() {
            kind if kind.is_dir() => assert_same(&a, &b),
            kind if kind.is_symlink() => {
                assert_eq!(fs::read_link(a).unwrap(), fs::read_link(b).unwrap())
            }
            _ => assert!(fs::read(a).unwrap() == fs::read(b).unwrap()),
        }
    }
}

/// Asserts that no incomplete file is left.
#[track_caller]
pub(crate) fn assert_clean(world: &World) {
    let names = world.names();
    assert!(!names.iter().any(|name| name.starts_with('.')), "{names:?}");
}

#[test]
fn a_directory_is_sealed_and_unpacked() {
    let world = sealed();
    for (form, more) in [
        ("signed", &[][..]),
        ("padded", &["--pad", "--suite", "aes256gcm"]),
        ("armored", &["--armor"]),
    ] {
        world.done(&with(&SEAL, &with(&["--force"], more)));
        let opened = world.done(&with(&OPEN, &["--json", "-o", form, "tree.sealed"]));
        let opened = json(&opened);
        assert_eq!(
            (&opened["members"], &opened["name"]),
            (&13.into(), &"tree".into())
        );
        assert_same(&world.path("tree"), &world.path(form));
    }
    let blocks = world.path("signed/sparse").metadata().unwrap().blocks();
    assert!(blocks < 1000, "the hole was filled: {blocks} blocks");
    let sealed = world.path("tree.sealed").metadata().unwrap().len();
    assert!(sealed < 16 << 20, "the hole was sealed: {sealed} bytes");
    assert_clean(&world);
}

#[test]
fn unsigned_ones_and_those_with_a_passphrase_too() {
    let world = world();
    let seal = ["seal", "-q", "--unsigned", "-r", "bob.pub", "tree/"];
    world.done(&seal);
    fs::rename(world.path("tree"), world.path("old")).unwrap();
    world.done(&with(&OPEN, &["-q", "tree.sealed"]));
    assert_same(&world.path("old"), &world.path("tree"));
    let listed = world.done(&with(&LIST, &["-q", "tree.sealed"]));
    assert!(
        String::from_utf8(listed)
            .unwrap()
            .contains("a/b/c/plan.txt\n")
    );
}

#[test]
fn the_umask_takes_permissions_away() {
    let world = sealed();
    let mut command =
        world.bash("umask 077; sealstone open -q --no-sync -i bob.passport -o new tree.sealed");
    succeed(&mut command);
    assert_eq!(world.mode("new/tools/run"), 0o700);
    assert_eq!(world.mode("new/a/b/c/plan.txt"), 0o600);
    assert_eq!(world.mode("new"), 0o700);
}

#[test]
fn the_list_shows_names_and_obeys_none() {
    let world = sealed();
    let listed = String::from_utf8(world.done(&with(&LIST, &["tree.sealed"]))).unwrap();
    assert_eq!(listed.lines().count(), 13);
    assert!(
        listed.starts_with("a/\na/b/\na/b/c/\na/b/c/plan.txt\na/large\na b\ndangling\n"),
        "{listed}"
    );
    assert!(!listed.contains('\x1b') && listed.contains("odd\\u{a}"));
    let long = String::from_utf8(world.done(&with(&LIST, &["-l", "tree.sealed"]))).unwrap();
    let plan = long.lines().find(|line| line.ends_with(" a/b/c/plan.txt"));
    let plan = plan.expect(&long);
    assert!(
        plan.starts_with("-rw-r----- ") && plan.contains(" 15 "),
        "{long}"
    );
    assert!(
        long.contains("link -> a/b/c/plan.txt\n") && long.contains(" 67108864 "),
        "{long}"
    );
    let lines = String::from_utf8(world.done(&with(&LIST, &["--json", "tree.sealed"]))).unwrap();
    let mut lines = lines.lines().map(|line| json(line.as_bytes()));
    let summary = lines.next().unwrap();
    assert_eq!(
        (&summary["members"], &summary["sender"]["label"]),
        (&13.into(), &"alice".into())
    );
    let odd = lines.find(|entry| !entry["path_base64"].is_null()).unwrap();
    assert_eq!(odd["path_base64"], "b2RkChtbMkog/+Q=");
    // The content of a pipe is copied, still sealed.
    let mut piped = world.bash("cat tree.sealed | sealstone list -q -i bob.passport -");
    assert_eq!(String::from_utf8(succeed(&mut piped)).unwrap(), listed);
}

#[test]
fn single_files_and_directories_come_out() {
    let world = sealed();
    let open = |more: &[&str]| world.done(&with(&OPEN, &with(&["-q", "tree.sealed"], more)));
    let said = world.refused(&with(&OPEN, &["tree.sealed", "a/b/c/plan.txt"]), 3);
    assert!(said.contains("plan.txt exists"), "{said}");
    fs::remove_file(world.path("plan.txt")).unwrap();
    open(&["a/b/c/plan.txt"]);
    assert_eq!(world.read("plan.txt"), b"attack at dawn\n");
    assert_eq!(open(&["./a/b/c/plan.txt", "-o", "-"]), b"attack at dawn\n");
    open(&["a/", "-o", "part"]);
    assert_same(&world.path("tree/a"), &world.path("part"));
    fs::create_dir(world.path("out")).unwrap();
    open(&["a/b", "sparse", "tools/run", "-o", "out"]);
    assert_same(&world.path("tree/a/b"), &world.path("out/b"));
    assert!(world.read("out/sparse") == world.read("tree/sparse"));
    assert!(world.path("out/sparse").metadata().unwrap().blocks() < 1000);
    assert_eq!(world.read("out/run"), b"#!/bin/sh\n");
    // A name that is not text.
    let odd = OsStr::from_bytes(b"odd\n\x1b[2J \xff\xe4");
    let mut command = world.command(&with(&OPEN, &["-q", "tree.sealed"]));
    succeed(command.arg(odd));
    assert_eq!(fs::read(world.path(odd)).unwrap(), b"odd");
    fs::remove_file(world.path(odd)).unwrap();
    assert_clean(&world);
}

#[test]
fn a_missing_path_is_told_and_nothing_is_made() {
    let world = sealed();
    seal_plan(&world);
    let before = world.names();
    let refused = |args: &[&str], code, why: &str| {
        let said = world.refused(&with(&OPEN, args), code);
        assert!(said.contains(why), "{said}");
        assert_eq!(world.names(), before);
    };
    refused(&["tree.sealed", "a/b/no"], 2, "no file or directory a/b/no");
    refused(&["tree.sealed", "a/b/c/plan"], 2, "no file or directory");
    refused(
        &["tree.sealed", "link"],
        2,
        "symbolic link to a/b/c/plan.txt",
    );
    refused(
        &["tree.sealed", ".."],
        2,
        "not a path in a sealed directory",
    );
    refused(
        &["tree.sealed", "a/x", "b/x"],
        2,
        "two of the paths end in x",
    );
    refused(
        &["tree.sealed", "tools/run", "a/b", "-o", "no"],
        2,
        "is not a directory",
    );
    refused(&["plan.txt.sealed", "a"], 2, "it is not a sealed directory");
    refused(
        &["--as-tar", "-o", "t", "plan.txt.sealed"],
        2,
        "is not a sealed directory",
    );
    refused(&["-o", "-", "tree.sealed"], 2, "--as-tar");
    // An existing directory is refused before any prompt.
    let mut command = world.command(&with(&OPEN, &["tree.sealed"]));
    let said = refuse(command.env_remove("SEALSTONE_PASSPHRASE"), 3);
    assert!(
        said.contains("is a directory") && said.contains("--force"),
        "{said}"
    );
    let said = world.refused(&with(&LIST, &["plan.txt.sealed"]), 2);
    assert!(said.contains("it is not a sealed directory"), "{said}");
    let edit = ["edit", "-i", "bob.passport", "--unsigned", "tree.sealed"];
    let mut command = world.command(&edit);
    let said = refuse(command.env("EDITOR", "touch edited; true"), 2);
    assert!(
        said.contains("sealed directory") && !world.path("edited").exists(),
        "{said}"
    );
    assert_eq!(world.names(), before);
}

#[test]
fn an_existing_directory_is_moved_aside_with_force() {
    let world = sealed();
    fs::write(world.path("tree/mine"), "mine").unwrap();
    for number in 1..3 {
        world.done(&with(&OPEN, &["-q", "--force", "tree.sealed"]));
        assert!(!world.path("tree/mine").exists());
        assert!(world.path(format!("tree.~{number}~")).exists());
    }
    assert_eq!(world.read("tree.~1~/mine"), b"mine");
    // A file does not replace a directory.
    seal_plan(&world);
    let said = world.refused(
        &with(&OPEN, &["--force", "-o", "tree", "plan.txt.sealed"]),
        3,
    );
    assert!(said.contains("is a directory"), "{said}");
    assert!(world.path("tree/a/b/c/plan.txt").exists());
}

#[test]
fn many_are_sealed_and_opened_at_once() {
    let world = world();
    plant(&world, "other");
    world.done(&with(&SEAL, &["other", "plan.txt"]));
    fs::create_dir(world.path("out")).unwrap();
    let sealed = ["tree.sealed", "other.sealed", "plan.txt.sealed"];
    world.done(&with(&OPEN, &with(&["-q", "-o", "out"], &sealed)));
    for name in ["tree", "other"] {
        assert_same(&world.path(name), &world.path(format!("out/{name}")));
    }
    assert_eq!(world.read("out/plan.txt"), b"attack at dawn\n");
}

#[test]
fn a_directory_is_sealed_again_for_others() {
    let world = sealed();
    let reseal = [
        "reseal",
        "-q",
        "-i",
        "bob.passport",
        "--from",
        "bob.passport",
        "-r",
        "alice.pub",
    ];
    world.done(&with(&reseal, &["tree.sealed"]));
    let open = ["open", "-q", "--no-sync", "-i", "alice.passport"];
    let more = ["--from", "bob.pub", "-o", "new", "tree.sealed"];
    world.done(&with(&open, &more));
    assert_same(&world.path("tree"), &world.path("new"));
    let one = world.done(&with(&open, &["tree.sealed", "a/b/c/plan.txt", "-o", "-"]));
    assert_eq!(one, b"attack at dawn\n");
}

#[test]
fn every_tar_reads_it() {
    let world = sealed();
    world.done(&with(&OPEN, &["-q", "--as-tar", "tree.sealed"]));
    let script = "mkdir plain && tar xf tree.tar -C plain";
    let output = world.bash(script).output().unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
    assert_same(&world.path("tree"), &world.path("plain"));
    let mut piped = world
        .bash("sealstone open -q -i bob.passport --as-tar -o - tree.sealed | tar tf - | wc -l");
    assert_eq!(succeed(&mut piped), b"13\n");
}

/// An entry of another kind is left out. An entry that cannot be read ends the run.
#[test]
fn entries_that_no_archive_holds_are_told() {
    let world = world();
    let made = Command::new("mkfifo")
        .arg(world.path("tree/a/pipe"))
        .status();
    assert!(made.unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(world.path("tree/socket")).unwrap();
    let output = world.command(&SEAL).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("tree/a/pipe is left out") && said.contains("tree/socket is left out"),
        "{said}"
    );
    world.done(&with(&OPEN, &["-q", "-o", "new", "tree.sealed"]));
    assert!(!world.path("new/socket").exists());

    let inside = with(&SEAL, &["-o", "tree/a/inside.sealed"]);
    let said = world.refused(&inside, 2);
    assert!(
        said.contains("is in the directory that is sealed"),
        "{said}"
    );
    let seal = ["seal", "-q", "-r", "bob.pub", "--unsigned", "."];
    let said = world.refused(&seal, 2);
    assert!(said.contains("-o OUT"), "{said}");
}
