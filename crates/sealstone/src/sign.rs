//! `Sign(domain, message)`: Ed25519 and ML-DSA-87 together, both required (`spec/README.md`).

use sealstone_primitives::secret::Secret;
use sealstone_primitives::sign::{ed25519, ml_dsa_87};

use crate::{Error, Result};

/// The purpose of a pair of signatures. It is signed too, so that no kind passes for another.
#[derive(Clone, Copy)]
pub(crate) struct Domain(pub(crate) &'static str);

/// Bytes of an Ed25519 and an ML-DSA-87 signature together.
pub(crate) const SIGNATURE_LEN: usize = ed25519::SIGNATURE_LEN + ml_dsa_87::SIGNATURE_LEN;

/// Both signatures over one message.
#[derive(Clone)]
pub struct Signature {
    pub(crate) ed25519: [u8; ed25519::SIGNATURE_LEN],
    pub(crate) ml_dsa_87: Box<[u8; ml_dsa_87::SIGNATURE_LEN]>,
}

/// Makes both signatures.
pub(crate) struct SigningKeys {
    ed25519: ed25519::SigningKey,
    ml_dsa_87: ml_dsa_87::SigningKey,
    verifying: VerifyingKeys,
}

/// Checks both signatures.
#[derive(Clone)]
pub(crate) struct VerifyingKeys {
    ed25519: ed25519::VerifyingKey,
    ml_dsa_87: ml_dsa_87::VerifyingKey,
}

impl SigningKeys {
    pub(crate) fn from_seeds(ed25519: &Secret<32>, ml_dsa_87: &Secret<32>) -> Self {
        let ed25519 = ed25519::SigningKey::from_seed(ed25519);
        let ml_dsa_87 = ml_dsa_87::SigningKey::from_seed(ml_dsa_87);
        Self {
            verifying: VerifyingKeys {
                ed25519: *ed25519.verifying_key(),
                ml_dsa_87: ml_dsa_87.verifying_key().clone(),
            },
            ed25519,
            ml_dsa_87,
        }
    }

    pub(crate) fn public(&self) -> (&ed25519::VerifyingKey, &ml_dsa_87::VerifyingKey) {
        (&self.verifying.ed25519, &self.verifying.ml_dsa_87)
    }

    /// The key that signs packages too.
    pub(crate) fn ed25519(&self) -> &ed25519::SigningKey {
        &self.ed25519
    }

    /// Makes both signatures and verifies them: one that a fault has spoilt can reveal the key.
    pub(crate) fn sign(&self, domain: Domain, message: &[u8]) -> Result<Signature> {
        let signature = self.sign_unverified(domain, message);
        #[cfg(test)]
        let signature = fault::inject(signature);
        self.verifying
            .verify(domain, message, &signature, "new signature")?;
        Ok(signature)
    }

    fn sign_unverified(&self, domain: Domain, message: &[u8]) -> Signature {
        let framed = domain.frame(message);
        Signature {
            ed25519: self.ed25519.sign(&framed),
            ml_dsa_87: self
                .ml_dsa_87
                .sign(&framed, domain.0.as_bytes())
                .expect("a domain is shorter than 255 bytes"),
        }
    }
}

impl VerifyingKeys {
    pub(crate) fn from_bytes(ed25519: &[u8; 32], ml_dsa_87: &[u8]) -> Result<Self> {
        let bad = |_| Error::Malformed("signature key");
        Ok(Self {
            ed25519: ed25519::VerifyingKey::from_bytes(ed25519).map_err(bad)?,
            ml_dsa_87: ml_dsa_87::VerifyingKey::from_bytes(ml_dsa_87).map_err(bad)?,
        })
    }

    /// Succeeds only if both signatures are right. `part` names the signed object in errors.
    pub(crate) fn verify(
        &self,
        domain: Domain,
        message: &[u8],
        signature: &Signature,
        part: &'static str,
    ) -> Result<()> {
        let framed = domain.frame(message);
        let classical = self.ed25519.verify(&framed, &signature.ed25519);
        let post_quantum =
            self.ml_dsa_87
                .verify(&framed, domain.0.as_bytes(), &signature.ml_dsa_87[..]);
        classical
            .and(post_quantum)
            .map_err(|_| Error::Altered(part))
    }
}

impl Signature {
    /// `ed25519 ‖ ml-dsa-87`.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        [&self.ed25519[..], &self.ml_dsa_87[..]].concat()
    }

    pub(crate) fn from_parts(ed25519: &[u8], ml_dsa_87: &[u8]) -> Result<Self> {
        let wrong_size = |_| Error::Malformed("signature");
        Ok(Self {
            ed25519: ed25519.try_into().map_err(wrong_size)?,
            ml_dsa_87: Box::new(ml_dsa_87.try_into().map_err(wrong_size)?),
        })
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (ed25519, ml_dsa_87) = bytes
            .split_at_checked(ed25519::SIGNATURE_LEN)
            .ok_or(Error::Malformed("signature"))?;
        Self::from_parts(ed25519, ml_dsa_87)
    }
}

impl Domain {
    /// `domain ‖ 0x00 ‖ message`.
    pub(crate) fn frame(self, message: &[u8]) -> Vec<u8> {
        [self.0.as_bytes(), &[0], message].concat()
    }
}

/// Faults while signing, for tests.
#[cfg(test)]
pub(crate) mod fault {
    use std::cell::Cell;

    use super::Signature;

    /// Which signature of the pair the next fault spoils.
    #[derive(Clone, Copy, Debug)]
    pub(crate) enum Fault {
        Ed25519,
        MlDsa87,
    }

    thread_local! {
        static NEXT: Cell<Option<Fault>> = const { Cell::new(None) };
    }

    /// Spoils the next signature of this thread.
    pub(crate) fn plant(fault: Fault) {
        NEXT.set(Some(fault));
    }

    pub(super) fn inject(mut signature: Signature) -> Signature {
        match NEXT.take() {
            None => {}
            Some(Fault::Ed25519) => signature.ed25519[40] ^= 1,
            Some(Fault::MlDsa87) => signature.ml_dsa_87[2000] ^= 1,
        }
        signature
    }
}
