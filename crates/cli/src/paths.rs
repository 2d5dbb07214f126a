//! Default paths.

use std::path::PathBuf;

use crate::exit::Exit;
use crate::failure::{Failure, Result};

/// Fails if the system tells no home directory, in which the data of this user are.
pub(crate) fn found<T>(path: Option<T>) -> Result<T> {
    path.ok_or_else(|| {
        Failure::new(Exit::Io, "there is no home directory").hint("set HOME or XDG_DATA_HOME")
    })
}

/// The path of the default passport if it exists.
pub(crate) fn existing_default_passport() -> Option<PathBuf> {
    sealstone_files::default_passport().filter(|path| path.exists())
}

/// The paths of former default passports.
pub(crate) fn former_default_passports() -> Vec<PathBuf> {
    let directory = sealstone_files::data_directory();
    directory.map_or_else(Vec::new, |directory| {
        sealstone_files::former_default_passports(&directory)
    })
}
