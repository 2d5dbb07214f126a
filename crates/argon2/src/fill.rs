//! Filling the memory (RFC 9106, section 3.2, steps 3 to 6).

mod addresses;
#[cfg(feature = "std")]
mod barrier;
mod monitor;
mod segment;
mod task;
#[cfg(feature = "std")]
mod team;

pub use monitor::Progress;
pub use task::Task;

pub(crate) use monitor::{Get, Monitor};
#[cfg(feature = "std")]
pub(crate) use team::fill_together;

use crate::Error;
use crate::block::Block;
use crate::index::{SLICES, Segment};
use crate::kernel::Kernels;
use crate::params::{Params, Variant, Version};
#[cfg(feature = "std")]
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use sealstone_lanes::{Place, Portable};
use segment::Slices;

/// A segment, and the parameters that its blocks depend on.
#[derive(Clone, Copy)]
pub(crate) struct Position {
    params: Params,
    pass: u32,
    slice: usize,
    lane: u64,
}

impl Position {
    /// Blocks in a segment.
    fn length(&self) -> usize {
        self.params.segment_blocks() as usize
    }

    /// The number of the first block of this segment within its slice.
    fn start(&self) -> usize {
        self.lane as usize * self.length()
    }

    /// The first block that is computed here: the first two of a lane are there from the start.
    fn first(&self) -> usize {
        if self.pass == 0 && self.slice == 0 {
            2
        } else {
            0
        }
    }

    /// Whether references are independent of the data: they come from a counter.
    fn is_independent(&self) -> bool {
        match self.params.variant() {
            Variant::Argon2d => false,
            Variant::Argon2i => true,
            Variant::Argon2id => self.pass == 0 && self.slice < SLICES / 2,
        }
    }

    /// Whether new blocks are added (⊕) to the old ones, or replace them.
    fn adds(&self) -> bool {
        self.pass > 0 && self.params.version() == Version::V0x13
    }

    fn segment(&self) -> Segment<u64> {
        let (lanes, length) = (self.params.lanes().into(), self.params.segment_blocks());
        Segment::new(
            Portable,
            self.pass == 0,
            self.slice,
            self.lane,
            lanes,
            length,
        )
    }
}

/// Fills `memory`, which holds the first two blocks of each lane. `run` does the task of each
/// slice, which must be done when it returns.
pub(crate) fn fill<K: Kernels>(
    kernels: K,
    params: &Params,
    memory: &mut [Block],
    monitor: &Monitor<'_>,
    mut run: impl FnMut(Task<'_, K>),
) -> Result<(), Error> {
    let place = place(memory);
    let width = memory.len() / SLICES;
    for pass in 0..params.passes() {
        for slice in 0..SLICES {
            let (before, rest) = memory.split_at_mut(slice * width);
            let (blocks, after) = rest.split_at_mut(width);
            let others: [[&[Block]; 1]; SLICES] = core::array::from_fn(|other| {
                if other < slice {
                    [&before[other * width..][..width]]
                } else if other > slice {
                    [&after[(other - slice - 1) * width..][..width]]
                } else {
                    [Default::default()]
                }
            });
            let others = Slices {
                pieces: others.each_ref().map(|slice| &slice[..]),
                piece: width,
            };
            let position = Position {
                params: *params,
                pass,
                slice,
                lane: 0,
            };
            run(Task {
                kernels,
                position,
                blocks,
                others,
                memory: place,
                monitor,
            });
            if monitor.is_cancelled() {
                return Err(Error::Cancelled);
            }
        }
    }
    result(monitor)
}

/// Fills `memory` on these kernels, with as many blocks as the parameters say. It is for a prover,
/// which checks the blocks that the kernels get. Each slice is divided into tasks of `together`
/// lanes. The last task may have fewer.
///
/// # Panics
/// If `memory` has fewer blocks, or `together` is zero.
#[cfg(feature = "std")]
pub fn fill_on(kernels: impl Kernels, params: &Params, memory: &mut [Block], together: usize) {
    assert!(together > 0, "a task has lanes");
    let monitor = Monitor {
        total: u64::from(params.passes()) * params.blocks() - 2 * u64::from(params.lanes()),
        done: AtomicU64::new(0),
        cancel: None,
        progress: None,
        get: None,
    };
    let memory = &mut memory[..params.blocks() as usize];
    let filled = fill(kernels, params, memory, &monitor, |task| {
        let mut rest = Some(task);
        while let Some((some, others)) = rest.take().and_then(|task| task.split(together)) {
            some.run();
            rest = Some(others);
        }
    });
    filled.expect("nobody cancels, and every task is run");
}

/// Whether all blocks are done. A caller's pool that leaves out a task must not lead to a wrong
/// hash.
fn result(monitor: &Monitor<'_>) -> Result<(), Error> {
    if monitor.is_cancelled() {
        Err(Error::Cancelled)
    } else if monitor.done.load(Relaxed) != monitor.total {
        Err(Error::Pool)
    } else {
        Ok(())
    }
}

fn place(memory: &[Block]) -> Place {
    memory
        .first()
        .map_or(Place::of(&[]), |block| Place::of(block))
}
