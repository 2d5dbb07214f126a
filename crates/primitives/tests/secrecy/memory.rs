//! Searches bytes in this process's writable memory.

use std::sync::mpsc;

use sealstone_primitives::secret::Secret;
use sealstone_testing::own_memory;

/// Bytes to search. This value holds both halves inverted, so the search does not find it.
#[derive(Clone, Copy)]
pub(crate) struct Needle([[u8; 16]; 2]);

impl Needle {
    /// From 64 hexadecimal digits.
    pub(crate) fn new(digits: &'static str) -> Self {
        let mut halves = [[0; 16]; 2];
        let bytes = halves.as_flattened_mut().iter_mut();
        for (byte, pair) in bytes.zip(digits.as_bytes().chunks(2)) {
            *byte = !unhex(pair);
        }
        Self(halves)
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

/// The number of occurrences of the first 16 or the last 16 bytes of `needle`.
pub(crate) fn occurrences(needle: Needle) -> usize {
    own_memory::occurrences(&needle.0)
}

/// Runs `work` on a thread, deep in its stack, and counts occurrences of `needle` after the work,
/// while the thread and its stack still exist.
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

/// Runs `work` in a deep frame, so that later code on the same thread does not overwrite its
/// leftovers.
#[inline(never)]
fn deep_in_the_stack(work: impl FnOnce()) {
    let spacer = [0_u8; 64 * 1024];
    std::hint::black_box(&spacer);
    work();
    std::hint::black_box(&spacer);
}
