//! All members of an archive, in order.

use std::io::{self, Read, Write};

use sealstone_skein::Skein512;
use zeroize::Zeroizing;

use super::entry::{Entry, EntryKind, Sequence};
use super::header::{self, cut_short};
use super::index::{FOOTER, Footer, record};
use super::sparse::Map;
use super::{BLOCK, COPY, END, padded};
use crate::{Error, Result};

/// Reads a whole archive, in constant memory.
///
/// The members count only once [`Members::next_entry`] has returned `None`: the index is checked
/// last.
pub struct Members<R> {
    reader: R,
    sequence: Sequence,
    /// The hash of the records that the index must have.
    records: Skein512,
    tar: u64,
    index: u64,
    entries: u64,
    current: Option<Entry>,
    /// Bytes of the current member that have not been read: content, and zeros behind it.
    left: u64,
    zeros: u64,
    over: bool,
}

/// Takes the content of a file.
pub trait Target {
    /// Takes bytes at a position. Positions never decrease; in between are holes.
    ///
    /// # Errors
    /// If writing fails.
    fn put(&mut self, position: u64, bytes: &[u8]) -> io::Result<()>;

    /// There is no more; the file has this many bytes.
    ///
    /// # Errors
    /// If writing fails.
    fn end(&mut self, size: u64) -> io::Result<()>;
}

/// Writes holes as zero bytes.
#[derive(Debug)]
pub struct Flat<W> {
    writer: W,
    position: u64,
}

impl<W: Write> Flat<W> {
    /// Writes to `writer`.
    pub fn new(writer: W) -> Self {
        Self {
            writer,
            position: 0,
        }
    }

    fn zeros(&mut self, to: u64) -> io::Result<()> {
        let hole = to.saturating_sub(self.position);
        io::copy(&mut io::repeat(0).take(hole), &mut self.writer)?;
        self.position += hole;
        Ok(())
    }
}

impl<W: Write> Target for Flat<W> {
    fn put(&mut self, position: u64, bytes: &[u8]) -> io::Result<()> {
        self.zeros(position)?;
        self.writer.write_all(bytes)?;
        self.position += bytes.len() as u64;
        Ok(())
    }

    fn end(&mut self, size: u64) -> io::Result<()> {
        self.zeros(size)
    }
}

impl<R: Read> Members<R> {
    /// Reads from the beginning of an archive.
    pub fn new(reader: R) -> Self {
        Self {
            reader,
            sequence: Sequence::default(),
            records: Skein512::new(),
            tar: 0,
            index: 0,
            entries: 0,
            current: None,
            left: 0,
            zeros: 0,
            over: false,
        }
    }

    /// The next member. The unread rest of the one before is skipped. `None` once everything has
    /// been checked.
    ///
    /// # Errors
    /// [`Error::Malformed`] if this is not an archive, or one that says two things; [`Error::Io`].
    pub fn next_entry(&mut self) -> Result<Option<Entry>> {
        Ok(self.advance()?.map(|(entry, _)| entry))
    }

    /// The next member and its header.
    pub(super) fn advance(&mut self) -> Result<Option<(Entry, Vec<u8>)>> {
        if self.over {
            return Ok(None);
        }
        self.skip()?;
        let Some((entry, raw)) = header::read(&mut self.reader)? else {
            self.check_end()?;
            self.over = true;
            return Ok(None);
        };
        self.sequence.take(&entry)?;
        let record = record(&entry);
        self.records.update(&record);
        self.index += record.len() as u64;
        self.entries += 1;
        let stored = entry.stored();
        self.left = stored;
        self.zeros = padded(stored).map_or(0, |all| all - stored);
        let tar = self.tar.checked_add(raw.len() as u64 + self.zeros);
        let tar = tar.and_then(|tar| tar.checked_add(stored));
        self.tar = tar.ok_or(Error::Malformed("a size in the archive"))?;
        self.current = Some(entry.clone());
        Ok(Some((entry, raw)))
    }

    /// Gives the content of the current member, which must be a file that was not read yet.
    ///
    /// # Errors
    /// [`Error::Malformed`], [`Error::Io`]; [`Error::Invalid`] if there is no such file.
    pub fn content(&mut self, target: &mut impl Target) -> Result<()> {
        let entry = self.current.take();
        let entry = entry.ok_or(Error::Invalid("the content of a member is read once"))?;
        let mut stored = Stored(self);
        copy_content(&entry, &mut stored, target)
    }

