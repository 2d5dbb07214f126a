//! After a hash, no value that depends on the password remains in the process: neither in freed or
//! kept memory, nor on any stack, nor in registers. The process searches its own memory.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Barrier, LazyLock, Mutex};
use std::thread;

use sealstone_argon2::{
    Arena, Argon2, Block, Cpu, Params, Progress, Variant, ZERO_BLOCK, hprime, kernel,
};
use sealstone_lanes::{Line, Place, Portable};
use sealstone_testing::own_memory::{read_at, search};
use sealstone_testing::rfc9106;
use sealstone_testing::skipped_by_emulator;
use signal_hook::consts::SIGUSR1;
use signal_hook::low_level::raise;

/// Inverted, so that the search does not find this copy.
const NOT_PASSWORD: [u8; 48] = not(*b"a password that no other test of this file has..");
const NOT_SECRET: [u8; 32] = not(*b"and a secret that no other has..");
const SALT: &[u8; 16] = b"salt of the test";

const fn not<const N: usize>(mut bytes: [u8; N]) -> [u8; N] {
    let mut i = 0;
    while i < N {
        bytes[i] = !bytes[i];
        i += 1;
    }
    bytes
}

/// The cost of one hash, and its threads.
#[derive(Clone, Copy)]
struct Cost {
    memory_kib: u32,
    lanes: u32,
    threads: usize,
}

const SMALL: Cost = Cost {
    memory_kib: 8,
    lanes: 1,
    threads: 1,
};

/// The secret values of one hash, in pieces of 8 bytes, inverted. The search must find none of
/// them.
struct Pieces(Vec<(String, u64)>);

/// Set in the child process that computes the pieces. The copies vanish with the child. Its value
/// is memory and lanes.
const CHILD: &str = "SEALSTONE_ARGON2_TEST_CHILD";

impl Pieces {
    /// Computed by a child process, which prints them inverted.
    fn of_child(cost: Cost) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child
            .args(["--exact", "report", "--nocapture"])
            .env(CHILD, format!("{} {}", cost.memory_kib, cost.lanes));
        let text = String::from_utf8(child.output().unwrap().stdout).unwrap();
        let piece = |line: &str| {
            let (word, name) = line.strip_prefix("piece ")?.split_once(' ')?;
            Some((name.to_owned(), u64::from_str_radix(word, 16).ok()?))
        };
        Self(text.lines().filter_map(piece).collect())
    }

    /// Computed step by step (RFC 9106, section 3.2) for Argon2d with t = 1.
    fn compute(memory_kib: u32, lanes: u32) -> Self {
        let (password, secret) = (not(NOT_PASSWORD), not(NOT_SECRET));
        let h0 = rfc9106::Argon2 {
            p_password: password.to_vec(),
            s_salt: SALT.to_vec(),
            k_secret: secret.to_vec(),
            p: lanes as usize,
            t_tag: 32,
            m: memory_kib as usize,
            t: 1,
            v: 0x13,
            ..rfc9106::Argon2::default()
        }
        .h0();
        let length = (memory_kib / lanes / 4) as usize;
        let width = length * lanes as usize;
        let mut memory = vec![ZERO_BLOCK; 4 * width];
        for lane in 0..lanes {
            for i in 0..2 {
                let (mut bytes, number) = ([0; 1024], lane.to_le_bytes());
                hprime(Cpu::best(), &[&h0, &[i, 0, 0, 0], &number], &mut bytes);
                let word = |w: usize| u64::from_le_bytes(bytes.as_chunks().0[w]);
                let block = sealstone_argon2::from_words(&core::array::from_fn(word));
                memory[lane as usize * length + usize::from(i)] = block;
            }
        }
        for slice in 0..4 {
            for (lane, i) in (0..lanes).flat_map(|lane| (0..length).map(move |i| (lane, i))) {
                if slice == 0 && i < 2 {
                    continue;
                }
                let segment = sealstone_argon2::Segment::<u64>::new(
                    Portable,
                    true,
                    slice,
                    lane.into(),
                    lanes.into(),
                    length as u64,
                );
                let here = slice * width + lane as usize * length + i;
                let before = if i > 0 {
                    here - 1
                } else {
                    here - width + length - 1
                };
                let word = memory[before][0].0[0];
                let reference = segment.reference(Portable, i as u64, word);
                let z = reference.slice as usize * width + reference.block as usize;
                let (mut out, soon) = (ZERO_BLOCK, Place::of(&memory[z]));
                kernel::replace(Cpu::best(), &memory[before], &memory[z], &mut out, soon);
                memory[here] = out;
            }
        }
        let mut pieces = Self(Vec::new());
        pieces.add("the password", &password);
        pieces.add("the secret", &secret);
        pieces.add("H0", &h0);
        pieces.add("the first block", bytes_of(&memory[0]).as_flattened());
        // The tag is the hash of the last blocks of all lanes.
        let last = &memory[memory.len() - 1];
        pieces.add("the last block", bytes_of(last).as_flattened());
        pieces
    }

    fn add(&mut self, name: &str, bytes: &[u8]) {
        let pieces = bytes.as_chunks().0.iter();
        self.0
            .extend(pieces.map(|piece| (name.to_owned(), !u64::from_le_bytes(*piece))));
    }

    /// Whether a word, given inverted, may be one of them.
    fn filter(&self) -> Vec<bool> {
        let mut filter = vec![false; 1 << 16];
        self.0
            .iter()
            .for_each(|(_, piece)| filter[*piece as u16 as usize] = true);
        filter
    }
}

