//! From a tree of files to an archive.

use std::io::{self, Read};

use super::entry::{Entry, EntryKind};
use super::padded;
use super::ready::Ready;
use super::sparse::Map;
use super::tail::Tail;
use crate::file::ChunkHashes;
use crate::{Error, Result};

/// Gives the members of an archive.
pub trait Tree {
    /// Reads the content of a file.
    type Content: Read;

    /// The next member, in the order of archives; `None` at the end.
    ///
    /// # Errors
    /// End the archive.
    fn next(&mut self) -> Result<Option<Item<Self::Content>>>;
}

/// A member, with its content.
#[derive(Debug)]
pub struct Item<C> {
    /// The member.
    pub entry: Entry,
    /// The map of a sparse file; `None` for all others.
    pub map: Option<Map>,
    /// Reads the content of a file, or of the fragments of a sparse file. Others have none.
    pub content: C,
}

/// An archive that is made while it is read, in constant memory but for its index: see
/// [`super::Archive`] for what it costs.
pub struct Writer<'a, T: Tree> {
    tree: T,
    tail: Tail<'a>,
    /// Bytes that are given before everything else.
    ready: Ready,
    next: Next<T::Content>,
}

/// The part that follows the bytes that are ready.
enum Next<C> {
    Member,
    /// The content, and how much of it is left.
    Content(C, u64, Entry),
    End,
    Nothing,
}

impl<'a, T: Tree> Writer<'a, T> {
    /// With the hashes that the sealing of this very archive notes, if the file is signed.
    pub fn new(tree: T, hashes: Option<&'a ChunkHashes>) -> Self {
        Self {
            tree,
            tail: Tail::new(hashes),
            ready: Ready::default(),
            next: Next::Member,
        }
    }

    /// Prepares more bytes.
    fn prepare(&mut self) -> Result<()> {
        let mut ready = Vec::new();
        self.next = match std::mem::replace(&mut self.next, Next::Nothing) {
            Next::Member => match self.tree.next()? {
                Some(item) => {
                    ready = self.tail.add(&item.entry)?;
                    let map = item.map.as_ref().map_or(Vec::new(), Map::encode);
                    let stored = item.entry.stored();
                    let left = stored.checked_sub(map.len() as u64);
                    let sparse = matches!(item.entry.kind, EntryKind::Sparse { .. });
                    if sparse != item.map.is_some()
                        || item.map.is_some_and(|map| map.stored() != stored)
                    {
                        return Err(Error::Invalid("the map of a file with holes"));
                    }
                    ready.extend(map);
                    let left = left.ok_or(Error::Invalid("the size of a file with holes"))?;
                    Next::Content(item.content, left, item.entry)
                }
                None => {
                    ready = self.tail.index();
                    Next::End
                }
            },
            Next::Content(mut content, _, entry) => {
                // A file that grew is found here, and one that changed by its reader.
                if content.read(&mut [0])? != 0 {
                    return Err(changed());
                }
                let stored = entry.stored();
                let zeros = padded(stored).map_or(0, |all| all - stored);
                ready.resize(zeros as usize, 0);
                Next::Member
            }
            Next::End => {
                ready = self.tail.end();
                Next::Nothing
            }
            Next::Nothing => Next::Nothing,
        };
        self.ready = ready.into();
        Ok(())
    }
}

fn changed() -> Error {
    Error::Io(io::Error::other("a file changed while it was read"))
}

impl<T: Tree> Read for Writer<'_, T> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        loop {
            let n = self.ready.give(bytes);
            if n > 0 {
                return Ok(n);
            }
            if let Next::Content(content, left @ 1.., _) = &mut self.next {
                let most = usize::try_from(*left).map_or(bytes.len(), |left| left.min(bytes.len()));
                let n = content.read(&mut bytes[..most])?;
                if n == 0 {
                    return Err(changed().into());
                }
                *left -= n as u64;
                return Ok(n);
            }
            if matches!(self.next, Next::Nothing) {
                return Ok(0);
            }
            self.prepare()?;
        }
    }
}
