//! Blocks in a mapping of their own, on huge pages. The only unsafe code of this crate.
//!
//! The gain of each mechanism is the time without it as a multiple of the time with it, measured in
//! turn (`bench/results/argon2-pages.md`). The thread that fills memory gets it in pieces, so it
//! notices slow huge pages early.
//! - huge pages: 1.35 (1 GiB) to 2.2 (19 MiB);
//! - beginning at a multiple of a huge page: 1.01 (64 MiB) to 1.1 (19 MiB);
//! - small pages after slow huge ones: 1.5 to 1.8 (1 GiB, virtual machine that was idle before);
//! - another thread that gets memory ahead, one lane: 1.02 (64 MiB) to 1.19 (1 GiB);
//! - all memory before the first hash, in an arena: 1.04 (64 MiB) to 1.15 (19 MiB) for that hash.
#![allow(unsafe_code, reason = "mapping memory and advising the system on it")]

use crate::block::Block;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::ptr::NonNull;
use std::time::Duration;

/// Blocks in a mapping of their own.
#[derive(Debug)]
pub(crate) struct Pages {
    mapping: NonNull<u8>,
    /// Bytes of the mapping.
    len: usize,
    count: usize,
    /// The part of the mapping that the blocks are in.
    region: Region,
}

// SAFETY: `Pages` owns its mapping alone, like a `Box<[Block]>`.
unsafe impl Send for Pages {}
// SAFETY: as above; `&Pages` only gives `&[Block]`.
unsafe impl Sync for Pages {}

/// Bytes of a huge page, and its alignment, on most machines. Elsewhere pages have the usual size.
const HUGE: usize = 2 << 20;

/// A mapping is longer than its huge pages by this, so that they can begin at a multiple of `HUGE`.
const MARGIN: usize = HUGE - (4 << 10);

/// Getting a huge page takes 0.05 to 0.4 ms, and about 5 ms in a virtual machine whose host has to
/// find the memory first. More than this is slow.
const SLOW: Duration = Duration::from_millis(3);

/// One in this number of huge pages may be slow: single slow pages come among quick ones.
const PAGES_FOR_A_SLOW_ONE: usize = 64;

impl Pages {
    /// `count` blocks of zeros, if the system has them. It gets memory for them when they are used.
    pub(crate) fn new(count: u64) -> Option<Self> {
        Self::with_limit(count, SLOW)
    }

    /// The same; a huge page that takes longer than `slow` is slow.
    pub(super) fn with_limit(count: u64, slow: Duration) -> Option<Self> {
        let Layout { count, used, len } = Layout::of(count, isize::MAX.unsigned_abs())?;
        let mapping = map(len)?;
        // The blocks depend on the password: no core dump and no forked process gets them.
        advise(mapping, len, libc::MADV_DONTDUMP);
        advise(mapping, len, libc::MADV_WIPEONFORK);
        let start = match len - used {
            0 => mapping,
            // SAFETY: at most MARGIN, and the mapping is longer than `used` by that.
            _ => unsafe { mapping.add(mapping.align_offset(HUGE)) },
        };
        let region = Region {
            start,
            bytes: used,
            slow,
            slow_pages: AtomicUsize::new(0),
        };
        if used >= HUGE {
            region.advise(libc::MADV_HUGEPAGE);
        }
        Some(Self {
            mapping,
            len,
            count,
            region,
        })
    }

    /// `count` blocks of zeros, in memory from the start, on huge pages, however long that takes.
    pub(crate) fn in_memory(count: u64) -> Option<Self> {
        let pages = Self::new(count)?;
        // An old system cannot do this. It gets memory when blocks are used.
        pages.region.advise(libc::MADV_POPULATE_WRITE);
        Some(pages)
    }

    pub(crate) fn blocks(&self) -> &[Block] {
        // SAFETY: the region has `count` blocks, aligned to a page, and initialised: with zeros by
        // the system, or since then. Writers need `&mut self`.
        unsafe { std::slice::from_raw_parts(self.region.start.as_ptr().cast(), self.count) }
    }

    /// The blocks, and what gets memory for them.
    pub(crate) fn parts(&mut self) -> (&mut [Block], Option<Getter<'_>>) {
        // SAFETY: as in `blocks`; `&mut self` makes the borrow exclusive, and the getter does not
        // access the blocks.
        let blocks = unsafe {
            std::slice::from_raw_parts_mut(self.region.start.as_ptr().cast(), self.count)
        };
        let getter = Getter(&self.region);
        (blocks, (self.region.bytes >= HUGE).then_some(getter))
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: this is the whole mapping that `map` made, and no borrow of it is left.
        unsafe { libc::munmap(self.mapping.as_ptr().cast(), self.len) };
    }
}

