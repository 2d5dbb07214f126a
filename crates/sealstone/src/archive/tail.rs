//! The parts behind the members: index, hashes and footer.

use super::entry::{Entry, Sequence};
use super::index::{Footer, record};
use super::{END, header, padded};
use crate::file::ChunkHashes;
use crate::{Error, Result};

/// Collects the index while members are written. It takes 31 bytes a member, and those of its path
/// and target.
pub(super) struct Tail<'a> {
    sequence: Sequence,
    tar: u64,
    index: Vec<u8>,
    entries: u64,
    hashes: Option<&'a ChunkHashes>,
}

impl<'a> Tail<'a> {
    pub(super) fn new(hashes: Option<&'a ChunkHashes>) -> Self {
        Self {
            sequence: Sequence::default(),
            tar: 0,
            index: Vec::new(),
            entries: 0,
            hashes,
        }
    }

    /// Notes the next member, and returns its header.
    pub(super) fn add(&mut self, entry: &Entry) -> Result<Vec<u8>> {
        entry.check()?;
        self.sequence.take(entry)?;
        let header = header::encode(entry);
        let stored =
            padded(entry.stored()).and_then(|stored| stored.checked_add(header.len() as u64));
        let tar = stored.and_then(|stored| self.tar.checked_add(stored));
        self.tar = tar.ok_or(Error::Invalid("an archive holds less than 2^63 bytes"))?;
        self.index.extend(record(entry));
        self.entries += 1;
        Ok(header)
    }

    /// The end of the tar file and the index.
    pub(super) fn index(&mut self) -> Vec<u8> {
        self.tar += END as u64;
        let mut bytes = vec![0; END];
        bytes.extend(&self.index);
        bytes
    }

    /// Hashes and footer, once the index has been given away.
    pub(super) fn end(&self) -> Vec<u8> {
        let mut footer = Footer {
            tar: self.tar,
            index: self.index.len() as u64,
            entries: self.entries,
            hashes: 0,
        };
        let chunks = footer.chunks();
        let hashes = self.hashes.and_then(|hashes| hashes.first(chunks));
        let hashes = hashes.unwrap_or_default();
        footer.hashes = hashes.len() as u64;
        let mut bytes = hashes.into_flattened();
        bytes.extend(footer.encode());
        bytes
    }
}
