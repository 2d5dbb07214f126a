//! Threads that share the lanes of every slice and wait for each other after it. They are started once for each hash: started for
//! each slice, one often lands on the processor of another and waits there for longer than a slice takes.

use super::meeting::Meeting;
use super::segment::Slices;
use super::{Monitor, Position, Task, result};
use crate::Error;
use crate::argon2::Spent;
use crate::block::Block;
use crate::index::SLICES;
use crate::params::Params;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use sealstone_lanes::{Cpu, Place};
use std::sync::{LockResult, PoisonError, RwLock, RwLockReadGuard};
use std::thread;

/// As [`fill`](super::fill), on `threads` threads, this one among them.
pub(crate) fn fill_together(
    cpu: Cpu,
    params: &Params,
    memory: &mut [Block],
    monitor: &Monitor<'_>,
    threads: usize,
) -> Result<(), Error> {
    let lanes = (params.lanes() as usize).div_ceil(threads);
    let (width, piece) = (
        memory.len() / SLICES,
        lanes * params.segment_blocks() as usize,
    );
    let place = super::place(memory);
    let mut slices = memory.chunks_mut(width);
    let pieces = core::array::from_fn(|_| {
        let slice = slices.next().unwrap_or_default();
        slice.chunks_mut(piece).map(RwLock::new).collect()
    });
    let crew = Crew {
        cpu,
        params,
        monitor,
        place,
        pieces,
        piece,
        lanes,
        next: AtomicUsize::new(0),
        last_stage: AtomicU64::new(u64::from(params.passes()) * SLICES as u64 - 1),
        meeting: Meeting::of_one(),
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            crew.meeting.invite();
            if thread::Builder::new()
                .spawn_scoped(scope, || crew.work())
                .is_err()
            {
                // If the system gives no more threads, the others do it all.
                crew.meeting.excuse();
            }
        }
        crew.work();
    });
    result(monitor)
}

struct Crew<'m, 'a> {
    cpu: Cpu,
    params: &'a Params,
    monitor: &'a Monitor<'a>,
    place: Place,
    /// The slices in pieces of whole lanes. A piece is written by whoever takes it, and read in the stages when nobody writes to it.
    pieces: [Vec<RwLock<&'m mut [Block]>>; SLICES],
    /// Blocks in a piece, and lanes.
    piece: usize,
    lanes: usize,
    /// The next piece of this stage that nobody has taken.
    next: AtomicUsize,
    /// A stage is a slice in a pass. Cancelling makes an earlier one the last.
    last_stage: AtomicU64,
    meeting: Meeting,
}

impl<'m> Crew<'m, '_> {
    /// What each thread does.
    fn work(&self) {
        let _guard = self.meeting.guard();
        // The system gives the stack of a thread that has ended to another one.
        let _spent = Spent(self.cpu);
        for stage in 0.. {
            let slice = (stage % SLICES as u64) as usize;
            self.stage((stage / SLICES as u64) as u32, slice);
            // Said before the meeting, it is known to all after it; said later, it is about a later stage.
            if self.monitor.is_cancelled() {
                self.last_stage.fetch_min(stage, Relaxed);
            }
            let all_are_there = self.meeting.wait(|| self.next.store(0, Relaxed));
            if !all_are_there || self.last_stage.load(Relaxed) <= stage {
                return;
            }
        }
    }

    /// Takes pieces of a slice and fills them, until there are no more.
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
                cpu: self.cpu,
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

    /// The pieces of slice `other`, none if that is being written.
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

    /// What is in the memory at the end depends on neither the number of threads nor how lanes are shared among them. (Whoever hashes
    /// gets threads only where they are worth it; here they share segments of two blocks, too.)
    #[test]
    fn threads_together_fill_as_one_does() {
        for (kib, passes, lanes) in [
            (16, 3, 2),
            (57, 2, 7),
            (300, 2, 3),
            (500, 2, 5),
            (1600, 1, 20),
        ] {
            for variant in Variant::ALL {
                for version in [Version::V0x10, Version::V0x13] {
                    let params = Params::new(kib, passes, lanes).unwrap();
                    let params = params.with_variant(variant).with_version(version);
                    let expected = memory(&params, 1);
                    for threads in [2, 3, 4, 7, 30] {
                        let same = memory(&params, threads) == expected;
                        assert!(same, "{params:?} on {threads} threads");
                    }
                }
            }
        }
    }

    /// The memory, filled by so many threads from some first blocks.
    fn memory(params: &Params, threads: usize) -> Vec<Block> {
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
        };
        if threads == 1 {
            fill(Cpu::best(), params, &mut memory, &monitor, |task| {
                task.run()
            })
            .unwrap();
        } else {
            fill_together(Cpu::best(), params, &mut memory, &monitor, threads).unwrap();
        }
        memory
    }
}
