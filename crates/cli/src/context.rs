//! The global options, and how the command talks under them.

use std::ops::Deref;
use std::path::PathBuf;
use std::process::ExitCode;

use sealstone_files::Standard;
pub(crate) use sealstone_terminal::console::Report;
use sealstone_terminal::console::{Console, ConsoleOptions};
use serde_json::Value;

use crate::args::GlobalArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Result};

/// The global options.
#[derive(Clone)]
pub(crate) struct Context {
    console: Console,
    /// The directory of the trust store, if it is not the usual one.
    pub(crate) trust_dir: Option<PathBuf>,
}

impl Deref for Context {
    type Target = Console;

    fn deref(&self) -> &Console {
        &self.console
    }
}

impl Context {
    pub(crate) fn new(args: &GlobalArgs) -> Self {
        let manner = ConsoleOptions {
            json: args.json,
            quiet: args.quiet,
            progress: !args.no_progress,
        };
        Self {
            console: Console::new(manner),
            trust_dir: args.trust_dir.clone(),
        }
    }

    fn with(&self, console: Console) -> Self {
        Self {
            console,
            ..self.clone()
        }
    }

    /// The context of work on one of several files.
    pub(crate) fn of_one(&self, name: &str) -> Self {
        self.with(self.console.of_one(name))
    }

    /// The context of a command that may write content to standard output.
    pub(crate) fn beside_content(&self, content_on_stdout: bool) -> Self {
        self.with(self.console.beside_content(content_on_stdout))
    }

    /// Shows a generated secret once, also with `--quiet`. With `--json` the result has it.
    ///
    /// Fails if it cannot be seen. The caller must not use such a secret for anything.
    pub(crate) fn show_secret(&self, what: &str, secret: &str) -> Result<()> {
        let (stream, hint) = match (self.json(), self.results_on_stderr()) {
            (true, false) => (Standard::Output, "nobody would see a secret in it"),
            (false, false) => (
                Standard::Error,
                "let it be seen, or use --json, which shows it on standard output",
            ),
            (true, true) => (
                Standard::Error,
                "let it be seen, or use -o OUT: then it is on standard output",
            ),
            (false, true) => (
                Standard::Error,
                "let it be seen, or use --json -o OUT, which shows it on standard output",
            ),
        };
        must_be_seen(stream, hint)?;
        Ok(self.console.show_secret(what, secret)?)
    }

    /// Saves something and reports it. A generated secret is reported before.
    pub(crate) fn save(&self, report: Report, save: impl FnOnce() -> Result<()>) -> Result<()> {
        self.console.save(report, save)
    }

    /// Writes the result to standard output: `text` for people, or `value` with `--json`.
    pub(crate) fn print(
        &self,
        text: impl FnOnce() -> String,
        value: impl FnOnce() -> Value,
    ) -> Result<()> {
        Ok(self.console.print(text, value)?)
    }

    /// Shows `text` to people, or writes `value` with `--json`.
    pub(crate) fn result(&self, text: &str, value: impl FnOnce() -> Value) -> Result<()> {
        Ok(self.console.result(text, value)?)
    }

    /// Reports why the command failed.
    pub(crate) fn report(&self, failure: &Failure) -> ExitCode {
        self.report_as(failure, failure.exit);
        failure.exit.code().into()
    }

    /// Reports a failure of one item, in a command that continues and ends with the code `ends`.
    pub(crate) fn report_as(&self, failure: &Failure, ends: Exit) {
        if let Some(text) = failure.text() {
            self.console.error(&text, || failure.json(ends));
        }
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
