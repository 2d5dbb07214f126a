//! The cost of memory alone for a hash: Argon2's accesses to it, without arithmetic; and its
//! allocation.
//!
//! Each step reads a KiB at a random place, with the distribution of RFC 9106, section 3.4.2, and
//! adds it to the next KiB in order. With one lane, the place depends on the previous KiB. Every
//! Argon2 of this size must do that, so none is faster in mapped memory. With more lanes, one of
//! them always knows its next place, so here all places are known from the start. Known places are
//! prefetched one step ahead.

use memmap2::{Advice, MmapMut};
use sealstone_lanes::{Line, Place};
use std::time::{Duration, Instant};

const LINE: usize = 64;
const LINES: usize = 16;
type Block = [[u8; LINE]; LINES];

/// The time of all steps, without the allocation. Each thread walks through its share of the
/// memory.
pub(crate) fn walk(memory_kib: u32, passes: u32, lanes: u32, threads: u32) -> Duration {
    let threads = threads.min(lanes) as usize;
    let mut memory = huge_pages(memory_kib as usize * LINES * LINE);
    let (lines, _) = memory.as_chunks_mut();
    let (blocks, _) = lines.as_chunks_mut();
    let share = blocks.len() / threads;
    let start = Instant::now();
    std::thread::scope(|scope| {
        for share in blocks.chunks_exact_mut(share) {
            scope.spawn(move || steps(share, passes, lanes == 1));
        }
    });
    start.elapsed()
}

/// The time of allocating the memory, each thread its share, page by page, and of freeing it: the
/// system's part of a hash in new memory. The system fills every page with zeros.
pub(crate) fn pages(memory_kib: u32, lanes: u32, threads: u32) -> Duration {
    const PAGE: usize = 4 << 10;
    let bytes = memory_kib as usize * LINES * LINE;
    let start = Instant::now();
    let mut memory = on_huge_pages(bytes);
    std::thread::scope(|scope| {
        for share in memory.chunks_mut(bytes / threads.min(lanes) as usize) {
            scope.spawn(move || share.iter_mut().step_by(PAGE).for_each(|byte| *byte = 1));
        }
    });
    drop(memory);
    start.elapsed()
}

fn steps(blocks: &mut [Block], passes: u32, one_lane: bool) {
    let hints = Hints::new();
    let mut word = 1;
    for _ in 0..passes {
        for index in 0..blocks.len() {
            let next = mixed(word);
            let later = (index + 1) % blocks.len();
            let mut soon = [later; 2];
            if !one_lane {
                soon[1] = reference(blocks.len(), later, next);
            }
            let soon = soon.map(|number| hints.place(&blocks[number]));
            let sum = step(blocks, index, word, soon);
            word = if one_lane { mixed(sum) } else { next };
        }
    }
    std::hint::black_box(word);
}

/// Prefetches blocks, with hints that are relative to the place of a line.
struct Hints {
    address: usize,
    place: Place,
}

impl Hints {
    fn new() -> Self {
        let line = [Line([0; 8])];
        let (address, place) = (line.as_ptr().addr(), Place::of(&line));
        Self { address, place }
    }

    fn place(&self, block: &Block) -> Place {
        let distance = block.as_ptr().addr().wrapping_sub(self.address);
        // In lines. Both addresses are at the start of a line.
        let distance = distance.cast_signed() / LINE as isize;
        self.place.line(distance.cast_unsigned())
    }
}

/// Memory on huge pages, as the fastest implementations use it. The kernel maps it on first access.
fn on_huge_pages(bytes: usize) -> MmapMut {
    let memory = MmapMut::map_anon(bytes).expect("memory");
    // A system without huge pages walks on small pages.
    let _ = memory.advise(Advice::HugePage);
    memory
}

/// Memory on huge pages with data in every line.
fn huge_pages(bytes: usize) -> MmapMut {
    let mut memory = on_huge_pages(bytes);
    let mut word = 1;
    for line in memory.as_chunks_mut::<LINE>().0 {
        word = mixed(word);
        line[..8].copy_from_slice(&word.to_le_bytes());
    }
    memory
}

/// The block that `word` selects for block `index` of `blocks`, from the three quarters written
/// last.
#[inline(always)]
fn reference(blocks: usize, index: usize, word: u64) -> usize {
    let area = (blocks * 3 / 4) as u64;
    let x = u64::from(word as u32);
    let back = 1 + ((area * ((x * x) >> 32)) >> 32) as usize;
    let end = if index < back { index + blocks } else { index };
    end - back
}

/// Adds the block that `word` selects to block `index`. Returns a word that depends on all of it.
/// Prefetches the block that is needed `soon`.
#[inline(always)]
fn step(blocks: &mut [Block], index: usize, word: u64, soon: [Place; 2]) -> u64 {
    let from = reference(blocks.len(), index, word);
    let [reference, block] = blocks
        .get_disjoint_mut([from, index])
        .expect("a reference to another block");
    let mut sum = word;
    for (number, (line, other)) in block.iter_mut().zip(&*reference).enumerate() {
        for place in soon {
            place.line(number).prefetch::<1>();
        }
        // Copies, so that the compiler need not check for overlap.
        let (old, other) = (*line, *other);
        *line = std::array::from_fn(|byte| old[byte] ^ other[byte]);
        sum ^= u64::from_le_bytes(*other.first_chunk().unwrap_or(&[0; 8]));
    }
    sum
}

fn mixed(word: u64) -> u64 {
    let word = word.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    word ^ (word >> 32)
}
