//! Identifiers of hash and signature algorithms (RFC 4055, RFC 5754, RFC 8419).

use der::Tag;
use der::asn1::ObjectIdentifier;
use sealstone_primitives::hash::Sha2;
use sealstone_primitives::sign::spki::Algorithm;

use super::asn1::{self, Value, ensure, oid};
use super::refusal::Refusal;

const SHA256: ObjectIdentifier = oid("2.16.840.1.101.3.4.2.1");
const SHA384: ObjectIdentifier = oid("2.16.840.1.101.3.4.2.2");
const SHA512: ObjectIdentifier = oid("2.16.840.1.101.3.4.2.3");
const RSA: ObjectIdentifier = oid("1.2.840.113549.1.1.1");
const PSS: ObjectIdentifier = oid("1.2.840.113549.1.1.10");
const MGF1: ObjectIdentifier = oid("1.2.840.113549.1.1.8");
const ED25519: ObjectIdentifier = oid("1.3.101.112");

/// Algorithms that name their hash, and take no parameters or NULL.
const SIGNATURES: [(ObjectIdentifier, Algorithm); 6] = [
    (
        oid("1.2.840.113549.1.1.11"),
        Algorithm::RsaPkcs1(Sha2::Sha256),
    ),
    (
        oid("1.2.840.113549.1.1.12"),
        Algorithm::RsaPkcs1(Sha2::Sha384),
    ),
    (
        oid("1.2.840.113549.1.1.13"),
        Algorithm::RsaPkcs1(Sha2::Sha512),
    ),
    (oid("1.2.840.10045.4.3.2"), Algorithm::Ecdsa(Sha2::Sha256)),
    (oid("1.2.840.10045.4.3.3"), Algorithm::Ecdsa(Sha2::Sha384)),
    (oid("1.2.840.10045.4.3.4"), Algorithm::Ecdsa(Sha2::Sha512)),
];

/// Hashes of less than 256 bits, and signatures over them.
const WEAK: [(ObjectIdentifier, &str); 13] = [
    (oid("1.2.840.113549.2.2"), "MD2"),
    (oid("1.2.840.113549.2.4"), "MD4"),
    (oid("1.2.840.113549.2.5"), "MD5"),
    (oid("1.3.14.3.2.26"), "SHA-1"),
    (oid("1.3.36.3.2.1"), "RIPEMD-160"),
    (oid("2.16.840.1.101.3.4.2.4"), "SHA-224"),
    (oid("2.16.840.1.101.3.4.2.5"), "SHA-512/224"),
    (oid("1.2.840.113549.1.1.4"), "RSA with MD5"),
    (oid("1.2.840.113549.1.1.5"), "RSA with SHA-1"),
    (oid("1.2.840.113549.1.1.14"), "RSA with SHA-224"),
    (oid("1.2.840.10045.4.1"), "ECDSA with SHA-1"),
    (oid("1.2.840.10045.4.3.1"), "ECDSA with SHA-224"),
    (oid("1.2.840.10040.4.3"), "DSA with SHA-1"),
];

/// An AlgorithmIdentifier.
#[derive(Clone, Copy)]
pub(super) struct Identifier<'a> {
    oid: ObjectIdentifier,
    parameters: Option<Value<'a>>,
}

/// Why the algorithm of an identifier is not used here.
pub(super) enum Unusable {
    Malformed,
    Weak(&'static str),
    Unknown(ObjectIdentifier),
}

impl From<der::Error> for Unusable {
    fn from(_: der::Error) -> Self {
        Self::Malformed
    }
}

impl From<Unusable> for Refusal {
    fn from(unusable: Unusable) -> Self {
        match unusable {
            Unusable::Malformed => Self::Malformed("an algorithm's parameters"),
            Unusable::Weak(name) => Self::WeakAlgorithm(name.to_owned()),
            Unusable::Unknown(oid) => Self::UnsupportedAlgorithm(oid.to_string()),
        }
    }
}

impl<'a> Identifier<'a> {
    pub(super) fn parse(value: Value<'a>) -> asn1::Result<Self> {
        value.fields(Tag::Sequence, |fields| {
            Ok(Self {
                oid: fields.next()?.oid()?,
                parameters: if fields.is_empty() {
                    None
                } else {
                    Some(fields.next()?)
                },
            })
        })
    }

