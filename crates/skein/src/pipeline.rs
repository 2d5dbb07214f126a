//! Chunks through threads: read in order, processed in parallel, passed on in order, in constant
//! memory.
//!
//! Every worker handles one chunk at a time. It takes the next chunk from the source (one worker at
//! a time), processes it (all workers at once), waits for its turn, and gives it to the sink. So
//! the three steps of different chunks overlap, a chunk stays in one core's cache, and there are
//! never more buffers than workers.
//!
//! ```
//! use sealstone_skein::pipeline::{self, Sink, Source};
//!
//! struct Numbers(u64);
//! impl Source<u64> for Numbers {
//!     type Error = std::io::Error;
//!     fn next(&mut self, chunk: &mut u64) -> Result<bool, Self::Error> {
//!         (*chunk, self.0) = (self.0, self.0 + 1);
//!         Ok(*chunk < 100)
//!     }
//! }
//! struct Squares(Vec<u64>);
//! impl Sink<u64> for Squares {
//!     type Error = std::io::Error;
//!     fn take(&mut self, chunk: &mut u64) -> Result<bool, Self::Error> {
//!         self.0.push(*chunk);
//!         Ok(true)
//!     }
//! }
//! let mut squares = Squares(Vec::new());
//! let square = |chunk: &mut u64| Ok(*chunk *= *chunk);
//! pipeline::run(3, &mut Numbers(0), &square, &mut squares)?;
//! assert_eq!(squares.0, (0..100).map(|n| n * n).collect::<Vec<_>>());
//! # Ok::<(), std::io::Error>(())
//! ```

use std::io::{self, Read};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use zeroize::Zeroize;

/// Gives chunks in order.
pub trait Source<C>: Send {
    /// Why it can fail.
    type Error: Send;

    /// Fills `chunk` with the next one; `false` at the end.
    ///
    /// # Errors
    /// Ends the run.
    fn next(&mut self, chunk: &mut C) -> Result<bool, Self::Error>;
}

/// Takes chunks in order.
pub trait Sink<C>: Send {
    /// Why it can fail.
    type Error: Send;

    /// Takes the next chunk; `false` if it was the last one that is wanted.
    ///
    /// # Errors
    /// Ends the run.
    fn take(&mut self, chunk: &mut C) -> Result<bool, Self::Error>;
}

/// A buffer of fixed length, of which only as much is allocated as a short input needs. Dropping it
/// wipes what was used.
#[derive(Debug)]
pub struct Buffer {
    bytes: Vec<u8>,
    used: usize,
    len: usize,
}

impl Buffer {
    /// Zeros.
    pub fn new(len: usize) -> Self {
        Self {
            bytes: Vec::new(),
            used: 0,
            len,
        }
    }

    /// The first `len` bytes.
    ///
    /// # Panics
    /// If the buffer is shorter.
    pub fn first(&mut self, len: usize) -> &mut [u8] {
        if len > self.bytes.len() {
            self.grow(len);
        }
        self.used = self.used.max(len);
        &mut self.bytes[..len]
    }

    /// How far a reader is asked to fill it after the first `filled` bytes: as far as there is
    /// memory already, else twice as far.
    fn goal(&self, filled: usize) -> usize {
        match self.bytes.len() {
            allocated if filled < allocated => allocated,
            allocated => LEAST.max(2 * allocated).max(filled + 1),
        }
    }

    fn grow(&mut self, len: usize) {
        assert!(len <= self.len, "{len} bytes of {}", self.len);
        let mut bytes = vec![0; len.next_power_of_two().max(LEAST).min(self.len)];
        bytes[..self.used].copy_from_slice(&self.bytes[..self.used]);
        self.bytes[..self.used].zeroize();
        self.bytes = bytes;
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.bytes[..self.used].zeroize();
    }
}

