//! TimeStampResp (RFC 3161 section 2.4.2).

use std::fmt;

use der::Tag;
use der::asn1::BitStringRef;
use sealstone_primitives::hash::Sha2;

use super::MAX_LEN;
use super::asn1::{self, Value, malformed};
use super::info::Info;
use super::refusal::Refusal;
use super::request::imprint_hash;
use super::signed::Token;

/// The longest text of a TSA that is kept, in characters.
const MAX_TEXT: usize = 1000;

/// A response of a TSA, whole, that was read and not checked: see [`super::verify`].
#[derive(Clone, PartialEq, Eq)]
pub struct Response {
    bytes: Vec<u8>,
    status: Status,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Status {
    number: u16,
    text: String,
    failure: Option<u8>,
}

impl Response {
    /// Reads a response. One that is not granted is a response too.
    ///
    /// # Errors
    /// If it is longer than [`MAX_LEN`], malformed, or its token is not a timestamp.
    pub fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        if bytes.len() > MAX_LEN {
            return Err(Refusal::TooLong);
        }
        let (status, token) = read(bytes)?;
        if let Some(token) = token {
            read_info(&Token::parse(token)?)?;
        }
        Ok(Self {
            bytes: bytes.to_vec(),
            status,
        })
    }

    /// The bytes that the TSA sent.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Fails, with what the TSA says, if the request was not granted.
    ///
    /// # Errors
    /// If the request was not granted, or there is no token.
    pub fn granted(&self) -> Result<(), Refusal> {
        self.token().map(drop)
    }

    /// The hash function of the imprint.
    ///
    /// # Errors
    /// If there is no token, or the hash is weak or unknown.
    pub fn hash(&self) -> Result<Sha2, Refusal> {
        imprint_hash(&read_info(&self.token()?)?.imprint)
    }

    /// The token of a response that is granted.
    pub(super) fn token(&self) -> Result<Token<'_>, Refusal> {
        let (status, token) = read(&self.bytes)?;
        if !matches!(status.number, 0 | 1) {
            return Err(Refusal::NotGranted {
                status: status.number,
                text: status.text,
                failure: status.failure,
            });
        }
        Token::parse(token.ok_or(Refusal::TokenMissing)?)
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let len = self.bytes.len();
        write!(f, "Response({len} bytes, status {})", self.status.number)
    }
}

/// The token's statement.
pub(super) fn read_info<'a>(token: &Token<'a>) -> Result<Info<'a>, Refusal> {
    Info::parse(token.content).map_err(|_| Refusal::Malformed("the timestamp in the token"))
}

fn read(bytes: &[u8]) -> Result<(Status, Option<Value<'_>>), Refusal> {
    let response = Value::parse(bytes).and_then(|value| {
        value.fields(Tag::Sequence, |fields| {
            let status = read_status(fields.next()?)?;
            Ok((status, fields.next_if(Tag::Sequence)?))
        })
    });
    response.map_err(|_| Refusal::Malformed("it is not a TimeStampResp in DER"))
}

/// PKIStatusInfo. Nothing of it is signed.
fn read_status(value: Value<'_>) -> asn1::Result<Status> {
    value.fields(Tag::Sequence, |fields| {
        let number = fields.next()?.small()?;
        let texts = fields.next_if(Tag::Sequence)?;
        let failure = fields.next_if(Tag::BitString)?;
        Ok(Status {
            number,
            text: texts.map_or(Ok(String::new()), read_text)?,
            failure: failure.map(first_bit).transpose()?.flatten(),
        })
    })
}

fn read_text(texts: Value<'_>) -> asn1::Result<String> {
    let texts = texts.elements(Tag::Sequence)?;
    let texts = texts.iter().map(Value::text);
    let all = texts.collect::<asn1::Result<Vec<_>>>()?.join("; ");
    Ok(all.chars().take(MAX_TEXT).collect())
}

/// The number of the first bit that is set.
fn first_bit(value: Value<'_>) -> asn1::Result<Option<u8>> {
    let bits: BitStringRef<'_> = value.decode()?;
    let set = bits.bits().position(|bit| bit);
    set.map(|bit| u8::try_from(bit).map_err(|_| malformed()))
        .transpose()
}
