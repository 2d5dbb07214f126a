//! Files that keep their place: behind symbolic links, with their mode.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use crate::{AtomicFile, Existing, PUBLIC, Sync, directory_of, umask};

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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, set_permissions, write};

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
    }
}
