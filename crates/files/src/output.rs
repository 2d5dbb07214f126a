//! Outputs of a user: what a path leads to, and what may be replaced.

use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, PipeWriter, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sealstone::Kind;

use crate::{Existing, PlacedFile, Sync};

/// A file that is not written.
#[derive(Debug)]
pub struct OutputError {
    /// Its path.
    pub path: PathBuf,
    /// Why.
    pub reason: Refusal,
}

/// Why a file is not written.
#[derive(Debug)]
pub enum Refusal {
    /// A file has the name, and is replaced only if the user asks for it.
    Exists,
    /// A file has the name, and would be replaced by a key or a backup: it may be one, too.
    Kept,
    /// Another program changed the file.
    Changed,
    /// The output would replace the input.
    Input,
    /// A directory has the name.
    Directory,
    /// The file is a secret passport. A lost key is lost for ever, so nothing replaces one.
    SecretPassport,
    /// The system's error.
    Io(io::Error),
}

/// The kind of file at the path of an output.
#[derive(Debug)]
pub enum Target {
    /// A regular file, or nothing yet.
    File(Existing),
    /// A directory.
    Directory,
    /// A pipe or a device, which is written to and cannot be replaced.
    Stream(File),
}

/// A new file that does not have its name yet. It is gone unless it is committed.
#[derive(Debug)]
pub struct NewFile {
    new: PlacedFile,
    path: PathBuf,
    sync: Sync,
}

/// The end of a pipe to another part of this process, for several threads.
#[derive(Debug)]
pub struct Pipe(Mutex<Option<PipeWriter>>);

/// The longest beginning of a file that tells its [`Kind`].
const START_LEN: usize = 512;

impl OutputError {
    /// The file at `path` is not written, for this reason.
    pub fn new(path: &Path, reason: Refusal) -> Self {
        let path = path.to_owned();
        Self { path, reason }
    }

    /// The system's error; [`ErrorKind::AlreadyExists`] is [`Refusal::Exists`].
    pub fn io(path: &Path, error: io::Error) -> Self {
        let reason = match error.kind() {
            ErrorKind::AlreadyExists => Refusal::Exists,
            _ => Refusal::Io(error),
        };
        Self::new(path, reason)
    }
}

impl Target {
    /// The target at `path` for an output that is made of `input`. A pipe or a device is opened.
    ///
    /// # Errors
    /// [`Refusal::Input`]; [`Refusal::Exists`] for a file, unless it is to be replaced; then
    /// [`Refusal::SecretPassport`]; the system's error.
    ///
    /// ```
    /// use sealstone_files::{Existing, Refusal, Target};
    ///
    /// let file = tempfile::NamedTempFile::new()?;
    /// let refused = Target::of(file.path(), false, None).unwrap_err();
    /// assert!(matches!(refused.reason, Refusal::Exists));
    /// let target = Target::of(file.path(), true, None);
    /// assert!(matches!(target, Ok(Target::File(Existing::Replace))));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn of(path: &Path, replace: bool, input: Option<&Metadata>) -> Result<Self, OutputError> {
        let Ok(found) = path.metadata() else {
            return Ok(Self::File(Existing::Keep));
        };
        let refused = |reason| Err(OutputError::new(path, reason));
        if found.is_file() && input.is_some_and(|input| is_same(&found, input)) {
            return refused(Refusal::Input);
        }
        if found.is_dir() {
            return Ok(Self::Directory);
        }
        if !found.is_file() {
            let opened = File::options().write(true).open(path);
            return opened
                .map(Self::Stream)
                .map_err(|e| OutputError::io(path, e));
        }
        match replace {
            false => refused(Refusal::Exists),
            true if is_secret_passport(path)? => refused(Refusal::SecretPassport),
            true => Ok(Self::File(Existing::Replace)),
        }
    }

    /// The target, unless it is a directory.
    ///
    /// # Errors
    /// [`Refusal::Directory`].
    pub fn not_a_directory(self, path: &Path) -> Result<Self, OutputError> {
        match self {
            Self::Directory => Err(OutputError::new(path, Refusal::Directory)),
            target => Ok(target),
        }
    }
}

fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

