//! The work that threads share: the lanes of one slice.

use super::Position;
use super::monitor::Monitor;
use super::segment::{Filling, Slices};
use crate::block::Block;
use crate::kernel::Kernels;
use core::ops::Range;
use sealstone_lanes::{Cpu, Place};

/// Some lanes of a slice. Tasks of one slice are independent of each other.
pub struct Task<'m, K = Cpu> {
    pub(super) kernels: K,
    /// The position of the first lane.
    pub(super) position: Position,
    /// These lanes' segments.
    pub(super) blocks: &'m mut [Block],
    pub(super) others: Slices<'m>,
    pub(super) memory: Place,
    pub(super) monitor: &'m Monitor<'m>,
}

/// Blocks of a lane between two looks at the flag that cancels: some hundred microseconds.
const STRETCH: usize = 512;

/// Lanes that advance in step on one thread: while one waits for memory, the others compute.
const IN_STEP: usize = 4;

impl<K: Kernels> Task<'_, K> {
    /// Does the work.
    pub fn run(self) {
        let Self {
            kernels,
            position,
            blocks,
            others,
            memory,
            monitor,
        } = self;
        let mut left = blocks.len() / position.length();
        let segments = blocks.chunks_mut(position.length());
        let mut lanes = segments.zip(position.lane..).map(|(blocks, lane)| {
            Filling::new(
                kernels,
                Position { lane, ..position },
                blocks,
                others,
                memory,
            )
        });
        while left > 0 {
            // Five lanes are three and two, not four and one.
            let count = left.div_ceil(left.div_ceil(IN_STEP));
            left -= count;
            let mut some = lanes.by_ref().take(count);
            let mut group: [_; IN_STEP] = core::array::from_fn(|_| some.next());
            let mut soon = (count > 1).then_some(memory);
            for stretch in stretches(position.first()..position.length()) {
                if monitor.is_cancelled() {
                    return;
                }
                if position.pass == 0 {
                    let lanes = group.iter_mut().flatten();
                    lanes.for_each(|lane| monitor.before(lane.blocks(stretch.clone())));
                }
                let blocks = stretch.len() * count;
                for index in stretch {
                    for lane in group.iter_mut().flatten() {
                        let place = lane.step(index, soon);
                        soon = soon.map(|_| place);
                    }
                }
                monitor.advance(blocks as u64);
            }
        }
    }

    /// The first `lanes` lanes, and the other lanes.
    #[cfg(feature = "std")]
    pub(crate) fn split(self, lanes: usize) -> Option<(Self, Self)> {
        let at = lanes.checked_mul(self.position.length())?;
        if self.blocks.is_empty() {
            return None;
        }
        let at = at.min(self.blocks.len());
        let (head, tail) = self.blocks.split_at_mut(at);
        let lane = self.position.lane + lanes as u64;
        let position = Position {
            lane,
            ..self.position
        };
        Some((
            Self {
                blocks: head,
                ..self
            },
            Self {
                blocks: tail,
                position,
                ..self
            },
        ))
    }
}

fn stretches(all: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = all.end;
    all.step_by(STRETCH)
        .map(move |start| start..end.min(start + STRETCH))
}
