//! Files, pipes and terminals: the messages about them.

use std::path::Path;

use sealstone_files::{OutputError, Refusal, Standard};
pub(crate) use sealstone_terminal::input::{self, DASH};
pub(crate) use sealstone_terminal::output;
use sealstone_terminal::text::shown;

use crate::exit::Exit;
use crate::failure::Failure;

/// The name of standard output in messages.
pub(crate) const STDOUT: &str = "standard output";

/// The failure of writing to a file that exists.
pub(crate) fn exists(path: &Path) -> Failure {
    Failure::new(Exit::Io, format!("{} exists", shown(path)))
}

/// The failure of a standard descriptor that the caller had closed.
fn closed(standard: Standard) -> Failure {
    let hint = match standard {
        Standard::Input => "name a file, or redirect it from one",
        _ => "redirect it to a file or a pipe, or to /dev/null to discard it",
    };
    Failure::new(Exit::Io, format!("{} is closed", standard.name())).hint(hint)
}

impl From<input::Error> for Failure {
    fn from(error: input::Error) -> Self {
        match error {
            input::Error::Claimed { .. } => Self::usage(error.to_string()),
            input::Error::Closed => closed(Standard::Input),
            input::Error::Io(e) => e.into(),
        }
    }
}

impl From<output::Error> for Failure {
    fn from(error: output::Error) -> Self {
        match error {
            output::Error::Refused(refused) => refused.into(),
            output::Error::Closed => closed(Standard::Output),
            output::Error::Binary => Self::usage(error.to_string())
                .hint("choose -o FILE, --armor for text, or -o - to write it anyway"),
            output::Error::Io(e) => e.into(),
        }
    }
}

impl From<OutputError> for Failure {
    fn from(OutputError { path, reason }: OutputError) -> Self {
        let (what, hint) =
            match reason {
                Refusal::Io(e) => return Self::from(e).about(path.display()),
                Refusal::Input => {
                    let what = format!("{} is the input", shown(&path));
                    return Self::usage(what).hint("use another -o");
                }
                Refusal::Exists => {
                    return exists(&path).hint("use another -o, or --force to replace it");
                }
                Refusal::Kept => return exists(&path).hint(
                    "passports and backups are never overwritten: use another -o, or move it away",
                ),
                Refusal::Changed => (
                    "another program changed it meanwhile",
                    "nothing was changed: try again",
                ),
                Refusal::Directory => (
                    "is a directory",
                    "use another -o; --force puts only a sealed directory into its place",
                ),
                Refusal::SecretPassport => (
                    "is a secret passport, and is never replaced",
                    "use another -o, or move it away",
                ),
            };
        Self::new(Exit::Io, what).hint(hint).about(path.display())
    }
}
