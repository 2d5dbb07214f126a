//! The checks of one response (`spec/timestamp.md`, "Checks").

use std::time::Duration;

use sealstone_primitives::hash::Sha2;

use super::certificate::Certificate;
use super::digests::{Digests, check_len};
use super::info::Info;
use super::path;
use super::refusal::Refusal;
use super::request::{Nonce, Policy, Request, imprint_hash};
use super::response::{Response, read_info};
use super::roots::Roots;
use super::signed::{CertificateIds, Signer, Token};

/// How far a timestamp may be ahead of the verifier's clock.
const MAX_AHEAD: u64 = 300;

/// A verifier's demands beyond those on every timestamp.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The nonce of the request: the response has to repeat it.
    pub nonce: Option<Nonce>,
    /// The policy that the TSA has to have followed.
    pub policy: Option<Policy>,
    /// The verifier's clock, in seconds since 1970: a later timestamp is refused.
    pub now: Option<u64>,
    /// Also refuse a timestamp if a certificate of its path is not valid at this time, in seconds
    /// since 1970.
    pub also_valid_at: Option<u64>,
    /// Refuse a timestamp that identifies the signer's certificate by SHA-1 only.
    pub refuse_sha1_id: bool,
}

impl Options {
    /// The options for the response to `request`: its nonce and policy.
    #[must_use]
    pub fn answering(request: &Request) -> Self {
        Self {
            nonce: request.nonce.clone(),
            policy: request.policy,
            ..Self::default()
        }
    }
}

/// A timestamp that was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// The time at which the data existed, since 1970.
    pub time: Duration,
    /// How far off the TSA's clock may be, if the TSA says so.
    pub accuracy: Option<Duration>,
    /// The TSA's policy.
    pub policy: Policy,
    /// The timestamp's serial number: the content of an INTEGER.
    pub serial: Vec<u8>,
    /// The hash function of the imprint.
    pub hash: Sha2,
    /// The nonce, if the TSA repeats one.
    pub nonce: Option<Nonce>,
    /// The certificates from the signer's to a trust anchor.
    pub path: Vec<PathCertificate>,
    /// Whether only SHA-1 identifies the signer's certificate.
    pub sha1_id: bool,
}

impl Verified {
    /// The name of the TSA: the subject of the certificate that signed.
    #[must_use]
    pub fn tsa(&self) -> &str {
        self.path.first().map_or("", |signer| &signer.subject)
    }

    /// When the first certificate of the path ends, in seconds since 1970. The timestamp has to be
    /// renewed before.
    #[must_use]
    pub fn expires(&self) -> u64 {
        let ends = self.path.iter().map(|certificate| certificate.not_after);
        ends.min().unwrap_or(0)
    }
}

/// A certificate of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathCertificate {
    /// The subject as people read it (RFC 4514).
    pub subject: String,
    /// The issuer.
    pub issuer: String,
    /// The serial number: the content of an INTEGER.
    pub serial: Vec<u8>,
    /// The first second of its lifecycle, since 1970.
    pub not_before: u64,
    /// The last second of its lifecycle, since 1970.
    pub not_after: u64,
    /// The encoding.
    pub der: Vec<u8>,
}

impl From<&Certificate> for PathCertificate {
    fn from(certificate: &Certificate) -> Self {
        Self {
            subject: certificate.subject_name(),
            issuer: certificate.issuer_name(),
            serial: certificate.serial.clone(),
            not_before: certificate.not_before,
            not_after: certificate.not_after,
            der: certificate.der.clone(),
        }
    }
}

/// Verifies that `response` is a timestamp over data with these digests, by a TSA that `roots`
/// trust.
///
/// # Errors
/// The first check that fails.
pub fn verify(
    response: &Response,
    data: &Digests,
    roots: &Roots,
    options: &Options,
) -> Result<Verified, Refusal> {
    let token = response.token()?;
    let signer = token.signer()?;
    let info = read_info(&token)?;
    let hash = check_info(&info, data, options)?;
    let (certificate, ids) = find_signer(&token, signer, roots)?;
    if options.refuse_sha1_id && ids.are_sha1_only() {
        return Err(Refusal::CertificateIdSha1);
    }
    check_signature(signer, certificate)?;
    certificate.check_signer()?;
    let times: Vec<u64> = [Some(info.time.as_secs()), options.also_valid_at]
        .into_iter()
        .flatten()
        .collect();
    let path = path::find(certificate, &token.certificates, roots, &times)?;
    ids.check_path(&path)?;
    Ok(Verified {
        time: info.time,
        accuracy: info.accuracy,
        policy: Policy(info.policy),
        serial: info.serial.to_vec(),
        hash,
        nonce: info.nonce.map(|bytes| Nonce(bytes.to_vec())),
        path: path.into_iter().map(PathCertificate::from).collect(),
        sha1_id: ids.are_sha1_only(),
    })
}

