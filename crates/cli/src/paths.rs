//! Default paths.

use std::path::PathBuf;

use etcetera::BaseStrategy;
use sealstone_files::DEFAULT_PASSPORT;

use crate::exit::Exit;
use crate::failure::{Failure, Result};

/// `$XDG_DATA_HOME/sealstone`.
pub(crate) fn data_dir() -> Result<PathBuf> {
    let strategy = etcetera::choose_base_strategy();
    let none =
        |_| Failure::new(Exit::Io, "there is no home directory").hint("set HOME or XDG_DATA_HOME");
    Ok(strategy.map_err(none)?.data_dir().join("sealstone"))
}

/// The path of the default passport.
pub(crate) fn default_passport() -> Result<PathBuf> {
    Ok(data_dir()?.join(DEFAULT_PASSPORT))
}

/// The path of the default passport if it exists.
pub(crate) fn existing_default_passport() -> Option<PathBuf> {
    default_passport().ok().filter(|path| path.exists())
}

/// The paths of former default passports.
pub(crate) fn former_default_passports() -> Vec<PathBuf> {
    data_dir().map_or_else(
        |_| Vec::new(),
        |dir| sealstone_files::former_default_passports(&dir),
    )
}
