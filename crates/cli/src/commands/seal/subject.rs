//! The content that is sealed, and the metadata that its recipients see.

use std::path::Path;

use sealstone::file::Metadata;
use sealstone_files::Input;
use sealstone_terminal::clock;

use super::check;
use super::directory::Directory;
use crate::args::SealArgs;
use crate::context::Context;
use crate::failure::Result;
use crate::io::input;
use crate::io::output::Destination;

/// The content to seal: a file, a pipe, or a directory.
pub(super) enum Subject {
    File(Input),
    Directory(Directory),
}

impl Subject {
    /// Opens a file or standard input, or looks at a directory, that becomes `destination`.
    pub(super) fn open(path: Option<&Path>, destination: &Destination) -> Result<Self> {
        Ok(match path.filter(|path| path.is_dir()) {
            Some(path) => Self::Directory(Directory::new(path, destination)?),
            None => Self::File(input::content(path)?),
        })
    }

    pub(super) fn file(&self) -> Option<&Input> {
        match self {
            Self::File(input) => Some(input),
            Self::Directory(_) => None,
        }
    }

    /// Its name in messages.
    pub(super) fn name(&self) -> String {
        match self {
            Self::File(input) => input.name().to_owned(),
            Self::Directory(directory) => directory.name(),
        }
    }

    /// Name and time of a file or a directory, unless the user says otherwise.
    pub(super) fn metadata(
        &self,
        args: &SealArgs,
        path: Option<&Path>,
        context: &Context,
    ) -> Result<Metadata> {
        let found = match self {
            Self::File(input) => input.regular().cloned(),
            Self::Directory(directory) => Some(directory.metadata().clone()),
        };
        let path = match self {
            Self::File(_) => input::path_of(path),
            Self::Directory(directory) => Some(directory.real_path()),
        };
        let found = found.filter(|_| !args.no_name);
        let own_name = || {
            let name = tellable_name(found.as_ref().and(path)?);
            if name.is_none() {
                context.warn(&format!(
                    "{} is sealed without its name, which is not plain text; --name gives it one",
                    self.name()
                ));
            }
            name
        };
        let modified = found
            .as_ref()
            .and_then(|metadata| metadata.modified().ok())
            .and_then(clock::since_1970);
        let metadata = Metadata {
            name: args.name.clone().or_else(own_name),
            modified,
            note: args.note.clone(),
            directory: matches!(self, Self::Directory(_)),
        };
        check(&metadata)?;
        Ok(metadata)
    }
}

/// The name of a file, if the format allows it.
fn tellable_name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.to_owned();
    let metadata = Metadata {
        name: Some(name),
        ..Metadata::default()
    };
    metadata.check().ok().and(metadata.name)
}
