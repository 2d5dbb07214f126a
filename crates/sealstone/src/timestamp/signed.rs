//! The token: CMS SignedData over TSTInfo (RFC 5652, RFC 5035, RFC 5816).

use der::Tag;
use der::asn1::ObjectIdentifier;
use sealstone_primitives::hash::{Sha2, sha1_broken};

use super::algorithm::Identifier;
use super::asn1::{self, Fields, Value, context, context_primitive, ensure, oid};
use super::certificate::{Certificate, only_directory_name};
use super::refusal::Refusal;

const SIGNED_DATA: ObjectIdentifier = oid("1.2.840.113549.1.7.2");
const TST_INFO: ObjectIdentifier = oid("1.2.840.113549.1.9.16.1.4");
const CONTENT_TYPE: ObjectIdentifier = oid("1.2.840.113549.1.9.3");
const MESSAGE_DIGEST: ObjectIdentifier = oid("1.2.840.113549.1.9.4");
const SIGNING_CERTIFICATE: ObjectIdentifier = oid("1.2.840.113549.1.9.16.2.12");
const SIGNING_CERTIFICATE_V2: ObjectIdentifier = oid("1.2.840.113549.1.9.16.2.47");

const MAX_CERTIFICATES: usize = 32;

/// A token that was read and not checked.
pub(super) struct Token<'a> {
    /// The encoding of TSTInfo.
    pub(super) content: &'a [u8],
    /// The certificates that can be read. The others cannot be on a path.
    pub(super) certificates: Vec<Certificate>,
    pub(super) signers: Vec<Signer<'a>>,
}

impl<'a> Token<'a> {
    /// Reads a ContentInfo.
    pub(super) fn parse(value: Value<'a>) -> Result<Self, Refusal> {
        let malformed = |_| Refusal::Malformed("the token");
        let (id, signed) = value
            .fields(Tag::Sequence, |fields| {
                let id = fields.next()?.oid()?;
                Ok((id, fields.next_explicit(0)?.ok_or_else(asn1::malformed)?))
            })
            .map_err(malformed)?;
        if id != SIGNED_DATA {
            return Err(Refusal::NotATimestamp);
        }
        let data = SignedData::parse(signed).map_err(malformed)?;
        if data.content_type != TST_INFO {
            return Err(Refusal::NotATimestamp);
        }
        if data.version != 3 {
            return Err(Refusal::Malformed("the token's version"));
        }
        if data.certificates.len() > MAX_CERTIFICATES {
            return Err(Refusal::TooManyCertificates);
        }
        let read = |value: &Value<'_>| Certificate::parse(value.raw()).ok();
        Ok(Self {
            content: data.content,
            certificates: data.certificates.iter().filter_map(read).collect(),
            signers: data.signers,
        })
    }

    /// The only signer.
    pub(super) fn signer(&self) -> Result<&Signer<'a>, Refusal> {
        match &self.signers[..] {
            [signer] => Ok(signer),
            others => Err(Refusal::Signers(others.len())),
        }
    }
}

struct SignedData<'a> {
    version: u16,
    content_type: ObjectIdentifier,
    content: &'a [u8],
    certificates: Vec<Value<'a>>,
    signers: Vec<Signer<'a>>,
}

impl<'a> SignedData<'a> {
    fn parse(value: Value<'a>) -> asn1::Result<Self> {
        value.fields(Tag::Sequence, |fields| {
            let version = fields.next()?.small()?;
            let digests = fields.next()?.elements(Tag::Set)?;
            let (content_type, content) = fields.next()?.fields(Tag::Sequence, |inner| {
                let id = inner.next()?.oid()?;
                let content = inner.next_explicit(0)?.ok_or_else(asn1::malformed)?;
                Ok((id, content.octets()?))
            })?;
            let certificates = fields.next_implicit(0)?;
            let certificates =
                certificates.map_or(Ok(Vec::new()), |value| value.elements(context(0)))?;
            // Revocation lists are not used.
            fields.next_implicit(1)?;
            let signers = fields.next()?.elements(Tag::Set)?;
            let signers = signers.into_iter().map(Signer::parse);
            let signers = signers.collect::<asn1::Result<Vec<_>>>()?;
            for signer in &signers {
                ensure(
                    digests
                        .iter()
                        .any(|digest| digest.raw() == signer.digest_raw),
                )?;
            }
            Ok(Self {
                version,
                content_type,
                content,
                certificates,
                signers,
            })
        })
    }
}

/// How a signer is named.
enum SignerId<'a> {
    IssuerAndSerial { issuer: &'a [u8], serial: &'a [u8] },
    KeyId(&'a [u8]),
}

