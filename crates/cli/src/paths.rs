//! Default paths.

use std::path::{Path, PathBuf};

use sealstone::passport::Fingerprint;
use sealstone_files::can_be_exchanged;
use sealstone_terminal::text::shown;

use crate::exit::Exit;
use crate::failure::{About, Failure, Result};

/// Fails if there is no home directory, in which the data of this user are.
pub(crate) fn found<T>(path: Option<T>) -> Result<T> {
    path.ok_or_else(|| {
        Failure::new(Exit::Io, "there is no home directory").hint("set HOME or XDG_DATA_HOME")
    })
}

/// The path of the default passport if it exists.
pub(crate) fn existing_default_passport() -> Option<PathBuf> {
    sealstone_files::default_passport().filter(|path| path.exists())
}

/// The path of the default passport if it exists, for verbs that do not unlock it: the fingerprint
/// that it claims is the user's for them. So no other user may be able to exchange the file.
pub(crate) fn trusted_default_passport() -> Result<Option<PathBuf>> {
    let Some(path) = existing_default_passport() else {
        return Ok(None);
    };
    if can_be_exchanged(&path).about(path.display())? {
        let what = "others can exchange your default passport, and be taken for you";
        let hint = format!("compare its fingerprint, then: chmod 600 {}", shown(&path));
        return Err(Failure::new(Exit::Io, what)
            .hint(hint)
            .about(path.display()));
    }
    Ok(Some(path))
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
