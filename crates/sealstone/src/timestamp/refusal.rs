//! Why a timestamp is not accepted.

use std::fmt;

/// The reason why a timestamp is not accepted (`spec/timestamp.md`, "Checks").
///
/// [`Refusal::name`] is for programs, [`std::fmt::Display`] a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The response is longer than [`super::MAX_LEN`].
    TooLong,
    /// The bytes are not DER of the expected type; the text names the part.
    Malformed(&'static str),
    /// The TSA did not grant the request.
    NotGranted {
        /// PKIStatus: 2 is rejection.
        status: u16,
        /// The TSA's text.
        text: String,
        /// The number of the first failure bit (RFC 3161 section 2.4.2).
        failure: Option<u8>,
    },
    /// The status is granted, but there is no token.
    TokenMissing,
    /// The token signs something other than a timestamp.
    NotATimestamp,
    /// More than 32 certificates.
    TooManyCertificates,
    /// Not exactly one signer; the number.
    Signers(usize),
    /// The timestamp has a critical extension that is not known here.
    CriticalExtension,
    /// The imprint is of a broken or short hash; its name.
    WeakImprint(String),
    /// The imprint is of an unknown hash; its identifier.
    UnknownImprint(String),
    /// The imprint or the given digest has the wrong length for its hash.
    ImprintLength {
        /// The length that the hash has, in bytes.
        expected: usize,
        /// The length that is there.
        found: usize,
    },
    /// The timestamp is over other data.
    Imprint,
    /// Only a digest of another hash is known; the name of the hash that is needed.
    DataNeeded(String),
    /// The response does not repeat the request's nonce.
    NonceMissing,
    /// The response has another nonce than the request.
    Nonce,
    /// The TSA used another policy; its identifier.
    Policy(String),
    /// The time lies after the verifier's clock.
    Future,
    /// The signer's certificate is neither in the response nor among the roots.
    SignerCertificateMissing,
    /// The signed attributes are missing, repeated or of another type.
    Attributes,
    /// The signed digest is not that of the timestamp.
    MessageDigest,
    /// No attribute says which certificate signed.
    CertificateIdMissing,
    /// The attribute names another certificate.
    CertificateId,
    /// Only SHA-1 says which certificate signed.
    CertificateIdSha1,
    /// A broken or short algorithm; its name.
    WeakAlgorithm(String),
    /// An algorithm, or a kind or size of key, that is not supported.
    UnsupportedAlgorithm(String),
    /// The TSA's signature is wrong.
    Signature,
    /// The signer's certificate has no extended key usage.
    UsageMissing,
    /// Its extended key usage is not critical.
    UsageNotCritical,
    /// Its extended key usage is not timestamping alone.
    Usage,
    /// Its key usage allows something other than signatures.
    KeyUsage,
    /// No certificate of the next issuer; its name.
    NoPath(String),
    /// A certificate was not valid yet; its subject.
    NotYetValid(String),
    /// A certificate was not valid any more; its subject.
    Expired(String),
    /// A certificate has a repeated or unknown critical extension; its subject.
    CertificateExtension(String),
    /// A certificate has constraints that are not applied here; its subject.
    Constraints(String),
    /// A certificate that issued another may not; its subject.
    NotACa(String),
    /// A path is longer than a certificate of it allows; its subject.
    PathLength(String),
    /// An issuer may not issue certificates for timestamps; its subject.
    IssuerUsage(String),
    /// The signature of a certificate is wrong; its subject.
    IssuerSignature(String),
    /// A renewal is older than the timestamp that it renews.
    RenewalOrder,
    /// A chain has no response, or more than [`super::MAX_CHAIN`].
    ChainLength,
}

