//! Pages from the ordinary allocator, for systems without `mmap`: wiped, but not locked.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

use super::Block;

/// The alignment and granularity of a block in bytes.
pub(super) const fn page_size() -> usize {
    4096
}

/// Allocates `len` bytes, a multiple of the page size. Never locked.
pub(super) fn map(len: usize) -> Block {
    let layout = layout(len);
    // SAFETY: `Pages` never asks for length 0.
    let start = unsafe { alloc_zeroed(layout) };
    let start = NonNull::new(start).unwrap_or_else(|| handle_alloc_error(layout));
    Block {
        start,
        len,
        locked: false,
        only_in: None,
    }
}

/// Returns a block to the allocator.
///
/// # Safety
/// `start` and `len` come from one call of [`map`], and nothing uses the block any more.
pub(super) unsafe fn unmap(start: NonNull<u8>, len: usize) {
    // SAFETY: the caller passes what `map` returned, and the layout is a function of the length.
    unsafe { dealloc(start.as_ptr(), layout(len)) }
}

fn layout(len: usize) -> Layout {
    Layout::from_size_align(len, page_size()).expect("a length that was asked for")
}
