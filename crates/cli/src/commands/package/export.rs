//! `verify --export`: what others need to check a package without Sealstone.

use std::io::ErrorKind;
use std::path::Path;

use sealstone::package::Package;
use sealstone::timestamp::Verified;
use sealstone_files::NewDirectory;
use sealstone_terminal::text::shown;

use crate::failure::{About, Failure, Result};
use crate::io;

/// Fails before the work if something has that name.
pub(super) fn must_be_new(target: &Path) -> Result<()> {
    match target.symlink_metadata() {
        Ok(_) => Err(exists(target)),
        Err(_) => Ok(()),
    }
}

/// Writes the evidence to a new directory, whole or not at all.
pub(super) fn write(target: &Path, package: &Package, timestamps: &[Verified]) -> Result<()> {
    let new = NewDirectory::beside(target).about(shown(target))?;
    for file in package.evidence(timestamps) {
        new.write(&file.path, &file.bytes)
            .about(shown(&target.join(&file.path)))?;
    }
    new.commit(target).map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists => exists(target),
        _ => Failure::from(e).about(shown(target)),
    })
}

fn exists(target: &Path) -> Failure {
    io::exists(target).hint("name a directory that does not exist yet")
}
