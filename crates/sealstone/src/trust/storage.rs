//! What the trust store asks of the place where its files are.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

/// One of the three files of a trust store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum File {
    /// The secret of the store: 32 bytes that must never leave the user's account.
    Key,
    /// Every change, oldest first.
    Log,
    /// How many changes the log holds, and what they hash to.
    Head,
}

/// A place for the files of a trust store.
///
/// Between [`Storage::write`] and the end of that session nobody else reads or writes; the store
/// never holds two sessions at once.
pub trait Storage {
    /// Held while reading.
    type Reader: ReadSession;
    /// Held while writing.
    type Writer: WriteSession;

    /// Waits until nobody writes. Looking must not create anything: a place that does not exist
    /// reads as one without files.
    ///
    /// # Errors
    /// Whatever the system reports, and if others than the owner may read or write the place.
    fn read(&self) -> io::Result<Self::Reader>;

    /// Waits until nobody else reads or writes. Makes the place if it does not exist.
    ///
    /// # Errors
    /// As [`Storage::read`].
    fn write(&self) -> io::Result<Self::Writer>;
}

/// Exclusion of writers, for as long as it lives.
pub trait ReadSession {
    /// The first `limit` bytes of `file`, all if it has fewer; `None` if there is no such file.
    ///
    /// # Errors
    /// Whatever the system reports, and if others than the owner may read or write the file.
    fn read(&self, file: File, limit: usize) -> io::Result<Option<Vec<u8>>>;
}

/// Exclusion of everybody else, for as long as it lives.
pub trait WriteSession: ReadSession {
    /// Makes `bytes` the whole of `file`: after a crash at any moment it is the old or the new one,
    /// and after the return it is the new one.
    ///
    /// # Errors
    /// Whatever the system reports; then `file` is the old or the new one.
    fn replace(&mut self, file: File, bytes: &[u8]) -> io::Result<()>;

    /// Adds `bytes` to the end of `file`, which exists. After a crash any part of them may be
    /// missing or wrong, but nothing before them; after the return they are there to stay.
    ///
    /// # Errors
    /// Whatever the system reports; then any part of `bytes` may have been added.
    fn append(&mut self, file: File, bytes: &[u8]) -> io::Result<()>;
}

/// A place in memory, for tests and for programs that bring their own records. Clones share it.
#[derive(Clone, Default)]
pub struct Memory(Rc<RefCell<[Option<Vec<u8>>; 3]>>);

impl File {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Key, Self::Log, Self::Head];

    /// The name of the file in the directory of the store.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Log => "log",
            Self::Head => "head",
        }
    }
}

impl Memory {
    /// What `file` holds.
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
