//! One allocation of many blocks, on huge pages where there are any. The only unsafe code of this crate.
#![cfg_attr(target_os = "linux", allow(unsafe_code))]

#[cfg(target_os = "linux")]
pub(crate) use linux::Pages;
#[cfg(not(target_os = "linux"))]
pub(crate) use other::Pages;

#[cfg(target_os = "linux")]
mod linux {
    use crate::block::Block;
    use std::ptr::NonNull;

    /// Blocks in a mapping of their own.
    #[derive(Debug)]
    pub(crate) struct Pages {
        mapping: NonNull<u8>,
        /// Of the mapping, in bytes.
        len: usize,
        blocks: NonNull<Block>,
        count: usize,
    }

    // SAFETY: `Pages` owns its mapping alone, like a `Box<[Block]>`.
    unsafe impl Send for Pages {}
    // SAFETY: as above; `&Pages` only gives `&[Block]`.
    unsafe impl Sync for Pages {}

    /// The size and alignment of a huge page on most machines. Where it is another, pages are of the usual size.
    const HUGE: usize = 2 << 20;

    impl Pages {
        /// `count` blocks of zeros, if the system has them.
        pub(crate) fn new(count: u64) -> Option<Self> {
            let count = usize::try_from(count).ok()?;
            let bytes = count.checked_mul(size_of::<Block>())?.max(1);
            // Room to begin where a huge page can, if there will be one.
            let len = if bytes < HUGE {
                bytes
            } else {
                bytes.checked_next_multiple_of(HUGE)?.checked_add(HUGE)?
            };
            let mapping = map(len)?;
            let start = if bytes < HUGE {
                0
            } else {
                mapping.align_offset(HUGE)
            };
            // SAFETY: `start` is less than HUGE, by which the mapping is longer than the blocks are.
            let blocks = unsafe { mapping.add(start) };
            advise(blocks, len - start, libc::MADV_HUGEPAGE);
            // What is in there is as good as the password.
            advise(blocks, len - start, libc::MADV_DONTDUMP);
            Some(Self {
                mapping,
                len,
                blocks: blocks.cast(),
                count,
            })
        }

        pub(crate) fn blocks(&self) -> &[Block] {
            // SAFETY: `count` blocks from here on are inside the mapping, aligned to a page, and initialised: with zeros by the
            // system, or since then. Writers need `&mut self`.
            unsafe { std::slice::from_raw_parts(self.blocks.as_ptr(), self.count) }
        }

        pub(crate) fn blocks_mut(&mut self) -> &mut [Block] {
            // SAFETY: as in `blocks`; `&mut self` makes the borrow exclusive.
            unsafe { std::slice::from_raw_parts_mut(self.blocks.as_ptr(), self.count) }
        }
    }

    impl Drop for Pages {
        fn drop(&mut self) {
            // SAFETY: this is the mapping that `map` made, whole, and nothing borrows from it any more.
            unsafe { libc::munmap(self.mapping.as_ptr().cast(), self.len) };
        }
    }

    fn map(len: usize) -> Option<NonNull<u8>> {
        let (protection, flags) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
        );
        // SAFETY: a new anonymous mapping at an address of the system's choice touches no existing memory.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), len, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            None
        } else {
            NonNull::new(start.cast())
        }
    }

    /// Advice that the system may not follow, which is no error.
    fn advise(start: NonNull<u8>, len: usize, advice: libc::c_int) {
        // SAFETY: the range is inside a mapping of ours, and no advice that is given here changes what is in it.
        unsafe { libc::madvise(start.as_ptr().cast(), len, advice) };
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use crate::block::{Block, ZERO_BLOCK};

    /// Blocks on the heap.
    #[derive(Debug)]
    pub(crate) struct Pages(Vec<Block>);

    impl Pages {
        /// `count` blocks of zeros, if the system has them.
        pub(crate) fn new(count: u64) -> Option<Self> {
            let count = usize::try_from(count).ok()?;
            let mut blocks = Vec::new();
            blocks.try_reserve_exact(count).ok()?;
            blocks.resize(count, ZERO_BLOCK);
            Some(Self(blocks))
        }

        pub(crate) fn blocks(&self) -> &[Block] {
            &self.0
        }

        pub(crate) fn blocks_mut(&mut self) -> &mut [Block] {
            &mut self.0
        }
    }
}
