//! Some members of an archive, without reading the others.

use std::io::{Read, Seek, SeekFrom};

use super::entry::{Entry, Sequence};
use super::index::{FOOTER, Footer, read_record, record};
use super::read::{Target, copy_content};
use super::{END, header, padded};
use crate::file::SealedReader;
use crate::passport::Contact;
use crate::{Error, Result};

/// An archive by its index. Listing reads the index, and a member costs what is stored of it.
///
/// The index takes 31 bytes a member, its path, and the target of a link. It is read in pieces.
pub struct Archive<R> {
    reader: R,
    footer: Footer,
}

/// A member, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The member.
    pub entry: Entry,
    at: u64,
}

/// The members that the index lists, in order.
pub struct Entries<'a, R> {
    index: std::io::BufReader<std::io::Take<&'a mut R>>,
    footer: Footer,
    position: Position,
    over: bool,
}

/// A place in the index, between two members.
#[derive(Clone, Debug, Default)]
pub(super) struct Position {
    sequence: Sequence,
    /// Where the next member is.
    at: u64,
    /// Members, and bytes of the index, that come before.
    entries: u64,
    read: u64,
}

impl<R: Read + Seek> Archive<R> {
    /// Finds the index.
    ///
    /// # Errors
    /// [`Error::Malformed`] if this is not an archive.
    pub fn new(mut reader: R) -> Result<Self> {
        let length = reader.seek(SeekFrom::End(0))?;
        let start = length.checked_sub(FOOTER as u64);
        let start = start.ok_or(Error::Malformed("not an archive, or one that is cut short"))?;
        reader.seek(SeekFrom::Start(start))?;
        let mut footer = [0; FOOTER];
        reader.read_exact(&mut footer)?;
        let footer = Footer::decode(&footer, length)?;
        Ok(Self { reader, footer })
    }

    /// How many members the footer says there are.
    pub fn len(&self) -> u64 {
        self.footer.entries
    }

    /// Whether the directory is empty.
    pub fn is_empty(&self) -> bool {
        self.footer.entries == 0
    }

    /// The members. They count only once the iterator has ended without an error.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn entries(&mut self) -> Result<Entries<'_, R>> {
        self.entries_behind(&Position::default())
    }

    /// The members behind a position of this archive. So they can be read in parts, and content in
    /// between.
    pub(super) fn entries_behind(&mut self, position: &Position) -> Result<Entries<'_, R>> {
        let start = self.footer.tar.saturating_add(position.read);
        self.reader.seek(SeekFrom::Start(start))?;
        let left = self.footer.index.saturating_sub(position.read);
        let index = self.reader.by_ref().take(left);
        Ok(Entries {
            index: std::io::BufReader::with_capacity(64 << 10, index),
            footer: self.footer,
            position: position.clone(),
            over: false,
        })
    }

    /// Gives the content of a file.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the tar file says something else than the index; [`Error::Invalid`]
    /// if it is not a file; [`Error::Io`].
    pub fn content(&mut self, found: &Found, target: &mut impl Target) -> Result<()> {
        self.check_header(found)?;
        copy_content(&found.entry, &mut self.reader, target)
    }

    /// Checks that the tar file has this member where the index says.
    ///
    /// # Errors
    /// [`Error::Malformed`], [`Error::Io`].
    pub fn check_header(&mut self, found: &Found) -> Result<()> {
        self.reader.seek(SeekFrom::Start(found.at))?;
        let expected = header::encode(&found.entry);
        let mut header = vec![0; expected.len()];
        self.reader
            .read_exact(&mut header)
            .map_err(header::cut_short)?;
        match header == expected {
            true => Ok(()),
            false => Err(Error::Malformed(
                "an index that says something else than its archive",
            )),
        }
    }
}

