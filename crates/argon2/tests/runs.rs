//! Long runs: memory, threads, cancelling, progress, errors.

use sealstone_argon2::{
    Arena, Argon2, Cpu, Error, Params, Pool, Progress, Task, Variant, Version, ZERO_BLOCK,
};
use sealstone_lanes::Line;
use sealstone_testing::is_emulated;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

fn tag(argon2: Argon2<'_>, arena: &mut Arena) -> [u8; 32] {
    let mut tag = [0; 32];
    argon2
        .hash(b"password", b"some salt", &mut tag, arena)
        .unwrap();
    tag
}

#[test]
fn the_number_of_threads_does_not_matter() {
    for variant in Variant::ALL {
        // Enough memory for several threads, and segments whose number of blocks is not round.
        let argon2 = Argon2::new(Params::new(29_019, 2, 7).unwrap().with_variant(variant));
        let expected = tag(argon2, &mut Arena::new());
        // Each takes some seconds in an emulator.
        let all = [3, 0, 2, 4, 7, 8, 100];
        let counts = if is_emulated() { &all[..1] } else { &all };
        for &threads in counts {
            assert_eq!(
                tag(argon2.threads(threads), &mut Arena::new()),
                expected,
                "{variant:?} {threads}"
            );
        }
    }
}

/// Each thread allocates the memory that it fills: new memory in the first hash, kept memory in the
/// second.
#[test]
fn threads_that_get_their_own_memory_change_nothing() {
    for variant in Variant::ALL {
        for version in [Version::V0x10, Version::V0x13] {
            let params = Params::new(17_000, 2, 2).unwrap();
            let argon2 = Argon2::new(params.with_variant(variant).with_version(version));
            let expected = tag(argon2, &mut Arena::new());
            let mut arena = Arena::new();
            for arena in [&mut arena, &mut Arena::new()] {
                let tag = tag(argon2.threads(2), arena);
                assert_eq!(tag, expected, "{variant:?} {version:?}");
            }
        }
    }
}

#[test]
fn an_arena_serves_many_sizes() {
    let mut arena = Arena::new();
    assert_eq!(arena.kib(), 0);
    for kib in [100, 5000, 8, 3000, 5000, 9000] {
        let argon2 = Argon2::new(Params::new(kib, 2, 1).unwrap());
        assert_eq!(
            tag(argon2, &mut arena),
            tag(argon2, &mut Arena::new()),
            "{kib}"
        );
    }
    assert!(arena.kib() >= 9000);
    arena.release();
    assert_eq!(arena.kib(), 0);
    assert!(Arena::with_kib(3000).unwrap().kib() >= 3000);
}

#[test]
fn memory_that_is_not_there_is_an_error() {
    let mut arena = Arena::new();
    let params = Params::new(u32::MAX, 1, 1).unwrap();
    // An address space of 47 bits has room for 4 TiB, so this exceeds the memory of every system.
    assert_eq!(
        Arena::with_kib(1 << 50).err(),
        Some(Error::OutOfMemory(1 << 50))
    );
    let mut tag = [1; 32];
    let given = &mut [ZERO_BLOCK; 8];
    let needed = Error::MemoryTooSmall(params.blocks());
    assert_eq!(
        Argon2::new(params).hash_with(b"", b"", &mut tag, given),
        Err(needed)
    );
    assert_eq!(tag, [0; 32], "no tag without a result");
    assert_eq!(
        Argon2::new(params)
            .hash(b"", b"", &mut [0; 3], &mut arena)
            .err(),
        Some(Error::Parameter("a tag of at least 4 bytes"))
    );
    assert_eq!(arena.kib(), 0);
}

#[test]
fn parameters_have_bounds() {
    for (memory, passes, lanes) in [
        (7, 1, 1),
        (15, 1, 2),
        (8, 0, 1),
        (8, 1, 0),
        (u32::MAX, 1, 1 << 24),
    ] {
        assert!(
            matches!(Params::new(memory, passes, lanes), Err(Error::Parameter(_))),
            "{memory} {passes} {lanes}"
        );
    }
    let most = Params::new(u32::MAX, u32::MAX, (1 << 24) - 1).unwrap();
    assert_eq!(
        most.blocks(),
        u64::from(u32::MAX) / (4 * ((1 << 24) - 1)) * 4 * ((1 << 24) - 1)
    );
}

#[test]
fn progress_is_told_and_the_end_is_the_end() {
    for (lanes, threads) in [(1, 1), (3, 1), (4, 3)] {
        let seen = Mutex::new(Vec::new());
        let watch = |progress: Progress| seen.lock().unwrap().push(progress);
        let params = Params::new(17_000, 3, lanes).unwrap();
        let expected = tag(Argon2::new(params), &mut Arena::new());
        assert_eq!(
            tag(
                Argon2::new(params).threads(threads).progress(&watch),
                &mut Arena::new()
            ),
            expected
        );
        let mut seen = seen.into_inner().unwrap();
        seen.sort_by_key(|progress| progress.done);
        let total = 3 * params.blocks() - 2 * u64::from(lanes);
        assert!(seen.len() >= 3 * 4 * lanes as usize / 2);
        // Up to four lanes advance together, by 512 blocks each.
        let steps = seen.windows(2).map(|pair| pair[1].done - pair[0].done);
        assert!(steps.chain([seen[0].done]).all(|step| step <= 4 * 512));
        assert!(seen.iter().all(|progress| progress.total == total));
        assert_eq!(seen.last().unwrap().done, total);
        assert!(seen.is_sorted_by(|a, b| a.done < b.done));
    }
}

