//! The public half of a passport: its owner hands it out, and sealed files carry it.

use minicbor::{Decode, Encode};
use sealstone_primitives::dh::x25519;
use sealstone_primitives::hash::sha3_256;
use sealstone_primitives::kem::ml_kem_1024;

use super::Fingerprint;
use crate::sign::{Domain, Signature, VerifyingKeys};
use crate::wire::armor::{self, Label};
use crate::wire::{cbor, text};
use crate::{Error, Kind, Result};

/// A public passport whose signatures have been checked.
#[derive(Clone)]
pub struct PublicPassport {
    contact: Contact,
    encoded: Vec<u8>,
}

/// Public keys, label and creation time, from a public passport or from a sealed file.
///
/// All keys of this value belong to its fingerprint. The label is a claim of the owner and proves
/// nothing.
#[derive(Clone)]
pub struct Contact {
    body: Body,
    /// SHA3-256 of each public key.
    digests: [[u8; 32]; 5],
    fingerprint: Fingerprint,
    verifying: VerifyingKeys,
    recipient: RecipientKeys,
}

/// The two public keys that a file is sealed to.
#[derive(Clone)]
pub(crate) struct RecipientKeys {
    pub(crate) x25519: x25519::PublicKey,
    pub(crate) ml_kem_1024: ml_kem_1024::EncapsulationKey,
}

/// A statement of an old passport that this one replaces it (`spec/passport.md`, "Succession").
#[derive(Clone, Encode, Decode)]
pub struct Succession {
    #[n(0)]
    predecessor: Fingerprint,
    #[n(1)]
    time: u64,
    #[cbor(n(2), with = "minicbor::bytes")]
    ed25519: Vec<u8>,
    #[cbor(n(3), with = "minicbor::bytes")]
    ml_dsa_87: Vec<u8>,
}

/// CDDL `passport-body`.
#[derive(Clone, Encode, Decode)]
#[cbor(map)]
pub(crate) struct Body {
    #[n(0)]
    pub(crate) version: u64,
    #[cbor(n(1), with = "minicbor::bytes")]
    pub(crate) x25519: [u8; 32],
    #[cbor(n(2), with = "minicbor::bytes")]
    pub(crate) ml_kem_1024: Vec<u8>,
    #[cbor(n(3), with = "minicbor::bytes")]
    pub(crate) ed25519: [u8; 32],
    #[cbor(n(4), with = "minicbor::bytes")]
    pub(crate) ml_dsa_87: Vec<u8>,
    /// The key, or in the carried form its digest.
    #[cbor(n(5), with = "minicbor::bytes")]
    pub(crate) ml_dsa_65: Vec<u8>,
    #[n(6)]
    pub(crate) label: String,
    #[n(7)]
    pub(crate) created: u64,
    #[n(8)]
    pub(crate) succession: Option<Succession>,
}

/// CDDL `public-passport`.
#[derive(Encode, Decode)]
pub(crate) struct Signed {
    #[cbor(n(0), with = "minicbor::bytes")]
    pub(crate) body: Vec<u8>,
    #[cbor(n(1), with = "minicbor::bytes")]
    pub(crate) ed25519: Vec<u8>,
    #[cbor(n(2), with = "minicbor::bytes")]
    pub(crate) ml_dsa_87: Vec<u8>,
}

/// The domain of the passport's own signatures.
pub(crate) const DOMAIN: Domain = Domain("sealstone.passport.v1");
/// The domain of the predecessor's signatures.
pub(crate) const SUCCESSION_DOMAIN: Domain = Domain("sealstone.succession.v1");
/// The version of the format.
pub(crate) const VERSION: u64 = 1;
/// Labels are 1 to 64 bytes.
pub(crate) const MAX_LABEL: usize = 64;

const DIGEST_LEN: usize = 32;
const ML_DSA_65_LEN: usize = 1952;
/// More than any public passport needs. Longer files are refused before they are read.
const MAX_ENCODED: usize = 65_536;

