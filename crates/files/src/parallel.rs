//! Work on many files at once, with results in order.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc;
use std::thread;

/// More threads would only wait for the disk, and each holds the buffer of one chunk.
const MAX_THREADS: usize = 16;

/// Two files for each processor: one waits for the disk while the other is worked on.
pub fn worker_threads() -> usize {
    let processors = thread::available_parallelism().map_or(1, |n| n.get());
    (2 * processors).min(MAX_THREADS)
}

/// Runs `work` on the items, on as many threads as `threads` says. Calls `report` with the
/// results in the order of the items: with each one as soon as all before it are reported.
///
/// No item is begun after a result that `ends` the run, so that items may be left out. An error of
/// `report` ends the run, too.
///
/// ```
/// use sealstone_files::in_order;
///
/// let mut lengths = Vec::new();
/// let never = |_: &usize| false;
/// in_order(&["one", "three", "four"], 2, |word| word.len(), never, |length| {
///     lengths.push(length);
///     Ok::<(), ()>(())
/// })?;
/// assert_eq!(lengths, [3, 5, 4]);
/// # Ok::<(), ()>(())
/// ```
///
/// # Errors
/// The first error of `report`.
///
/// # Panics
/// If `work`, `ends` or `report` panics, with its message.
pub fn in_order<T: Sync, R: Send, E>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
    ends: impl Fn(&R) -> bool + Sync,
    report: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let ended = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    let step = || {
        if ended.load(Relaxed) {
            return None;
        }
        let index = next.fetch_add(1, Relaxed);
        let done = work(items.get(index)?);
        if ends(&done) {
            ended.store(true, Relaxed);
        }
        Some((index, done))
    };
    thread::scope(|scope| {
        let spawn = |_| {
            let sender = sender.clone();
            let step = &step;
            // The channel closes if nobody reads the results any more.
            scope.spawn(move || while step().is_some_and(|done| sender.send(done).is_ok()) {})
        };
        let workers: Vec<_> = (0..threads.min(items.len())).map(spawn).collect();
        drop(sender);
        let reported = sorted(receiver, report);
        ended.store(reported.is_err(), Relaxed);
        // The scope would replace the message of a panic with its own.
        for worker in workers {
            if let Err(panic) = worker.join() {
                resume_unwind(panic);
            }
        }
        reported
    })
}

/// Reports in order, as far as everything before has been reported; at the end also what comes
/// after a gap.
fn sorted<R, E>(
    results: impl IntoIterator<Item = (usize, R)>,
    mut report: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    for (index, result) in results {
        waiting.insert(index, result);
        while let Some(result) = waiting.remove(&next) {
            next += 1;
            report(result)?;
        }
    }
    waiting.into_values().try_for_each(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;
    use std::time::Duration;

    #[test]
    fn results_come_in_order_whatever_is_done_first() {
        let items: Vec<u64> = (0..20).collect();
        let mut reported = Vec::new();
        let work = |item: &u64| {
            thread::sleep(Duration::from_millis(20 - item));
            *item
        };
        let report = |item| {
            reported.push(item);
            Ok::<(), Infallible>(())
        };
        let Ok(()) = in_order(&items, 4, work, |_| false, report);
        assert_eq!(reported, items);
        let shuffled = [(2, 'c'), (0, 'a'), (4, 'e'), (1, 'b')];
        let mut reported = String::new();
        let Ok(()) = sorted(shuffled, |c| {
            reported.push(c);
            Ok::<(), Infallible>(())
        });
        assert_eq!(reported, "abce");
    }

    #[test]
    fn nothing_begins_after_the_end() {
        let begun = AtomicUsize::new(0);
        let work = |item: &u32| {
            begun.fetch_add(1, Relaxed);
            *item
        };
        let items: Vec<u32> = (0..100).collect();
        let Ok(()) = in_order(
            &items,
            1,
            work,
            |item| *item == 2,
            |_| Ok::<(), Infallible>(()),
        );
        assert_eq!(begun.load(Relaxed), 3);
        let mut reports = 0;
        let failed = in_order(
            &items,
            2,
            |item| *item,
            |_| false,
            |item| {
                reports += 1;
                if item == 5 {
                    Err("the disk is full")
                } else {
                    Ok(())
                }
            },
        );
        assert_eq!((failed, reports), (Err("the disk is full"), 6));
    }

    #[test]
    fn a_panic_of_the_work_keeps_its_message() {
        let work = |item: &u32| assert_ne!(*item, 5, "planted");
        let items: Vec<u32> = (0..20).collect();
        let caught =
            std::panic::catch_unwind(|| in_order(&items, 2, work, |()| false, Ok::<(), ()>));
        let panic = caught.expect_err("it panics");
        let message = panic.downcast_ref::<String>().expect("a message");
        assert!(message.contains("planted"), "{message}");
    }
}
