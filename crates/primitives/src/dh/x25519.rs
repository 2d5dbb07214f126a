//! X25519 (RFC 7748).
//!
//! ```
//! use sealstone_primitives::dh::x25519::PrivateKey;
//!
//! let (alice, bob) = (PrivateKey::generate(), PrivateKey::generate());
//! assert_eq!(alice.agree(bob.public_key())?, bob.agree(alice.public_key())?);
//! # Ok::<(), sealstone_primitives::Error>(())
//! ```

use crate::Error;
use crate::ffi::curve25519;
use crate::secret::Secret;

/// A private key, on locked pages.
#[derive(Debug)]
pub struct PrivateKey {
    scalar: Secret<32>,
    public: PublicKey,
}

impl PrivateKey {
    /// A key from 32 uniformly random bytes, which are clamped when used (section 5).
    #[must_use]
    pub fn from_seed(seed: Secret<32>) -> Self {
        let public = PublicKey(curve25519::x25519_public(seed.expose()));
        Self {
            scalar: seed,
            public,
        }
    }

    /// A fresh key, for one use or for keeps.
    #[must_use]
    pub fn generate() -> Self {
        Self::from_seed(Secret::random())
    }

    /// The public half.
    #[must_use]
    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// The secret shared with the owner of `peer`. Not uniform: put it through a KDF together with
    /// both public keys.
    ///
    /// # Errors
    /// If it would be all zero, because `peer` is a point of small order (section 6.1).
    pub fn agree(&self, peer: &PublicKey) -> Result<Secret<32>, Error> {
        let mut shared = Secret::zeroed();
        curve25519::x25519(shared.expose_mut(), self.scalar.expose(), &peer.0)?;
        Ok(shared)
    }
}

/// A public key. Every string of 32 bytes is one; those of small order are refused when used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    /// Takes an encoded key.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The encoded key.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}
