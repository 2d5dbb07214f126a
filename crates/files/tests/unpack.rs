//! Unpacking: members that the system cannot store are named, and no path leads out of the new
//! directory.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use sealstone::archive::{Entry, EntryKind, Target};
use sealstone_files::{Sync, Unpack, umask};
use tempfile::TempDir;

/// The time of every member: long ago.
const TIME: i64 = 1_000_000_000;

/// A directory that is being unpacked, beside others.
struct Scene {
    scratch: TempDir,
    unpack: Unpack,
}

impl Scene {
    fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        fs::create_dir(scratch.path().join("outside")).unwrap();
        let target = scratch.path().join("new");
        let unpack = Unpack::beside(&target, |path| path.display().to_string()).unwrap();
        Self { scratch, unpack }
    }

    /// The directory before it gets its name.
    fn hidden(&self) -> PathBuf {
        let entries = fs::read_dir(self.scratch.path()).unwrap();
        let mut paths = entries.map(|entry| entry.unwrap().path());
        let hidden = |path: &PathBuf| path.file_name().unwrap().as_encoded_bytes()[0] == b'.';
        paths.find(hidden).unwrap()
    }

    fn outside(&self) -> PathBuf {
        self.scratch.path().join("outside")
    }

    fn try_make(&mut self, path: &str, kind: EntryKind) -> sealstone::Result<()> {
        let mode = match kind {
            EntryKind::Link { .. } => 0o777,
            _ => 0o700,
        };
        self.try_make_so(path, kind, mode)
    }

    fn try_make_so(&mut self, path: &str, kind: EntryKind, mode: u32) -> sealstone::Result<()> {
        let entry = Entry {
            path: path.into(),
            kind,
            mode,
            modified: TIME,
        };
        self.unpack.member(&entry, |place| {
            place.put(0, b"content")?;
            Ok(place.end(entry.size())?)
        })
    }

    fn file(&mut self, path: &str) {
        self.try_make(path, EntryKind::File { size: 7 }).unwrap();
    }

    fn directory(&mut self, path: &str) {
        self.try_make(path, EntryKind::Directory).unwrap();
    }

    fn link(&mut self, path: &str, target: &str) {
        let target = target.into();
        self.try_make(path, EntryKind::Link { target }).unwrap();
    }

    /// Path and reason of all omitted members.
    fn left_out(&self) -> Vec<(String, String)> {
        let all = self.unpack.unstorable();
        let all: Vec<_> = all
            .map(|(path, why)| (path.display().to_string(), why.to_owned()))
            .collect();
        assert_eq!(self.unpack.left_out(), all.len() as u64);
        all
    }

    /// Gives it its name. Returns its path.
    fn commit(self) -> (TempDir, PathBuf) {
        let target = self.scratch.path().join("new");
        self.unpack.commit(&target, Sync::None).unwrap();
        (self.scratch, target)
    }
}

