//! ML-DSA (FIPS 204): the sizes 65 and 87, "pure" (no prehash), with context strings.
//!
//! Keys of different sizes are different types: `SigningKey<MlDsa65>` and `SigningKey<MlDsa87>`,
//! also named [`ml_dsa_65::SigningKey`](crate::sign::ml_dsa_65) and
//! [`ml_dsa_87::SigningKey`](crate::sign::ml_dsa_87).

use std::fmt;
use std::marker::PhantomData;

use crate::Error;
use crate::ffi::pkey::Pkey;
use crate::ffi::pqdsa;
use crate::secret::Secret;

/// The longest context string in bytes (section 5.2).
pub const MAX_CONTEXT_LEN: usize = 255;

/// A parameter set of table 1: [`MlDsa65`] or [`MlDsa87`].
pub trait ParameterSet: sealed::ParameterSet {
    /// The name in the standard.
    const NAME: &'static str;
    /// An array as long as an encoded verifying key.
    type VerifyingKeyBytes: ByteArray;
    /// An array as long as a signature.
    type Signature: ByteArray;
}

/// An array of bytes whose length depends on the parameter set.
pub trait ByteArray:
    AsRef<[u8]> + AsMut<[u8]> + Clone + Eq + fmt::Debug + Send + Sync + 'static
{
    /// All zero, on the heap.
    fn zeroed() -> Box<Self>;
}

impl<const N: usize> ByteArray for [u8; N] {
    fn zeroed() -> Box<Self> {
        Box::new([0; N])
    }
}

/// ML-DSA-65, security category 3.
#[derive(Clone, Copy, Debug)]
pub enum MlDsa65 {}

impl ParameterSet for MlDsa65 {
    const NAME: &'static str = "ML-DSA-65";
    type VerifyingKeyBytes = [u8; 1952];
    type Signature = [u8; 3309];
}

/// ML-DSA-87, security category 5.
#[derive(Clone, Copy, Debug)]
pub enum MlDsa87 {}

impl ParameterSet for MlDsa87 {
    const NAME: &'static str = "ML-DSA-87";
    type VerifyingKeyBytes = [u8; 2592];
    type Signature = [u8; 4627];
}

mod sealed {
    pub trait ParameterSet {
        /// aws-lc's number for the algorithm.
        const NID: i32;
    }

    impl ParameterSet for super::MlDsa65 {
        const NID: i32 = aws_lc_sys::NID_MLDSA65;
    }

    impl ParameterSet for super::MlDsa87 {
        const NID: i32 = aws_lc_sys::NID_MLDSA87;
    }
}

/// A signing key, expanded once and used many times.
///
/// aws-lc keeps the expanded key on its own heap: wiped on drop, but not locked in memory.
pub struct SigningKey<P: ParameterSet> {
    key: Pkey,
    verifying: VerifyingKey<P>,
}

impl<P: ParameterSet> SigningKey<P> {
    /// The key of a 32-byte seed ξ (algorithm 6).
    #[must_use]
    pub fn from_seed(seed: &Secret<32>) -> Self {
        let key = pqdsa::from_seed(P::NID, seed.expose()).expect("every seed makes a key");
        let mut public = P::VerifyingKeyBytes::zeroed();
        key.public_key_into((*public).as_mut())
            .expect("the key has a public half");
        let verifying =
            VerifyingKey::from_bytes((*public).as_ref()).expect("a key of our own making");
        Self { key, verifying }
    }

    /// The public half.
    #[must_use]
    pub fn verifying_key(&self) -> &VerifyingKey<P> {
        &self.verifying
    }

    /// Signs `message` under `context` (algorithm 2). Hedged: two signatures of one message differ.
    ///
    /// # Errors
    /// If `context` is longer than [`MAX_CONTEXT_LEN`].
    pub fn sign(&self, message: &[u8], context: &[u8]) -> Result<Box<P::Signature>, Error> {
        let mut signature = P::Signature::zeroed();
        pqdsa::sign(&self.key, message, context, (*signature).as_mut())?;
        Ok(signature)
    }
}

impl<P: ParameterSet> fmt::Debug for SigningKey<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey<{}>(..)", P::NAME)
    }
}

/// A public key, parsed once and used many times.
pub struct VerifyingKey<P: ParameterSet> {
    key: Pkey,
    size: PhantomData<P>,
}

impl<P: ParameterSet> VerifyingKey<P> {
    /// Takes an encoded key. Every string of the right length is one.
    ///
    /// # Errors
    /// If the length is wrong.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let key = pqdsa::from_public(P::NID, bytes)?;
        Ok(Self {
            key,
            size: PhantomData,
        })
    }

    /// The encoded key.
    #[must_use]
    pub fn to_bytes(&self) -> Box<P::VerifyingKeyBytes> {
        let mut bytes = P::VerifyingKeyBytes::zeroed();
        self.key
            .public_key_into((*bytes).as_mut())
            .expect("the key has a public half");
        bytes
    }

    /// Verifies `signature` over `message` under `context` (algorithm 3).
    ///
    /// # Errors
    /// If the signature is not valid, has the wrong length, or the context is too long.
    pub fn verify(&self, message: &[u8], context: &[u8], signature: &[u8]) -> Result<(), Error> {
        pqdsa::verify(&self.key, message, context, signature)
    }
}

impl<P: ParameterSet> Clone for VerifyingKey<P> {
    fn clone(&self) -> Self {
        Self {
            key: self.key.clone(),
            size: PhantomData,
        }
    }
}

impl<P: ParameterSet> PartialEq for VerifyingKey<P> {
    fn eq(&self, other: &Self) -> bool {
        self.to_bytes() == other.to_bytes()
    }
}

impl<P: ParameterSet> Eq for VerifyingKey<P> {}

impl<P: ParameterSet> fmt::Debug for VerifyingKey<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VerifyingKey<{}>(..)", P::NAME)
    }
}

/// Entry points that only test vectors need.
#[cfg(feature = "hazmat")]
pub mod hazmat {
    use super::{ParameterSet, VerifyingKey};
    use crate::Error;
    use crate::ffi::pqdsa;

    /// Verifies `signature` over an externally computed message representative µ (section 6.2).
    ///
    /// # Errors
    /// If the signature is not valid.
    pub fn verify_mu<P: ParameterSet>(
        key: &VerifyingKey<P>,
        mu: &[u8; 64],
        signature: &[u8],
    ) -> Result<(), Error> {
        pqdsa::verify_mu(&key.key, mu, signature)
    }
}
