//! One allocation of many blocks, on huge pages where there are any. The only unsafe code of this crate.
#![cfg_attr(target_os = "linux", allow(unsafe_code))]

#[cfg(target_os = "linux")]
pub(crate) use linux::Pages;
#[cfg(not(target_os = "linux"))]
pub(crate) use other::Pages;

#[cfg(target_os = "linux")]
mod linux {
    use super::Effort;
    use crate::block::Block;
    use std::ptr::NonNull;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::thread::{self, JoinHandle};
    use std::time::Duration;

    /// Blocks in a mapping of their own.
    #[derive(Debug)]
    pub(crate) struct Pages {
        mapping: NonNull<u8>,
        /// Of the mapping, in bytes.
        len: usize,
        blocks: NonNull<Block>,
        count: usize,
        /// The thread that populates the mapping, perhaps still.
        helper: Option<(Arc<Populating>, JoinHandle<()>)>,
    }

    // SAFETY: `Pages` owns its mapping alone, like a `Box<[Block]>`.
    unsafe impl Send for Pages {}
    // SAFETY: as above; `&Pages` only gives `&[Block]`.
    unsafe impl Sync for Pages {}

    /// The size and alignment of a huge page on most machines. Where it is another, pages are of the usual size.
    const HUGE: usize = 2 << 20;

    /// By this a mapping is longer than its huge pages: it begins with any page, and they begin with a multiple of `HUGE`.
    const ROOM: usize = HUGE - (4 << 10);

    impl Pages {
        /// `count` blocks of zeros, if the system has them.
        pub(crate) fn new(count: u64, effort: Effort) -> Option<Self> {
            Self::with_limit(count, effort, SLOW)
        }

