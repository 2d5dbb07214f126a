//! One command on many files: in parallel, reported in the order of the command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use sealstone_files::{in_order, worker_threads};
use sealstone_terminal::text::shown;

use crate::context::{Context, Report};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::io::DASH;

/// How many files are worked on at once, and whether the first failure ends the run.
#[derive(Clone, Copy)]
pub(crate) struct Batch {
    pub(crate) threads: usize,
    pub(crate) stop: bool,
}

impl Batch {
    /// As many as are useful.
    pub(crate) fn new(stop: bool) -> Self {
        let threads = worker_threads();
        Self { threads, stop }
    }

    /// Runs `work` on every item and reports each. Continues after a failure, unless the
    /// options say stop.
    ///
    /// # Errors
    /// If an item failed: a failure with the worst exit status of all items.
    pub(crate) fn run<T: Sync>(
        self,
        items: &[T],
        context: &Context,
        work: impl Fn(&T) -> Result<Report> + Sync,
    ) -> Result<()> {
        let mut tally = Tally::default();
        let ends = |done: &Result<Report>| done.is_err() && self.stop;
        in_order(items, self.threads, work, ends, |done| {
            tally.one(done, context)
        })?;
        tally.verdict(items.len())
    }
}

/// The reports so far.
#[derive(Default)]
struct Tally {
    done: usize,
    failed: usize,
    worst: Option<Exit>,
}

impl Tally {
    fn one(&mut self, done: Result<Report>, context: &Context) -> Result<()> {
        self.done += 1;
        match done {
            Ok(report) => context.result(&report.text, || report.value),
            Err(failure) => {
                self.failed += 1;
                self.worst = self.worst.max(Some(failure.exit));
                context.report_as(&failure, failure.exit);
                Ok(())
            }
        }
    }

    fn verdict(&self, all: usize) -> Result<()> {
        let Some(worst) = self.worst else {
            return Ok(());
        };
        let untried = match all - self.done {
            0 => String::new(),
            n => format!(", and {n} were not tried"),
        };
        let what = format!("{} of {all} files failed{untried}", self.failed);
        Err(Failure::new(worst, what))
    }
}

/// Where the outputs of many files go: beside them, or into the directory that `-o` names.
pub(crate) fn output_directory(option: Option<&Path>) -> Result<Option<PathBuf>> {
    let Some(path) = option else { return Ok(None) };
    if path.is_dir() {
        return Ok(Some(path.to_owned()));
    }
    let what = format!("{} is not a directory", shown(path));
    Err(Failure::usage(what).hint("with several files, -o names the directory for their outputs"))
}

/// Refuses standard input among several files.
pub(crate) fn refuse_dash(inputs: &[PathBuf]) -> Result<()> {
    match inputs.iter().any(|path| path == Path::new(DASH)) {
        false => Ok(()),
        true => Err(
            Failure::usage("standard input cannot be combined with other files")
                .hint("name files only, or `-` only; a file of that name is ./-"),
        ),
    }
}

/// `path`, or the same name in `directory`.
pub(crate) fn moved(path: PathBuf, directory: Option<&Path>) -> PathBuf {
    let name = path.file_name().map(OsString::from);
    match (directory, name) {
        (Some(directory), Some(name)) => directory.join(name),
        _ => path,
    }
}
