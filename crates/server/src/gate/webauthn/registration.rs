//! The answer of an authenticator that made a credential (WebAuthn Level 3, section 7.1).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use minicbor::Decoder;
use minicbor::data::Type;
use sealstone_primitives::hash::sha256;
use sealstone_primitives::sign::spki::VerifyingKey;
use serde::Deserialize;

use super::super::Failure;
use super::super::public_key::{self, Algorithm};
use super::statement::{self, Roots};

/// Flags of the authenticator data (section 6.1).
const USER_PRESENT: u8 = 0x01;
const USER_VERIFIED: u8 = 0x04;
const HAS_CREDENTIAL: u8 = 0x40;
const HAS_EXTENSIONS: u8 = 0x80;
/// The longest name of a credential (section 7.1), in bytes.
const MAX_ID: usize = 1023;
/// A key in COSE has fewer entries.
const MAX_ENTRIES: u64 = 16;

/// Which credentials pass.
pub(super) struct Policy {
    pub(super) rp_id_hash: [u8; 32],
    pub(super) origins: Vec<String>,
    pub(super) is_user_verified: bool,
    /// Makers of authenticators; none if any authenticator passes.
    pub(super) roots: Option<Roots>,
    /// Models; empty if all of the makers pass.
    pub(super) models: Vec<[u8; 16]>,
}

/// The client data of the browser. A member that stands twice is an error, others are passed over.
#[derive(Deserialize)]
struct ClientData {
    #[serde(rename = "type")]
    kind: String,
    challenge: String,
    origin: String,
    #[serde(default, rename = "crossOrigin")]
    is_cross_origin: bool,
    #[serde(default, rename = "topOrigin")]
    top_origin: Option<String>,
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
    rp_id_hash: &'a [u8; 32],
    flags: u8,
    pub(super) model: &'a [u8; 16],
    pub(super) key: CredentialKey,
}

/// A new credential, not checked yet.
pub(super) struct Registration<'a> {
    client_data: ClientData,
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

    /// Whether the credential was made for this challenge, and passes.
    pub(super) fn check(&self, challenge: &[u8], policy: &Policy, now: u64) -> Result<(), Failure> {
        self.check_client_data(challenge, &policy.origins)?;
        self.check_credential(policy)?;
        statement::check(self, policy.roots.as_ref(), now)?;
        match policy.models.is_empty() || policy.models.contains(self.credential.model) {
            true => Ok(()),
            false => Err(Failure::Wrong("this model of authenticator does not pass")),
        }
    }

    fn check_client_data(&self, challenge: &[u8], origins: &[String]) -> Result<(), Failure> {
        let data = &self.client_data;
        if data.kind != "webauthn.create" {
            return Err(Failure::Wrong("the client data is of no new credential"));
        }
        if data.challenge != URL_SAFE_NO_PAD.encode(challenge) {
            return Err(Failure::Wrong("the credential is for another request"));
        }
        if !origins.contains(&data.origin) {
            return Err(Failure::Wrong("the page is of another origin"));
        }
        if data.is_cross_origin || data.top_origin.is_some() {
            return Err(Failure::Wrong("the page stands within another one"));
        }
        Ok(())
    }

    fn check_credential(&self, policy: &Policy) -> Result<(), Failure> {
        let has = |flag| self.credential.flags & flag != 0;
        if *self.credential.rp_id_hash != policy.rp_id_hash {
            return Err(Failure::Wrong("the credential is of another domain"));
        }
        if !has(USER_PRESENT) || (policy.is_user_verified && !has(USER_VERIFIED)) {
            return Err(Failure::Wrong("the authenticator did not check its user"));
        }
        Ok(())
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
