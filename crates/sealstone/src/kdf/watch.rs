//! Telling how far a key derivation is.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;

/// How far a key derivation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KdfProgress {
    /// KiB filled, over all passes.
    pub done: u64,
    /// KiB to fill.
    pub total: u64,
}

/// While it lives, every key derivation that this thread starts reports how far it is, about every millisecond and perhaps from several threads.
///
/// Derivations happen inside of unlocking, sealing and opening: this spares each of those an argument that only programs with a person in front of
/// them have a use for.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
/// use sealstone::file::{Sealer, Workers};
/// use sealstone::{KdfParams, KdfWatch, Passphrase};
///
/// let done = Arc::new(AtomicU64::new(0));
/// let seen = Arc::clone(&done);
/// let watch = KdfWatch::new(move |progress| { seen.fetch_max(progress.done, Relaxed); });
/// let mut sealer = Sealer::new();
/// let passphrase = Passphrase::generate();
/// sealer.to_passphrase(&passphrase, KdfParams::new(7 << 10, 5, 1)?);
/// sealer.seal(&b"content"[..], &mut Vec::new(), Workers::new(1))?;
/// drop(watch);
/// assert!(done.load(Relaxed) > 30_000);
/// # Ok::<(), sealstone::Error>(())
/// ```
pub struct KdfWatch {
    before: Option<Report>,
    /// It belongs to the thread that made it.
    _thread: PhantomData<*const ()>,
}

type Report = Arc<dyn Fn(KdfProgress) + Send + Sync>;

thread_local! {
    static REPORT: RefCell<Option<Report>> = const { RefCell::new(None) };
}

impl KdfWatch {
    /// Reports go to `report`, until this is dropped.
    pub fn new(report: impl Fn(KdfProgress) + Send + Sync + 'static) -> Self {
        Self {
            before: REPORT.replace(Some(Arc::new(report))),
            _thread: PhantomData,
        }
    }
}

impl Drop for KdfWatch {
    fn drop(&mut self) {
        REPORT.set(self.before.take());
    }
}

/// Where derivations of this thread report to.
pub(super) fn current() -> Option<Report> {
    REPORT.with_borrow(Clone::clone)
}