/// The initial content of the memory does not matter. Unused memory does not change.
#[test]
fn memory_of_the_caller_is_wiped_on_any_number_of_threads() {
    const DIRT: Line = Line([0x5555_5555_5555_5555; 8]);
    let params = Params::new(20_000, 2, 3).unwrap();
    let expected = tag(Argon2::new(params), &mut Arena::new());
    let needed = params.blocks() as usize;
    for threads in [1, 2, 3] {
        let (mut tag, mut memory) = ([0; 32], vec![[DIRT; 16]; needed + 1]);
        Argon2::new(params)
            .threads(threads)
            .hash_with(b"password", b"some salt", &mut tag, &mut memory)
            .unwrap();
        assert_eq!(tag, expected);
        assert!(memory[..needed].iter().all(|block| *block == ZERO_BLOCK));
        assert_eq!(memory[needed], [DIRT; 16]);
    }
}

#[test]
fn a_run_that_is_cancelled_leaves_nothing() {
    for threads in [1, 2] {
        let (flag, calls) = (AtomicBool::new(false), AtomicUsize::new(0));
        let watch = |_: Progress| {
            if calls.fetch_add(1, Relaxed) == 2 {
                flag.store(true, Relaxed);
            }
        };
        let params = Params::new(20_000, 100, 2).unwrap();
        let argon2 = Argon2::new(params)
            .threads(threads)
            .cancel(&flag)
            .progress(&watch);
        let (mut tag, mut memory) = ([1; 32], vec![ZERO_BLOCK; 20_000]);
        assert_eq!(
            argon2.hash_with(b"password", b"some salt", &mut tag, &mut memory),
            Err(Error::Cancelled)
        );
        assert_eq!(tag, [0; 32]);
        assert!(memory.iter().all(|block| *block == ZERO_BLOCK));
        assert!(calls.load(Relaxed) < 10, "it stops soon");
    }
}

#[test]
fn a_run_that_is_cancelled_before_it_begins_takes_no_memory() {
    let flag = AtomicBool::new(true);
    for threads in [1, 2] {
        let argon2 = Argon2::new(Params::new(20_000, 1, 2).unwrap());
        let (mut tag, mut arena) = ([1; 32], Arena::new());
        let result = argon2.threads(threads).cancel(&flag).hash(
            b"password",
            b"some salt",
            &mut tag,
            &mut arena,
        );
        assert_eq!((result, tag), (Err(Error::Cancelled), [0; 32]));
        assert_eq!(arena.kib(), 0);
    }
}

/// A callback that panics on one thread ends the run on all threads, and the memory is wiped.
#[test]
fn a_panic_leaves_nothing() {
    for threads in [1, 2, 3] {
        let calls = AtomicUsize::new(0);
        let watch = |_: Progress| assert_ne!(calls.fetch_add(1, Relaxed), 4, "planted");
        let argon2 = Argon2::new(Params::new(40_000, 2, 3).unwrap());
        let argon2 = argon2.threads(threads).progress(&watch);
        let (mut tag, mut memory) = ([1; 32], vec![ZERO_BLOCK; 40_000]);
        let mut run = || argon2.hash_with(b"password", b"some salt", &mut tag, &mut memory);
        assert!(catch_unwind(AssertUnwindSafe(&mut run)).is_err());
        assert_eq!(tag, [0; 32]);
        assert!(memory.iter().all(|block| *block == ZERO_BLOCK));
    }
}

/// A callback may panic on a thread of the run: its message is not lost.
#[test]
fn a_panic_keeps_its_message() {
    let (caller, begun) = (std::thread::current().id(), AtomicBool::new(false));
    let watch = |_: Progress| {
        if std::thread::current().id() != caller {
            begun.store(true, Relaxed);
            panic!("planted");
        }
        // The other thread gets a piece.
        while !begun.load(Relaxed) {
            std::thread::yield_now();
        }
    };
    let argon2 = Argon2::new(Params::new(40_000, 1, 2).unwrap());
    let argon2 = argon2.threads(2).progress(&watch);
    let run = || tag(argon2, &mut Arena::new());
    let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("it panics");
    assert_eq!(panic.downcast_ref(), Some(&"planted"));
}

/// A pool that runs its tasks backwards.
struct Backwards;

impl Pool for Backwards {
    fn threads(&self) -> usize {
        3
    }
    fn run(&self, tasks: Vec<Task<'_>>) {
        tasks.into_iter().rev().for_each(Task::run);
    }
}

/// A pool that skips one task.
struct Forgetful;

impl Pool for Forgetful {
    fn threads(&self) -> usize {
        2
    }
    fn run(&self, tasks: Vec<Task<'_>>) {
        tasks.into_iter().skip(1).for_each(Task::run);
    }
}

#[test]
fn pools_of_the_caller_are_used_and_not_trusted() {
    let argon2 = Argon2::new(Params::new(500, 2, 5).unwrap());
    let expected = tag(argon2, &mut Arena::new());
    assert_eq!(tag(argon2.pool(&Backwards), &mut Arena::new()), expected);
    let mut tag = [1; 32];
    let result =
        argon2
            .pool(&Forgetful)
            .hash(b"password", b"some salt", &mut tag, &mut Arena::new());
    assert_eq!((result, tag), (Err(Error::Pool), [0; 32]));
}

/// The crate's documentation promises this to callers with small stacks.
#[test]
fn a_stack_of_128_kib_is_enough() {
    for cpu in Cpu::available() {
        let hash = move || {
            let mut tag = [0; 32];
            let argon2 = Argon2::new(Params::new(256, 2, 2).unwrap()).on(cpu);
            (argon2.threads(1)).hash(b"password", b"somesalt", &mut tag, &mut Arena::new())
        };
        let thread = std::thread::Builder::new().stack_size(128 << 10);
        thread.spawn(hash).unwrap().join().unwrap().unwrap();
    }
}
