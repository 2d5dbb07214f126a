//! Chunks through threads: read in order, processed in parallel, written in order, in constant
//! memory.
//!
//! Each worker does all three for one chunk at a time: it takes the next chunk from the source (one
//! worker at a time), works on it (all at once), waits for its turn, and gives it to the sink.
//! Reading, cryptography and writing of different chunks overlap, a chunk stays in one core's
//! cache, and there are never more buffers than workers.

use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use zeroize::Zeroize;

use crate::{Error, Result};

/// Gives chunks in order.
pub(crate) trait Source<C>: Send {
    /// Fills `chunk` with the next one; `false` at the end.
    fn next(&mut self, chunk: &mut C) -> Result<bool>;
}

/// Takes chunks in order.
pub(crate) trait Sink<C>: Send {
    fn take(&mut self, chunk: &mut C) -> Result<()>;
}

/// A buffer of fixed length. Its used part is wiped on drop.
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    used: usize,
}

impl Buffer {
    pub(crate) fn new(len: usize) -> Self {
        Self {
            bytes: vec![0; len],
            used: 0,
        }
    }

    /// The first `len` bytes.
    pub(crate) fn first(&mut self, len: usize) -> &mut [u8] {
        self.used = self.used.max(len);
        &mut self.bytes[..len]
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.bytes[..self.used].zeroize();
    }
}

/// Fills `buffer` from `from` to `to` as far as the reader goes. Returns the end.
///
/// The first read asks for at most [`READ_STEP`], so that a short input touches only a part of the
/// buffer, which must be wiped later.
pub(crate) fn read_up_to(
    reader: &mut impl Read,
    buffer: &mut Buffer,
    from: usize,
    to: usize,
) -> Result<usize> {
    let mut filled = from;
    let mut step = READ_STEP;
    while filled < to {
        let end = to.min(filled.saturating_add(step));
        match reader.read(&mut buffer.first(end)[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e.into()),
        }
        step = usize::MAX;
    }
    Ok(filled)
}

const READ_STEP: usize = 1 << 16;

/// Runs every chunk of `source` through `work` into `sink` with `workers` threads. One of them is
/// the caller's own.
///
/// The error is that of the first chunk, in order, that had one. The sink has then taken all chunks
/// before it and none after it.
pub(crate) fn run<C: Default + Send>(
    workers: usize,
    source: &mut impl Source<C>,
    work: &(impl Fn(&mut C) -> Result<()> + Sync),
    sink: &mut impl Sink<C>,
) -> Result<()> {
    let line = Line {
        source: Mutex::new((0, source)),
        sink: Mutex::new(Turn {
            next: 0,
            over: None,
            sink,
        }),
        reached: AtomicU64::new(0),
        moved: Condvar::new(),
    };
    thread::scope(|scope| {
        for _ in 1..workers {
            // If the system gives no more threads, the existing ones do the work.
            let worker = thread::Builder::new().spawn_scoped(scope, || line.work(work));
            if worker.is_err() {
                break;
            }
        }
        line.work(work);
    });
    let turn = line
        .sink
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    turn.over.unwrap_or(Err(WORKER_DIED))
}

struct Line<'a, S, K> {
    /// The number of the next chunk, and where it comes from.
    source: Mutex<(u64, &'a mut S)>,
    sink: Mutex<Turn<'a, K>>,
    /// A copy of `Turn::next`, or all ones when the run is over, for workers that spin.
    reached: AtomicU64,
    moved: Condvar,
}

struct Turn<'a, K> {
    /// The chunk that the sink takes next.
    next: u64,
    /// How the run ended, once it has.
    over: Option<Result<()>>,
    sink: &'a mut K,
}

impl<'a, S, K> Line<'a, S, K> {
    fn work<C: Default + Send>(&self, work: &impl Fn(&mut C) -> Result<()>)
    where
        S: Source<C>,
        K: Sink<C>,
    {
        let stop = StopOnPanic(self);
        let mut chunk = C::default();
        loop {
            let (number, filled) = self.fetch(&mut chunk);
            let done = filled.and_then(|more| {
                if more {
                    work(&mut chunk).map(|()| true)
                } else {
                    Ok(false)
                }
            });
            if !self.deliver(number, done, &mut chunk) {
                break;
            }
        }
        std::mem::forget(stop);
    }

    fn fetch<C>(&self, chunk: &mut C) -> (u64, Result<bool>)
    where
        S: Source<C>,
    {
        let mut source = lock_awake(&self.source);
        let number = source.0;
        source.0 += 1;
        // After a panic in the source, the run is over: the source is not asked again.
        let sound = !self.source.is_poisoned();
        (
            number,
            if sound {
                source.1.next(chunk)
            } else {
                Ok(false)
            },
        )
    }

