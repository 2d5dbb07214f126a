//! Default paths.

use std::path::{Path, PathBuf};

use sealstone::passport::Fingerprint;

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
    in_data_directory(sealstone_files::former_default_passports)
}

/// The passports that were the default one and were replaced.
pub(crate) fn replaced_passports() -> Vec<Fingerprint> {
    in_data_directory(sealstone_files::replaced_passports)
}

fn in_data_directory<T>(list: impl FnOnce(&Path) -> Vec<T>) -> Vec<T> {
    let directory = sealstone_files::data_directory();
    directory.map_or_else(Vec::new, |directory| list(&directory))
}