fn bytes_of(block: &Block) -> [[u8; 8]; 128] {
    sealstone_argon2::to_words(block).map(u64::to_le_bytes)
}

/// The number of pieces of each kind in memory.
fn occurrences(pieces: &Pieces) -> BTreeMap<&str, usize> {
    let filter = pieces.filter();
    let mut found = BTreeMap::new();
    search(7, |bytes| {
        for window in bytes.windows(8) {
            let word = !u64::from_le_bytes(*window.first_chunk().unwrap_or(&[0; 8]));
            if filter[word as u16 as usize] {
                let equal = pieces.0.iter().filter(|(_, piece)| *piece == word);
                equal.for_each(|(name, _)| *found.entry(name.as_str()).or_default() += 1);
            }
        }
    });
    found
}

/// One search at a time: a search would find the values that another one searches.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Hashes, finds each piece while the hash runs, and none afterwards. Calls `during` while the hash
/// runs.
fn assert_wiped(cpu: Cpu, cost: Cost, arena: &mut Arena, during: impl Fn() + Sync) {
    let pieces = Pieces::of_child(cost);
    let seen = Mutex::new(BTreeMap::new());
    let watch = |Progress { done, total }: Progress| {
        if done == total {
            during();
            // Rarely a search misses a mapping that the system changes at that moment.
            let mut seen = seen.lock().unwrap();
            for _ in 0..5 {
                seen.extend(occurrences(&pieces));
                if seen.len() == 5 {
                    break;
                }
            }
        }
    };
    // On the stack of another thread, which does not change during the search.
    let (done, searched) = (Barrier::new(2), Barrier::new(2));
    let left = thread::scope(|scope| {
        scope.spawn(|| {
            hash(cpu, cost, arena, &watch);
            done.wait();
            searched.wait();
        });
        done.wait();
        let left = occurrences(&pieces);
        searched.wait();
        left
    });
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen.len(), 5, "found while alive: {seen:?}");
    assert!(left.is_empty(), "{cpu:?}: copies left behind: {left:?}");
}

