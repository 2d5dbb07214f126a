//! Requests and answers: deterministic CBOR, fixed lengths, one version.

use minicbor::{Decode, Decoder, Encode, Encoder};
use sealstone_primitives::secret::Secret;
use zeroize::Zeroizing;

use crate::file::{FileRoot, WrappedKey};
use crate::passport::Fingerprint;
use crate::sign::SIGNATURE_LEN;
use crate::wire::cbor;
use crate::{Error, Result};

/// Bytes of the longest request.
pub const MAX_REQUEST: usize = 4096;
/// Bytes of the longest answer.
pub const MAX_ANSWER: usize = 16_384;
/// The longest time for which a passport is held, in seconds.
pub(super) const MAX_SECONDS: u64 = 7 * 24 * 3600;

const VERSION: u64 = 1;

/// A client's request.
pub(super) enum Request {
    Status,
    Hold {
        seed: Secret<32>,
        label: String,
        created: u64,
        seconds: u64,
    },
    /// One passport, or all.
    Lock(Option<Fingerprint>),
    Contact(Fingerprint),
    Hedge(Fingerprint),
    Unwrap(Fingerprint, Box<WrappedKey>),
    Sign(Fingerprint, FileRoot),
    Stop,
}

/// Why a request is refused, as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Malformed = 1,
    Version = 2,
    NotHeld = 3,
    NotWrapped = 4,
    Full = 5,
    NotLocked = 6,
    Fault = 7,
}

/// The content of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Status {
    /// The process number of the agent, as it gave it; 0 if it did not.
    #[n(0)]
    pub process: u64,
    /// The passports, by ascending fingerprint.
    #[n(1)]
    pub passports: Vec<HeldPassport>,
}

/// One passport that an agent holds.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct HeldPassport {
    /// Its name.
    #[n(0)]
    pub fingerprint: Fingerprint,
    /// Its label.
    #[n(1)]
    pub label: String,
    /// For how many seconds more.
    #[n(2)]
    pub seconds: u64,
}

/// A message with its length before it, as it travels.
pub fn frame(message: &[u8]) -> Zeroizing<Vec<u8>> {
    let len = u32::try_from(message.len()).expect("messages are short");
    Zeroizing::new([&len.to_be_bytes()[..], message].concat())
}

/// The length of the message behind these four bytes; `None` if it is not from 1 to `most`.
pub fn frame_len(head: [u8; 4], most: usize) -> Option<usize> {
    let len = u32::from_be_bytes(head) as usize;
    (1..=most).contains(&len).then_some(len)
}

impl Request {
    pub(super) fn encode(&self) -> Zeroizing<Vec<u8>> {
        let mut e = Encoder::new(Vec::with_capacity(MAX_REQUEST));
        self.write(&mut e).expect("a Vec takes every byte");
        Zeroizing::new(e.into_writer())
    }

    fn write(
        &self,
        e: &mut Encoder<Vec<u8>>,
    ) -> Result<(), minicbor::encode::Error<std::convert::Infallible>> {
        let (kind, arguments) = self.shape();
        e.array(2 + arguments)?.u64(VERSION)?.u64(kind)?;
        match self {
            Self::Status | Self::Stop => {}
            Self::Hold {
                seed,
                label,
                created,
                seconds,
            } => {
                e.bytes(seed.expose())?.str(label)?;
                e.u64(*created)?.u64(*seconds)?;
            }
            Self::Lock(which) => {
                let which = which.as_ref();
                e.bytes(which.map_or(&[], |fingerprint| &fingerprint.as_bytes()[..]))?;
            }
            Self::Contact(whose) | Self::Hedge(whose) => {
                e.bytes(whose.as_bytes())?;
            }
            Self::Unwrap(whose, key) => {
                let key = key.bytes();
                e.bytes(whose.as_bytes())?.bytes(key.epk)?;
                e.bytes(key.ciphertext)?.bytes(key.wrapped)?;
            }
            Self::Sign(whose, root) => {
                e.bytes(whose.as_bytes())?.bytes(&root.header_digest)?;
                e.u64(root.payload_len)?.u64(root.content_len)?;
                e.bytes(&root.root)?;
            }
        }
        Ok(())
    }

    /// The number of the kind, and how many arguments it has.
    fn shape(&self) -> (u64, u64) {
        match self {
            Self::Status => (0, 0),
            Self::Hold { .. } => (1, 4),
            Self::Lock(_) => (2, 1),
            Self::Contact(_) => (3, 1),
            Self::Hedge(_) => (4, 1),
            Self::Unwrap(..) => (5, 4),
            Self::Sign(..) => (6, 5),
            Self::Stop => (7, 0),
        }
    }

