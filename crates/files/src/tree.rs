//! A directory as the source of a package's files. Links are never followed below it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::ops::ControlFlow::{self, Break, Continue};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, openat, readlinkat, statat};
use rustix::io::Errno;
use sealstone::package::{Object, RelativePath, Source, Unreadable};

use crate::steady::Steady;

/// The files below a directory.
///
/// ```
/// use sealstone::package::{Object, RelativePath, Source};
/// use sealstone_files::Tree;
///
/// let directory = tempfile::tempdir()?;
/// std::fs::write(directory.path().join("a"), "content")?;
/// let tree = Tree::open(directory.path())?;
/// let path = RelativePath::new("a").expect("a path");
/// assert!(matches!(tree.open(&path)?, Object::File(_)));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Tree {
    root: OwnedFd,
    /// Device and number of a file that is not looked at.
    except: Option<(u64, u64)>,
}

/// Something below a directory that is not a directory.
#[derive(Debug)]
pub struct Found {
    /// Its path below the directory, which may not be UTF-8.
    pub path: OsString,
    /// Whether it is a regular file or a symbolic link.
    pub is_content: bool,
    /// Its length in bytes.
    pub size: u64,
    /// Modification time in seconds since 1970; 0 for what is older.
    pub modified: u64,
}

const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

impl Tree {
    /// Opens the directory.
    ///
    /// # Errors
    /// The system's error.
    pub fn open(root: &Path) -> io::Result<Self> {
        let flags = DIRECTORY.union(OFlags::RDONLY);
        let root = rustix::fs::open(root, flags, Mode::empty())?;
        Ok(Self { root, except: None })
    }

    /// Leaves out this file, wherever it stands: the package itself.
    #[must_use]
    pub fn except(mut self, file: &std::fs::Metadata) -> Self {
        self.except = Some((file.dev(), file.ino()));
        self
    }

    /// Calls `found` for everything below the directory that is not a directory.
    ///
    /// # Errors
    /// The system's error, with the name of the directory below this one. The entries of other
    /// directories were found nevertheless.
    pub fn scan(&self, found: &mut dyn FnMut(Found)) -> io::Result<()> {
        self.scan_until(&mut |it| {
            found(it);
            Continue(())
        })
    }

    /// As [`Tree::scan`], until `found` breaks.
    ///
    /// # Errors
    /// As those of [`Tree::scan`].
    pub fn scan_until(&self, found: &mut dyn FnMut(Found) -> ControlFlow<()>) -> io::Result<()> {
        self.walk(&mut |directory, path, entry| {
            let stat = statat(directory, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
            let kind = FileType::from_raw_mode(stat.st_mode);
            Ok(found(Found {
                path,
                is_content: matches!(kind, FileType::RegularFile | FileType::Symlink),
                size: u64::try_from(stat.st_size).unwrap_or(0),
                modified: u64::try_from(stat.st_mtime).unwrap_or(0),
            }))
        })
    }

    /// The paths that [`Source::list`] lists, until `found` breaks.
    ///
    /// # Errors
    /// As those of [`Tree::scan`].
    pub fn list_until(&self, found: &mut dyn FnMut(&str) -> ControlFlow<()>) -> io::Result<()> {
        self.walk(&mut |_, path, _| Ok(found(&path.to_string_lossy())))
    }

    /// Calls `found` with the directory, the path and the entry of everything but directories.
    fn walk(&self, found: &mut Visit<'_>) -> io::Result<()> {
        let mut directories = vec![OsString::new()];
        let mut failed = None;
        while let Some(path) = directories.pop() {
            match self.walk_one(&path, &mut directories, found) {
                Ok(Continue(())) => {}
                Ok(Break(())) => return Ok(()),
                Err(error) => {
                    failed.get_or_insert_with(|| match path.is_empty() {
                        true => error,
                        false => Unreadable::at(&path.to_string_lossy(), error),
                    });
                }
            }
        }
        failed.map_or(Ok(()), Err)
    }

    fn walk_one(
        &self,
        path: &OsStr,
        directories: &mut Vec<OsString>,
        found: &mut Visit<'_>,
    ) -> io::Result<ControlFlow<()>> {
        let directory = self.directory(path)?;
        for entry in Dir::read_from(&directory)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            let path = below(path, name);
            if is_directory(directory.as_fd(), &entry)? {
                directories.push(path);
            } else if !self.is_exception(directory.as_fd(), &entry)?
                && found(directory.as_fd(), path, &entry)?.is_break()
            {
                return Ok(Break(()));
            }
        }
        Ok(Continue(()))
    }