/// The test's own copies are wiped in place.
#[inline(never)]
fn hash(cpu: Cpu, cost: Cost, arena: &mut Arena, watch: &(dyn Fn(Progress) + Sync)) {
    let (mut password, mut secret) = (NOT_PASSWORD, NOT_SECRET);
    password.iter_mut().for_each(|byte| *byte = !*byte);
    secret.iter_mut().for_each(|byte| *byte = !*byte);
    let params = Params::new(cost.memory_kib, 1, cost.lanes).unwrap();
    let argon2 = Argon2::new(params.with_variant(Variant::Argon2d))
        .secret(&secret)
        .threads(cost.threads)
        .on(cpu)
        .progress(watch);
    let mut tag = [0; 32];
    argon2.hash(&password, SALT, &mut tag, arena).unwrap();
    assert_ne!(tag, [0; 32]);
    password.fill(0);
    secret.fill(0);
    black_box((&password, &secret));
}

#[test]
fn report() {
    if let Ok(cost) = std::env::var(CHILD) {
        let (memory_kib, lanes) = cost.split_once(' ').unwrap();
        let [memory_kib, lanes] = [memory_kib, lanes].map(|number| number.parse().unwrap());
        println!();
        let pieces = Pieces::compute(memory_kib, lanes).0;
        pieces
            .iter()
            .for_each(|(name, word)| println!("piece {word:x} {name}"));
    }
}

#[test]
fn a_hash_leaves_nothing_on_any_instruction_set() {
    if skipped_by_emulator() {
        return;
    }
    let _guard = ONE_AT_A_TIME.lock();
    for cpu in Cpu::available() {
        // In an arena that is kept, and in one that is freed.
        let mut arena = Arena::new();
        assert_wiped(cpu, SMALL, &mut arena, || ());
        assert_wiped(cpu, SMALL, &mut Arena::new(), || ());
    }
}

/// Five lanes in step on one thread (three and two), and lanes on several threads.
#[test]
fn lanes_and_threads_leave_nothing() {
    if skipped_by_emulator() {
        return;
    }
    let _guard = ONE_AT_A_TIME.lock();
    for (memory_kib, lanes, threads) in [(80, 5, 1), (16 << 10, 4, 2), (17 << 10, 2, 2)] {
        let cost = Cost {
            memory_kib,
            lanes,
            threads,
        };
        assert_wiped(Cpu::best(), cost, &mut Arena::new(), || ());
    }
}

#[test]
fn a_copy_left_behind_is_noticed() {
    if skipped_by_emulator() {
        return;
    }
    let _guard = ONE_AT_A_TIME.lock();
    let kept = Mutex::new(Vec::new());
    let caught = std::panic::catch_unwind(|| {
        assert_wiped(Cpu::best(), SMALL, &mut Arena::new(), || {
            kept.lock().unwrap().extend(not(NOT_PASSWORD));
        });
    });
    let message = *caught.unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("copies left behind"), "{message}");
    kept.lock().unwrap().fill(0);
    black_box(&kept);
}

/// The hash overwrites the stack far below its frames: as far as a kernel and a signal during it
/// reach. With AVX-512 the system saves nearly 3 KiB, and kernels use up to 9 KiB below
/// the loop that calls the callback.
#[test]
fn the_stack_is_overwritten_below_kernels_and_signals() {
    if skipped_by_emulator() {
        return;
    }
    const FAR: usize = 128 << 10;
    const ROOM: u64 = 16 << 10;
    for (variant, lanes) in [
        (Variant::Argon2d, 1),
        (Variant::Argon2d, 4),
        (Variant::Argon2id, 1),
        (Variant::Argon2id, 4),
    ] {
        for cpu in Cpu::available() {
            let at_work = AtomicU64::new(u64::MAX);
            let watch = |_: Progress| {
                let here = 0_u8;
                at_work.fetch_min((&raw const here).addr() as u64, Relaxed);
            };
            let params = Params::new(64, 1, lanes).unwrap().with_variant(variant);
            let argon2 = Argon2::new(params).on(cpu).progress(&watch);
            paint::<FAR>();
            let mut tag = [0; 32];
            argon2
                .hash(b"password", SALT, &mut tag, &mut Arena::new())
                .unwrap();
            let lowest = lowest_not_painted(at_work.load(Relaxed), FAR as u64 / 2);
            let room = at_work.load(Relaxed) - lowest;
            assert!(room >= ROOM, "{cpu:?} {variant:?} {lanes}: {room} bytes");
        }
    }
}