/// Fills `buffer` from `from` to `to` as far as `read` gives bytes, and returns how far.
///
/// The calls ask for no more than 16 KiB or as much again as came before: a short input does not
/// cost a whole buffer, which would be allocated, filled with zeros and wiped for it.
///
/// # Errors
/// The error of `read`, except [`io::ErrorKind::Interrupted`].
pub fn fill(
    mut read: impl FnMut(&mut [u8]) -> io::Result<usize>,
    buffer: &mut Buffer,
    from: usize,
    to: usize,
) -> io::Result<usize> {
    let mut filled = from;
    while filled < to {
        let end = to.min(buffer.goal(filled));
        match read(&mut buffer.first(end)[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(filled)
}

/// The least that a buffer allocates, unless it is shorter: most files of a person fit.
const LEAST: usize = 1 << 14;

/// Gives all bytes of `reader` to `take`, in order and in pieces, while the next ones are read.
///
/// # Errors
/// The error of `reader`.
pub fn read_ahead(reader: impl Read + Send, take: impl FnMut(&[u8]) + Send) -> io::Result<()> {
    let mut source = Pieces {
        reader,
        ended: false,
    };
    run(2, &mut source, &|_| Ok(()), &mut Consumer(take))
}

/// Bytes on their way from a reader to a function.
struct Piece {
    buffer: Buffer,
    len: usize,
}

impl Piece {
    const LEN: usize = 1 << 17;
}

impl Default for Piece {
    fn default() -> Self {
        Self {
            buffer: Buffer::new(Self::LEN),
            len: 0,
        }
    }
}

struct Pieces<R> {
    reader: R,
    /// A terminal can be read again behind its end.
    ended: bool,
}

impl<R: Read + Send> Source<Piece> for Pieces<R> {
    type Error = io::Error;

    fn next(&mut self, piece: &mut Piece) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        let read = |bytes: &mut [u8]| self.reader.read(bytes);
        piece.len = fill(read, &mut piece.buffer, 0, Piece::LEN)?;
        self.ended = piece.len < Piece::LEN;
        Ok(piece.len > 0)
    }
}

struct Consumer<F>(F);

impl<F: FnMut(&[u8]) + Send> Sink<Piece> for Consumer<F> {
    type Error = io::Error;

    fn take(&mut self, piece: &mut Piece) -> io::Result<bool> {
        (self.0)(piece.buffer.first(piece.len));
        Ok(true)
    }
}

/// Runs every chunk of `source` through `work` into `sink`, with up to `workers` threads: the
/// caller's own, and as many others as the system allows.
///
/// # Errors
/// The first error in the order of the chunks. The sink has then taken all chunks before it and
/// none after it.
///
/// # Panics
/// If one of the three panics, with its message.
pub fn run<C: Default + Send, E: Send>(
    workers: usize,
    source: &mut impl Source<C, Error = E>,
    work: &(impl Fn(&mut C) -> Result<(), E> + Sync),
    sink: &mut impl Sink<C, Error = E>,
) -> Result<(), E> {
    let running = Run {
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
        let spawn = |_| thread::Builder::new().spawn_scoped(scope, || running.work(work));
        // Without more threads, those that there are do the work.
        let others: Vec<_> = (1..workers).map_while(|it| spawn(it).ok()).collect();
        running.work(work);
        // The scope would replace the message of a panic with its own.
        for other in others {
            if let Err(panic) = other.join() {
                resume_unwind(panic);
            }
        }
    });
    let turn = running.sink.into_inner();
    match turn.unwrap_or_else(PoisonError::into_inner).over {
        Some(Over::With(result)) => result,
        Some(Over::ByPanic) | None => panic!("a worker thread stopped early"),
    }
}

/// How a run ended.
enum Over<E> {
    With(Result<(), E>),
    ByPanic,
}

struct Run<'a, S, K, E> {
    /// The number of the next chunk, and the source.
    source: Mutex<(u64, &'a mut S)>,
    sink: Mutex<Turn<'a, K, E>>,
    /// The value of `Turn::next`, or all ones after the end: a hint for workers that spin.
    reached: AtomicU64,
    moved: Condvar,
}

struct Turn<'a, K, E> {
    /// The chunk that the sink takes next.
    next: u64,
    /// `None` during the run.
    over: Option<Over<E>>,
    sink: &'a mut K,
}