    /// Opens a directory below the root, component by component.
    fn directory(&self, path: &OsStr) -> io::Result<OwnedFd> {
        let mut directory = openat(&self.root, ".", DIRECTORY, Mode::empty())?;
        let parts = path.as_bytes().split(|&byte| byte == b'/');
        for part in parts.filter(|part| !part.is_empty()) {
            let flags = DIRECTORY.union(OFlags::NOFOLLOW);
            directory = openat(&directory, part, flags, Mode::empty())?;
        }
        Ok(directory)
    }

    fn is_exception(&self, directory: impl AsFd, entry: &rustix::fs::DirEntry) -> io::Result<bool> {
        let Some((device, number)) = self.except.filter(|it| it.1 == entry.ino()) else {
            return Ok(false);
        };
        let stat = statat(directory, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
        Ok((stat.st_dev as u64, stat.st_ino as u64) == (device, number))
    }
}

/// The function that a walk calls with a directory, the path of an entry, and the entry.
type Visit<'a> = dyn FnMut(
        rustix::fd::BorrowedFd<'_>,
        OsString,
        &rustix::fs::DirEntry,
    ) -> io::Result<ControlFlow<()>>
    + 'a;

impl Source for Tree {
    fn open(&self, path: &RelativePath) -> io::Result<Object<'_>> {
        let (parent, name) = match path.as_str().rsplit_once('/') {
            Some((parent, name)) => (parent, name),
            None => ("", path.as_str()),
        };
        let directory = match self.directory(OsStr::new(parent)) {
            Ok(directory) => directory,
            Err(e) if is_gone(&e) => return Ok(Object::Missing),
            Err(e) => return Err(e),
        };
        // A pipe or a device must neither block nor act.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        match openat(&directory, name, OFlags::RDONLY | flags, Mode::empty()) {
            Ok(file) => object(file),
            Err(Errno::LOOP | Errno::MLINK) => {
                let target = readlinkat(&directory, name, Vec::new())?;
                Ok(target.into_string().map_or(Object::Other, Object::Link))
            }
            Err(Errno::NOENT) => Ok(Object::Missing),
            Err(Errno::NXIO | Errno::NODEV) => Ok(Object::Other),
            Err(error) => Err(error.into()),
        }
    }

    fn list(&self, found: &mut dyn FnMut(&str)) -> io::Result<()> {
        self.list_until(&mut |path| {
            found(path);
            Continue(())
        })
    }
}

fn object(file: OwnedFd) -> io::Result<Object<'static>> {
    let stat = fstat(&file)?;
    Ok(match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Object::File(Box::new(Steady::new(File::from(file), &stat))),
        _ => Object::Other,
    })
}

/// Whether a directory on the way to a file is not there, or is something else.
fn is_gone(error: &io::Error) -> bool {
    let other = matches!(
        Errno::from_io_error(error),
        Some(Errno::LOOP | Errno::MLINK | Errno::NOTDIR)
    );
    other || error.kind() == ErrorKind::NotFound
}

fn is_directory(directory: impl AsFd, entry: &rustix::fs::DirEntry) -> io::Result<bool> {
    Ok(match entry.file_type() {
        FileType::Directory => true,
        // Some file systems do not say in the list.
        FileType::Unknown => {
            let stat = statat(directory, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
            FileType::from_raw_mode(stat.st_mode) == FileType::Directory
        }
        _ => false,
    })
}

fn below(directory: &OsStr, name: &[u8]) -> OsString {
    let mut path = directory.as_bytes().to_vec();
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    OsString::from_vec(path)
}
