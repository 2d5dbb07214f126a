use super::Pages;
use crate::block::{Block, ZERO_BLOCK};
use sealstone_lanes::Line;

/// Sizes around a huge page and around two; every block can be written and keeps its value.
#[test]
fn pages_are_zero_and_all_of_them_are_there() {
    for count in [1, 3, 2047, 2048, 2049, 4096, 6000] {
        for new in [Pages::new, Pages::in_memory] {
            let mut pages = new(count).unwrap();
            assert_eq!(pages.blocks().len() as u64, count);
            assert!(pages.blocks().iter().all(|block| *block == ZERO_BLOCK));
            write_and_read(&mut pages);
        }
    }
}

fn write_and_read(pages: &mut Pages) {
    for (value, block) in (1..).zip(pages.parts().0) {
        block.fill(Line([value; 8]));
    }
    let expected = (1..).map(|value| [Line([value; 8]); 16]);
    assert!(
        pages
            .blocks()
            .iter()
            .copied()
            .eq(expected.take(pages.blocks().len()))
    );
}

#[test]
fn pages_that_do_not_exist_are_none() {
    for count in [1 << 40, u64::MAX / 1024, u64::MAX] {
        assert!(Pages::new(count).is_none());
        assert!(Pages::in_memory(count).is_none());
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::super::linux::Layout;
    use super::*;
    use sealstone_testing::skipped_by_emulator;
    use std::time::Duration;

    const PAGE: usize = 2 << 10;

    /// Another thread gets memory while this one uses it.
    #[test]
    fn getting_memory_ahead_changes_no_block() {
        let mut pages = Pages::new(50 * PAGE as u64).unwrap();
        let (blocks, getter) = pages.parts();
        let getter = getter.unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| getter.get_ahead(|| true));
            for (value, block) in (1..).zip(&mut *blocks) {
                block.fill(Line([value; 8]));
            }
        });
        let mut all = (1..).zip(&*blocks);
        assert!(all.all(|(value, block)| *block == [Line([value; 8]); 16]));
    }

    /// A 32-bit system may map more than the 2^31 - 1 bytes that an object of Rust can have.
    #[test]
    fn a_mapping_that_rust_could_not_address_is_refused() {
        const MOST: usize = i32::MAX as usize;
        let layout = |bytes: u64| Layout::of(bytes / 1024, MOST);
        let largest = (1 << 31) - (2 << 20);
        let (used, len) = (largest as usize, largest as usize + (2 << 20) - (4 << 10));
        let count = used / 1024;
        assert_eq!(layout(largest), Some(Layout { count, used, len }));
        for bytes in [largest + 1024, 1 << 31, 3 << 30, (4 << 30) - 1024] {
            assert_eq!(layout(bytes), None, "{bytes}");
        }
        for count in [0, 1, 2047] {
            let used = (1024 * count).max(1);
            let len = used;
            let expected = Layout { count, used, len };
            assert_eq!(Layout::of(count as u64, MOST), Some(expected));
        }
    }

    /// The flags of the mapping say so: not in core dumps, and zeros in a forked process. (The test
    /// would need `unsafe` to fork.)
    #[test]
    fn secrets_go_neither_to_core_dumps_nor_to_forked_processes() {
        if skipped_by_emulator() {
            return;
        }
        for count in [3, 5000] {
            let pages = Pages::new(count).unwrap();
            let blocks = pages.blocks();
            for block in [&blocks[0], &blocks[blocks.len() - 1]] {
                let flags = flags_of(block.as_ptr().addr());
                let has = |wanted: &str| flags.iter().any(|flag| flag == wanted);
                assert!(has("dd") && has("wf"), "{count}: {flags:?}");
            }
        }
        // The stack has no such flag: the flags are read from the right place.
        let stack = 0_u8;
        let flags = flags_of((&raw const stack).addr());
        assert!(!flags.iter().any(|flag| flag == "wf"), "{flags:?}");
    }

    #[test]
    fn large_memory_asks_for_huge_pages() {
        if no_huge_pages() {
            return;
        }
        let asks = |count| asks_for("hg", &Pages::new(count).unwrap());
        assert!(asks(5000) && !asks(3));
    }

    /// Small pages follow when one huge page in 64 was slow.
    #[test]
    fn slow_huge_pages_are_followed_by_small_ones() {
        if no_huge_pages() {
            return;
        }
        for (pages, too_many) in [(1, 1), (63, 1), (64, 2), (128, 3)] {
            for (limit, is_slow) in [(Duration::ZERO, true), (Duration::MAX, false)] {
                let count = (pages * PAGE) as u64;
                let mut pages = Pages::with_limit(count, limit).unwrap();
                for number in 1..=too_many {
                    assert!(asks_for("hg", &pages), "slow page {number} of {too_many}");
                    let (blocks, getter) = pages.parts();
                    getter.unwrap().get(&mut blocks[..1]);
                }
                let expected = if is_slow { "nh" } else { "hg" };
                assert!(asks_for(expected, &pages), "{count} {limit:?}");
            }
        }
    }

    /// The same, ahead of the thread that uses the memory; and what is got that way.
    #[test]
    fn memory_is_got_ahead_and_slowness_is_noticed() {
        if no_huge_pages() {
            return;
        }
        for (limit, expected) in [(Duration::ZERO, "nh"), (Duration::MAX, "hg")] {
            let mut pages = Pages::with_limit(9 * PAGE as u64, limit).unwrap();
            let getter = pages.parts().1.unwrap();
            getter.get_ahead(|| false);
            assert_eq!(resident(pages.blocks()), 0);
            let getter = pages.parts().1.unwrap();
            getter.get_ahead(|| true);
            assert!(asks_for(expected, &pages), "{limit:?}");
            // In KiB, as blocks are counted.
            assert_eq!(resident(pages.blocks()), 8 * PAGE);
        }
    }

    /// The pages of blocks that are about to be filled are there afterwards, and no others.
    #[test]
    fn memory_is_got_by_the_thread_that_fills_it() {
        if no_huge_pages() {
            return;
        }
        let mut pages = Pages::new(8 * PAGE as u64).unwrap();
        assert_eq!(resident(pages.blocks()), 0);
        let (blocks, getter) = pages.parts();
        let getter = getter.unwrap();
        getter.get(&mut blocks[3 * PAGE - 1..3 * PAGE + 1]);
        let after = resident(blocks);
        // A system may have no huge page left: then it is only a small one of each.
        assert!((2 * 4..=2 * PAGE).contains(&after), "{after}");
        getter.get(&mut []);
        assert_eq!(resident(blocks), after);
    }

    /// Whether the mapping of the first block and that of the last one have this flag.
    fn asks_for(flag: &str, pages: &Pages) -> bool {
        let blocks = pages.blocks();
        [&blocks[0], &blocks[blocks.len() - 1]].iter().all(|block| {
            let flags = flags_of(block.as_ptr().addr());
            flags.iter().any(|other| other == flag)
        })
    }

    fn no_huge_pages() -> bool {
        if skipped_by_emulator() {
            return true;
        }
        let policy = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
        let none = policy.map_or(true, |policy| policy.contains("[never]"));
        if none {
            println!("skipped: this system has no transparent huge pages");
        }
        none
    }

    /// KiB of the mapping of these blocks that are in memory (proc_pid_smaps(5)).
    fn resident(blocks: &[Block]) -> usize {
        let line = of_mapping(blocks.as_ptr().addr(), "Rss:");
        line.trim_end_matches("kB").trim().parse().unwrap()
    }

    /// `VmFlags` of the mapping of an address.
    fn flags_of(address: usize) -> Vec<String> {
        let flags = of_mapping(address, "VmFlags:");
        flags.split_whitespace().map(str::to_owned).collect()
    }

    /// The field `name` of the mapping of an address.
    fn of_mapping(address: usize, name: &str) -> String {
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut inside = false;
        for line in maps.lines() {
            if let Some((start, end)) = range(line) {
                inside = (start..end).contains(&address);
            }
            if let (true, Some(value)) = (inside, line.strip_prefix(name)) {
                return value.to_owned();
            }
        }
        panic!("{address:x} is in no mapping")
    }

    /// The addresses that the first line of a mapping begins with.
    fn range(line: &str) -> Option<(usize, usize)> {
        let (start, end) = line.split(' ').next()?.split_once('-')?;
        let hex = |text| usize::from_str_radix(text, 16).ok();
        Some((hex(start)?, hex(end)?))
    }
}
