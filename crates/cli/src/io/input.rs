//! Inputs: content, and small files that are read whole.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom, stdin};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use zeroize::Zeroizing;

use super::closed::Standard;
use crate::exit::Exit;
use crate::failure::{self, About, Failure, Result};
use crate::text::shown;

/// An open input: a file, a pipe, a device.
pub(crate) struct Input {
    file: File,
    metadata: Metadata,
    path: Option<PathBuf>,
}

/// The name that stands for standard input or output.
pub(crate) const DASH: &str = "-";

/// The one input that comes from standard input.
static STDIN: Mutex<Option<String>> = Mutex::new(None);

impl Input {
    /// Opens a file, or standard input for `-` or no path. Messages about standard input call the
    /// input `what`.
    pub(crate) fn open(path: Option<&Path>, what: &str) -> Result<Self> {
        let path = path.filter(|path| *path != Path::new(DASH));
        let file = match path {
            Some(path) => File::open(path).about(shown(path))?,
            None => claim_stdin(what)?,
        };
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            let failure = Failure::new(Exit::Io, "is a directory");
            return Err(failure.about(path.unwrap_or(Path::new(DASH)).display()));
        }
        Ok(Self {
            file,
            metadata,
            path: path.map(Path::to_owned),
        })
    }

    /// The path; `None` for standard input.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Its name in messages.
    pub(crate) fn name(&self) -> String {
        name_of(self.path.as_deref().unwrap_or(Path::new(DASH)))
    }

    /// Its metadata if it is a regular file.
    pub(crate) fn regular(&self) -> Option<&Metadata> {
        self.metadata.is_file().then_some(&self.metadata)
    }

    /// The position of the next read. Standard input may be at any position when the program
    /// starts.
    pub(crate) fn position(&self) -> u64 {
        (&self.file).stream_position().unwrap_or(0)
    }

    /// How many bytes are left to read, if it is a regular file.
    pub(crate) fn remaining(&self) -> Option<u64> {
        self.regular()
            .map(|metadata| metadata.len().saturating_sub(self.position()))
    }

    /// Its metadata, which also identify the file.
    pub(crate) fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Reads at `position` of a regular file; threads may do so at the same time.
    pub(crate) fn read_at(&self, bytes: &mut [u8], position: u64) -> io::Result<usize> {
        self.file
            .read_at(bytes, position)
            .map_err(|e| failure::of_file(&self.name(), &e))
    }

    /// Sets the position of the next read of a regular file.
    pub(crate) fn rewind(&self, position: u64) -> io::Result<()> {
        (&self.file).seek(SeekFrom::Start(position)).map(drop)
    }
}

impl Read for &Input {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        (&self.file)
            .read(bytes)
            .map_err(|e| failure::of_file(&self.name(), &e))
    }
}

/// Whether users other than its owner can read or change a regular file.
pub(crate) fn is_exposed(metadata: &Metadata) -> bool {
    metadata.is_file() && metadata.permissions().mode() & 0o077 != 0
}

/// The name in messages of a path that may be `-`.
pub(crate) fn name_of(path: &Path) -> String {
    if path == Path::new(DASH) {
        "standard input".to_owned()
    } else {
        shown(path)
    }
}

/// Standard input, which only one input can come from.
fn claim_stdin(what: &str) -> Result<File> {
    let mut owner = STDIN
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    if owner.as_deref() == Some(what) {
        return Err(Failure::usage(format!(
            "{what} cannot come from standard input twice"
        )));
    }
    if let Some(owner) = &*owner {
        return Err(Failure::usage(format!(
            "{owner} and {what} cannot both come from standard input"
        )));
    }
    Standard::Input.must_be_open()?;
    *owner = Some(what.to_owned());
    Ok(stdin().as_fd().try_clone_to_owned()?.into())
}