    /// The hash function that it names.
    pub(super) fn hash(&self) -> Result<Sha2, Unusable> {
        let hash = match self.oid {
            SHA256 => Sha2::Sha256,
            SHA384 => Sha2::Sha384,
            SHA512 => Sha2::Sha512,
            _ => return Err(self.unusable()),
        };
        self.no_parameters()?;
        Ok(hash)
    }

    /// The signature algorithm of a certificate.
    pub(super) fn signature(&self) -> Result<Algorithm, Unusable> {
        if self.oid == PSS {
            return self.pss();
        }
        let known = SIGNATURES.iter().find(|(oid, _)| *oid == self.oid);
        let algorithm = match known {
            Some((_, algorithm)) => *algorithm,
            None if self.oid == ED25519 => Algorithm::Ed25519,
            None => return Err(self.unusable()),
        };
        self.no_parameters()?;
        Ok(algorithm)
    }

    /// The signature algorithm of a signer whose digest algorithm is `hash`; `None` if the two do
    /// not fit each other.
    pub(super) fn signature_with(&self, hash: Sha2) -> Result<Option<Algorithm>, Unusable> {
        if self.oid == RSA {
            self.no_parameters()?;
            return Ok(Some(Algorithm::RsaPkcs1(hash)));
        }
        let algorithm = self.signature()?;
        let named = match algorithm {
            Algorithm::RsaPkcs1(hash) | Algorithm::Ecdsa(hash) => hash,
            Algorithm::RsaPss { hash, .. } => hash,
            // RFC 8419 section 3.1.
            Algorithm::Ed25519 => Sha2::Sha512,
        };
        Ok((named == hash).then_some(algorithm))
    }

    /// RSASSA-PSS-params (RFC 4055 section 3.1). The defaults are SHA-1.
    fn pss(&self) -> Result<Algorithm, Unusable> {
        let parameters = self.parameters.ok_or(Unusable::Malformed)?;
        let (hash, mask, salt, trailer) = parameters.fields(Tag::Sequence, |fields| {
            let hash = fields.next_explicit(0)?;
            let mask = fields.next_explicit(1)?;
            let salt = fields.next_explicit(2)?;
            Ok((hash, mask, salt, fields.next_explicit(3)?))
        })?;
        let (Some(hash), Some(mask)) = (hash, mask) else {
            return Err(Unusable::Weak("RSA PSS with SHA-1"));
        };
        let hash = Identifier::parse(hash)?.hash()?;
        let mask = Identifier::parse(mask)?;
        let mask_hash = mask.parameters.ok_or(Unusable::Malformed)?;
        let fits = mask.oid == MGF1 && Identifier::parse(mask_hash)?.hash()? == hash;
        let salt_len = salt.map_or(Ok(20), |value| value.small())?;
        let trailer = trailer.map_or(Ok(1), |value| value.small())?;
        if !fits || trailer != 1 {
            return Err(Unusable::Unknown(self.oid));
        }
        Ok(Algorithm::RsaPss { hash, salt_len })
    }

    fn no_parameters(&self) -> asn1::Result<()> {
        ensure(self.parameters.is_none_or(|value| value.raw() == NULL))
    }

    fn unusable(&self) -> Unusable {
        let weak = WEAK.iter().find(|(oid, _)| *oid == self.oid);
        weak.map_or(Unusable::Unknown(self.oid), |(_, name)| {
            Unusable::Weak(name)
        })
    }
}

const NULL: [u8; 2] = [5, 0];

/// The DER encoding of the AlgorithmIdentifier of a hash function, with NULL as most programs write
/// it.
pub(super) fn encode_hash(hash: Sha2) -> Vec<u8> {
    let last = match hash {
        Sha2::Sha256 => 1,
        Sha2::Sha384 => 2,
        Sha2::Sha512 => 3,
    };
    vec![
        0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, last, 0x05, 0x00,
    ]
}
