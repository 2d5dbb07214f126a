//! Where things are when nobody says.

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

use crate::exit::Exit;
use crate::message::{Failure, Result};

/// `$XDG_DATA_HOME/sealstone`.
pub(crate) fn data_dir() -> Result<PathBuf> {
    let strategy = etcetera::choose_base_strategy();
    let none =
        |_| Failure::new(Exit::Io, "there is no home directory").hint("set HOME or XDG_DATA_HOME");
    Ok(strategy.map_err(none)?.data_dir().join("sealstone"))
}

/// The passport that is meant when none is named.
pub(crate) fn default_passport() -> Result<PathBuf> {
    Ok(data_dir()?.join("default.passport"))
}

/// The default passport if it has been made.
pub(crate) fn existing_default_passport() -> Option<PathBuf> {
    default_passport().ok().filter(|path| path.exists())
}

/// Where the public half of a passport is: `alice.passport` → `alice.pub`.
pub(crate) fn public_half(passport: &Path) -> PathBuf {
    match passport.extension() {
        Some(extension) if extension == "passport" => passport.with_extension("pub"),
        _ => with_suffix(passport, ".pub"),
    }
}

/// `path` with `suffix` behind its name.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The name of the user, if the system tells.
pub(crate) fn user_name() -> Option<String> {
    ["USER", "LOGNAME"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
}
