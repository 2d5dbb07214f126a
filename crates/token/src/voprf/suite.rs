//! Ciphersuites and modes (RFC 9497 sections 3.1 and 4).

use std::fmt;

use sealstone_primitives::curve::{Group, P256, P384, Ristretto255};
use sealstone_primitives::{ct, hash};
use zeroize::Zeroizing;

/// A group with a hash function (RFC 9497 section 4).
pub trait Suite: Copy + fmt::Debug + Send + Sync + 'static {
    /// The group.
    type Group: Group;
    /// The name that is hashed into everything.
    const IDENTIFIER: &'static str;
    /// `Nh`, the length of an output in bytes.
    const OUTPUT_LEN: usize;

    /// The digest of the concatenated `parts`, in `out`, which has `OUTPUT_LEN` bytes.
    fn hash_into(parts: &[&[u8]], out: &mut [u8]);
}

/// A number modulo the order of a suite's group.
pub(crate) type ScalarOf<S> = <<S as Suite>::Group as Group>::Scalar;
/// An element of a suite's group.
pub(crate) type ElementOf<S> = <<S as Suite>::Group as Group>::Element;

/// P256-SHA256 (RFC 9497 section 4.3).
#[derive(Clone, Copy, Debug)]
pub struct P256Sha256;

/// P384-SHA384 (RFC 9497 section 4.4).
#[derive(Clone, Copy, Debug)]
pub struct P384Sha384;

/// ristretto255-SHA512 (RFC 9497 section 4.1).
#[derive(Clone, Copy, Debug)]
pub struct Ristretto255Sha512;

impl Suite for P256Sha256 {
    type Group = P256;
    const IDENTIFIER: &'static str = "P256-SHA256";
    const OUTPUT_LEN: usize = 32;

    fn hash_into(parts: &[&[u8]], out: &mut [u8]) {
        out.copy_from_slice(&hash::sha256(parts));
    }
}

impl Suite for P384Sha384 {
    type Group = P384;
    const IDENTIFIER: &'static str = "P384-SHA384";
    const OUTPUT_LEN: usize = 48;

    fn hash_into(parts: &[&[u8]], out: &mut [u8]) {
        out.copy_from_slice(&hash::sha384(parts));
    }
}

impl Suite for Ristretto255Sha512 {
    type Group = Ristretto255;
    const IDENTIFIER: &'static str = "ristretto255-SHA512";
    const OUTPUT_LEN: usize = 64;

    fn hash_into(parts: &[&[u8]], out: &mut [u8]) {
        out.copy_from_slice(&hash::sha512(parts));
    }
}

/// The promise of a protocol run (RFC 9497 section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// OPRF: the client must trust the server to use the right key.
    Oblivious = 0,
    /// VOPRF: the server proves that it used the key it published.
    Verifiable = 1,
    /// POPRF: as VOPRF, with an input that both sides know.
    PartiallyOblivious = 2,
}

/// `prefix` and the context string, which names the mode and the suite (RFC 9497 section 3.1).
pub(crate) fn tag<S: Suite>(prefix: &str, mode: Mode) -> Vec<u8> {
    [
        prefix.as_bytes(),
        b"OPRFV1-",
        &[mode as u8],
        b"-",
        S::IDENTIFIER.as_bytes(),
    ]
    .concat()
}

/// RFC 9497's `HashToScalar` with the default tag.
pub(crate) fn hash_to_scalar<S: Suite>(mode: Mode, parts: &[&[u8]]) -> ScalarOf<S> {
    S::Group::hash_to_scalar(parts, &tag::<S>("HashToScalar-", mode))
}

/// The output of the pseudorandom function. A secret until the client shows it.
#[derive(Clone)]
pub struct Output {
    bytes: Zeroizing<[u8; Self::MAX]>,
    len: usize,
}

impl Output {
    /// The longest: SHA-512's.
    const MAX: usize = 64;

    /// The digest of the concatenated `parts`.
    pub(crate) fn hash<S: Suite>(parts: &[&[u8]]) -> Self {
        let mut bytes = Zeroizing::new([0; Self::MAX]);
        S::hash_into(parts, &mut bytes[..S::OUTPUT_LEN]);
        Self {
            bytes,
            len: S::OUTPUT_LEN,
        }
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl PartialEq for Output {
    /// In constant time.
    fn eq(&self, other: &Self) -> bool {
        ct::eq(self.as_bytes(), other.as_bytes())
    }
}

impl Eq for Output {}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Output(..)")
    }
}
