//! One command on many files: in parallel, reported in the order of the command line.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use sealstone_terminal::text::shown;

use crate::context::{Context, Report};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::io::DASH;

/// How many files are worked on at once, and whether the first failure ends the run.
#[derive(Clone, Copy)]
pub(crate) struct Batch {
    pub(crate) lanes: usize,
    pub(crate) stop: bool,
}

/// More threads would only wait for the disk, and each holds the buffer of one chunk.
const MAX_LANES: usize = 16;

impl Batch {
    /// Two files for each processor: one waits for the disk while the other is worked on.
    pub(crate) fn new(stop: bool) -> Self {
        let processors = thread::available_parallelism().map_or(1, |n| n.get());
        Self {
            lanes: (2 * processors).min(MAX_LANES),
            stop,
        }
    }

    /// Runs `work` on every item and reports each. Continues after a failure, unless it is to stop.
    ///
    /// The failure that it returns has the status of the worst.
    pub(crate) fn run<T: Sync>(
        self,
        items: &[T],
        context: &Context,
        work: impl Fn(&T) -> Result<Report> + Sync,
    ) -> Result<()> {
        let next = AtomicUsize::new(0);
        let stopped = AtomicBool::new(false);
        let (sender, receiver) = mpsc::channel();
        let step = || {
            if stopped.load(Relaxed) {
                return None;
            }
            let index = next.fetch_add(1, Relaxed);
            let done = work(items.get(index)?);
            if done.is_err() && self.stop {
                stopped.store(true, Relaxed);
            }
            Some((index, done))
        };
        thread::scope(|scope| {
            for _ in 0..self.lanes.min(items.len()) {
                let sender = sender.clone();
                let step = &step;
                // The channel closes if nobody reads the reports any more.
                scope.spawn(move || while step().is_some_and(|done| sender.send(done).is_ok()) {});
            }
            drop(sender);
            let mut tally = Tally::default();
            let reported = tally.report(&receiver, context);
            stopped.store(reported.is_err(), Relaxed);
            drop(receiver);
            reported.and_then(|()| tally.verdict(items.len()))
        })
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
    /// Reports in order, as far as everything before has been reported.
    fn report(
        &mut self,
        receiver: &Receiver<(usize, Result<Report>)>,
        context: &Context,
    ) -> Result<()> {
        let mut waiting = BTreeMap::new();
        for (index, done) in receiver {
            waiting.insert(index, done);
            while let Some(done) = waiting.remove(&self.done) {
                self.one(done, context)?;
            }
        }
        // After a stop, files in between are missing.
        waiting
            .into_values()
            .try_for_each(|done| self.one(done, context))
    }

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
