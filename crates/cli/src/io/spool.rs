//! A temporary copy of a pipe that is read twice.

use std::fs::File;
use std::io::{self, Read, Seek};

use sealstone_files::AtomicFile;

use crate::failure::{About, Result};

/// Copies everything to a temporary file without a name, and returns the file at its beginning. The
/// content must not be secret.
pub(crate) fn spool(mut reader: impl Read) -> Result<File> {
    let directory = std::env::temp_dir();
    let temp = AtomicFile::new(&directory).about(directory.display())?;
    let mut file = temp.file();
    io::copy(&mut reader, &mut file)
        .map_err(sealstone::Error::from)
        .about("the copy in the temporary directory")?;
    file.rewind()?;
    Ok(temp.file().try_clone()?)
}
