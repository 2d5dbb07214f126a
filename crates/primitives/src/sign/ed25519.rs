//! Ed25519 (RFC 8032 section 5.1, "pure": no prehash, no context).
//!
//! ```
//! use sealstone_primitives::{secret::Secret, sign::ed25519::{SigningKey, VerifyingKey}};
//!
//! let key = SigningKey::from_seed(&Secret::random());
//! let signature = key.sign(b"message");
//! let published = VerifyingKey::from_bytes(key.verifying_key().as_bytes())?;
//! assert!(published.verify(b"message", &signature).is_ok());
//! # Ok::<(), sealstone_primitives::Error>(())
//! ```
//!
//! # Which signatures are accepted
//!
//! Implementations differ on encodings that no honest signer makes. The rule here, for a signature
//! R ‖ S under key A:
//!
//! 1. A is a canonical encoding (y < 2^255 - 19) and not of small order: checked by
//!    [`VerifyingKey::from_bytes`], so that no key exists under which one signature fits many
//!    messages.
//! 2. A decodes to a point, and S < L: checked by [`VerifyingKey::verify`].
//! 3. The *cofactorless* equation holds on encodings: R equals the bytes of \[S\]B - \[k\]A. Hence
//!    a non-canonical R is never accepted, and a component of small order in A or R is not
//!    forgiven.
//!
//! Steps 2 and 3 are aws-lc's, step 1 is ours.

use std::fmt;

use crate::Error;
use crate::ffi::curve25519;
use crate::secret::Secret;

/// The length of a signature in bytes.
pub const SIGNATURE_LEN: usize = 64;

/// A signing key, on locked pages.
pub struct SigningKey {
    /// Seed ‖ public key.
    key_pair: Secret<64>,
    verifying: VerifyingKey,
}

impl SigningKey {
    /// The key of a 32-byte seed (section 5.1.5).
    #[must_use]
    pub fn from_seed(seed: &Secret<32>) -> Self {
        let mut key_pair = Secret::zeroed();
        let verifying = VerifyingKey(curve25519::ed25519_from_seed(
            key_pair.expose_mut(),
            seed.expose(),
        ));
        Self {
            key_pair,
            verifying,
        }
    }

    /// The public half.
    #[must_use]
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.verifying
    }

    /// Signs `message` (section 5.1.6). Deterministic.
    #[must_use]
    pub fn sign(&self, message: &[u8]) -> [u8; SIGNATURE_LEN] {
        curve25519::ed25519_sign(self.key_pair.expose(), message)
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey(..)")
    }
}

/// A public key that passed step 1 of the rule above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VerifyingKey([u8; 32]);

impl VerifyingKey {
    /// Parses an encoded key.
    ///
    /// # Errors
    /// If it is not canonical or a point of small order.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, Error> {
        let y = without_sign(bytes);
        if is_reduced(&y) && !SMALL_ORDER_Y.contains(&y) {
            Ok(Self(*bytes))
        } else {
            Err(Error)
        }
    }

    /// The encoded key.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Verifies `signature` over `message` (section 5.1.7, by the rule above).
    ///
    /// # Errors
    /// If the signature is not valid.
    pub fn verify(&self, message: &[u8], signature: &[u8; SIGNATURE_LEN]) -> Result<(), Error> {
        curve25519::ed25519_verify(&self.0, message, signature)
    }
}

/// The y coordinate of an encoded point: all but the top bit, which is the sign of x.
fn without_sign(bytes: &[u8; 32]) -> [u8; 32] {
    let mut y = *bytes;
    y[31] &= 0x7f;
    y
}

/// Whether little-endian `y` < 2^255 is below p = 2^255 - 19.
fn is_reduced(y: &[u8; 32]) -> bool {
    let tops_out = y[31] == 0x7f && y[1..31].iter().all(|byte| *byte == 0xff);
    !(tops_out && y[0] >= 0xed)
}

/// The y coordinates of the eight points of small order: 0 (order 4), 1 (order 1), -1 (order 2),
/// and the two of order 8. A test recomputes them.
const SMALL_ORDER_Y: [[u8; 32]; 5] = [
    [0; 32],
    {
        let mut one = [0; 32];
        one[0] = 1;
        one
    },
    {
        let mut minus_one = [0xff; 32];
        minus_one[0] = 0xec;
        minus_one[31] = 0x7f;
        minus_one
    },
    [
        0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98,
        0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53,
        0xfc, 0x05,
    ],
    [
        0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67,
        0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac,
        0x03, 0x7a,
    ],
];
