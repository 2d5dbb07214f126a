//! A new directory that is filled from an archive.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, Timespec, Timestamps, UTIME_OMIT, fchmod, fsync, futimens, mkdirat,
    openat, symlinkat, utimensat,
};
use rustix::io::Errno;
use sealstone::archive::{Entry, EntryKind, Target};

use crate::atomic::Sync;
use crate::directory::umask;
use crate::input::plain;
use crate::temporary::registry;
use crate::walk::Show;
use crate::whole::{NewDirectory, move_aside, move_back};

/// Fills a new directory with members of an archive, which come in its order. Links are never
/// followed; nothing is created anywhere else. The directory is gone unless it is committed.
pub struct Unpack {
    new: NewDirectory,
    /// The directories on the way to the last member, the new one first. `None` if the system
    /// could not make it.
    levels: Vec<Option<Level>>,
    /// The path of the innermost of them; empty for the new one.
    innermost: Vec<u8>,
    show: Show,
    umask: u32,
    /// Directories whose owner may not do everything in them.
    narrow: Vec<(OsString, u32)>,
    unstorable: Vec<(OsString, String)>,
    left_out: u64,
    count: u64,
    time: Option<i64>,
}

struct Level {
    directory: OwnedFd,
    mode: u32,
    modified: i64,
}

/// More names are only counted.
const MOST_NAMES: usize = 1000;

const OWNER: u32 = 0o700;
const DIRECTORY: OFlags = OFlags::DIRECTORY
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW);

impl Unpack {
    /// Makes a directory beside its final name. Errors name paths as `show` does.
    ///
    /// # Errors
    /// If the system reports an error.
    pub fn beside(target: &Path, show: Show) -> io::Result<Self> {
        let new = NewDirectory::beside(target)?;
        let root = openat(CWD, new.path(), DIRECTORY, Mode::empty())?;
        let root = Level {
            directory: root,
            mode: OWNER,
            modified: 0,
        };
        Ok(Self {
            new,
            levels: vec![Some(root)],
            innermost: Vec::new(),
            show,
            umask: umask(),
            narrow: Vec::new(),
            unstorable: Vec::new(),
            left_out: 0,
            count: 0,
            time: None,
        })
    }

    /// Makes a member. `content` gives that of a file.
    ///
    /// A name that the system cannot hold, or takes for the same as another, is left out and
    /// noted: see [`Unpack::unstorable`]. So is everything below it.
    ///
    /// # Errors
    /// If the system or `content` reports an error. [`io::ErrorKind::InvalidInput`] for a member
    /// that does not come after its directory.
    pub fn member(
        &mut self,
        entry: &Entry,
        content: impl FnOnce(&mut Place) -> sealstone::Result<()>,
    ) -> sealstone::Result<()> {
        entry.check()?;
        let slash = entry.path.iter().rposition(|&byte| byte == b'/');
        let (parent, name) = match slash {
            Some(slash) => (&entry.path[..slash], &entry.path[slash + 1..]),
            None => (&b""[..], &entry.path[..]),
        };
        let name = OsStr::from_bytes(name);
        self.enter(parent).map_err(|e| self.about(entry, &e))?;
        let Some(level) = self.levels.last().and_then(Option::as_ref) else {
            self.note(entry, "its directory is left out");
            if entry.kind == EntryKind::Directory {
                self.push(entry, None);
            }
            return Ok(());
        };
        let made = match &entry.kind {
            EntryKind::Directory => make_directory(level, name, entry).map(Made::Directory),
            EntryKind::Link { target } => make_link(level, name, target, entry.modified),
            _ => make_file(level, name).map(Made::File),
        };
        let is_link = matches!(entry.kind, EntryKind::Link { .. });
        match made {
            Ok(Made::Link) => {}
            Ok(Made::Directory(directory)) => {
                if entry.mode & OWNER != OWNER {
                    let path = OsString::from_vec(entry.path.clone());
                    self.narrow.push((path, entry.mode & !self.umask));
                }
                self.push(entry, Some(directory));
            }
            Ok(Made::File(file)) => {
                let mut place = Place {
                    file,
                    name: self.shown(&entry.path),
                };
                content(&mut place)?;
                let file = &place.file;
                let mode = Mode::from_raw_mode(entry.mode & !self.umask);
                let finished =
                    fchmod(file, mode).and_then(|()| futimens(file, &times(entry.modified)));
                finished.map_err(|e| self.about(entry, &e.into()))?;
            }
            Err(error) if is_of_the_name(error) || is_link && has_no_links(error) => {
                match error {
                    Errno::EXIST => self.note(entry, "the system takes it for another name"),
                    _ => self.note(entry, &plain(&error.into())),
                }
                if entry.kind == EntryKind::Directory {
                    self.push(entry, None);
                }
                return Ok(());
            }
            Err(error) => return Err(self.about(entry, &error.into()).into()),
        }
        self.count += 1;
        Ok(())
    }

