//! Authenticated encryption with associated data, in place, with a detached 16-byte tag.
//!
//! A cipher is made once per key and shared by any number of threads. Its key (and key schedule)
//! lives on locked pages and is wiped on drop. A nonce must never be used twice under one key to
//! seal.

use std::fmt;

use crate::Error;
use crate::ffi::aead::Context;
use crate::secret::Secret;

/// The length of a tag in bytes.
pub const TAG_LEN: usize = crate::ffi::aead::TAG_LEN;

/// XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03): nonces of 24 bytes, long enough to be drawn at
/// random.
///
/// ```
/// use sealstone_primitives::{aead::XChaCha20Poly1305, rng, secret::Secret};
///
/// let cipher = XChaCha20Poly1305::new(&Secret::random());
/// let nonce = rng::array();
/// let mut data = *b"attack at dawn";
/// let tag = cipher.seal_in_place(&nonce, b"header", &mut data);
/// assert!(cipher.open_in_place(&nonce, b"header", &mut data, &tag).is_ok());
/// assert_eq!(&data, b"attack at dawn");
/// ```
pub struct XChaCha20Poly1305(Context);

impl XChaCha20Poly1305 {
    /// The length of a nonce in bytes.
    pub const NONCE_LEN: usize = 24;

    /// A cipher under `key`.
    #[must_use]
    pub fn new(key: &Secret<32>) -> Self {
        Self(Context::xchacha20_poly1305(key.expose()))
    }

    /// Encrypts `data` and returns the tag over it and `aad`.
    ///
    /// # Panics
    /// If `data` is 256 GiB or longer, where the block counter would wrap.
    #[must_use]
    pub fn seal_in_place(&self, nonce: &[u8; 24], aad: &[u8], data: &mut [u8]) -> [u8; TAG_LEN] {
        self.0.seal(nonce, aad, data).expect("less than 256 GiB")
    }

    /// Decrypts `data` if `tag` belongs to it and `aad`.
    ///
    /// # Errors
    /// If it does not. Then `data` is all zero.
    pub fn open_in_place(
        &self,
        nonce: &[u8; 24],
        aad: &[u8],
        data: &mut [u8],
        tag: &[u8; TAG_LEN],
    ) -> Result<(), Error> {
        self.0.open(nonce, aad, data, tag)
    }
}

impl fmt::Debug for XChaCha20Poly1305 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("XChaCha20Poly1305(..)")
    }
}

/// AES-256-GCM (NIST SP 800-38D): nonces of 12 bytes, too short to be drawn at random many times
/// under one key.
///
/// ```
/// use sealstone_primitives::{aead::Aes256Gcm, secret::Secret};
///
/// let cipher = Aes256Gcm::new(&Secret::random());
/// let mut data = *b"attack at dawn";
/// let tag = cipher.seal_in_place(&[0; 12], b"header", &mut data);
/// assert!(cipher.open_in_place(&[0; 12], b"another", &mut data, &tag).is_err());
/// assert_eq!(data, [0; 14]);
/// ```
pub struct Aes256Gcm(Context);

impl Aes256Gcm {
    /// The length of a nonce in bytes.
    pub const NONCE_LEN: usize = 12;

    /// A cipher under `key`.
    #[must_use]
    pub fn new(key: &Secret<32>) -> Self {
        Self(Context::aes_256_gcm(key.expose()))
    }

    /// Encrypts `data` and returns the tag over it and `aad`.
    ///
    /// # Panics
    /// If `data` is longer than 2^36 - 32 bytes (64 GiB), where the block counter would wrap.
    #[must_use]
    pub fn seal_in_place(&self, nonce: &[u8; 12], aad: &[u8], data: &mut [u8]) -> [u8; TAG_LEN] {
        self.0.seal(nonce, aad, data).expect("less than 64 GiB")
    }

    /// Decrypts `data` if `tag` belongs to it and `aad`.
    ///
    /// # Errors
    /// If it does not. Then `data` is all zero.
    pub fn open_in_place(
        &self,
        nonce: &[u8; 12],
        aad: &[u8],
        data: &mut [u8],
        tag: &[u8; TAG_LEN],
    ) -> Result<(), Error> {
        self.0.open(nonce, aad, data, tag)
    }
}

impl fmt::Debug for Aes256Gcm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Aes256Gcm(..)")
    }
}
