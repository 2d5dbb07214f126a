//! A directory as the source of an archive.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, SeekFrom};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, openat, readlinkat, statat};
use rustix::io::Errno;
use sealstone::archive::{Entry, EntryKind, Item, MAX_DEPTH, MAX_FRAGMENTS, MAX_PATH, Map, Tree};

use crate::input::named;
use crate::steady::Steady;

/// Everything in a directory, in the order of archives. Links are never followed.
///
/// ```
/// use sealstone::archive::{Tree, Writer};
/// use sealstone_files::Walk;
///
/// let directory = tempfile::tempdir()?;
/// std::fs::write(directory.path().join("a"), "content")?;
/// let mut archive = Vec::new();
/// let show = |path: &std::path::Path| path.display().to_string();
/// let walk = Walk::open(directory.path(), show, |path| panic!("{} is not a file", show(path)))?;
/// std::io::copy(&mut Writer::new(walk, None), &mut archive)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Walk<F> {
    root: PathBuf,
    levels: Vec<Level>,
    show: Show,
    left_out: F,
}

/// Shows a path in messages.
pub type Show = fn(&Path) -> String;

/// A directory that is open.
struct Level {
    directory: OwnedFd,
    path: Vec<u8>,
    /// The names that are left in it, the last one first.
    names: Vec<Vec<u8>>,
}

/// The content of a file, or of its fragments. Everything else has no content.
pub struct Content(Option<Fragments>);

struct Fragments {
    file: Steady,
    /// Offset and length of what is left, the last first.
    left: Vec<(u64, u64)>,
    /// Whether the file's position is that of the first of them.
    sought: bool,
    name: String,
    /// Whether the file has no holes, so that it ends behind them.
    whole: bool,
}

/// Holes that are shorter are stored as zeros.
const LEAST_HOLE: u64 = 64 << 10;

const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

impl<F: FnMut(&Path)> Walk<F> {
    /// Opens the directory. `left_out` gets the path of each device, pipe and socket, which no
    /// archive has.
    /// Errors name paths as `show` does.
    ///
    /// # Errors
    /// If the system reports an error.
    pub fn open(root: &Path, show: Show, left_out: F) -> io::Result<Self> {
        let directory = rustix::fs::open(root, DIRECTORY.union(OFlags::RDONLY), Mode::empty())?;
        let names = names(&directory)?;
        let level = Level {
            directory,
            path: Vec::new(),
            names,
        };
        Ok(Self {
            root: root.to_owned(),
            levels: vec![level],
            show,
            left_out,
        })
    }

    /// A path as messages show it.
    fn shown(&self, path: &[u8]) -> String {
        (self.show)(&self.root.join(OsStr::from_bytes(path)))
    }

    /// The next member, if this name is one.
    fn member(&mut self, name: &[u8]) -> io::Result<Option<Item<Content>>> {
        let level = self.levels.last().ok_or(io::ErrorKind::NotFound)?;
        let path = match &level.path[..] {
            [] => name.to_vec(),
            directory => [directory, b"/", name].concat(),
        };
        let (item, directory) = match member(&level.directory, name, path, self.levels.len()) {
            Ok(Found::Item(mut item)) => {
                if let Some(fragments) = &mut item.content.0 {
                    fragments.name = self.shown(&item.entry.path);
                }
                return Ok(Some(*item));
            }
            Ok(Found::Other(path)) => {
                (self.left_out)(&self.root.join(OsStr::from_bytes(&path)));
                return Ok(None);
            }
            Ok(Found::Directory(item, directory)) => (item, directory),
            Err((path, error)) => return Err(named(&self.shown(&path), &error)),
        };
        let path = item.entry.path.clone();
        let names = names(&directory).map_err(|error| named(&self.shown(&path), &error))?;
        self.levels.push(Level {
            directory,
            path,
            names,
        });
        Ok(Some(*item))
    }
}

impl<F: FnMut(&Path)> Tree for Walk<F> {
    type Content = Content;

    fn next(&mut self) -> sealstone::Result<Option<Item<Content>>> {
        while let Some(level) = self.levels.last_mut() {
            match level.names.pop() {
                None => drop(self.levels.pop()),
                Some(name) => {
                    if let Some(item) = self.member(&name)? {
                        return Ok(Some(item));
                    }
                }
            }
        }
        Ok(None)
    }
}

enum Found {
    Item(Box<Item<Content>>),
    Directory(Box<Item<Content>>, OwnedFd),
    /// Not a member of archives.
    Other(Vec<u8>),
}

/// Looks at one name of a directory. An error comes with the path.
fn member(
    directory: &OwnedFd,
    name: &[u8],
    path: Vec<u8>,
    depth: usize,
) -> Result<Found, (Vec<u8>, io::Error)> {
    if path.len() > MAX_PATH || depth > MAX_DEPTH {
        let limit =
            format!("an archive has paths of at most {MAX_PATH} bytes and {MAX_DEPTH} names");
        return Err((path, io::Error::new(io::ErrorKind::InvalidInput, limit)));
    }
    look(directory, name, path.clone()).map_err(|error| (path, error))
}