impl PublicPassport {
    /// Reads an armored public passport and checks both of its signatures.
    ///
    /// # Errors
    /// [`Error::OtherKind`] if it is not one; [`Error::Malformed`], [`Error::Armor`] or
    /// [`Error::Unsupported`] if it breaks a rule; [`Error::Altered`] if a signature is wrong.
    pub fn from_armor(text: &[u8]) -> Result<Self> {
        let read = || {
            if text.len() > MAX_ENCODED {
                return Err(Error::Malformed("public passport: too long"));
            }
            Self::from_encoded(armor::decode(Label::PublicPassport, text)?)
        };
        read().map_err(|e| Kind::PublicPassport.explain(text, e))
    }

    pub(crate) fn from_encoded(encoded: Vec<u8>) -> Result<Self> {
        let signed: Signed = cbor::decode(&encoded, "public passport")?;
        let body = Body::parse(&signed.body, "public passport")?;
        if body.ml_dsa_65.len() == DIGEST_LEN {
            return Err(Error::Malformed(
                "public passport: the ML-DSA-65 key is missing",
            ));
        }
        let contact = Contact::from_body(body)?;
        let signature = Signature::from_parts(&signed.ed25519, &signed.ml_dsa_87)?;
        contact
            .verifying
            .verify(DOMAIN, &signed.body, &signature, "public passport")?;
        Ok(Self { contact, encoded })
    }

    /// The armored text to hand out.
    pub fn to_armor(&self) -> String {
        armor::encode(Label::PublicPassport, &self.encoded)
    }

    /// The keys, label and time.
    pub fn contact(&self) -> &Contact {
        &self.contact
    }

    /// The statement of a predecessor, if this passport came from a rotation. It is a claim until
    /// [`Succession::verify`] has checked it with the predecessor's keys.
    pub fn succession(&self) -> Option<&Succession> {
        self.contact.body.succession.as_ref()
    }
}

impl Contact {
    pub(crate) fn from_body(body: Body) -> Result<Self> {
        text::check(&body.label, 1, MAX_LABEL, "passport label")?;
        let digests = body.digests()?;
        let verifying = VerifyingKeys::from_bytes(&body.ed25519, &body.ml_dsa_87)?;
        let recipient = RecipientKeys {
            x25519: x25519::PublicKey::from_bytes(body.x25519),
            ml_kem_1024: ml_kem_1024::EncapsulationKey::from_bytes(&body.ml_kem_1024)
                .map_err(|_| Error::Malformed("ML-KEM-1024 key"))?,
        };
        Ok(Self {
            body,
            fingerprint: Fingerprint::of_digests(&digests),
            digests,
            verifying,
            recipient,
        })
    }

    /// Reads what [`Contact::encode`] gives.
    ///
    /// # Errors
    /// [`Error::Malformed`] or [`Error::Unsupported`].
    pub fn decode(encoded: &[u8]) -> Result<Self> {
        Self::from_body(Body::parse(encoded, "carried passport")?)
    }

    /// From the carried form that travels in a sealed file.
    pub(crate) fn from_carried(encoded: &[u8]) -> Result<Self> {
        let contact = Self::decode(encoded)?;
        if contact.is_complete() || contact.body.succession.is_some() {
            return Err(Error::Malformed("carried passport"));
        }
        Ok(contact)
    }

    /// All of it in CBOR: a `passport-body`, full or carried. Nothing in it is signed.
    pub fn encode(&self) -> Vec<u8> {
        cbor::encode(&self.body)
    }

    /// The carried form: the ML-DSA-65 key as its digest, no succession.
    pub(crate) fn encoded_carried(&self) -> Vec<u8> {
        let mut body = self.body.clone();
        body.succession = None;
        if body.ml_dsa_65.len() != DIGEST_LEN {
            body.ml_dsa_65 = sha3_256(&body.ml_dsa_65).to_vec();
        }
        cbor::encode(&body)
    }

    /// The name of this passport.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The owner's label: 1 to 64 bytes of printable text.
    pub fn label(&self) -> &str {
        &self.body.label
    }

    /// The creation time by the owner's clock: seconds since 1970.
    pub fn created(&self) -> u64 {
        self.body.created
    }

