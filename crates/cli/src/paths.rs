//! Default paths.

use std::path::{Path, PathBuf};

use rustix::process::geteuid;
use sealstone::passport::Fingerprint;
use sealstone_files::{Exposed, can_be_exchanged};
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
    existing_default_passport().map(trusted).transpose()
}

/// The path of a passport of the user, if no other user can exchange it.
pub(crate) fn trusted(path: PathBuf) -> Result<PathBuf> {
    let Some(exposed) = can_be_exchanged(&path).about(path.display())? else {
        return Ok(path);
    };
    let what = "others can exchange your passport, and be taken for you";
    Err(Failure::new(Exit::Io, what)
        .hint(remedy(&path, &exposed))
        .about(path.display()))
}

fn remedy(path: &Path, exposed: &Exposed) -> String {
    let compare = format!(
        "compare its fingerprint: sealstone passport show {}",
        shown(path)
    );
    let place = shown(&exposed.place);
    if exposed.is_anothers {
        // Root may have come here with the home directory of a user, who needs to keep the file.
        let own = geteuid().as_raw();
        return format!(
            "{place} belongs to another user\n{compare}\nif it is yours: chown {own} {place}\n\
             if not: set XDG_DATA_HOME to a directory of your own"
        );
    }
    let mode = match exposed.place.is_dir() {
        true => "go-w",
        false => "600",
    };
    format!("{compare}\nthen: chmod {mode} {place}")
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