    /// Bytes of the current member as they are stored, with the zeros behind it.
    pub(super) fn read_stored(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.left + self.zeros;
        let most = usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()));
        let n = self.reader.read(&mut bytes[..most])?;
        if n == 0 && most > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let content = usize::try_from(self.left).map_or(n, |left| left.min(n));
        self.left -= content as u64;
        self.zeros -= (n - content) as u64;
        match bytes[content..n].iter().all(|&byte| byte == 0) {
            true => Ok(n),
            false => Err(Error::Malformed("bytes behind a member of the archive").into()),
        }
    }

    fn skip(&mut self) -> Result<()> {
        let mut buffer = buffer_for(self.left.saturating_add(self.zeros));
        while self.left + self.zeros > 0 {
            self.read_stored(&mut buffer).map_err(cut_short)?;
        }
        Ok(())
    }

    /// The index must have the records of the members that were read, and nothing else may follow
    /// but hashes and the footer.
    fn check_end(&mut self) -> Result<()> {
        self.tar += END as u64;
        let mut found = Skein512::new();
        let mut buffer = buffer_for(self.index.max(BLOCK as u64));
        let mut left = self.index;
        while left > 0 {
            let most = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
            self.reader
                .read_exact(&mut buffer[..most])
                .map_err(cut_short)?;
            found.update(&buffer[..most]);
            left -= most as u64;
        }
        let expected = std::mem::replace(&mut self.records, Skein512::new());
        if found.finish() != expected.finish() {
            return Err(Error::Malformed(
                "an index that says something else than its archive",
            ));
        }
        let (footer, rest) = last_bytes(&mut self.reader, &mut buffer)?;
        let length = self.tar + self.index + rest + FOOTER as u64;
        let footer = Footer::decode(&footer, length)?;
        match (footer.tar, footer.index, footer.entries) == (self.tar, self.index, self.entries) {
            true => Ok(()),
            false => Err(Error::Malformed("the index of the archive")),
        }
    }
}

/// A buffer for this many bytes, or for a part of them.
fn buffer_for(length: u64) -> Zeroizing<Vec<u8>> {
    let length = usize::try_from(length).map_or(COPY, |length| length.min(COPY));
    Zeroizing::new(vec![0; length])
}

/// The last bytes of a reader, and how many come before them.
fn last_bytes(reader: &mut impl Read, buffer: &mut [u8]) -> Result<([u8; FOOTER], u64)> {
    let mut footer = [0; FOOTER];
    reader.read_exact(&mut footer).map_err(cut_short)?;
    let mut before = 0;
    loop {
        match reader.read(buffer) {
            Ok(0) => return Ok((footer, before)),
            Ok(n) => {
                before += n as u64;
                let all = [&footer[..], &buffer[..n]].concat();
                footer.copy_from_slice(&all[n..]);
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e.into()),
        }
    }
}

/// The current member of an archive, without the zeros behind it.
struct Stored<'a, R>(&'a mut Members<R>);

impl<R: Read> Read for Stored<'_, R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.0.left).map_or(bytes.len(), |left| left.min(bytes.len()));
        match left {
            0 => Ok(0),
            _ => self.0.read_stored(&mut bytes[..left]),
        }
    }
}

/// Gives the content of a file to `target`, from what is stored of it.
pub(super) fn copy_content(
    entry: &Entry,
    stored: &mut impl Read,
    target: &mut impl Target,
) -> Result<()> {
    let size = entry.size();
    let fragments = match entry.kind {
        EntryKind::File { .. } => vec![(0, size)],
        EntryKind::Sparse { stored: length, .. } => {
            Map::read(stored, size, length)?.fragments().to_vec()
        }
        _ => return Err(Error::Invalid("only files have content")),
    };
    let longest = fragments
        .iter()
        .map(|(_, length)| *length)
        .max()
        .unwrap_or(0);
    let mut buffer = buffer_for(longest);
    for (at, length) in fragments {
        let mut done = 0;
        while done < length {
            let most =
                usize::try_from(length - done).map_or(buffer.len(), |left| left.min(buffer.len()));
            stored.read_exact(&mut buffer[..most]).map_err(cut_short)?;
            target.put(at + done, &buffer[..most])?;
            done += most as u64;
        }
    }
    Ok(target.end(size)?)
}
