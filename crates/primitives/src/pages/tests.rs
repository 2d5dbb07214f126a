//! Unit tests of the page allocator.

use std::cell::RefCell;
use std::mem::ManuallyDrop;

use super::*;

thread_local! {
    /// The content of the last block that this thread released, after its wipe.
    static LAST_RELEASED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Called between wipe and unmapping.
pub(super) fn observe(bytes: &[u8]) {
    LAST_RELEASED.with(|last| *last.borrow_mut() = bytes.to_vec());
}

fn last_released() -> Vec<u8> {
    LAST_RELEASED.with(|last| last.borrow().clone())
}

/// Whether a block of `len` secret bytes is all zero after `release`.
fn is_wiped_by(len: usize, release: impl FnOnce(Pages)) -> bool {
    let mut pages = Pages::new(len);
    pages.as_mut_slice().fill(0xa5);
    release(pages);
    assert_eq!(last_released().len(), len, "the release was seen");
    last_released().iter().all(|byte| *byte == 0)
}

#[test]
fn dropping_wipes() {
    for len in [
        1,
        32,
        64,
        os::page_size(),
        os::page_size() + 1,
        5 * os::page_size(),
    ] {
        assert!(is_wiped_by(len, drop), "{len} bytes");
    }
}

#[test]
fn a_forgotten_wipe_is_noticed() {
    for len in [1, 32, 5 * os::page_size()] {
        let forgetful = |pages: Pages| {
            let mut pages = ManuallyDrop::new(pages);
            pages.release(|_| {});
            // Leave nothing behind for the tests that share this thread's pool.
            pool::take(os::page_size());
        };
        assert!(!is_wiped_by(len, forgetful), "{len} bytes");
    }
}

#[test]
fn blocks_start_zeroed_and_aligned_also_when_reused() {
    for _ in 0..20 {
        let mut pages = Pages::new(100);
        assert_eq!(pages.as_slice(), [0; 100]);
        assert_eq!(pages.as_ptr() as usize % os::page_size(), 0);
        pages.as_mut_slice().fill(0xff);
    }
}

#[test]
fn secrets_alive_at_once_share_no_page() {
    let blocks: Vec<Pages> = (0..50).map(|_| Pages::new(32)).collect();
    let mut starts: Vec<usize> = blocks
        .iter()
        .map(|pages| pages.as_ptr() as usize / os::page_size())
        .collect();
    starts.sort_unstable();
    starts.dedup();
    assert_eq!(starts.len(), blocks.len());
}

#[test]
fn the_fallback_without_mmap_gives_zeroed_aligned_memory() {
    for len in [heap::page_size(), 3 * heap::page_size()] {
        let block = heap::map(len);
        assert!(!block.locked && !block.is_absent());
        assert_eq!(block.start.as_ptr() as usize % heap::page_size(), 0);
        // SAFETY: the block is `len` initialised bytes, ours until unmapped.
        let bytes = unsafe { std::slice::from_raw_parts(block.start.as_ptr(), block.len) };
        assert!(bytes.iter().all(|byte| *byte == 0));
        // SAFETY: mapped just above, used no more.
        unsafe { heap::unmap(block.start, block.len) };
    }
}
