//! Files that keep their place: behind symbolic links, with their mode, compared before they
//! change.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use crate::{
    AtomicFile, Existing, PRIVATE, PUBLIC, Sync, directory_of, lock, sync_directory, umask,
};

/// A file that is being written for a path. Behind a symbolic link, the file that it leads to is
/// replaced; its mode stays.
#[derive(Debug)]
pub struct PlacedFile {
    new: AtomicFile,
    target: PathBuf,
    mode: u32,
    existing: Existing,
}

impl PlacedFile {
    /// Creates a file for `path`.
    ///
    /// # Errors
    /// The system's error.
    pub fn new(path: &Path, existing: Existing) -> io::Result<Self> {
        let (target, mode) = match path.canonicalize() {
            Ok(target) => {
                let mode = target.metadata()?.permissions().mode() & 0o777;
                (target, mode)
            }
            Err(_) => (path.to_owned(), PUBLIC & !umask()),
        };
        Ok(Self {
            new: AtomicFile::new(&directory_of(&target))?,
            target,
            mode,
            existing,
        })
    }

    /// The file, to write to.
    pub fn file(&self) -> &File {
        self.new.file()
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// As [`AtomicFile::commit`].
    pub fn commit(self, sync: Sync) -> io::Result<()> {
        self.new
            .commit(&self.target, self.existing, self.mode, sync)
    }
}

/// Replaces a file durably if it still holds `before`, and returns whether it did. The new file has
/// the mode of the old one, without permissions for others.
///
/// # Errors
/// The system's error.
pub fn replace_unchanged(path: &Path, before: &[u8], bytes: &[u8]) -> io::Result<bool> {
    // If the path is a symbolic link, the file that it leads to.
    let path = path.canonicalize()?;
    let Some(_lock) = lock_unchanged(&path, before)? else {
        return Ok(false);
    };
    let mode = path.metadata()?.permissions().mode() & PRIVATE;
    crate::write(&path, bytes, Existing::Replace, mode)?;
    Ok(true)
}

/// Locks a file that must still hold `before`, so that other processes wait until this one has
/// replaced it; a process that waited then finds a changed file in its place. The lock lasts as
/// long as the returned value; `None` if the file holds something else.
///
/// # Errors
/// The system's error.
pub fn lock_unchanged(path: &Path, before: &[u8]) -> io::Result<Option<File>> {
    let file = File::open(path)?;
    match lock(&file) {
        // Without locks, only a change at this very moment goes unnoticed.
        Err(e) if e.kind() == ErrorKind::Unsupported => {}
        locked => locked?,
    }
    Ok(holds(path, before)?.then_some(file))
}

/// Whether a file holds these bytes and no others.
///
/// # Errors
/// The system's error.
pub fn holds(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    let mut found = Zeroizing::new(Vec::with_capacity(bytes.len() + 1));
    let longest = bytes.len() as u64 + 1;
    File::open(path)?.take(longest).read_to_end(&mut found)?;
    Ok(**found == *bytes)
}

/// Renames a file durably, and replaces a file that has the new name.
///
/// # Errors
/// The system's error.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::rename(from, to)?;
    sync_directory(&directory_of(to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, read, set_permissions, write};

    #[test]
    fn a_changed_file_is_not_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        write(&path, "new").unwrap();
        for other in ["old", "ne", "newer"] {
            assert!(!replace_unchanged(&path, other.as_bytes(), b"mine").unwrap());
            assert!(lock_unchanged(&path, other.as_bytes()).unwrap().is_none());
        }
        assert_eq!(read(&path).unwrap(), b"new");
        assert!(replace_unchanged(&path, b"new", b"mine").unwrap());
        assert!(holds(&path, b"mine").unwrap());
    }

    #[test]
    fn the_file_behind_a_link_keeps_its_mode() {
        use std::io::Write;
        let directory = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| directory.path().join(name));
        write(&file, "old").unwrap();
        set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let mode = || file.metadata().unwrap().permissions().mode() & 0o777;

        let new = PlacedFile::new(&link, Existing::Replace).unwrap();
        new.file().write_all(b"new").unwrap();
        new.commit(Sync::Full).unwrap();
        assert!(link.is_symlink() && holds(&file, b"new").unwrap());
        assert_eq!(mode(), 0o640);

        assert!(replace_unchanged(&link, b"new", b"newer").unwrap());
        assert!(link.is_symlink() && holds(&file, b"newer").unwrap());
        assert_eq!(mode(), 0o600);
    }
}
