//! One certificate (RFC 5280), and the checks of it alone.

use der::asn1::ObjectIdentifier;
use der::{Decode, Tag};
use sealstone_primitives::sign::spki::VerifyingKey;
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::{BasicConstraints, ExtendedKeyUsage, KeyUsage, SubjectKeyIdentifier};
use x509_cert::name::Name;
use x509_cert::time::Validity;

use super::algorithm::Identifier;
use super::asn1::{self, Value, context, context_primitive, ensure, oid};
use super::refusal::Refusal;

const TIME_STAMPING: ObjectIdentifier = oid("1.3.6.1.5.5.7.3.8");
const ANY_USAGE: ObjectIdentifier = oid("2.5.29.37.0");
const BASIC_CONSTRAINTS: ObjectIdentifier = oid("2.5.29.19");
const KEY_USAGE: ObjectIdentifier = oid("2.5.29.15");
const EXTENDED_KEY_USAGE: ObjectIdentifier = oid("2.5.29.37");
const SUBJECT_KEY_IDENTIFIER: ObjectIdentifier = oid("2.5.29.14");

/// Extensions that may be critical.
const KNOWN: [ObjectIdentifier; 6] = [
    BASIC_CONSTRAINTS,
    KEY_USAGE,
    EXTENDED_KEY_USAGE,
    // They have no effect here: no policy is required, and names are not looked up.
    oid("2.5.29.32"),
    oid("2.5.29.17"),
    oid("2.5.29.18"),
];

/// nameConstraints, policyConstraints, policyMappings: refused, because they are not applied.
const CONSTRAINTS: [ObjectIdentifier; 3] = [oid("2.5.29.30"), oid("2.5.29.36"), oid("2.5.29.33")];

/// A certificate that was read and not checked.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Certificate {
    pub(super) der: Vec<u8>,
    /// The signed part.
    tbs: Vec<u8>,
    /// The content of the INTEGER.
    pub(super) serial: Vec<u8>,
    /// The encoding of the name.
    pub(super) issuer: Vec<u8>,
    pub(super) subject: Vec<u8>,
    /// Seconds since 1970.
    pub(super) not_before: u64,
    pub(super) not_after: u64,
    spki: Vec<u8>,
    extensions: Vec<Extension>,
    /// An AlgorithmIdentifier.
    algorithm: Vec<u8>,
    signature: Vec<u8>,
}

impl Certificate {
    pub(super) fn parse(der: &[u8]) -> asn1::Result<Self> {
        Value::parse(der)?.fields(Tag::Sequence, |outer| {
            let tbs = outer.next()?;
            let algorithm = outer.next()?;
            let signature = outer.next()?.bits()?;
            let fields = tbs.fields(Tag::Sequence, |fields| {
                fields.next_explicit(0)?;
                let serial = fields.next()?.integer()?;
                // One of the two algorithms is not signed: they must be equal.
                ensure(fields.next()?.raw() == algorithm.raw())?;
                let issuer = fields.next()?.expect(Tag::Sequence)?.raw();
                let validity: Validity = fields.next()?.decode()?;
                let subject = fields.next()?.expect(Tag::Sequence)?.raw();
                let spki = fields.next()?.raw();
                fields.next_if(context_primitive(1))?;
                fields.next_if(context_primitive(2))?;
                let extensions = fields.next_explicit(3)?;
                Ok(Self {
                    der: der.to_vec(),
                    tbs: tbs.raw().to_vec(),
                    serial: serial.to_vec(),
                    issuer: issuer.to_vec(),
                    subject: subject.to_vec(),
                    not_before: validity.not_before.to_unix_duration().as_secs(),
                    not_after: validity.not_after.to_unix_duration().as_secs(),
                    spki: spki.to_vec(),
                    extensions: extensions.map_or(Ok(Vec::new()), |value| value.decode())?,
                    algorithm: algorithm.raw().to_vec(),
                    signature: signature.to_vec(),
                })
            })?;
            Ok(fields)
        })
    }

    /// The subject as people read it.
    pub(super) fn subject_name(&self) -> String {
        name(&self.subject)
    }

    pub(super) fn issuer_name(&self) -> String {
        name(&self.issuer)
    }

    pub(super) fn is_self_issued(&self) -> bool {
        self.issuer == self.subject
    }

    pub(super) fn key(&self) -> Result<VerifyingKey, Refusal> {
        VerifyingKey::from_spki(&self.spki).map_err(|_| {
            Refusal::UnsupportedAlgorithm(format!(
                "the kind or size of the key of {}",
                self.subject_name()
            ))
        })
    }

    /// The subject key identifier, if there is one.
    pub(super) fn key_id(&self) -> Option<Vec<u8>> {
        let found: Option<(bool, SubjectKeyIdentifier)> =
            self.extension(SUBJECT_KEY_IDENTIFIER).ok()?;
        found.map(|(_, id)| id.0.into_bytes().into())
    }

