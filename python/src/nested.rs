//! A mutex that refuses the thread that holds it. It uses nothing of Python: a test compiles it
//! alone, once with a planted bug.

use crate::lock::me;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// A mutex that refuses the thread that holds it.
pub(crate) struct Unnested<T> {
    owner: AtomicU64,
    state: Mutex<T>,
}

impl<T> Unnested<T> {
    pub(crate) fn new(state: T) -> Self {
        Self {
            owner: AtomicU64::new(0),
            state: Mutex::new(state),
        }
    }

    /// Waits for other threads, and then works. Python must be detached. `None` if this is called
    /// from inside `work`.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        let me = me();
        // Only this thread writes this number.
        if self.owner.load(Relaxed) == me {
            return None;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // Also given back by a panic, which Python catches. It is dropped before the state.
        let _owned = Owned::take(&self.owner, me);
        Some(work(&mut state))
    }
}

/// The number of a thread in the place of the owner, until this is dropped.
struct Owned<'a>(&'a AtomicU64);

impl<'a> Owned<'a> {
    fn take(owner: &'a AtomicU64, me: u64) -> Self {
        owner.store(me, Relaxed);
        Self(owner)
    }
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        self.0.store(0, Relaxed);
    }
}
