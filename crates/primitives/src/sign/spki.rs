//! Verification under the public keys of X.509 certificates: RSA (RFC 8017), ECDSA (FIPS 186-5),
//! Ed25519 (RFC 8032). Only verification: nothing in Sealstone signs with such keys.
//!
//! ```
//! use sealstone_primitives::hash::Sha2;
//! use sealstone_primitives::sign::spki::{Algorithm, VerifyingKey};
//!
//! // The public key of RFC 8410, section 10.1.
//! let spki = [
//!     0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00, 0x19, 0xbf, 0x44,
//!     0x09, 0x69, 0x84, 0xcd, 0xfe, 0x85, 0x41, 0xba, 0xc1, 0x67, 0xdc, 0x3b, 0x96, 0xc8, 0x50,
//!     0x86, 0xaa, 0x30, 0xb6, 0xb6, 0xcb, 0x0c, 0x5c, 0x38, 0xad, 0x70, 0x31, 0x66, 0xe1,
//! ];
//! let key = VerifyingKey::from_spki(&spki)?;
//! assert!(key.fits(Algorithm::Ed25519));
//! assert!(!key.fits(Algorithm::Ecdsa(Sha2::Sha256)));
//! assert!(key.verify(Algorithm::Ed25519, b"message", &[0; 64]).is_err());
//! # Ok::<(), sealstone_primitives::Error>(())
//! ```

use std::fmt;

use aws_lc_sys as sys;

use super::ed25519;
use crate::Error;
use crate::ffi::pkey::Pkey;
use crate::ffi::verify::{self, Digest, Padding};
use crate::hash::Sha2;

/// The sizes of RSA keys that are taken, in bits.
pub const RSA_BITS: std::ops::RangeInclusive<u32> = 2048..=8192;

/// A signature algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// RSASSA-PKCS1-v1_5.
    RsaPkcs1(Sha2),
    /// RSASSA-PSS with MGF1 over the same hash.
    RsaPss {
        /// The hash of the message and of MGF1.
        hash: Sha2,
        /// The length of the salt in bytes.
        salt_len: u16,
    },
    /// ECDSA, whose signature is the DER sequence of r and s.
    Ecdsa(Sha2),
    /// Ed25519, by the rule of [`ed25519`].
    Ed25519,
}

/// A public key.
pub struct VerifyingKey(Kind);

enum Kind {
    Rsa(Pkey),
    /// An RSA key that its certificate restricts to PSS.
    RsaPss(Pkey),
    Ec(Pkey),
    Ed25519(ed25519::VerifyingKey),
}

impl VerifyingKey {
    /// The key in a SubjectPublicKeyInfo structure (RFC 5280 section 4.1).
    ///
    /// # Errors
    /// If it is not exactly that, or not an RSA key of [`RSA_BITS`], a point on P-256 or P-384, or
    /// an Ed25519 key.
    pub fn from_spki(der: &[u8]) -> Result<Self, Error> {
        let key = verify::from_spki(der)?;
        let kind = match verify::kind(&key) {
            sys::EVP_PKEY_RSA if has_size(&key) => Kind::Rsa(key),
            sys::EVP_PKEY_RSA_PSS if has_size(&key) => Kind::RsaPss(key),
            sys::EVP_PKEY_EC => match verify::curve(&key)? {
                sys::NID_X9_62_prime256v1 | sys::NID_secp384r1 => Kind::Ec(key),
                _ => return Err(Error),
            },
            sys::EVP_PKEY_ED25519 => {
                let mut bytes = [0; 32];
                key.public_key_into(&mut bytes)?;
                Kind::Ed25519(ed25519::VerifyingKey::from_bytes(&bytes)?)
            }
            _ => return Err(Error),
        };
        Ok(Self(kind))
    }

    /// Whether the key is one for `algorithm`.
    #[must_use]
    pub fn fits(&self, algorithm: Algorithm) -> bool {
        matches!(
            (&self.0, algorithm),
            (
                Kind::Rsa(_),
                Algorithm::RsaPkcs1(_) | Algorithm::RsaPss { .. }
            ) | (Kind::RsaPss(_), Algorithm::RsaPss { .. })
                | (Kind::Ec(_), Algorithm::Ecdsa(_))
                | (Kind::Ed25519(_), Algorithm::Ed25519)
        )
    }

    /// Verifies `signature` over `message`.
    ///
    /// # Errors
    /// If it is not one under this key, or the key does not fit the algorithm.
    pub fn verify(
        &self,
        algorithm: Algorithm,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), Error> {
        if !self.fits(algorithm) {
            return Err(Error);
        }
        let (hash, padding) = match algorithm {
            Algorithm::RsaPkcs1(hash) => (hash, Padding::Pkcs1),
            Algorithm::RsaPss { hash, salt_len } => (hash, Padding::Pss(salt_len)),
            Algorithm::Ecdsa(hash) => (hash, Padding::None),
            Algorithm::Ed25519 => return self.verify_ed25519(message, signature),
        };
        match &self.0 {
            Kind::Rsa(key) | Kind::RsaPss(key) | Kind::Ec(key) => {
                verify::verify(key, digest(hash), padding, message, signature)
            }
            Kind::Ed25519(_) => Err(Error),
        }
    }

    fn verify_ed25519(&self, message: &[u8], signature: &[u8]) -> Result<(), Error> {
        let signature = signature.try_into().map_err(|_| Error)?;
        match &self.0 {
            Kind::Ed25519(key) => key.verify(message, signature),
            _ => Err(Error),
        }
    }
}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match &self.0 {
            Kind::Rsa(_) => "RSA",
            Kind::RsaPss(_) => "RSA-PSS",
            Kind::Ec(_) => "ECDSA",
            Kind::Ed25519(_) => "Ed25519",
        };
        write!(f, "VerifyingKey<{name}>(..)")
    }
}

fn digest(hash: Sha2) -> Digest {
    match hash {
        Sha2::Sha256 => Digest::Sha256,
        Sha2::Sha384 => Digest::Sha384,
        Sha2::Sha512 => Digest::Sha512,
    }
}

fn has_size(key: &Pkey) -> bool {
    u32::try_from(verify::bits(key)).is_ok_and(|bits| RSA_BITS.contains(&bits))
}
