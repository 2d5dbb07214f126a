//! Whole memory pages for secrets: locked, left out of core dumps and of forked children, wiped on drop.

use std::ptr::NonNull;

use zeroize::Zeroize;

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
    start: NonNull<u8>,
    len: usize,
    locked: bool,
    /// The process that has these pages, if its forked children have not.
    only_in: Option<u32>,
}

// SAFETY: `Pages` owns its memory exclusively and hands it out only through `&self` and `&mut self`, like a `Box<[u8]>`.
unsafe impl Send for Pages {}
// SAFETY: as above; `&Pages` gives only `&[u8]`.
unsafe impl Sync for Pages {}

impl Pages {
    /// At least `min_len` zero bytes, rounded up to whole pages.
    ///
    /// Aborts like any allocation when the system has no memory left.
    pub(crate) fn new(min_len: usize) -> Self {
        let len = min_len.max(1).next_multiple_of(os::page_size());
        let block = os::map(len);
        let only_in = block.absent_after_fork.then(std::process::id);
        Self {
            start: block.start,
            len,
            locked: block.locked,
            only_in,
        }
    }

    /// Whether the system keeps these pages out of swap.
    pub(crate) fn is_locked(&self) -> bool {
        self.locked
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        // SAFETY: `start` is valid for reads of `len` initialised bytes for as long as `self` lives, and
        // writers need `&mut self`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as in `as_slice`, and `&mut self` makes the borrow exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }

    /// The start of the block, aligned to a page.
    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Whether this is a forked child, which does not have the pages.
    pub(crate) fn is_absent(&self) -> bool {
        self.only_in
            .is_some_and(|owner| owner != std::process::id())
    }

    /// Wipes with `wipe`, then returns the memory to the system. The wipe is an argument only so that a
    /// test can leave it out and see that this is noticed.
    fn release(&mut self, wipe: impl FnOnce(&mut [u8])) {
        if self.is_absent() {
            return; // What is mapped here now, if anything, belongs to somebody else.
        }
        wipe(self.as_mut_slice());
        #[cfg(test)]
        tests::observe(self.as_slice());
        // SAFETY: `start` and `len` come from `os::map`, and `release` is called once, from `drop`.
        unsafe { os::unmap(self.start, self.len) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.release(|bytes| bytes.zeroize());
    }
}

/// What the system gave.
struct Block {
    start: NonNull<u8>,
    /// Kept out of swap.
    locked: bool,
    /// Kept out of forked children.
    absent_after_fork: bool,
}

#[cfg(test)]
mod tests;
