//! All keys that follow from the file key (`spec/file.md`, "Derived keys").

use sealstone_primitives::aead::XChaCha20Poly1305;
use sealstone_primitives::hash::sha3_512;
use sealstone_primitives::kdf::{self, Prk};
use sealstone_primitives::mac::HmacSha3_256;
use sealstone_primitives::secret::Secret;
use zeroize::Zeroizing;

use super::chunk::ChunkCipher;
use super::header::{Header, TAG_LEN};
use crate::{Error, Result};

/// The key schedule of one file key; it becomes [`FileKeys`] when the header MAC is known.
pub(crate) struct Schedule(Prk);

/// The keys that depend on the whole header.
pub(crate) struct FileKeys {
    pub(crate) payload: ChunkCipher,
    pub(crate) trailer: OneTime,
    /// H of the specification: the header as the sender signs it.
    pub(crate) header_digest: [u8; 64],
}

/// XChaCha20-Poly1305 under a key that encrypts one message only: zero nonce, no associated data.
pub(crate) struct OneTime(XChaCha20Poly1305);

const ZERO_NONCE: [u8; 24] = [0; 24];

impl Schedule {
    pub(crate) fn new(file_key: &Secret<32>) -> Self {
        Self(kdf::extract(
            b"sealstone.file.v1",
            &[&file_key.expose()[..]],
        ))
    }

    pub(crate) fn private_cipher(&self) -> OneTime {
        OneTime::new(&self.0.expand_secret(&[b"private"]))
    }

    pub(crate) fn header_mac(&self, header: &Header) -> [u8; 32] {
        self.mac_of(header).finish()
    }

    pub(crate) fn check_header_mac(&self, header: &Header, mac: &[u8; 32]) -> Result<()> {
        self.mac_of(header)
            .verify(mac)
            .map_err(|_| Error::Altered("header"))
    }

    /// The keys for payload and trailer of the file with this header and MAC.
    pub(crate) fn file_keys(&self, header: &Header, mac: &[u8; 32]) -> FileKeys {
        let header_digest = sha3_512(&[&header.encoded[..], &mac[..]].concat());
        FileKeys {
            payload: ChunkCipher::new(
                header.suite,
                &self.0.expand_secret(&[b"payload", &header_digest]),
            ),
            trailer: OneTime::new(&self.0.expand_secret(&[b"trailer", &header_digest])),
            header_digest,
        }
    }

    fn mac_of(&self, header: &Header) -> HmacSha3_256 {
        let key: Secret<32> = self.0.expand_secret(&[b"header-mac"]);
        let mut mac = HmacSha3_256::new(&key.expose()[..]);
        mac.update(&header.encoded);
        mac
    }
}

impl OneTime {
    pub(crate) fn new(key: &Secret<32>) -> Self {
        Self(XChaCha20Poly1305::new(key))
    }

    /// Ciphertext ‖ tag. Consumes the key: it must not encrypt anything else.
    pub(crate) fn seal(self, plaintext: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(plaintext.len() + TAG_LEN);
        out.extend_from_slice(plaintext);
        let tag = self.0.seal_in_place(&ZERO_NONCE, b"", &mut out);
        out.extend_from_slice(&tag);
        out
    }

    /// The plaintext, or nothing.
    pub(crate) fn open(&self, sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let (ciphertext, tag) = sealed.split_last_chunk::<TAG_LEN>()?;
        let mut out = Zeroizing::new(ciphertext.to_vec());
        self.0.open_in_place(&ZERO_NONCE, b"", &mut out, tag).ok()?;
        Some(out)
    }
}
