//! What went wrong and what to do about it.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use sealstone::Error;
use serde_json::{Value, json};

use crate::context;
use crate::exit::Exit;
use crate::io::closed::Standard;

/// A reason to stop: an exit code, what happened, and what to do.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    what: String,
    hint: Option<String>,
    /// Whether nothing is to be said: somebody else has said it, or nobody listens.
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

    /// Whether nothing is to be said of it.
    pub(crate) fn is_silent(&self) -> bool {
        self.silent
    }

    /// Whether another passphrase may help; what was altered stays so.
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

    /// Says what to do.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Says what it is about, usually a file.
    pub(crate) fn about(mut self, subject: impl Display) -> Self {
        self.what = format!("{}: {}", one_line(&subject.to_string()), self.what);
        self
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
            Error::Altered(_) => Self::new(exit, error.to_string()).hint("get another copy from where it came from"),
            Error::Malformed(what) if what.starts_with("not a ") => Self::new(exit, what),
            Error::Malformed(what) if what.ends_with("the END line") => Self::new(exit, error.to_string()).hint("remove what follows it, such as a mail's signature"),
            Error::Malformed(what) if what.starts_with("armor: ") => Self::new(exit, error.to_string()).hint("copy everything from the BEGIN line to the END line"),
            Error::Unsupported(_) => Self::new(exit, error.to_string()).hint("get a newer sealstone"),
            Error::KdfLimit { .. } => Self::new(exit, error.to_string()).hint("if you trust the file, allow more with --kdf-max-memory"),
            Error::OutOfMemory(_) => Self::new(exit, error.to_string()).hint("close other programs, or use a machine with more memory"),
            Error::StoreAltered(_) => Self::new(exit, error.to_string())
                .hint("put back a backup of its directory, or move it away to begin a new store; until then nobody is trusted"),
            _ => Self::new(exit, error.to_string()),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::silent(Exit::Io);
        }
        Self::new(Exit::Io, plain(&error))
    }
}

/// Says what a result is about.
pub(crate) trait About<T> {
    /// Puts `subject` before the message.
    fn about(self, subject: impl Display) -> Result<T>;
}

impl<T, E: Into<Failure>> About<T> for std::result::Result<T, E> {
    fn about(self, subject: impl Display) -> Result<T> {
        self.map_err(|e| e.into().about(subject))
    }
}

/// Text with nothing in it that a terminal would obey.
pub(crate) fn printable(text: &str) -> String {
    escape(text, |c| is_harmful(c) && c != '\n' && c != '\t')
}

/// A name within a message: it may hold anything, and must not look like a line of its own.
pub(crate) fn one_line(text: &str) -> String {
    escape(text, is_harmful)
}

/// A path as messages show it.
pub(crate) fn shown(path: &Path) -> String {
    if path.as_os_str().is_empty() {
        return "''".to_owned();
    }
    one_line(&path.to_string_lossy())
}

/// JSON on one line, without the control characters that JSON allows in strings and terminals obey.
pub(crate) fn json_line(value: &Value) -> String {
    let mut line = String::new();
    for c in value.to_string().chars() {
        match is_harmful(c) {
            // All of them are below U+10000.
            true => line.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => line.push(c),
        }
    }
    line
}

/// Control characters, and those that change the order of what is around them.
fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn escape(text: &str, harmful: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match harmful(c) {
            true => out.extend(c.escape_unicode()),
            false => out.push(c),
        }
    }
    out
}

/// Reports what the command line parser has to say: help, version, or an error.
pub(crate) fn report_usage(mut error: clap::Error) -> ExitCode {
    correct_tip(&mut error);
    let asked_for = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    if asked_for && let Err(closed) = Standard::Output.must_be_open() {
        eprintln!("sealstone: {}", closed.text().unwrap_or_default());
        return closed.exit.code().into();
    }
    let json = std::env::args_os().any(|arg| arg == "--json");
    if !asked_for && json {
        let text = error.to_string();
        let what = text
            .lines()
            .next()
            .unwrap_or_default()
            .trim_start_matches("error: ");
        eprintln!("{}", json_line(&Failure::usage(what).json(Exit::Usage)));
        return Exit::Usage.code().into();
    }
    let printed = match asked_for {
        true => error.print(),
        // In the voice of all other messages.
        false => {
            let text = error.render();
            let text = if context::is_coloured() {
                text.ansi().to_string()
            } else {
                text.to_string()
            };
            io::stderr().write_all(text.replacen("error:", "sealstone:", 1).as_bytes())
        }
    };
    match printed {
        Ok(()) if asked_for => ExitCode::SUCCESS,
        Ok(()) => Exit::Usage.code().into(),
        Err(_) => Exit::Io.code().into(),
    }
}

/// Another hash function is not misspelt Skein.
fn correct_tip(error: &mut clap::Error) {
    let algorithm = ContextValue::String("--algorithm <ALGORITHM>".to_owned());
    if error.kind() == ErrorKind::InvalidValue
        && error.get(ContextKind::InvalidArg) == Some(&algorithm)
    {
        let tip = "`sealstone hash` computes Skein only".to_owned();
        error.remove(ContextKind::SuggestedValue);
        error.insert(
            ContextKind::Suggested,
            ContextValue::StyledStrs(vec![tip.into()]),
        );
    }
}

/// Replaces the report of a panic by one that a user can act on.
pub(crate) fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        eprintln!(
            "sealstone: internal error: {panic}\n  this is a defect: please report it. No output file was left behind."
        );
    }));
}

/// The same error, saying which file it is about.
pub(crate) fn of_file(name: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{name}: {}", plain(error)))
}

/// The system's words without the number.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error")
        .next()
        .unwrap_or_default()
        .to_owned()
}