    /// The checks that every certificate of a path has to pass.
    pub(super) fn check(&self, times: &[u64]) -> Result<(), Refusal> {
        let subject = || self.subject_name();
        if times.iter().any(|time| *time < self.not_before) {
            return Err(Refusal::NotYetValid(subject()));
        }
        if times.iter().any(|time| *time > self.not_after) {
            return Err(Refusal::Expired(subject()));
        }
        for (i, extension) in self.extensions.iter().enumerate() {
            let id = extension.extn_id;
            if CONSTRAINTS.contains(&id) {
                return Err(Refusal::Constraints(subject()));
            }
            let repeated = self.extensions[..i].iter().any(|other| other.extn_id == id);
            if repeated || extension.critical && !KNOWN.contains(&id) {
                return Err(Refusal::CertificateExtension(subject()));
            }
        }
        Ok(())
    }

    /// The checks of the certificate that a TSA signs with (RFC 3161 section 2.3).
    pub(super) fn check_signer(&self) -> Result<(), Refusal> {
        let usage: Option<(bool, ExtendedKeyUsage)> = self.extension(EXTENDED_KEY_USAGE)?;
        let (critical, usage) = usage.ok_or(Refusal::UsageMissing)?;
        if !critical {
            return Err(Refusal::UsageNotCritical);
        }
        if usage.0 != [TIME_STAMPING] {
            return Err(Refusal::Usage);
        }
        let allows_signatures_only = |usage: &KeyUsage| {
            let signatures = usage.digital_signature() || usage.non_repudiation();
            let other = usage.key_encipherment()
                || usage.data_encipherment()
                || usage.key_agreement()
                || usage.key_cert_sign()
                || usage.crl_sign()
                || usage.encipher_only()
                || usage.decipher_only();
            signatures && !other
        };
        match self.extension(KEY_USAGE)? {
            Some((_, usage)) if !allows_signatures_only(&usage) => Err(Refusal::KeyUsage),
            _ => Ok(()),
        }
    }

    /// The checks of an issuer with `below` intermediate certificates below it.
    pub(super) fn check_issuer(&self, below: usize, is_anchor: bool) -> Result<(), Refusal> {
        let subject = || self.subject_name();
        let constraints: Option<(bool, BasicConstraints)> = self.extension(BASIC_CONSTRAINTS)?;
        let constraints = constraints.map(|(_, constraints)| constraints);
        let constraints = constraints
            .filter(|constraints| constraints.ca)
            .ok_or_else(|| Refusal::NotACa(subject()))?;
        let limit = constraints.path_len_constraint;
        if limit.is_some_and(|limit| below > usize::from(limit)) {
            return Err(Refusal::PathLength(subject()));
        }
        let usage: Option<(bool, KeyUsage)> = self.extension(KEY_USAGE)?;
        if usage.is_some_and(|(_, usage)| !usage.key_cert_sign()) {
            return Err(Refusal::NotACa(subject()));
        }
        let usage: Option<(bool, ExtendedKeyUsage)> = self.extension(EXTENDED_KEY_USAGE)?;
        let fits = |usage: &ExtendedKeyUsage| {
            [TIME_STAMPING, ANY_USAGE]
                .iter()
                .any(|allowed| usage.0.contains(allowed))
        };
        match usage {
            Some((_, usage)) if !is_anchor && !fits(&usage) => Err(Refusal::IssuerUsage(subject())),
            _ => Ok(()),
        }
    }

    /// Verifies that `issuer` signed this certificate.
    pub(super) fn check_signature(&self, issuer: &Self) -> Result<(), Refusal> {
        let parsed = Value::parse(&self.algorithm).and_then(Identifier::parse);
        let identifier = parsed.map_err(|_| Refusal::Malformed("a certificate's algorithm"))?;
        let algorithm = identifier.signature()?;
        let key = issuer.key()?;
        let wrong = |_| Refusal::IssuerSignature(self.subject_name());
        key.verify(algorithm, &self.tbs, &self.signature)
            .map_err(wrong)
    }

    /// An extension by its identifier, and whether it is critical.
    fn extension<'a, T>(&'a self, id: ObjectIdentifier) -> Result<Option<(bool, T)>, Refusal>
    where
        T: Decode<'a>,
    {
        let found = self.extensions.iter().find(|found| found.extn_id == id);
        let parse = |found: &'a Extension| {
            let value = T::from_der(found.extn_value.as_bytes());
            value.map(|value| (found.critical, value))
        };
        found
            .map(parse)
            .transpose()
            .map_err(|_| Refusal::Malformed("an extension of a certificate"))
    }
}

/// A name as people read it (RFC 4514).
pub(super) fn name(der: &[u8]) -> String {
    match Name::from_der(der) {
        Ok(name) if !name.is_empty() => name.to_string(),
        Ok(_) => "a subject without a name".to_owned(),
        Err(_) => "a subject whose name cannot be read".to_owned(),
    }
}

/// The name in GeneralNames, if that is exactly one directoryName.
pub(super) fn only_directory_name<'a>(names: Value<'a>) -> asn1::Result<&'a [u8]> {
    names.fields(Tag::Sequence, |fields| {
        let name = fields.next()?;
        name.fields(context(4), |inner| Ok(inner.next()?.raw()))
    })
}
