//! Authenticates what the service hands out and takes back.

use std::sync::Arc;

use sealstone_primitives::mac::HmacSha3_256;
use sealstone_primitives::secret::Secret;

/// The secret for one kind of gate and one name.
#[derive(Clone)]
pub(super) struct Mac {
    secret: Arc<Secret<32>>,
    prefix: Vec<u8>,
}

impl Mac {
    pub(super) fn new(secret: &Secret<32>, kind: &str, name: &str) -> Self {
        let length = u16::try_from(name.len()).expect("a gate's name is short");
        Self {
            secret: Arc::new(secret.duplicate()),
            prefix: [
                label(kind).as_slice(),
                &length.to_be_bytes(),
                name.as_bytes(),
            ]
            .concat(),
        }
    }

    pub(super) fn tag(&self, parts: &[&[u8]]) -> [u8; 32] {
        self.over(parts).finish()
    }

    pub(super) fn is_right(&self, parts: &[&[u8]], tag: &[u8]) -> bool {
        self.over(parts).verify(tag).is_ok()
    }

    fn over(&self, parts: &[&[u8]]) -> HmacSha3_256 {
        let mut mac = HmacSha3_256::new(self.secret.expose());
        mac.update(&self.prefix);
        parts.iter().for_each(|part| mac.update(part));
        mac
    }
}

/// `label(x)` of the specification.
pub(super) fn label(kind: &str) -> Vec<u8> {
    [b"sealstone.service.", kind.as_bytes(), &[0]].concat()
}
