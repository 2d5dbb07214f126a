//! Messages to a person, and results for people or for machines.

use std::borrow::Cow;
use std::io::{IsTerminal, Write, stderr, stdout};

use sealstone_files::{Document, Standard, named, settle};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::colour::{Colour, Paint};
use crate::output::{Error, print};
use crate::question;
use crate::text::{columns, fold, json_line, printable};

/// Where messages and results of a command go. Messages go to standard error, results to standard
/// output.
#[derive(Clone, Debug)]
pub struct Console {
    json: bool,
    quiet: bool,
    progress: bool,
    paint: Paint,
    results_on_stderr: bool,
    subject: Option<String>,
}

/// How a command talks.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConsoleOptions {
    /// Results and messages are JSON, one object a line.
    pub json: bool,
    /// Only warnings and errors are shown.
    pub quiet: bool,
    /// Progress is shown where standard error is a terminal.
    pub progress: bool,
}

/// The result of a command, for people and for machines.
#[derive(Debug)]
pub struct Report {
    /// For people.
    pub text: String,
    /// For machines.
    pub value: Value,
    /// Whether the value holds a generated secret.
    pub secret: bool,
}

impl Console {
    /// A console with these options.
    pub fn new(options: ConsoleOptions) -> Self {
        let ConsoleOptions {
            json,
            quiet,
            progress,
        } = options;
        Self {
            json,
            quiet: quiet || json,
            progress: progress && !quiet && !json && stderr().is_terminal(),
            paint: Paint::on(&stderr()),
            results_on_stderr: false,
            subject: None,
        }
    }

    /// The console for work on one of several files: messages begin with its name, and there is no
    /// progress bar between them.
    #[must_use]
    pub fn of_one(&self, name: &str) -> Self {
        Self {
            subject: Some(name.to_owned()),
            progress: false,
            ..self.clone()
        }
    }

    /// The console of a command that may write content to standard output. If it does, JSON results
    /// go to standard error.
    #[must_use]
    pub fn beside_content(&self, content_on_stdout: bool) -> Self {
        Self {
            results_on_stderr: content_on_stdout,
            ..self.clone()
        }
    }

    /// Whether results are for machines.
    pub fn json(&self) -> bool {
        self.json
    }

    /// Whether only warnings and errors are shown.
    pub fn quiet(&self) -> bool {
        self.quiet
    }

    /// Whether JSON results go to standard error.
    pub fn results_on_stderr(&self) -> bool {
        self.results_on_stderr
    }

    /// Whether progress is shown.
    pub fn progress(&self) -> bool {
        self.progress
    }

    /// Shows a message, unless only warnings and errors are shown.
    pub fn say(&self, text: &str) {
        if !self.quiet {
            self.tell(&fold(&printable(&self.about_subject(text))));
        }
    }

    /// The columns that the name of one of several files takes before each message.
    pub fn columns_of_subject(&self) -> usize {
        let subject = self.subject.as_deref();
        subject.map_or(0, |name| columns(name) + ": ".len())
    }

    fn about_subject<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match &self.subject {
            Some(subject) => format!("{subject}: {text}").into(),
            None => text.into(),
        }
    }

    /// Shows a warning.
    pub fn warn(&self, text: &str) {
        let text = &*self.about_subject(text);
        match self.json {
            true => self.tell(&json_line(&json!({"warning": text}))),
            false => self.tell_after(Colour::Yellow, "warning:", text),
        }
    }

    /// Shows an error: `text` to people, else `value`.
    pub fn error(&self, text: &str, value: impl FnOnce() -> Value) {
        match self.json {
            true => self.tell(&json_line(&value())),
            false => self.tell_after(Colour::Red, "sealstone:", text),
        }
    }

    fn tell_after(&self, colour: Colour, word: &str, text: &str) {
        let word = self.paint.paint(colour, word);
        self.tell(&format!("{word} {}", fold(&printable(text))));
    }

    /// Waits for the questions of another command of the pipe. Errors are ignored: they could only
    /// be reported to standard error itself.
    fn tell(&self, text: &str) {
        let _ = question::between(|| writeln!(stderr(), "{text}"));
    }

    /// Warns of a file with secrets that other users can read.
    pub fn warn_if_exposed(&self, document: &Document) {
        if document.is_exposed() {
            let name = document.name();
            self.warn(&format!("{name} can be read by others: chmod 600 it"));
        }
    }

    /// Shows a generated secret once, also if only warnings are shown. A JSON result has it.
    ///
    /// # Errors
    /// The system's error.
    pub fn show_secret(&self, what: &str, secret: &str) -> Result<(), Error> {
        match self.json {
            true => Ok(()),
            false => on_stderr(&Zeroizing::new(format!("{what}\n\n    {secret}\n\n"))),
        }
    }

    /// Writes a result to standard output: `text` for people, else `value`.
    ///
    /// # Errors
    /// As [`print()`].
    pub fn print(
        &self,
        text: impl FnOnce() -> String,
        value: impl FnOnce() -> Value,
    ) -> Result<(), Error> {
        let mut text = if self.json {
            json_line(&value())
        } else {
            fold(&text())
        };
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        print(text.as_bytes())
    }

    /// Shows `text` to people as a message, else writes `value`.
    ///
    /// # Errors
    /// As [`print()`].
    pub fn result(&self, text: &str, value: impl FnOnce() -> Value) -> Result<(), Error> {
        if !self.json {
            self.say(text);
            return Ok(());
        }
        if self.results_on_stderr {
            return on_stderr(&Zeroizing::new(format!("{}\n", json_line(&value()))));
        }
        self.print(String::new, value)
    }

    /// Saves something and reports it. A generated secret is reported before, and durably: nothing
    /// may depend on a key that is lost.
    ///
    /// # Errors
    /// That of `save`, and as [`print()`].
    pub fn save<E: From<Error>>(
        &self,
        report: Report,
        save: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        let Report {
            text,
            value,
            secret,
        } = report;
        if !(self.json && secret) {
            save()?;
            return Ok(self.result(&text, || value)?);
        }
        self.result(&text, || value)?;
        self.settle()?;
        save()
    }

    /// Makes the results so far durable, if they go to a file.
    fn settle(&self) -> Result<(), Error> {
        let (settled, stream) = match self.results_on_stderr {
            true => (settle(stderr()), Standard::Error),
            false => (settle(stdout()), Standard::Output),
        };
        Ok(settled.map_err(|e| named(stream.name(), &e))?)
    }
}

fn on_stderr(text: &str) -> Result<(), Error> {
    let written = question::between(|| stderr().write_all(text.as_bytes()));
    Ok(written.map_err(|e| named(Standard::Error.name(), &e))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_told_no_messages_and_see_no_progress() {
        let json = ConsoleOptions {
            json: true,
            progress: true,
            ..ConsoleOptions::default()
        };
        let console = Console::new(json);
        assert!(console.quiet() && console.json() && !console.progress());
    }

    #[test]
    fn messages_on_one_of_several_files_name_it() {
        let console = Console::new(ConsoleOptions::default()).of_one("a.sealed");
        assert_eq!(console.about_subject("opened"), "a.sealed: opened");
        assert_eq!(console.columns_of_subject(), "a.sealed: ".len());
        assert_eq!(
            Console::new(ConsoleOptions::default()).columns_of_subject(),
            0
        );
    }
}