    /// The time of modification of the new directory itself, in seconds since 1970.
    pub fn modified(&mut self, time: u64) {
        self.time = i64::try_from(time).ok();
    }

    /// How many members were made.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many members were left out because the system cannot hold them.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The members that were left out, each with the reason. At most 1000 of them.
    pub fn unstorable(&self) -> impl Iterator<Item = (&Path, &str)> {
        self.unstorable
            .iter()
            .map(|(path, why)| (Path::new(path), why.as_str()))
    }

    /// Finishes the directory, and makes all that is in it durable. No member can be added later.
    ///
    /// # Errors
    /// If the system reports an error.
    pub fn finish(mut self, sync: Sync) -> io::Result<Unpacked> {
        self.leave(1)?;
        let root = self.levels.pop().flatten();
        let root = root.ok_or(io::ErrorKind::InvalidInput)?.directory;
        if let Some(time) = self.time {
            futimens(&root, &times(time))?;
        }
        self.new.settle(sync)?;
        Ok(Unpacked {
            new: self.new,
            root,
            narrow: self.narrow,
            sync,
        })
    }

    /// Finishes the directory, and gives it its name.
    ///
    /// # Errors
    /// As [`Unpack::finish`] and [`Unpacked::commit`].
    pub fn commit(self, target: &Path, sync: Sync) -> io::Result<()> {
        self.finish(sync)?.commit(target)
    }

    fn push(&mut self, entry: &Entry, level: Option<Level>) {
        self.levels.push(level);
        self.innermost.clone_from(&entry.path);
    }

    /// Finishes directories until `parent` is the innermost one.
    fn enter(&mut self, parent: &[u8]) -> io::Result<()> {
        let is_above = match self.innermost.strip_prefix(parent) {
            Some(rest) => parent.is_empty() || matches!(rest, [] | [b'/', ..]),
            None => false,
        };
        if !is_above {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let slashes = parent.iter().filter(|&&byte| byte == b'/').count();
        self.leave(slashes + 1 + usize::from(!parent.is_empty()))?;
        self.innermost.truncate(parent.len());
        Ok(())
    }

    /// Finishes directories until `depth` are open.
    fn leave(&mut self, depth: usize) -> io::Result<()> {
        while self.levels.len() > depth {
            if let Some(Some(level)) = self.levels.pop() {
                let mode = (level.mode & !self.umask) | OWNER;
                fchmod(&level.directory, Mode::from_raw_mode(mode))?;
                futimens(&level.directory, &times(level.modified))?;
            }
        }
        Ok(())
    }

    fn note(&mut self, entry: &Entry, why: &str) {
        self.left_out += 1;
        if self.unstorable.len() < MOST_NAMES {
            let path = OsString::from_vec(entry.path.clone());
            self.unstorable.push((path, why.to_owned()));
        }
    }

    fn about(&self, entry: &Entry, error: &io::Error) -> io::Error {
        crate::named(&self.shown(&entry.path), error)
    }

    fn shown(&self, path: &[u8]) -> String {
        (self.show)(Path::new(OsStr::from_bytes(path)))
    }
}

/// A directory that is filled and durable, and has no name yet. It is gone unless it is committed.
pub struct Unpacked {
    new: NewDirectory,
    root: OwnedFd,
    narrow: Vec<(OsString, u32)>,
    sync: Sync,
}

impl Unpacked {
    /// Gives the directory its name. Directories that their owner may not change get their modes
    /// last.
    ///
    /// # Errors
    /// If the system reports an error; [`io::ErrorKind::AlreadyExists`] if something has the name.
    pub fn commit(self, target: &Path) -> io::Result<()> {
        self.new.commit_settled(target, self.sync)?;
        // The path may lead elsewhere meanwhile; the open directory is the one that was filled.
        for (path, mode) in self.narrow.iter().rev() {
            let directory = below(&self.root, path)?;
            fchmod(&directory, Mode::from_raw_mode(*mode))?;
            if self.sync == Sync::Full {
                fsync(&directory)?;
            }
        }
        Ok(())
    }

