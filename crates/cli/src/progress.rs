//! Progress on the terminal, for work that takes long enough to ask for it.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use sealstone::KdfParams;

use crate::args::MemorySize;
use crate::context::Context;

/// Shows how far the work is until it is dropped.
pub(crate) struct Progress(Option<(mpsc::Sender<()>, JoinHandle<()>)>);

/// How many bytes have been read.
#[derive(Clone, Default)]
pub(crate) struct Counter(Arc<AtomicU64>);

/// A reader that counts.
pub(crate) struct Counted<R> {
    inner: R,
    counter: Counter,
}

/// Shorter work shows nothing.
const PATIENCE: Duration = Duration::from_millis(500);
const TICK: Duration = Duration::from_millis(100);

impl Progress {
    /// Of bytes, `total` if it is known.
    pub(crate) fn bytes(
        context: &Context,
        verb: &str,
        total: Option<u64>,
        counter: &Counter,
    ) -> Self {
        let template = match total {
            Some(_) => {
                "{prefix} {bar:24} {percent:>3} %  {binary_bytes} of {binary_total_bytes}  {binary_bytes_per_sec}  {eta} left"
            }
            None => "{prefix} {spinner} {binary_bytes}  {binary_bytes_per_sec}  {elapsed}",
        };
        counter.0.store(0, Ordering::Relaxed);
        Self::start(context, template, verb.to_owned(), total, counter.clone())
    }

    /// Of a key derivation, which cannot say how far it is.
    pub(crate) fn derivation(context: &Context, params: &KdfParams) -> Self {
        let passes = if params.passes() == 1 {
            "pass"
        } else {
            "passes"
        };
        let text = format!(
            "deriving key ({}, {} {passes})…",
            MemorySize(params.memory_kib().into()).spaced(),
            params.passes()
        );
        Self::start(
            context,
            "{prefix} {spinner} {elapsed}",
            text,
            None,
            Counter::default(),
        )
    }

    fn start(
        context: &Context,
        template: &'static str,
        prefix: String,
        total: Option<u64>,
        counter: Counter,
    ) -> Self {
        Self(context.progress.then(|| {
            let (stop, stopped) = mpsc::channel();
            (
                stop,
                thread::spawn(move || show(template, prefix, total, &counter, &stopped)),
            )
        }))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.0.take() {
            drop(stop);
            // A bar that failed is not worth a word.
            let _ = thread.join();
        }
    }
}

impl Counter {
    /// Counts what is read from `inner`.
    pub(crate) fn count<R>(&self, inner: R) -> Counted<R> {
        Counted {
            inner,
            counter: self.clone(),
        }
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(bytes)?;
        self.counter.0.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

fn show(
    template: &str,
    prefix: String,
    total: Option<u64>,
    counter: &Counter,
    stopped: &Receiver<()>,
) {
    let still_going = |wait| stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout);
    let begun = std::time::Instant::now();
    if !still_going(PATIENCE) {
        return;
    }
    let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    bar.set_style(
        ProgressStyle::with_template(template)
            .expect("the templates are constants")
            .progress_chars("━╸─"),
    );
    bar.set_prefix(prefix);
    let bar = bar.with_elapsed(begun.elapsed());
    while still_going(TICK) {
        bar.set_position(counter.0.load(Ordering::Relaxed));
        bar.tick();
    }
    bar.finish_and_clear();
}