impl Refusal {
    /// The name in the specification.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::TooLong => "too-long",
            Self::Malformed(_) => "malformed",
            Self::NotGranted { .. } => "not-granted",
            Self::TokenMissing => "token-missing",
            Self::NotATimestamp => "not-a-timestamp",
            Self::TooManyCertificates => "too-many-certificates",
            Self::Signers(_) => "signers",
            Self::CriticalExtension => "critical-extension",
            Self::WeakImprint(_) => "weak-imprint",
            Self::UnknownImprint(_) => "unknown-imprint",
            Self::ImprintLength { .. } => "imprint-length",
            Self::Imprint => "imprint",
            Self::DataNeeded(_) => "data-needed",
            Self::NonceMissing => "nonce-missing",
            Self::Nonce => "nonce",
            Self::Policy(_) => "policy",
            Self::Future => "future",
            Self::SignerCertificateMissing => "signer-certificate-missing",
            Self::Attributes => "attributes",
            Self::MessageDigest => "message-digest",
            Self::CertificateIdMissing => "certificate-id-missing",
            Self::CertificateId => "certificate-id",
            Self::CertificateIdSha1 => "certificate-id-sha1",
            Self::WeakAlgorithm(_) => "weak-algorithm",
            Self::UnsupportedAlgorithm(_) => "unsupported-algorithm",
            Self::Signature => "signature",
            Self::UsageMissing => "usage-missing",
            Self::UsageNotCritical => "usage-not-critical",
            Self::Usage => "usage",
            Self::KeyUsage => "key-usage",
            Self::NoPath(_) => "no-path",
            Self::NotYetValid(_) => "not-yet-valid",
            Self::Expired(_) => "expired",
            Self::CertificateExtension(_) => "certificate-extension",
            Self::Constraints(_) => "constraints",
            Self::NotACa(_) => "not-a-ca",
            Self::PathLength(_) => "path-length",
            Self::IssuerUsage(_) => "issuer-usage",
            Self::IssuerSignature(_) => "issuer-signature",
            Self::RenewalOrder => "renewal-order",
            Self::ChainLength => "chain-length",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(part) => write!(f, "the response is malformed: {part}"),
            Self::NotGranted {
                status,
                text,
                failure,
            } => not_granted(f, *status, text, *failure),
            Self::Signers(count) => write!(f, "the token has {count} signers instead of one"),
            Self::WeakImprint(hash) => write!(
                f,
                "the timestamp is over a {hash} digest, which is too weak"
            ),
            Self::UnknownImprint(hash) => {
                write!(
                    f,
                    "the timestamp is over a digest of an unknown hash, {hash}"
                )
            }
            Self::ImprintLength { expected, found } => write!(
                f,
                "a digest of the timestamp's hash has {expected} bytes, but this one has {found}"
            ),
            Self::DataNeeded(hash) => {
                write!(
                    f,
                    "the timestamp is over a {hash} digest: the data itself is needed"
                )
            }
            Self::Policy(policy) => write!(f, "the authority used another policy, {policy}"),
            Self::WeakAlgorithm(name) => write!(f, "{name} is too weak"),
            Self::UnsupportedAlgorithm(name) => write!(f, "the algorithm is not supported: {name}"),
            Self::NoPath(issuer) => {
                write!(
                    f,
                    "no path to a trusted root: there is no certificate of {issuer}"
                )
            }
            Self::NotYetValid(subject) => {
                write!(
                    f,
                    "the certificate of {subject} was not valid yet at that time"
                )
            }
            Self::Expired(subject) => {
                write!(
                    f,
                    "the certificate of {subject} was not valid any more at that time"
                )
            }
            Self::CertificateExtension(subject) => write!(
                f,
                "the certificate of {subject} has a repeated or unknown critical extension"
            ),
            Self::Constraints(subject) => write!(
                f,
                "the certificate of {subject} has name or policy constraints, which are not supported"
            ),
            Self::NotACa(subject) => write!(f, "{subject} may not issue certificates"),
            Self::PathLength(subject) => {
                write!(
                    f,
                    "the path is longer than the certificate of {subject} allows"
                )
            }
            Self::IssuerUsage(subject) => {
                write!(f, "{subject} may not issue certificates for timestamps")
            }
            Self::IssuerSignature(subject) => {
                write!(f, "the signature of the certificate of {subject} is wrong")
            }
            _ => f.write_str(self.sentence()),
        }
    }
}

impl std::error::Error for Refusal {}

impl Refusal {
    /// The sentence of a reason without details.
    fn sentence(&self) -> &'static str {
        match self {
            Self::TooLong => "the response is longer than 1 MiB",
            Self::TokenMissing => "the response is granted but has no token",
            Self::NotATimestamp => "the token signs something other than a timestamp",
            Self::TooManyCertificates => "the token has more than 32 certificates",
            Self::CriticalExtension => "the timestamp has an unknown critical extension",
            Self::Imprint => "the timestamp is over other data",
            Self::NonceMissing => "the response does not repeat the nonce of the request",
            Self::Nonce => "the response answers another request: its nonce is another",
            Self::Future => "the timestamp is later than the clock of this computer",
            Self::SignerCertificateMissing => {
                "the certificate of the signer is neither in the response nor among the roots"
            }
            Self::Attributes => "the signed attributes are missing, repeated or of another type",
            Self::MessageDigest => "the signed digest is not that of the timestamp",
            Self::CertificateIdMissing => "the token does not say which certificate signed it",
            Self::CertificateId => "the token was signed under another certificate",
            Self::CertificateIdSha1 => "only a SHA-1 digest says which certificate signed",
            Self::Signature => "the signature of the timestamp is wrong",
            Self::UsageMissing => "the certificate of the signer has no extended key usage",
            Self::UsageNotCritical => {
                "the extended key usage of the signer's certificate is not critical"
            }
            Self::Usage => "the certificate of the signer is not for timestamps alone",
            Self::KeyUsage => {
                "the key usage of the signer's certificate is not for signatures alone"
            }
            Self::RenewalOrder => "a renewal is older than the timestamp that it renews",
            Self::ChainLength => "a chain has between 1 and 64 responses",
            _ => "the timestamp is not accepted",
        }
    }
}

/// PKIFailureInfo (RFC 3161 section 2.4.2).
const FAILURES: [(u8, &str); 8] = [
    (0, "unknown algorithm"),
    (2, "request not permitted"),
    (5, "malformed request"),
    (14, "the time source is not available"),
    (15, "unknown policy"),
    (16, "unknown extension"),
    (17, "the requested information is not available"),
    (25, "system failure"),
];

fn not_granted(
    f: &mut fmt::Formatter<'_>,
    status: u16,
    text: &str,
    failure: Option<u8>,
) -> fmt::Result {
    write!(
        f,
        "the authority did not grant the request (status {status}"
    )?;
    let known = FAILURES.iter().find(|(bit, _)| Some(*bit) == failure);
    if let Some((_, meaning)) = known {
        write!(f, ", {meaning}")?;
    }
    match text {
        "" => f.write_str(")"),
        _ => write!(f, "): {text}"),
    }
}