    /// Waits for the turn of chunk `number`, then passes it on; `false` when the run is over.
    fn deliver<C>(&self, number: u64, done: Result<bool>, chunk: &mut C) -> bool
    where
        K: Sink<C>,
    {
        awake_until(|| (self.reached.load(Relaxed) >= number).then_some(()));
        let mut turn = lock_awake(&self.sink);
        while turn.next != number && turn.over.is_none() {
            turn = self
                .moved
                .wait(turn)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if turn.over.is_some() {
            return false;
        }
        turn.over = match done {
            Ok(true) => turn.sink.take(chunk).err().map(Err),
            Ok(false) => Some(Ok(())),
            Err(e) => Some(Err(e)),
        };
        turn.next += 1;
        let reached = if turn.over.is_some() {
            u64::MAX
        } else {
            turn.next
        };
        self.reached.store(reached, Relaxed);
        self.moved.notify_all();
        turn.over.is_none()
    }

    fn lock_turn(&self) -> MutexGuard<'_, Turn<'a, K>> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long a worker spins before it sleeps. Reading or writing a chunk mostly takes less. A thread
/// that sleeps may get a processor back late: on a virtual machine, by more than a chunk takes
/// altogether.
const AWAKE: Duration = Duration::from_millis(1);

/// Spins until `ask` answers, for [`AWAKE`] at most.
fn awake_until<T>(mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return Some(answer);
        }
        if start.elapsed() >= AWAKE {
            return None;
        }
        // Other threads on this processor run first.
        thread::yield_now();
    }
}

/// Locks after spinning for a while.
fn lock_awake<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    let guard = awake_until(|| match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    });
    guard.unwrap_or_else(|| mutex.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Releases the other workers when one panics: the panic then reaches the caller.
struct StopOnPanic<'l, 'a, S, K>(&'l Line<'a, S, K>);

impl<S, K> Drop for StopOnPanic<'_, '_, S, K> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.lock_turn().over = Some(Err(WORKER_DIED));
            self.0.reached.store(u64::MAX, Relaxed);
            self.0.moved.notify_all();
        }
    }
}

const WORKER_DIED: Error = Error::Invalid("a worker thread stopped early");

#[cfg(test)]
mod tests {
    use super::*;

    /// Longer than a worker spins.
    fn linger() {
        thread::sleep(3 * AWAKE);
    }

    struct Count {
        next: u64,
        end: u64,
        fail_at: Option<u64>,
    }

    impl Source<u64> for Count {
        fn next(&mut self, chunk: &mut u64) -> Result<bool> {
            if self.fail_at == Some(self.next) {
                return Err(Error::Invalid("source"));
            }
            if self.next % 40 == 20 {
                linger();
            }
            *chunk = self.next;
            self.next += 1;
            Ok(*chunk < self.end)
        }
    }

    #[derive(Default)]
    struct Collect {
        taken: Vec<u64>,
        fail_at: Option<u64>,
    }

    impl Sink<u64> for Collect {
        fn take(&mut self, chunk: &mut u64) -> Result<()> {
            if self.fail_at == Some(*chunk) {
                return Err(Error::Invalid("sink"));
            }
            if *chunk % 40 == 10 {
                linger();
            }
            self.taken.push(*chunk);
            Ok(())
        }
    }

    fn collect(
        workers: usize,
        source_fails: Option<u64>,
        work_fails: Option<u64>,
        sink_fails: Option<u64>,
    ) -> (Result<()>, Vec<u64>) {
        let mut source = Count {
            next: 0,
            end: 100,
            fail_at: source_fails,
        };
        let mut sink = Collect {
            fail_at: sink_fails,
            ..Collect::default()
        };
        let work = |chunk: &mut u64| {
            match *chunk % 40 {
                7 | 21 => thread::yield_now(),
                30 => linger(),
                _ => {}
            }
            if Some(*chunk) == work_fails {
                Err(Error::Invalid("work"))
            } else {
                Ok(())
            }
        };
        let result = run(workers, &mut source, &work, &mut sink);
        (result, sink.taken)
    }

    #[test]
    fn order_is_kept_for_any_number_of_workers() {
        for workers in [1, 2, 3, 8] {
            let (result, taken) = collect(workers, None, None, None);
            result.unwrap();
            assert_eq!(taken, (0..100).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_first_error_in_order_wins_and_everything_before_it_is_taken() {
        for workers in [1, 2, 5] {
            for (source, work, sink, first) in [
                (Some(40), None, None, 40),
                (None, Some(41), None, 41),
                (None, None, Some(42), 42),
                (Some(50), Some(30), Some(60), 30),
            ] {
                let (result, taken) = collect(workers, source, work, sink);
                assert!(result.is_err());
                assert_eq!(taken, (0..first).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        for others_sleep in [false, true] {
            let panics = std::panic::catch_unwind(|| {
                let mut source = Count {
                    next: 0,
                    end: 100,
                    fail_at: None,
                };
                let work = |chunk: &mut u64| {
                    if *chunk == 50 {
                        if others_sleep {
                            linger();
                        }
                        panic!("planted")
                    } else {
                        Ok(())
                    }
                };
                run(3, &mut source, &work, &mut Collect::default())
            });
            assert!(panics.is_err());
        }
    }
}