/// A SignerInfo.
pub(super) struct Signer<'a> {
    id: SignerId<'a>,
    digest_raw: &'a [u8],
    pub(super) digest: Identifier<'a>,
    pub(super) attributes: Option<Attributes<'a>>,
    pub(super) algorithm: Identifier<'a>,
    pub(super) signature: &'a [u8],
}

impl<'a> Signer<'a> {
    fn parse(value: Value<'a>) -> asn1::Result<Self> {
        value.fields(Tag::Sequence, |fields| {
            let version = fields.next()?.small()?;
            let id = SignerId::parse(fields.next()?)?;
            let expected = match id {
                SignerId::IssuerAndSerial { .. } => 1,
                SignerId::KeyId(_) => 3,
            };
            ensure(version == expected)?;
            let digest = fields.next()?;
            let attributes = fields.next_implicit(0)?;
            let algorithm = Identifier::parse(fields.next()?)?;
            let signature = fields.next()?.octets()?;
            // Unsigned attributes are not used.
            fields.next_implicit(1)?;
            Ok(Self {
                id,
                digest_raw: digest.raw(),
                digest: Identifier::parse(digest)?,
                attributes: attributes.map(Attributes::parse).transpose()?,
                algorithm,
                signature,
            })
        })
    }

    /// Whether `certificate` has the name of the signer.
    pub(super) fn is_named(&self, certificate: &Certificate) -> bool {
        match self.id {
            SignerId::IssuerAndSerial { issuer, serial } => {
                certificate.issuer == issuer && certificate.serial == serial
            }
            SignerId::KeyId(id) => certificate.key_id().is_some_and(|known| known == id),
        }
    }
}

impl<'a> SignerId<'a> {
    fn parse(value: Value<'a>) -> asn1::Result<Self> {
        if value.has_tag(context_primitive(0)) {
            return Ok(Self::KeyId(value.content()));
        }
        value.fields(Tag::Sequence, |fields| {
            Ok(Self::IssuerAndSerial {
                issuer: fields.next()?.raw(),
                serial: fields.next()?.integer()?,
            })
        })
    }
}

/// The signed attributes.
pub(super) struct Attributes<'a> {
    raw: &'a [u8],
    all: Vec<(ObjectIdentifier, Vec<Value<'a>>)>,
}

impl<'a> Attributes<'a> {
    fn parse(value: Value<'a>) -> asn1::Result<Self> {
        let attribute = |value: Value<'a>| {
            value.fields(Tag::Sequence, |fields| {
                let id = fields.next()?.oid()?;
                Ok((id, fields.next()?.elements(Tag::Set)?))
            })
        };
        let all = value.elements(context(0))?.into_iter().map(attribute);
        Ok(Self {
            raw: value.raw(),
            all: all.collect::<asn1::Result<Vec<_>>>()?,
        })
    }

    /// The signed bytes: the attributes as they were sent, with the tag of a SET (RFC 5652 section
    /// 5.4).
    pub(super) fn signed(&self) -> Vec<u8> {
        [&[0x31], &self.raw[1..]].concat()
    }

    /// Checks content type and digest.
    pub(super) fn check(&self, hash: Sha2, content: &[u8]) -> Result<(), Refusal> {
        let repeated = |(i, (id, _)): (usize, &(ObjectIdentifier, _))| {
            self.all[..i].iter().any(|(other, _)| other == id)
        };
        if self.all.iter().enumerate().any(repeated) {
            return Err(Refusal::Attributes);
        }
        let content_type = self.one(CONTENT_TYPE)?.and_then(|value| value.oid().ok());
        let digest = self
            .one(MESSAGE_DIGEST)?
            .and_then(|value| value.octets().ok())
            .ok_or(Refusal::Attributes)?;
        if content_type != Some(TST_INFO) {
            return Err(Refusal::Attributes);
        }
        if digest != hash.digest(&[content]) {
            return Err(Refusal::MessageDigest);
        }
        Ok(())
    }

    /// The identifier of the signing certificate.
    pub(super) fn certificate_ids(&self) -> Result<CertificateIds<'a>, Refusal> {
        let read = |id, parse: fn(Value<'a>) -> asn1::Result<CertificateId<'a>>| {
            let Some(value) = self.one(id)? else {
                return Ok(Vec::new());
            };
            let malformed = |_| Refusal::Malformed("an identifier of a certificate");
            let ids = CertificateId::list(value, parse).map_err(malformed)?;
            match ids.is_empty() {
                true => Err(Refusal::CertificateIdMissing),
                false => Ok(ids),
            }
        };
        let ids = CertificateIds {
            v1: read(SIGNING_CERTIFICATE, CertificateId::parse_v1)?,
            v2: read(SIGNING_CERTIFICATE_V2, CertificateId::parse_v2)?,
        };
        if ids.v1.is_empty() && ids.v2.is_empty() {
            return Err(Refusal::CertificateIdMissing);
        }
        Ok(ids)
    }

    /// The only value of an attribute, if the attribute is there.
    fn one(&self, id: ObjectIdentifier) -> Result<Option<Value<'a>>, Refusal> {
        match self.all.iter().find(|(known, _)| *known == id) {
            None => Ok(None),
            Some((_, values)) => match values[..] {
                [value] => Ok(Some(value)),
                _ => Err(Refusal::Attributes),
            },
        }
    }
}

