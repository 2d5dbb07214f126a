//! The file `signature`: the owner's passport countersigns the log (`spec/trust.md`, "Files").
//!
//! A program that can read `key` can write entries that authenticate. It cannot countersign them.

use minicbor::{Decode, Encode};

use super::link::Link;
use super::{VERSION, altered};
use crate::passport::{Contact, Fingerprint, Passport};
use crate::sign::{Domain, Signature};
use crate::wire::cbor;
use crate::{Error, Result};

/// A passport's signatures over the first entries of a log.
#[derive(Clone, Encode, Decode)]
pub struct Countersignature {
    #[n(0)]
    version: u8,
    #[n(1)]
    signer: Fingerprint,
    #[n(2)]
    count: u64,
    #[cbor(n(3), with = "minicbor::bytes")]
    link: Link,
    #[n(4)]
    time: u64,
    #[cbor(n(5), with = "minicbor::bytes")]
    ed25519: Vec<u8>,
    #[cbor(n(6), with = "minicbor::bytes")]
    ml_dsa_87: Vec<u8>,
}

const DOMAIN: Domain = Domain("sealstone.trust.v1");

impl Countersignature {
    /// Signs the first `count` entries, which end in `link`.
    pub(super) fn new(passport: &Passport, count: u64, link: Link, time: u64) -> Result<Self> {
        let signer = passport.fingerprint();
        let message = message(&signer, count, &link, time);
        let Signature { ed25519, ml_dsa_87 } = passport.signing().sign(DOMAIN, &message)?;
        let signed = Self {
            version: VERSION,
            signer,
            count,
            link,
            time,
            ed25519: ed25519.to_vec(),
            ml_dsa_87: ml_dsa_87.to_vec(),
        };
        // A wrong signature, made by a fault, can reveal the key: it does not leave this function.
        signed.verify(passport.contact()).map(|()| signed)
    }

    /// The passport that is said to have signed. [`super::TrustStore::verify_signed`] checks it.
    #[must_use]
    pub fn signer(&self) -> Fingerprint {
        self.signer
    }

    /// How many entries are signed.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The time of signing by the signer's clock: seconds since 1970.
    #[must_use]
    pub fn time(&self) -> u64 {
        self.time
    }

    pub(super) fn link(&self) -> &Link {
        &self.link
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        cbor::encode(self)
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self> {
        let malformed = |_| altered("its countersignature is malformed");
        let signed: Self = cbor::decode(bytes, "countersignature").map_err(malformed)?;
        match signed.version {
            VERSION => Ok(signed),
            _ => Err(Error::Unsupported("countersignature of the trust store")),
        }
    }

    /// Succeeds if `signer` made both signatures.
    pub(super) fn verify(&self, signer: &Contact) -> Result<()> {
        let forged = |_| altered("its countersignature is not authentic");
        if signer.fingerprint() != self.signer {
            return Err(altered("another passport countersigned it"));
        }
        let signature = Signature::from_parts(&self.ed25519, &self.ml_dsa_87).map_err(forged)?;
        let message = message(&self.signer, self.count, &self.link, self.time);
        let keys = signer.verifying();
        keys.verify(DOMAIN, &message, &signature, "countersignature")
            .map_err(forged)
    }
}

/// `signer ‖ u64(count) ‖ link ‖ u64(time)`.
fn message(signer: &Fingerprint, count: u64, link: &Link, time: u64) -> Vec<u8> {
    let parts: [&[u8]; 4] = [
        signer.as_bytes(),
        &count.to_be_bytes(),
        link,
        &time.to_be_bytes(),
    ];
    parts.concat()
}