impl<'a, S, K, E> Run<'a, S, K, E> {
    fn work<C: Default + Send>(&self, work: &impl Fn(&mut C) -> Result<(), E>)
    where
        S: Source<C, Error = E>,
        K: Sink<C, Error = E>,
    {
        let stop = StopOnPanic(self);
        let mut chunk = C::default();
        loop {
            let (number, filled) = self.fetch(&mut chunk);
            let done = filled.and_then(|more| match more {
                true => work(&mut chunk).map(|()| true),
                false => Ok(false),
            });
            if !self.deliver(number, done, &mut chunk) {
                break;
            }
        }
        std::mem::forget(stop);
    }

    fn fetch<C>(&self, chunk: &mut C) -> (u64, Result<bool, E>)
    where
        S: Source<C, Error = E>,
    {
        let mut source = spin_lock(&self.source);
        let number = source.0;
        source.0 += 1;
        // A source that panicked is not asked again; the run is over anyway.
        let filled = match self.source.is_poisoned() {
            true => Ok(false),
            false => source.1.next(chunk),
        };
        (number, filled)
    }

    /// Waits for the turn of chunk `number`, then passes it on; `false` when the run is over.
    fn deliver<C>(&self, number: u64, done: Result<bool, E>, chunk: &mut C) -> bool
    where
        K: Sink<C, Error = E>,
    {
        spin_until(|| (self.reached.load(Relaxed) >= number).then_some(()));
        let mut turn = spin_lock(&self.sink);
        while turn.next != number && turn.over.is_none() {
            turn = self
                .moved
                .wait(turn)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if turn.over.is_some() {
            return false;
        }
        let taken = done.and_then(|filled| match filled {
            true => turn.sink.take(chunk),
            false => Ok(false),
        });
        turn.over = match taken {
            Ok(true) => None,
            Ok(false) => Some(Over::With(Ok(()))),
            Err(e) => Some(Over::With(Err(e))),
        };
        turn.next += 1;
        let is_over = turn.over.is_some();
        let reached = if is_over { u64::MAX } else { turn.next };
        self.reached.store(reached, Relaxed);
        self.moved.notify_all();
        !is_over
    }

    fn lock_turn(&self) -> MutexGuard<'_, Turn<'a, K, E>> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long a worker spins before it sleeps. Reading or writing a chunk mostly takes less. A thread
/// that sleeps may get its processor back late, on a virtual machine by more than a chunk takes.
const SPIN_TIME: Duration = Duration::from_millis(1);

/// Asks again and again, for a while.
fn spin_until<T>(mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return Some(answer);
        }
        if start.elapsed() >= SPIN_TIME {
            return None;
        }
        // Other threads of this processor go first.
        thread::yield_now();
    }
}