/// The identifiers of the attributes signing-certificate and signing-certificate-v2.
pub(super) struct CertificateIds<'a> {
    v1: Vec<CertificateId<'a>>,
    v2: Vec<CertificateId<'a>>,
}

impl CertificateIds<'_> {
    /// Whether only SHA-1 identifies the signer's certificate.
    pub(super) fn are_sha1_only(&self) -> bool {
        self.v2.is_empty()
    }

    /// Whether the first identifier of each attribute is that of `signer`.
    pub(super) fn name_first(&self, signer: &Certificate) -> Result<bool, Refusal> {
        for ids in [&self.v1, &self.v2] {
            if let Some(first) = ids.first()
                && !first.is_of(signer)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Checks that all other identifiers are of certificates of `path`.
    pub(super) fn check_path(&self, path: &[&Certificate]) -> Result<(), Refusal> {
        let others = |ids: &[CertificateId<'_>]| {
            ids.iter().skip(1).try_for_each(|id| {
                for certificate in path {
                    if id.is_of(certificate)? {
                        return Ok(());
                    }
                }
                Err(Refusal::CertificateId)
            })
        };
        others(&self.v1)?;
        others(&self.v2)
    }
}

/// ESSCertID or ESSCertIDv2.
struct CertificateId<'a> {
    hash: IdHash<'a>,
    digest: &'a [u8],
    issuer_and_serial: Option<(&'a [u8], &'a [u8])>,
}

enum IdHash<'a> {
    /// The hash of ESSCertID.
    Sha1,
    /// The hash of ESSCertIDv2 that names none.
    Sha256,
    Named(Identifier<'a>),
}

impl<'a> CertificateId<'a> {
    fn list(
        value: Value<'a>,
        parse: fn(Value<'a>) -> asn1::Result<Self>,
    ) -> asn1::Result<Vec<Self>> {
        value.fields(Tag::Sequence, |fields| {
            let ids = fields.next()?.elements(Tag::Sequence)?;
            // Policies are not used.
            fields.next_if(Tag::Sequence)?;
            ids.into_iter().map(parse).collect()
        })
    }

    fn parse_v1(value: Value<'a>) -> asn1::Result<Self> {
        value.fields(Tag::Sequence, |fields| Self::rest(IdHash::Sha1, fields))
    }

    fn parse_v2(value: Value<'a>) -> asn1::Result<Self> {
        value.fields(Tag::Sequence, |fields| {
            let hash = match fields.next_if(Tag::Sequence)? {
                Some(hash) => IdHash::Named(Identifier::parse(hash)?),
                None => IdHash::Sha256,
            };
            Self::rest(hash, fields)
        })
    }

    fn rest(hash: IdHash<'a>, fields: &mut Fields<'a>) -> asn1::Result<Self> {
        let digest = fields.next()?.octets()?;
        let named = fields.next_if(Tag::Sequence)?;
        Ok(Self {
            hash,
            digest,
            issuer_and_serial: named.map(issuer_and_serial).transpose()?,
        })
    }

    fn is_of(&self, certificate: &Certificate) -> Result<bool, Refusal> {
        let digest = match &self.hash {
            IdHash::Named(hash) => hash.hash()?.digest(&[&certificate.der]),
            IdHash::Sha256 => Sha2::Sha256.digest(&[&certificate.der]),
            IdHash::Sha1 => sha1_broken(&certificate.der).to_vec(),
        };
        let named = self.issuer_and_serial.is_none_or(|(issuer, serial)| {
            certificate.issuer == issuer && certificate.serial == serial
        });
        Ok(named && self.digest == digest)
    }
}

fn issuer_and_serial(value: Value<'_>) -> asn1::Result<(&[u8], &[u8])> {
    value.fields(Tag::Sequence, |fields| {
        let issuer = only_directory_name(fields.next()?)?;
        Ok((issuer, fields.next()?.integer()?))
    })
}