fn names(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn names_that_are_too_long_are_named_and_the_others_are_made() {
    let mut scene = Scene::new();
    let (long, longest) = ("n".repeat(256), "z".repeat(255));
    scene.file("a");
    scene.directory(&long);
    scene.file(&format!("{long}/below"));
    scene.directory(&format!("{long}/deep"));
    scene.file(&format!("{long}/deep/er"));
    scene.link(&"o".repeat(300), "a");
    scene.file(&"p".repeat(4095));
    scene.file(&longest);
    let left_out = scene.left_out();
    let paths: Vec<&str> = left_out.iter().map(|(path, _)| path.as_str()).collect();
    let expected = [
        long.clone(),
        format!("{long}/below"),
        format!("{long}/deep"),
        format!("{long}/deep/er"),
        "o".repeat(300),
        "p".repeat(4095),
    ];
    assert_eq!(paths, expected);
    assert!(left_out[0].1.contains("too long"), "{:?}", left_out[0]);
    assert_eq!(left_out[1].1, "its directory is left out");
    assert_eq!(scene.unpack.count(), 2);
    let (_scratch, new) = scene.commit();
    assert_eq!(names(&new), ["a".to_owned(), longest]);
}

/// The case of a file system on which `B` and `b` are the same name.
#[test]
fn a_name_that_the_system_takes_for_another_keeps_the_first() {
    let mut scene = Scene::new();
    let hidden = scene.hidden();
    fs::write(hidden.join("B"), "the first").unwrap();
    fs::create_dir(hidden.join("D")).unwrap();
    scene.file("B");
    scene.directory("D");
    scene.file("D/below");
    scene.link("E", "B");
    let left_out = scene.left_out();
    assert_eq!(left_out.len(), 3, "{left_out:?}");
    assert_eq!(left_out[0].1, "the system takes it for another name");
    let (_scratch, new) = scene.commit();
    assert_eq!(fs::read(new.join("B")).unwrap(), b"the first");
    assert!(names(&new.join("D")).is_empty());
}

#[test]
fn more_names_than_are_kept_are_counted() {
    let mut scene = Scene::new();
    for i in 0..1500 {
        scene.file(&format!("{i:0300}"));
    }
    assert_eq!(scene.unpack.unstorable().count(), 1000);
    assert_eq!(scene.unpack.left_out(), 1500);
}

#[test]
fn paths_that_lead_out_or_stop_early_are_refused() {
    let mut scene = Scene::new();
    scene.directory("d");
    for path in [
        "..",
        "../outside/x",
        "d/../../outside/x",
        "/etc/x",
        "d//x",
        "d/.",
        "d/..",
        "",
        "x\0y",
        "no/directory",
        "d/no/directory",
    ] {
        let file = EntryKind::File { size: 7 };
        assert!(scene.try_make(path, file).is_err(), "{path:?}");
        assert!(
            scene.try_make(path, EntryKind::Directory).is_err(),
            "{path:?}"
        );
    }
    assert!(names(&scene.outside()).is_empty());
    let (_scratch, new) = scene.commit();
    assert_eq!(names(&new), ["d"]);
}

/// An attacker with write access puts links in the places of members.
#[test]
fn links_are_never_followed() {
    let mut scene = Scene::new();
    let (hidden, outside) = (scene.hidden(), scene.outside());
    fs::write(outside.join("file"), "untouched").unwrap();
    symlink(outside.join("file"), hidden.join("a")).unwrap();
    symlink(&outside, hidden.join("b")).unwrap();
    symlink(outside.join("new"), hidden.join("c")).unwrap();
    scene.file("a");
    scene.directory("b");
    scene.file("b/x");
    scene.file("c");
    assert_eq!(scene.left_out().len(), 4);
    // A directory that is replaced after it was opened: unpacking continues in the opened one.
    scene.directory("d");
    fs::rename(hidden.join("d"), scene.scratch.path().join("moved")).unwrap();
    symlink(&outside, hidden.join("d")).unwrap();
    scene.file("d/y");
    scene.directory("d/z");
    scene.file("d/z/deep");
    // Its mode and time are set there, too.
    let before = fs::metadata(&outside).unwrap();
    scene.file("e");
    assert_eq!(names(&outside), ["file"]);
    assert_eq!(fs::read(outside.join("file")).unwrap(), b"untouched");
    let after = fs::metadata(&outside).unwrap();
    assert_eq!(before.permissions(), after.permissions());
    assert_eq!(before.modified().unwrap(), after.modified().unwrap());
    assert_eq!(names(&scene.scratch.path().join("moved")), ["y", "z"]);
}

/// Links of the archive may lead out, but no member is made through them.
#[test]
fn a_link_of_the_archive_is_no_directory() {
    let mut scene = Scene::new();
    scene.link("l", "../outside");
    let file = EntryKind::File { size: 7 };
    assert!(scene.try_make("l/x", file).is_err());
    assert!(names(&scene.outside()).is_empty());
}

#[test]
fn modes_and_times_are_those_of_the_archive() {
    let mut scene = Scene::new();
    let (file, directory) = (EntryKind::File { size: 7 }, EntryKind::Directory);
    // The owner has no write permission on the first two, which are filled nevertheless.
    let made = [
        ("shut", &directory, 0o555),
        ("shut/deep", &directory, 0o077),
        ("shut/deep/file", &file, 0o451),
        ("wide", &directory, 0o777),
        ("wide/file", &file, 0o666),
    ];
    for (path, kind, mode) in made {
        scene.try_make_so(path, kind.clone(), mode).unwrap();
    }
    scene.link("wide/link", "file");
    scene.unpack.modified(TIME as u64);
    let (scratch, new) = scene.commit();
    assert_eq!(fs::metadata(&new).unwrap().mtime(), TIME);
    let link = new.join("wide/link").symlink_metadata().unwrap();
    assert_eq!(link.mtime(), TIME);
    // From the inside out: users other than root cannot read closed directories.
    for (path, _, mode) in made.iter().rev() {
        let path = new.join(path);
        if let Ok(found) = fs::metadata(&path) {
            let found = (found.permissions().mode() & 0o7777, found.mtime());
            assert_eq!(found, (mode & !umask(), TIME), "{}", path.display());
        }
    }
    for shut in ["shut", "shut/deep"] {
        let open = fs::Permissions::from_mode(0o700);
        fs::set_permissions(new.join(shut), open).unwrap();
    }
    drop(scratch);
}

/// The last modes are set after the directory got its name, when others may write to it.
#[test]
fn no_mode_is_set_through_a_link() {
    for exchanged in ["d", "d/shut"] {
        let mut scene = Scene::new();
        let elsewhere = scene.outside().join("shut");
        fs::create_dir(&elsewhere).unwrap();
        let open = fs::Permissions::from_mode(0o700);
        fs::set_permissions(&elsewhere, open).unwrap();
        scene.directory("d");
        let directory = EntryKind::Directory;
        scene.try_make_so("d/shut", directory, 0o555).unwrap();
        let place = scene.hidden().join(exchanged);
        fs::rename(&place, scene.scratch.path().join("moved")).unwrap();
        let target = match exchanged {
            "d" => scene.outside(),
            _ => elsewhere.clone(),
        };
        symlink(target, place).unwrap();
        let new = scene.scratch.path().join("new");
        assert!(scene.unpack.commit(&new, Sync::None).is_err());
        let mode = fs::metadata(&elsewhere).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{exchanged}");
    }
}

#[test]
fn a_hole_at_the_end_is_kept() {
    let mut scene = Scene::new();
    let (size, stored) = (1 << 30, 1024);
    let sparse = EntryKind::Sparse { size, stored };
    scene.try_make("sparse", sparse).unwrap();
    let (_scratch, new) = scene.commit();
    let found = fs::metadata(new.join("sparse")).unwrap();
    assert_eq!(found.len(), size);
    assert!(found.blocks() < 1000, "the hole was filled");
}

#[test]
fn a_directory_that_is_not_committed_is_gone() {
    let mut scene = Scene::new();
    scene.directory("d");
    scene.file("d/f");
    drop(scene.unpack);
    assert_eq!(names(scene.scratch.path()), ["outside"]);
}
