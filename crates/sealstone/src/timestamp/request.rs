//! TimeStampReq (RFC 3161 section 2.4.1).

use std::fmt;
use std::str::FromStr;

use der::asn1::ObjectIdentifier;
use der::{Encode, Tag};
use sealstone_primitives::hash::Sha2;
use sealstone_primitives::rng;

use super::algorithm::{Identifier, Unusable, encode_hash};
use super::asn1::{self, Value, context, ensure};
use super::digests::{Imprint, check_len};
use super::refusal::Refusal;

/// The longest request that is read, in bytes.
const MAX_LEN: usize = 64 << 10;

/// A number that the TSA repeats in its response: the content of an INTEGER.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nonce(pub(super) Vec<u8>);

impl Nonce {
    /// A random number of eight bytes.
    #[must_use]
    pub fn random() -> Self {
        let mut bytes: [u8; 8] = rng::array();
        // Positive, and of eight bytes in every encoding.
        bytes[0] = bytes[0] & 0x3f | 0x40;
        Self(bytes.to_vec())
    }

    /// The bytes, the most significant first.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// The identifier of a TSA's policy, as in `1.3.6.1.4.1.57264.2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy(pub(super) ObjectIdentifier);

impl FromStr for Policy {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = ObjectIdentifier::new(text);
        parsed
            .map(Self)
            .map_err(|_| "a policy is an object identifier, as in 1.2.3.4")
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A request for a timestamp.
///
/// ```
/// use sealstone::timestamp::{Imprint, Nonce, Request, Sha2};
///
/// let request = Request {
///     imprint: Imprint::of(Sha2::Sha256, b"data"),
///     policy: None,
///     nonce: Some(Nonce::random()),
///     certificates: true,
/// };
/// assert_eq!(Request::parse(&request.encode())?, request);
/// # Ok::<(), sealstone::timestamp::Refusal>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The imprint.
    pub imprint: Imprint,
    /// The policy that the TSA has to follow.
    pub policy: Option<Policy>,
    /// The number that the response repeats.
    pub nonce: Option<Nonce>,
    /// Whether the TSA sends its certificates.
    pub certificates: bool,
}

impl Request {
    /// The request that is sent to a TSA: with a nonce, and asking for certificates.
    #[must_use]
    pub fn new(imprint: Imprint, policy: Option<Policy>) -> Self {
        Self {
            imprint,
            policy,
            nonce: Some(Nonce::random()),
            certificates: true,
        }
    }

    /// The DER encoding.
    ///
    /// # Panics
    /// Never: an object identifier has an encoding.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let imprint = [
            encode_hash(self.imprint.hash),
            encode(0x04, &self.imprint.digest),
        ];
        let mut fields = vec![encode(0x02, &[1]), encode(0x30, &imprint.concat())];
        if let Some(policy) = &self.policy {
            fields.push(policy.0.to_der().expect("an encoding"));
        }
        if let Some(nonce) = &self.nonce {
            fields.push(encode(0x02, &nonce.0));
        }
        if self.certificates {
            fields.push(encode(0x01, &[0xff]));
        }
        encode(0x30, &fields.concat())
    }

    /// Reads a request.
    ///
    /// # Errors
    /// If it is malformed, or its imprint is not of SHA-256, SHA-384 or SHA-512.
    pub fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        if bytes.len() > MAX_LEN {
            return Err(Refusal::TooLong);
        }
        let malformed = |_| Refusal::Malformed("the request");
        let fields = Value::parse(bytes).and_then(read).map_err(malformed)?;
        let hash = imprint_hash(&fields.imprint)?;
        check_len(hash, fields.imprint.digest)?;
        Ok(Self {
            imprint: Imprint {
                hash,
                digest: fields.imprint.digest.to_vec(),
            },
            policy: fields.policy,
            nonce: fields.nonce,
            certificates: fields.certificates,
        })
    }
}

struct Fields<'a> {
    imprint: RawImprint<'a>,
    policy: Option<Policy>,
    nonce: Option<Nonce>,
    certificates: bool,
}

fn read(request: Value<'_>) -> asn1::Result<Fields<'_>> {
    request.fields(Tag::Sequence, |fields| {
        ensure(fields.next()?.small()? == 1)?;
        let imprint = RawImprint::parse(fields.next()?)?;
        let policy = fields.next_if(Tag::ObjectIdentifier)?;
        let nonce = fields.next_if(Tag::Integer)?;
        let certificates = fields.next_if(Tag::Boolean)?;
        fields.next_if(context(0))?;
        Ok(Fields {
            imprint,
            policy: policy.map(|value| value.oid().map(Policy)).transpose()?,
            nonce: nonce
                .map(|value| value.integer().map(|bytes| Nonce(bytes.to_vec())))
                .transpose()?,
            certificates: certificates.is_some_and(|value| value.content() != [0]),
        })
    })
}

/// A MessageImprint.
#[derive(Clone, Copy)]
pub(super) struct RawImprint<'a> {
    identifier: Identifier<'a>,
    pub(super) digest: &'a [u8],
}

impl<'a> RawImprint<'a> {
    pub(super) fn parse(value: Value<'a>) -> asn1::Result<Self> {
        value.fields(Tag::Sequence, |fields| {
            Ok(Self {
                identifier: Identifier::parse(fields.next()?)?,
                digest: fields.next()?.octets()?,
            })
        })
    }
}

/// The hash function of an imprint.
pub(super) fn imprint_hash(imprint: &RawImprint<'_>) -> Result<Sha2, Refusal> {
    imprint
        .identifier
        .hash()
        .map_err(|unusable| match unusable {
            Unusable::Weak(name) => Refusal::WeakImprint(name.to_owned()),
            Unusable::Unknown(oid) => Refusal::UnknownImprint(oid.to_string()),
            Unusable::Malformed => Refusal::Malformed("the imprint"),
        })
}

/// A value with a tag of one byte.
fn encode(tag: u8, content: &[u8]) -> Vec<u8> {
    let len = content.len().to_be_bytes();
    let len = &len[len.iter().take_while(|byte| **byte == 0).count()..];
    let header = match content.len() {
        short @ 0..0x80 => vec![tag, short as u8],
        _ => [&[tag, 0x80 | len.len() as u8], len].concat(),
    };
    [header.as_slice(), content].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_minimal() {
        for (len, header) in [
            (0, &[4, 0][..]),
            (127, &[4, 127]),
            (128, &[4, 0x81, 128]),
            (255, &[4, 0x81, 255]),
            (256, &[4, 0x82, 1, 0]),
        ] {
            assert_eq!(encode(4, &vec![7; len]), [header, &vec![7; len]].concat());
        }
    }

    #[test]
    fn nonces_are_positive_and_of_eight_bytes() {
        for _ in 0..100 {
            assert!(matches!(
                Nonce::random().0[..],
                [0x40..0x80, _, _, _, _, _, _, _]
            ));
        }
        assert_ne!(Nonce::random(), Nonce::random());
    }
}
