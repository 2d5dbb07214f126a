//! A team of threads, which share the lanes of every slice, wait for each other after it, and wipe
//! all memory in the end.
//!
//! The threads are started once for each hash. A thread that was started for each slice often began
//! on the processor of another thread, and waited there for longer than a slice takes.

use super::barrier::Barrier;
use super::segment::Slices;
use super::{Monitor, Position, Task, result};
use crate::Error;
use crate::block::Block;
use crate::index::SLICES;
use crate::params::Params;
use crate::spent::Spent;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use sealstone_lanes::{Cpu, Place, wipe_part};
use std::panic::resume_unwind;
use std::sync::{LockResult, PoisonError, RwLock, RwLockReadGuard};
use std::thread;

/// As [`fill`](super::fill), on `threads` threads, including this one. When all blocks are filled,
/// `last` gets the last block of every lane. Then the threads wipe the memory: when this returns,
/// even with an error, all of it is zero. If it panics, the caller must wipe the memory.
pub(crate) fn fill_together(
    cpu: Cpu,
    params: &Params,
    memory: &mut [Block],
    monitor: &Monitor<'_>,
    threads: usize,
    last: impl FnMut(&Block),
) -> Result<(), Error> {
    let lanes = (params.lanes() as usize).div_ceil(threads);
    let (width, piece) = (
        memory.len() / SLICES,
        lanes * params.segment_blocks() as usize,
    );
    let (place, lines) = (super::place(memory), memory.as_flattened().len());
    let mut slices = memory.chunks_mut(width);
    let pieces = core::array::from_fn(|_| {
        let slice = slices.next().unwrap_or_default();
        slice.chunks_mut(piece).map(RwLock::new).collect()
    });
    let team = Team {
        cpu,
        params,
        monitor,
        place,
        pieces,
        piece,
        lanes,
        lines,
        next: AtomicUsize::new(0),
        next_to_wipe: AtomicUsize::new(0),
        last_stage: AtomicU64::new(u64::from(params.passes()) * SLICES as u64 - 1),
        barrier: Barrier::for_one(),
    };
    // Decided before wiping, because the flag can change during it. If a thread panics, this is not
    // returned.
    let mut outcome = Err(Error::Cancelled);
    thread::scope(|scope| {
        let mut others = Vec::with_capacity(threads - 1);
        for _ in 1..threads {
            team.barrier.add();
            let work = || team.work(|| ());
            match thread::Builder::new().spawn_scoped(scope, work) {
                Ok(other) => others.push(other),
                // If the system gives no more threads, the others do all the work.
                Err(_) => team.barrier.remove(),
            }
        }
        team.work(|| {
            outcome = result(monitor);
            if outcome.is_ok() {
                team.last_blocks(last);
            }
        });
        // The scope would replace the message of a panic with its own.
        for other in others {
            if let Err(panic) = other.join() {
                resume_unwind(panic);
            }
        }
    });
    outcome
}

struct Team<'m, 'a> {
    cpu: Cpu,
    params: &'a Params,
    monitor: &'a Monitor<'a>,
    place: Place,
    /// The slices in pieces of whole lanes. The thread that takes a piece writes to it; all threads
    /// read it in the stages that do not write to its slice.
    pieces: [Vec<RwLock<&'m mut [Block]>>; SLICES],
    /// Blocks in a piece, and its lanes below.
    piece: usize,
    lanes: usize,
    /// Cache lines of all the memory, which decide how it is wiped.
    lines: usize,
    /// The next piece of this stage that no thread has taken.
    next: AtomicUsize,
    /// The next piece of all that no thread has taken to wipe it.
    next_to_wipe: AtomicUsize,
    /// A stage is one slice of one pass. Cancelling makes an earlier stage the last one.
    last_stage: AtomicU64,
    barrier: Barrier,
}

impl<'m> Team<'m, '_> {
    /// The work of each thread: all stages, then `finally`, and when all threads have done that,
    /// wiping.
    fn work(&self, finally: impl FnOnce()) {
        let _guard = self.barrier.guard();
        // The system gives the stack of a thread that has ended to another thread.
        let _spent = Spent(self.cpu);
        if !self.stages() {
            return;
        }
        finally();
        if self.barrier.wait(|| ()) {
            self.wipe();
        }
    }

    /// Fills all blocks, unless cancelled. Returns false if a thread has panicked.
    fn stages(&self) -> bool {
        for stage in 0.. {
            let slice = (stage % SLICES as u64) as usize;
            self.stage((stage / SLICES as u64) as u32, slice);
            // Every thread sees this after the barrier.
            if self.monitor.is_cancelled() {
                self.last_stage.fetch_min(stage, Relaxed);
            }
            if !self.barrier.wait(|| self.next.store(0, Relaxed)) {
                return false;
            }
            if self.last_stage.load(Relaxed) <= stage {
                break;
            }
        }
        true
    }

    /// Passes on the last block of every lane.
    fn last_blocks(&self, mut to: impl FnMut(&Block)) {
        const NOTHING: usize = SLICES;
        for piece in self.read(SLICES - 1, NOTHING) {
            let segments = piece.chunks(self.params.segment_blocks() as usize);
            segments.filter_map(<[_]>::last).for_each(&mut to);
        }
    }