/// How blocks lie in a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Blocks.
    pub(super) count: usize,
    /// Bytes of the blocks, or of the huge pages that hold them.
    pub(super) used: usize,
    /// Bytes of the mapping.
    pub(super) len: usize,
}

impl Layout {
    /// The layout of `count` blocks, in a mapping of at most `most` bytes. Rust has no objects of
    /// more than `isize::MAX` bytes, though a 32-bit system has longer mappings.
    pub(super) fn of(count: u64, most: usize) -> Option<Self> {
        let count = usize::try_from(count).ok()?;
        let bytes = count.checked_mul(size_of::<Block>())?.max(1);
        let (used, room) = if bytes < HUGE {
            (bytes, 0)
        } else {
            (bytes.checked_next_multiple_of(HUGE)?, MARGIN)
        };
        let len = used.checked_add(room)?;
        (len <= most).then_some(Self { count, used, len })
    }
}

/// Memory of a mapping, and how quickly the system provides it.
#[derive(Debug)]
struct Region {
    start: NonNull<u8>,
    bytes: usize,
    /// Longer than this is slow.
    slow: Duration,
    slow_pages: AtomicUsize,
}

impl Region {
    fn advise(&self, advice: libc::c_int) {
        advise(self.start, self.bytes, advice);
    }

    /// Slow huge pages from which on small pages are asked for.
    fn too_many(&self) -> usize {
        1 + self.bytes / HUGE / PAGES_FOR_A_SLOW_ONE
    }
}

/// Gets memory for blocks.
pub(crate) struct Getter<'a>(&'a Region);

// SAFETY: threads that share a getter share an address, which it does not access, and an atomic.
unsafe impl Sync for Getter<'_> {}

impl Getter<'_> {
    /// Gets memory for these blocks, which have any content afterwards.
    pub(crate) fn get(&self, blocks: &mut [Block]) {
        self.watch(|| {
            for index in [0, blocks.len().saturating_sub(1)] {
                if let Some(block) = blocks.get_mut(index) {
                    block[0].0[0] = 0;
                    core::hint::black_box(block);
                }
            }
        });
    }

    /// Gets all memory but the first huge page, for another thread that has begun to use it. An old
    /// system cannot do this. It gets memory when blocks are used.
    pub(crate) fn get_ahead(&self, goes_on: impl Fn() -> bool) {
        for page in (HUGE..self.0.bytes).step_by(HUGE) {
            if !goes_on() {
                return;
            }
            // SAFETY: inside the region.
            let start = unsafe { self.0.start.add(page) };
            self.watch(|| advise(start, HUGE, libc::MADV_POPULATE_WRITE));
        }
    }

    /// Asks for small pages from now on if `get`, which gets up to a huge page, is too slow too
    /// often.
    fn watch(&self, get: impl FnOnce()) {
        let start = processor_time();
        get();
        let took = processor_time().saturating_sub(start);
        if took >= self.0.slow && self.0.slow_pages.fetch_add(1, Relaxed) + 1 == self.0.too_many() {
            self.0.advise(libc::MADV_NOHUGEPAGE);
        }
    }
}

/// Processor time of this thread. Unlike wall time, it does not pass while another thread runs.
fn processor_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the system writes to `time` only.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    // The width of both numbers depends on the system.
    let [seconds, nanoseconds] = [time.tv_sec.try_into(), time.tv_nsec.try_into()];
    Duration::from_secs(seconds.unwrap_or(0)) + Duration::from_nanos(nanoseconds.unwrap_or(0))
}

fn map(len: usize) -> Option<NonNull<u8>> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new anonymous mapping at an address of the system's choice touches no existing
    // memory.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), len, protection, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        None
    } else {
        NonNull::new(start.cast())
    }
}

/// Advice that the system may not follow, which is not an error.
fn advise(start: NonNull<u8>, len: usize, advice: libc::c_int) {
    // SAFETY: the range is inside a mapping of ours. No advice that is given here changes its
    // content. (A process forked from this one has a copy, which can then be zeros.)
    unsafe { libc::madvise(start.as_ptr().cast(), len, advice) };
}
