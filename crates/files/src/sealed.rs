//! Sealed files that are read at any position.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;

use sealstone::file::Dearmored;

use crate::{Input, spool};

/// A sealed file in its binary form, at any position. A regular binary file is read where it is.
/// Anything else is copied to a temporary file, still sealed.
#[derive(Debug)]
pub struct SealedFile {
    source: Source,
    start: u64,
    position: u64,
}

#[derive(Debug)]
enum Source {
    Input(Box<Input>),
    /// The binary form of an armored file, or of a pipe.
    Copy(File),
}

/// The first byte of a binary file. Armored ones begin with `-` or white space.
const BINARY: u8 = 0x89;

impl SealedFile {
    /// The sealed file at the present position of `input`.
    ///
    /// # Errors
    /// [`sealstone::Error::Armor`] and its like; the system's error.
    pub fn new(input: Input) -> sealstone::Result<Self> {
        let start = input.position();
        let mut first = [0];
        if input.regular().is_some() {
            input.read_at(&mut first, start)?;
        }
        let (source, start) = match first == [BINARY] {
            true => (Source::Input(Box::new(input)), start),
            false => {
                let reader = Dearmored::detect(BufReader::new(&input))?;
                (Source::Copy(spool(reader)?), 0)
            }
        };
        Ok(Self {
            source,
            start,
            position: start,
        })
    }
}

impl Read for SealedFile {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let n = match &self.source {
            Source::Input(input) => input.read_at(bytes, self.position)?,
            Source::Copy(file) => file.read_at(bytes, self.position)?,
        };
        self.position += n as u64;
        Ok(n)
    }
}

impl Seek for SealedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let end = || match &self.source {
            Source::Input(input) => Ok(input.metadata().len()),
            Source::Copy(file) => file.metadata().map(|metadata| metadata.len()),
        };
        let position = match to {
            SeekFrom::Start(position) => self.start.checked_add(position),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
            SeekFrom::End(offset) => end()?.checked_add_signed(offset),
        };
        let position = position.filter(|position| *position >= self.start);
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position - self.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AtomicFile;
    use std::io::Write;

    #[test]
    fn a_binary_file_is_read_where_it_is_from_its_position_on() {
        let directory = tempfile::tempdir().unwrap();
        let new = AtomicFile::new(directory.path()).unwrap();
        let mut file = new.file();
        file.write_all(b"before\x89SEALED").unwrap();
        file.seek(SeekFrom::Start(6)).unwrap();
        let input = Input::new(file.try_clone().unwrap(), "it").unwrap();
        let mut sealed = SealedFile::new(input).unwrap();
        assert_eq!(sealed.seek(SeekFrom::End(-2)).unwrap(), 5);
        let mut end = String::new();
        sealed.read_to_string(&mut end).unwrap();
        assert_eq!(end, "ED");
        assert!(
            sealed.seek(SeekFrom::Current(-8)).is_err(),
            "before the file"
        );
        assert_eq!(sealed.seek(SeekFrom::Start(1)).unwrap(), 1);
    }

    #[test]
    fn text_that_is_no_sealed_file_is_refused() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"hello").unwrap();
        file.rewind().unwrap();
        let refused = SealedFile::new(Input::new(file, "it").unwrap()).unwrap_err();
        assert!(
            matches!(refused, sealstone::Error::OtherKind { .. }),
            "{refused}"
        );
    }
}
