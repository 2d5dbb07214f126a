//! Passport recipients, named or anonymous: X25519 and ML-KEM-1024 together.

use minicbor::data::Type;
use minicbor::decode::Error as DecodeError;
use minicbor::{Decoder, Encoder};
use sealstone_primitives::dh::x25519;
use sealstone_primitives::kdf as hkdf;
use sealstone_primitives::kem::ml_kem_1024::Ciphertext;
use sealstone_primitives::secret::Secret;

use super::{
    Description, Entry, Fact, Fitting, Keys, Kind, MAX_STANZAS, Recipient, RecipientInfo, Turn,
    WRAPPED_LEN,
};
use crate::file::hedge::StanzaHedge;
use crate::passport::{Contact, Fingerprint, Passport};
use crate::{Error, KdfParams, OnProgress, Result};

pub(super) const ENTRY: Entry = Entry {
    number: NUMBER,
    most: MAX_STANZAS,
    parse: |d| Ok(Box::new(PassportStanza::parse(d)?)),
};

const NUMBER: u32 = 1;

/// CDDL `passport-stanza`.
#[derive(Clone)]
struct PassportStanza {
    /// `None` for an anonymous recipient.
    recipient: Option<Fingerprint>,
    epk: [u8; 32],
    ciphertext: Ciphertext,
    wrapped: [u8; WRAPPED_LEN],
}

/// The file key as it is wrapped for one passport. An [agent](crate::agent) unwraps it.
pub struct WrappedKey(PassportStanza);

/// The fields of a [`WrappedKey`] that are bytes.
pub(crate) struct WrappedBytes<'a> {
    pub(crate) epk: &'a [u8; 32],
    pub(crate) ciphertext: &'a [u8],
    pub(crate) wrapped: &'a [u8; WRAPPED_LEN],
}

impl WrappedKey {
    /// The passport that the file names; `None` for an anonymous recipient.
    pub fn recipient(&self) -> Option<Fingerprint> {
        self.0.recipient
    }

    pub(crate) fn info(&self) -> RecipientInfo {
        self.0.info()
    }

    pub(crate) fn bytes(&self) -> WrappedBytes<'_> {
        WrappedBytes {
            epk: &self.0.epk,
            ciphertext: self.0.ciphertext.as_bytes(),
            wrapped: &self.0.wrapped,
        }
    }

    /// A key from fields of these lengths.
    pub(crate) fn from_bytes(
        recipient: Option<Fingerprint>,
        epk: [u8; 32],
        ciphertext: &[u8],
        wrapped: [u8; WRAPPED_LEN],
    ) -> Option<Self> {
        Some(Self(PassportStanza {
            recipient,
            epk,
            ciphertext: Ciphertext::from_bytes(ciphertext).ok()?,
            wrapped,
        }))
    }

    /// The file key, if it is wrapped for `passport`.
    pub(crate) fn unwrap(&self, passport: &Passport) -> Option<Secret<32>> {
        self.0.open(passport)
    }
}

/// A passport that a file is to be sealed to.
pub(in crate::file) struct To<'a> {
    pub(in crate::file) contact: &'a Contact,
    pub(in crate::file) anonymous: bool,
}

impl Recipient for To<'_> {
    fn number(&self) -> u32 {
        NUMBER
    }

    fn is_anonymous(&self) -> bool {
        self.anonymous
    }

    fn wrap(
        &self,
        file_key: &Secret<32>,
        hedge: StanzaHedge<'_>,
        _: OnProgress<'_>,
    ) -> Result<Box<dyn Kind>> {
        let stanza = PassportStanza::wrap(file_key, hedge, self.contact, self.anonymous)?;
        Ok(Box::new(stanza))
    }
}

impl Kind for PassportStanza {
    fn number(&self) -> u32 {
        NUMBER
    }

    fn encode(&self) -> Vec<u8> {
        let recipient = self.recipient.as_ref();
        let recipient = recipient.map_or(&[][..], |fingerprint| &fingerprint.as_bytes()[..]);
        let mut e = Encoder::new(Vec::new());
        let encoded = e
            .array(5)
            .and_then(|e| e.u32(NUMBER))
            .and_then(|e| e.bytes(recipient))
            .and_then(|e| e.bytes(&self.epk))
            .and_then(|e| e.bytes(self.ciphertext.as_bytes()))
            .and_then(|e| e.bytes(&self.wrapped));
        encoded.expect("a Vec takes every byte");
        e.into_writer()
    }

    fn info(&self) -> RecipientInfo {
        self.recipient
            .map_or(RecipientInfo::Anonymous, RecipientInfo::Passport)
    }

    fn describe(&self) -> Description {
        match self.recipient {
            Some(fingerprint) => Description {
                kind: "passport",
                text: fingerprint.to_string(),
                facts: vec![("fingerprint", Fact::Text(fingerprint.to_string()))],
            },
            None => Description {
                kind: "anonymous",
                text: "anonymous".to_owned(),
                facts: Vec::new(),
            },
        }
    }

    fn for_passport(&self) -> Option<WrappedKey> {
        Some(WrappedKey(self.clone()))
    }

    fn fitting(&self, own: &[Fingerprint], current: usize) -> Option<(Turn, Fitting)> {
        let Some(name) = self.recipient else {
            let all = || (Turn::Unnamed, Fitting::Passports((0..current).collect()));
            return (current > 0).then(all);
        };
        let position = own.iter().position(|fingerprint| *fingerprint == name)?;
        Some((Turn::Named, Fitting::Passports(vec![position])))
    }

