//! The file `key`: the secret of the store, and the keys that follow from it (`spec/trust.md`,
//! "Files").

use sealstone_primitives::kdf::{self, Prk};
use sealstone_primitives::mac::HmacSha3_256;
use sealstone_primitives::secret::Secret;

use super::{VERSION, altered};
use crate::Result;
use crate::passport::Fingerprint;

/// The name of a secret, which does not reveal it.
pub(super) type KeyId = [u8; 16];

/// The secret of a store.
pub(super) struct StoreKey {
    secret: Secret<32>,
    prk: Prk,
    id: KeyId,
}

/// CBOR `[1, [`: an array of two, the version, and an array (0x80); the number of secrets is added
/// to the last byte.
const PREFIX: [u8; 3] = [0x82, VERSION, 0x80];
/// CBOR of the length of a byte string of 32.
const SECRET_PREFIX: [u8; 2] = [0x58, 32];

impl StoreKey {
    pub(super) fn random() -> Self {
        Self::from_secret(Secret::random())
    }

    fn from_secret(secret: Secret<32>) -> Self {
        let prk = kdf::extract(b"sealstone.trust.v1", &[&secret.expose()[..]]);
        let id = *prk.expand_secret(&[b"id"]).expose();
        Self { secret, prk, id }
    }

    pub(super) fn id(&self) -> KeyId {
        self.id
    }

    /// Begins the MAC of an entry about `fingerprint`.
    pub(super) fn record_mac(&self, fingerprint: &Fingerprint) -> HmacSha3_256 {
        self.mac(&[b"record", fingerprint.as_bytes()])
    }

    /// Begins the MAC of the mark that a pruned entry leaves.
    pub(super) fn pruned_mac(&self) -> HmacSha3_256 {
        self.mac(&[b"pruned"])
    }

    /// Begins the MAC of the head.
    pub(super) fn head_mac(&self) -> HmacSha3_256 {
        self.mac(&[b"head"])
    }

    fn mac(&self, info: &[&[u8]]) -> HmacSha3_256 {
        let key: Secret<32> = self.prk.expand_secret(info);
        HmacSha3_256::new(&key.expose()[..])
    }
}

/// CBOR `[1, [secret, …]]`, at most 71 bytes. Written by hand, so that no encoder keeps a copy of a
/// secret.
pub(super) fn encode(keys: &[&StoreKey]) -> zeroize::Zeroizing<Vec<u8>> {
    let mut out = zeroize::Zeroizing::new(Vec::with_capacity(PREFIX.len() + 34 * keys.len()));
    out.extend_from_slice(&PREFIX);
    out[2] += keys.len() as u8;
    for key in keys {
        out.extend_from_slice(&SECRET_PREFIX);
        out.extend_from_slice(key.secret.expose());
    }
    out
}

/// Reads one secret, or two while a rekey is under way.
pub(super) fn decode(bytes: &[u8]) -> Result<Vec<StoreKey>> {
    let malformed = || altered("its key is malformed");
    let (prefix, secrets) = bytes.split_first_chunk::<3>().ok_or_else(malformed)?;
    let (secrets, rest) = secrets.as_chunks::<34>();
    let expected = [PREFIX[0], PREFIX[1], PREFIX[2] + secrets.len().min(3) as u8];
    let framed = secrets
        .iter()
        .all(|secret| secret.starts_with(&SECRET_PREFIX));
    if *prefix != expected || !rest.is_empty() || !(1..=2).contains(&secrets.len()) || !framed {
        return Err(malformed());
    }
    let secret = |framed: &[u8; 34]| Secret::with(|secret| secret.copy_from_slice(&framed[2..]));
    Ok(secrets
        .iter()
        .map(|framed| StoreKey::from_secret(secret(framed)))
        .collect())
}
