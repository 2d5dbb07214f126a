//! The outer form of a sealed file: prefix and header, which anyone who has the file can read.

use std::io::Read;

use minicbor::{Decode, Encode};

use super::stanza::{self, Stanza};
use crate::error::END_OF_FILE;
use crate::wire::cbor;
use crate::{Error, Result};

/// The cipher of the payload. Every reader reads both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Suite {
    /// XChaCha20-Poly1305: fast everywhere.
    #[default]
    XChaCha20Poly1305,
    /// AES-256-GCM: several times faster on processors with AES instructions.
    Aes256Gcm,
}

/// A header that follows the rules of the format, with the bytes that it came from.
pub(crate) struct Header {
    pub(crate) suite: Suite,
    pub(crate) stanzas: Vec<Stanza>,
    /// The private part, encrypted.
    pub(crate) private: Vec<u8>,
    /// Prefix and header as they stand in the file.
    pub(crate) encoded: Vec<u8>,
}

/// The header MAC.
pub(crate) const MAC_LEN: usize = 32;

const PREFIX_LEN: usize = 16;
const MAGIC: [u8; 9] = *b"\x89SEAL\r\n\x1a\n";
const VERSION: u8 = 1;
const MAX_HEADER_LEN: u32 = 4 << 20;
const PRIVATE_LEN: std::ops::RangeInclusive<usize> = 17..=65_536;

/// CDDL `header`.
#[derive(Encode, Decode)]
#[cbor(map)]
struct HeaderBody {
    #[n(0)]
    stanzas: Vec<Stanza>,
    #[cbor(n(1), with = "minicbor::bytes")]
    private: Vec<u8>,
}

impl Header {
    /// Encodes a new header.
    pub(crate) fn new(suite: Suite, stanzas: Vec<Stanza>, private: Vec<u8>) -> Result<Self> {
        let body = HeaderBody { stanzas, private };
        let encoded_body = cbor::encode(&body);
        let len = u32::try_from(encoded_body.len())
            .ok()
            .filter(|&len| len <= MAX_HEADER_LEN);
        let len = len.ok_or(Error::Invalid("too many recipients"))?;
        let mut encoded = MAGIC.to_vec();
        encoded.extend([VERSION, suite.id(), 0]);
        encoded.extend(len.to_be_bytes());
        encoded.extend(encoded_body);
        Ok(Self {
            suite,
            stanzas: body.stanzas,
            private: body.private,
            encoded,
        })
    }

    /// Reads prefix and header; `reader` then stands at the header MAC.
    pub(crate) fn read(reader: &mut impl Read) -> Result<Self> {
        let mut encoded = Vec::with_capacity(PREFIX_LEN);
        reader
            .by_ref()
            .take(PREFIX_LEN as u64)
            .read_to_end(&mut encoded)?;
        if encoded.len() < PREFIX_LEN {
            // A short file of another kind is not a sealed file that was cut short.
            let begun = encoded.len().min(MAGIC.len());
            return Err(if encoded.is_empty() {
                EMPTY
            } else if encoded[..begun] == MAGIC[..begun] {
                CUT_SHORT
            } else {
                OTHER_KIND
            });
        }
        let (suite, len) = parse_prefix(&encoded)?;
        // `take` and `read_to_end` grow the buffer as bytes arrive: a length alone takes no memory.
        reader
            .by_ref()
            .take(u64::from(len))
            .read_to_end(&mut encoded)?;
        if encoded.len() != PREFIX_LEN + len as usize {
            return Err(CUT_SHORT);
        }
        let body: HeaderBody = cbor::decode(&encoded[PREFIX_LEN..], "sealed file header")?;
        body.check()?;
        Ok(Self {
            suite,
            stanzas: body.stanzas,
            private: body.private,
            encoded,
        })
    }
}

impl Suite {
    fn id(self) -> u8 {
        match self {
            Self::XChaCha20Poly1305 => 1,
            Self::Aes256Gcm => 2,
        }
    }

    fn from_id(id: u8) -> Result<Self> {
        match id {
            1 => Ok(Self::XChaCha20Poly1305),
            2 => Ok(Self::Aes256Gcm),
            _ => Err(Error::Unsupported("sealed file suite")),
        }
    }
}

impl std::fmt::Display for Suite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::XChaCha20Poly1305 => "xchacha20poly1305",
            Self::Aes256Gcm => "aes256gcm",
        })
    }
}

impl HeaderBody {
    fn check(&self) -> Result<()> {
        stanza::check_number(&self.stanzas)?;
        let fits = PRIVATE_LEN.contains(&self.private.len());
        if fits {
            Ok(())
        } else {
            Err(Error::Malformed("sealed file header: private part"))
        }
    }
}

const OTHER_KIND: Error = other_kind(None);
const EMPTY: Error = other_kind(Some("it is empty"));

const fn other_kind(found: Option<&'static str>) -> Error {
    let wanted = "a sealed file";
    Error::OtherKind { wanted, found }
}

/// The error for a file that ends too early.
pub(crate) const CUT_SHORT: Error = Error::Altered(END_OF_FILE);

/// `read_exact` whose early end is an altered file rather than an input error.
pub(crate) fn read_exact(reader: &mut impl Read, bytes: &mut [u8]) -> Result<()> {
    reader.read_exact(bytes).map_err(|e| match e.kind() {
        std::io::ErrorKind::UnexpectedEof => CUT_SHORT,
        _ => e.into(),
    })
}

fn parse_prefix(prefix: &[u8]) -> Result<(Suite, u32)> {
    let (magic, rest) = prefix.split_at(MAGIC.len());
    if magic != MAGIC {
        return Err(OTHER_KIND);
    }
    if rest[0] != VERSION {
        return Err(Error::Unsupported("sealed file version"));
    }
    let suite = Suite::from_id(rest[1])?;
    let len = u32::from_be_bytes([rest[3], rest[4], rest[5], rest[6]]);
    if rest[2] != 0 || !(1..=MAX_HEADER_LEN).contains(&len) {
        return Err(Error::Malformed("sealed file prefix"));
    }
    Ok((suite, len))
}
