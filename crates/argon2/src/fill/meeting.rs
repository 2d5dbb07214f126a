//! Where threads wait for each other.

use core::hint::spin_loop;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A barrier whose members may become more or fewer before the first meeting, which nobody waits at for one that has panicked, and
/// at which a wait begins awake: mostly it is short.
pub(super) struct Meeting {
    members: AtomicUsize,
    here: AtomicUsize,
    round: AtomicUsize,
    broken: AtomicBool,
    door: Mutex<()>,
    bell: Condvar,
}

/// How often to look before falling asleep: some ten microseconds.
const LOOKS: usize = 2000;

impl Meeting {
    pub(super) fn of_one() -> Self {
        Self {
            members: AtomicUsize::new(1),
            here: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            door: Mutex::new(()),
            bell: Condvar::new(),
        }
    }

    /// One more member. To be called by a member, before it waits for the first time.
    pub(super) fn invite(&self) {
        self.members.fetch_add(1, Relaxed);
    }

    /// One who was invited does not come. As [`Meeting::invite`].
    pub(super) fn excuse(&self) {
        self.members.fetch_sub(1, Relaxed);
    }

    /// Waits until all members wait; the last one to come does `last` before anybody goes on. False if somebody has panicked.
    ///
    /// What members wrote before it, all members see after it.
    pub(super) fn wait(&self, last: impl FnOnce()) -> bool {
        let round = self.round.load(Relaxed);
        if self.here.fetch_add(1, AcqRel) + 1 == self.members.load(Relaxed) {
            self.here.store(0, Relaxed);
            last();
            self.ring(|| self.round.store(round.wrapping_add(1), Release));
        } else {
            let goes_on = || self.round.load(Acquire) != round || self.broken.load(Acquire);
            if !(0..LOOKS).any(|_| {
                spin_loop();
                goes_on()
            }) {
                let sleep = |guard| self.bell.wait_while(guard, |()| !goes_on());
                drop(sleep(self.door()).unwrap_or_else(PoisonError::into_inner));
            }
        }
        !self.broken.load(Acquire)
    }

    /// If the thread panics while it has this, nobody waits for it any more.
    pub(super) fn guard(&self) -> Guard<'_> {
        Guard(self)
    }

    /// Changes something that sleepers wait for.
    fn ring(&self, change: impl FnOnce()) {
        let door = self.door();
        change();
        drop(door);
        self.bell.notify_all();
    }

    fn door(&self) -> MutexGuard<'_, ()> {
        self.door.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// See [`Meeting::guard`].
pub(super) struct Guard<'a>(&'a Meeting);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.ring(|| self.0.broken.store(true, Release));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    #[test]
    fn nobody_is_ahead_by_more_than_a_round() {
        const MEMBERS: usize = 5;
        let (meeting, rounds) = (Meeting::of_one(), [const { AtomicUsize::new(0) }; MEMBERS]);
        (1..MEMBERS).for_each(|_| meeting.invite());
        thread::scope(|scope| {
            for own in &rounds {
                scope.spawn(|| {
                    for round in 1..=300 {
                        own.store(round, Relaxed);
                        assert!(meeting.wait(|| assert!(
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
    fn who_panics_is_not_waited_for() {
        for late in [false, true] {
            let meeting = Meeting::of_one();
            meeting.invite();
            thread::scope(|scope| {
                let waiting = scope.spawn(|| meeting.wait(|| ()));
                if late {
                    // So that the other one has fallen asleep.
                    thread::sleep(std::time::Duration::from_millis(50));
                }
                let panicking = || {
                    let _guard = meeting.guard();
                    panic!("planted");
                };
                assert!(catch_unwind(AssertUnwindSafe(panicking)).is_err());
                assert!(!waiting.join().unwrap());
            });
        }
    }

    #[test]
    fn who_cannot_come_is_not_waited_for() {
        let meeting = Meeting::of_one();
        meeting.invite();
        meeting.excuse();
        assert!(meeting.wait(|| ()));
    }
}
