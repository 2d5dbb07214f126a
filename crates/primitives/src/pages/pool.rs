//! A few wiped pages that each thread keeps, because mapping and locking a page costs many times
//! what most uses of it do.

use std::cell::RefCell;

use super::{Block, os};

/// Enough for the short-lived secrets that sealing a file needs at a time. With 8, three pages were
/// mapped and locked anew for each of many files.
const MAX_BLOCKS: usize = 16;

thread_local! {
    static POOL: RefCell<Pool> = const { RefCell::new(Pool(Vec::new())) };
}

/// Single pages, locked and all zero.
struct Pool(Vec<Block>);

/// A block of `len` zero bytes, if the pool has one.
pub(super) fn take(len: usize) -> Option<Block> {
    if len != os::page_size() {
        return None;
    }
    let block = with_pool(|pool| pool.0.pop())??;
    // A forked child has the list, but not the pages on it.
    if block.is_absent() { None } else { Some(block) }
}

/// Keeps a wiped block for later, or gives it back if it is not worth keeping: large, not locked,
/// or one too many.
pub(super) fn put(block: Block) -> Option<Block> {
    if block.len != os::page_size() || !block.locked {
        return Some(block);
    }
    let kept = with_pool(|pool| {
        let room = pool.0.len() < MAX_BLOCKS;
        if room {
            pool.0.push(block);
        }
        room
    });
    if kept == Some(true) {
        None
    } else {
        Some(block)
    }
}

/// Nothing if the thread is ending and its pool is gone.
fn with_pool<T>(use_it: impl FnOnce(&mut Pool) -> T) -> Option<T> {
    POOL.try_with(|pool| use_it(&mut pool.borrow_mut())).ok()
}

impl Drop for Pool {
    fn drop(&mut self) {
        for block in self.0.drain(..).filter(|block| !block.is_absent()) {
            // SAFETY: blocks in the pool came from `os::map` and are used by nobody.
            unsafe { os::unmap(block.start, block.len) }
        }
    }
}