/// Reads a small file as a whole. It may be secret: a passport, a passphrase, a list.
pub(crate) fn read_small(path: &Path, what: &str, limit: usize) -> Result<Zeroizing<Vec<u8>>> {
    let input = Input::open(Some(path), what)?;
    read_limited(&input, limit).about(name_of(path))
}

/// Reads everything, at most `limit` bytes. Up to 64 KiB the buffer never moves, so no copy of a
/// secret stays behind. When a larger buffer grows, the allocator wipes the old one.
pub(crate) fn read_limited(reader: impl Read, limit: usize) -> Result<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(limit.min(64 << 10) + 1));
    reader.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > limit {
        return Err(Failure::new(
            Exit::Format,
            format!("longer than {limit} bytes, so it is something else"),
        ));
    }
    Ok(bytes)
}

/// Duplicates the descriptor with this number. It is read from its present position.
pub(crate) fn descriptor(number: u32, what: &str) -> Result<File> {
    match number {
        0 => claim_stdin(what),
        _ => duplicate(number)
            .map_err(|e| Failure::from(e).about(format!("file descriptor {number}"))),
    }
}

/// Duplicates a descriptor as `dup` does. Safe Rust offers `dup` only for descriptors that it knows
/// to be open.
#[cfg(target_os = "linux")]
fn duplicate(number: u32) -> io::Result<File> {
    use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
    let wanted = i32::try_from(number).map_err(|_| rustix::io::Errno::BADF)?;
    let copy = pidfd_open(getpid(), PidfdFlags::empty())
        .and_then(|this| pidfd_getfd(this, wanted, PidfdGetfdFlags::empty()));
    match copy {
        Ok(copy) => Ok(copy.into()),
        Err(rustix::io::Errno::BADF) => Err(rustix::io::Errno::BADF.into()),
        // Linux before 5.6, and containers that forbid the call.
        Err(_) => reopen(number),
    }
}

/// Elsewhere, opening the system's name for a descriptor duplicates it.
#[cfg(not(target_os = "linux"))]
fn duplicate(number: u32) -> io::Result<File> {
    File::open(format!("/dev/fd/{number}"))
}

/// Opens the same file again, at the same position. This fails for sockets.
#[cfg(target_os = "linux")]
fn reopen(number: u32) -> io::Result<File> {
    let mut file = File::open(format!("/proc/self/fd/{number}"))?;
    let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{number}"))?;
    let position = info
        .lines()
        .find_map(|line| line.strip_prefix("pos:")?.trim().parse().ok());
    if file.metadata()?.is_file() {
        let position = position.ok_or(io::ErrorKind::Unsupported)?;
        file.seek(SeekFrom::Start(position))?;
    }
    Ok(file)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    fn number(file: &impl AsRawFd) -> u32 {
        file.as_raw_fd().try_into().unwrap()
    }

    fn rest(mut file: File) -> String {
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        text
    }

    /// Both ways to duplicate keep the position. The second is for systems without the first.
    #[test]
    fn descriptors_are_read_from_where_they_stand() {
        for copy in [duplicate, reopen] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(b"first line\nsecond line").unwrap();
            file.seek(SeekFrom::Start(11)).unwrap();
            assert_eq!(rest(copy(number(&file)).unwrap()), "second line");

            let (mut reader, mut writer) = io::pipe().unwrap();
            writer.write_all(b"first, second").unwrap();
            drop(writer);
            reader.read_exact(&mut [0; 7]).unwrap();
            assert_eq!(rest(copy(number(&reader)).unwrap()), "second");

            // No descriptor has so high a number here.
            assert!(copy(1 << 20).is_err());
        }
    }

    #[test]
    fn sockets_are_copied_or_refused_but_not_mistaken() {
        let (mine, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(b"passphrase").unwrap();
        drop(theirs);
        assert!(reopen(number(&mine)).is_err());
        assert_eq!(rest(duplicate(number(&mine)).unwrap()), "passphrase");
    }
}
