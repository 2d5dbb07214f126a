//! Files that come into being whole or not at all.

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sealstone_primitives::rng;

use crate::signals::Temporary;

/// A file that is being written: without a name where the system can do that, else under a hidden one. It is gone if it is not committed.
pub(crate) struct TempFile {
    file: File,
    directory: PathBuf,
    temporary: Option<Temporary>,
}

/// Whether a file of the final name may be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existing {
    Keep,
    Replace,
}

/// Readable by nobody else while it is written.
const PRIVATE: u32 = 0o600;

impl TempFile {
    /// In `directory`, readable by its owner only.
    pub(crate) fn new(directory: &Path) -> io::Result<Self> {
        match unnamed(directory) {
            Some(file) => Ok(Self {
                file,
                directory: directory.to_owned(),
                temporary: None,
            }),
            None => Self::named(directory),
        }
    }

    /// Under a hidden name, for file systems that need one.
    pub(crate) fn named(directory: &Path) -> io::Result<Self> {
        let temporary = Temporary::new(hidden_name(directory));
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(PRIVATE)
            .open(temporary.path())?;
        Ok(Self {
            file,
            directory: directory.to_owned(),
            temporary: Some(temporary),
        })
    }

    /// The file, to write to.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file its name and mode. With `durable` it is there to stay when this returns.
    pub(crate) fn commit(
        self,
        target: &Path,
        existing: Existing,
        mode: u32,
        durable: bool,
    ) -> io::Result<()> {
        self.file.set_permissions(Permissions::from_mode(mode))?;
        if durable {
            self.file.sync_all()?;
        }
        match existing {
            Existing::Keep => self.link(target)?,
            Existing::Replace => self.replace(target)?,
        }
        if durable {
            File::open(&self.directory)?.sync_all()?;
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
                let temporary = Temporary::new(hidden_name(&self.directory));
                link_unnamed(&self.file, temporary.path())?;
                std::fs::rename(temporary.path(), target)
            }
        }
    }
}

/// The directory that a file is in.
pub(crate) fn directory_of(path: &Path) -> PathBuf {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).to_owned()
}

fn hidden_name(directory: &Path) -> PathBuf {
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
    use std::io::Write;

    use super::*;

    fn temp_files(directory: &Path) -> [TempFile; 2] {
        [
            TempFile::new(directory).unwrap(),
            TempFile::named(directory).unwrap(),
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
            temp.commit(&target, Existing::Keep, 0o640, true).unwrap();
            assert_eq!(std::fs::read(&target).unwrap(), b"content");
            assert_eq!(
                target.metadata().unwrap().permissions().mode() & 0o777,
                0o640
            );
        }
        assert_eq!(entries(directory.path()), 2);
    }

    #[test]
    fn what_exists_is_kept_or_replaced_as_asked() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("target");
        for existing in [Existing::Keep, Existing::Replace] {
            for temp in temp_files(directory.path()) {
                std::fs::write(&target, "old").unwrap();
                temp.file().write_all(b"new").unwrap();
                let done = temp.commit(&target, existing, 0o600, false);
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
