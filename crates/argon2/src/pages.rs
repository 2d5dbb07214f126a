//! One allocation of many blocks, on huge pages where there are any. The only unsafe code of this crate.
#![cfg_attr(target_os = "linux", allow(unsafe_code))]

#[cfg(target_os = "linux")]
pub(crate) use linux::{Getter, Pages};
#[cfg(not(target_os = "linux"))]
pub(crate) use other::{Getter, Pages};

#[cfg(target_os = "linux")]
mod linux {
    use super::Effort;
    use crate::block::Block;
    use crate::page_choice::{Choice, Kind};
    use crate::starter::Starter;
    use std::ptr::NonNull;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::thread::JoinHandle;
    use std::time::Duration;

    /// Blocks in a mapping of their own.
    #[derive(Debug)]
    pub(crate) struct Pages {
        mapping: NonNull<u8>,
        /// Of the mapping, in bytes.
        len: usize,
        blocks: NonNull<Block>,
        count: usize,
        /// How it is populated, if it has huge pages.
        populating: Option<Arc<Populating>>,
        /// The thread that populates the mapping, perhaps still.
        helper: Option<JoinHandle<()>>,
    }

    // SAFETY: `Pages` owns its mapping alone, like a `Box<[Block]>`.
    unsafe impl Send for Pages {}
    // SAFETY: as above; `&Pages` only gives `&[Block]`.
    unsafe impl Sync for Pages {}

    /// The size and alignment of a huge page on most machines. Where it is another, pages are of the usual size.
    const HUGE: usize = 2 << 20;

    /// The size of other pages on most machines.
    const SMALL: usize = 4 << 10;

    /// By this a mapping is longer than its huge pages: it begins with any page, and they begin with a multiple of `HUGE`.
    const ROOM: usize = HUGE - SMALL;

    impl Pages {
        /// `count` blocks of zeros, if the system has them.
        pub(crate) fn new(count: u64, effort: Effort) -> Option<Self> {
            Self::with_limit(count, effort, SLOW)
        }

        /// The same, where the memory of a huge page that takes longer than `slow` is slow.
        pub(super) fn with_limit(count: u64, effort: Effort, slow: Duration) -> Option<Self> {
            let Layout { count, used, len } = Layout::of(count, isize::MAX.unsigned_abs())?;
            let mapping = map(len)?;
            // What will be in there is as good as the password.
            advise(mapping, len, libc::MADV_DONTDUMP);
            advise(mapping, len, libc::MADV_WIPEONFORK);
            let mut pages = Self {
                mapping,
                len,
                blocks: mapping.cast(),
                count,
                populating: None,
                helper: None,
            };
            if len == used {
                return Some(pages);
            }
            // SAFETY: at most ROOM, by which the mapping is longer than what is used.
            let start = unsafe { mapping.add(mapping.align_offset(HUGE)) };
            touch(mapping, if start == mapping { len - 1 } else { 0 });
            advise(start, used, libc::MADV_HUGEPAGE);
            pages.blocks = start.cast();
            let patient = effort == Effort::Patient;
            let populating = Arc::new(Populating::new(Region(start, used), slow, patient));
            match effort {
                Effort::Quick | Effort::Patient => populating.work(),
                Effort::Ahead { spread } if used > HUGE => {
                    pages.helper = run_ahead(&populating, spread);
                }
                Effort::Ahead { .. } | Effort::AsUsed => (),
            }
            pages.populating = Some(populating);
            Some(pages)
        }

        pub(crate) fn blocks(&self) -> &[Block] {
            // SAFETY: `count` blocks from here on are inside the mapping, aligned to a page, and initialised: with zeros by the
            // system, or since then. Writers need `&mut self`.
            unsafe { std::slice::from_raw_parts(self.blocks.as_ptr(), self.count) }
        }

