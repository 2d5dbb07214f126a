//! Failures: the exit code, what happened, and what to do about it.

use std::fmt::Display;
use std::io;

use sealstone::Error;
use sealstone_files::plain;
use sealstone_terminal::text::one_line;
use serde_json::{Value, json};

use crate::exit::Exit;

/// A reason to stop: an exit code, what happened, and what to do.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    what: String,
    hint: Option<String>,
    /// Whether it is not shown, because it has been shown or the reader has gone.
    silent: bool,
    wrong_passphrase: bool,
}

/// A result with a [`Failure`].
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    pub(crate) fn new(exit: Exit, what: impl Into<String>) -> Self {
        Self {
            exit,
            what: what.into(),
            hint: None,
            silent: false,
            wrong_passphrase: false,
        }
    }

    /// Whether it is not shown.
    pub(crate) fn is_silent(&self) -> bool {
        self.silent
    }

    /// Whether another passphrase may help.
    pub(crate) fn is_wrong_passphrase(&self) -> bool {
        self.wrong_passphrase
    }

    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Self::new(Exit::Usage, what)
    }

    pub(crate) fn silent(exit: Exit) -> Self {
        Self {
            silent: true,
            ..Self::new(exit, "")
        }
    }

    /// Adds what the user can do.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Puts the subject before the message, usually the name of a file. An error of the file itself
    /// has it already.
    pub(crate) fn about(mut self, subject: impl Display) -> Self {
        let before = format!("{}: ", one_line(&subject.to_string()));
        if !self.what.starts_with(&before) {
            self.what.insert_str(0, &before);
        }
        self
    }

    /// The failure, without the advice.
    pub(crate) fn what(&self) -> &str {
        &self.what
    }

    /// The text for people.
    pub(crate) fn text(&self) -> Option<String> {
        let hint = self
            .hint
            .as_ref()
            .map(|hint| format!("\n  {}", hint.replace('\n', "\n  ")));
        (!self.silent).then(|| format!("{}{}", self.what, hint.unwrap_or_default()))
    }

    /// The object for machines, with the code that the command ends with.
    pub(crate) fn json(&self, ends: Exit) -> Value {
        json!({"error": {"code": ends.code(), "kind": self.exit.kind(), "message": self.what, "hint": self.hint}})
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let exit = Exit::of(&error);
        match error {
            Error::Io(e) => e.into(),
            Error::WrongPassphrase => Self {
                wrong_passphrase: true,
                ..Self::new(exit, error.to_string())
            },
            Error::Altered(_) => {
                Self::new(exit, error.to_string()).hint("get another copy from its source")
            }
            Error::TooMuchAfterArmor => Self::new(exit, error.to_string())
                .hint("remove what follows it, such as a mail's signature"),
            Error::Armor(_) => Self::new(exit, error.to_string())
                .hint("copy everything from the BEGIN line to the END line"),
            Error::Unsupported(_) => {
                Self::new(exit, error.to_string()).hint("get a newer sealstone")
            }
            Error::KdfLimit { .. } => Self::new(exit, error.to_string())
                .hint("if you trust the file, allow more with --kdf-max-memory"),
            Error::OutOfMemory(_) => Self::new(exit, error.to_string())
                .hint("close other programs, or use a machine with more memory"),
            Error::StoreAltered(_) => Self::new(exit, error.to_string()).hint(
                "restore a backup of its directory, or move it away to begin a new store; until \
                 then, no sender is trusted",
            ),
            _ => Self::new(exit, error.to_string()),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::silent(Exit::Io);
        }
        let exit = match error.kind() {
            // The limit is that of the format.
            io::ErrorKind::InvalidData => Exit::Format,
            _ => Exit::Io,
        };
        Self::new(exit, plain(&error))
    }
}

/// Names the subject of an error.
pub(crate) trait About<T> {
    /// Puts `subject` before the message.
    fn about(self, subject: impl Display) -> Result<T>;
}

impl<T, E: Into<Failure>> About<T> for std::result::Result<T, E> {
    fn about(self, subject: impl Display) -> Result<T> {
        self.map_err(|e| e.into().about(subject))
    }
}
