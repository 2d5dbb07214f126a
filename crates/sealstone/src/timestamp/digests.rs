//! Imprints: digests of what is stamped.

use std::io::{self, Read};

use sealstone_primitives::hash::{Sha2, Sha2Hasher};

use super::refusal::Refusal;

/// A digest to be stamped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imprint {
    pub(super) hash: Sha2,
    pub(super) digest: Vec<u8>,
}

impl Imprint {
    /// The imprint of `data`.
    #[must_use]
    pub fn of(hash: Sha2, data: &[u8]) -> Self {
        Self {
            hash,
            digest: hash.digest(&[data]),
        }
    }

    /// A digest that the caller computed.
    ///
    /// # Errors
    /// If its length is not that of `hash`.
    pub fn from_digest(hash: Sha2, digest: &[u8]) -> Result<Self, Refusal> {
        check_len(hash, digest)?;
        Ok(Self {
            hash,
            digest: digest.to_vec(),
        })
    }

    /// The hash function.
    #[must_use]
    pub fn hash(&self) -> Sha2 {
        self.hash
    }

    /// The digest.
    #[must_use]
    pub fn digest(&self) -> &[u8] {
        &self.digest
    }
}

/// Known digests of the data: digests of it, by one or more hash functions.
///
/// ```
/// use sealstone::timestamp::{Digests, Sha2};
///
/// let digests = Digests::of(&[Sha2::Sha256], b"data");
/// assert_eq!(digests.get(Sha2::Sha256).map(<[u8]>::len), Some(32));
/// assert_eq!(digests.get(Sha2::Sha512), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digests(Vec<(Sha2, Vec<u8>)>);

impl Digests {
    /// The digests of `data` by all hash functions in `hashes`.
    #[must_use]
    pub fn of(hashes: &[Sha2], data: &[u8]) -> Self {
        let digest = |hash: &Sha2| (*hash, hash.digest(&[data]));
        Self(hashes.iter().map(digest).collect())
    }

    /// The digests of everything that `data` gives.
    ///
    /// # Errors
    /// If reading fails.
    pub fn read(hashes: &[Sha2], mut data: impl Read) -> io::Result<Self> {
        let start = |hash: &Sha2| (*hash, Sha2Hasher::new(*hash));
        let mut hashers: Vec<_> = hashes.iter().map(start).collect();
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = match data.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            for (_, hasher) in &mut hashers {
                hasher.update(&buffer[..read]);
            }
        }
        let finish = |(hash, hasher): (Sha2, Sha2Hasher)| (hash, hasher.finish());
        Ok(Self(hashers.into_iter().map(finish).collect()))
    }

    /// One digest that the caller computed, of data that is not here.
    #[must_use]
    pub fn from_imprint(imprint: Imprint) -> Self {
        Self(vec![(imprint.hash, imprint.digest)])
    }

    /// The digest by `hash`, if it is known.
    #[must_use]
    pub fn get(&self, hash: Sha2) -> Option<&[u8]> {
        let found = self.0.iter().find(|(known, _)| *known == hash);
        found.map(|(_, digest)| digest.as_slice())
    }

    pub(super) fn need(&self, hash: Sha2) -> Result<&[u8], Refusal> {
        self.get(hash)
            .ok_or_else(|| Refusal::DataNeeded(hash.to_string()))
    }
}

pub(super) fn check_len(hash: Sha2, digest: &[u8]) -> Result<(), Refusal> {
    if digest.len() == hash.len() {
        return Ok(());
    }
    Err(Refusal::ImprintLength {
        expected: hash.len(),
        found: digest.len(),
    })
}
