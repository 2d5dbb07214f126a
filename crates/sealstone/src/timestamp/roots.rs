//! The certificates that a verifier trusts (`spec/timestamp.md`, "Roots").

use std::fmt;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::asn1::{Value, malformed};
use super::certificate::Certificate;

/// The longest roots file, in bytes.
pub const MAX_ROOTS_LEN: usize = 16 << 20;

const MAX_CERTIFICATES: usize = 4096;
const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// Trust anchors, and certificates that may complete a path to one.
///
/// ```
/// use sealstone::timestamp::Roots;
///
/// assert!(Roots::parse(b"no certificate").is_err());
/// ```
#[derive(Clone)]
pub struct Roots {
    pub(super) anchors: Vec<Certificate>,
    pub(super) candidates: Vec<Certificate>,
}

/// Why a roots file is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RootsError {
    /// Longer than 16 MiB, or more than 4096 certificates.
    TooLong,
    /// Neither PEM nor DER.
    NoCertificate,
    /// The certificate of this number, counted from 1, is malformed.
    Malformed(usize),
    /// No certificate is self-issued, so no path could end.
    NoAnchor,
}

impl fmt::Display for RootsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => f.write_str("longer than 16 MiB, or more than 4096 certificates"),
            Self::NoCertificate => f.write_str("no certificate in PEM or DER is in it"),
            Self::Malformed(number) => write!(f, "certificate {number} is malformed"),
            Self::NoAnchor => f.write_str("no root is in it: no certificate is issued by itself"),
        }
    }
}

impl std::error::Error for RootsError {}

impl Roots {
    /// Reads certificates in PEM or DER, one or many. Those that are issued by themselves are
    /// trusted.
    ///
    /// # Errors
    /// If there are none or too many, one is malformed, or none is self-issued.
    pub fn parse(bytes: &[u8]) -> Result<Self, RootsError> {
        if bytes.len() > MAX_ROOTS_LEN {
            return Err(RootsError::TooLong);
        }
        let encodings = if bytes.first() == Some(&0x30) {
            split_der(bytes)?
        } else {
            split_pem(bytes)?
        };
        Self::from_der(&encodings)
    }

    fn from_der(encodings: &[Vec<u8>]) -> Result<Self, RootsError> {
        if encodings.is_empty() {
            return Err(RootsError::NoCertificate);
        }
        if encodings.len() > MAX_CERTIFICATES {
            return Err(RootsError::TooLong);
        }
        let parse = |(i, der): (usize, &Vec<u8>)| {
            Certificate::parse(der).map_err(|_| RootsError::Malformed(i + 1))
        };
        let all = encodings.iter().enumerate().map(parse);
        let all = all.collect::<Result<Vec<_>, _>>()?;
        let (anchors, candidates): (Vec<_>, Vec<_>) =
            all.into_iter().partition(Certificate::is_self_issued);
        if anchors.is_empty() {
            return Err(RootsError::NoAnchor);
        }
        Ok(Self {
            anchors,
            candidates,
        })
    }

    /// No roots: no authority is trusted.
    pub(super) fn none() -> Self {
        Self {
            anchors: Vec::new(),
            candidates: Vec::new(),
        }
    }

    /// The number of trust anchors.
    #[must_use]
    pub fn anchors(&self) -> usize {
        self.anchors.len()
    }
}

impl fmt::Debug for Roots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Roots({} anchors)", self.anchors.len())
    }
}

/// Certificates one behind the other.
fn split_der(mut bytes: &[u8]) -> Result<Vec<Vec<u8>>, RootsError> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let malformed = |_| RootsError::Malformed(all.len() + 1);
        let (value, rest) = Value::parse_first(bytes).map_err(malformed)?;
        all.push(value.raw().to_vec());
        bytes = rest;
    }
    Ok(all)
}

/// Blocks of PEM, with text between them.
fn split_pem(bytes: &[u8]) -> Result<Vec<Vec<u8>>, RootsError> {
    let mut text = std::str::from_utf8(bytes).map_err(|_| RootsError::NoCertificate)?;
    let mut all = Vec::new();
    while let Some((_, after)) = text.split_once(BEGIN) {
        let malformed = RootsError::Malformed(all.len() + 1);
        let (body, rest) = after.split_once(END).ok_or(malformed)?;
        all.push(decode_base64(body).map_err(|_| malformed)?);
        text = rest;
    }
    Ok(all)
}

fn decode_base64(body: &str) -> Result<Vec<u8>, der::Error> {
    let digits: String = body.split_ascii_whitespace().collect();
    BASE64_STANDARD.decode(digits).map_err(|_| malformed())
}
