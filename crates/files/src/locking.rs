//! Advisory locks between processes.

use std::fs::File;
use std::io::{self, ErrorKind};

/// Waits for the exclusive lock of `file`, also through signals. Closing the file releases it.
///
/// # Errors
/// The system's error, such as [`ErrorKind::Unsupported`] on a file system without locks.
pub fn lock(file: &File) -> io::Result<()> {
    wait(|| file.lock())
}

/// As [`lock`], for a lock that readers share.
///
/// # Errors
/// As [`lock`].
pub fn lock_shared(file: &File) -> io::Result<()> {
    wait(|| file.lock_shared())
}

fn wait(lock: impl Fn() -> io::Result<()>) -> io::Result<()> {
    loop {
        match lock() {
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            locked => return locked,
        }
    }
}
