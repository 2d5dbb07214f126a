//! A barrier: threads wait there for each other.

use core::hint::spin_loop;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A barrier for a number of threads that can change before the first wait. If a thread panics, the
/// others stop waiting. A wait spins at first, because most waits are short.
pub(super) struct Barrier {
    threads: AtomicUsize,
    waiting: AtomicUsize,
    round: AtomicUsize,
    broken: AtomicBool,
    lock: Mutex<()>,
    changed: Condvar,
}

/// Spins before a thread sleeps: some ten microseconds.
const SPINS: usize = 2000;

impl Barrier {
    pub(super) fn for_one() -> Self {
        Self {
            threads: AtomicUsize::new(1),
            waiting: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            lock: Mutex::new(()),
            changed: Condvar::new(),
        }
    }

    /// Adds a thread. A thread that takes part calls this before its first wait.
    pub(super) fn add(&self) {
        self.threads.fetch_add(1, Relaxed);
    }

    /// Removes a thread that was added. Called as [`Barrier::add`].
    pub(super) fn remove(&self) {
        self.threads.fetch_sub(1, Relaxed);
    }

    /// Waits until all threads wait. The last thread to arrive runs `last` before any thread goes
    /// on. Returns false if a thread has panicked.
    ///
    /// All threads see afterwards what any thread wrote before.
    pub(super) fn wait(&self, last: impl FnOnce()) -> bool {
        let round = self.round.load(Relaxed);
        if self.waiting.fetch_add(1, AcqRel) + 1 == self.threads.load(Relaxed) {
            self.waiting.store(0, Relaxed);
            last();
            self.wake(|| self.round.store(round.wrapping_add(1), Release));
        } else {
            let goes_on = || self.round.load(Acquire) != round || self.broken.load(Acquire);
            if !(0..SPINS).any(|_| {
                spin_loop();
                goes_on()
            }) {
                let sleep = |guard| self.changed.wait_while(guard, |()| !goes_on());
                drop(sleep(self.lock()).unwrap_or_else(PoisonError::into_inner));
            }
        }
        !self.broken.load(Acquire)
    }

    /// If this thread panics while it holds the guard, the other threads stop waiting.
    pub(super) fn guard(&self) -> Guard<'_> {
        Guard(self)
    }

    /// Makes a change that sleeping threads wait for, and wakes them.
    fn wake(&self, change: impl FnOnce()) {
        let lock = self.lock();
        change();
        drop(lock);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// See [`Barrier::guard`].
pub(super) struct Guard<'a>(&'a Barrier);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.wake(|| self.0.broken.store(true, Release));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    #[test]
    fn no_thread_is_ahead_by_more_than_a_round() {
        const THREADS: usize = 5;
        let (barrier, rounds) = (Barrier::for_one(), [const { AtomicUsize::new(0) }; THREADS]);
        (1..THREADS).for_each(|_| barrier.add());
        thread::scope(|scope| {
            for own in &rounds {
                scope.spawn(|| {
                    for round in 1..=300 {
                        own.store(round, Relaxed);
                        assert!(barrier.wait(|| assert!(
                            rounds.iter().all(|other| other.load(Relaxed) == round)
                        )));
                        assert!(
                            rounds
                                .iter()
                                .all(|other| [round, round + 1].contains(&other.load(Relaxed)))
                        );
                    }
                });
            }
        });
    }

    #[test]
    fn a_thread_that_panics_is_not_waited_for() {
        for late in [false, true] {
            let barrier = Barrier::for_one();
            barrier.add();
            thread::scope(|scope| {
                let waiting = scope.spawn(|| barrier.wait(|| ()));
                if late {
                    // So that the other thread sleeps.
                    thread::sleep(std::time::Duration::from_millis(50));
                }
                let panicking = || {
                    let _guard = barrier.guard();
                    panic!("planted");
                };
                assert!(catch_unwind(AssertUnwindSafe(panicking)).is_err());
                assert!(!waiting.join().unwrap());
            });
        }
    }

    #[test]
    fn a_thread_that_is_removed_is_not_waited_for() {
        let barrier = Barrier::for_one();
        barrier.add();
        barrier.remove();
        assert!(barrier.wait(|| ()));
    }
}
