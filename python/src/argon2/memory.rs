//! Memory that is kept from hash to hash, for a bounded number of hashes at once.

use crate::number::{Number, number};
use crate::process::processors;
use crate::watch::Watch;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sealstone_argon2::{Arena, Params};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Memory of Argon2 that is kept from hash to hash, for a bounded number of hashes at once.
#[pyclass(frozen, weakref, module = "sealstone.argon2")]
pub(crate) struct Memory {
    at_once: usize,
    keep_kib: u64,
    /// Locked for an instant, and only with Python's lock held: so a fork finds it unlocked.
    pool: Mutex<Arc<Pool>>,
}

/// Shared with running hashes, which put their memory back without Python's lock.
struct Pool {
    state: Mutex<State>,
    returned: Condvar,
}

struct State {
    kept: Vec<Arena>,
    /// Hashes that may still begin.
    free: usize,
    keep_kib: u64,
}

/// Memory of one hash; goes back on drop.
pub(super) struct Place {
    arena: Arena,
    pool: Arc<Pool>,
}

/// How long a hash waits for its turn before it looks at signals.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(100);

#[pymethods]
impl Memory {
    #[new]
    #[pyo3(signature = (at_once=None, keep_kib=1_048_576))]
    fn new(
        at_once: Option<Number<usize>>,
        #[pyo3(from_py_with = number)] keep_kib: u64,
    ) -> PyResult<Self> {
        let at_once = at_once
            .map(|it| it.0)
            .unwrap_or_else(|| processors().max(2));
        if at_once == 0 {
            return Err(PyValueError::new_err("at_once must be at least 1"));
        }
        Ok(Self {
            at_once,
            keep_kib,
            pool: Mutex::new(Pool::new(at_once, keep_kib)),
        })
    }

    /// The most hashes that run at the same time; further ones wait.
    #[getter]
    fn at_once(&self) -> usize {
        self.at_once
    }

    /// The most KiB that are kept while no hash uses them.
    #[getter]
    fn keep_kib(&self) -> u64 {
        self.keep_kib
    }

    /// KiB that are kept and not in use now.
    #[getter]
    fn kept_kib(&self) -> u64 {
        self.pool().lock().kept_kib()
    }

    /// Gives the memory that is not in use back to the system.
    fn release(&self, py: Python<'_>) {
        let kept = std::mem::take(&mut self.pool().lock().kept);
        py.detach(|| drop(kept));
    }

    /// In the child of a fork: hashes of the parent's threads never end here.
    fn _after_fork(&self) {
        *lock(&self.pool) = Pool::new(self.at_once, self.keep_kib);
    }

    fn __repr__(&self) -> String {
        format!(
            "Memory(at_once={}, keep_kib={})",
            self.at_once, self.keep_kib
        )
    }
}

impl Memory {
    /// Waits for the turn of another hash, of `kib` KiB. Signals and `watch` may end that.
    pub(super) fn take(&self, py: Python<'_>, kib: u64, watch: &Watch) -> PyResult<Place> {
        let pool = self.pool();
        loop {
            let arena = pool.lock().begin(kib);
            if let Some(arena) = arena {
                return Ok(Place { arena, pool });
            }
            py.detach(|| pool.wait());
            watch.look(py, 0, kib)?;
        }
    }

    fn pool(&self) -> Arc<Pool> {
        Arc::clone(&lock(&self.pool))
    }
}

impl Pool {
    fn new(at_once: usize, keep_kib: u64) -> Arc<Self> {
        let state = State {
            kept: Vec::new(),
            free: at_once,
            keep_kib,
        };
        Arc::new(Self {
            state: Mutex::new(state),
            returned: Condvar::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn wait(&self) {
        let is_full = |state: &mut State| state.free == 0;
        let waited = self
            .returned
            .wait_timeout_while(self.lock(), SIGNAL_INTERVAL, is_full);
        drop(waited);
    }
}

impl State {
    fn kept_kib(&self) -> u64 {
        self.kept.iter().map(Arena::kib).sum()
    }

    /// If another hash may begin: the smallest memory that is enough for it, or else the largest.
    fn begin(&mut self, kib: u64) -> Option<Arena> {
        self.free = self.free.checked_sub(1)?;
        let fit = |arena: &Arena| match arena.kib() {
            have if have >= kib => (0, have),
            have => (1, u64::MAX - have),
        };
        let best = (0..self.kept.len()).min_by_key(|&at| fit(&self.kept[at]));
        Some(best.map_or_else(Arena::new, |at| self.kept.swap_remove(at)))
    }
}

impl Place {
    pub(super) fn arena(&mut self) -> &mut Arena {
        &mut self.arena
    }

    /// One for each lane. A second one helps to get new memory, and is not started for memory that
    /// is kept: under load every processor has a hash of its own.
    pub(super) fn threads(&self, params: &Params) -> usize {
        let is_new = self.arena.kib() < params.memory_kib().into();
        let wanted = params.lanes().max(1 + u32::from(is_new));
        processors().min(wanted as usize)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.pool.lock();
        state.free += 1;
        // Memory that is not kept goes back to the system after the lock is given up.
        if state.kept_kib() + self.arena.kib() <= state.keep_kib {
            state.kept.push(std::mem::take(&mut self.arena));
        }
        drop(state);
        self.pool.returned.notify_one();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
