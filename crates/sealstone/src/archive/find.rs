//! Members by their paths, each with everything in it.

use std::io::{Read, Seek};

use super::entry::{Entry, EntryKind};
use super::seek::{Archive, Found, Position};
use crate::Result;

/// A member that was looked for.
#[derive(Clone, Debug)]
pub struct Member {
    /// The member itself.
    pub found: Found,
    /// Bytes of its content, and of everything in it. A sender can claim more than there is.
    pub bytes: u64,
    /// Where the members in it begin.
    behind: Position,
}

/// Members that are read from the index at once. There may be millions.
const PART: usize = 1024;

impl<R: Read + Seek> Archive<R> {
    /// Finds the members of these paths, without `/` at the end. `None` stands for a path that no
    /// member has.
    ///
    /// # Errors
    /// As [`Archive::entries`] and its items.
    pub fn find(&mut self, paths: &[&[u8]]) -> Result<Vec<Option<Member>>> {
        let mut members: Vec<Option<Member>> = vec![None; paths.len()];
        let mut entries = self.entries()?;
        while let Some(found) = entries.next().transpose()? {
            for (path, member) in paths.iter().zip(&mut members) {
                match member {
                    _ if found.entry.path == *path => {
                        *member = Some(Member::new(found.clone(), entries.position()));
                    }
                    // A directory comes before what is in it.
                    Some(member) if member.has(&found.entry) => member.count(&found.entry),
                    _ => {}
                }
            }
        }
        Ok(members)
    }

    /// Gives every member in a directory to `each`, in order: this archive, the member with its
    /// path from the directory on, and where it is.
    ///
    /// # Errors
    /// As [`Archive::entries`] and its items; those of `each`.
    pub fn for_each_in(
        &mut self,
        directory: &Member,
        mut each: impl FnMut(&mut Self, &Entry, &Found) -> Result<()>,
    ) -> Result<()> {
        let above = directory.found.entry.path.len() + 1;
        let mut position = directory.behind.clone();
        loop {
            let mut entries = self.entries_behind(&position)?;
            let part: Vec<Found> = entries.by_ref().take(PART).collect::<Result<_>>()?;
            position = entries.position();
            // The members of a directory follow it, without others between them.
            let within = part.iter().take_while(|found| directory.has(&found.entry));
            let mut count = 0;
            for found in within {
                let entry = Entry {
                    path: found.entry.path[above..].to_vec(),
                    ..found.entry.clone()
                };
                each(self, &entry, found)?;
                count += 1;
            }
            if count < PART {
                return Ok(());
            }
        }
    }
}

impl Member {
    fn new(found: Found, behind: Position) -> Self {
        let bytes = found.entry.size();
        Self {
            found,
            bytes,
            behind,
        }
    }

    /// Whether it is a directory.
    pub fn is_directory(&self) -> bool {
        self.found.entry.kind == EntryKind::Directory
    }

    /// Whether another member is in it.
    fn has(&self, entry: &Entry) -> bool {
        let rest = entry.path.strip_prefix(&self.found.entry.path[..]);
        rest.is_some_and(|rest| rest.first() == Some(&b'/'))
    }

    fn count(&mut self, entry: &Entry) {
        self.bytes = self.bytes.saturating_add(entry.size());
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::archive::{Item, Tree, Writer};

    /// Gives these entries, and as many bytes of content as they say.
    struct Entries(std::vec::IntoIter<Entry>);

    impl Tree for Entries {
        type Content = &'static [u8];

        fn next(&mut self) -> Result<Option<Item<Self::Content>>> {
            let item = |entry: Entry| Item {
                map: None,
                content: &b"12345"[..entry.size() as usize],
                entry,
            };
            Ok(self.0.next().map(item))
        }
    }

    fn archive(paths: &[(String, EntryKind)]) -> Archive<Cursor<Vec<u8>>> {
        let entry = |(path, kind): &(String, EntryKind)| Entry {
            path: path.clone().into_bytes(),
            kind: kind.clone(),
            mode: 0o644,
            modified: 0,
        };
        let entries: Vec<Entry> = paths.iter().map(entry).collect();
        let mut bytes = Vec::new();
        let mut writer = Writer::new(Entries(entries.into_iter()), None);
        std::io::copy(&mut writer, &mut bytes).unwrap();
        Archive::new(Cursor::new(bytes)).unwrap()
    }

    fn within(archive: &mut Archive<Cursor<Vec<u8>>>, directory: &Member) -> Vec<String> {
        let mut paths = Vec::new();
        let each = |_: &mut Archive<_>, entry: &Entry, found: &Found| {
            assert!(found.entry.path.ends_with(&entry.path));
            paths.push(String::from_utf8(entry.path.clone()).unwrap());
            Ok(())
        };
        archive.for_each_in(directory, each).unwrap();
        paths
    }

    #[test]
    fn a_directory_has_what_begins_with_its_path_and_a_slash() {
        let file = EntryKind::File { size: 5 };
        let mut archive = archive(&[
            ("a".into(), EntryKind::Directory),
            ("a/b".into(), EntryKind::Directory),
            ("a/b/c".into(), file.clone()),
            ("a/d".into(), file.clone()),
            ("a.txt".into(), file),
        ]);
        let found = archive.find(&[b"a", b"a/b", b"a.txt", b"b"]).unwrap();
        let bytes: Vec<Option<u64>> = found
            .iter()
            .map(|it| it.as_ref().map(|it| it.bytes))
            .collect();
        assert_eq!(bytes, [Some(10), Some(5), Some(5), None]);
        let a = found[0].clone().unwrap();
        assert!(a.is_directory() && !found[2].clone().unwrap().is_directory());
        assert_eq!(within(&mut archive, &a), ["b", "b/c", "d"]);
        assert_eq!(within(&mut archive, &found[1].clone().unwrap()), ["c"]);
    }

    #[test]
    fn a_directory_may_have_more_members_than_are_read_at_once() {
        for count in [PART - 1, PART, PART + 1, 3 * PART] {
            let mut paths = vec![("a".to_owned(), EntryKind::Directory)];
            let file = |i| (format!("a/{i:05}"), EntryKind::File { size: 5 });
            paths.extend((0..count).map(file));
            paths.push(("b".to_owned(), EntryKind::Directory));
            let mut archive = archive(&paths);
            let a = archive.find(&[b"a"]).unwrap().remove(0).unwrap();
            assert_eq!(a.bytes, 5 * count as u64);
            assert_eq!(within(&mut archive, &a).len(), count);
        }
    }

    #[test]
    fn claimed_sizes_do_not_overflow() {
        let size = i64::MAX as u64;
        let hole = Entry {
            path: b"hole".to_vec(),
            kind: EntryKind::Sparse { size, stored: 512 },
            mode: 0o644,
            modified: 0,
        };
        let mut archive = archive(&[("a".into(), EntryKind::Directory)]);
        let mut member = archive.find(&[b"a"]).unwrap().remove(0).unwrap();
        for expected in [size, 2 * size, u64::MAX] {
            member.count(&hole);
            assert_eq!(member.bytes, expected);
        }
    }
}
