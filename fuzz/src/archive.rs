//! Archives of an attacker who has the file key or signs.

use std::io::{self, Cursor};
use std::sync::LazyLock;

use arbitrary::Unstructured;
use sealstone::Result;
use sealstone::archive::{
    Again, Archive, Entry, EntryKind, Flat, Item, Map, Members, Target, Tree, Writer,
};

use crate::PLANTED;
use crate::edit::edited;

/// Members of all kinds, and their archive.
static GOLDEN: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let link = |target: &str| EntryKind::Link {
        target: target.into(),
    };
    let map = Map::new(1 << 20, vec![(7, 5)]).expect("a map");
    let sparse = EntryKind::Sparse {
        size: 1 << 20,
        stored: map.stored(),
    };
    let mut members = vec![
        (entry("d", EntryKind::Directory), None, ""),
        (
            entry("d/file", EntryKind::File { size: 7 }),
            None,
            "content",
        ),
        (entry("d/link", link("file")), None, ""),
        (entry("d/s", sparse), Some(map), "holes"),
        (entry("\u{e4}", EntryKind::File { size: 0 }), None, ""),
    ];
    members.reverse();
    let mut archive = Vec::new();
    let written = io::copy(&mut Writer::new(Memory(members), None), &mut archive);
    written.expect("a good archive");
    archive
});

fn entry(path: &str, kind: EntryKind) -> Entry {
    let mode = match kind {
        EntryKind::Link { .. } => 0o777,
        _ => 0o755,
    };
    Entry {
        path: path.into(),
        kind,
        mode,
        modified: 5,
    }
}

/// The last first.
struct Memory(Vec<(Entry, Option<Map>, &'static str)>);

impl Tree for Memory {
    type Content = &'static [u8];

    fn next(&mut self) -> Result<Option<Item<&'static [u8]>>> {
        Ok(self.0.pop().map(|(entry, map, content)| Item {
            entry,
            map,
            content: content.as_bytes(),
        }))
    }
}

/// Two readers that accept an archive read the same content. Writing it again gives the same bytes.
pub fn archive(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let archive = match bytes.arbitrary::<u8>().unwrap_or(0) % 4 {
        0 => bytes.take_rest().to_vec(),
        1 => edited(&GOLDEN, &mut bytes),
        _ => forged(&mut bytes),
    };
    let whole = whole(&archive);
    let by_index = by_index(&archive);
    let Ok(whole) = whole else {
        return;
    };
    let by_index = by_index.expect("a whole archive has a good index");
    assert_eq!(whole, by_index);
    let mut again = Vec::new();
    io::copy(&mut Again::new(&archive[..], None), &mut again).expect("it is whole");
    if whole
        .iter()
        .all(|(entry, _)| entry.size() <= i64::MAX as u64)
        && archive.len() < 1 << 20
    {
        // An archive of this length has no hashes.
        assert!(again == archive);
    }
}

/// An archive with any members, whose headers and index agree.
fn forged(bytes: &mut Unstructured<'_>) -> Vec<u8> {
    let (mut tar, mut index, mut count) = (Vec::new(), Vec::new(), 0_u64);
    while count < 6 && !bytes.is_empty() {
        let path = path(bytes);
        let kind = *bytes.choose(b"005522Sx").unwrap_or(&b'0');
        let mode = *bytes.choose(&[0o755, 0o777, 0o4755, 0]).unwrap_or(&0);
        let size = match kind {
            b'0' => u64::from(bytes.arbitrary::<u8>().unwrap_or(0)),
            _ => 0,
        };
        let target: &[u8] = if kind == b'2' { b"to" } else { b"" };
        if PLANTED {
            // The planted bug: paths are not checked.
            let kind = EntryKind::File { size };
            let path = path.clone();
            check(&Entry {
                path,
                kind,
                mode,
                modified: 0,
            });
        }
        tar.extend(header(&path, mode, size, kind, target));
        tar.resize(tar.len() + (size as usize).next_multiple_of(512), 0);
        index.extend((path.len() as u16).to_be_bytes());
        index.extend(&path);
        index.push(kind);
        index.extend((mode as u16).to_be_bytes());
        index.extend([0; 8]);
        index.extend(size.to_be_bytes());
        index.extend(size.to_be_bytes());
        index.extend((target.len() as u16).to_be_bytes());
        index.extend(target);
        count += 1;
    }
    tar.resize(tar.len() + 1024, 0);
    let numbers = [tar.len() as u64, index.len() as u64, count, 0];
    let footer = numbers.iter().flat_map(|number| number.to_be_bytes());
    let footer = footer.chain(*b"sealstone.dir.v1");
    tar.into_iter().chain(index).chain(footer).collect()
}

/// A few characters with a meaning in paths.
fn path(bytes: &mut Unstructured<'_>) -> Vec<u8> {
    let length = bytes.int_in_range(0..=7).unwrap_or(0);
    let one = |_| *bytes.choose(b"aab./..\0").unwrap_or(&b'a');
    (0..length).map(one).collect()
}

/// A header with a short name, by the specification.
fn header(path: &[u8], mode: u32, size: u64, kind: u8, target: &[u8]) -> [u8; 512] {
    let mut block = [0; 512];
    let mut put = |at: usize, text: &[u8]| block[at..at + text.len()].copy_from_slice(text);
    put(0, path);
    if kind == b'5' {
        put(path.len(), b"/");
    }
    put(100, format!("{mode:07o}").as_bytes());
    put(108, b"0000000");
    put(116, b"0000000");
    put(124, format!("{size:011o}").as_bytes());
    put(136, b"00000000000");
    put(148, b"        ");
    put(156, &[kind]);
    put(157, target);
    put(257, b"ustar\x0000");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:07o}\0").as_bytes());
    block
}

