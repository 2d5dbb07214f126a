//! Starting threads, each on a processor of its own where there are no more processors than threads.
//!
//! Some systems leave a new thread on the processor of the one that started it for up to 20 ms, as long as many a hash takes, while
//! another processor is idle. (Seen with Linux 6.18 on a virtual machine.) With as many threads as processors there is nothing to choose:
//! so whoever starts a thread does so on one that it then leaves to it, and goes on on another. Once both run, either may run anywhere again.

use std::io;
use std::thread::{Builder, Scope, ScopedJoinHandle};

#[cfg(target_os = "linux")]
use linux::{Allowed, Processors};
#[cfg(not(target_os = "linux"))]
use other::{Allowed, Processors};

/// Starts threads.
#[derive(Debug)]
pub(crate) struct Starter(Option<Processors>);

impl Starter {
    /// For so many threads, this one among them. Without `spread`, the system chooses where they run.
    pub(crate) fn of(threads: usize, spread: bool) -> Self {
        Self(spread.then(|| Processors::for_all_of(threads)).flatten())
    }

    /// A thread that does `work`.
    #[cfg(target_os = "linux")]
    pub(crate) fn spawn(
        &mut self,
        work: impl FnOnce() + Send + 'static,
    ) -> io::Result<std::thread::JoinHandle<()>> {
        self.start(|allowed| Builder::new().spawn(beginning(allowed, work)))
    }

    /// A thread that does `work` within the scope.
    pub(crate) fn spawn_scoped<'scope>(
        &mut self,
        scope: &'scope Scope<'scope, '_>,
        work: impl FnOnce() + Send + 'scope,
    ) -> io::Result<ScopedJoinHandle<'scope, ()>> {
        self.start(|allowed| Builder::new().spawn_scoped(scope, beginning(allowed, work)))
    }

    fn start<T>(&mut self, start: impl FnOnce(Option<Allowed>) -> T) -> T {
        match &mut self.0 {
            Some(processors) => processors.leave_one(start),
            None => start(None),
        }
    }
}

