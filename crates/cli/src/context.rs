//! Messages and results, for people or for machines.

use std::borrow::Cow;
use std::io::{IsTerminal, Write, stderr, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use sealstone_files::{Document, Standard, settle};
use sealstone_terminal::colour::{Colour, Paint};
use sealstone_terminal::text::{fold, json_line, printable};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::args::GlobalArgs;
use crate::exit::Exit;
use crate::failure::{About, Failure, Result};
use crate::io::{STDOUT, output};

/// The global options.
#[derive(Clone)]
pub(crate) struct Context {
    json: bool,
    quiet: bool,
    /// Whether progress may be shown.
    pub(crate) progress: bool,
    paint: Paint,
    /// Whether JSON results go to standard error, because standard output has content.
    results_on_stderr: bool,
    /// The directory of the trust store, if it is not the usual one.
    pub(crate) trust_dir: Option<PathBuf>,
    /// The file that messages are about, where a command works on several.
    subject: Option<String>,
}

const STDERR: &str = "standard error";

/// The result of a command, for people and for machines.
pub(crate) struct Report {
    pub(crate) text: String,
    pub(crate) value: Value,
    /// Whether the value holds a generated secret.
    pub(crate) secret: bool,
}

impl Context {
    pub(crate) fn new(args: &GlobalArgs) -> Self {
        let terminal = stderr().is_terminal();
        Self {
            json: args.json,
            quiet: args.quiet || args.json,
            progress: terminal && !args.no_progress && !args.quiet && !args.json,
            paint: Paint::on(&stderr()),
            results_on_stderr: false,
            trust_dir: args.trust_dir.clone(),
            subject: None,
        }
    }

    /// The context of work on one of several files: messages begin with its name, and there is no
    /// progress bar between them.
    pub(crate) fn of_one(&self, name: &str) -> Self {
        Self {
            subject: Some(name.to_owned()),
            progress: false,
            ..self.clone()
        }
    }

    /// The context of a command that may write content to standard output. If it does, JSON results
    /// go to standard error.
    pub(crate) fn beside_content(&self, content_on_stdout: bool) -> Self {
        Self {
            results_on_stderr: content_on_stdout,
            ..self.clone()
        }
    }

    /// Shows a message, unless `--quiet` or `--json` is given.
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet {
            self.tell(&fold(&printable(&self.about_subject(text))));
        }
    }

    fn about_subject<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match &self.subject {
            Some(subject) => format!("{subject}: {text}").into(),
            None => text.into(),
        }
    }

    /// Shows a warning.
    pub(crate) fn warn(&self, text: &str) {
        let text = &*self.about_subject(text);
        match self.json {
            true => self.tell(&json_line(&json!({"warning": text}))),
            false => self.tell(&format!(
                "{} {}",
                self.paint.paint(Colour::Yellow, "warning:"),
                fold(&printable(text))
            )),
        }
    }

    /// Warns of a file with secrets that other users can read.
    pub(crate) fn warn_if_exposed(&self, document: &Document) {
        if document.is_exposed() {
            let name = document.name();
            self.warn(&format!("{name} can be read by others: chmod 600 it"));
        }
    }

    /// Shows a generated secret once, also with `--quiet`. With `--json` the result has it.
    ///
    /// Fails if it cannot be seen. The caller must not use such a secret for anything.
    pub(crate) fn show_secret(&self, what: &str, secret: &str) -> Result<()> {
        let hint = match (self.json, self.results_on_stderr) {
            (true, false) => {
                return must_be_seen(Standard::Output, "nobody would see a secret in it");
            }
            (false, false) => "let it be seen, or use --json, which shows it on standard output",
            (true, true) => "let it be seen, or use -o OUT: then it is on standard output",
            (false, true) => {
                "let it be seen, or use --json -o OUT, which shows it on standard output"
            }
        };
        must_be_seen(Standard::Error, hint)?;
        if self.json {
            return Ok(());
        }
        let text = Zeroizing::new(format!("{what}\n\n    {secret}\n\n"));
        stderr().write_all(text.as_bytes()).about(STDERR)
    }

    /// Whether only warnings and errors are shown.
    pub(crate) fn quiet(&self) -> bool {
        self.quiet
    }

    /// Saves something and reports it. A generated secret is reported before: nothing may depend on
    /// a key that is lost.
    pub(crate) fn save(&self, report: Report, save: impl FnOnce() -> Result<()>) -> Result<()> {
        let Report {
            text,
            value,
            secret,
        } = report;
        if !(self.json && secret) {
            save()?;
            return self.result(&text, || value);
        }
        self.result(&text, || value)?;
        if self.results_on_stderr {
            settle(stderr()).about(STDERR)?;
        } else {
            settle(stdout()).about(STDOUT)?;
        }
        save()
    }

    /// Whether results are for machines.
    pub(crate) fn json(&self) -> bool {
        self.json
    }

    /// Writes the result to standard output: `text` for people, or `value` with `--json`.
    pub(crate) fn print(
        &self,
        text: impl FnOnce() -> String,
        value: impl FnOnce() -> Value,
    ) -> Result<()> {
        let mut text = if self.json {
            json_line(&value())
        } else {
            fold(&text())
        };
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        Ok(output::print(text.as_bytes())?)
    }

    /// Shows `text` to people, or writes `value` with `--json`.
    pub(crate) fn result(&self, text: &str, value: impl FnOnce() -> Value) -> Result<()> {
        if !self.json {
            self.say(text);
            return Ok(());
        }
        if self.results_on_stderr {
            let line = Zeroizing::new(format!("{}\n", json_line(&value())));
            return stderr().write_all(line.as_bytes()).about(STDERR);
        }
        self.print(String::new, value)
    }

    /// Reports why the command failed.
    pub(crate) fn report(&self, failure: &Failure) -> ExitCode {
        self.report_as(failure, failure.exit);
        failure.exit.code().into()
    }

    /// Reports a failure of one item, in a command that continues and ends with the code `ends`.
    pub(crate) fn report_as(&self, failure: &Failure, ends: Exit) {
        if let Some(text) = failure.text() {
            match self.json {
                true => self.tell(&json_line(&failure.json(ends))),
                false => self.tell(&format!(
                    "{} {}",
                    self.paint.paint(Colour::Red, "sealstone:"),
                    fold(&printable(&text))
                )),
            }
        }
    }

    /// Errors are ignored: they could only be reported to standard error itself.
    fn tell(&self, text: &str) {
        let _ = writeln!(stderr(), "{text}");
    }
}

/// Fails if output to `stream` is discarded.
fn must_be_seen(stream: Standard, hint: &str) -> Result<()> {
    let state = match (stream.is_closed(), stream.is_null()) {
        (true, _) => "closed",
        (_, true) => "/dev/null",
        _ => return Ok(()),
    };
    let name = stream.name();
    let what = format!("{name} is {state}: the generated secret would not be visible");
    Err(Failure::usage(what).hint(hint))
}
