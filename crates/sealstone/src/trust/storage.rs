//! The interface between the trust store and the place of its files.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

/// One of the files of a trust store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum File {
    /// The secret of the store: 32 bytes that must never leave the user's account.
    Key,
    /// Every change, oldest first.
    Log,
    /// The number of changes in the log, and their hash.
    Head,
    /// The owner's countersignature, if there is one.
    Signature,
}

/// A place for the files of a trust store.
///
/// Between [`Storage::write`] and the end of that session no other program reads or writes. The
/// store never holds two sessions at once.
pub trait Storage {
    /// Held while reading.
    type Reader: ReadSession;
    /// Held while writing.
    type Writer: WriteSession;

    /// Waits until no writer is left. Reading must not create anything: a place that does not exist
    /// reads as one without files.
    ///
    /// # Errors
    /// If the system reports an error, the place belongs to another user, or other users may read
    /// or write it.
    fn read(&self) -> io::Result<Self::Reader>;

    /// Waits until no other reader or writer is left. Makes the place if it does not exist.
    ///
    /// # Errors
    /// As [`Storage::read`].
    fn write(&self) -> io::Result<Self::Writer>;
}

/// Keeps writers out until it is dropped.
pub trait ReadSession {
    /// The first `limit` bytes of `file`, all if it has fewer; `None` if there is no such file.
    ///
    /// # Errors
    /// If the system reports an error, or other users may read or write the file.
    fn read(&self, file: File, limit: usize) -> io::Result<Option<Vec<u8>>>;
}

/// Keeps all other readers and writers out until it is dropped.
pub trait WriteSession: ReadSession {
    /// Replaces the content of `file` by `bytes`. After a crash at any moment the file is the old
    /// or the new one; after the return it is the new one.
    ///
    /// # Errors
    /// If the system reports an error; then `file` is the old or the new one.
    fn replace(&mut self, file: File, bytes: &[u8]) -> io::Result<()>;

    /// Adds `bytes` to the end of `file`, which exists. After a crash any part of them may be
    /// missing or wrong, but nothing before them; after the return they are durable.
    ///
    /// # Errors
    /// If the system reports an error; then any part of `bytes` may have been added.
    fn append(&mut self, file: File, bytes: &[u8]) -> io::Result<()>;
}

/// A place in memory, for tests and for programs that bring their own records. Clones share it.
#[derive(Clone, Default)]
pub struct Memory(Rc<RefCell<[Option<Vec<u8>>; File::ALL.len()]>>);

impl File {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Key, Self::Log, Self::Head, Self::Signature];

    /// The name of the file in the directory of the store.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Log => "log",
            Self::Head => "head",
            Self::Signature => "signature",
        }
    }
}

impl Memory {
    /// The content of `file`.
    #[must_use]
    pub fn get(&self, file: File) -> Option<Vec<u8>> {
        self.0.borrow()[file as usize].clone()
    }

    /// Writes or removes `file`.
    pub fn set(&self, file: File, bytes: Option<Vec<u8>>) {
        self.0.borrow_mut()[file as usize] = bytes;
    }
}

impl Storage for Memory {
    type Reader = Self;
    type Writer = Self;

    fn read(&self) -> io::Result<Self> {
        Ok(self.clone())
    }

    fn write(&self) -> io::Result<Self> {
        Ok(self.clone())
    }
}

impl ReadSession for Memory {
    fn read(&self, file: File, limit: usize) -> io::Result<Option<Vec<u8>>> {
        Ok(self.0.borrow()[file as usize]
            .as_ref()
            .map(|bytes| bytes[..bytes.len().min(limit)].to_vec()))
    }
}

impl WriteSession for Memory {
    fn replace(&mut self, file: File, bytes: &[u8]) -> io::Result<()> {
        self.set(file, Some(bytes.to_vec()));
        Ok(())
    }

    fn append(&mut self, file: File, bytes: &[u8]) -> io::Result<()> {
        self.0.borrow_mut()[file as usize]
            .get_or_insert_default()
            .extend_from_slice(bytes);
        Ok(())
    }
}
