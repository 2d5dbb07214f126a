//! Whole memory pages for secrets: locked, left out of core dumps and of forked children, wiped on
//! drop.

use std::ptr::NonNull;

use crate::ffi;

mod pool;

#[cfg(unix)]
mod unix;
#[cfg(unix)]
use unix as os;

#[cfg(any(test, not(unix)))]
mod heap;
#[cfg(not(unix))]
use heap as os;

/// A private, zero-initialised, page-aligned block of memory with one owner.
///
/// The address never changes, so C objects that must not move can live in it.
pub(crate) struct Pages {
    block: Block,
    /// How many bytes at the start are in use; the rest is never touched.
    used: usize,
}

// SAFETY: `Pages` owns its memory exclusively and hands it out only through `&self` and `&mut
// self`, like a `Box<[u8]>`.
unsafe impl Send for Pages {}
// SAFETY: as above; `&Pages` gives only `&[u8]`.
unsafe impl Sync for Pages {}

impl Pages {
    /// `len` zero bytes on pages of their own.
    ///
    /// Aborts like any allocation when the system has no memory left.
    pub(crate) fn new(len: usize) -> Self {
        let pages = len.max(1).next_multiple_of(os::page_size());
        Self {
            block: pool::take(pages).unwrap_or_else(|| os::map(pages)),
            used: len,
        }
    }

    /// Whether the system keeps these pages out of swap.
    pub(crate) fn is_locked(&self) -> bool {
        self.block.locked
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        // SAFETY: the block is valid for reads of `used` initialised bytes for as long as `self`
        // lives, and writers need `&mut self`.
        unsafe { std::slice::from_raw_parts(self.as_ptr(), self.used) }
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as in `as_slice`, and `&mut self` makes the borrow exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.as_ptr(), self.used) }
    }

    /// The start of the block, aligned to a page.
    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.block.start.as_ptr()
    }

    /// Whether this is a forked child, which does not have the pages.
    pub(crate) fn is_absent(&self) -> bool {
        self.block.is_absent()
    }

    /// Wipes with `wipe`, then gives the block up. The wipe is an argument only so that a test can
    /// leave it out and see that this is noticed. To be called once.
    fn release(&mut self, wipe: impl FnOnce(&mut [u8])) {
        if self.is_absent() {
            return; // A mapping that is here now belongs to other code.
        }
        wipe(self.as_mut_slice());
        #[cfg(test)]
        tests::observe(self.as_slice());
        if let Some(block) = pool::put(self.block) {
            // SAFETY: the block came from `os::map` or from a `Pages` before us by way of the pool,
            // and we are the last to use it.
            unsafe { os::unmap(block.start, block.len) }
        }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.release(ffi::cleanse);
    }
}

/// Memory that the system mapped.
#[derive(Clone, Copy)]
struct Block {
    start: NonNull<u8>,
    /// In bytes, a multiple of the page size.
    len: usize,
    /// Kept out of swap.
    locked: bool,
    /// The process that has this block, if its forked children have not.
    only_in: Option<u32>,
}

impl Block {
    fn is_absent(&self) -> bool {
        self.only_in
            .is_some_and(|owner| owner != std::process::id())
    }
}

#[cfg(test)]
mod tests;
