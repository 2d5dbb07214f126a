//! Progress bars for work that takes longer than half a second.
//!
//! ```
//! use sealstone_terminal::progress::{Counter, Progress};
//! use std::io::Read;
//!
//! let counter = Counter::default();
//! let progress = Progress::bytes(false, "reading", Some(3), &counter);
//! counter.count(&b"abc"[..]).read_to_end(&mut Vec::new())?;
//! drop(progress);
//! assert_eq!(counter.bytes(), 3);
//! # Ok::<(), std::io::Error>(())
//! ```

use std::fmt;
use std::io::{self, Read, stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{BinaryBytes, HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use rustix::termios::tcgetwinsize;
use sealstone::KdfProgress;

use crate::question;

/// Shows the progress of work until it is dropped.
pub struct Progress {
    shown: Option<(mpsc::Sender<()>, JoinHandle<()>)>,
    counter: Counter,
}

/// How many bytes have been read, and the progress of the key derivation before that.
#[derive(Clone, Default)]
pub struct Counter(Arc<Counts>);

#[derive(Default)]
struct Counts {
    read: AtomicU64,
    derived: AtomicU64,
    to_derive: AtomicU64,
}

/// A reader that counts.
pub struct Counted<R> {
    inner: R,
    counter: Counter,
}

/// Work that ends within this time shows no bar.
const DELAY: Duration = Duration::from_millis(500);
const TICK: Duration = Duration::from_millis(100);

const BAR: &str =
    "{prefix} {wide_bar} {percent:>3} %  {binary_bytes} of {binary_total_bytes}  {rate}{left}";
/// For terminals that are too narrow for [`BAR`].
const NARROW: &str = "{prefix} {percent:>3} %  {rate}{left}";
/// For terminals that are too narrow for [`NARROW`].
const NARROWEST: &str = "{prefix} {percent:>3} %  {left}";
/// The least columns for [`BAR`] and for [`NARROW`].
const BAR_COLUMNS: u16 = 78;
const NARROW_COLUMNS: u16 = 44;

const SPINNER: &str = "{prefix} {spinner} {binary_bytes}  {rate}{elapsed}";

impl Progress {
    /// Progress of reading bytes (`total`, if known), and of a key derivation before them.
    pub fn bytes(
        is_shown: bool,
        verb: &'static str,
        total: Option<u64>,
        counter: &Counter,
    ) -> Self {
        counter.0.read.store(0, Ordering::Relaxed);
        Self::start(is_shown, verb, total, counter.clone())
    }

    /// Progress of a key derivation.
    pub fn derivation(is_shown: bool) -> Self {
        Self::start(is_shown, "", None, Counter::default())
    }

    /// Progress of hashing a password, which `counter` gets.
    pub fn hash(is_shown: bool, counter: &Counter) -> Self {
        Self::start(is_shown, "", None, counter.clone())
    }

    fn start(is_shown: bool, verb: &'static str, total: Option<u64>, counter: Counter) -> Self {
        let reported = counter.clone();
        Self {
            counter: reported,
            shown: is_shown.then_some(()).and_then(|()| {
                let (stop, stopped) = mpsc::channel();
                let show = move || show(verb, total, &counter, &stopped);
                // Without a thread there is no bar.
                Some((stop, thread::Builder::new().spawn(show).ok()?))
            }),
        }
    }
}

impl Progress {
    /// Reports a key derivation, as the library asks for it.
    pub fn report(&self) -> impl Fn(KdfProgress) + Sync + '_ {
        |progress| self.counter.derive(progress)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.shown.take() {
            drop(stop);
            // A bar that failed is not reported.
            let _ = thread.join();
        }
    }
}

impl Counter {
    /// Counts what is read from `inner`.
    pub fn count<R>(&self, inner: R) -> Counted<R> {
        Counted {
            inner,
            counter: self.clone(),
        }
    }

    /// Counts `n` bytes more.
    pub fn add(&self, n: u64) {
        self.0.read.fetch_add(n, Ordering::Relaxed);
    }

    /// Notes the progress of a key derivation.
    pub fn derive(&self, progress: KdfProgress) {
        self.0.derived.store(progress.done, Ordering::Relaxed);
        self.0.to_derive.store(progress.total, Ordering::Relaxed);
    }

    /// KiB done and to be done of a key derivation, while there is one.
    fn derivation(&self) -> Option<(u64, u64)> {
        let [done, total] =
            [&self.0.derived, &self.0.to_derive].map(|count| count.load(Ordering::Relaxed));
        (done < total).then_some((done, total))
    }

    /// How many bytes have been read.
    pub fn bytes(&self) -> u64 {
        self.0.read.load(Ordering::Relaxed)
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(bytes)?;
        self.counter.add(n as u64);
        Ok(n)
    }
}

fn show(verb: &'static str, total: Option<u64>, counter: &Counter, stopped: &Receiver<()>) {
    let still_going = |wait| stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout);
    let mut begun = Instant::now();
    if !still_going(DELAY) {
        return;
    }
    let mut bar: Option<Bar> = None;
    while still_going(TICK) {
        // A bar would overwrite the question.
        if question::is_anothers() {
            continue;
        }
        let (verb, done, total) = match counter.derivation() {
            Some((done, total)) => ("deriving key", done << 10, Some(total << 10)),
            None if verb.is_empty() => continue,
            None => (verb, counter.bytes(), total),
        };
        match &bar {
            Some(bar) if bar.verb == verb && bar.total == total => bar.shown.set_position(done),
            before => {
                // The second kind of work begins now.
                begun = if before.is_some() {
                    Instant::now()
                } else {
                    begun
                };
                bar = Some(Bar::new(verb, total, done, begun));
            }
        }
    }
}

