//! Locks that say when waiting for them would never end: in a call from inside the call that holds
//! them, and in the child of a fork, where the thread that held them is gone.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Work on up to this many bytes is done with Python's lock held, as in hashlib: giving it up takes
/// longer.
pub(crate) const SHORT: usize = 2047;

/// Does work on `length` bytes; without Python's lock, unless they are few.
pub(crate) fn long<T: Send>(py: Python<'_>, length: usize, work: impl FnOnce() -> T + Send) -> T {
    match length <= SHORT {
        true => work(),
        false => py.detach(work),
    }
}

/// A lock that outlives a fork. Threads that wait for it look again and again: a thread that waits
/// in the system holds parts of a lock, and a child would find them held for ever.
pub(crate) struct Lock<T> {
    /// The thread that holds it, 0 for none. See `me`.
    owner: AtomicU64,
    /// Locked by the owner only.
    state: Mutex<T>,
}

/// A lock that this thread holds, or another one to which it was handed.
pub(crate) struct Held<'a, T>(&'a Lock<T>);

/// Why a lock is never given up.
pub(crate) enum Refusal {
    /// This thread holds it.
    Reentrant,
    /// A thread of the parent held it at the fork.
    Forked,
}

/// Between two looks at a lock.
const PAUSE: Duration = Duration::from_micros(20);

/// One more in each child.
static PROCESS: AtomicU32 = AtomicU32::new(1);

/// A number of this thread: the process in the upper half, the thread in the lower one. Never 0.
pub(crate) fn me() -> u64 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    thread_local! {
        static THREAD: u32 = NEXT.fetch_add(1, Relaxed);
    }
    u64::from(PROCESS.load(Relaxed)) << 32 | u64::from(THREAD.with(|it| *it))
}

/// Has Python tell each child that it is one.
pub(crate) fn notice_forks(py: Python<'_>) -> PyResult<()> {
    #[pyfunction]
    fn forked() {
        PROCESS.fetch_add(1, Relaxed);
    }
    let os = py.import("os")?;
    if os.hasattr("register_at_fork")? {
        let options = pyo3::types::PyDict::new(py);
        options.set_item("after_in_child", wrap_pyfunction!(forked, py)?)?;
        os.call_method("register_at_fork", (), Some(&options))?;
    }
    Ok(())
}

impl<T: Send> Lock<T> {
    pub(crate) fn new(state: T) -> Self {
        Self {
            owner: AtomicU64::new(0),
            state: Mutex::new(state),
        }
    }

    /// Waits for other threads without Python's lock: those may need it.
    pub(crate) fn hold(&self, py: Python<'_>) -> PyResult<Held<'_, T>> {
        let held = self.take().transpose();
        let held = held.unwrap_or_else(|| py.detach(|| self.wait()));
        held.map_err(|refusal| {
            PyRuntimeError::new_err(match refusal {
                Refusal::Reentrant => "reentrant call: this thread is using the object already",
                Refusal::Forked => {
                    "another thread was using the object when this process was forked: make a new \
                     one here"
                }
            })
        })
    }

    /// Waits for other threads. Python must be detached.
    pub(crate) fn wait(&self) -> Result<Held<'_, T>, Refusal> {
        loop {
            if let Some(held) = self.take()? {
                return Ok(held);
            }
            thread::sleep(PAUSE);
        }
    }

    /// `None` if another thread of this process has it.
    fn take(&self) -> Result<Option<Held<'_, T>>, Refusal> {
        let me = me();
        match self.owner.compare_exchange(0, me, Acquire, Relaxed) {
            Ok(_) => Ok(Some(Held(self))),
            Err(owner) if owner == me => Err(Refusal::Reentrant),
            Err(owner) if owner >> 32 != me >> 32 => Err(Refusal::Forked),
            Err(_) => Ok(None),
        }
    }
}

impl<T> Held<'_, T> {
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        work(&mut self.0.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T> Drop for Held<'_, T> {
    fn drop(&mut self) {
        self.0.owner.store(0, Release);
    }
}