impl<R: Read + Seek> Archive<SealedReader<R>> {
    /// Checks that `sender` signed the file. With the hashes of the archive this reads the index
    /// and what follows it; without them, the whole file.
    ///
    /// From then on, only chunks are read that the sender signed.
    ///
    /// # Errors
    /// As [`SealedReader::verify_sender`].
    pub fn verify_sender(&mut self, sender: &Contact) -> Result<()> {
        let before = self.footer;
        let hashes = before.tar + before.index;
        self.reader.seek(SeekFrom::Start(hashes))?;
        let mut values = Vec::new();
        for _ in 0..before.hashes {
            let mut value = [0; 64];
            self.reader.read_exact(&mut value)?;
            values.push(value);
        }
        self.reader.verify_sender_by(sender, &values)?;
        // The first footer was read before anything was verified.
        let length = self.reader.content_len();
        let mut footer = [0; FOOTER];
        self.reader.seek(SeekFrom::Start(length - FOOTER as u64))?;
        self.reader.read_exact(&mut footer)?;
        match Footer::decode(&footer, length)? == before {
            true => Ok(()),
            false => Err(Error::Altered("content, while it was read,")),
        }
    }

    /// The sealed file.
    pub fn sealed(&self) -> &SealedReader<R> {
        &self.reader
    }
}

impl<R: Read> Entries<'_, R> {
    /// The position after the members that it has given.
    pub(super) fn position(&self) -> Position {
        self.position.clone()
    }

    fn read(&mut self) -> Result<Option<Found>> {
        let position = &mut self.position;
        if position.entries == self.footer.entries {
            return self.check_end().map(|()| None);
        }
        let entry = read_record(&mut self.index)?;
        position.sequence.take(&entry)?;
        let at = position.at;
        let stored = padded(entry.stored());
        let stored =
            stored.and_then(|stored| stored.checked_add(header::encode(&entry).len() as u64));
        let next = stored.and_then(|stored| at.checked_add(stored));
        position.at = next
            .filter(|next| *next <= self.footer.tar)
            .ok_or(Error::Malformed("the index of the archive"))?;
        position.entries += 1;
        position.read += record(&entry).len() as u64;
        Ok(Some(Found { entry, at }))
    }

    /// The index has nothing else, and the members fill the tar file.
    fn check_end(&mut self) -> Result<()> {
        let rest = self.index.read(&mut [0])?;
        match rest == 0 && self.position.at.checked_add(END as u64) == Some(self.footer.tar) {
            true => Ok(()),
            false => Err(Error::Malformed("the index of the archive")),
        }
    }
}

impl<R: Read> Iterator for Entries<'_, R> {
    type Item = Result<Found>;

    fn next(&mut self) -> Option<Result<Found>> {
        if self.over {
            return None;
        }
        let found = self.read();
        self.over = !matches!(found, Ok(Some(_)));
        found.transpose()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::archive::{Item, Tree, Writer};
    use crate::file::{Keys, Sealed, Sealer, Workers};
    use crate::passport::Passport;

    struct Empty;

    impl Tree for Empty {
        type Content = &'static [u8];

        fn next(&mut self) -> Result<Option<Item<Self::Content>>> {
            Ok(None)
        }
    }

    /// A recipient with the file key replaces it after it was read.
    #[test]
    fn a_footer_that_was_another_one_before_it_was_verified_is_refused() {
        let alice = Passport::generate("Alice", 0).unwrap();
        let mut sealer = Sealer::new();
        sealer.to_passport(alice.contact()).signed_by(&alice);
        let mut file = Vec::new();
        let content = Writer::new(Empty, None);
        sealer.seal(content, &mut file, Workers::new(1)).unwrap();
        for more in [0, 1] {
            let sealed = Sealed::read(Cursor::new(&file[..])).unwrap();
            let opening = sealed.unlock(&Keys::new(&[&alice], &[])).unwrap();
            let reader = SealedReader::new_unverified(opening).unwrap();
            let mut archive = Archive::new(reader).unwrap();
            archive.footer.entries += more;
            let verified = archive.verify_sender(alice.contact());
            assert_eq!(verified.is_ok(), more == 0, "{verified:?}");
        }
    }
}
