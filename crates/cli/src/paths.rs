//! Default paths, and names derived from paths.

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

use crate::exit::Exit;
use crate::failure::{Failure, Result};

const DEFAULT: &str = "default.passport";

/// `$XDG_DATA_HOME/sealstone`.
pub(crate) fn data_dir() -> Result<PathBuf> {
    let strategy = etcetera::choose_base_strategy();
    let none =
        |_| Failure::new(Exit::Io, "there is no home directory").hint("set HOME or XDG_DATA_HOME");
    Ok(strategy.map_err(none)?.data_dir().join("sealstone"))
}

/// The path of the default passport.
pub(crate) fn default_passport() -> Result<PathBuf> {
    Ok(data_dir()?.join(DEFAULT))
}

/// The path of the default passport if it exists.
pub(crate) fn existing_default_passport() -> Option<PathBuf> {
    default_passport().ok().filter(|path| path.exists())
}

/// The paths of former default passports.
pub(crate) fn former_default_passports() -> Vec<PathBuf> {
    let is_former = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| {
            name != DEFAULT && name.starts_with("default.") && name.ends_with(".passport")
        })
    };
    let entries = data_dir().ok().and_then(|dir| dir.read_dir().ok());
    let paths = entries.into_iter().flatten().flatten();
    let mut former: Vec<PathBuf> = paths.map(|entry| entry.path()).filter(is_former).collect();
    former.sort();
    former
}

/// `default.passport` → `default.9aee5533.passport`; `tag` is the beginning of a fingerprint.
pub(crate) fn tagged(path: &Path, tag: &str) -> PathBuf {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    path.with_extension(format!("{tag}.{extension}"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_stands_before_the_extension() {
        let path = Path::new("a.b/default.passport");
        assert_eq!(
            tagged(path, "9aee5533"),
            Path::new("a.b/default.9aee5533.passport")
        );
    }
}
