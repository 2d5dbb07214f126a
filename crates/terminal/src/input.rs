//! Inputs that a person names: files, standard input, descriptors.

use std::fmt;
use std::fs::File;
use std::io::{self, stdin};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use sealstone_files::{Document, Input, Standard, duplicate, named};

use crate::text::shown;

/// The name that stands for standard input or output.
pub const DASH: &str = "-";

/// The one input that comes from standard input.
static STDIN: Mutex<Option<String>> = Mutex::new(None);

/// Why there is no input.
#[derive(Debug)]
pub enum Error {
    /// Two inputs would come from standard input.
    Claimed {
        /// The name of the first.
        owner: String,
        /// The name of the second.
        what: String,
    },
    /// The caller had closed standard input.
    Closed,
    /// The system's error. The message begins with the name of the input.
    Io(io::Error),
}

/// Opens a file, or standard input for [`DASH`]. Messages about standard input call the input
/// `what`.
///
/// # Errors
/// [`Error`].
pub fn open(path: &Path, what: &str) -> Result<Input, Error> {
    let name = name_of(path);
    let file = match path == Path::new(DASH) {
        true => claim_stdin(what)?,
        false => File::open(path).map_err(|e| named(&name, &e))?,
    };
    Ok(Input::new(file, name)?)
}

/// Opens the content of a command: the named file, else standard input.
///
/// # Errors
/// As [`open`].
pub fn content(path: Option<&Path>) -> Result<Input, Error> {
    open(path.unwrap_or(Path::new(DASH)), "IN")
}

/// The path of an input; `None` for standard input.
pub fn path_of(path: Option<&Path>) -> Option<&Path> {
    path.filter(|path| *path != Path::new(DASH))
}

/// Reads a small file as a whole. It may be secret: a passport, a passphrase, a list.
///
/// # Errors
/// As [`open`]; an [`io::ErrorKind::InvalidData`] for a file longer than `limit` bytes.
pub fn read(path: &Path, what: &str, limit: usize) -> Result<Document, Error> {
    Ok(open(path, what)?.document(limit)?)
}

/// Opens the descriptor with this number. It is read from its present position.
///
/// # Errors
/// As [`open`].
pub fn descriptor(number: u32, what: &str) -> Result<Input, Error> {
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
        true => Standard::Input.name().to_owned(),
        false => shown(path),
    }
}

/// Standard input, which only one input can come from.
fn claim_stdin(what: &str) -> Result<File, Error> {
    let mut claimed = STDIN.lock().unwrap_or_else(PoisonError::into_inner);
    let what = what.to_owned();
    if let Some(owner) = claimed.clone() {
        return Err(Error::Claimed { owner, what });
    }
    if Standard::Input.is_closed() {
        return Err(Error::Closed);
    }
    *claimed = Some(what);
    Ok(stdin().as_fd().try_clone_to_owned()?.into())
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Claimed { owner, what } if owner == what => {
                write!(f, "{what} cannot come from standard input twice")
            }
            Self::Claimed { owner, what } => {
                write!(f, "{owner} and {what} cannot both come from standard input")
            }
            Self::Closed => write!(f, "standard input is closed"),
            Self::Io(e) => write!(f, "{e}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_input_is_one_input_only() {
        let stdin = Path::new(DASH);
        open(stdin, "the list").unwrap();
        let twice = open(stdin, "the list").unwrap_err();
        assert_eq!(
            twice.to_string(),
            "the list cannot come from standard input twice"
        );
        let both = descriptor(0, "the passphrase").unwrap_err();
        assert_eq!(
            both.to_string(),
            "the list and the passphrase cannot both come from standard input"
        );
        assert_eq!(path_of(Some(stdin)), None);
    }

    #[test]
    fn errors_begin_with_the_name() {
        let directory = tempfile::tempdir().unwrap();
        let error = read(&directory.path().join("none"), "it", 9).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with(&shown(directory.path())), "{text}");
    }
}
