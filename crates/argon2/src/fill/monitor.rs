//! How far a run is, and whether it shall stop.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Blocks computed.
    pub done: u64,
    /// Blocks to compute.
    pub total: u64,
}

/// What watches a run.
pub(crate) struct Monitor<'a> {
    pub(crate) total: u64,
    pub(crate) done: AtomicU64,
    pub(crate) cancel: Option<&'a AtomicBool>,
    pub(crate) progress: Option<&'a (dyn Fn(Progress) + Sync)>,
}

impl Monitor<'_> {
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_some_and(|cancel| cancel.load(Relaxed))
    }

    pub(super) fn advance(&self, blocks: u64) {
        let done = self.done.fetch_add(blocks, Relaxed) + blocks;
        if let Some(progress) = self.progress {
            progress(Progress {
                done,
                total: self.total,
            });
        }
    }
}