    /// As [`Unpacked::commit`], over what has the name: that is moved aside first, to the path that
    /// this returns. If the new directory does not get the name, the old one gets it back.
    ///
    /// # Errors
    /// As [`Unpacked::commit`]. The message says so if the old one is not back.
    pub fn commit_over(self, target: &Path, show: Show) -> io::Result<Option<PathBuf>> {
        if target.symlink_metadata().is_err() {
            return self.commit(target).map(|()| None);
        }
        let aside = move_aside(target)?;
        let Err(error) = self.commit(target) else {
            return Ok(Some(aside));
        };
        Err(match move_back(&aside, target) {
            Ok(()) => error,
            Err(back) => not_back(&error, &back, &show(&aside)),
        })
    }
}

fn not_back(error: &io::Error, back: &io::Error, aside: &str) -> io::Error {
    io::Error::other(format!(
        "{}; the replaced file or directory is now {aside}, and could not be moved back: {}",
        plain(error),
        plain(back)
    ))
}

enum Made {
    Directory(Level),
    File(File),
    Link,
}

/// A file that is being filled.
pub struct Place {
    file: File,
    name: String,
}

impl Place {
    /// A new file that messages call `name`.
    pub fn new(file: File, name: impl Into<String>) -> Self {
        let name = name.into();
        Self { file, name }
    }
}

impl Target for Place {
    fn put(&mut self, position: u64, bytes: &[u8]) -> io::Result<()> {
        let written = self.file.write_all_at(bytes, position);
        written.map_err(|e| crate::named(&self.name, &e))
    }

    fn end(&mut self, size: u64) -> io::Result<()> {
        // A hole at the end.
        let set = self.file.set_len(size);
        set.map_err(|e| crate::named(&self.name, &e))
    }
}

/// Opens a directory that was made. Somebody may have put a link into its place, or above it.
fn below(root: &OwnedFd, path: &OsStr) -> Result<OwnedFd, Errno> {
    let mut directory = openat(root, ".", DIRECTORY, Mode::empty())?;
    for name in path.as_bytes().split(|&byte| byte == b'/') {
        directory = openat(&directory, name, DIRECTORY, Mode::empty())?;
    }
    Ok(directory)
}

fn make_directory(parent: &Level, name: &OsStr, entry: &Entry) -> Result<Level, Errno> {
    // A signal that removes everything comes before this or after it.
    let _registry = registry();
    mkdirat(&parent.directory, name, Mode::from_raw_mode(OWNER))?;
    Ok(Level {
        directory: openat(&parent.directory, name, DIRECTORY, Mode::empty())?,
        mode: entry.mode,
        modified: entry.modified,
    })
}

fn make_file(parent: &Level, name: &OsStr) -> Result<File, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let _registry = registry();
    let file = openat(&parent.directory, name, flags, Mode::from_raw_mode(0o600))?;
    Ok(File::from(file))
}

fn make_link(parent: &Level, name: &OsStr, target: &[u8], modified: i64) -> Result<Made, Errno> {
    let _registry = registry();
    symlinkat(target, &parent.directory, name)?;
    // Some file systems keep no time for links.
    let _ = utimensat(
        parent.directory.as_fd(),
        name,
        &times(modified),
        AtFlags::SYMLINK_NOFOLLOW,
    );
    Ok(Made::Link)
}

/// Whether the system refuses the name, and would take another. Names in an archive differ: one
/// that exists is another that the system takes for the same.
fn is_of_the_name(error: Errno) -> bool {
    matches!(
        error,
        Errno::EXIST | Errno::NAMETOOLONG | Errno::ILSEQ | Errno::INVAL
    )
}

/// Whether the file system knows no symbolic links.
fn has_no_links(error: Errno) -> bool {
    matches!(error, Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS)
}

fn times(modified: i64) -> Timestamps {
    let omitted = Timespec {
        tv_sec: 0,
        tv_nsec: UTIME_OMIT,
    };
    Timestamps {
        last_access: omitted,
        last_modification: Timespec {
            tv_sec: modified,
            tv_nsec: 0,
        },
    }
}
