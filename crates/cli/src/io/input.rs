//! Where content and small files are read from.

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

/// What stands for standard input and output.
pub(crate) const DASH: &str = "-";

/// Who reads standard input.
static STDIN: Mutex<Option<String>> = Mutex::new(None);

impl Input {
    /// Opens a file, or standard input for `-` and nothing.
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

    /// The path; nothing for standard input.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// What messages call it.
    pub(crate) fn name(&self) -> String {
        name_of(self.path.as_deref().unwrap_or(Path::new(DASH)))
    }

    /// Its metadata if it is a regular file.
    pub(crate) fn regular(&self) -> Option<&Metadata> {
        self.metadata.is_file().then_some(&self.metadata)
    }

    /// Where the next read reads; standard input need not stand at its beginning.
    pub(crate) fn position(&self) -> u64 {
        (&self.file).stream_position().unwrap_or(0)
    }

    /// How many bytes are left to read, if anybody knows.
    pub(crate) fn remaining(&self) -> Option<u64> {
        self.regular()
            .map(|metadata| metadata.len().saturating_sub(self.position()))
    }

    /// Its metadata, to tell whether something is the same file.
    pub(crate) fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Reads at `position` of a regular file, whoever else reads where.
    pub(crate) fn read_at(&self, bytes: &mut [u8], position: u64) -> io::Result<usize> {
        self.file
            .read_at(bytes, position)
            .map_err(|e| failure::of_file(&self.name(), &e))
    }

    /// Goes back to `position`; only for regular files.
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

/// Whether somebody else than its owner can read or change a file.
pub(crate) fn is_exposed(metadata: &Metadata) -> bool {
    metadata.is_file() && metadata.permissions().mode() & 0o077 != 0
}

/// What messages call a path that may be `-`.
pub(crate) fn name_of(path: &Path) -> String {
    if path == Path::new(DASH) {
        "standard input".to_owned()
    } else {
        shown(path)
    }
}

/// Standard input, for one reader only.
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

/// Reads a whole small file that may be secret: a passport, a passphrase, a list.
pub(crate) fn read_small(path: &Path, what: &str, limit: usize) -> Result<Zeroizing<Vec<u8>>> {
    let input = Input::open(Some(path), what)?;
    read_limited(&input, limit).about(name_of(path))
}

/// Reads everything, but not more than `limit` bytes. The buffer is not moved up to 64 KiB, so that no copy of a secret stays behind;
/// what a larger one leaves when it grows, the allocator wipes.
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

/// The descriptor with this number, from where it stands.
pub(crate) fn descriptor(number: u32, what: &str) -> Result<File> {
    match number {
        0 => claim_stdin(what),
        _ => duplicate(number)
            .map_err(|e| Failure::from(e).about(format!("file descriptor {number}"))),
    }
}

/// A copy of the descriptor, as `dup` would make it: Rust has that only for descriptors that it knows to be open.
#[cfg(target_os = "linux")]
fn duplicate(number: u32) -> io::Result<File> {
    use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
    let wanted = i32::try_from(number).map_err(|_| rustix::io::Errno::BADF)?;
    let copy = pidfd_open(getpid(), PidfdFlags::empty())
        .and_then(|this| pidfd_getfd(this, wanted, PidfdGetfdFlags::empty()));
    match copy {
        Ok(copy) => Ok(copy.into()),
        Err(rustix::io::Errno::BADF) => Err(rustix::io::Errno::BADF.into()),
        // Before Linux 5.6, and in containers that forbid it.
        Err(_) => reopen(number),
    }
}

/// Elsewhere, opening the system's name for a descriptor makes a copy of it.
#[cfg(not(target_os = "linux"))]
fn duplicate(number: u32) -> io::Result<File> {
    File::open(format!("/dev/fd/{number}"))
}

/// The same file, opened once more, at the same place. Sockets cannot be, and say so.
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

    /// Both ways to a copy go on where the caller is. The second is for systems without the first.
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
