//! PHC strings, in which password hashes are stored (C2SP, `phc-strings.md`).
//!
//! Every hash has exactly one string, which [`PhcString`] writes. Only one other string of it is
//! read: that of Argon2 1.0, which has no version.

mod base64;
mod read;

use crate::params::{Params, Version};
use core::fmt;
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// A hash, with everything that is needed to verify it except the secret. It allows to try
/// passwords, so the tag is wiped on drop, not shown by `Debug`, and compared in constant time.
///
/// A string without `v=` is one of Argon2 1.0, whose version is 16. It is read, as by the reference
/// implementation, but never written.
///
/// ```
/// use sealstone_argon2::PhcString;
///
/// let text = "$argon2id$v=19$m=65536,t=2,p=1$gZiV/M1gPc22ElAH/Jh1Hw\
///             $CWOrkoo7oJBQ/iyh7uJ0LO2aLEfrHwTWllSAxT0zRno";
/// let hash: PhcString = text.parse()?;
/// assert_eq!((hash.params().memory_kib(), hash.salt().len(), hash.tag().len()), (65_536, 16, 32));
/// assert_eq!(hash.to_string(), text);
/// assert!(text.replace("m=65536", "m=065536").parse::<PhcString>().is_err());
/// # Ok::<(), sealstone_argon2::Error>(())
/// ```
#[derive(Clone)]
pub struct PhcString {
    params: Params,
    /// Whether the string names its version.
    has_version: bool,
    key_id: Bytes<8>,
    associated_data: Bytes<32>,
    salt: Bytes<48>,
    tag: Zeroizing<Bytes<64>>,
}

/// Up to `N` bytes.
#[derive(Clone, Copy)]
struct Bytes<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Bytes<N> {
    const EMPTY: Self = Self {
        bytes: [0; N],
        len: 0,
    };

    fn of(from: &[u8]) -> Option<Self> {
        let mut bytes = [0; N];
        bytes.get_mut(..from.len())?.copy_from_slice(from);
        Some(Self {
            bytes,
            len: from.len(),
        })
    }

    fn get(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl<const N: usize> Zeroize for Bytes<N> {
    fn zeroize(&mut self) {
        self.bytes.zeroize();
    }
}

/// Lengths of salts that strings may have, in bytes.
pub(crate) const SALT: core::ops::RangeInclusive<usize> = 8..=48;
/// Lengths of tags that strings may have, in bytes.
pub(crate) const TAG: core::ops::RangeInclusive<usize> = 12..=64;
/// The most lanes that a string may ask for.
pub(crate) const LANES: u32 = 255;

impl PhcString {
    /// The string of a hash. The salt has 8 to 48 bytes, the tag 12 to 64, the associated data up
    /// to 32; there are up to 255 lanes.
    pub fn new(params: Params, salt: &[u8], associated_data: &[u8], tag: &[u8]) -> Option<Self> {
        if !SALT.contains(&salt.len()) || !TAG.contains(&tag.len()) || params.lanes() > LANES {
            return None;
        }
        Some(Self {
            params,
            has_version: true,
            key_id: Bytes::EMPTY,
            associated_data: Bytes::of(associated_data)?,
            salt: Bytes::of(salt)?,
            tag: Zeroizing::new(Bytes::of(tag)?),
        })
    }

    /// The same with a name, up to 8 bytes, for the secret that was used.
    #[must_use]
    pub fn with_key_id(self, key_id: &[u8]) -> Option<Self> {
        Some(Self {
            key_id: Bytes::of(key_id)?,
            ..self
        })
    }

    /// The parameters of the hash.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Whether the string names its version. If not, it is a string of Argon2 1.0.
    pub fn has_version(&self) -> bool {
        self.has_version
    }

    /// The name of the secret; empty if there is none.
    pub fn key_id(&self) -> &[u8] {
        self.key_id.get()
    }

    /// Associated data (X).
    pub fn associated_data(&self) -> &[u8] {
        self.associated_data.get()
    }

    /// The salt (S).
    pub fn salt(&self) -> &[u8] {
        self.salt.get()
    }

    /// The tag.
    pub fn tag(&self) -> &[u8] {
        self.tag.get()
    }
}

impl PartialEq for PhcString {
    /// Whether both are the same hash, in a time that does not depend on where salts or tags
    /// differ.
    fn eq(&self, other: &Self) -> bool {
        self.params == other.params
            && self.key_id() == other.key_id()
            && self.associated_data() == other.associated_data()
            && bool::from(self.salt().ct_eq(other.salt()) & self.tag().ct_eq(other.tag()))
    }
}

impl Eq for PhcString {}

impl ZeroizeOnDrop for PhcString {}

impl fmt::Display for PhcString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let params = &self.params;
        write!(
            f,
            "${}$v={}",
            params.variant().name(),
            params.version() as u32
        )?;
        write!(
            f,
            "$m={},t={},p={}",
            params.memory_kib(),
            params.passes(),
            params.lanes()
        )?;
        for (name, bytes) in [
            (",keyid=", self.key_id()),
            (",data=", self.associated_data()),
        ] {
            if !bytes.is_empty() {
                f.write_str(name)?;
                base64::write(f, bytes)?;
            }
        }
        for bytes in [self.salt(), self.tag()] {
            f.write_str("$")?;
            base64::write(f, bytes)?;
        }
        Ok(())
    }
}

impl fmt::Debug for PhcString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PhcString")
            .field("params", &self.params)
            .finish_non_exhaustive()
    }
}

impl Version {
    /// The version of this number.
    fn of(number: u32) -> Option<Self> {
        [Self::V0x10, Self::V0x13]
            .into_iter()
            .find(|version| *version as u32 == number)
    }
}