/// The bar of one kind of work.
struct Bar {
    verb: &'static str,
    total: Option<u64>,
    shown: ProgressBar,
}

impl Bar {
    fn new(verb: &'static str, total: Option<u64>, done: u64, begun: Instant) -> Self {
        let columns = tcgetwinsize(stderr()).map_or(0, |size| size.ws_col);
        let template = total.map_or(SPINNER, |_| template(columns));
        let style = ProgressStyle::with_template(template).expect("the templates are constants");
        let shown = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
        shown.set_style(
            style
                .progress_chars("━╸─")
                .with_key("rate", write_rate)
                .with_key("left", write_left),
        );
        shown.set_prefix(verb);
        let shown = shown.with_elapsed(begun.elapsed()).with_position(done);
        shown.tick();
        Self { verb, total, shown }
    }
}

/// The template for this number of columns. A terminal that reports 0 usually has 80.
fn template(columns: u16) -> &'static str {
    match columns {
        1..NARROW_COLUMNS => NARROWEST,
        NARROW_COLUMNS..BAR_COLUMNS => NARROW,
        _ => BAR,
    }
}

/// Units a second since the work began; `None` while that is too short a time.
fn rate(done: u64, elapsed: Duration) -> Option<f64> {
    (done > 0 && elapsed >= DELAY).then(|| done as f64 / elapsed.as_secs_f64())
}

fn write_rate(state: &ProgressState, out: &mut dyn fmt::Write) {
    if let Some(rate) = rate(state.pos(), state.elapsed()) {
        // A bar that cannot be written is not reported.
        let _ = write!(out, "{}/s  ", BinaryBytes(rate as u64));
    }
}

fn write_left(state: &ProgressState, out: &mut dyn fmt::Write) {
    if let (Some(rate), Some(total)) = (rate(state.pos(), state.elapsed()), state.len()) {
        let seconds = total.saturating_sub(state.pos()) as f64 / rate;
        let left = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        let _ = write!(out, "{:#} left", HumanDuration(left));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.shown.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_what_fits_into_it() {
        for (columns, fits) in [(0, BAR), (1, NARROWEST), (43, NARROWEST), (44, NARROW)] {
            assert_eq!(template(columns), fits, "{columns}");
        }
        for (columns, fits) in [(77, NARROW), (78, BAR), (80, BAR), (u16::MAX, BAR)] {
            assert_eq!(template(columns), fits, "{columns}");
        }
    }

    #[test]
    fn a_rate_is_that_since_the_work_began_once_there_is_enough_of_it() {
        assert_eq!(rate(1 << 30, Duration::from_millis(1)), None);
        assert_eq!(rate(0, Duration::from_secs(9)), None);
        assert_eq!(
            rate(1 << 30, Duration::from_secs(2)),
            Some(f64::from(1 << 29))
        );
    }
}
