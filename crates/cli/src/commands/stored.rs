//! A package that was read from a file, and the directory of its content.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use sealstone::package::{MAX_PACKAGE, Package};
use sealstone_files::{Document, Existing, Tree, directory_of, keep};
use sealstone_terminal::text::shown;

use crate::failure::{About, Result};
use crate::io::{DASH, input};
use crate::named::Parse;

/// A package that was read, and the file that it came from.
pub(super) struct Stored {
    pub(super) package: Package,
    pub(super) file: Document,
    pub(super) path: PathBuf,
    metadata: Metadata,
}

/// The longest package, in bytes.
pub(super) const MAX_LEN: usize = MAX_PACKAGE as usize;

impl Stored {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let input = input::open(path, "the package")?;
        let file = input.document(MAX_LEN)?;
        let package = file.parse(Package::decode)?;
        Ok(Self {
            package,
            file,
            path: path.to_owned(),
            metadata: input.metadata().clone(),
        })
    }

    /// The directory in which the files are: the given one, else the one that the package was made
    /// of, if it stands beside it under the same name, else that of the package.
    fn root(&self, given: Option<&Path>) -> Result<Tree> {
        let beside = match self.path == Path::new(DASH) {
            true => PathBuf::from("."),
            false => directory_of(&self.path),
        };
        let signed = self.path.with_extension("");
        let is_signed = self.package.manifest().complete && signed != self.path && signed.is_dir();
        let usual = if is_signed { signed } else { beside };
        let root = given.unwrap_or(&usual);
        let tree = Tree::open(root).about(shown(root))?;
        Ok(tree.except(&self.metadata))
    }

    /// The directory to compare: none if none was named and the package has everything in itself.
    pub(super) fn content(&self, root: Option<&Path>) -> Result<Option<Tree>> {
        match root.is_none() && self.package.has_all_content() {
            true => Ok(None),
            false => self.root(root).map(Some),
        }
    }

    /// Replaces the file by a changed package, if nobody else has changed it meanwhile.
    pub(super) fn replace(&self, package: &Package) -> Result<()> {
        let path = self.path.canonicalize().about(shown(&self.path))?;
        let _lock = keep::lock_unchanged(&path, &self.file)?;
        let mode = {
            use std::os::unix::fs::PermissionsExt;
            self.metadata.permissions().mode() & 0o777
        };
        sealstone_files::write(&path, &package.encode(), Existing::Replace, mode)
            .about(shown(&path))
    }
}
