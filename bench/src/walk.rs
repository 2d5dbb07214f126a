//! What memory alone costs a hash with one lane: Argon2's walk through it, without its arithmetic.
//!
//! Each step reads a KiB at a place that follows from the KiB read before, as likely as RFC 9106, section 3.4.2, has it, and adds it to
//! the next KiB in order. Any Argon2 of this size has to do that, so none takes less time in memory that it has already.

use memmap2::{Advice, MmapMut};
use std::time::{Duration, Instant};

const LINE: usize = 64;
const LINES: usize = 16;
type Block = [[u8; LINE]; LINES];

/// The time of all steps; getting the memory is not in it.
pub fn walk(memory_kib: u32, passes: u32) -> Duration {
    let mut memory = huge_pages(memory_kib as usize * LINES * LINE);
    let (lines, _) = memory.as_chunks_mut();
    let (blocks, _) = lines.as_chunks_mut();
    let start = Instant::now();
    let mut word = 1;
    for _ in 0..passes {
        for index in 0..blocks.len() {
            word = step(blocks, index, word);
        }
    }
    std::hint::black_box(word);
    start.elapsed()
}

/// Memory as the quickest have it, with something in every line.
fn huge_pages(bytes: usize) -> MmapMut {
    let mut memory = MmapMut::map_anon(bytes).expect("memory");
    // A system that has none walks on small pages.
    let _ = memory.advise(Advice::HugePage);
    let mut word = 1;
    for line in memory.as_chunks_mut::<LINE>().0 {
        word = mixed(word);
        line[..8].copy_from_slice(&word.to_le_bytes());
    }
    memory
}

/// Adds a block that `word` names to block `index`. It is one of the three quarters of memory that were written last.
#[inline(always)]
fn step(blocks: &mut [Block], index: usize, word: u64) -> u64 {
    let area = (blocks.len() * 3 / 4) as u64;
    let x = u64::from(word as u32);
    let back = 1 + ((area * (x * x >> 32)) >> 32) as usize;
    let from = if index < back {
        index + blocks.len()
    } else {
        index
    } - back;
    let [reference, block] = blocks
        .get_disjoint_mut([from, index])
        .expect("a reference to another block");
    let mut sum = word;
    for (line, other) in block.iter_mut().zip(&*reference) {
        // Copies, so that the compiler need not ask whether the two overlap.
        let (old, other) = (*line, *other);
        *line = std::array::from_fn(|byte| old[byte] ^ other[byte]);
        sum ^= u64::from_le_bytes(*other.first_chunk().unwrap_or(&[0; 8]));
    }
    mixed(sum)
}

fn mixed(word: u64) -> u64 {
    let word = word.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    word ^ word >> 32
}
