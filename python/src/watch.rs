//! Progress, signals and cancellation of long calls.

use pyo3::prelude::*;
use sealstone::{KdfProgress, KdfWatcher};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Between two looks at signals and two calls of `progress`. A shorter call never asks for Python's
/// lock.
const INTERVAL: Duration = Duration::from_millis(100);

/// Watches one long call, which runs without Python's lock and reports from any of its threads.
pub(crate) struct Watch {
    progress: Mutex<Option<Py<PyAny>>>,
    cancel: AtomicBool,
    state: Mutex<State>,
}

struct State {
    next: Instant,
    /// Where the work was at last, if it has said so.
    at: Option<(u64, u64)>,
    error: Option<PyErr>,
}

impl Watch {
    /// `progress(done, total)` may cancel by raising.
    pub(crate) fn new(progress: Option<Py<PyAny>>) -> Self {
        let next = Instant::now() + INTERVAL;
        Self {
            progress: Mutex::new(progress),
            cancel: AtomicBool::new(false),
            state: Mutex::new(State {
                next,
                at: None,
                error: None,
            }),
        }
    }

    /// Is set when the call has to stop.
    pub(crate) fn cancel(&self) -> &AtomicBool {
        &self.cancel
    }

    /// The work is at `done` of `total`. A thread that finds another one here goes on working.
    pub(crate) fn at(&self, done: u64, total: u64) {
        let Ok(mut state) = self.state.try_lock() else {
            return;
        };
        state.at = Some((done, total));
        if Instant::now() < state.next || state.error.is_some() {
            return;
        }
        state.error = Python::try_attach(|py| self.look(py, done, total).err()).flatten();
        self.cancel.fetch_or(state.error.is_some(), Relaxed);
        state.next = Instant::now() + INTERVAL;
    }

    /// Looks at signals, and calls `progress`.
    pub(crate) fn look(&self, py: Python<'_>, done: u64, total: u64) -> PyResult<()> {
        py.check_signals()?;
        let progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let progress = progress.as_ref().map(|it| it.clone_ref(py));
        match progress {
            Some(progress) => progress.call1(py, (done, total)).map(drop),
            None => Ok(()),
        }
    }

    /// As `at`, and an error if the work has to stop. What cancelled it is its result; several
    /// threads may hear of it here.
    pub(crate) fn passed(&self, done: u64, total: u64) -> io::Result<()> {
        self.at(done, total.max(done));
        match self.cancel.load(Relaxed) {
            true => Err(io::Error::other("cancelled")),
            false => Ok(()),
        }
    }

    /// From now on it looks at signals alone.
    pub(crate) fn forget_progress(&self) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.take();
    }

    /// One more look before the result of the work is given away: short work had none.
    pub(crate) fn last_look(&self, py: Python<'_>) -> PyResult<()> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let at = state.at;
        drop(state);
        at.map_or(Ok(()), |(done, total)| self.look(py, done, total))
    }

    /// Ends the call with this exception, unless another one has ended it before.
    pub(crate) fn fail(&self, error: PyErr) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.error.get_or_insert(error);
        self.cancel.store(true, Relaxed);
    }

    /// The result of the call, or the exception that cancelled it.
    pub(crate) fn result<T, E>(
        &self,
        result: Result<T, E>,
        exception: impl FnOnce(E) -> PyErr,
    ) -> PyResult<T> {
        match self.take_error() {
            Some(error) => Err(error),
            None => result.map_err(exception),
        }
    }

    /// The exception that cancelled the call. The next one may begin.
    pub(crate) fn take_error(&self) -> Option<PyErr> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let error = state.error.take();
        self.cancel.store(false, Relaxed);
        error
    }
}

impl KdfWatcher for Watch {
    fn report(&self, progress: KdfProgress) {
        self.at(progress.done, progress.total);
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.load(Relaxed)
    }
}
