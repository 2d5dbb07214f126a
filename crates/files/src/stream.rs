//! Streams: output that may lead to a file, and pipes that are read twice.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::AsFd;

use crate::{AtomicFile, named};

/// Makes output durable if it goes to a regular file.
///
/// # Errors
/// The system's error.
pub fn settle(stream: impl AsFd) -> io::Result<()> {
    let file = File::from(stream.as_fd().try_clone_to_owned()?);
    if file.metadata()?.is_file() {
        file.sync_all()?;
    }
    Ok(())
}

/// Copies everything to a temporary file without a name, and returns the file at its beginning. The
/// content must not be secret.
///
/// # Errors
/// The reader's error, or the system's error while it copies.
pub fn spool(mut reader: impl Read) -> io::Result<File> {
    let directory = std::env::temp_dir();
    let new = AtomicFile::new(&directory);
    let temporary = new.map_err(|e| named(&directory.to_string_lossy(), &e))?;
    let mut file = temporary.file();
    io::copy(&mut reader, &mut file)?;
    file.rewind()?;
    temporary.file().try_clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_at_its_beginning() {
        let mut copy = spool(&b"all of it"[..]).unwrap();
        let mut text = String::new();
        copy.read_to_string(&mut text).unwrap();
        assert_eq!(text, "all of it");
    }

    #[test]
    fn pipes_and_files_settle() {
        settle(tempfile::tempfile().unwrap()).unwrap();
        let (_reader, writer) = io::pipe().unwrap();
        settle(writer).unwrap();
    }
}
