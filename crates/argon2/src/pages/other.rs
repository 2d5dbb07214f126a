//! Blocks on the heap.

use crate::block::{Block, ZERO_BLOCK};
use core::convert::Infallible;
use core::marker::PhantomData;

/// Blocks on the heap.
#[derive(Debug)]
pub(crate) struct Pages(Vec<Block>);

/// There is none: all blocks are in memory from the start.
pub(crate) struct Getter<'a>(Infallible, PhantomData<&'a ()>);

impl Getter<'_> {
    pub(crate) fn get(&self, _blocks: &mut [Block]) {
        match self.0 {}
    }

    pub(crate) fn get_ahead(&self, _goes_on: impl Fn() -> bool) {
        match self.0 {}
    }
}

impl Pages {
    /// `count` blocks of zeros, if the system has them.
    pub(crate) fn new(count: u64) -> Option<Self> {
        let count = usize::try_from(count).ok()?;
        let mut blocks = Vec::new();
        blocks.try_reserve_exact(count).ok()?;
        blocks.resize(count, ZERO_BLOCK);
        Some(Self(blocks))
    }

    /// The same: all blocks are in memory.
    pub(crate) fn in_memory(count: u64) -> Option<Self> {
        Self::new(count)
    }

    pub(crate) fn blocks(&self) -> &[Block] {
        &self.0
    }

    /// The blocks.
    pub(crate) fn parts(&mut self) -> (&mut [Block], Option<Getter<'_>>) {
        (&mut self.0, None)
    }
}
