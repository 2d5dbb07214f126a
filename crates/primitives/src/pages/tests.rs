//! Unit tests of the page allocator.

use std::cell::RefCell;

use super::*;

thread_local! {
    /// What the last block released on this thread held after its wipe.
    static LAST_RELEASED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Called between wipe and unmapping.
pub(super) fn observe(bytes: &[u8]) {
    LAST_RELEASED.with(|last| *last.borrow_mut() = bytes.to_vec());
}
