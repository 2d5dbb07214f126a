//! The trust store's files: a directory that only its owner can enter.

use std::fmt;
use std::fs::{self, DirBuilder, File as FsFile, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use sealstone::trust::{File, ReadSession, Storage, WriteSession};

/// A trust store in a directory (`spec/trust.md`, "Files"): mode 0700, its files 0600, never
/// through a symbolic link.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    path: PathBuf,
}

/// The directory, locked for as long as this lives.
pub(crate) struct Session {
    path: PathBuf,
    /// None where there is nothing to exclude anybody from.
    _lock: Option<FsFile>,
}

/// Why a change could not even begin: nothing of it can have taken effect.
#[derive(Debug)]
struct NotBegun(io::Error);

const LOCK: &str = "lock";
const FILE_MODE: u32 = 0o600;
const DIRECTORY_MODE: u32 = 0o700;
/// Permissions of everybody but the owner.
const OTHERS: u32 = 0o077;

impl Directory {
    /// The store in `path`, which need not exist.
    pub(crate) fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    fn session(&self, lock: Option<FsFile>) -> Session {
        Session {
            path: self.path.clone(),
            _lock: lock,
        }
    }

    fn begin(&self) -> io::Result<Session> {
        make_directory(&self.path)?;
        check_directory(&self.path)?;
        let lock = self.lock_file()?;
        wait(|| lock.lock())?;
        Ok(self.session(Some(lock)))
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
            .mode(FILE_MODE)
            .open(&path)
        {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                open_private(&path, OpenOptions::new().read(true).write(true))
            }
            made => made,
        }
    }
}

/// Whether `error` is of a change that could not even begin.
pub(crate) fn is_not_begun(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<NotBegun>())
}

impl fmt::Display for NotBegun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for NotBegun {}

impl Storage for Directory {
    type Reader = Session;
    type Writer = Session;

    fn read(&self) -> io::Result<Session> {
        let absent = |e: &io::Error| e.kind() == io::ErrorKind::NotFound;
        match check_directory(&self.path) {
            Err(e) if absent(&e) => return Ok(self.session(None)),
            checked => checked?,
        }
        let lock = match open_private(&self.path.join(LOCK), OpenOptions::new().read(true)) {
            // A writer makes the lock before everything else, so there is no store yet.
            Err(e) if absent(&e) && self.is_empty()? => return Ok(self.session(None)),
            // A copy that was made without the lock, perhaps on a medium that cannot be written to.
            Err(e) if absent(&e) => match self.lock_file() {
                Err(e) if is_read_only(&e) => return Ok(self.session(None)),
                made => made?,
            },
            opened => opened?,
        };
        wait(|| lock.lock_shared())?;
        Ok(self.session(Some(lock)))
    }

    fn write(&self) -> io::Result<Session> {
        self.begin()
            .map_err(|e| io::Error::new(e.kind(), NotBegun(e)))
    }
}

impl ReadSession for Session {
    fn read(&self, file: File, limit: usize) -> io::Result<Option<Vec<u8>>> {
        let opened = match open_private(&self.path.join(file.name()), OpenOptions::new().read(true))
        {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let expected = opened.metadata()?.len().min(limit as u64);
        // The whole at once: a vector that grows would leave copies of the key behind.
        let mut bytes = Vec::with_capacity(usize::try_from(expected).map_or(limit, |len| len + 1));
        opened.take(limit as u64).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }
}

impl WriteSession for Session {
    fn replace(&mut self, file: File, bytes: &[u8]) -> io::Result<()> {
        let path = self.path.join(file.name());
        let new = self.path.join(format!(".{}.new", file.name()));
        remove_if_there(&new)?;
        let replaced = write_new(&new, bytes).and_then(|()| fs::rename(&new, &path));
        if replaced.is_err() {
            // The error that matters is the one above; what stays behind here is removed by the
            // next write.
            let _ = fs::remove_file(&new);
        }
        replaced?;
        sync_directory(&self.path)
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

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(FILE_MODE)
        .open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Makes `path` and what is missing above it, durably.
fn make_directory(path: &Path) -> io::Result<()> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let make = || match DirBuilder::new().mode(DIRECTORY_MODE).create(path) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.and_then(|()| sync_directory(parent)),
    };
    match make() {
        Err(e) if e.kind() == io::ErrorKind::NotFound && parent != path => {
            make_directory(parent)?;
            // Where nobody can make anything, such as /proc, it is still not found.
            make()
        }
        made => made,
    }
}

fn sync_directory(path: &Path) -> io::Result<()> {
    FsFile::open(path)?.sync_all()
}

fn check_directory(path: &Path) -> io::Result<()> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::NotADirectory,
            format!("{}: not a directory", path.display()),
        ));
    }
    refuse_others(path, &metadata, DIRECTORY_MODE)
}

/// Opens a regular file that only its owner may read and write. What is opened is what was looked
/// at: a symbolic link never is.
fn open_private(path: &Path, options: &OpenOptions) -> io::Result<FsFile> {
    let seen = fs::symlink_metadata(path)?;
    if !seen.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{}: not a regular file", path.display()),
        ));
    }
    refuse_others(path, &seen, FILE_MODE)?;
    let file = options.open(path)?;
    let opened = file.metadata()?;
    if (opened.dev(), opened.ino()) != (seen.dev(), seen.ino()) {
        return Err(io::Error::other(format!(
            "{}: exchanged while it was opened",
            path.display()
        )));
    }
    Ok(file)
}

fn refuse_others(path: &Path, metadata: &Metadata, mode: u32) -> io::Result<()> {
    if metadata.mode() & OTHERS == 0 {
        return Ok(());
    }
    let quoted = path.display().to_string().replace('\'', r"'\''");
    let message = format!(
        "{}: others than you may use it; to keep them out: chmod {mode:o} '{quoted}'",
        path.display()
    );
    Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
}

fn is_read_only(e: &io::Error) -> bool {
    matches!(
        e.kind(),
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied
    )
}

/// Waits for a lock, also through signals.
fn wait(lock: impl Fn() -> io::Result<()>) -> io::Result<()> {
    loop {
        match lock() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            locked => return locked,
        }
    }
}
