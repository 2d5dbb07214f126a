//! Files that must not be lost: passports, shares, backups.

use std::fs::{File, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use sealstone_files::{AtomicFile, Existing, directory_of, umask};
pub(crate) use sealstone_files::{PRIVATE, PUBLIC, holds};

use super::output::exists;
use crate::exit::Exit;
use crate::failure::{About, Failure, Result};

/// Writes a new file durably. Never replaces one.
pub(crate) fn write_new(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let mode = if mode == PUBLIC {
        PUBLIC & !umask()
    } else {
        mode
    };
    let written = sealstone_files::write(path, bytes, Existing::Keep, mode);
    written.map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists => never_replaced(path),
        _ => Failure::from(e).about(path.display()),
    })
}

/// Replaces a file durably if it still holds `before`.
pub(crate) fn replace(path: &Path, before: &[u8], bytes: &[u8]) -> Result<()> {
    match sealstone_files::replace_unchanged(path, before, bytes).about(path.display())? {
        true => Ok(()),
        false => Err(changed(path)),
    }
}

/// Renames a file durably, and replaces a file that has the new name.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<()> {
    sealstone_files::rename(from, to).about(to.display())
}

/// Locks a file that must still hold `before`. The lock lasts as long as the returned value.
pub(crate) fn lock_unchanged(path: &Path, before: &[u8]) -> Result<File> {
    let locked = sealstone_files::lock_unchanged(path, before).about(path.display())?;
    locked.ok_or_else(|| changed(path))
}

/// Fails if the file at `path` is no longer the one that was read.
pub(crate) fn must_be_unchanged(path: &Path, read: &Metadata) -> Result<()> {
    let state = |it: &Metadata| (it.dev(), it.ino(), it.len(), it.mtime(), it.mtime_nsec());
    let now = path.metadata().about(path.display())?;
    match state(&now) == state(read) {
        true => Ok(()),
        false => Err(changed(path)),
    }
}

fn changed(path: &Path) -> Failure {
    Failure::new(Exit::Io, "another program changed it meanwhile")
        .hint("nothing was changed: try again")
        .about(path.display())
}

/// Fails if any of `paths` exists: keys are never overwritten.
pub(crate) fn must_be_new<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<()> {
    paths.into_iter().try_for_each(|path| {
        if path.symlink_metadata().is_ok() {
            Err(never_replaced(path))
        } else {
            Ok(())
        }
    })
}

/// Fails if no file can be created at `path`. Commands check this before they show a secret.
pub(crate) fn must_be_makeable(path: &Path) -> Result<()> {
    AtomicFile::new(&directory_of(path))
        .map(drop)
        .about(path.display())
}

/// Fails if the file cannot be replaced. Commands check this before they show a secret.
pub(crate) fn must_be_replaceable(path: &Path) -> Result<()> {
    must_be_makeable(&path.canonicalize().about(path.display())?)
}

fn never_replaced(path: &Path) -> Failure {
    exists(path)
        .hint("passports and backups are never overwritten: use another -o, or move it away")
}
