//! Secret bytes: on their own locked pages, never printed, compared in constant time, wiped on
//! drop.
//!
//! Every secret owns whole memory pages (4 KiB on most machines). The crate asks the system to keep
//! them in RAM (`mlock`), out of core dumps and out of forked children. When the user's limit for
//! locked memory (`ulimit -l`) is reached, secrets still work but may be swapped: `is_locked`
//! tells. Making one costs a few microseconds, so keep a secret instead of making it again.
//!
//! In a child made by `fork` without `exec` the pages are absent: dropping a secret there is fine,
//! reading one ends the child.

use std::fmt;

use zeroize::Zeroize;

use crate::pages::Pages;
use crate::{Error, ct, rng};

/// `N` secret bytes.
///
/// There is no `Clone`: a copy is asked for by name ([`Secret::duplicate`]).
///
/// ```
/// use sealstone_primitives::secret::Secret;
///
/// let key = Secret::<32>::random();
/// assert_eq!(format!("{key:?}"), "Secret<32>(..)");
/// assert_eq!(key, key.duplicate());
/// ```
pub struct Secret<const N: usize> {
    pages: Pages,
}

impl<const N: usize> Secret<N> {
    /// A secret of zeros.
    #[must_use]
    pub fn zeroed() -> Self {
        Self {
            pages: Pages::new(N),
        }
    }

    /// A secret of fresh randomness.
    #[must_use]
    pub fn random() -> Self {
        Self::with(|bytes| rng::fill(bytes))
    }

    /// A secret that `fill` fills in place, starting from zeros.
    #[must_use]
    pub fn with(fill: impl FnOnce(&mut [u8; N])) -> Self {
        let mut secret = Self::zeroed();
        fill(secret.expose_mut());
        secret
    }

    /// Takes the bytes and wipes the array they came in.
    #[must_use]
    pub fn from_array(source: &mut [u8; N]) -> Self {
        let secret = Self::with(|bytes| bytes.copy_from_slice(source));
        source.zeroize();
        secret
    }

    /// A copy of `source`, which the caller still has to wipe.
    ///
    /// # Errors
    /// If `source` is not `N` bytes long.
    pub fn from_slice(source: &[u8]) -> Result<Self, Error> {
        let source: &[u8; N] = source.try_into().map_err(|_| Error)?;
        Ok(Self::with(|bytes| bytes.copy_from_slice(source)))
    }

    /// A second copy on pages of its own.
    #[must_use]
    pub fn duplicate(&self) -> Self {
        Self::with(|bytes| bytes.copy_from_slice(self.expose()))
    }

    /// The bytes. Every call of this is a place to look at in a review.
    #[must_use]
    pub fn expose(&self) -> &[u8; N] {
        self.pages
            .as_slice()
            .first_chunk()
            .expect("the pages hold at least N bytes")
    }

    /// The bytes, to be changed in place.
    pub fn expose_mut(&mut self) -> &mut [u8; N] {
        self.pages
            .as_mut_slice()
            .first_chunk_mut()
            .expect("the pages hold at least N bytes")
    }

    /// Whether the system keeps these bytes out of swap.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        self.pages.is_locked()
    }
}

impl<const N: usize> PartialEq for Secret<N> {
    /// Compares in constant time.
    fn eq(&self, other: &Self) -> bool {
        ct::eq(self.expose(), other.expose())
    }
}

impl<const N: usize> Eq for Secret<N> {}

impl<const N: usize> fmt::Debug for Secret<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret<{N}>(..)")
    }
}

/// Secret bytes whose number is known only at run time: passphrases, decrypted metadata.
///
/// The capacity is fixed when it is made, so growing never leaves a copy behind.
///
/// ```
/// use sealstone_primitives::secret::SecretVec;
///
/// let mut passphrase = SecretVec::with_capacity(1024);
/// passphrase.extend_from_slice(b"correct horse")?;
/// assert_eq!(passphrase.expose(), b"correct horse");
/// assert_eq!(format!("{passphrase:?}"), "SecretVec(..)");
/// # Ok::<(), sealstone_primitives::Error>(())
/// ```
pub struct SecretVec {
    pages: Pages,
    len: usize,
    capacity: usize,
}

impl SecretVec {
    /// An empty secret with room for `capacity` bytes.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            pages: Pages::new(capacity),
            len: 0,
            capacity,
        }
    }

    /// `len` zero bytes, to be filled through [`SecretVec::expose_mut`].
    #[must_use]
    pub fn zeroed(len: usize) -> Self {
        Self {
            pages: Pages::new(len),
            len,
            capacity: len,
        }
    }

    /// A copy of `source`, which the caller still has to wipe.
    #[must_use]
    pub fn from_slice(source: &[u8]) -> Self {
        let mut secret = Self::zeroed(source.len());
        secret.expose_mut().copy_from_slice(source);
        secret
    }

    /// Takes the bytes and wipes the vector they came in, spare capacity included.
    #[must_use]
    pub fn from_vec(mut source: Vec<u8>) -> Self {
        let secret = Self::from_slice(&source);
        source.zeroize();
        secret
    }

    /// A second copy on pages of its own, with the same capacity.
    #[must_use]
    pub fn duplicate(&self) -> Self {
        let mut copy = Self::with_capacity(self.capacity);
        copy.len = self.len;
        copy.expose_mut().copy_from_slice(self.expose());
        copy
    }

    /// Appends `bytes`.
    ///
    /// # Errors
    /// If they do not fit into the capacity; then nothing is appended.
    pub fn extend_from_slice(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let end = self
            .len
            .checked_add(bytes.len())
            .filter(|end| *end <= self.capacity)
            .ok_or(Error)?;
        self.pages.as_mut_slice()[self.len..end].copy_from_slice(bytes);
        self.len = end;
        Ok(())
    }

    /// Shortens to `len` bytes and wipes the rest; does nothing if it is not longer.
    pub fn truncate(&mut self, len: usize) {
        if len < self.len {
            self.expose_mut()[len..].zeroize();
            self.len = len;
        }
    }

    /// Wipes everything; the capacity stays.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// The bytes. Every call of this is a place to look at in a review.
    #[must_use]
    pub fn expose(&self) -> &[u8] {
        &self.pages.as_slice()[..self.len]
    }

    /// The bytes, to be changed in place.
    pub fn expose_mut(&mut self) -> &mut [u8] {
        &mut self.pages.as_mut_slice()[..self.len]
    }

    /// The number of bytes held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no bytes are held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of bytes there is room for.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Whether the system keeps these bytes out of swap.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        self.pages.is_locked()
    }
}

impl PartialEq for SecretVec {
    /// Compares in constant time for equal lengths; the length itself is not secret.
    fn eq(&self, other: &Self) -> bool {
        ct::eq(self.expose(), other.expose())
    }
}

impl Eq for SecretVec {}

impl fmt::Debug for SecretVec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretVec(..)")
    }
}
