//! Progress, signals and cancellation of long calls.

use crate::lock::me;
use crate::process::processors;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use sealstone::{KdfProgress, KdfWatcher};
use std::convert::Infallible;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle, ThreadId};
use std::time::{Duration, Instant};

/// Between two looks at signals and two calls of `progress`. A shorter call never asks for Python's
/// lock.
const INTERVAL: Duration = Duration::from_millis(100);

/// Between two looks whether a turn is free.
const PAUSE: Duration = Duration::from_millis(5);

/// The turn of a thread that works for `leave`. There are as many as processors, in all of the
/// process: else calls that end before their work would leave threads without a bound. A thread has
/// its turn until its work ends, and waits for nobody meanwhile.
struct Turn;

/// The process in the upper half, as `me` has it, and its turns that are taken in the lower one.
static TURNS: AtomicU64 = AtomicU64::new(0);

impl Turn {
    /// `None` if all are taken.
    fn take() -> Option<Self> {
        let none_taken = me() & !u64::from(u32::MAX);
        let taken = TURNS.fetch_update(Relaxed, Relaxed, |taken| {
            // A child has none of its parent's threads.
            let taken = taken.saturating_sub(none_taken);
            (taken < processors() as u64).then(|| none_taken + taken + 1)
        });
        taken.ok().map(|_| Self)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        TURNS.fetch_sub(1, Relaxed);
    }
}

/// The caller's function that receives the progress.
pub(crate) struct Progress(Py<PyAny>);

impl<'py> FromPyObject<'_, 'py> for Progress {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if object.is_callable() {
            return Ok(Self(object.to_owned().unbind()));
        }
        let name = object.get_type().name()?;
        let text = format!("progress is a function, not '{name}'");
        Err(PyTypeError::new_err(text))
    }
}

/// Watches one long call, which runs without Python's lock and reports from any of its threads.
pub(crate) struct Watch {
    progress: Mutex<Option<Progress>>,
    cancel: AtomicBool,
    state: Mutex<State>,
    /// The thread of the call. If it is Python's main thread, it alone handles signals.
    caller: ThreadId,
    /// When that thread looks at signals again.
    signals: Mutex<Instant>,
}

struct State {
    next: Instant,
    /// Where the work was at last, if it has said so.
    at: Option<(u64, u64)>,
    error: Option<PyErr>,
}

impl Watch {
    /// `progress(done, total)` may cancel by raising.
    pub(crate) fn new(progress: Option<Progress>) -> Self {
        let next = Instant::now() + INTERVAL;
        Self {
            progress: Mutex::new(progress),
            cancel: AtomicBool::new(false),
            state: Mutex::new(State {
                next,
                at: None,
                error: None,
            }),
            caller: thread::current().id(),
            signals: Mutex::new(next),
        }
    }

    /// Is set when the call has to stop.
    pub(crate) fn cancel(&self) -> &AtomicBool {
        &self.cancel
    }

    /// The work is at `done` of `total`. A thread that finds another one here goes on working.
    pub(crate) fn at(&self, done: u64, total: u64) {
        self.hear_signals();
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

    /// Looks at signals if this is the thread of the call. Other threads handle none, however often
    /// they report.
    fn hear_signals(&self) {
        if thread::current().id() != self.caller {
            return;
        }
        let mut next = self.signals.lock().unwrap_or_else(PoisonError::into_inner);
        if Instant::now() < *next {
            return;
        }
        let error = Python::try_attach(|py| py.check_signals().err()).flatten();
        *next = Instant::now() + INTERVAL;
        if let Some(error) = error {
            self.fail(error);
        }
    }

    /// Calls `work` on another thread, and looks at signals on this one until it ends. For work
    /// that calls file objects from threads of its own. Those threads may wait there for long
    /// without handling a signal, while this thread waits for them.
    pub(crate) fn attend<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let work = Mutex::new(Some(work));
        let begin = || {
            let mut work = work.lock().unwrap_or_else(PoisonError::into_inner);
            work.take().map(|work| work())
        };
        let done = thread::scope(|scope| {
            let (running, ended) = mpsc::channel::<Infallible>();
            let worker = thread::Builder::new().spawn_scoped(scope, || {
                let _running = running;
                begin()
            });
            while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                self.hear_signals();
            }
            match worker.map(ScopedJoinHandle::join) {
                Ok(Ok(done)) => done,
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                // The system gives no thread.
                Err(_) => begin(),
            }
        });
        done.expect("it began once")
    }

    /// Calls `work`, which nobody can end, on another thread. `None` if the call has to end before:
    /// then that thread goes on alone, and drops what it makes. Reports that the work is `at`, and
    /// waits for a turn before.
    pub(crate) fn leave<T: Send + 'static>(
        &self,
        at: (u64, u64),
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let turn = loop {
            match Turn::take() {
                Some(turn) => break turn,
                None => self.passed(at.0, at.1).ok()?,
            }
            thread::sleep(PAUSE);
        };
        let (made, ended) = mpsc::channel();
        let worker = thread::Builder::new().spawn(move || {
            let _turn = turn;
            // It fails if nobody waits any more.
            let _ = made.send(work());
        });
        let worker = match worker {
            Ok(worker) => worker,
            Err(error) => {
                self.fail(error.into());
                return None;
            }
        };
        loop {
            match ended.recv_timeout(INTERVAL) {
                Ok(made) => return Some(made),
                Err(RecvTimeoutError::Timeout) => self.passed(at.0, at.1).ok()?,
                Err(RecvTimeoutError::Disconnected) => match worker.join() {
                    Err(panic) => std::panic::resume_unwind(panic),
                    Ok(()) => unreachable!("it sends before it ends"),
                },
            }
        }
    }

    /// Looks at signals, and calls `progress`.
    pub(crate) fn look(&self, py: Python<'_>, done: u64, total: u64) -> PyResult<()> {
        py.check_signals()?;
        let progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let progress = progress.as_ref().map(|it| it.0.clone_ref(py));
        match progress {
            Some(progress) => progress.call1(py, (done, total)).map(drop),
            None => Ok(()),
        }
    }

    /// As `at`, and an error if the work has to stop. Several threads may get that error here. The
    /// exception of the caller is the one that stopped the work.
    pub(crate) fn passed(&self, done: u64, total: u64) -> io::Result<()> {
        self.at(done, total.max(done));
        self.stopped()
    }

    /// An error if the work has to stop.
    pub(crate) fn stopped(&self) -> io::Result<()> {
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
    fn last_look(&self, py: Python<'_>) -> PyResult<()> {
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

    /// The result of a part of the call, or the exception that cancelled it.
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

    /// The result of the whole call, after one more look if it is good.
    pub(crate) fn end<T, E>(
        &self,
        py: Python<'_>,
        result: Result<T, E>,
        exception: impl FnOnce(E) -> PyErr,
    ) -> PyResult<T> {
        let result = self.result(result, exception)?;
        self.last_look(py)?;
        Ok(result)
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