/// A member, and its content without holes.
type Found = (Entry, Pieces);

/// The pieces with their places, and the end. Holes may have exabytes.
#[derive(Debug, Default, PartialEq)]
struct Pieces {
    bytes: Vec<u8>,
    positions: Vec<u64>,
    end: u64,
}

impl Target for Pieces {
    fn put(&mut self, position: u64, bytes: &[u8]) -> io::Result<()> {
        assert!(!bytes.is_empty() && position >= self.end);
        self.positions.push(position);
        self.bytes.extend_from_slice(bytes);
        self.end = position + bytes.len() as u64;
        Ok(())
    }

    fn end(&mut self, size: u64) -> io::Result<()> {
        assert!(size >= self.end);
        self.end = size;
        Ok(())
    }
}

fn whole(archive: &[u8]) -> Result<Vec<Found>> {
    let mut members = Members::new(archive);
    let mut found: Vec<Found> = Vec::new();
    while let Some(entry) = members.next_entry()? {
        check(&entry);
        let mut pieces = Pieces::default();
        if is_file(&entry) {
            members.content(&mut pieces)?;
        }
        found.push((entry, pieces));
    }
    Ok(found)
}

fn by_index(archive: &[u8]) -> Result<Vec<Found>> {
    let mut archive = Archive::new(Cursor::new(archive))?;
    let all: Vec<_> = archive.entries()?.collect::<Result<_>>()?;
    let mut found = Vec::new();
    for place in all {
        check(&place.entry);
        let mut pieces = Pieces::default();
        match is_file(&place.entry) {
            true => archive.content(&place, &mut pieces)?,
            false => archive.check_header(&place)?,
        }
        if place.entry.size() < 1 << 20 && is_file(&place.entry) {
            let mut flat = Vec::new();
            archive.content(&place, &mut Flat::new(&mut flat))?;
            assert_eq!(flat.len() as u64, place.entry.size());
        }
        found.push((place.entry, pieces));
    }
    Ok(found)
}

fn is_file(entry: &Entry) -> bool {
    matches!(
        entry.kind,
        EntryKind::File { .. } | EntryKind::Sparse { .. }
    )
}

/// Checks that no path leads out of the directory.
fn check(entry: &Entry) {
    let path = String::from_utf8_lossy(&entry.path);
    let parts = path.split('/').collect::<Vec<_>>();
    assert!(!parts.iter().any(|part| matches!(*part, "" | "." | "..")));
    assert!(!path.contains('\0'));
}
