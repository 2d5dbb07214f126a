//! A trust store in a directory that only its owner can enter.

use std::fmt;
use std::fs::{self, File as FsFile, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;
use sealstone::trust::{File, ReadSession, Storage, WriteSession};

use crate::atomic::{AtomicFile, Existing, Sync};
use crate::directory::{PRIVATE, make_directory};
use crate::locking::{lock, lock_shared};

/// A trust store in a directory (`spec/trust.md`, "Files"): mode 0700, its files 0600, never
/// through a symbolic link.
#[derive(Clone, Debug)]
pub struct TrustDirectory {
    path: PathBuf,
}

/// The directory, locked until this value is dropped.
#[derive(Debug)]
pub struct TrustSession {
    path: PathBuf,
    /// `None` without a store, and on a medium that cannot be written to.
    lock: Option<FsFile>,
}

/// Why a change could not begin. Nothing of it has taken effect.
#[derive(Debug)]
struct NotBegun(io::Error);

/// A file or the directory that must not be used. The message begins with its path.
#[derive(Debug)]
struct Refused(String);

const LOCK: &str = "lock";
const DIRECTORY_MODE: u32 = 0o700;
/// Permissions of everybody but the owner.
const OTHERS: u32 = 0o077;

impl TrustDirectory {
    /// The store in `path`, which need not exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    fn session(&self, lock: Option<FsFile>) -> TrustSession {
        TrustSession {
            path: self.path.clone(),
            lock,
        }
    }

    fn begin(&self) -> io::Result<TrustSession> {
        make_directory(&self.path)?;
        check_directory(&self.path)?;
        let file = self.lock_file()?;
        lock(&file)?;
        Ok(self.session(Some(file)))
    }

    fn is_empty(&self) -> io::Result<bool> {
        for file in File::ALL {
            if self.path.join(file.name()).try_exists()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Opens the lock file, and makes it if need be.
    fn lock_file(&self) -> io::Result<FsFile> {
        let path = self.path.join(LOCK);
        match OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(PRIVATE)
            .open(&path)
        {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                open_private(&path, OpenOptions::new().read(true).write(true))
            }
            made => made,
        }
    }
}

/// Whether a change failed before it began, so that nothing of it has taken effect.
pub fn is_not_begun(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<NotBegun>())
}

/// Whether the message begins with the path of the file that it is about.
pub fn names_its_file(error: &io::Error) -> bool {
    let Some(inner) = error.get_ref() else {
        return false;
    };
    match inner.downcast_ref::<NotBegun>() {
        Some(NotBegun(error)) => names_its_file(error),
        None => inner.is::<Refused>(),
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

impl fmt::Display for NotBegun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for NotBegun {}

impl Storage for TrustDirectory {
    type Reader = TrustSession;
    type Writer = TrustSession;

    fn read(&self) -> io::Result<TrustSession> {
        let absent = |e: &io::Error| e.kind() == io::ErrorKind::NotFound;
        match check_directory(&self.path) {
            Err(e) if absent(&e) => return Ok(self.session(None)),
            checked => checked?,
        }
        let file = match open_private(&self.path.join(LOCK), OpenOptions::new().read(true)) {
            // A writer makes the lock before everything else, so there is no store yet.
            Err(e) if absent(&e) && self.is_empty()? => return Ok(self.session(None)),
            // The store was copied without its lock, perhaps to a medium that is read-only.
            Err(e) if absent(&e) => match self.lock_file() {
                Err(e) if is_read_only(&e) => return Ok(self.session(None)),
                made => made?,
            },
            opened => opened?,
        };
        lock_shared(&file)?;
        Ok(self.session(Some(file)))
    }

    fn write(&self) -> io::Result<TrustSession> {
        self.begin()
            .map_err(|e| io::Error::new(e.kind(), NotBegun(e)))
    }
}

impl Drop for TrustSession {
    /// Closing the file would not release the lock as long as a process that was forked meanwhile
    /// has the file too.
    fn drop(&mut self) {
        if let Some(file) = &self.lock {
            // On an error, closing is all that is left.
            let _ = file.unlock();
        }
    }
}

impl ReadSession for TrustSession {
    fn read(&self, file: File, limit: usize) -> io::Result<Option<Vec<u8>>> {
        let opened = match open_private(&self.path.join(file.name()), OpenOptions::new().read(true))
        {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let expected = opened.metadata()?.len().min(limit as u64);
        // Reserved at once: a vector that grows would leave copies of the key behind.
        let mut bytes = Vec::with_capacity(usize::try_from(expected).map_or(limit, |len| len + 1));
        opened.take(limit as u64).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }
}

impl WriteSession for TrustSession {
    fn replace(&mut self, file: File, bytes: &[u8]) -> io::Result<()> {
        let new = self.path.join(format!(".{}.new", file.name()));
        // An interrupted change left it behind.
        remove_if_there(&new)?;
        let new = AtomicFile::named(new)?;
        new.file().write_all(bytes)?;
        new.commit(
            &self.path.join(file.name()),
            Existing::Replace,
            PRIVATE,
            Sync::Full,
        )
    }

    fn append(&mut self, file: File, bytes: &[u8]) -> io::Result<()> {
        let mut opened = open_private(
            &self.path.join(file.name()),
            OpenOptions::new().append(true),
        )?;
        opened.write_all(bytes)?;
        opened.sync_all()
    }
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn check_directory(path: &Path) -> io::Result<()> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_dir() {
        let kind = io::ErrorKind::NotADirectory;
        return Err(refused(kind, path, "not a directory"));
    }
    refuse_others(path, &metadata, DIRECTORY_MODE)
}

/// Opens a regular file that only its owner may read and write. It is the file that was looked at,
/// never one behind a symbolic link.
fn open_private(path: &Path, options: &OpenOptions) -> io::Result<FsFile> {
    let seen = fs::symlink_metadata(path)?;
    if !seen.is_file() {
        let kind = io::ErrorKind::InvalidInput;
        return Err(refused(kind, path, "not a regular file"));
    }
    refuse_others(path, &seen, PRIVATE)?;
    let file = options.open(path)?;
    let opened = file.metadata()?;
    if (opened.dev(), opened.ino()) != (seen.dev(), seen.ino()) {
        let why = "exchanged while it was opened";
        return Err(refused(io::ErrorKind::Other, path, why));
    }
    Ok(file)
}

fn refuse_others(path: &Path, metadata: &Metadata, mode: u32) -> io::Result<()> {
    if metadata.uid() != geteuid().as_raw() {
        let why = "it belongs to another user, who can change it";
        return Err(refused(io::ErrorKind::PermissionDenied, path, why));
    }
    if metadata.mode() & OTHERS == 0 {
        return Ok(());
    }
    let quoted = path.display().to_string().replace('\'', r"'\''");
    let why = format!("other users may use it; to keep them out: chmod {mode:o} '{quoted}'");
    Err(refused(io::ErrorKind::PermissionDenied, path, &why))
}

fn refused(kind: io::ErrorKind, path: &Path, why: &str) -> io::Error {
    io::Error::new(kind, Refused(format!("{}: {why}", path.display())))
}

fn is_read_only(e: &io::Error) -> bool {
    matches!(
        e.kind(),
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied
    )
}
