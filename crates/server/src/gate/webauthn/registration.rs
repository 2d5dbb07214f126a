//! The answer of an authenticator that made a credential (WebAuthn Level 3, section 7.1).

use minicbor::Decoder;
use minicbor::data::Type;
use sealstone_primitives::hash::sha256;
use sealstone_primitives::sign::spki::VerifyingKey;
use serde::Deserialize;

use super::super::Failure;
use super::super::public_key::{self, Algorithm};

/// Flags of the authenticator data (section 6.1).
const HAS_CREDENTIAL: u8 = 0x40;
const HAS_EXTENSIONS: u8 = 0x80;
/// The longest name of a credential (section 7.1), in bytes.
const MAX_ID: usize = 1023;
/// A key in COSE has fewer entries.
const MAX_ENTRIES: u64 = 16;

/// The client data of the browser. A member that stands twice is an error, others are passed over.
#[derive(Deserialize)]
pub(super) struct ClientData {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) challenge: String,
    pub(super) origin: String,
    #[serde(default, rename = "crossOrigin")]
    pub(super) is_cross_origin: bool,
    #[serde(default, rename = "topOrigin")]
    pub(super) top_origin: Option<String>,
}

/// The attestation object (section 6.5.4), taken apart.
pub(super) struct Object<'a> {
    pub(super) format: &'a str,
    /// The statement, in CBOR.
    pub(super) statement: &'a [u8],
    pub(super) data: &'a [u8],
}

/// A key of a credential, with its algorithm.
pub(super) struct CredentialKey {
    pub(super) algorithm: Algorithm,
    pub(super) verifying: VerifyingKey,
}

/// The authenticator data (section 6.1) with the credential in it.
pub(super) struct Credential<'a> {
    pub(super) rp_id_hash: &'a [u8; 32],
    pub(super) flags: u8,
    pub(super) model: &'a [u8; 16],
    pub(super) key: CredentialKey,
}

/// A new credential, not checked yet.
pub(super) struct Registration<'a> {
    pub(super) client_data: ClientData,
    pub(super) client_data_hash: [u8; 32],
    pub(super) object: Object<'a>,
    pub(super) credential: Credential<'a>,
}

impl<'a> Registration<'a> {
    pub(super) fn parse(client_data: &[u8], object: &'a [u8]) -> Result<Self, Failure> {
        let malformed = |what| Failure::Wrong(what);
        let parsed = serde_json::from_slice(client_data);
        let object =
            Object::parse(object).ok_or(malformed("the attestation object is malformed"))?;
        let credential = Credential::parse(object.data).ok_or(malformed(
            "the authenticator data has no credential for ES256, EdDSA or RS256",
        ))?;
        Ok(Self {
            client_data: parsed.map_err(|_| malformed("the client data is malformed"))?,
            client_data_hash: sha256(&[client_data]),
            object,
            credential,
        })
    }
}

impl<'a> Object<'a> {
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (mut format, mut statement, mut data) = (None, None, None);
        let mut decoder = Decoder::new(bytes);
        (decoder.map().ok()? == Some(3)).then_some(())?;
        for _ in 0..3 {
            match decoder.str().ok()? {
                "fmt" => format = Some(decoder.str().ok()?),
                "authData" => data = Some(decoder.bytes().ok()?),
                "attStmt" => {
                    let begin = decoder.position();
                    decoder.skip().ok()?;
                    statement = bytes.get(begin..decoder.position());
                }
                _ => return None,
            }
        }
        (decoder.position() == bytes.len()).then_some(())?;
        Some(Self {
            format: format?,
            statement: statement?,
            data: data?,
        })
    }
}

impl<'a> Credential<'a> {
    fn parse(data: &'a [u8]) -> Option<Self> {
        let (rp_id_hash, rest) = data.split_first_chunk::<32>()?;
        let (&[flags, ..], rest) = rest.split_first_chunk::<5>()?;
        (flags & HAS_CREDENTIAL != 0).then_some(())?;
        let (model, rest) = rest.split_first_chunk::<16>()?;
        let (len, rest) = rest.split_first_chunk::<2>()?;
        let len = usize::from(u16::from_be_bytes(*len));
        (1..=MAX_ID).contains(&len).then_some(())?;
        let (_, rest) = rest.split_at_checked(len)?;
        let mut decoder = Decoder::new(rest);
        let key = CredentialKey::decode(&mut decoder)?;
        if flags & HAS_EXTENSIONS != 0 {
            (decoder.datatype().ok()? == Type::Map).then_some(())?;
            decoder.skip().ok()?;
        }
        (decoder.position() == rest.len()).then_some(Self {
            rp_id_hash,
            flags,
            model,
            key,
        })
    }
}

/// The entries of a key in COSE (RFC 9052, section 7; RFC 9053; RFC 8230).
#[derive(Default)]
struct Entries<'a> {
    kind: Option<i64>,
    algorithm: Option<i64>,
    curve: Option<i64>,
    /// The values at -1 for RSA, at -2, and at -3.
    numbers: [&'a [u8]; 3],
}

impl<'a> Entries<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Option<Self> {
        let mut entries = Self::default();
        let count = decoder.map().ok()??;
        (count <= MAX_ENTRIES).then_some(())?;
        for _ in 0..count {
            let name = decoder.i64().ok()?;
            match (name, decoder.datatype().ok()?) {
                (-3..=-1, Type::Bytes) => {
                    let place = usize::try_from(-1 - name).ok()?;
                    entries.numbers[place] = decoder.bytes().ok()?;
                }
                (1, _) => entries.kind = Some(decoder.i64().ok()?),
                (3, _) => entries.algorithm = Some(decoder.i64().ok()?),
                (-1, _) => entries.curve = Some(decoder.i64().ok()?),
                _ => decoder.skip().ok()?,
            }
        }
        Some(entries)
    }
}

impl CredentialKey {
    fn decode(decoder: &mut Decoder<'_>) -> Option<Self> {
        let entries = Entries::decode(decoder)?;
        let algorithm = Algorithm::from_cose(entries.algorithm?)?;
        let [first, second, third] = entries.numbers;
        let verifying = match (algorithm, entries.kind?, entries.curve) {
            (Algorithm::Es256, 2, Some(1)) => public_key::p256(second, third),
            (Algorithm::EdDsa, 1, Some(6)) => public_key::ed25519(second),
            (Algorithm::Rs256, 3, None) => public_key::rsa(first, second),
            _ => None,
        };
        Some(Self {
            algorithm,
            verifying: verifying?,
        })
    }
}
