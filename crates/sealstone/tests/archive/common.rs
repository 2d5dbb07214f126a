//! Trees in memory.

use std::collections::VecDeque;
use std::io::{Cursor, Read};

use sealstone::Result;
use sealstone::archive::{Archive, Entry, EntryKind, Flat, Item, Map, Members, Tree, Writer};

/// Members with their contents, in memory. A sparse file has the content of its fragments.
#[derive(Clone, Default)]
pub(crate) struct Memory(pub(crate) VecDeque<(Entry, Option<Map>, Vec<u8>)>);

impl Tree for Memory {
    type Content = Cursor<Vec<u8>>;

    fn next(&mut self) -> Result<Option<Item<Self::Content>>> {
        Ok(self.0.pop_front().map(|(entry, map, content)| Item {
            entry,
            map,
            content: Cursor::new(content),
        }))
    }
}

impl Memory {
    fn with(mut self, path: &[u8], kind: EntryKind, content: &[u8]) -> Self {
        let mode = match kind {
            EntryKind::Link { .. } => 0o777,
            EntryKind::Directory => 0o755,
            _ => 0o644,
        };
        let entry = Entry {
            path: path.to_vec(),
            kind,
            mode,
            modified: 1_767_225_600,
        };
        self.0.push_back((entry, None, content.to_vec()));
        self
    }

    pub(crate) fn directory(self, path: &str) -> Self {
        self.with(path.as_bytes(), EntryKind::Directory, b"")
    }

    pub(crate) fn file(self, path: impl AsRef<[u8]>, content: &[u8]) -> Self {
        let size = content.len() as u64;
        self.with(path.as_ref(), EntryKind::File { size }, content)
    }

    pub(crate) fn link(self, path: &str, target: impl AsRef<[u8]>) -> Self {
        let target = target.as_ref().to_vec();
        self.with(path.as_bytes(), EntryKind::Link { target }, b"")
    }

    pub(crate) fn sparse(
        self,
        path: &str,
        size: u64,
        fragments: &[(u64, u64)],
        content: &[u8],
    ) -> Self {
        let map = Map::new(size, fragments.to_vec()).unwrap();
        let stored = map.stored();
        let mut this = self.with(path.as_bytes(), EntryKind::Sparse { size, stored }, content);
        this.0.back_mut().unwrap().1 = Some(map);
        this
    }

    /// The archive, read in small pieces.
    pub(crate) fn archive(&self) -> Vec<u8> {
        self.try_archive().unwrap()
    }

    pub(crate) fn try_archive(&self) -> std::io::Result<Vec<u8>> {
        let mut writer = Writer::new(self.clone(), None);
        let mut archive = Vec::new();
        let mut piece = [0; 777];
        loop {
            match writer.read(&mut piece)? {
                0 => return Ok(archive),
                n => archive.extend_from_slice(&piece[..n]),
            }
        }
    }
}

/// Every member with its content, by the reader of the whole archive.
pub(crate) fn whole(archive: &[u8]) -> Result<Vec<(Entry, Vec<u8>)>> {
    let mut members = Members::new(archive);
    let mut found = Vec::new();
    while let Some(entry) = members.next_entry()? {
        let mut content = Vec::new();
        if entry.size() > 0 {
            members.content(&mut Flat::new(&mut content))?;
        }
        found.push((entry, content));
    }
    Ok(found)
}

/// Every member with its content, by the index reader.
pub(crate) fn by_index(archive: &[u8]) -> Result<Vec<(Entry, Vec<u8>)>> {
    let mut archive = Archive::new(Cursor::new(archive))?;
    let all: Vec<_> = archive.entries()?.collect::<Result<_>>()?;
    let mut found = Vec::new();
    for place in all {
        let mut content = Vec::new();
        match place.entry.size() {
            0 => archive.check_header(&place)?,
            _ => archive.content(&place, &mut Flat::new(&mut content))?,
        }
        found.push((place.entry, content));
    }
    Ok(found)
}

/// Members of all kinds.
pub(crate) fn sample() -> Memory {
    let deep = (0..255).map(|_| "d").collect::<Vec<_>>();
    let memory = (1..deep.len()).fold(Memory::default(), |memory, n| {
        memory.directory(&deep[..n].join("/"))
    });
    memory
        .file(deep.join("/"), b"deep")
        .directory("empty")
        .file(b"name\nwith = 5 \xff and more", b"odd")
        .file("n".repeat(255), &[7; 5000])
        .file("none", b"")
        .sparse("sparse", 1 << 20, &[(4096, 3), (1 << 19, 2)], b"abcde")
        .sparse("sparse end", 10, &[(9, 1)], b"z")
        .link("to", "../../etc/passwd")
        .link("to far", "t".repeat(4095))
}