fn look(directory: &OwnedFd, name: &[u8], path: Vec<u8>) -> io::Result<Found> {
    let stat = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let none = |entry| Item {
        entry,
        map: None,
        content: Content(None),
    };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => {
            let flags = DIRECTORY.union(OFlags::NOFOLLOW);
            let opened = openat(directory, name, flags, Mode::empty())?;
            let item = none(entry(path, EntryKind::Directory, &fstat(&opened)?));
            Ok(Found::Directory(Box::new(item), opened))
        }
        FileType::Symlink => {
            let target = readlinkat(directory, name, Vec::new())?.into_bytes();
            let link = Entry {
                mode: 0o777,
                ..entry(path, EntryKind::Link { target }, &stat)
            };
            Ok(Found::Item(Box::new(none(link))))
        }
        FileType::RegularFile => {
            // The file may have become a pipe or a device since. Opening it must not block or act.
            let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
            let file = openat(directory, name, OFlags::RDONLY | flags, Mode::empty())?;
            let stat = fstat(&file)?;
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => file_item(path, File::from(file), &stat),
                _ => Ok(Found::Other(path)),
            }
        }
        _ => Ok(Found::Other(path)),
    }
}

fn file_item(path: Vec<u8>, file: File, stat: &Stat) -> io::Result<Found> {
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    let map = match u64::try_from(stat.st_blocks)
        .unwrap_or(0)
        .saturating_mul(512)
        < size
    {
        true => map(&file, size)?,
        false => None,
    };
    let kind = match &map {
        Some(map) => EntryKind::Sparse {
            size,
            stored: map.stored(),
        },
        None => EntryKind::File { size },
    };
    let mut left = map
        .as_ref()
        .map_or(vec![(0, size)], |map| map.fragments().to_vec());
    left.reverse();
    let content = Content(Some(Fragments {
        file: Steady::new(file, stat),
        left,
        sought: false,
        name: String::new(),
        whole: map.is_none(),
    }));
    let entry = entry(path, kind, stat);
    Ok(Found::Item(Box::new(Item {
        entry,
        map,
        content,
    })))
}

fn entry(path: Vec<u8>, kind: EntryKind, stat: &Stat) -> Entry {
    Entry {
        path,
        kind,
        mode: stat.st_mode & 0o777,
        modified: stat.st_mtime,
    }
}

/// The places where a file has content; `None` if it has no holes worth storing, or its file system
/// does not tell.
fn map(file: &File, size: u64) -> io::Result<Option<Map>> {
    let mut least = LEAST_HOLE;
    loop {
        match fragments(file, size, least) {
            Ok(Some(found)) if found == [(0, size)] => return Ok(None),
            Ok(Some(found)) => {
                let map = Map::new(size, found);
                return Ok(Some(
                    map.map_err(|_| io::Error::other("changed while it was read"))?,
                ));
            }
            // Too many: shorter holes are stored as zeros.
            Ok(None) => least *= 16,
            Err(Errno::INVAL | Errno::OPNOTSUPP) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Offset and length of all content, where holes have at least `least` bytes; `None` if there is
/// too much of it.
#[cfg(any(target_os = "linux", target_os = "freebsd", target_vendor = "apple"))]
fn fragments(file: &File, size: u64, least: u64) -> Result<Option<Vec<(u64, u64)>>, Errno> {
    use rustix::fs::{SeekFrom, seek};
    let mut found: Vec<(u64, u64)> = Vec::new();
    let mut at = 0;
    while at < size {
        let start = match seek(file, SeekFrom::Data(at)) {
            Ok(start) if start < size => start,
            // A hole until the end.
            Ok(_) | Err(Errno::NXIO) => break,
            Err(error) => return Err(error),
        };
        let end = seek(file, SeekFrom::Hole(start))?.min(size);
        match found.last_mut() {
            Some((from, length)) if start - (*from + *length) < least => *length = end - *from,
            None if start < least => found.push((0, end)),
            _ => found.push((start, end - start)),
        }
        if found.len() >= MAX_FRAGMENTS {
            return Ok(None);
        }
        at = end;
    }
    // A hole at the end that is too short.
    if let Some((from, length)) = found.last_mut()
        && size - (*from + *length) < least
    {
        *length = size - *from;
    }
    Ok(Some(found))
}

#[cfg(not(any(target_os = "linux", target_os = "freebsd", target_vendor = "apple")))]
fn fragments(_: &File, size: u64, _: u64) -> Result<Option<Vec<(u64, u64)>>, Errno> {
    Ok(Some(vec![(0, size)]))
}

/// The names in a directory, the last first.
fn names(directory: &OwnedFd) -> io::Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") {
            names.push(name.to_vec());
        }
    }
    names.sort_unstable_by(|a, b| b.cmp(a));
    Ok(names)
}

impl Content {
    fn read_fragment(fragments: &mut Fragments, bytes: &mut [u8]) -> io::Result<usize> {
        while let Some((at, length)) = fragments.left.last_mut() {
            if *length == 0 {
                fragments.left.pop();
                fragments.sought = false;
                continue;
            }
            if !fragments.sought {
                fragments.file.seek(SeekFrom::Start(*at))?;
                fragments.sought = true;
            }
            let most = usize::try_from(*length).map_or(bytes.len(), |left| left.min(bytes.len()));
            let n = fragments.file.read(&mut bytes[..most])?;
            *length -= n as u64;
            return Ok(n);
        }
        // One byte more: whether a whole file grew, and whether any file changed.
        match fragments.whole {
            true => fragments.file.read(bytes),
            false => fragments.file.check().map(|()| 0),
        }
    }
}

impl Read for Content {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            None => Ok(0),
            Some(fragments) => {
                let read = Self::read_fragment(fragments, bytes);
                read.map_err(|error| named(&fragments.name, &error))
            }
        }
    }
}
