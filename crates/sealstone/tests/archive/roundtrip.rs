//! Archives are written and read again, by both readers.

use sealstone::archive::{Again, EntryKind, MAX_PATH};

use crate::common::{Memory, by_index, sample, whole};

#[test]
fn both_readers_see_what_was_written() {
    for memory in [Memory::default(), sample()] {
        let archive = memory.archive();
        let found = whole(&archive).unwrap();
        assert_eq!(found, by_index(&archive).unwrap());
        assert_eq!(found.len(), memory.0.len());
        for ((entry, content), (expected, map, stored)) in found.iter().zip(&memory.0) {
            assert_eq!(entry, expected);
            let mut flat = stored.clone();
            if let Some(map) = map {
                flat = vec![0; entry.size() as usize];
                let mut rest = &stored[..];
                for (at, length) in map.fragments() {
                    let (fragment, others) = rest.split_at(*length as usize);
                    flat[*at as usize..][..fragment.len()].copy_from_slice(fragment);
                    rest = others;
                }
            }
            assert!(*content == flat, "{:?}", entry.path);
        }
    }
}

#[test]
fn an_archive_that_is_read_again_is_the_same() {
    let archive = sample().archive();
    let mut again = Vec::new();
    std::io::copy(&mut Again::new(&archive[..], None), &mut again).unwrap();
    assert!(again == archive);
    for end in [0, 1, 600, archive.len() - 1] {
        let mut again = Again::new(&archive[..end], None);
        assert!(std::io::copy(&mut again, &mut std::io::sink()).is_err());
    }
}

/// A tree may break a rule, for example if it changes while it is read.
#[test]
fn a_tree_that_breaks_a_rule_makes_no_archive() {
    let long = "n".repeat(MAX_PATH + 1);
    let mut longer = Memory::default().file("a", b"content");
    longer.0[0].2.push(b'!');
    let mut shorter = Memory::default().file("a", b"content");
    shorter.0[0].2.pop();
    let mut unmapped = Memory::default().sparse("a", 9, &[(0, 2)], b"ab");
    unmapped.0[0].1 = None;
    let mut mode = Memory::default().file("a", b"");
    mode.0[0].0.mode = 0o4755;
    let mut size = Memory::default().file("a", b"");
    size.0[0].0.kind = EntryKind::File { size: 1 << 63 };
    let mut link = Memory::default().link("a", "b");
    link.0[0].0.mode = 0o755;
    let deep = (1..=256).map(|depth| vec!["d"; depth].join("/"));
    let deep = deep.fold(Memory::default(), |tree, path| tree.directory(&path));
    for bad in [
        Memory::default().file("b", b"").file("a", b""),
        Memory::default().file("a", b"").file("a", b""),
        Memory::default().file("a/b", b""),
        Memory::default().file("..", b""),
        Memory::default().file("a\0b", b""),
        Memory::default().file(long, b""),
        Memory::default().file("a", b"").file("a/b", b""),
        Memory::default().file(".", b""),
        Memory::default().directory("a-").file("a/b", b""),
        Memory::default().link("a", b""),
        Memory::default().link("a", b"b\0c"),
        Memory::default().link("a", "n".repeat(MAX_PATH + 1)),
        link,
        deep,
        longer,
        shorter,
        unmapped,
        mode,
        size,
    ] {
        assert!(bad.try_archive().is_err());
    }
}

/// Other programs store sizes in signed numbers.
#[test]
fn a_size_is_below_2_to_the_63() {
    let Some((mut entry, ..)) = Memory::default().file("a", b"").0.pop_front() else {
        unreachable!("the tree has a member")
    };
    for (size, is_good) in [(i64::MAX as u64, true), (1 << 63, false), (u64::MAX, false)] {
        entry.kind = EntryKind::File { size };
        assert_eq!(entry.check().is_ok(), is_good, "{size}");
        entry.kind = EntryKind::Sparse {
            size: 0,
            stored: size,
        };
        assert_eq!(entry.check().is_ok(), is_good, "{size}");
    }
}
