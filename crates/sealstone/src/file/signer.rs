//! The signer of a sealed file.

use sealstone_primitives::secret::Secret;

use super::trailer::Trailer;
use crate::Result;
use crate::passport::{Contact, Passport};
use crate::sign::Signature;

/// The signer of a sealed file: a [`Passport`], or one that an [agent](crate::agent) holds.
pub trait Signer: Sign {}

/// The work of a signer. The trait is private: no signer of a caller sees what others sign.
pub trait Sign: Sync {
    fn public(&self) -> &Contact;
    /// An input to the randomness of one file.
    fn file_hedge(&self) -> Result<Secret<32>>;
    /// Both signatures, verified.
    fn sign_root(&self, root: &FileRoot) -> Result<Signature>;
}

/// All that the signatures of a sealed file cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRoot {
    pub(crate) header_digest: [u8; 64],
    pub(crate) payload_len: u64,
    pub(crate) content_len: u64,
    /// The root of the tree over the payload.
    pub(crate) root: [u8; 64],
}

impl FileRoot {
    /// The message that is signed, in the domain of sealed files.
    fn message(&self) -> Vec<u8> {
        let lengths = Trailer {
            payload_len: self.payload_len,
            content_len: self.content_len,
        };
        lengths.signed_message(&self.header_digest, &self.root)
    }

    /// Signs with a passport in this process, and verifies both signatures.
    pub(crate) fn sign(&self, passport: &Passport) -> Result<Signature> {
        passport.signing().sign(super::DOMAIN, &self.message())
    }

    /// Checks signatures that another process has made: one that is wrong could reveal the key.
    pub(crate) fn verify(&self, signer: &Contact, signature: &Signature) -> Result<()> {
        let (keys, message) = (signer.verifying(), self.message());
        keys.verify(super::DOMAIN, &message, signature, "new signature")
    }
}

impl Signer for Passport {}

impl Sign for Passport {
    fn public(&self) -> &Contact {
        self.contact()
    }

    fn file_hedge(&self) -> Result<Secret<32>> {
        Ok(self.hedge().duplicate())
    }

    fn sign_root(&self, root: &FileRoot) -> Result<Signature> {
        root.sign(self)
    }
}
