//! The tree hash of a file: pieces are read and hashed by all processors, and their values collected in order.
//!
//! Every worker reads a piece and hashes it while it is in that core's cache. Regular files are read at many places at once;
//! from anything else, one worker at a time reads. Memory is one piece for each worker.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use sealstone_skein::Output;
use sealstone_skein::tree::{PIECE, Root, Start, Subtree};

use crate::io::input::Input;
use crate::progress::Counter;

/// Hashes what is left of `input`.
pub(super) fn hash(input: &Input, start: &Start, counter: &Counter) -> io::Result<Output<8>> {
    let source = Source::new(input);
    let mut piece = Piece::default();
    source.next(&mut piece, counter)?;
    if piece.is_last() {
        let mut root = start.root();
        root.push(start.subtree(0, piece.bytes()));
        return Ok(root.output());
    }
    let line = Line {
        source,
        start,
        counter,
        collected: Mutex::new(Collected::new(start)),
        moved: Condvar::new(),
    };
    line.deliver(&piece);
    thread::scope(|scope| {
        for _ in 1..workers() {
            let worker = thread::Builder::new();
            // If the system has no more threads for us, those that there are do the work.
            if worker
                .spawn_scoped(scope, || line.work(Piece::default()))
                .is_err()
            {
                break;
            }
        }
        line.work(piece);
    });
    let collected = line.collected.into_inner();
    collected.unwrap_or_else(PoisonError::into_inner).finish()
}

/// One for each processor; what reads faster than so many hash is not known.
fn workers() -> usize {
    thread::available_parallelism()
        .map_or(1, usize::from)
        .min(64)
}

/// A piece, in a buffer that is used again.
#[derive(Default)]
struct Piece {
    index: u64,
    buffer: Vec<u8>,
    len: usize,
}

impl Piece {
    /// Reads to the end of the piece or of the input. A short input does not cost a whole buffer.
    fn fill(
        &mut self,
        mut read: impl FnMut(usize, &mut [u8]) -> io::Result<usize>,
    ) -> io::Result<()> {
        const FIRST: usize = 1 << 16;
        self.len = 0;
        loop {
            if self.len == self.buffer.len() {
                if self.len == PIECE {
                    return Ok(());
                }
                self.buffer.resize((4 * self.len).clamp(FIRST, PIECE), 0);
            }
            match read(self.len, &mut self.buffer[self.len..]) {
                Ok(0) => return Ok(()),
                Ok(n) => self.len += n,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }

    fn bytes(&self) -> &[u8] {
        &self.buffer[..self.len]
    }

    /// Whether the input ends in or before it.
    fn is_last(&self) -> bool {
        self.len < PIECE
    }
}

/// Where pieces come from.
enum Source<'a> {
    /// A regular file from a position on, and the number of its next piece.
    File(&'a Input, u64, AtomicU64),
    /// Anything else, and the number of the next piece; none after the end. (A terminal can be read again behind its end.)
    Stream(Mutex<(&'a Input, Option<u64>)>),
}

impl<'a> Source<'a> {
    fn new(input: &'a Input) -> Self {
        match input.regular() {
            Some(_) => Self::File(input, input.position(), AtomicU64::new(0)),
            None => Self::Stream(Mutex::new((input, Some(0)))),
        }
    }

    /// Reads the next piece; at the end it is short or empty.
    fn next(&self, piece: &mut Piece, counter: &Counter) -> io::Result<()> {
        match self {
            Self::File(input, position, next) => {
                piece.index = next.fetch_add(1, Ordering::Relaxed);
                let at = position + piece.index * PIECE as u64;
                piece.fill(|from, bytes| input.read_at(bytes, at + from as u64))?;
            }
            Self::Stream(stream) => {
                let mut stream = lock(stream);
                let Some(index) = stream.1 else {
                    // Behind all that there are.
                    (piece.index, piece.len) = (u64::MAX, 0);
                    return Ok(());
                };
                piece.index = index;
                piece.fill(|_, bytes| stream.0.read(bytes))?;
                stream.1 = (!piece.is_last()).then_some(index + 1);
            }
        }
        counter.add(piece.len as u64);
        Ok(())
    }
}

struct Line<'a> {
    source: Source<'a>,
    start: &'a Start,
    counter: &'a Counter,
    collected: Mutex<Collected>,
    moved: Condvar,
}

impl Line<'_> {
    fn work(&self, mut piece: Piece) {
        let stop = StopOnPanic(self);
        loop {
            match self.source.next(&mut piece, self.counter) {
                Ok(()) if self.deliver(&piece) => {}
                Ok(()) => break,
                Err(error) => {
                    self.fail(error);
                    break;
                }
            }
        }
        std::mem::forget(stop);
    }

    /// Hashes a piece and hands its value in; `false` if no piece is wanted after it.
    fn deliver(&self, piece: &Piece) -> bool {
        let subtree = (piece.len > 0).then(|| self.start.subtree(piece.index, piece.bytes()));
        let mut collected = lock(&self.collected);
        while collected.is_far_behind(piece.index) {
            collected = self
                .moved
                .wait(collected)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if piece.is_last() {
            let end = piece.index + u64::from(piece.len > 0);
            collected.end = collected.end.min(end);
        }
        if let Some(subtree) = subtree {
            collected.take(piece.index, subtree);
        }
        self.moved.notify_all();
        !piece.is_last() && piece.index < collected.end
    }

    fn fail(&self, error: io::Error) {
        let mut collected = lock(&self.collected);
        collected.end = 0;
        collected.error = Some(error);
        self.moved.notify_all();
    }
}

/// The values of pieces, on their way to the root in order.
struct Collected {
    root: Root,
    /// Pieces that the root has taken.
    taken: u64,
    /// No piece from here on counts: a file may change while it is read.
    end: u64,
    /// Values that came before their turn.
    early: BTreeMap<u64, Subtree>,
    error: Option<io::Error>,
}

impl Collected {
    /// So many pieces may be ahead of a slow one, so that memory has a limit.
    const WINDOW: u64 = 256;

    fn new(start: &Start) -> Self {
        Self {
            root: start.root(),
            taken: 0,
            end: u64::MAX,
            early: BTreeMap::new(),
            error: None,
        }
    }

    /// Whether piece `index` has to wait.
    fn is_far_behind(&self, index: u64) -> bool {
        index < self.end && index >= self.taken + Self::WINDOW
    }

    fn take(&mut self, index: u64, subtree: Subtree) {
        self.early.insert(index, subtree);
        while self.taken < self.end
            && let Some(next) = self.early.remove(&self.taken)
        {
            self.root.push(next);
            self.taken += 1;
        }
    }

    fn finish(self) -> io::Result<Output<8>> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.root.output()),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets the other workers go when one panics, so that the panic reaches the caller instead of a deadlock.
struct StopOnPanic<'l, 'a>(&'l Line<'a>);

impl Drop for StopOnPanic<'_, '_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.fail(ErrorKind::Other.into());
        }
    }
}
