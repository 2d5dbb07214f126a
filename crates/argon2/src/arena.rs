//! Memory that is kept from one hash to the next.

use crate::Error;
use crate::block::Block;
use crate::pages::{Effort, Getter, Pages};

/// Memory for Argon2, kept so that the next hash does not have to get it from the system, page by page, again.
///
/// It grows to what a hash needs, in one piece, of huge pages where the system has them. Every hash leaves it wiped. It is
/// given back on drop.
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
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// One with room for `kib` KiB, for a server that keeps it: on huge pages, however long that takes. (A hash that makes the
    /// arena grow settles for small ones if huge pages come slowly.)
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn with_kib(kib: u64) -> Result<Self, Error> {
        let mut arena = Self::new();
        arena.grow(kib, Effort::Patient)?;
        Ok(arena)
    }

    /// How much it holds, in KiB.
    pub fn kib(&self) -> u64 {
        self.0
            .as_ref()
            .map_or(0, |pages| pages.blocks().len() as u64)
    }

    /// Gives everything back to the system.
    pub fn release(&mut self) {
        self.0 = None;
    }

    /// The first `count` blocks, with anything in them, and what gets them from the system if they are new.
    pub(crate) fn blocks(
        &mut self,
        count: u64,
        effort: Effort,
    ) -> Result<(&mut [Block], Option<Getter<'_>>), Error> {
        let new = self.grow(count, effort)?;
        let pages = self.0.as_mut().ok_or(Error::OutOfMemory(count))?;
        let (blocks, getter) = pages.parts();
        let getter = getter.filter(|_| new && effort == Effort::AsUsed);
        Ok((&mut blocks[..count as usize], getter))
    }

    /// Makes room for `count` blocks, if there is not: whether they are new.
    fn grow(&mut self, count: u64, effort: Effort) -> Result<bool, Error> {
        let grows = self.kib() < count;
        if grows {
            // First the old ones back, then the new ones: never both.
            self.release();
            let pages = Pages::new(count, effort);
            self.0 = Some(pages.ok_or(Error::OutOfMemory(count))?);
        }
        Ok(grows)
    }
}
