//! ML-KEM-1024 (FIPS 203).
//!
//! ```
//! use sealstone_primitives::{kem::ml_kem_1024::{DecapsulationKey, EncapsulationKey}, secret::Secret};
//!
//! let recipient = DecapsulationKey::from_seed(&Secret::random());
//! let published = recipient.encapsulation_key().to_bytes();
//!
//! let (ciphertext, ours) = EncapsulationKey::from_bytes(&published)?.encapsulate();
//! assert_eq!(recipient.decapsulate(&ciphertext), ours);
//! # Ok::<(), sealstone_primitives::Error>(())
//! ```

use std::fmt;

use crate::Error;
use crate::ffi::kem;
use crate::ffi::pkey::Pkey;
use crate::secret::Secret;

/// The length of a seed d ‖ z in bytes.
pub const SEED_LEN: usize = 64;
/// The length of an encoded encapsulation key in bytes.
pub const ENCAPSULATION_KEY_LEN: usize = kem::ENCAPSULATION_KEY_LEN;
/// The length of a ciphertext in bytes.
pub const CIPHERTEXT_LEN: usize = kem::CIPHERTEXT_LEN;

/// The secret key, expanded once and used many times.
///
/// aws-lc keeps the expanded key on its own heap: wiped on drop, but not locked in memory.
pub struct DecapsulationKey(Pkey);

impl DecapsulationKey {
    /// The key of a seed d ‖ z (algorithm 16).
    #[must_use]
    pub fn from_seed(seed: &Secret<SEED_LEN>) -> Self {
        Self(kem::from_seed(seed.expose()).expect("every seed makes a key"))
    }

    /// The public half.
    #[must_use]
    pub fn encapsulation_key(&self) -> EncapsulationKey {
        EncapsulationKey::from_bytes(&public_bytes(&self.0)).expect("a key of our own making")
    }

    /// The shared secret in `ciphertext`.
    ///
    /// A ciphertext that was not made for this key yields a secret that looks random and that
    /// nobody else knows (implicit rejection): the mismatch shows when it is used.
    #[must_use]
    pub fn decapsulate(&self, ciphertext: &Ciphertext) -> Secret<32> {
        Secret::with(|shared| {
            kem::decapsulate(&self.0, &ciphertext.0, shared)
                .expect("a whole key takes every ciphertext");
        })
    }
}

impl fmt::Debug for DecapsulationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DecapsulationKey(..)")
    }
}

/// The public key, parsed and checked once and used many times.
#[derive(Clone)]
pub struct EncapsulationKey(Pkey);

impl EncapsulationKey {
    /// Parses an encoded key.
    ///
    /// # Errors
    /// If it has the wrong length or a coefficient that is not reduced (section 7.2).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        kem::from_public(bytes).map(Self)
    }

    /// The encoded key.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; ENCAPSULATION_KEY_LEN] {
        public_bytes(&self.0)
    }

    /// A fresh shared secret and the ciphertext that carries it.
    #[must_use]
    pub fn encapsulate(&self) -> (Ciphertext, Secret<32>) {
        let mut ciphertext = Ciphertext([0; CIPHERTEXT_LEN]);
        let shared = Secret::with(|shared| {
            kem::encapsulate(&self.0, &mut ciphertext.0, shared)
                .expect("a checked key takes every message");
        });
        (ciphertext, shared)
    }

    /// As [`EncapsulationKey::encapsulate`], from a message that the caller derived.
    ///
    /// `m` must be secret, and must never be used twice (FIPS 203 algorithm 17).
    #[must_use]
    pub fn encapsulate_derived(&self, m: &Secret<32>) -> (Ciphertext, Secret<32>) {
        let mut ciphertext = Ciphertext([0; CIPHERTEXT_LEN]);
        let shared = Secret::with(|shared| {
            kem::encapsulate_deterministic(&self.0, m.expose(), &mut ciphertext.0, shared)
                .expect("a checked key takes every message");
        });
        (ciphertext, shared)
    }
}

impl PartialEq for EncapsulationKey {
    fn eq(&self, other: &Self) -> bool {
        self.to_bytes() == other.to_bytes()
    }
}

impl Eq for EncapsulationKey {}

impl fmt::Debug for EncapsulationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EncapsulationKey(..)")
    }
}

/// A shared secret, encapsulated.
#[derive(Clone, PartialEq, Eq)]
pub struct Ciphertext([u8; CIPHERTEXT_LEN]);

impl Ciphertext {
    /// Takes bytes from outside. Every string of the right length is a ciphertext.
    ///
    /// # Errors
    /// If the length is wrong.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        bytes.try_into().map(Self).map_err(|_| Error)
    }

    /// The encoded ciphertext.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; CIPHERTEXT_LEN] {
        &self.0
    }
}

impl fmt::Debug for Ciphertext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ciphertext(..)")
    }
}

fn public_bytes(key: &Pkey) -> [u8; ENCAPSULATION_KEY_LEN] {
    let mut bytes = [0; ENCAPSULATION_KEY_LEN];
    key.public_key_into(&mut bytes)
        .expect("the key has a public half");
    bytes
}

/// Entry points that only test vectors need.
#[cfg(feature = "hazmat")]
pub mod hazmat {
    use super::{Ciphertext, DecapsulationKey, EncapsulationKey};
    use crate::Error;
    use crate::ffi::kem;
    use crate::secret::Secret;

    /// Encapsulates the message `m` instead of fresh randomness (algorithm 17). Anyone who knows
    /// `m` knows the secret.
    #[must_use]
    pub fn encapsulate_deterministic(
        key: &EncapsulationKey,
        m: &[u8; 32],
    ) -> (Ciphertext, Secret<32>) {
        key.encapsulate_derived(&Secret::with(|secret| secret.copy_from_slice(m)))
    }

    /// Imports an expanded decapsulation key (algorithm 16) instead of a seed.
    ///
    /// # Errors
    /// If it has the wrong length, its hash does not match or its halves do not belong together.
    pub fn from_expanded(bytes: &[u8]) -> Result<DecapsulationKey, Error> {
        kem::from_expanded(bytes).map(DecapsulationKey)
    }
}