/// What a thread does, which may run where its starter was allowed to.
fn beginning(allowed: Option<Allowed>, work: impl FnOnce()) -> impl FnOnce() {
    move || {
        if let Some(allowed) = allowed {
            allowed.apply();
        }
        work();
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use rustix::thread::{
        CpuSet, SecureComputingMode, sched_getaffinity, sched_setaffinity, secure_computing_mode,
    };

    /// Where the threads of a process may run.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Allowed(pub(super) CpuSet);

    impl Allowed {
        /// Lets this thread run there, and nowhere else. If the system does not want that, it stays as it is.
        pub(super) fn apply(self) {
            let _ = sched_setaffinity(None, &self.0);
        }
    }

    /// Processors of which each gets a thread.
    #[derive(Debug)]
    pub(super) struct Processors {
        all: Allowed,
        /// Those that no thread was started on.
        free: CpuSet,
    }

    impl Processors {
        /// All that this process may use, if that makes no more than a processor for each thread, and some to choose from.
        pub(super) fn for_all_of(threads: usize) -> Option<Self> {
            // More than a `CpuSet` has room for are more than there are threads, probably.
            let free = sched_getaffinity(None).ok()?;
            let fits = (2..=threads).contains(&(free.count() as usize));
            (fits && !is_filtered()).then(|| Self {
                all: unrestricted(free).unwrap_or(Allowed(free)),
                free,
            })
        }

        /// Goes to a free processor, calls `start` there, and leaves it: a thread that is started inherits where it may run.
        pub(super) fn leave_one<T>(&mut self, start: impl FnOnce(Option<Allowed>) -> T) -> T {
            let first = (0..CpuSet::MAX_CPU).find(|number| self.free.is_set(*number));
            let (Some(one), 2..) = (first, self.free.count()) else {
                return start(None);
            };
            let _restored = Restored(self.all);
            let mut only = CpuSet::new();
            only.set(one);
            Allowed(only).apply();
            let started = start(Some(self.all));
            self.free.unset(one);
            Allowed(self.free).apply();
            started
        }
    }

    /// All processors that there may ever be, if this thread, which may use `free` now, was never told to use only some of these. What it
    /// may use is then up to its process, whose processors can become more: it must not be kept to those of today.
    fn unrestricted(free: CpuSet) -> Option<Allowed> {
        let every = every();
        Allowed(every).apply();
        if sched_getaffinity(None) == Ok(free) {
            return Some(Allowed(every));
        }
        Allowed(free).apply();
        None
    }

    fn every() -> CpuSet {
        let mut every = CpuSet::new();
        (0..CpuSet::MAX_CPU).for_each(|number| every.set(number));
        every
    }

    /// Lets this thread run where it could before, even after a panic.
    struct Restored(Allowed);

    impl Drop for Restored {
        fn drop(&mut self) {
            self.0.apply();
        }
    }

    /// Whether the system ends a process for some calls. Services often may not set where their threads run.
    fn is_filtered() -> bool {
        !matches!(secure_computing_mode(), Ok(SecureComputingMode::Disabled))
    }

    #[cfg(test)]
    mod tests {
        use super::super::Starter;
        use super::*;
        use rustix::thread::sched_getcpu;

        fn allowed() -> CpuSet {
            sched_getaffinity(None).unwrap()
        }

        /// Some of the processors that this thread may use.
        fn some(count: u32) -> Option<CpuSet> {
            let all = allowed();
            let mut some = CpuSet::new();
            let used = (0..CpuSet::MAX_CPU).filter(|number| all.is_set(*number));
            used.take(count as usize)
                .for_each(|number| some.set(number));
            (some.count() == count && !is_filtered()).then_some(some)
        }

        /// While a thread is started, there is only one processor; afterwards this thread may run where it could before, and so may the new one.
        #[test]
        fn a_starter_leaves_its_processor_and_all_may_run_anywhere_after_that() {
            let Some(two) = some(2) else {
                println!("skipped: one processor only, or a filter of system calls");
                return;
            };
            let before = allowed();
            let _restored = Restored(Allowed(before));
            Allowed(two).apply();
            let mut left = 0;
            const TRIES: usize = 100;
            for _ in 0..TRIES {
                let mut starter = Starter::of(2, true);
                let (only, passed_on) = starter.start(|passed_on| (allowed(), passed_on));
                left += usize::from(!only.is_set(sched_getcpu()));
                assert_eq!((only.count(), allowed()), (1, two));
                let passed_on = passed_on.unwrap().0;
                assert!((0..CpuSet::MAX_CPU).all(|i| !two.is_set(i) || passed_on.is_set(i)));
                // One is left, which this thread needs.
                let (all, passed_on) = starter.start(|passed_on| (allowed(), passed_on));
                assert!(all == two && passed_on.is_none());
            }
            // Now and then the system moves it back at once.
            assert!(left > TRIES / 10, "{left}");
            for _ in 0..10 {
                let thread = Starter::of(2, true).spawn(move || assert_eq!(allowed(), two));
                thread.unwrap().join().unwrap();
                std::thread::scope(|scope| {
                    let work = || assert_eq!(allowed(), two);
                    Starter::of(3, true).spawn_scoped(scope, work).unwrap();
                });
            }
            assert_eq!(allowed(), two);
        }

        /// What is restored is no restriction where there was none: a process can get more processors later.
        #[test]
        fn who_may_run_anywhere_is_not_kept_to_the_processors_of_today() {
            let (before, Some(one)) = (allowed(), some(1)) else {
                println!("skipped: a filter of system calls");
                return;
            };
            let _restored = Restored(Allowed(before));
            Allowed(every()).apply();
            let all = allowed();
            assert_eq!(unrestricted(all).unwrap().0, every());
            assert_eq!(allowed(), all);
            if all == one {
                println!("skipped: one processor only");
                return;
            }
            Allowed(one).apply();
            assert!(unrestricted(one).is_none());
            assert_eq!(allowed(), one);
        }

        /// With more processors than threads the system chooses, and with one there is nothing to choose.
        #[test]
        fn where_there_is_a_choice_the_system_makes_it() {
            let _restored = Restored(Allowed(allowed()));
            for count in [1, 2] {
                let Some(some) = some(count) else {
                    println!("skipped: {count} processors, or a filter of system calls");
                    return;
                };
                Allowed(some).apply();
                for threads in 1..4 {
                    let expected = count == 2 && threads >= 2;
                    let starter = Starter::of(threads, true);
                    assert_eq!(starter.0.is_some(), expected, "{threads} on {count}");
                }
                _restored.0.apply();
            }
        }

        /// A panic while a thread is started leaves nothing changed.
        #[test]
        fn a_panic_changes_nothing() {
            let before = allowed();
            let start = || Starter::of(usize::MAX, true).start(|_| panic!("as a test"));
            assert!(std::panic::catch_unwind(start).is_err());
            assert_eq!(allowed(), before);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    /// Nothing is known of processors.
    #[derive(Clone, Copy, Debug)]
    pub(super) enum Allowed {}

    impl Allowed {
        pub(super) fn apply(self) {
            match self {}
        }
    }

    /// Nothing is known of processors.
    #[derive(Debug)]
    pub(super) enum Processors {}

    impl Processors {
        pub(super) fn for_all_of(_threads: usize) -> Option<Self> {
            None
        }

        pub(super) fn leave_one<T>(&mut self, _start: impl FnOnce(Option<Allowed>) -> T) -> T {
            match *self {}
        }
    }
}
