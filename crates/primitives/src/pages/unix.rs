//! Pages from `mmap`.

use std::alloc::{Layout, handle_alloc_error};
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

use super::Block;

/// The system's page size in bytes.
pub(super) fn page_size() -> usize {
    static PAGE_SIZE: OnceLock<usize> = OnceLock::new();
    *PAGE_SIZE.get_or_init(|| {
        // SAFETY: `sysconf` has no preconditions.
        let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        usize::try_from(size).expect("the system knows its page size")
    })
}

/// Maps `len` bytes, a multiple of the page size, and asks the system to keep them to itself.
///
/// A refusal is not an error: locking fails when the user's limit (`ulimit -l`) is reached.
pub(super) fn map(len: usize) -> Block {
    // SAFETY: an anonymous private mapping at an address of the kernel's choice touches no existing
    // memory.
    let start = unsafe {
        libc::mmap(
            ptr::null_mut(),
            len,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if start == libc::MAP_FAILED {
        handle_alloc_error(
            Layout::from_size_align(len, page_size()).expect("a length that was asked for"),
        );
    }
    // SAFETY: `start..start + len` was just mapped; `mlock` changes none of its contents.
    let locked = unsafe { libc::mlock(start, len) } == 0;
    keep_out_of_dumps(start, len);
    let only_in = keep_out_of_children(start, len).then(std::process::id);
    let start = NonNull::new(start.cast()).expect("not address 0");
    Block {
        start,
        len,
        locked,
        only_in,
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn keep_out_of_dumps(start: *mut libc::c_void, len: usize) {
    // SAFETY: `start..start + len` is our own mapping, whose contents this does not change.
    unsafe { libc::madvise(start, len, libc::MADV_DONTDUMP) };
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn keep_out_of_children(start: *mut libc::c_void, len: usize) -> bool {
    // SAFETY: `start..start + len` is our own mapping, whose contents this does not change.
    unsafe { libc::madvise(start, len, libc::MADV_DONTFORK) == 0 }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn keep_out_of_dumps(_start: *mut libc::c_void, _len: usize) {}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn keep_out_of_children(_start: *mut libc::c_void, _len: usize) -> bool {
    false
}

/// Returns a block to the system.
///
/// # Safety
/// `start` and `len` come from one call of [`map`], and nothing uses the block any more.
pub(super) unsafe fn unmap(start: NonNull<u8>, len: usize) {
    // SAFETY: the caller owns this whole mapping. `munmap` also unlocks it.
    let done = unsafe { libc::munmap(start.as_ptr().cast(), len) };
    debug_assert_eq!(done, 0, "unmapping a whole mapping of our own cannot fail");
}
