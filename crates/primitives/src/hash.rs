//! SHA3-256 and SHA3-512 (FIPS 202), and SHA-2 (FIPS 180-4) where a protocol of others asks for it.
//! For what is public: a digest is returned as a plain array.

use aws_lc_rs::digest::{self, Context};

/// The SHA3-256 digest of `data`.
///
/// ```
/// use sealstone_primitives::hash::sha3_256;
///
/// assert_eq!(sha3_256(b"")[..4], [0xa7, 0xff, 0xc6, 0xf8]);
/// ```
#[must_use]
pub fn sha3_256(data: &[u8]) -> [u8; 32] {
    fixed(&digest::digest(&digest::SHA3_256, data))
}

/// The SHA3-512 digest of `data`.
#[must_use]
pub fn sha3_512(data: &[u8]) -> [u8; 64] {
    fixed(&digest::digest(&digest::SHA3_512, data))
}

/// The SHA-256 digest of the concatenated `parts`.
#[must_use]
pub fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    sha2(&digest::SHA256, parts)
}

/// The SHA-384 digest of the concatenated `parts`.
#[must_use]
pub fn sha384(parts: &[&[u8]]) -> [u8; 48] {
    sha2(&digest::SHA384, parts)
}

/// The SHA-512 digest of the concatenated `parts`.
#[must_use]
pub fn sha512(parts: &[&[u8]]) -> [u8; 64] {
    sha2(&digest::SHA512, parts)
}

/// The SHA-1 digest of `data` (FIPS 180-4), which is broken: collisions can be made.
///
/// Only for comparing with an identifier of RFC 2634 in a message that is signed otherwise.
///
/// ```
/// use sealstone_primitives::hash::sha1_broken;
///
/// // FIPS 180-4's example.
/// assert_eq!(sha1_broken(b"abc")[..4], [0xa9, 0x99, 0x3e, 0x36]);
/// ```
#[must_use]
pub fn sha1_broken(data: &[u8]) -> [u8; 20] {
    fixed(&digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, data))
}

fn sha2<const N: usize>(algorithm: &'static digest::Algorithm, parts: &[&[u8]]) -> [u8; N] {
    let mut context = Context::new(algorithm);
    parts.iter().for_each(|part| context.update(part));
    fixed(&context.finish())
}

/// SHA3-256 over data that arrives in pieces.
///
/// ```
/// use sealstone_primitives::hash::{Sha3_256, sha3_256};
///
/// let mut hash = Sha3_256::new();
/// hash.update(b"in ");
/// hash.update(b"pieces");
/// assert_eq!(hash.finish(), sha3_256(b"in pieces"));
/// ```
#[derive(Clone)]
pub struct Sha3_256(Context);

impl Sha3_256 {
    /// Of no data yet.
    #[must_use]
    pub fn new() -> Self {
        Self(Context::new(&digest::SHA3_256))
    }

    /// Appends `data`.
    pub fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    /// The digest of everything appended.
    #[must_use]
    pub fn finish(self) -> [u8; 32] {
        fixed(&self.0.finish())
    }
}

impl Default for Sha3_256 {
    fn default() -> Self {
        Self::new()
    }
}

/// SHA3-512 over data that arrives in pieces.
#[derive(Clone)]
pub struct Sha3_512(Context);

impl Sha3_512 {
    /// Of no data yet.
    #[must_use]
    pub fn new() -> Self {
        Self(Context::new(&digest::SHA3_512))
    }

    /// Appends `data`.
    pub fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    /// The digest of everything appended.
    #[must_use]
    pub fn finish(self) -> [u8; 64] {
        fixed(&self.0.finish())
    }
}

impl Default for Sha3_512 {
    fn default() -> Self {
        Self::new()
    }
}

fn fixed<const N: usize>(digest: &digest::Digest) -> [u8; N] {
    digest
        .as_ref()
        .try_into()
        .expect("the algorithm fixes the length")
}
