//! SHA3-256 and SHA3-512 (FIPS 202), and SHA-2 (FIPS 180-4) where a protocol of others asks for it.
//! Only for public values: a digest is returned as a plain array.

use std::fmt;

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

/// A hash function of the SHA-2 family, where a protocol of others lets its user choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sha2 {
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

impl Sha2 {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Sha256, Self::Sha384, Self::Sha512];

    /// The length of a digest in bytes.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "no digest is empty")]
    pub const fn len(self) -> usize {
        match self {
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }

    /// The digest of the concatenated `parts`.
    #[must_use]
    pub fn digest(self, parts: &[&[u8]]) -> Vec<u8> {
        let mut hasher = Sha2Hasher::new(self);
        parts.iter().for_each(|part| hasher.update(part));
        hasher.finish()
    }

    fn algorithm(self) -> &'static digest::Algorithm {
        match self {
            Self::Sha256 => &digest::SHA256,
            Self::Sha384 => &digest::SHA384,
            Self::Sha512 => &digest::SHA512,
        }
    }
}

impl fmt::Display for Sha2 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sha256 => "SHA-256",
            Self::Sha384 => "SHA-384",
            Self::Sha512 => "SHA-512",
        })
    }
}

/// A hash of the SHA-2 family over data that arrives in pieces.
///
/// ```
/// use sealstone_primitives::hash::{Sha2, Sha2Hasher, sha384};
///
/// let mut hash = Sha2Hasher::new(Sha2::Sha384);
/// hash.update(b"in ");
/// hash.update(b"pieces");
/// assert_eq!(hash.finish(), sha384(&[b"in pieces"]));
/// ```
#[derive(Clone)]
pub struct Sha2Hasher(Context);

impl Sha2Hasher {
    /// A hash of no data yet.
    #[must_use]
    pub fn new(function: Sha2) -> Self {
        Self(Context::new(function.algorithm()))
    }

    /// Appends `data`.
    pub fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    /// The digest of everything appended.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        self.0.finish().as_ref().to_vec()
    }
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
    /// A hash of no data yet.
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
    /// A hash of no data yet.
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
