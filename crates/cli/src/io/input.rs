//! Inputs that the options name: files, standard input, descriptors.

use std::fs::File;
use std::io::stdin;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use sealstone_files::{Document, Input, Standard, duplicate, named};
use sealstone_terminal::text::shown;

use crate::failure::{Failure, Result};
use crate::io::DASH;
use crate::io::output::must_be_open;

/// The one input that comes from standard input.
static STDIN: Mutex<Option<String>> = Mutex::new(None);

/// Opens a file, or standard input for `-`. Messages about standard input call the input `what`.
pub(crate) fn open(path: &Path, what: &str) -> Result<Input> {
    let name = name_of(path);
    let file = match path == Path::new(DASH) {
        true => claim_stdin(what)?,
        false => File::open(path).map_err(|e| named(&name, &e))?,
    };
    Ok(Input::new(file, name)?)
}

/// Opens the content of a command: the named file, else standard input.
pub(crate) fn content(path: Option<&Path>) -> Result<Input> {
    open(path.unwrap_or(Path::new(DASH)), "IN")
}

/// The path of an input; `None` for standard input.
pub(crate) fn path_of(path: Option<&Path>) -> Option<&Path> {
    path.filter(|path| *path != Path::new(DASH))
}

/// Reads a small file as a whole. It may be secret: a passport, a passphrase, a list.
pub(crate) fn read(path: &Path, what: &str, limit: usize) -> Result<Document> {
    Ok(open(path, what)?.document(limit)?)
}

/// Opens the descriptor with this number. It is read from its present position.
pub(crate) fn descriptor(number: u32, what: &str) -> Result<Input> {
    let name = format!("file descriptor {number}");
    let file = match number {
        0 => claim_stdin(what)?,
        _ => duplicate(number).map_err(|e| named(&name, &e))?,
    };
    Ok(Input::new(file, name)?)
}

/// The name in messages of a path that may be `-`.
fn name_of(path: &Path) -> String {
    match path == Path::new(DASH) {
        true => "standard input".to_owned(),
        false => shown(path),
    }
}

/// Standard input, which only one input can come from.
fn claim_stdin(what: &str) -> Result<File> {
    let mut owner = STDIN.lock().unwrap_or_else(PoisonError::into_inner);
    if owner.as_deref() == Some(what) {
        return Err(Failure::usage(format!(
            "{what} cannot come from standard input twice"
        )));
    }
    if let Some(owner) = &*owner {
        return Err(Failure::usage(format!(
            "{owner} and {what} cannot both come from standard input"
        )));
    }
    must_be_open(Standard::Input)?;
    *owner = Some(what.to_owned());
    Ok(stdin().as_fd().try_clone_to_owned()?.into())
}