    /// The request of which these are the one encoding.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, Refusal> {
        let mut d = Decoder::new(bytes);
        let head = d.array().and_then(|len| Ok((len, d.u64()?)));
        match head {
            Ok((Some(_), VERSION)) => {}
            Ok((Some(_), _)) => return Err(Refusal::Version),
            _ => return Err(Refusal::Malformed),
        }
        let request = Self::arguments(&mut d).ok_or(Refusal::Malformed)?;
        // Long forms, other lengths and trailing bytes have another encoding.
        match *request.encode() == *bytes {
            true => Ok(request),
            false => Err(Refusal::Malformed),
        }
    }

    fn arguments(d: &mut Decoder<'_>) -> Option<Self> {
        Some(match d.u64().ok()? {
            0 => Self::Status,
            1 => Self::Hold {
                seed: Secret::from_slice(d.bytes().ok()?).ok()?,
                label: d.str().ok()?.to_owned(),
                created: d.u64().ok()?,
                seconds: d.u64().ok().filter(|n| (1..=MAX_SECONDS).contains(n))?,
            },
            2 => match d.bytes().ok()? {
                [] => Self::Lock(None),
                bytes => Self::Lock(Some(Fingerprint::from_bytes(bytes.try_into().ok()?))),
            },
            3 => Self::Contact(fingerprint(d)?),
            4 => Self::Hedge(fingerprint(d)?),
            5 => {
                let (whose, epk) = (fingerprint(d)?, octets(d)?);
                let (ciphertext, wrapped) = (d.bytes().ok()?, octets(d)?);
                let key = WrappedKey::from_bytes(None, epk, ciphertext, wrapped)?;
                Self::Unwrap(whose, Box::new(key))
            }
            6 => Self::Sign(
                fingerprint(d)?,
                FileRoot {
                    header_digest: octets(d)?,
                    payload_len: d.u64().ok()?,
                    content_len: d.u64().ok()?,
                    root: octets(d)?,
                },
            ),
            7 => Self::Stop,
            _ => return None,
        })
    }
}

fn octets<const N: usize>(d: &mut Decoder<'_>) -> Option<[u8; N]> {
    d.bytes().ok()?.try_into().ok()
}

fn fingerprint(d: &mut Decoder<'_>) -> Option<Fingerprint> {
    octets(d).map(Fingerprint::from_bytes)
}

/// The outcome of a request.
pub(super) enum Answer {
    Done,
    Status(Status),
    Bytes(Zeroizing<Vec<u8>>),
    Refused(Refusal),
}

impl Answer {
    pub(super) fn encode(&self) -> Zeroizing<Vec<u8>> {
        let mut e = Encoder::new(Vec::with_capacity(SIGNATURE_LEN + 16));
        let encoded = match self {
            Self::Done => e.array(2).and_then(|e| e.u64(VERSION)?.u64(0)),
            Self::Status(status) => e
                .array(3)
                .and_then(|e| e.u64(VERSION)?.u64(0)?.encode(status)),
            Self::Bytes(bytes) => e
                .array(3)
                .and_then(|e| e.u64(VERSION)?.u64(0)?.bytes(bytes)),
            Self::Refused(refusal) => e
                .array(2)
                .and_then(|e| e.u64(VERSION)?.u64(*refusal as u64)),
        };
        encoded.expect("a Vec takes every byte");
        Zeroizing::new(e.into_writer())
    }
}

/// An answer as a client reads it: done, or the reason.
#[derive(Encode, Decode)]
struct Plain(#[n(0)] u64, #[n(1)] u64);

#[derive(Encode, Decode)]
struct WithBytes(
    #[n(0)] u64,
    #[n(1)] u64,
    #[cbor(n(2), with = "minicbor::bytes")] Vec<u8>,
);

#[derive(Encode, Decode)]
struct WithStatus(#[n(0)] u64, #[n(1)] u64, #[n(2)] Status);

const WHAT: &str = "answer of the agent";

/// Fails with the reason if the agent refused.
fn check(answer: &[u8]) -> Result<()> {
    let mut d = Decoder::new(answer);
    let head = d.array().and_then(|len| Ok((len, d.u64()?, d.u64()?)));
    match head {
        Ok((Some(_), VERSION, 0)) => Ok(()),
        Ok((Some(2), VERSION, code)) => Err(explain(code)),
        Ok((Some(_), VERSION, _)) | Err(_) | Ok((None, ..)) => Err(Error::Malformed(WHAT)),
        Ok(_) => Err(Error::Unsupported("agent")),
    }
}

fn explain(code: u64) -> Error {
    let code = |refusal: Refusal| code == refusal as u64;
    if code(Refusal::NotHeld) {
        return Error::Invalid("the agent does not hold this passport, or no longer");
    }
    if code(Refusal::NotWrapped) {
        return Error::NotRecipient;
    }
    if code(Refusal::Full) {
        return Error::Invalid("the agent holds as many passports as it can: lock one");
    }
    if code(Refusal::NotLocked) {
        return Error::Invalid("the agent cannot lock memory: raise the limit (ulimit -l)");
    }
    if code(Refusal::Version) {
        return Error::Unsupported("agent");
    }
    Error::Invalid("the agent refused the request")
}

pub(super) fn read_done(answer: &[u8]) -> Result<()> {
    check(answer)?;
    cbor::decode::<Plain>(answer, WHAT).map(drop)
}

pub(super) fn read_bytes(answer: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    check(answer)?;
    let WithBytes(_, _, bytes) = cbor::decode(answer, WHAT)?;
    Ok(Zeroizing::new(bytes))
}

pub(super) fn read_status(answer: &[u8]) -> Result<Status> {
    check(answer)?;
    let WithStatus(_, _, status) = cbor::decode(answer, WHAT)?;
    Ok(status)
}
