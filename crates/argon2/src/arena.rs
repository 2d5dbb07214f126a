//! Memory that is kept from hash to hash.

use crate::Error;
use crate::block::Block;
use crate::pages::{Getter, Pages};

/// Memory for Argon2. It is kept, so that the next hash does not get it from the system again, page
/// by page. It grows to the size that a hash needs, in one piece, on huge pages where the system
/// has them. Every hash wipes it. On drop, the system gets it back.
///
/// ```
/// use sealstone_argon2::{Argon2, Arena, Params};
///
/// let argon2 = Argon2::new(Params::new(256, 1, 1)?);
/// let mut arena = Arena::new();
/// let mut tags = [[0; 32]; 2];
/// for tag in &mut tags {
///     argon2.hash(b"password", b"some salt", tag, &mut arena)?;
/// }
/// assert_eq!(tags[0], tags[1]);
/// assert!(arena.kib() >= 256);
/// # Ok::<(), sealstone_argon2::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Arena(Option<Pages>);

impl Arena {
    /// An empty arena.
    pub fn new() -> Self {
        Self::default()
    }

    /// An arena of `kib` KiB, in memory and on huge pages from the start, however long that takes:
    /// for a server that keeps it.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn with_kib(kib: u64) -> Result<Self, Error> {
        let pages = Pages::in_memory(kib).ok_or(Error::OutOfMemory(kib))?;
        Ok(Self(Some(pages)))
    }

    /// Its size in KiB.
    pub fn kib(&self) -> u64 {
        self.0
            .as_ref()
            .map_or(0, |pages| pages.blocks().len() as u64)
    }

    /// Gives all memory back to the system.
    pub fn release(&mut self) {
        self.0 = None;
    }

    /// The first `count` blocks, with any content. If they are new, also what gets memory for them.
    pub(crate) fn blocks(
        &mut self,
        count: u64,
    ) -> Result<(&mut [Block], Option<Getter<'_>>), Error> {
        let is_new = self.kib() < count;
        if is_new {
            // First the old ones are given back, then the new ones come: never both.
            self.release();
            self.0 = Pages::new(count);
        }
        let pages = self.0.as_mut().ok_or(Error::OutOfMemory(count))?;
        let (blocks, getter) = pages.parts();
        Ok((&mut blocks[..count as usize], getter.filter(|_| is_new)))
    }
}