        /// The blocks, and what gets them from the system, if that takes any care.
        pub(crate) fn parts(&mut self) -> (&mut [Block], Option<Getter<'_>>) {
            // SAFETY: as in `blocks`; `&mut self` makes the borrow exclusive, and the getter knows nothing of what is in there.
            let blocks =
                unsafe { std::slice::from_raw_parts_mut(self.blocks.as_ptr(), self.count) };
            (blocks, self.populating.as_deref().map(Getter))
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
            if let (Some(populating), Some(thread)) = (&self.populating, self.helper.take()) {
                populating.stop();
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

    /// Longer than this for the memory of a huge page, and its host has to find it first: filling one takes 0.05 to 0.4 ms on a machine
    /// that has it, and 0.7 as small pages; about 5 on a virtual one that has given it back, or never had it.
    const SLOW: Duration = Duration::from_millis(3);

    /// Getting the memory of a region from the system.
    #[derive(Debug)]
    pub(crate) struct Populating {
        region: Region,
        /// The next huge page to ask for.
        next: AtomicUsize,
        /// Longer than this is slow.
        slow: Duration,
        choice: Choice,
    }

    /// Populates by a thread of its own, if there is one; else pages come when they are used. Who uses the region gets the first page
    /// meanwhile: two that get the same one both fill it.
    fn run_ahead(populating: &Arc<Populating>, spread: bool) -> Option<JoinHandle<()>> {
        let populating = Arc::clone(populating);
        populating.next.store(1, Relaxed);
        let mut starter = Starter::of(2, spread);
        starter.spawn(move || populating.work()).ok()
    }

    impl Populating {
        fn new(region: Region, slow: Duration, patient: bool) -> Self {
            Self {
                region,
                next: AtomicUsize::new(0),
                slow,
                choice: Choice::new(region.1 / HUGE, patient),
            }
        }

        /// Gets huge page after huge page, or as much in small ones.
        fn work(&self) {
            let pages = self.region.1 / HUGE;
            loop {
                let page = self.next.fetch_add(1, Relaxed);
                if page >= pages {
                    return;
                }
                let part = self.region.page(page);
                // An old system cannot do this: pages then come when they are used.
                self.watch(HUGE, |_| part.advise(libc::MADV_POPULATE_WRITE));
            }
        }

        /// No further page is asked for.
        fn stop(&self) {
            self.next.store(usize::MAX / 2, Relaxed);
        }

        /// Gets these blocks by writing to some of them, as to memory that is there; they are about to be written to anyway.
        fn touch(&self, blocks: &mut [Block]) {
            let bytes = size_of_val(blocks);
            self.watch(bytes, |kind| {
                let page = if kind == Kind::Small { SMALL } else { HUGE };
                let last = blocks.len().saturating_sub(1);
                let starts = (0..last).step_by(page / size_of::<Block>());
                for index in starts.chain([last]) {
                    if let Some(block) = blocks.get_mut(index) {
                        block[0].0[0] = 0;
                        core::hint::black_box(block);
                    }
                }
            });
        }

        /// Makes the choice anew if `get`, which gets so many bytes, takes too long.
        fn watch(&self, bytes: usize, get: impl FnOnce(Kind)) {
            let kind = self.choice.kind();
            let start = processor_time();
            get(kind);
            let took = processor_time().saturating_sub(start);
            // A huge page comes whole. Of less than a quarter of one, small pages come so quickly that little else may happen meanwhile.
            let share = match kind {
                Kind::Small => (HUGE / bytes.max(1)).clamp(1, 4),
                Kind::Huge | Kind::HugeForGood => 1,
            };
            let is_slow = took * share as u32 >= self.slow;
            let mut change = is_slow.then(|| self.choice.was_slow(kind)).flatten();
            while let Some(kind) = change {
                // What is there stays as it is.
                self.region.advise(match kind {
                    Kind::Small => libc::MADV_NOHUGEPAGE,
                    Kind::Huge | Kind::HugeForGood => libc::MADV_HUGEPAGE,
                });
                // Another thread may have advised something later, and been quicker.
                let now = self.choice.kind();
                change = (now != kind).then_some(now);
            }
        }
    }

    impl Region {
        /// Huge page `page`, which is inside.
        fn page(self, page: usize) -> Self {
            // SAFETY: inside the mapping.
            Self(unsafe { self.0.add(page * HUGE) }, HUGE)
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

    /// Gets blocks from the system for who is about to fill them.
    pub(crate) struct Getter<'a>(&'a Populating);

    impl Getter<'_> {
        /// Gets these, in which there is anything afterwards.
        pub(crate) fn get(&self, blocks: &mut [Block]) {
            self.0.touch(blocks);
        }
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
    /// As `Quick`, by a thread that runs ahead of the one that uses it; on another processor, if `spread` and there are but two.
    Ahead { spread: bool },
    /// As `Quick`, but page by page, by whoever is about to use it ([`Pages::parts`]): into the cache of the processor that needs it.
    AsUsed,
}

#[cfg(not(target_os = "linux"))]
mod other {
    use super::Effort;
    use crate::block::{Block, ZERO_BLOCK};

    /// There is none.
    pub(crate) struct Getter<'a>(core::convert::Infallible, core::marker::PhantomData<&'a ()>);

    impl Getter<'_> {
        pub(crate) fn get(&self, _blocks: &mut [Block]) {
            match self.0 {}
        }
    }

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

        /// All blocks are there.
        pub(crate) fn parts(&mut self) -> (&mut [Block], Option<Getter<'_>>) {
            (&mut self.0, None)
        }

        pub(crate) fn blocks(&self) -> &[Block] {
            &self.0
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
                Effort::Ahead { spread: false },
                Effort::AsUsed,
            ] {
                let mut pages = Pages::new(count, effort).unwrap();
                assert_eq!(pages.blocks().len() as u64, count);
                assert!(pages.blocks().iter().all(|block| *block == ZERO_BLOCK));
                for (value, block) in (1..).zip(pages.parts().0) {
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
        // So many that a helper is at work for a while.
        const COUNT: u64 = 100 << 10;
        for effort in [false, true].map(|spread| Effort::Ahead { spread }) {
            drop(Pages::new(COUNT, effort));
            let mut pages = Pages::new(COUNT, effort).unwrap();
            for (value, block) in (1..).zip(pages.parts().0) {
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
        if no_huge_pages() {
            return;
        }
        // With patience: else it could stop asking.
        let asks = |count| {
            let pages = Pages::new(count, Effort::Patient).unwrap();
            let flags = flags_of(pages.blocks()[0].as_ptr().addr());
            flags.iter().any(|flag| flag == "hg")
        };
        assert!(asks(5000) && !asks(3));
    }

    /// When everything takes too long, a huge page is followed by small ones, and these, after a while, by huge ones again. Who has
    /// patience stays with huge ones.
    #[cfg(target_os = "linux")]
    #[test]
    fn slow_pages_change_what_is_asked_for() {
        use std::time::{Duration, Instant};
        if no_huge_pages() {
            return;
        }
        const PAGE: u64 = 2 << 10;
        let (slow, quick) = (Duration::ZERO, Duration::MAX);
        let ahead = Effort::Ahead { spread: true };
        for (effort, count, limit, expected) in [
            (Effort::Quick, PAGE, slow, "nh"),
            (Effort::Quick, 9 * PAGE, slow, "nh"),
            (Effort::Quick, 10 * PAGE, slow, "hg"),
            (Effort::Quick, PAGE, quick, "hg"),
            (Effort::Patient, PAGE, slow, "hg"),
            // The helper gets all but the first.
            (ahead, 2 * PAGE, slow, "nh"),
            (Effort::AsUsed, 5 * PAGE, slow, "nh"),
        ] {
            let mut pages = Pages::with_limit(count, effort, limit).unwrap();
            if effort == Effort::AsUsed {
                let (blocks, getter) = pages.parts();
                getter.unwrap().get(&mut blocks[..512]);
            }
            let ends = [0, count as usize - 1].map(|i| pages.blocks()[i].as_ptr().addr());
            let is = |address| flags_of(address).iter().any(|flag| flag == expected);
            let began = Instant::now();
            // A helper does it soon.
            while effort == ahead && !is(ends[1]) {
                assert!(began.elapsed() < Duration::from_secs(20), "{effort:?}");
            }
            assert_eq!(ends.map(is), [true; 2], "{effort:?} {expected}");
        }
    }

    /// The pages of blocks that are about to be filled are there afterwards, and no others.
    #[cfg(target_os = "linux")]
    #[test]
    fn memory_is_got_by_who_fills_it() {
        if no_huge_pages() {
            return;
        }
        const PAGE: usize = 2 << 10;
        let mut pages = Pages::new(8 * PAGE as u64, Effort::AsUsed).unwrap();
        let before = resident(pages.blocks());
        let (blocks, getter) = pages.parts();
        let getter = getter.unwrap();
        getter.get(&mut blocks[3 * PAGE - 1..4 * PAGE + 1]);
        let after = resident(blocks);
        // A system may have no huge page left: then it is only the first small one of each.
        assert!(
            before == 0 && (3 * 4..=3 * PAGE).contains(&after),
            "{after}"
        );
        getter.get(&mut []);
        assert_eq!(resident(blocks), after);
    }

    /// KiB of the mapping of these blocks that are in memory (proc_pid_smaps(5)).
    #[cfg(target_os = "linux")]
    fn resident(blocks: &[crate::Block]) -> usize {
        let line = of_mapping(blocks.as_ptr().addr(), "Rss:");
        line.trim_end_matches("kB").trim().parse().unwrap()
    }

    #[cfg(target_os = "linux")]
    fn no_huge_pages() -> bool {
        let policy = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
        let none = policy.map_or(true, |policy| policy.contains("[never]"));
        if none {
            println!("skipped: this system has no transparent huge pages");
        }
        none
    }

    /// `VmFlags` of the mapping of an address (proc_pid_smaps(5)).
    #[cfg(target_os = "linux")]
    fn flags_of(address: usize) -> Vec<String> {
        let flags = of_mapping(address, "VmFlags:");
        flags.split_whitespace().map(str::to_owned).collect()
    }

    /// The field `name` of the mapping of an address.
    #[cfg(target_os = "linux")]
    fn of_mapping(address: usize, name: &str) -> String {
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
            if let (true, Some(value)) = (inside, line.strip_prefix(name)) {
                return value.to_owned();
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
