//! All keys that follow from the file key (`spec/file.md`, "Derived keys").

use sealstone_primitives::hash::sha3_512;
use sealstone_primitives::kdf::{self, Prk};
use sealstone_primitives::mac::HmacSha3_256;
use sealstone_primitives::secret::Secret;

use super::chunk::ChunkCipher;
use super::header::Header;
use super::one_time::OneTime;
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