/// Locks, spinning at first.
fn spin_lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    let guard = spin_until(|| match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    });
    guard.unwrap_or_else(|| mutex.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Ends the run when a worker panics: the panic then reaches the caller instead of a deadlock.
struct StopOnPanic<'l, 'a, S, K, E>(&'l Run<'a, S, K, E>);

impl<S, K, E> Drop for StopOnPanic<'_, '_, S, K, E> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.lock_turn().over = Some(Over::ByPanic);
            self.0.reached.store(u64::MAX, Relaxed);
            self.0.moved.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    /// Longer than a worker spins.
    fn spin_past_work() {
        thread::sleep(3 * SPIN_TIME);
    }

    struct Count {
        next: u64,
        end: u64,
        fail_at: Option<u64>,
    }

    impl Source<u64> for Count {
        type Error = &'static str;

        fn next(&mut self, chunk: &mut u64) -> Result<bool, &'static str> {
            if self.fail_at == Some(self.next) {
                return Err("source");
            }
            if self.next % 40 == 20 {
                spin_past_work();
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
        last: Option<u64>,
    }

    impl Sink<u64> for Collect {
        type Error = &'static str;

        fn take(&mut self, chunk: &mut u64) -> Result<bool, &'static str> {
            if self.fail_at == Some(*chunk) {
                return Err("sink");
            }
            if *chunk % 40 == 10 {
                spin_past_work();
            }
            self.taken.push(*chunk);
            Ok(Some(*chunk) != self.last)
        }
    }

    fn collect(
        workers: usize,
        source_fails: Option<u64>,
        work_fails: Option<u64>,
        sink_fails: Option<u64>,
    ) -> (Result<(), &'static str>, Vec<u64>) {
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
                30 => spin_past_work(),
                _ => {}
            }
            if Some(*chunk) == work_fails {
                Err("work")
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
    fn nothing_is_taken_after_the_last_chunk_that_is_wanted() {
        for workers in [1, 2, 5] {
            let mut source = Count {
                next: 0,
                end: 100,
                fail_at: None,
            };
            let mut sink = Collect {
                last: Some(33),
                ..Collect::default()
            };
            run(workers, &mut source, &|_| Ok(()), &mut sink).unwrap();
            assert_eq!(sink.taken, (0..=33).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_buffer_is_filled_from_any_reader_and_no_longer_than_needed() {
        let lengths = [0, 1, LEAST - 1, LEAST, LEAST + 1, 3 * LEAST, 8 * LEAST];
        for (len, piece) in lengths.iter().flat_map(|len| [(*len, 1000), (*len, LEAST)]) {
            let content: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
            let (mut rest, mut asked) = (&content[..], 0);
            let read = |bytes: &mut [u8]| {
                assert!(!bytes.is_empty());
                asked = asked.max(bytes.len());
                let step = bytes.len().min(piece);
                rest.read(&mut bytes[..step])
            };
            let mut buffer = Buffer::new(8 * LEAST);
            assert_eq!(fill(read, &mut buffer, 0, 8 * LEAST).unwrap(), len);
            assert_eq!(buffer.first(len), content);
            let bound = LEAST.max(2 * len).min(8 * LEAST);
            assert!(buffer.bytes.len() <= bound && asked <= bound, "{len}");
        }
    }

    #[test]
    fn everything_is_read_ahead_in_order() {
        for len in [0, 1, Piece::LEN - 1, Piece::LEN, 3 * Piece::LEN + 5] {
            let message: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
            let mut taken = Vec::new();
            read_ahead(&message[..], |bytes| taken.extend_from_slice(bytes)).unwrap();
            assert!(taken == message, "{len}");
        }
    }

    #[test]
    fn a_panic_of_any_thread_reaches_the_caller_with_its_message() {
        let caller = thread::current().id();
        for (on_caller, others_sleep) in
            [(true, false), (true, true), (false, false), (false, true)]
        {
            let begun = AtomicBool::new(false);
            let work = |chunk: &mut u64| {
                if *chunk < 50 {
                    return Ok(());
                }
                if (thread::current().id() == caller) == on_caller {
                    begun.store(true, Relaxed);
                    if others_sleep {
                        spin_past_work();
                    }
                    panic!("planted");
                }
                // The thread that panics gets a chunk.
                while !begun.load(Relaxed) {
                    thread::yield_now();
                }
                Ok(())
            };
            let caught = std::panic::catch_unwind(|| {
                let mut source = Count {
                    next: 0,
                    end: 100,
                    fail_at: None,
                };
                run(3, &mut source, &work, &mut Collect::default())
            });
            let panic = caught.expect_err("it panics");
            assert_eq!(panic.downcast_ref(), Some(&"planted"), "{on_caller}");
        }
    }
}
