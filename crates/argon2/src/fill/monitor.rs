//! Progress of a run, and whether it should stop.

use crate::block::Block;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Blocks computed.
    pub done: u64,
    /// Blocks to compute.
    pub total: u64,
}

/// Gets memory for blocks that are about to be filled.
pub(crate) type Get<'a> = &'a (dyn Fn(&mut [Block]) + Sync);

/// Watches a run, and gets memory for it.
pub(crate) struct Monitor<'a> {
    pub(crate) total: u64,
    pub(crate) done: AtomicU64,
    pub(crate) cancel: Option<&'a AtomicBool>,
    pub(crate) progress: Option<&'a (dyn Fn(Progress) + Sync)>,
    pub(crate) get: Option<Get<'a>>,
}

impl Monitor<'_> {
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_some_and(|cancel| cancel.load(Relaxed))
    }

    /// Called before some blocks are filled for the first time. They have any content afterwards.
    pub(crate) fn before(&self, blocks: &mut [Block]) {
        if let Some(get) = self.get {
            get(blocks);
        }
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