        /// The same, where a huge page that takes longer than `slow` is a slow one.
        pub(super) fn with_limit(count: u64, effort: Effort, slow: Duration) -> Option<Self> {
            let Layout { count, used, len } = Layout::of(count, isize::MAX.unsigned_abs())?;
            let mapping = map(len)?;
            // What will be in there is as good as the password.
            advise(mapping, len, libc::MADV_DONTDUMP);
            advise(mapping, len, libc::MADV_WIPEONFORK);
            if len == used {
                return Some(Self {
                    mapping,
                    len,
                    blocks: mapping.cast(),
                    count,
                    helper: None,
                });
            }
            // SAFETY: at most ROOM, by which the mapping is longer than what is used.
            let start = unsafe { mapping.add(mapping.align_offset(HUGE)) };
            touch(mapping, if start == mapping { len - 1 } else { 0 });
            advise(start, used, libc::MADV_HUGEPAGE);
            Some(Self {
                mapping,
                len,
                blocks: start.cast(),
                count,
                helper: populate(Region(start, used), effort, slow),
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

    /// How blocks lie in a mapping.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct Layout {
        /// Blocks.
        pub(super) count: usize,
        /// Bytes that are used: those of the blocks, or of the huge pages that hold them.
        pub(super) used: usize,
        /// Bytes of the mapping: with room to begin where a huge page can.
        pub(super) len: usize,
    }

    impl Layout {
        /// Of `count` blocks, in a mapping of at most `most` bytes. That is `isize::MAX`: Rust has no larger objects, though a 32-bit
        /// system has mappings that are.
        pub(super) fn of(count: u64, most: usize) -> Option<Self> {
            let count = usize::try_from(count).ok()?;
            let bytes = count.checked_mul(size_of::<Block>())?.max(1);
            let (used, room) = if bytes < HUGE {
                (bytes, 0)
            } else {
                (bytes.checked_next_multiple_of(HUGE)?, ROOM)
            };
            let len = used.checked_add(room)?;
            (len <= most).then_some(Self { count, used, len })
        }
    }

    impl Drop for Pages {
        fn drop(&mut self) {
            if let Some((populating, thread)) = self.helper.take() {
                populating.stop();
                thread.thread().unpark();
                // It cannot panic; if it did, it would be gone as well.
                let _ = thread.join();
            }
            // SAFETY: this is the mapping that `map` made, whole, and neither a borrow nor a thread is left that knows it.
            unsafe { libc::munmap(self.mapping.as_ptr().cast(), self.len) };
        }
    }

    /// A part of a mapping of ours, which outlives it: `Pages` ends the threads that have one before it ends the mapping.
    #[derive(Clone, Copy, Debug)]
    struct Region(NonNull<u8>, usize);

    // SAFETY: an address and a length. What is done with them changes nothing that is in memory.
    unsafe impl Send for Region {}
    // SAFETY: as above.
    unsafe impl Sync for Region {}

    /// Of so many huge pages, one is asked for if the others come when they are used.
    const SAMPLED: usize = 8;

    /// Samples up to this page are taken at once, and each later one after a pause. Who asks again and again can keep threads from
    /// getting a mapping for 4 ms each time, and so all the other threads of a hash from beginning.
    const AT_ONCE: usize = 4 * SAMPLED;
    const PAUSE: Duration = Duration::from_millis(1);

    /// Longer than this for a huge page, and small ones are quicker: filling one takes 0.2 to 0.4 ms on a machine that has it, but about
    /// 4.5 on a virtual one whose host has to find the memory first. Small pages mostly have been used before.
    const SLOW: Duration = Duration::from_millis(3);

    /// Getting the memory of a region from the system before it is used.
    #[derive(Debug)]
    struct Populating {
        region: Region,
        /// The next huge page to ask for.
        next: AtomicUsize,
        /// From one page to the next that is asked for: 1 for all of the region.
        stride: usize,
        /// If a huge page takes longer than this, small ones are quicker.
        slow: Duration,
        /// Whether to stay with huge pages, however long that takes.
        patience: bool,
    }

    /// Populates the region as `effort` says; a thread that still does so is returned.
    fn populate(
        region: Region,
        effort: Effort,
        slow: Duration,
    ) -> Option<(Arc<Populating>, JoinHandle<()>)> {
        let mut populating = Populating {
            region,
            next: AtomicUsize::new(0),
            stride: 1,
            slow,
            patience: effort == Effort::Patient,
        };
        match effort {
            Effort::Quick | Effort::Patient => {
                populating.work();
                return None;
            }
            Effort::Ahead => (),
            Effort::Sample => populating.stride = SAMPLED,
        }
        // Who uses the memory gets the first page meanwhile: two that get the same one both fill it.
        *populating.next.get_mut() = 1;
        if region.1 == HUGE {
            return None;
        }
        populating.run_ahead()
    }

    impl Populating {
        /// Populates by a thread of its own, if there is one; else pages come when they are used.
        fn run_ahead(self) -> Option<(Arc<Self>, JoinHandle<()>)> {
            let (shared, builder) = (Arc::new(self), thread::Builder::new());
            let helper = Arc::clone(&shared);
            let thread = builder.spawn(move || helper.work()).ok()?;
            Some((shared, thread))
        }

        fn work(&self) {
            let mut patience = self.patience;
            let pages = self.region.1 / HUGE;
            loop {
                if self.stride > 1 && (AT_ONCE..pages).contains(&self.next.load(Relaxed)) {
                    thread::park_timeout(PAUSE);
                }
                let page = self.next.fetch_add(self.stride, Relaxed);
                if page >= pages {
                    return;
                }
                let start = processor_time();
                // An old system cannot do this: pages then come when they are used.
                let part = self.region.from(page * HUGE, HUGE);
                part.advise(libc::MADV_POPULATE_WRITE);
                let slow = processor_time().saturating_sub(start) > self.slow;
                if slow && !patience {
                    patience = true;
                    let rest = self.region.from((page + 1) * HUGE, self.region.1);
                    rest.advise(libc::MADV_NOHUGEPAGE);
                    if self.stride > 1 {
                        // Decided; small pages come when they are used.
                        return;
                    }
                }
            }
        }

        /// No further page is asked for.
        fn stop(&self) {
            self.next.store(usize::MAX / 2, Relaxed);
        }
    }

    impl Region {
        /// Up to `len` bytes from byte `start` on; none if that is behind the end.
        fn from(self, start: usize, len: usize) -> Self {
            let start = start.min(self.1);
            // SAFETY: not behind the end of a mapping.
            Self(unsafe { self.0.add(start) }, len.min(self.1 - start))
        }

        fn advise(self, advice: libc::c_int) {
            advise(self.0, self.1, advice);
        }
    }

    /// Processor time of this thread, which goes on while the system works for it, but not while others run.
    fn processor_time() -> Duration {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the system writes to `time` only.
        unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
        Duration::new(
            time.tv_sec.unsigned_abs(),
            time.tv_nsec.unsigned_abs() as u32,
        )
    }

    /// Gives a mapping its first page, that of byte `at`, where no block is. While a mapping gets its first page, Linux lets no thread of
    /// the process map anything, so none begins, as that takes a stack: the first page shall be small, as filling a huge one takes long.
    /// So this comes before huge pages are asked for; the parts that a mapping is split into by that count as having had theirs.
    fn touch(mapping: NonNull<u8>, at: usize) {
        // SAFETY: the byte is inside the mapping, outside of its blocks, and known to nobody else.
        unsafe { mapping.add(at).write_volatile(0) };
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
        // SAFETY: the range is inside a mapping of ours, and no advice that is given here changes what is in it (but for a process
        // forked from this one, which has a copy, of zeros then).
        unsafe { libc::madvise(start.as_ptr().cast(), len, advice) };
    }
}

/// How memory is got from the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// At once: on huge pages for as long as these come quickly.
    Quick,
    /// At once: on huge pages, however long that takes.
    Patient,
    /// As `Quick`, by a thread that runs ahead of the one that uses it.
    Ahead,
    /// When it is used, by as many threads as there are processors: each page is filled into the cache of the one that needs it. A
    /// further thread tries some pages before, and if they do not come quickly, the rest are small ones.
    Sample,
}

#[cfg(not(target_os = "linux"))]
mod other {
    use super::Effort;
    use crate::block::{Block, ZERO_BLOCK};

