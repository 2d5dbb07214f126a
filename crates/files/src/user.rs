//! Where the files of this user are.

use std::path::PathBuf;

use etcetera::BaseStrategy;

use crate::DEFAULT_PASSPORT;

/// The environment variable that says where the trust store is.
const TRUST_DIRECTORY: &str = "SEALSTONE_TRUST_DIR";

/// The user's directory for data of ours, `$XDG_DATA_HOME/sealstone`. `None` if there is no home
/// directory.
pub fn data_directory() -> Option<PathBuf> {
    let strategy = etcetera::choose_base_strategy().ok()?;
    Some(strategy.data_dir().join("sealstone"))
}

/// The user's trust store: the directory that `$SEALSTONE_TRUST_DIR` names, else `trust` in
/// [`data_directory`].
pub fn trust_directory() -> Option<PathBuf> {
    let named = std::env::var_os(TRUST_DIRECTORY).filter(|value| !value.is_empty());
    named
        .map(PathBuf::from)
        .or_else(|| Some(data_directory()?.join("trust")))
}

/// The user's default passport.
pub fn default_passport() -> Option<PathBuf> {
    Some(data_directory()?.join(DEFAULT_PASSPORT))
}