/// Checks what can be checked of the response to `request` without knowing whom to trust: all but
/// the path to a root. A program that asks a TSA does so before it stores the response.
///
/// # Errors
/// The first check that fails.
pub fn check_answer(response: &Response, request: &Request) -> Result<(), Refusal> {
    let token = response.token()?;
    let signer = token.signer()?;
    let data = Digests::from_imprint(request.imprint.clone());
    check_info(&read_info(&token)?, &data, &Options::answering(request))?;
    match find_signer(&token, signer, &Roots::none()) {
        // It was not asked for.
        Err(Refusal::SignerCertificateMissing) if !request.certificates => Ok(()),
        Err(refusal) => Err(refusal),
        Ok((certificate, _)) => {
            check_signature(signer, certificate)?;
            certificate.check_signer()
        }
    }
}

/// Checks 5 to 10: what the TSA states.
fn check_info(info: &Info<'_>, data: &Digests, options: &Options) -> Result<Sha2, Refusal> {
    if info.has_critical_extension {
        return Err(Refusal::CriticalExtension);
    }
    let hash = imprint_hash(&info.imprint)?;
    check_len(hash, info.imprint.digest)?;
    if data.need(hash)? != info.imprint.digest {
        return Err(Refusal::Imprint);
    }
    match (&options.nonce, info.nonce) {
        (Some(_), None) => return Err(Refusal::NonceMissing),
        (Some(expected), Some(found)) if expected.0 != found => return Err(Refusal::Nonce),
        _ => {}
    }
    if options.policy.is_some_and(|policy| policy.0 != info.policy) {
        return Err(Refusal::Policy(info.policy.to_string()));
    }
    let latest = options.now.map(|now| now.saturating_add(MAX_AHEAD));
    if latest.is_some_and(|latest| info.time.as_secs() > latest) {
        return Err(Refusal::Future);
    }
    Ok(hash)
}

/// Checks 11 to 13: the certificate that is named and identified. A certificate that only has its
/// name changes nothing.
fn find_signer<'a, 't>(
    token: &'a Token<'t>,
    signer: &'a Signer<'t>,
    roots: &'a Roots,
) -> Result<(&'a Certificate, CertificateIds<'t>), Refusal> {
    let known = token.certificates.iter();
    let known = known.chain(&roots.candidates).chain(&roots.anchors);
    let named: Vec<_> = known.filter(|known| signer.is_named(known)).collect();
    if named.is_empty() {
        return Err(Refusal::SignerCertificateMissing);
    }
    let attributes = signer.attributes.as_ref().ok_or(Refusal::Attributes)?;
    attributes.check(signer.digest.hash()?, token.content)?;
    let ids = attributes.certificate_ids()?;
    for certificate in named {
        if ids.name_first(certificate)? {
            return Ok((certificate, ids));
        }
    }
    Err(Refusal::CertificateId)
}

/// Checks 15 and 16.
fn check_signature(signer: &Signer<'_>, certificate: &Certificate) -> Result<(), Refusal> {
    let attributes = signer.attributes.as_ref().ok_or(Refusal::Attributes)?;
    let hash = signer.digest.hash()?;
    let unfit = |what: &str| Refusal::UnsupportedAlgorithm(what.to_owned());
    let algorithm = signer
        .algorithm
        .signature_with(hash)?
        .ok_or_else(|| unfit("the digest and the signature use different hashes"))?;
    let key = certificate.key()?;
    if !key.fits(algorithm) {
        return Err(unfit("the signature is of another kind than the key"));
    }
    key.verify(algorithm, &attributes.signed(), signer.signature)
        .map_err(|_| Refusal::Signature)
}
