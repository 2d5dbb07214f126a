//! Files of a path, whose errors name it.

use crate::errors::{about, attached};
use pyo3::prelude::*;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// A file that is read.
pub(crate) struct Named {
    pub(crate) file: File,
    path: PathBuf,
}

impl Named {
    /// Waits for the writer of a pipe; signals end that.
    pub(crate) fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        loop {
            let flags = OFlags::RDONLY | OFlags::CLOEXEC;
            match py.detach(|| rustix::fs::open(&path, flags, Mode::empty())) {
                Ok(file) => {
                    let file = file.into();
                    return Ok(Self { file, path });
                }
                Err(Errno::INTR) => py.check_signals()?,
                Err(error) => return Err(about(&path, error.into())),
            }
        }
    }

    /// Bytes of a file, 0 of anything else.
    pub(crate) fn length(&self) -> u64 {
        self.file.metadata().map_or(0, |metadata| metadata.len())
    }

    pub(crate) fn is_pipe(&self) -> bool {
        let metadata = self.file.metadata();
        metadata.is_ok_and(|it| it.file_type().is_fifo())
    }
}

impl Read for Named {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(bytes);
        read.or_else(|error| match error.kind() {
            // The caller tries again, unless a handler of a signal raised.
            io::ErrorKind::Interrupted => attached(|py| py.check_signals()).and(Err(error)),
            _ => Err(carried(&self.path, error)),
        })
    }
}

impl Seek for Named {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let sought = self.file.seek(to);
        sought.map_err(|error| carried(&self.path, error))
    }
}

/// The exception about a path, through `std::io`. An interrupted call keeps its exception.
pub(crate) fn carried(path: &Path, error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::Interrupted => error,
        _ => io::Error::other(about(path, error)),
    }
}