    /// Whether all keys are present, or only those that a sealed file carries.
    pub fn is_complete(&self) -> bool {
        self.body.ml_dsa_65.len() != DIGEST_LEN
    }

    pub(crate) fn verifying(&self) -> &VerifyingKeys {
        &self.verifying
    }

    /// SHA3-256 of each public key, in the order of the specification.
    pub(crate) fn digests(&self) -> &[[u8; 32]; 5] {
        &self.digests
    }

    /// The Ed25519 and ML-DSA-65 keys, if the passport is complete.
    pub(crate) fn package_keys(&self) -> Option<(&[u8; 32], &[u8])> {
        let complete = self.is_complete();
        complete.then_some((&self.body.ed25519, &self.body.ml_dsa_65))
    }

    pub(crate) fn recipient(&self) -> &RecipientKeys {
        &self.recipient
    }

    /// This passport with the encryption keys of `other`, as an attacker could hand it out.
    #[cfg(test)]
    pub(crate) fn with_recipient_keys_of(&self, other: &Self) -> Self {
        let body = Body {
            x25519: other.body.x25519,
            ml_kem_1024: other.body.ml_kem_1024.clone(),
            ..self.body.clone()
        };
        Self::from_body(body).expect("both halves are valid")
    }
}

impl std::fmt::Debug for Contact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Contact({:?}, {})", self.label(), self.fingerprint)
    }
}

impl std::fmt::Debug for PublicPassport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "PublicPassport({:?}, {})",
            self.contact.label(),
            self.contact.fingerprint
        )
    }
}

impl Body {
    fn parse(encoded: &[u8], what: &'static str) -> Result<Self> {
        cbor::check_version(encoded, VERSION, what)?;
        cbor::decode(encoded, what)
    }

    /// SHA3-256 of each public key: what the fingerprint is computed from.
    fn digests(&self) -> Result<[[u8; 32]; 5]> {
        let ml_dsa_65 = match self.ml_dsa_65.len() {
            DIGEST_LEN => self
                .ml_dsa_65
                .as_slice()
                .try_into()
                .map_err(|_| Error::Malformed("ML-DSA-65 key"))?,
            ML_DSA_65_LEN => sha3_256(&self.ml_dsa_65),
            _ => return Err(Error::Malformed("ML-DSA-65 key")),
        };
        Ok([
            sha3_256(&self.x25519),
            sha3_256(&self.ml_kem_1024),
            sha3_256(&self.ed25519),
            sha3_256(&self.ml_dsa_87),
            ml_dsa_65,
        ])
    }
}

impl Succession {
    pub(crate) fn new(predecessor: Fingerprint, time: u64, signature: Signature) -> Self {
        Self {
            predecessor,
            time,
            ed25519: signature.ed25519.to_vec(),
            ml_dsa_87: signature.ml_dsa_87.to_vec(),
        }
    }

    /// The message that the predecessor signs: `predecessor ‖ successor ‖ u64(time)`.
    pub(crate) fn message(
        predecessor: &Fingerprint,
        successor: &Fingerprint,
        time: u64,
    ) -> Vec<u8> {
        [
            &predecessor.as_bytes()[..],
            &successor.as_bytes()[..],
            &time.to_be_bytes()[..],
        ]
        .concat()
    }

    /// The passport that was replaced, by this claim.
    pub fn predecessor(&self) -> Fingerprint {
        self.predecessor
    }

    /// The time by the owner's clock: seconds since 1970.
    pub fn time(&self) -> u64 {
        self.time
    }

    /// Checks that `predecessor` signed this statement about `successor`.
    ///
    /// # Errors
    /// [`Error::Altered`] if it did not.
    pub fn verify(&self, predecessor: &Contact, successor: &Fingerprint) -> Result<()> {
        if predecessor.fingerprint() != self.predecessor {
            return Err(Error::Altered("succession"));
        }
        let signature = Signature::from_parts(&self.ed25519, &self.ml_dsa_87)?;
        let message = Self::message(&self.predecessor, successor, self.time);
        predecessor
            .verifying
            .verify(SUCCESSION_DOMAIN, &message, &signature, "succession")
    }
}
