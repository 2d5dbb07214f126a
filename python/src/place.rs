//! Where a new file of a path goes.

use crate::errors::about;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sealstone::Kind;
use sealstone_files::Existing;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The place of a file that is new, or replaces one as the command's `--force` does: behind a
/// symbolic link, with the mode of the old file, and never a secret passport.
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) existing: Existing,
    mode: Option<u32>,
}

impl Place {
    /// Fails if there is a file that must stay.
    pub(crate) fn of(path: &Path, overwrite: bool) -> PyResult<Self> {
        let new = |existing| Self {
            path: path.to_path_buf(),
            existing,
            mode: None,
        };
        match path.canonicalize() {
            Ok(target) if overwrite => Self::replacing(target),
            Ok(_) => Err(about(path, io::ErrorKind::AlreadyExists.into())),
            Err(_) if overwrite => Ok(new(Existing::Replace)),
            Err(_) => Ok(new(Existing::Keep)),
        }
    }

    fn replacing(path: PathBuf) -> PyResult<Self> {
        let refuse = |why: &str| PyValueError::new_err(format!("{}: {why}", path.display()));
        let metadata = path.metadata().map_err(|e| about(&path, e))?;
        if !metadata.is_file() {
            return Err(refuse("not a file: open it, and give the file object"));
        }
        let mut start = Vec::new();
        File::open(&path)
            .and_then(|file| file.take(512).read_to_end(&mut start))
            .map_err(|e| about(&path, e))?;
        if Kind::of(&start) == Kind::SecretPassport {
            return Err(refuse("a secret passport, which is never replaced"));
        }
        let mode = Some(metadata.permissions().mode() & 0o777);
        let existing = Existing::Replace;
        Ok(Self {
            path,
            existing,
            mode,
        })
    }

    /// The mode of the file that is replaced, or else `new`.
    pub(crate) fn mode(&self, new: u32) -> u32 {
        self.mode.unwrap_or(new)
    }
}
