//! Files that must not be lost: passports, shares, backups.
//!
//! Before a program shows a secret, it checks with `must_be_…` whether a later step would fail.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

pub use crate::directory::{PRIVATE, PUBLIC};
use crate::output::{OutputError, Refusal};
use crate::{AtomicFile, Existing, directory_of, holds, lock, sync_directory, umask};

/// A result with an [`OutputError`].
pub type Result<T> = std::result::Result<T, OutputError>;

/// Writes a new file durably. Never replaces one. The mode [`PUBLIC`] is limited by the [`umask`].
///
/// # Errors
/// [`Refusal::Kept`] if something has the name; the system's error.
pub fn write_new(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let mode = match mode {
        PUBLIC => PUBLIC & !umask(),
        mode => mode,
    };
    let written = crate::write(path, bytes, Existing::Keep, mode);
    written.map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists => OutputError::new(path, Refusal::Kept),
        _ => failed(path, e),
    })
}

/// Replaces a file durably if it still holds `before`. The new file has the mode of the old one,
/// without permissions for others.
///
/// # Errors
/// [`Refusal::Changed`]; the system's error.
pub fn replace(path: &Path, before: &[u8], bytes: &[u8]) -> Result<()> {
    let failed = |e| failed(path, e);
    // If the path is a symbolic link, the file that it leads to.
    let target = path.canonicalize().map_err(failed)?;
    let _lock = try_lock(&target, before)
        .map_err(failed)?
        .ok_or_else(|| changed(path))?;
    let mode = target.metadata().map_err(failed)?.permissions().mode() & PRIVATE;
    crate::write(&target, bytes, Existing::Replace, mode).map_err(failed)
}

/// Locks a file that must still hold `before`, so that other processes wait until this one has
/// replaced it; a process that waited then finds a changed file in its place. The lock lasts as
/// long as the returned value.
///
/// # Errors
/// [`Refusal::Changed`]; the system's error.
pub fn lock_unchanged(path: &Path, before: &[u8]) -> Result<File> {
    let locked = try_lock(path, before).map_err(|e| failed(path, e))?;
    locked.ok_or_else(|| changed(path))
}

fn try_lock(path: &Path, before: &[u8]) -> io::Result<Option<File>> {
    let file = File::open(path)?;
    match lock(&file) {
        // Without locks, only a change at this very moment goes unnoticed.
        Err(e) if e.kind() == ErrorKind::Unsupported => {}
        locked => locked?,
    }
    Ok(holds(path, before)?.then_some(file))
}

/// Renames a file durably, and replaces a file that has the new name.
///
/// # Errors
/// The system's error.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    let renamed = std::fs::rename(from, to).and_then(|()| sync_directory(&directory_of(to)));
    renamed.map_err(|e| failed(to, e))
}

/// Fails if the file at `path` is no longer the one that was read.
///
/// # Errors
/// [`Refusal::Changed`]; the system's error.
pub fn must_be_unchanged(path: &Path, read: &Metadata) -> Result<()> {
    let state = |it: &Metadata| (it.dev(), it.ino(), it.len(), it.mtime(), it.mtime_nsec());
    let now = path.metadata().map_err(|e| failed(path, e))?;
    match state(&now) == state(read) {
        true => Ok(()),
        false => Err(changed(path)),
    }
}

/// Fails if any of `paths` exists: keys are never overwritten.
///
/// # Errors
/// [`Refusal::Kept`].
pub fn must_be_new<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<()> {
    let mut paths = paths.into_iter();
    match paths.find(|path| path.symlink_metadata().is_ok()) {
        Some(there) => Err(OutputError::new(there, Refusal::Kept)),
        None => Ok(()),
    }
}

/// Fails if no file can be created at `path`.
///
/// # Errors
/// The system's error.
pub fn must_be_makeable(path: &Path) -> Result<()> {
    let made = AtomicFile::new(&directory_of(path));
    made.map(drop).map_err(|e| failed(path, e))
}

/// Fails if the file cannot be replaced.
///
/// # Errors
/// The system's error.
pub fn must_be_replaceable(path: &Path) -> Result<()> {
    must_be_makeable(&path.canonicalize().map_err(|e| failed(path, e))?)
}

fn changed(path: &Path) -> OutputError {
    OutputError::new(path, Refusal::Changed)
}

fn failed(path: &Path, error: io::Error) -> OutputError {
    OutputError::new(path, Refusal::Io(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, read, set_permissions, write};

    fn is_changed<T>(result: Result<T>) -> bool {
        result.is_err_and(|e| matches!(e.reason, Refusal::Changed))
    }

    #[test]
    fn a_changed_file_is_not_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        write(&path, "new").unwrap();
        for other in ["old", "ne", "newer"] {
            assert!(is_changed(replace(&path, other.as_bytes(), b"mine")));
            assert!(is_changed(lock_unchanged(&path, other.as_bytes())));
        }
        assert_eq!(read(&path).unwrap(), b"new");
        let before = path.metadata().unwrap();
        must_be_unchanged(&path, &before).unwrap();
        replace(&path, b"new", b"mine").unwrap();
        assert!(holds(&path, b"mine").unwrap());
        assert!(is_changed(must_be_unchanged(&path, &before)));
    }

    #[test]
    fn a_file_behind_a_link_is_replaced_and_private() {
        let directory = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| directory.path().join(name));
        write(&file, "old").unwrap();
        set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        replace(&link, b"old", b"new").unwrap();
        assert!(link.is_symlink() && holds(&file, b"new").unwrap());
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_new_file_replaces_nothing_not_even_a_broken_link() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("link");
        must_be_new([path.as_path()]).unwrap();
        must_be_makeable(&path).unwrap();
        assert!(must_be_replaceable(&path).is_err());
        std::os::unix::fs::symlink("nowhere", &path).unwrap();
        for refused in [
            must_be_new([path.as_path()]),
            write_new(&path, b"", PRIVATE),
        ] {
            assert!(matches!(refused.unwrap_err().reason, Refusal::Kept));
        }
        let below = path.join("below");
        assert!(matches!(
            must_be_makeable(&below).unwrap_err().reason,
            Refusal::Io(_)
        ));
    }
}