    /// Blocks on the heap.
    #[derive(Debug)]
    pub(crate) struct Pages(Vec<Block>);

    impl Pages {
        /// `count` blocks of zeros, if the system has them.
        pub(crate) fn new(count: u64, _effort: Effort) -> Option<Self> {
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

#[cfg(test)]
mod tests {
    use super::{Effort, Pages};
    use crate::block::ZERO_BLOCK;
    use sealstone_lanes::Line;

    /// Sizes around a huge page and around two; every block can be written and keeps its value.
    #[test]
    fn pages_are_zero_and_all_of_them_are_there() {
        for count in [1, 3, 2047, 2048, 2049, 4096, 6000] {
            for effort in [
                Effort::Quick,
                Effort::Patient,
                Effort::Ahead,
                Effort::Sample,
            ] {
                let mut pages = Pages::new(count, effort).unwrap();
                assert_eq!(pages.blocks().len() as u64, count);
                assert!(pages.blocks().iter().all(|block| *block == ZERO_BLOCK));
                for (value, block) in (1..).zip(pages.blocks_mut()) {
                    block.fill(Line([value; 8]));
                }
                assert!(
                    (1..)
                        .zip(pages.blocks())
                        .all(|(value, block)| *block == [Line([value; 8]); 16])
                );
            }
        }
    }

    /// Given back while the helper is at work, read while it is, and sent to another thread.
    #[test]
    fn a_helper_changes_nothing_and_ends_with_the_pages() {
        // So many huge pages that samples of them are taken with pauses.
        const COUNT: u64 = 100 << 10;
        for effort in [Effort::Ahead, Effort::Sample] {
            drop(Pages::new(COUNT, effort));
            let mut pages = Pages::new(COUNT, effort).unwrap();
            for (value, block) in (1..).zip(pages.blocks_mut()) {
                block.fill(Line([value; 8]));
            }
            let pages = std::thread::spawn(|| pages).join().unwrap();
            assert!(
                (1..)
                    .zip(pages.blocks())
                    .all(|(value, block)| *block == [Line([value; 8]); 16])
            );
        }
    }

    /// A 32-bit system may map more than the 2^31 - 1 bytes that an object of Rust can have.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_mapping_that_rust_could_not_address_is_refused() {
        use super::linux::Layout;
        const MOST: usize = i32::MAX as usize;
        let layout = |bytes: u64| Layout::of(bytes / 1024, MOST);
        let largest = (1 << 31) - (2 << 20);
        let (used, len) = (largest as usize, largest as usize + (2 << 20) - (4 << 10));
        let count = used / 1024;
        assert_eq!(layout(largest), Some(Layout { count, used, len }));
        for bytes in [largest + 1024, 1 << 31, 3 << 30, (4 << 30) - 1024] {
            assert_eq!(layout(bytes), None, "{bytes}");
        }
        let small = |count| Layout {
            count,
            used: (1024 * count).max(1),
            len: (1024 * count).max(1),
        };
        for count in [0, 1, 2047] {
            assert_eq!(Layout::of(count as u64, MOST), Some(small(count)));
        }
    }

    /// As the system itself says: not in core dumps, and zeros in a process that is forked. Neither needs more than a flag of the
    /// mapping, and the test would need `unsafe` to fork.
    #[cfg(target_os = "linux")]
    #[test]
    fn secrets_go_neither_to_core_dumps_nor_to_forked_processes() {
        for count in [3, 5000] {
            let pages = Pages::new(count, Effort::Quick).unwrap();
            let blocks = pages.blocks();
            for block in [&blocks[0], &blocks[blocks.len() - 1]] {
                let flags = flags_of(block.as_ptr().addr());
                for wanted in ["dd", "wf"] {
                    assert!(
                        flags.iter().any(|flag| flag == wanted),
                        "{count}: {flags:?}"
                    );
                }
            }
        }
        // What nobody advised has neither: the flags are read from the right place.
        let stack = 0_u8;
        let flags = flags_of((&raw const stack).addr());
        assert!(!flags.iter().any(|flag| flag == "wf"), "{flags:?}");
    }

    /// Unless the system has none, or gives them to nobody.
    #[cfg(target_os = "linux")]
    #[test]
    fn large_memory_asks_for_huge_pages() {
        if !has_huge_pages() {
            println!("skipped: this system has no transparent huge pages");
            return;
        }
        let asks = |count| {
            let pages = Pages::new(count, Effort::Quick).unwrap();
            let flags = flags_of(pages.blocks()[0].as_ptr().addr());
            flags.iter().any(|flag| flag == "hg")
        };
        assert!(asks(5000) && !asks(3));
    }

    /// Where the first huge page takes too long, all after it are small, but for who has patience; and none are where it does not.
    #[cfg(target_os = "linux")]
    #[test]
    fn after_a_slow_page_small_ones_are_asked_for() {
        use std::time::{Duration, Instant};
        if !has_huge_pages() {
            println!("skipped: this system has no transparent huge pages");
            return;
        }
        let (slow, quick) = (Duration::ZERO, Duration::MAX);
        for (effort, limit, expected) in [
            (Effort::Quick, slow, true),
            (Effort::Ahead, slow, true),
            (Effort::Sample, slow, true),
            (Effort::Patient, slow, false),
            (Effort::Quick, quick, false),
        ] {
            let pages = Pages::with_limit(10 << 10, effort, limit).unwrap();
            let [first, last] = [0, (10 << 10) - 1].map(|i| pages.blocks()[i].as_ptr().addr());
            let small = |address| flags_of(address).iter().any(|flag| flag == "nh");
            let began = Instant::now();
            // A helper does it soon.
            while expected && !small(last) {
                assert!(began.elapsed() < Duration::from_secs(20), "{effort:?}");
            }
            assert_eq!(small(last), expected, "{effort:?}");
            assert!(!small(first), "{effort:?}");
        }
    }

    #[cfg(target_os = "linux")]
    fn has_huge_pages() -> bool {
        let policy = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
        policy.is_ok_and(|policy| !policy.contains("[never]"))
    }

    /// `VmFlags` of the mapping of an address (proc_pid_smaps(5)).
    #[cfg(target_os = "linux")]
    fn flags_of(address: usize) -> Vec<String> {
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut inside = false;
        for line in maps.lines() {
            let range = line
                .split(' ')
                .next()
                .and_then(|range| range.split_once('-'));
            if let Some((Ok(start), Ok(end))) = range.map(|(start, end)| (hex(start), hex(end))) {
                inside = (start..end).contains(&address);
            }
            if let (true, Some(flags)) = (inside, line.strip_prefix("VmFlags:")) {
                return flags.split_whitespace().map(str::to_owned).collect();
            }
        }
        panic!("{address:x} is in no mapping")
    }

    #[cfg(target_os = "linux")]
    fn hex(text: &str) -> Result<usize, std::num::ParseIntError> {
        usize::from_str_radix(text, 16)
    }

    #[test]
    fn pages_that_do_not_exist_are_none() {
        for count in [1 << 40, u64::MAX / 1024, u64::MAX] {
            assert!(Pages::new(count, Effort::Quick).is_none());
        }
    }
}
