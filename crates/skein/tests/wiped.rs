//! After the last owner is dropped, no key and no state that depends on it is on the heap.
//!
//! The process searches its own memory. The test first overwrites the copies that moves leave on
//! the stack: the crate does not promise to wipe those.
#![cfg(target_os = "linux")]

use std::hint::black_box;
use std::sync::Mutex;

use sealstone_lanes::Portable;
use sealstone_skein::threefish::{Block, Threefish512};
use sealstone_skein::tree::{Shape, Start, TreeSkein};
use sealstone_skein::{Mac, Parameters, Prng, Skein512, StreamCipher, Type, Ubi};
use sealstone_testing::{own_memory, skipped_by_emulator};

const KEY: &[u8] = b"the secret key of this test, which no other one has: 0123456789abcdef";

/// One search at a time: a search would find the values that another one searches.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Makes a value on the heap, finds its state in memory while it lives, and not afterwards.
fn assert_wiped<T>(state: impl FnOnce() -> [u64; 8], make: impl FnOnce() -> Box<T>) {
    let _guard = ONE_AT_A_TIME.lock();
    let masked = in_a_frame_of_its_own(|| Box::new(state().map(|word| !word)));
    let value = in_a_frame_of_its_own(make);
    assert!(occurrences(&masked) > 0, "found while alive");
    in_a_frame_of_its_own(|| drop(value));
    assert_eq!(occurrences(&masked), 0, "copies left behind");
}

/// Runs `work`, then overwrites its copies on the stack.
fn in_a_frame_of_its_own<T>(work: impl FnOnce() -> T) -> T {
    #[inline(never)]
    fn call<T>(work: impl FnOnce() -> T) -> T {
        work()
    }
    #[inline(never)]
    fn overwrite() {
        black_box([0_u8; 1 << 17]);
    }
    let result = call(work);
    overwrite();
    result
}

/// The number of places with the first two or the last two of these words, which are given
/// inverted.
fn occurrences(masked: &[u64; 8]) -> usize {
    let [a, b, .., c, d] = *masked;
    own_memory::occurrences(&[[a, b], [c, d]].map(own_memory::pattern))
}

fn start(parameters: Parameters<'_>, shape: Option<Shape>) -> [u64; 8] {
    parameters.start(Portable, shape)
}

#[test]
fn a_copy_left_behind_is_noticed() {
    if skipped_by_emulator() {
        return;
    }
    let caught = std::panic::catch_unwind(|| {
        let state = || start(Parameters::new().key(b"planted"), None);
        assert_wiped(state, || {
            black_box(Box::leak(Box::new(state())));
            Box::new(())
        });
    });
    let message = *caught.unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("copies left behind"), "{message}");
}

#[test]
fn a_mac_and_a_keyed_hash() {
    if skipped_by_emulator() {
        return;
    }
    let parameters = Parameters::new().key(KEY).output_bits(256);
    assert_wiped(
        || start(parameters, None),
        || Box::new(Mac::<8>::new(KEY, 256)),
    );
    assert_wiped(
        || start(parameters, None),
        || Box::new(Skein512::with(&parameters)),
    );
}

#[test]
fn keyed_trees() {
    if skipped_by_emulator() {
        return;
    }
    let shape = Shape::new(6, 4, 255).unwrap();
    let parameters = Parameters::new().key(KEY);
    assert_wiped(
        || start(parameters, Some(shape)),
        || Box::new(Start::with(&parameters)),
    );
    assert_wiped(
        || start(parameters, Some(shape)),
        || Box::new(Start::with(&parameters).root()),
    );
    assert_wiped(
        || start(parameters, Some(shape)),
        || Box::new(TreeSkein::<8>::with(&parameters, shape)),
    );
}

/// Each new level moves the nodes below it to another allocation.
#[test]
fn keyed_trees_that_grow() {
    if skipped_by_emulator() {
        return;
    }
    let shape = Shape::new(1, 1, 255).unwrap();
    let parameters = Parameters::new().key(KEY);
    for leaves in [1, 3, 40] {
        assert_wiped(
            || start(parameters, Some(shape)),
            || {
                let mut tree = Box::new(TreeSkein::<8>::with(&parameters, shape));
                (0..leaves).for_each(|_| tree.update(&[7; 128]));
                tree
            },
        );
    }
}

