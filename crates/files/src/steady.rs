//! Files that must not change while they are read.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use rustix::fs::{Stat, fstat};

/// A file that fails at its end if it was written to since it was opened: the bytes that were read
/// may never have been its content.
pub(crate) struct Steady {
    file: File,
    state: [i128; 3],
}

impl Steady {
    /// A file as `stat` described it when it was opened.
    pub(crate) fn new(file: File, stat: &Stat) -> Self {
        let state = state(stat);
        Self { file, state }
    }

    pub(crate) fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }

    /// Fails if it was written to.
    pub(crate) fn check(&self) -> io::Result<()> {
        match state(&fstat(&self.file)?) == self.state {
            true => Ok(()),
            false => Err(io::Error::other("changed while it was read")),
        }
    }
}

/// Length and time of modification.
fn state(stat: &Stat) -> [i128; 3] {
    [
        stat.st_size.into(),
        stat.st_mtime.into(),
        stat.st_mtime_nsec.into(),
    ]
}

impl Read for Steady {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        if read == 0 && !buffer.is_empty() {
            self.check()?;
        }
        Ok(read)
    }
}
