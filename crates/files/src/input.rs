//! Inputs: content, and small files that are read whole. Each is bound to its name in messages when
//! it is opened.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Deref;
use std::os::unix::fs::{FileExt, PermissionsExt};

use zeroize::Zeroizing;

/// An open input: a file, a pipe, a device. Its errors begin with its name.
#[derive(Debug)]
pub struct Input {
    file: File,
    metadata: Metadata,
    name: String,
}

/// A small input that was read whole. It may be secret, and is wiped when dropped.
#[derive(Debug)]
pub struct Document {
    bytes: Zeroizing<Vec<u8>>,
    name: String,
    exposed: bool,
}

impl Input {
    /// An open file that messages call `name`.
    ///
    /// # Errors
    /// The system's error, and [`ErrorKind::IsADirectory`].
    pub fn new(file: File, name: impl Into<String>) -> io::Result<Self> {
        let name = name.into();
        let metadata = file.metadata().map_err(|e| named(&name, &e))?;
        if metadata.is_dir() {
            return Err(named(&name, &io::Error::new(ErrorKind::IsADirectory, DIR)));
        }
        Ok(Self {
            file,
            metadata,
            name,
        })
    }

    /// Its name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its metadata, which also identify the file.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Its metadata if it is a regular file.
    pub fn regular(&self) -> Option<&Metadata> {
        self.metadata.is_file().then_some(&self.metadata)
    }

    /// Whether users other than its owner can read or change a regular file.
    pub fn is_exposed(&self) -> bool {
        let others = |metadata: &Metadata| metadata.permissions().mode() & 0o077 != 0;
        self.regular().is_some_and(others)
    }

    /// The position of the next read. Standard input may be at any position when the program
    /// starts.
    pub fn position(&self) -> u64 {
        (&self.file).stream_position().unwrap_or(0)
    }

    /// How many bytes are left to read, if it is a regular file.
    pub fn remaining(&self) -> Option<u64> {
        let left = |metadata: &Metadata| metadata.len().saturating_sub(self.position());
        self.regular().map(left)
    }

    /// Reads at `position` of a regular file; threads may do so at the same time.
    ///
    /// # Errors
    /// The system's error.
    pub fn read_at(&self, bytes: &mut [u8], position: u64) -> io::Result<usize> {
        let read = self.file.read_at(bytes, position);
        read.map_err(|e| named(&self.name, &e))
    }

    /// Sets the position of the next read of a regular file.
    ///
    /// # Errors
    /// The system's error.
    pub fn rewind(&self, position: u64) -> io::Result<()> {
        let set = (&self.file).seek(SeekFrom::Start(position));
        set.map(drop).map_err(|e| named(&self.name, &e))
    }

    /// Reads the rest.
    ///
    /// # Errors
    /// As [`Document::read`].
    pub fn document(&self, limit: usize) -> io::Result<Document> {
        Document::read(self, self, limit)
    }
}

impl Read for &Input {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = (&self.file).read(bytes);
        read.map_err(|e| named(&self.name, &e))
    }
}

impl Document {
    /// Reads everything from `reader`, at most `limit` bytes: the whole of `input`, of which a part
    /// may have been read. Up to 64 KiB the buffer never moves, so no copy of a secret stays
    /// behind. A larger buffer that grows is wiped if the allocator of the program does so.
    ///
    /// # Errors
    /// The reader's error, and [`ErrorKind::InvalidData`].
    pub fn read(input: &Input, reader: impl Read, limit: usize) -> io::Result<Self> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(limit.min(64 << 10) + 1));
        reader.take(limit as u64 + 1).read_to_end(&mut bytes)?;
        if bytes.len() > limit {
            let what = format!("longer than {limit} bytes, so it is something else");
            let error = io::Error::new(ErrorKind::InvalidData, what);
            return Err(named(&input.name, &error));
        }
        Ok(Self {
            bytes,
            name: input.name.clone(),
            exposed: input.is_exposed(),
        })
    }

    /// Its name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether users other than its owner can read or change the file.
    pub fn is_exposed(&self) -> bool {
        self.exposed
    }

    /// Its bytes, without the name.
    pub fn into_bytes(self) -> Zeroizing<Vec<u8>> {
        self.bytes
    }
}

impl Deref for Document {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The same error with the name of the file before it.
pub fn named(name: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{name}: {}", plain(error)))
}

/// The system's message without its number.
pub fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    let plain = text.split(" (os error").next();
    plain.unwrap_or_default().to_owned()
}

const DIR: &str = "is a directory";

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn input(content: &[u8]) -> Input {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        file.rewind().unwrap();
        Input::new(file, "the file").unwrap()
    }

    #[test]
    fn errors_begin_with_the_name() {
        let directory = tempfile::tempdir().unwrap();
        let error = Input::new(File::open(directory.path()).unwrap(), "it").unwrap_err();
        assert_eq!(error.to_string(), "it: is a directory");
        let error = input(b"12345").document(4).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        assert!(error.to_string().starts_with("the file: longer than 4"));
    }

    #[test]
    fn a_document_is_the_rest_of_an_input() {
        let input = input(b"12345");
        input.rewind(1).unwrap();
        assert_eq!(input.remaining(), Some(4));
        let document = input.document(4).unwrap();
        assert_eq!(&document[..], b"2345");
        assert_eq!((document.name(), input.position()), ("the file", 5));
    }

    #[test]
    fn only_the_owner_may_read_a_private_file() {
        use std::fs::Permissions;
        let file = tempfile::NamedTempFile::new().unwrap();
        for (mode, exposed) in [(0o600, false), (0o640, true), (0o602, true)] {
            let permissions = Permissions::from_mode(mode);
            std::fs::set_permissions(file.path(), permissions).unwrap();
            let input = Input::new(File::open(file.path()).unwrap(), "").unwrap();
            assert_eq!(input.is_exposed(), exposed, "{mode:o}");
            assert_eq!(input.document(0).unwrap().is_exposed(), exposed);
        }
    }
}
