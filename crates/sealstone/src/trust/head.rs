//! The file `head`: the length of the log, so that a shortened log is noticed (`spec/trust.md`,
//! "Files").

use minicbor::{Decode, Encode};

use super::key::{KeyId, StoreKey};
use super::link::Link;
use super::{VERSION, altered};
use crate::Result;
use crate::wire::cbor;

#[derive(Encode, Decode)]
pub(super) struct Head {
    #[n(0)]
    version: u8,
    #[cbor(n(1), with = "minicbor::bytes")]
    key_id: KeyId,
    #[n(2)]
    count: u64,
    #[cbor(n(3), with = "minicbor::bytes")]
    link: Link,
    #[cbor(n(4), with = "minicbor::bytes")]
    mac: [u8; 32],
}

impl Head {
    /// The head of a log of `count` entries that ends in `link`.
    pub(super) fn new(key: &StoreKey, count: u64, link: Link) -> Self {
        let mac = mac_of(key, count, &link).finish();
        Self {
            version: VERSION,
            key_id: key.id(),
            count,
            link,
            mac,
        }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        cbor::encode(self)
    }

    /// Reads a head that one of `keys` authenticates.
    pub(super) fn decode(bytes: &[u8], keys: &[StoreKey]) -> Result<Self> {
        let head: Self =
            cbor::decode(bytes, "head").map_err(|_| altered("its head is malformed"))?;
        let key = keys.iter().find(|key| key.id() == head.key_id);
        let key = key.ok_or_else(|| altered("its head belongs to another key"))?;
        let mac = mac_of(key, head.count, &head.link);
        if head.version != VERSION || mac.verify(&head.mac).is_err() {
            return Err(altered("its head is not authentic"));
        }
        Ok(head)
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn link(&self) -> &Link {
        &self.link
    }
}

fn mac_of(key: &StoreKey, count: u64, link: &Link) -> sealstone_primitives::mac::HmacSha3_256 {
    let mut mac = key.head_mac();
    mac.update(&key.id());
    mac.update(&count.to_be_bytes());
    mac.update(link);
    mac
}
