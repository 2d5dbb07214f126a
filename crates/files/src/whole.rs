//! Directories that appear whole or not at all.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use crate::atomic::{Sync, hidden_name};
use crate::directory::{directory_of, sync_directory, umask};
use crate::temporary::{Temporary, registry};

/// A new directory that is filled under a hidden name. Without a commit it is removed on drop.
///
/// ```
/// use sealstone_files::NewDirectory;
///
/// let parent = tempfile::tempdir()?;
/// let target = parent.path().join("evidence");
/// let new = NewDirectory::beside(&target)?;
/// new.write("keys/a.pem", b"...")?;
/// assert!(!target.exists());
/// new.commit(&target)?;
/// assert_eq!(std::fs::read(target.join("keys/a.pem"))?, b"...");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct NewDirectory {
    temporary: Temporary,
}

impl NewDirectory {
    /// Makes the hidden directory beside `target`. Only its owner can enter it.
    ///
    /// # Errors
    /// The system's error.
    pub fn beside(target: &Path) -> io::Result<Self> {
        let hidden = hidden_name(&directory_of(target));
        let make = |path: &Path| DirBuilder::new().mode(0o700).create(path);
        let (temporary, ()) = Temporary::create(hidden, make)?;
        Ok(Self { temporary })
    }

    /// The hidden path, which holds until the commit.
    pub fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// Keeps the directory at its hidden path, which this returns. Only its owner can enter it.
    pub fn keep(self) -> PathBuf {
        self.temporary.keep()
    }

    /// Writes a new file, and makes the directories above it.
    ///
    /// # Errors
    /// The system's error; [`ErrorKind::InvalidInput`] for a path that leads out of the
    /// directory.
    pub fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let below = Path::new(path)
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        if !below {
            return Err(ErrorKind::InvalidInput.into());
        }
        let path = self.temporary.path().join(path);
        // A signal that removes the directory comes before the file or after it.
        let _registry = registry();
        std::fs::create_dir_all(directory_of(&path))?;
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o666)
            .open(&path)?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    /// Gives the directory its final name, and the mode of any new directory.
    ///
    /// # Errors
    /// The system's error; [`ErrorKind::AlreadyExists`] if something has the name, even if that is
    /// an empty directory.
    pub fn commit(self, target: &Path) -> io::Result<()> {
        self.open_to_others()?;
        sync_below(self.temporary.path())?;
        self.commit_settled(target, Sync::Full)
    }

    /// Makes all files in the directory durable, even those that other code wrote there.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn settle(&self, sync: Sync) -> io::Result<()> {
        self.open_to_others()?;
        match sync {
            Sync::Full => sync_system(self.temporary.path()),
            Sync::None => Ok(()),
        }
    }

    /// As [`NewDirectory::commit`], after [`NewDirectory::settle`].
    ///
    /// # Errors
    /// As [`NewDirectory::commit`].
    pub(crate) fn commit_settled(self, target: &Path, sync: Sync) -> io::Result<()> {
        rename_new(self.temporary.path(), target)?;
        match sync {
            Sync::Full => sync_directory(&directory_of(target)),
            Sync::None => Ok(()),
        }
    }

    fn open_to_others(&self) -> io::Result<()> {
        let mode = Permissions::from_mode(0o777 & !umask());
        std::fs::set_permissions(self.temporary.path(), mode)
    }
}

/// Makes all files of a directory durable at once. One sync per file would wait for the disk once
/// per file.
#[cfg(target_os = "linux")]
fn sync_system(directory: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(directory)?)?)
}

#[cfg(not(target_os = "linux"))]
fn sync_system(_: &Path) -> io::Result<()> {
    rustix::fs::sync();
    Ok(())
}

/// Renames a file or directory to the first free name of those that `mv --backup=numbered` gives:
/// `path.~1~` and so on. Returns that name.
pub(crate) fn move_aside(path: &Path) -> io::Result<PathBuf> {
    // Without a slash at the end.
    let path: PathBuf = path.components().collect();
    for number in 1_u32.. {
        let mut aside = path.clone().into_os_string();
        aside.push(format!(".~{number}~"));
        match rename_new(&path, aside.as_ref()) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            renamed => return renamed.map(|()| aside.into()),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Undoes [`move_aside`]: renames `aside` back to `path`, unless something has that name.
pub(crate) fn move_back(aside: &Path, path: &Path) -> io::Result<()> {
    let path: PathBuf = path.components().collect();
    rename_new(aside, &path)
}

/// Makes the names in a directory and below it durable.
fn sync_below(directory: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_below(&entry.path())?;
        }
    }
    File::open(directory)?.sync_all()
}

#[cfg(target_os = "linux")]
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Some file systems do not know this flag.
        Err(Errno::INVAL | Errno::NOSYS) => rename_if_free(from, to),
        renamed => Ok(renamed?),
    }
}

#[cfg(not(target_os = "linux"))]
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    rename_if_free(from, to)
}

/// Between the look and the rename, `to` may appear. A directory then replaces it only if it is an
/// empty directory.
fn rename_if_free(from: &Path, to: &Path) -> io::Result<()> {
    match to.symlink_metadata() {
        Ok(_) => Err(ErrorKind::AlreadyExists.into()),
        Err(_) => std::fs::rename(from, to),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    #[test]
    fn it_appears_whole_or_not_at_all() {
        let parent = tempfile::tempdir().unwrap();
        let target = parent.path().join("new");
        let new = NewDirectory::beside(&target).unwrap();
        new.write("a", b"1").unwrap();
        new.write("b/c/d", b"2").unwrap();
        assert!(!target.exists());
        let mode = new.temporary.path().metadata().unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o700);
        new.commit(&target).unwrap();
        assert_eq!(names(parent.path()), std::slice::from_ref(&target));
        assert_eq!(std::fs::read(target.join("b/c/d")).unwrap(), b"2");
        let mode = target.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o777 & !umask());
    }

    #[test]
    fn a_file_that_is_moved_aside_replaces_nothing() {
        let parent = tempfile::tempdir().unwrap();
        let target = parent.path().join("a");
        for number in 1..4 {
            std::fs::write(&target, number.to_string()).unwrap();
            let aside = move_aside(&target).unwrap();
            assert_eq!(aside, parent.path().join(format!("a.~{number}~")));
            assert_eq!(std::fs::read(aside).unwrap(), number.to_string().as_bytes());
        }
        assert_eq!(names(parent.path()).len(), 3);
        let aside = parent.path().join("a.~2~");
        move_back(&aside, &target).unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"2");
        let error = move_back(&parent.path().join("a.~1~"), &target).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    }

    #[test]
    fn nothing_is_left_of_what_is_not_committed() {
        let parent = tempfile::tempdir().unwrap();
        let new = NewDirectory::beside(&parent.path().join("new")).unwrap();
        new.write("a/b", b"1").unwrap();
        drop(new);
        assert!(names(parent.path()).is_empty());
    }

    #[test]
    fn nothing_is_replaced_and_nothing_lands_elsewhere() {
        for rename in [rename_new, rename_if_free] {
            let parent = tempfile::tempdir().unwrap();
            let target = parent.path().join("there");
            std::fs::create_dir(&target).unwrap();
            let new = NewDirectory::beside(&target).unwrap();
            let error = rename(new.temporary.path(), &target).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::AlreadyExists);
            for bad in ["../up", "/up", "a/../../up", "."] {
                let error = new.write(bad, b"1").unwrap_err();
                assert_eq!(error.kind(), ErrorKind::InvalidInput, "{bad}");
            }
            new.write("a", b"1").unwrap();
            let error = new.write("a", b"2").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        }
    }
}
