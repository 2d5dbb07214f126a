//! Files that appear whole or not at all.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sealstone_primitives::rng;

use crate::directory::{PRIVATE, directory_of, sync_directory};
use crate::temporary::Temporary;

/// A file that is being written. Only its owner can read it. Before the commit it has no name if
/// the system allows that, else a hidden one. Without a commit it is removed on drop.
#[derive(Debug)]
pub struct AtomicFile {
    file: File,
    directory: PathBuf,
    temporary: Option<Temporary>,
}

/// The treatment of a file that has the final name already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and the commit fails with [`io::ErrorKind::AlreadyExists`].
    Keep,
    /// It is replaced in one step: at any time there is the old file or the new one.
    Replace,
}

/// Whether a commit waits until the disk has everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// The content is on the disk before the name changes, the name before the commit returns.
    Full,
    /// A crash of the system may lose the file, and the one that it replaced.
    None,
}

/// Writes a small file: see [`AtomicFile::commit`].
///
/// # Errors
/// The system's error, and [`io::ErrorKind::AlreadyExists`] for [`Existing::Keep`].
pub fn write(target: &Path, bytes: &[u8], existing: Existing, mode: u32) -> io::Result<()> {
    let new = AtomicFile::new(&directory_of(target))?;
    new.file().write_all(bytes)?;
    new.commit(target, existing, mode, Sync::Full)
}

impl AtomicFile {
    /// Creates a file in `directory`, which must be that of the final name.
    ///
    /// # Errors
    /// The system's error.
    pub fn new(directory: &Path) -> io::Result<Self> {
        match unnamed(directory) {
            Some(file) => Ok(Self {
                file,
                directory: directory.to_owned(),
                temporary: None,
            }),
            None => Self::named(hidden_name(directory)),
        }
    }

    /// Creates it under the name `hidden`, for formats and file systems that need one.
    ///
    /// # Errors
    /// The system's error, and [`io::ErrorKind::AlreadyExists`] if something has that name.
    pub fn named(hidden: PathBuf) -> io::Result<Self> {
        let directory = directory_of(&hidden);
        let mut options = OpenOptions::new();
        options
            .read(true)
            .write(true)
            .create_new(true)
            .mode(PRIVATE);
        let (temporary, file) = Temporary::create(hidden, |path| options.open(path))?;
        Ok(Self {
            file,
            directory,
            temporary: Some(temporary),
        })
    }

    /// The file, to write to.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file its name and mode.
    ///
    /// # Errors
    /// The system's error, and [`io::ErrorKind::AlreadyExists`] for [`Existing::Keep`]. Then
    /// nothing has changed, unless only the last step failed: syncing the directory.
    pub fn commit(
        self,
        target: &Path,
        existing: Existing,
        mode: u32,
        sync: Sync,
    ) -> io::Result<()> {
        self.file.set_permissions(Permissions::from_mode(mode))?;
        if sync == Sync::Full {
            self.file.sync_all()?;
        }
        match existing {
            Existing::Keep => self.link(target)?,
            Existing::Replace => self.replace(target)?,
        }
        if sync == Sync::Full {
            sync_directory(&self.directory)?;
        }
        Ok(())
    }

    /// Never replaces: the system checks and links in one step.
    fn link(&self, target: &Path) -> io::Result<()> {
        match &self.temporary {
            None => link_unnamed(&self.file, target),
            Some(temporary) => {
                std::fs::hard_link(temporary.path(), target).or_else(|e| match e.kind() {
                    io::ErrorKind::AlreadyExists => Err(e),
                    // Some file systems have no links.
                    _ if target.symlink_metadata().is_ok() => {
                        Err(io::ErrorKind::AlreadyExists.into())
                    }
                    _ => std::fs::rename(temporary.path(), target),
                })
            }
        }
    }

    fn replace(&self, target: &Path) -> io::Result<()> {
        match &self.temporary {
            Some(temporary) => std::fs::rename(temporary.path(), target),
            None => {
                let hidden = hidden_name(&self.directory);
                let (temporary, ()) =
                    Temporary::create(hidden, |path| link_unnamed(&self.file, path))?;
                std::fs::rename(temporary.path(), target)
            }
        }
    }
}

pub(crate) fn hidden_name(directory: &Path) -> PathBuf {
    let number = u64::from_le_bytes(rng::array());
    directory.join(format!(".sealstone-{number:016x}.tmp"))
}

#[cfg(target_os = "linux")]
fn unnamed(directory: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags, open};
    // Without /proc the file could not be given a name.
    if !Path::new(PROC_FD).exists() {
        return None;
    }
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    open(directory, flags, Mode::from_raw_mode(PRIVATE))
        .ok()
        .map(File::from)
}

#[cfg(target_os = "linux")]
fn link_unnamed(file: &File, target: &Path) -> io::Result<()> {
    use std::os::fd::AsRawFd;

    use rustix::fs::{AtFlags, CWD, linkat};
    let name = format!("{PROC_FD}/{}", file.as_raw_fd());
    Ok(linkat(CWD, name, CWD, target, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(target_os = "linux")]
const PROC_FD: &str = "/proc/self/fd";

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Path) -> Option<File> {
    None
}

#[cfg(not(target_os = "linux"))]
fn link_unnamed(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn temp_files(directory: &Path) -> [AtomicFile; 2] {
        [
            AtomicFile::new(directory).unwrap(),
            AtomicFile::named(hidden_name(directory)).unwrap(),
        ]
    }

    fn entries(directory: &Path) -> usize {
        std::fs::read_dir(directory).unwrap().count()
    }

    #[test]
    fn both_kinds_appear_whole_with_their_mode() {
        let directory = tempfile::tempdir().unwrap();
        for (i, temp) in temp_files(directory.path()).into_iter().enumerate() {
            let target = directory.path().join(i.to_string());
            temp.file().write_all(b"content").unwrap();
            assert_eq!(
                temp.file().metadata().unwrap().permissions().mode() & 0o777,
                PRIVATE
            );
            temp.commit(&target, Existing::Keep, 0o640, Sync::Full)
                .unwrap();
            assert_eq!(std::fs::read(&target).unwrap(), b"content");
            assert_eq!(
                target.metadata().unwrap().permissions().mode() & 0o777,
                0o640
            );
        }
        assert_eq!(entries(directory.path()), 2);
    }

    #[test]
    fn an_existing_file_is_kept_or_replaced_as_asked() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("target");
        for existing in [Existing::Keep, Existing::Replace] {
            for temp in temp_files(directory.path()) {
                std::fs::write(&target, "old").unwrap();
                temp.file().write_all(b"new").unwrap();
                let done = temp.commit(&target, existing, 0o600, Sync::None);
                let (kept, content) = (existing == Existing::Keep, std::fs::read(&target).unwrap());
                assert_eq!(content, if kept { b"old" } else { b"new" });
                assert_eq!(
                    done.err().map(|e| e.kind()),
                    kept.then_some(io::ErrorKind::AlreadyExists)
                );
            }
        }
        assert_eq!(entries(directory.path()), 1);
    }

    #[test]
    fn nothing_is_left_of_what_is_not_committed() {
        let directory = tempfile::tempdir().unwrap();
        drop(temp_files(directory.path()));
        assert_eq!(entries(directory.path()), 0);
    }
}