    fn turn(&self, keys: &Keys<'_>) -> Option<Turn> {
        let may_fit = keys.passports.iter().any(|passport| self.may_fit(passport));
        may_fit.then_some(match self.recipient {
            Some(_) => Turn::Named,
            None => Turn::Unnamed,
        })
    }

    fn derivations(&self, _: &Keys<'_>) -> Vec<KdfParams> {
        Vec::new()
    }

    fn unwrap(&self, keys: &Keys<'_>) -> Result<Option<Secret<32>>> {
        let passports = keys.passports.iter().filter(|p| self.may_fit(p));
        for passport in passports {
            match self.open(passport) {
                None if self.recipient.is_some() => return Err(Error::Altered("header")),
                None => {}
                found => return Ok(found),
            }
        }
        Ok(None)
    }
}

impl PassportStanza {
    fn parse(d: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        super::begin(d, 5)?;
        Ok(Self {
            recipient: parse_recipient(d)?,
            epk: super::octets(d)?,
            ciphertext: Ciphertext::from_bytes(d.bytes()?)
                .map_err(|_| DecodeError::message("ML-KEM ciphertext"))?,
            wrapped: super::octets(d)?,
        })
    }

    fn wrap(
        file_key: &Secret<32>,
        hedge: StanzaHedge<'_>,
        contact: &Contact,
        anonymous: bool,
    ) -> Result<Self> {
        let keys = contact.recipient();
        let ephemeral = x25519::PrivateKey::from_seed(hedge.ephemeral());
        let epk = *ephemeral.public_key().as_bytes();
        let ss_x = ephemeral
            .agree(&keys.x25519)
            .map_err(|_| Error::Invalid("the recipient's X25519 key is of low order"))?;
        let (ciphertext, ss_k) = keys.ml_kem_1024.encapsulate_derived(&hedge.encapsulated());
        let kek = combine(&ss_k, &ss_x, &ciphertext, &epk, contact);
        Ok(Self {
            recipient: (!anonymous).then(|| contact.fingerprint()),
            epk,
            ciphertext,
            wrapped: super::wrap(&kek, file_key),
        })
    }

    /// Whether the stanza names `passport` or is anonymous.
    fn may_fit(&self, passport: &Passport) -> bool {
        self.recipient
            .is_none_or(|recipient| recipient == passport.fingerprint())
    }

    fn open(&self, passport: &Passport) -> Option<Secret<32>> {
        let epk = x25519::PublicKey::from_bytes(self.epk);
        let ss_x = passport.x25519().agree(&epk).ok()?;
        let ss_k = passport.ml_kem_1024().decapsulate(&self.ciphertext);
        let own = passport.contact();
        let kek = combine(&ss_k, &ss_x, &self.ciphertext, &self.epk, own);
        super::unwrap(&kek, &self.wrapped)
    }
}

/// A fingerprint, or an empty byte string for an anonymous recipient.
fn parse_recipient(d: &mut Decoder<'_>) -> Result<Option<Fingerprint>, DecodeError> {
    if d.datatype()? == Type::Bytes && d.probe().bytes()?.is_empty() {
        return d.skip().map(|()| None);
    }
    super::octets(d).map(|bytes| Some(Fingerprint::from_bytes(bytes)))
}

/// Combines both shared secrets, bound to both ciphertexts, both public keys and the fingerprint.
///
/// The fingerprint matters for anonymous stanzas. A passport proves that its owner has its
/// signature keys, not these two keys. Without the fingerprint, a passport that contains somebody
/// else's two keys would receive stanzas that the other person can open.
fn combine(
    ss_k: &Secret<32>,
    ss_x: &Secret<32>,
    ciphertext: &Ciphertext,
    epk: &[u8; 32],
    recipient: &Contact,
) -> Secret<32> {
    let keys = recipient.recipient();
    let ikm = [
        &ss_k.expose()[..],
        &ss_x.expose()[..],
        ciphertext.as_bytes(),
        epk,
        &keys.ml_kem_1024.to_bytes()[..],
        keys.x25519.as_bytes(),
    ];
    let prk = hkdf::extract(b"sealstone.stanza.v1", &ikm);
    prk.expand_secret(&[b"kek", recipient.fingerprint().as_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::hedge::Hedge;

    fn passport(label: &str) -> Passport {
        Passport::generate(label, 1_767_225_600).unwrap()
    }

    fn opens(stanza: &PassportStanza, passport: &Passport, file_key: &Secret<32>) -> bool {
        let passports = [passport];
        match stanza.unwrap(&Keys::new(&passports, &[])) {
            Ok(Some(key)) => key.expose() == file_key.expose(),
            _ => false,
        }
    }

    #[test]
    fn a_passport_with_somebody_elses_encryption_keys_opens_nothing_for_them() {
        let (mallory, bob) = (passport("Mallory"), passport("Bob"));
        let mixed = mallory.contact().with_recipient_keys_of(bob.contact());
        let hedge = Hedge::new(None);
        let file_key = hedge.file_key();
        let wrapped = |contact: &Contact| {
            PassportStanza::wrap(&file_key, hedge.of_stanza(0), contact, true).unwrap()
        };
        assert!(opens(&wrapped(bob.contact()), &bob, &file_key));
        assert!(!opens(&wrapped(&mixed), &bob, &file_key));
        // An attacker may also write Bob's fingerprint into it.
        let named = PassportStanza {
            recipient: Some(bob.fingerprint()),
            ..wrapped(&mixed)
        };
        let passports = [&bob];
        assert!(matches!(
            named.unwrap(&Keys::new(&passports, &[])),
            Err(Error::Altered("header"))
        ));
    }
}