fn is_secret_passport(path: &Path) -> Result<bool, OutputError> {
    let mut start = [0; START_LEN];
    let read = File::open(path).and_then(|file| file.read_at(&mut start, 0));
    let len = read.map_err(|e| OutputError::io(path, e))?;
    Ok(Kind::of(&start[..len]) == Kind::SecretPassport)
}

impl NewFile {
    /// Creates a file for `path`, as [`PlacedFile::new`].
    ///
    /// # Errors
    /// The system's error.
    pub fn new(path: &Path, existing: Existing, sync: Sync) -> Result<Self, OutputError> {
        let new = PlacedFile::new(path, existing);
        Ok(Self {
            new: new.map_err(|e| OutputError::new(path, Refusal::Io(e)))?,
            path: path.to_owned(),
            sync,
        })
    }

    /// The file, to write to.
    pub fn file(&self) -> &File {
        self.new.file()
    }

    /// The path that it is for.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// [`Refusal::Exists`] for [`Existing::Keep`]; the system's error.
    pub fn commit(self) -> Result<(), OutputError> {
        let done = self.new.commit(self.sync);
        done.map_err(|e| OutputError::io(&self.path, e))
    }
}

impl Pipe {
    /// The end that is written to.
    pub fn new(writer: PipeWriter) -> Self {
        Self(Mutex::new(Some(writer)))
    }

    /// Tells the reader that there is no more.
    pub fn close(&self) {
        self.writer().take();
    }

    /// A thread that panicked has left nothing half done.
    fn writer(&self) -> MutexGuard<'_, Option<PipeWriter>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for &Pipe {
    /// Fails with [`ErrorKind::BrokenPipe`] once it is closed.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut *self.writer() {
            Some(writer) => writer.write(bytes),
            None => Err(ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        match &self.reason {
            Refusal::Exists | Refusal::Kept => write!(f, "exists"),
            Refusal::Changed => write!(f, "another program changed it"),
            Refusal::Input => write!(f, "is the input"),
            Refusal::Directory => write!(f, "is a directory"),
            Refusal::SecretPassport => write!(f, "is a secret passport, which is never replaced"),
            Refusal::Io(e) => write!(f, "{e}"),
        }
    }
}

impl std::error::Error for OutputError {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn refusal(path: &Path, input: Option<&Metadata>) -> Refusal {
        Target::of(path, true, input).unwrap_err().reason
    }

    #[test]
    fn a_key_and_the_input_are_never_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let [key, input, link] = ["key", "input", "link"].map(|name| directory.path().join(name));
        std::fs::write(&key, "-----BEGIN SEALSTONE SECRET PASSPORT-----\n").unwrap();
        assert!(matches!(refusal(&key, None), Refusal::SecretPassport));
        std::fs::write(&input, "content").unwrap();
        std::os::unix::fs::symlink(&input, &link).unwrap();
        let metadata = input.metadata().unwrap();
        assert!(matches!(refusal(&link, Some(&metadata)), Refusal::Input));
        assert!(Target::of(&link, true, None).is_ok());
    }

    #[test]
    fn directories_and_devices_are_told_from_files() {
        let directory = tempfile::tempdir().unwrap();
        let of = |path: &Path| Target::of(path, false, None).unwrap();
        assert!(matches!(of(directory.path()), Target::Directory));
        let refused = of(directory.path()).not_a_directory(directory.path());
        assert!(matches!(refused.unwrap_err().reason, Refusal::Directory));
        assert!(matches!(of(Path::new("/dev/null")), Target::Stream(_)));
        let new = of(&directory.path().join("new"));
        assert!(matches!(new, Target::File(Existing::Keep)));
    }

    #[test]
    fn a_file_that_appears_meanwhile_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("new");
        let new = NewFile::new(&path, Existing::Keep, Sync::None).unwrap();
        assert_eq!(new.path(), path);
        std::fs::write(&path, "mine").unwrap();
        let refused = new.commit().unwrap_err();
        assert!(matches!(refused.reason, Refusal::Exists), "{refused}");
        assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    }

    #[test]
    fn a_pipe_ends_when_it_is_closed() {
        let (mut reader, writer) = io::pipe().unwrap();
        let pipe = Pipe::new(writer);
        (&pipe).write_all(b"all").unwrap();
        pipe.close();
        let mut read = String::new();
        reader.read_to_string(&mut read).unwrap();
        assert_eq!(read, "all");
        let error = (&pipe).write(b"more").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    }
}
