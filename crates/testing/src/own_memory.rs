//! Searching the writable memory of this process, by way of `/proc/self`.
//!
//! The caller inverts the bytes to search for, so that the search does not find its own argument.

use std::fs::{self, File};
use std::hint::black_box;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, PoisonError};

const MEMORY: &str = "/proc/self/mem";

/// Calls `look` with all writable memory, piece by piece. Two pieces of one mapping overlap by
/// `overlap` bytes, less than 4 KiB.
///
/// One search runs at a time. Its buffer is not searched, and is wiped afterwards.
pub fn search(overlap: usize, mut look: impl FnMut(&[u8])) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut buffer = vec![0; 1 << 16];
    let own = buffer.as_ptr().addr() as u64..(buffer.as_ptr().addr() + buffer.len()) as u64;
    let memory = File::open(MEMORY).expect(MEMORY);
    for range in writable_ranges() {
        for part in without(&range, &own) {
            read(&memory, part, overlap, &mut buffer, &mut look);
        }
    }
    buffer.fill(0);
    black_box(&buffer);
}

/// Fills `bytes` with what is at this address, also if that memory was given back to the allocator.
///
/// # Panics
/// If some of it is not mapped.
pub fn read_at(address: usize, bytes: &mut [u8]) {
    let memory = File::open(MEMORY).expect(MEMORY);
    memory
        .read_exact_at(bytes, address as u64)
        .expect("mapped memory");
}

/// The number of places with one of these patterns, given inverted.
pub fn occurrences(inverted: &[[u8; 16]]) -> usize {
    let mut found = 0;
    search(15, |bytes| {
        let is_one = |window: &&[u8]| {
            let equal = |pattern: &[u8; 16]| pattern.iter().zip(*window).all(|(p, b)| !p == *b);
            inverted.iter().any(equal)
        };
        found += bytes.windows(16).filter(is_one).count();
    });
    found
}

/// The pattern of two words, which are given inverted.
pub fn pattern(inverted: [u64; 2]) -> [u8; 16] {
    let bytes = inverted.map(u64::to_ne_bytes);
    let mut pattern = [0; 16];
    pattern.copy_from_slice(bytes.as_flattened());
    pattern
}

fn read(
    memory: &File,
    range: Range<u64>,
    overlap: usize,
    buffer: &mut [u8],
    look: &mut impl FnMut(&[u8]),
) {
    let mut at = range.start;
    while at < range.end {
        let len = buffer.len().min((range.end - at) as usize);
        // Pages can go away meanwhile. Those hold nothing any more.
        let Ok(read) = memory.read_at(&mut buffer[..len], at) else {
            return;
        };
        look(&buffer[..read]);
        if read <= overlap || at + read as u64 == range.end {
            return;
        }
        at += (read - overlap) as u64;
    }
}

/// The parts of `range` before and after `own`.
fn without(range: &Range<u64>, own: &Range<u64>) -> Vec<Range<u64>> {
    let before = range.start..range.end.min(own.start);
    let after = range.start.max(own.end)..range.end;
    let parts = [before, after].into_iter();
    parts.filter(|part| !part.is_empty()).collect()
}

fn writable_ranges() -> Vec<Range<u64>> {
    let parse = |line: &str| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let address = |text| u64::from_str_radix(text, 16).ok();
        rest.starts_with("rw")
            .then_some(address(start)?..address(end)?)
    };
    let maps = fs::read_to_string("/proc/self/maps").expect("/proc/self/maps");
    maps.lines().filter_map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skipped_by_emulator;

    const INVERTED: [u8; 16] = *b"no other test...";

    /// A planted copy is found where it is, at any alignment, as often as it is there, and not when
    /// it is gone; neither is the buffer of an earlier search.
    #[test]
    fn a_planted_copy_is_found_until_it_is_wiped() {
        if skipped_by_emulator() {
            return;
        }
        assert_eq!(occurrences(&[INVERTED]), 0);
        let mut planted = vec![0_u8; 200_000];
        for (number, at) in [0, 1001, 65_530, 199_984].into_iter().enumerate() {
            for (byte, inverted) in planted[at..].iter_mut().zip(INVERTED) {
                *byte = !inverted;
            }
            black_box(&planted);
            assert_eq!(occurrences(&[INVERTED]), number + 1);
        }
        planted.fill(0);
        black_box(&planted);
        assert_eq!(occurrences(&[INVERTED]), 0);
    }

    #[test]
    fn the_bytes_at_an_address_are_read() {
        let (planted, mut read) = (*b"at this place", [0; 13]);
        read_at(black_box(&planted).as_ptr().addr(), &mut read);
        assert_eq!(read, planted);
    }

    #[test]
    fn the_buffer_is_left_out() {
        for (range, own, expected) in [
            (0..10, 20..30, vec![(0, 10)]),
            (20..40, 0..10, vec![(20, 40)]),
            (0..40, 10..20, vec![(0, 10), (20, 40)]),
            (10..20, 10..20, vec![]),
        ] {
            let parts = without(&range, &own).into_iter();
            let parts: Vec<_> = parts.map(|part| (part.start, part.end)).collect();
            assert_eq!(parts, expected);
        }
    }
}