    /// Takes pieces and wipes them, until none is left. A thread that is started only to wipe often
    /// waits longer for a processor than wiping takes; these threads run already.
    fn wipe(&self) {
        loop {
            let number = self.next_to_wipe.fetch_add(1, Relaxed);
            let Some(piece) = self.pieces.iter().flatten().nth(number) else {
                return;
            };
            let mut piece = piece.write().unwrap_or_else(PoisonError::into_inner);
            wipe_part(piece.as_flattened_mut(), self.lines);
        }
    }

    /// Takes pieces of a slice and fills them, until none is left.
    fn stage(&self, pass: u32, slice: usize) {
        let guards = core::array::from_fn(|other| self.read(other, slice));
        let others = guards.each_ref().map(|slice| slices(slice));
        loop {
            let number = self.next.fetch_add(1, Relaxed);
            let Some(piece) = self.pieces[slice].get(number) else {
                return;
            };
            let lane = (number * self.lanes) as u64;
            Task {
                kernels: self.cpu,
                position: Position {
                    params: *self.params,
                    pass,
                    slice,
                    lane,
                },
                blocks: &mut piece.write().unwrap_or_else(PoisonError::into_inner),
                others: Slices {
                    pieces: others.each_ref().map(|pieces| &pieces[..]),
                    piece: self.piece,
                },
                memory: self.place,
                monitor: self.monitor,
            }
            .run();
        }
    }

    /// The pieces of slice `other`, or none if threads write to that slice.
    fn read(&self, other: usize, written: usize) -> Vec<RwLockReadGuard<'_, &'m mut [Block]>> {
        let pieces = if other == written {
            &[][..]
        } else {
            &self.pieces[other]
        };
        let unpoisoned = |lock: LockResult<_>| lock.unwrap_or_else(PoisonError::into_inner);
        pieces
            .iter()
            .map(|piece| unpoisoned(piece.read()))
            .collect()
    }
}

fn slices<'a>(guards: &'a [RwLockReadGuard<'_, &mut [Block]>]) -> Vec<&'a [Block]> {
    guards.iter().map(|piece| &***piece).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fill;
    use super::*;
    use crate::{Variant, Version};
    use core::sync::atomic::AtomicBool;

    /// The last blocks, and so all blocks that they depend on, depend on neither the number of
    /// threads nor how the threads share lanes; and the threads wipe all memory. (`Argon2` starts
    /// threads only for longer lanes; here they also share segments of two blocks.)
    #[test]
    fn threads_together_fill_as_one_does() {
        for (kib, passes, lanes) in [
            (16, 3, 2),
            (57, 2, 7),
            (300, 2, 3),
            (500, 2, 5),
            (1600, 1, 20),
            // More than a stretch in a segment.
            (4200, 2, 2),
        ] {
            for variant in Variant::ALL {
                for version in [Version::V0x10, Version::V0x13] {
                    let params = Params::new(kib, passes, lanes).unwrap();
                    let params = params.with_variant(variant).with_version(version);
                    let expected = last_blocks(&params, 1);
                    assert_eq!(expected.len(), lanes as usize);
                    for threads in [2, 3, 4, 7, 30] {
                        let same = last_blocks(&params, threads) == expected;
                        assert!(same, "{params:?} on {threads} threads");
                    }
                }
            }
        }
    }

    /// A flag that is set while the threads wipe has no effect.
    #[test]
    fn a_finished_hash_cannot_be_cancelled() {
        let (flag, params) = (AtomicBool::new(false), Params::new(64, 1, 4).unwrap());
        let mut memory = vec![crate::ZERO_BLOCK; params.blocks() as usize];
        let monitor = Monitor {
            total: params.blocks() - 2 * 4,
            done: AtomicU64::new(0),
            cancel: Some(&flag),
            progress: None,
            get: None,
        };
        let cancel = |_: &Block| flag.store(true, Relaxed);
        let cpu = Cpu::best();
        let outcome = fill_together(cpu, &params, &mut memory, &monitor, 2, cancel);
        assert_eq!((outcome, flag.into_inner()), (Ok(()), true));
    }

    /// The last blocks of all lanes, after `threads` threads filled the memory from some first
    /// blocks. With several threads, blocks are garbage before they are filled.
    fn last_blocks(params: &Params, threads: usize) -> Vec<Block> {
        let mut memory = vec![crate::ZERO_BLOCK; params.blocks() as usize];
        for (number, line) in memory.iter_mut().flatten().enumerate() {
            line.0 = core::array::from_fn(|i| {
                ((8 * number + i) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            });
        }
        let monitor = Monitor {
            total: u64::from(params.passes()) * params.blocks() - 2 * u64::from(params.lanes()),
            done: AtomicU64::new(0),
            cancel: None,
            progress: None,
            get: (threads > 1).then_some(&|blocks| {
                blocks
                    .as_flattened_mut()
                    .fill(sealstone_lanes::Line([!0; 8]));
            }),
        };
        let (cpu, mut last) = (Cpu::best(), Vec::new());
        if threads == 1 {
            fill(cpu, params, &mut memory, &monitor, |task| task.run()).unwrap();
            let segments = memory.chunks(params.segment_blocks() as usize);
            last.extend(
                segments
                    .skip(3 * params.lanes() as usize)
                    .map(|segment| *segment.last().unwrap()),
            );
        } else {
            let keep = |block: &Block| last.push(*block);
            fill_together(cpu, params, &mut memory, &monitor, threads, keep).unwrap();
            assert!(memory.iter().all(|block| *block == crate::ZERO_BLOCK));
        }
        last
    }
}
