//! Files that must not be lost: passports, shares, backups.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use sealstone_files::{AtomicFile, Existing, directory_of, sync_directory, umask};
pub(crate) use sealstone_files::{PRIVATE, PUBLIC};
use zeroize::Zeroizing;

use super::output::exists;
use crate::failure::{About, Failure, Result};

/// Writes a new file durably. Never replaces one.
pub(crate) fn write_new(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let mode = if mode == PUBLIC {
        PUBLIC & !umask()
    } else {
        mode
    };
    commit(path, bytes, mode, Existing::Keep)
}

/// Replaces a file durably if it still holds `before`. The new file has the mode of the old one,
/// without permissions for others.
pub(crate) fn replace(path: &Path, before: &[u8], bytes: &[u8]) -> Result<()> {
    // Behind a symbolic link, the file that it leads to.
    let path = path.canonicalize().about(path.display())?;
    let _lock = lock_unchanged(&path, before)?;
    let mode = path.metadata().about(path.display())?.permissions().mode() & PRIVATE;
    commit(&path, bytes, mode, Existing::Replace)
}

/// Renames a file durably, and replaces a file that has the new name.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<()> {
    let renamed = std::fs::rename(from, to).and_then(|()| sync_directory(&directory_of(to)));
    renamed.about(to.display())
}

/// Locks a file that must still hold `before`. The lock lasts as long as the returned value.
pub(crate) fn lock_unchanged(path: &Path, before: &[u8]) -> Result<File> {
    let lock = lock(path).about(path.display())?;
    if !holds(path, before).about(path.display())? {
        let failure = Failure::new(
            crate::exit::Exit::Io,
            "another program changed it meanwhile",
        );
        return Err(failure
            .hint("nothing was changed: try again")
            .about(path.display()));
    }
    Ok(lock)
}

/// Whether a file holds these bytes and no others.
pub(crate) fn holds(path: &Path, bytes: &[u8]) -> std::io::Result<bool> {
    let mut found = Zeroizing::new(Vec::with_capacity(bytes.len() + 1));
    let longest = bytes.len() as u64 + 1;
    File::open(path)?.take(longest).read_to_end(&mut found)?;
    Ok(**found == *bytes)
}

/// Locks a file, so that other processes wait until this one has compared and replaced it. A
/// process that waited then holds the lock of the old file, and finds a changed one in its place.
fn lock(path: &Path) -> std::io::Result<File> {
    let file = File::open(path)?;
    match sealstone_files::lock(&file) {
        // Without locks, only a change at this very moment goes unnoticed.
        Err(e) if e.kind() == ErrorKind::Unsupported => Ok(file),
        locked => locked.map(|()| file),
    }
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

fn commit(path: &Path, bytes: &[u8], mode: u32, existing: Existing) -> Result<()> {
    sealstone_files::write(path, bytes, existing, mode).map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists => never_replaced(path),
        _ => Failure::from(e).about(path.display()),
    })
}

fn never_replaced(path: &Path) -> Failure {
    exists(path)
        .hint("passports and backups are never overwritten: use another -o, or move it away")
}
