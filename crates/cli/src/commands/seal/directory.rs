//! A directory that is sealed as one file.

use std::fs::Metadata;
use std::io::Read;
use std::path::{Path, PathBuf};

use sealstone::archive::Writer;
use sealstone::file::ChunkHashes;
use sealstone_files::{Walk, directory_of};
use sealstone_terminal::text::shown;

use crate::context::Context;
use crate::failure::{About, Failure, Result};
use crate::io::output::Destination;

/// A directory, and its name.
pub(super) struct Directory {
    path: PathBuf,
    /// Without links, and without `.` at the end.
    real: PathBuf,
    metadata: Metadata,
}

impl Directory {
    /// Refuses an output that would become a part of the directory, or that has no name.
    pub(super) fn new(path: &Path, destination: &Destination) -> Result<Self> {
        let real = path.canonicalize().about(path.display())?;
        let metadata = real.metadata().about(path.display())?;
        if let Destination::File(output) = destination {
            if path.file_name().is_none() && output.file_name() == super::beside(path).file_name() {
                return Err(
                    Failure::usage(format!("{} has no name for its output", shown(path)))
                        .hint("choose -o OUT, outside of it"),
                );
            }
            let within = directory_of(output).canonicalize();
            if within.is_ok_and(|within| within.starts_with(&real)) {
                let what = format!("{} is in the directory that is sealed", shown(output));
                return Err(Failure::usage(what).hint("choose -o OUT, outside of it"));
            }
        }
        Ok(Self {
            path: path.to_owned(),
            real,
            metadata,
        })
    }

    pub(super) fn name(&self) -> String {
        shown(&self.path)
    }

    pub(super) fn real_path(&self) -> &Path {
        &self.real
    }

    pub(super) fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Reads as an archive of files, directories and symbolic links. Others are left out, and
    /// reported.
    pub(super) fn archive<'a>(
        &self,
        hashes: &'a ChunkHashes,
        context: &'a Context,
    ) -> Result<impl Read + Send + 'a> {
        let left_out = |path: &Path| {
            context.warn(&format!(
                "{} is left out: only files, directories and symbolic links are sealed",
                shown(path)
            ));
        };
        let walk = Walk::open(&self.path, shown, left_out).about(self.path.display())?;
        Ok(Writer::new(walk, Some(hashes)))
    }
}
