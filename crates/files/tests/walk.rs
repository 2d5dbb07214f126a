//! A directory as the source of an archive: no read outside of it, no blocking, and an error if
//! files change meanwhile.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, symlink};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sealstone::archive::{Entry, EntryKind, Flat, MAX_DEPTH, Members, Tree, Writer};
use sealstone_files::Walk;
use tempfile::TempDir;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

fn shown(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// The archive of a directory, and the omitted paths.
fn archive(root: &Path) -> io::Result<(Vec<u8>, Vec<PathBuf>)> {
    let (mut left_out, mut archive) = (Vec::new(), Vec::new());
    let walk = Walk::open(root, shown, |path: &Path| left_out.push(path.to_owned()))?;
    io::copy(&mut Writer::new(walk, None), &mut archive)?;
    Ok((archive, left_out))
}

/// The members of an archive, with the content of files.
fn members(archive: &[u8]) -> Vec<(Entry, Vec<u8>)> {
    let (mut members, mut found) = (Members::new(archive), Vec::new());
    while let Some(entry) = members.next_entry().unwrap() {
        let mut content = Vec::new();
        if matches!(
            entry.kind,
            EntryKind::File { .. } | EntryKind::Sparse { .. }
        ) {
            members.content(&mut Flat::new(&mut content)).unwrap();
        }
        found.push((entry, content));
    }
    found
}

#[test]
fn links_are_not_followed_and_nothing_blocks() {
    let scratch = tempfile::tempdir().unwrap();
    let (inside, outside) = (scratch.path().join("in"), scratch.path().join("out"));
    fs::create_dir_all(inside.join("a/x")).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret"), "secret").unwrap();
    fs::write(inside.join("a b"), "content").unwrap();
    fs::write(inside.join("a/x/y"), "").unwrap();
    symlink("../out", inside.join("directory")).unwrap();
    symlink("../out/secret", inside.join("file")).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    let pipe = inside.join("a/pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let socket = inside.join("socket");
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());

    let (archive, left_out) = archive(&inside).unwrap();
    let found = members(&archive);
    let paths: Vec<String> = found
        .iter()
        .map(|(entry, _)| String::from_utf8(entry.path.clone()).unwrap())
        .collect();
    // A whole directory comes before a longer name with the same beginning.
    let expected = ["a", "a/x", "a/x/y", "a b", "directory", "file"];
    assert_eq!(paths, expected);
    for (place, target) in [(4, "../out"), (5, "../out/secret")] {
        let target = target.into();
        assert_eq!(found[place].0.kind, EntryKind::Link { target });
    }
    assert_eq!(left_out, [pipe, socket]);
}

/// A file of this length with content at these places.
fn sparse(scratch: &TempDir, name: &str, size: u64, content: &[(u64, u64)]) {
    let file = File::create(scratch.path().join(name)).unwrap();
    file.set_len(size).unwrap();
    for (at, length) in content {
        let bytes = vec![7; *length as usize];
        file.write_all_at(&bytes, *at).unwrap();
    }
}

#[test]
fn long_holes_are_kept_and_short_ones_are_zeros() {
    let scratch = tempfile::tempdir().unwrap();
    let page = 4 * KIB;
    sparse(&scratch, "all", 8 * MIB, &[]);
    sparse(&scratch, "before", 8 * MIB, &[(8 * MIB - page, page)]);
    sparse(&scratch, "behind", 8 * MIB, &[(0, page)]);
    sparse(
        &scratch,
        "between",
        8 * MIB,
        &[(0, page), (4 * MIB, 4 * MIB)],
    );
    // Holes of 16 KiB at the beginning, in the middle and at the end.
    let islands = [(16 * KIB, 64 * KIB), (96 * KIB, 64 * KIB)];
    sparse(&scratch, "short", 176 * KIB, &islands);
    let (archive, _) = archive(scratch.path()).unwrap();
    let found = members(&archive);
    assert_eq!(found.len(), 5);
    for ((entry, content), most) in found.iter().zip([0, 4, 4, 4100, 176]) {
        let name = String::from_utf8(entry.path.clone()).unwrap();
        let path = scratch.path().join(&name);
        assert!(*content == fs::read(path).unwrap(), "{name}");
        let stored = match entry.kind {
            EntryKind::Sparse { stored, .. } if name != "short" => stored,
            EntryKind::File { size } if name == "short" => size,
            _ => panic!("{entry:?}"),
        };
        // The limit includes the map.
        assert!(stored <= most * KIB + 512, "{name}: {stored}");
    }
}

/// A file that grows, one that is cut short, and one with other bytes, with holes or without.
#[test]
fn a_file_that_changes_while_it_is_read_is_refused() {
    type Change = fn(&File);
    let changes: [Change; 3] = [
        |file| file.write_all_at(b"!", 4 * MIB).unwrap(),
        |file| file.set_len(MIB).unwrap(),
        |file| file.write_all_at(b"!", 9).unwrap(),
    ];
    for content in [&[(0, 4 * MIB)][..], &[(0, 8 * KIB)]] {
        for (number, change) in changes.iter().enumerate() {
            let scratch = tempfile::tempdir().unwrap();
            sparse(&scratch, "file", 4 * MIB, content);
            let path = scratch.path().join("file");
            let file = File::options().write(true).open(path).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
            let mut walk = Walk::open(scratch.path(), shown, |_: &Path| {}).unwrap();
            let mut item = walk.next().unwrap().unwrap();
            item.content.read_exact(&mut [0; 3]).unwrap();
            change(&file);
            let read = item.content.read_to_end(&mut Vec::new());
            let said = read.expect_err(&number.to_string()).to_string();
            assert_eq!(said, "file: changed while it was read");
        }
    }
}

#[test]
fn paths_that_no_archive_has_are_named() {
    let scratch = tempfile::tempdir().unwrap();
    let deep = |depth: usize| scratch.path().join(vec!["d"; depth].join("/"));
    fs::create_dir_all(deep(MAX_DEPTH)).unwrap();
    assert_eq!(
        members(&archive(scratch.path()).unwrap().0).len(),
        MAX_DEPTH
    );
    fs::create_dir(deep(MAX_DEPTH + 1)).unwrap();
    let error = archive(scratch.path()).unwrap_err().to_string();
    assert!(
        error.contains("d: an archive has paths of at most"),
        "{error}"
    );
}