const PAINT: u8 = 0xa5;

#[inline(never)]
fn paint<const N: usize>() {
    black_box(&mut [PAINT; N]);
}

/// The lowest address in the `len` bytes below `from` that was written since.
fn lowest_not_painted(from: u64, len: u64) -> u64 {
    let mut bytes = vec![0; len as usize];
    read_at((from - len) as usize, &mut bytes);
    let painted = bytes.iter().take_while(|byte| **byte == PAINT).count();
    assert!(painted > 0, "painted and not reached by the hash");
    from - len + painted as u64
}

/// Afterwards, no register depends on the password.
#[test]
fn registers_do_not_depend_on_the_password_on_any_instruction_set() {
    if skipped_by_emulator() {
        return;
    }
    let mut arena = Arena::with_kib(64).unwrap();
    for cpu in Cpu::available() {
        let mut hash = |password: &[u8; 8]| {
            let argon2 = Argon2::new(Params::new(64, 1, 1).unwrap()).on(cpu);
            let mut tag = [0; 32];
            argon2.hash(password, SALT, &mut tag, &mut arena).unwrap();
        };
        assert_eq!(words_that_differ(&mut hash), 0, "{cpu:?}");
    }
}

/// A kernel alone leaves its last values in vector registers.
#[test]
fn registers_that_depend_on_the_input_are_noticed() {
    if skipped_by_emulator() {
        return;
    }
    let cpu = Cpu::best();
    let mut compute = |input: &[u8; 8]| {
        let (x, mut out) = ([Line(input.map(u64::from)); 16], ZERO_BLOCK);
        kernel::replace(cpu, &x, &ZERO_BLOCK, &mut out, Place::of(&x));
        black_box(&out);
    };
    assert!(words_that_differ(&mut compute) > 0);
}

/// The number of words saved by a signal that change with the input. The input is passed by
/// reference, so that no register holds it.
fn words_that_differ(run: &mut dyn FnMut(&[u8; 8])) -> usize {
    LazyLock::force(&SIGNAL_CAME);
    // One buffer for both runs, and no allocation in between: registers hold addresses too.
    let (mut saved, mut first) = (vec![[0; 8]; 2 * GAP / 8], vec![[0; 8]; 2 * GAP / 8]);
    let mut input = [1; 8];
    // This run completes all one-time initialisation.
    saved_after(run, black_box(&input), &mut saved);
    input.fill(2);
    saved_after(run, black_box(&input), &mut saved);
    first.copy_from_slice(&saved);
    input.fill(3);
    saved_after(run, black_box(&input), &mut saved);
    first.iter().zip(&saved).filter(|(a, b)| a != b).count()
}

/// Set by a signal.
static SIGNAL_CAME: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| {
    let came = Arc::default();
    signal_hook::flag::register(SIGUSR1, Arc::clone(&came)).unwrap();
    came
});

/// Bytes of stack that functions called later may overwrite.
const GAP: usize = 16 << 10;

/// All registers, which the system saves to the stack when a signal arrives after `run`.
#[inline(never)]
fn saved_after(run: &mut dyn FnMut(&[u8; 8]), input: &[u8; 8], saved: &mut [[u8; 8]]) {
    let here = 0_u8;
    paint::<{ 8 * GAP }>();
    run(input);
    raise_far_below();
    let end = (&raw const here).addr() - GAP;
    let start = end - size_of_val(saved);
    read_at(start, saved.as_flattened_mut());
    assert!(SIGNAL_CAME.swap(false, Relaxed));
}

#[inline(never)]
fn raise_far_below() {
    let gap = MaybeUninit::<[u8; GAP]>::uninit();
    black_box(&gap);
    raise(SIGUSR1).unwrap();
    black_box(&gap);
}
