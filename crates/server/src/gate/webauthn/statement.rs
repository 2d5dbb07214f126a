//! The attestation statement: none, or `packed` (WebAuthn Level 3, section 8.2).

use std::path::Path;
use std::time::Duration;

use minicbor::Decoder;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, TrustAnchor, UnixTime};
use sealstone_primitives::sign::spki::VerifyingKey;
use webpki::{EndEntityCert, KeyUsage};
use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::der::asn1::{ObjectIdentifier, OctetStringRef};

use super::super::Failure;
use super::super::public_key::Algorithm;
use super::registration::Registration;

/// A chain is short.
const MAX_CERTIFICATES: u64 = 4;
/// A statement that is an empty map.
const EMPTY: &[u8] = &[0xa0];
/// id-fido-gen-ce-aaguid.
const MODEL: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.4.1.45724.1.1.4");
/// organizationalUnitName.
const UNIT: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.11");
/// anyExtendedKeyUsage: the standard asks for no usage of these certificates.
const ANY_USAGE: &[u8] = &[0x55, 0x1d, 0x25, 0x00];

/// Certificates of the makers of authenticators.
pub(super) struct Roots(Vec<TrustAnchor<'static>>);

impl Roots {
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let certificates = CertificateDer::pem_file_iter(path).map_err(|e| named(&e))?;
        let mut anchors = Vec::new();
        for certificate in certificates {
            let certificate = certificate.map_err(|e| named(&e))?;
            let anchor = webpki::anchor_from_trusted_cert(&certificate);
            anchors.push(anchor.map_err(|e| named(&e))?.to_owned());
        }
        match anchors.is_empty() {
            true => Err(named(&"there is no certificate in it")),
            false => Ok(Self(anchors)),
        }
    }
}

/// Whether the statement is right. With roots, one of them must vouch for the authenticator.
pub(super) fn check(
    registration: &Registration<'_>,
    roots: Option<&Roots>,
    now: u64,
) -> Result<(), Failure> {
    let object = &registration.object;
    match (object.format, roots) {
        ("none", None) if object.statement == EMPTY => Ok(()),
        ("none", Some(_)) => Err(Failure::Wrong("the authenticator does not say what it is")),
        ("packed", _) => {
            let malformed = Failure::Wrong("the attestation statement is malformed");
            let packed = Packed::parse(object.statement).ok_or(malformed)?;
            packed.check(registration, roots, now)
        }
        _ => Err(Failure::Wrong(
            "the attestation is of another format than none and packed",
        )),
    }
}

struct Packed<'a> {
    algorithm: Algorithm,
    signature: &'a [u8],
    /// The authenticator's certificate first; empty if the credential's key signed.
    chain: Vec<CertificateDer<'a>>,
}

impl<'a> Packed<'a> {
    fn parse(statement: &'a [u8]) -> Option<Self> {
        let (mut algorithm, mut signature, mut chain) = (None, None, None);
        let mut decoder = Decoder::new(statement);
        let count = decoder.map().ok()??;
        for _ in 0..count {
            match decoder.str().ok()? {
                "alg" => algorithm = Some(Algorithm::from_cose(decoder.i64().ok()?)?),
                "sig" => signature = Some(decoder.bytes().ok()?),
                "x5c" => chain = Some(certificates(&mut decoder)?),
                _ => return None,
            }
        }
        (decoder.position() == statement.len()).then_some(())?;
        Some(Self {
            algorithm: algorithm?,
            signature: signature?,
            chain: chain.unwrap_or_default(),
        })
    }

    fn check(
        &self,
        registration: &Registration<'_>,
        roots: Option<&Roots>,
        now: u64,
    ) -> Result<(), Failure> {
        let Some((leaf, others)) = self.chain.split_first() else {
            return self.check_own(registration, roots);
        };
        let wrong = Failure::Wrong("the authenticator's certificate is malformed");
        let end = EndEntityCert::try_from(leaf).map_err(|_| wrong)?;
        let key = VerifyingKey::from_spki(&end.subject_public_key_info()).map_err(|_| wrong)?;
        self.verify(registration, &key)?;
        check_contents(leaf, registration.credential.model)?;
        roots.map_or(Ok(()), |roots| roots.check(&end, others, now))
    }

    /// The credential's own key signed.
    fn check_own(
        &self,
        registration: &Registration<'_>,
        roots: Option<&Roots>,
    ) -> Result<(), Failure> {
        if roots.is_some() {
            return Err(Failure::Wrong("no maker vouches for the authenticator"));
        }
        let key = &registration.credential.key;
        if key.algorithm != self.algorithm {
            return Err(Failure::Wrong(
                "the attestation has another algorithm than its key",
            ));
        }
        self.verify(registration, &key.verifying)
    }

    fn verify(&self, registration: &Registration<'_>, key: &VerifyingKey) -> Result<(), Failure> {
        let signed = [registration.object.data, &registration.client_data_hash].concat();
        key.verify(self.algorithm.scheme(), &signed, self.signature)
            .map_err(|_| Failure::Wrong("the attestation is not authentic"))
    }
}

fn certificates<'a>(decoder: &mut Decoder<'a>) -> Option<Vec<CertificateDer<'a>>> {
    let count = decoder.array().ok()??;
    (1..=MAX_CERTIFICATES).contains(&count).then_some(())?;
    let certificates = (0..count).map(|_| decoder.bytes().ok().map(CertificateDer::from));
    certificates.collect()
}

/// The conditions of section 8.2.1 on the certificate, without those on any chain.
fn check_contents(certificate: &[u8], model: &[u8; 16]) -> Result<(), Failure> {
    let wrong = Failure::Wrong("the certificate is not one of an authenticator");
    let certificate = Certificate::from_der(certificate).map_err(|_| wrong)?;
    let content = certificate.tbs_certificate();
    let is_of_authenticator = content.subject().iter().any(|attribute| {
        attribute.oid == UNIT && attribute.value.value() == b"Authenticator Attestation"
    });
    if !is_of_authenticator {
        return Err(wrong);
    }
    let extensions = content.extensions().into_iter().flatten();
    for extension in extensions.filter(|extension| extension.extn_id == MODEL) {
        let said = <&OctetStringRef>::from_der(extension.extn_value.as_bytes());
        if extension.critical || said.map_or(true, |said| said.as_bytes() != model) {
            return Err(Failure::Wrong("the certificate is for another model"));
        }
    }
    Ok(())
}

impl Roots {
    fn check(
        &self,
        end: &EndEntityCert<'_>,
        others: &[CertificateDer<'_>],
        now: u64,
    ) -> Result<(), Failure> {
        let time = UnixTime::since_unix_epoch(Duration::from_secs(now));
        let usage = KeyUsage::required_if_present(ANY_USAGE);
        let algorithms = webpki::ALL_VERIFICATION_ALGS;
        end.verify_for_usage(algorithms, &self.0, others, time, usage, None, None)
            .map(|_| ())
            .map_err(|_| Failure::Wrong("no known maker vouches for the authenticator"))
    }
}
