//! Looks for bytes anywhere in this process's writable memory, by way of `/proc/self`.

use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Mutex;
use std::sync::mpsc;

use sealstone_primitives::secret::{Secret, SecretVec};

/// Bytes to look for, which this value itself does not hold.
#[derive(Clone, Copy)]
pub(crate) struct Needle([u8; 32]);

impl Needle {
    const MASK: u8 = 0xa5;

    /// From 64 hexadecimal digits.
    pub(crate) fn new(digits: &'static str) -> Self {
        let mut masked = [0; 32];
        for (byte, pair) in masked.iter_mut().zip(digits.as_bytes().chunks(2)) {
            *byte = unhex(pair) ^ Self::MASK;
        }
        Self(masked)
    }
}

/// A secret of 64 hexadecimal digits per 32 bytes, decoded in place.
pub(crate) fn secret<const N: usize>(digits: &str) -> Secret<N> {
    Secret::with(|bytes| {
        for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks(2)) {
            *byte = unhex(pair);
        }
    })
}

fn unhex(pair: &[u8]) -> u8 {
    let digit = |digit: u8| (digit as char).to_digit(16).expect("a hexadecimal digit") as u8;
    digit(pair[0]) << 4 | digit(pair[1])
}

/// How often the first 16 or the last 16 bytes of `needle` occur.
pub(crate) fn occurrences(needle: Needle) -> usize {
    // One search at a time: the buffer of another one holds copies of what it reads.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap();
    // Wiped when dropped, and left out of the search.
    let mut buffer = SecretVec::zeroed(1 << 20);
    let own = buffer.expose().as_ptr_range();
    let own = own.start as u64..own.end as u64;
    let memory = File::open("/proc/self/mem").unwrap();
    writable_ranges()
        .into_iter()
        .filter(|range| range.end <= own.start || range.start >= own.end)
        .map(|range| occurrences_in(&memory, range, needle, buffer.expose_mut()))
        .sum()
}

fn writable_ranges() -> Vec<Range<u64>> {
    let parse = |line: &str| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let address = |text| u64::from_str_radix(text, 16).ok();
        rest.starts_with("rw")
            .then_some(address(start)?..address(end)?)
    };
    fs::read_to_string("/proc/self/maps")
        .unwrap()
        .lines()
        .filter_map(parse)
        .collect()
}

fn occurrences_in(memory: &File, range: Range<u64>, needle: Needle, buffer: &mut [u8]) -> usize {
    let overlap = needle.0.len() as u64 - 1;
    let mut found = 0;
    let mut at = range.start;
    while at < range.end {
        let len = usize::try_from(range.end - at).unwrap().min(buffer.len());
        // Pages may go away while we read; those hold nothing any more.
        let Ok(read) = memory.read_at(&mut buffer[..len], at) else {
            break;
        };
        found += buffer[..read]
            .windows(16)
            .filter(|window| half_matches(needle, window))
            .count();
        at += (read as u64).saturating_sub(overlap).max(1);
        if read < len || at + overlap >= range.end {
            break;
        }
    }
    found
}

fn half_matches(needle: Needle, window: &[u8]) -> bool {
    let (first, last) = needle.0.split_at(16);
    [first, last].iter().any(|half| {
        half.iter()
            .zip(window)
            .all(|(masked, byte)| masked ^ Needle::MASK == *byte)
    })
}

/// Runs `work` on a thread, deep in its stack, and counts occurrences of `needle` when it is done
/// but the thread, and so its stack, is still there.
pub(crate) fn occurrences_after(needle: Needle, work: impl FnOnce() + Send) -> usize {
    let (done, is_done) = mpsc::channel();
    let (finish, may_finish) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            deep_in_the_stack(work);
            done.send(()).unwrap();
            may_finish.recv().unwrap();
        });
        is_done.recv().unwrap();
        let found = occurrences(needle);
        finish.send(()).unwrap();
        found
    })
}

/// So that what runs afterwards on the same thread does not overwrite what `work` left behind.
#[inline(never)]
fn deep_in_the_stack(work: impl FnOnce()) {
    let spacer = [0_u8; 64 * 1024];
    std::hint::black_box(&spacer);
    work();
    std::hint::black_box(&spacer);
}
