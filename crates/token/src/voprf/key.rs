//! Keys (RFC 9497 section 3.2).

use std::fmt;

use sealstone_primitives::curve::{Element, Encoding, Group, Scalar};
use sealstone_primitives::secret::SecretVec;

use super::message::published;
use super::suite::{ElementOf, Mode, ScalarOf, Suite, tag};
use crate::Error;

/// A server's key with its public half.
pub struct PrivateKey<S: Suite> {
    scalar: ScalarOf<S>,
    public: PublicKey<S>,
}

impl<S: Suite> PrivateKey<S> {
    /// The length of an encoding in bytes: 32, for P-384 48.
    pub const LEN: usize = ScalarOf::<S>::LEN;

    /// A new random key.
    #[must_use]
    pub fn generate() -> Self {
        Self::new(ScalarOf::<S>::random()).expect("a random scalar is not zero")
    }

    /// The key that `seed` and `info` determine for `mode` (RFC 9497 section 3.2.1).
    ///
    /// # Errors
    /// If `info` is longer than 65,535 bytes.
    pub fn derive(mode: Mode, seed: &[u8; 32], info: &[u8]) -> Result<Self, Error> {
        let info_len = u16::try_from(info.len()).map_err(|_| Error::TooLong("key info"))?;
        let dst = tag::<S>("DeriveKeyPair", mode);
        for counter in 0..=u8::MAX {
            let parts: [&[u8]; 4] = [seed, &info_len.to_be_bytes(), info, &[counter]];
            if let Ok(key) = Self::new(S::Group::hash_to_scalar(&parts, &dst)) {
                return Ok(key);
            }
        }
        unreachable!("256 hashes in a row are not all zero")
    }

    /// The key that `bytes` encode.
    ///
    /// # Errors
    /// If they are not the canonical encoding of a number from 1 to the order less 1.
    pub fn decode(bytes: &[u8]) -> Result<Self, Error> {
        ScalarOf::<S>::decode(bytes)
            .ok()
            .and_then(|scalar| Self::new(scalar).ok())
            .ok_or(Error::Malformed("private key"))
    }

    /// The canonical encoding.
    #[must_use]
    pub fn encode(&self) -> SecretVec {
        let mut bytes = SecretVec::zeroed(Self::LEN);
        self.scalar.encode_into(bytes.expose_mut());
        bytes
    }

    /// The public half.
    #[must_use]
    pub fn public_key(&self) -> &PublicKey<S> {
        &self.public
    }

    pub(crate) fn scalar(&self) -> &ScalarOf<S> {
        &self.scalar
    }

    pub(crate) fn new(scalar: ScalarOf<S>) -> Result<Self, Error> {
        let public = PublicKey::new(ElementOf::<S>::mul_generator(&scalar))?;
        Ok(Self { scalar, public })
    }
}

impl<S: Suite> fmt::Debug for PrivateKey<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({:?})", self.public)
    }
}

/// The public half of a server's key. Clients check evaluations with it.
#[derive(Clone)]
pub struct PublicKey<S: Suite> {
    element: ElementOf<S>,
    encoding: Encoding,
}

impl<S: Suite> PublicKey<S> {
    /// The length of an encoding in bytes.
    pub const LEN: usize = ElementOf::<S>::LEN;

    /// The key that `bytes` encode.
    ///
    /// # Errors
    /// If they are not the canonical encoding of an element other than the identity.
    pub fn decode(bytes: &[u8]) -> Result<Self, Error> {
        ElementOf::<S>::decode(bytes)
            .ok()
            .and_then(|element| Self::new(element).ok())
            .ok_or(Error::Malformed("public key"))
    }

    /// The canonical encoding.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.encoding.as_bytes()
    }

    pub(crate) fn element(&self) -> &ElementOf<S> {
        &self.element
    }

    pub(crate) fn new(element: ElementOf<S>) -> Result<Self, Error> {
        let encoding = element
            .encode()
            .map_err(|_| Error::Malformed("public key"))?;
        let (element, encoding) = published((element, encoding));
        Ok(Self { element, encoding })
    }
}

impl<S: Suite> PartialEq for PublicKey<S> {
    fn eq(&self, other: &Self) -> bool {
        self.encoding == other.encoding
    }
}

impl<S: Suite> Eq for PublicKey<S> {}

impl<S: Suite> fmt::Debug for PublicKey<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", S::IDENTIFIER, self.encoding)
    }
}