/// The root keeps the value of a first piece of five bytes.
#[test]
fn a_keyed_root_and_its_sub_tree() {
    if skipped_by_emulator() {
        return;
    }
    let parameters = Parameters::new().key(KEY);
    let value = || {
        let shape = Shape::new(6, 4, 255).unwrap();
        let chain = start(parameters, Some(shape));
        let mut padded = [0; 64];
        padded[..5].copy_from_slice(b"piece");
        let block = std::array::from_fn(|i| u64::from_le_bytes(padded.as_chunks::<8>().0[i]));
        let tweak = [5, 0xf0 << 56 | 1 << 48];
        let cipher: [u64; 8] = Block::encrypt(block, Portable, &chain, &tweak);
        std::array::from_fn(|i| cipher[i] ^ block[i])
    };
    let piece = || Start::with(&parameters).subtree(0, b"piece");
    assert_wiped(value, || Box::new(piece()));
    assert_wiped(value, || {
        let mut root = Box::new(Start::with(&parameters).root());
        root.push(piece());
        root
    });
}

#[test]
fn ubi_by_itself() {
    if skipped_by_emulator() {
        return;
    }
    let words = || std::array::from_fn(|i| 0xfedc_ba98_7654_3210_u64.rotate_left(5 * i as u32));
    assert_wiped(words, || {
        Box::new(Ubi::<u64, 8>::new(Portable, words(), Type::Message))
    });
}

/// The right tag, which a forger could use. It is long, so that allocations of the search itself do
/// not overwrite its end.
#[test]
fn a_tag_that_was_compared() {
    if skipped_by_emulator() {
        return;
    }
    let tag = || {
        let parameters = Parameters::new().key(KEY).output_bits(800_000);
        let mut output = Skein512::with(&parameters).output();
        let mut part = [0; 1000];
        (0..100).for_each(|_| output.read(&mut part));
        std::array::from_fn(|i| u64::from_le_bytes(part.as_chunks::<8>().0[i]))
    };
    let masked = in_a_frame_of_its_own(|| Box::new(tag().map(|word: u64| !word)));
    let _guard = ONE_AT_A_TIME.lock();
    let right = in_a_frame_of_its_own(|| Mac::<8>::new(KEY, 800_000).verify(&[0; 64]));
    assert!(!right);
    assert_eq!(occurrences(&masked), 0, "copies left behind");
}

#[test]
fn a_key_stream() {
    if skipped_by_emulator() {
        return;
    }
    // UBI of the empty message, the start of the stream.
    let parameters = Parameters::new()
        .key(KEY)
        .nonce(b"nonce")
        .output_bits(u64::MAX);
    let state = || {
        let start = start(parameters, None);
        Ubi::<u64, 8>::new(Portable, start, Type::Message).finish()
    };
    assert_wiped(state, || Box::new(StreamCipher::<8>::new(KEY, b"nonce")));
}

#[test]
fn a_generator() {
    if skipped_by_emulator() {
        return;
    }
    // An array, because the memory of a `Vec` that is dropped keeps the hash.
    let state = || {
        let mut hash = [0; 64];
        let message = Skein512::new().chain(&[0; 64]).chain(b"seed of this test");
        message.output().read(&mut hash);
        std::array::from_fn(|i| u64::from_le_bytes(hash.as_chunks::<8>().0[i]))
    };
    assert_wiped(state, || Box::new(Prng::<8>::new(b"seed of this test")));
}

#[test]
fn a_cipher() {
    if skipped_by_emulator() {
        return;
    }
    let words = || std::array::from_fn(|i| 0x0123_4567_89ab_cdef_u64.rotate_left(7 * i as u32));
    assert_wiped(words, || {
        let words: [u64; 8] = words();
        let bytes = words.map(u64::to_le_bytes);
        Box::new(Threefish512::new(bytes.as_flattened().try_into().unwrap()))
    });
}
