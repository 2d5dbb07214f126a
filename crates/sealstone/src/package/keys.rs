//! Layers 2 and 5: the HMAC, and keys derived from a secret.

use std::ops::RangeInclusive;

use sealstone_primitives::ct;
use sealstone_primitives::kdf::{self, Prk};
use sealstone_primitives::mac::HmacSha3_256;
use sealstone_primitives::secret::Secret;

use super::Package;
use crate::{Error, Result};

const HMAC_SALT: &[u8] = b"sealstone.package.hmac.v1";
const CONFIRMATION: &[u8] = b"confirmation";
const KEYS_SALT: &[u8] = b"sealstone.package.keys.v1";
/// Bytes of an HMAC key, and of a secret that keys are derived from.
const SECRET_LEN: RangeInclusive<usize> = 32..=1024;
const LABEL_LEN: RangeInclusive<usize> = 1..=255;

/// Keys that are derived from a secret and bound to one package and its policy (layer 5).
///
/// One label, one purpose: keys of different labels are independent.
#[derive(Debug)]
pub struct DerivedKeys {
    prk: Prk,
    context: [u8; 96],
}

impl DerivedKeys {
    pub(super) fn new(secret: &[u8], digest: &[u8; 64], policy: Option<&[u8; 32]>) -> Self {
        Self {
            prk: kdf::extract(KEYS_SALT, &[secret]),
            context: context(digest, policy),
        }
    }

    pub(super) fn confirmation(&self) -> Secret<32> {
        self.prk.expand_secret(&[CONFIRMATION, &self.context])
    }

    /// The key of this label, 1 to 255 bytes.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the label is empty or longer.
    pub fn key(&self, label: &str) -> Result<Secret<32>> {
        if !LABEL_LEN.contains(&label.len()) {
            return Err(Error::Invalid("the label of a key has 1 to 255 bytes"));
        }
        Ok(self
            .prk
            .expand_secret(&[b"key", &self.context, label.as_bytes()]))
    }
}

impl Package {
    /// The keys of this package.
    ///
    /// Verify the package first: keys are bound to its manifest, no matter who made that.
    ///
    /// # Errors
    /// [`Error::Altered`] if `secret` is not the one that the signer used, or none was.
    pub fn derived_keys(&self, secret: &[u8]) -> Result<DerivedKeys> {
        let digest = self.parts.manifest_digest();
        let keys = DerivedKeys::new(secret, &digest, self.manifest.policy.as_ref());
        let confirmation = keys.confirmation();
        let stored = self.parts.confirmation;
        match stored.is_some_and(|stored| ct::eq(&stored, confirmation.expose())) {
            true => Ok(keys),
            false => Err(Error::Altered("key confirmation")),
        }
    }
}

fn context(digest: &[u8; 64], policy: Option<&[u8; 32]>) -> [u8; 96] {
    let mut context = [0; 96];
    context[..64].copy_from_slice(digest);
    context[64..].copy_from_slice(policy.unwrap_or(&[0; 32]));
    context
}

/// The tag of layer 2.
pub(super) fn hmac_tag(key: &[u8], manifest_digest: &[u8; 64]) -> [u8; 32] {
    // HMAC alone takes a key and the same key with zeros behind it for one.
    let mut extract = HmacSha3_256::new(HMAC_SALT);
    extract.update(key);
    let mut mac = HmacSha3_256::new(extract.finish_secret().expose());
    mac.update(manifest_digest);
    mac.finish()
}

/// Refuses secrets that are too short to be keys.
pub(super) fn check_secret(secret: &[u8]) -> Result<()> {
    match SECRET_LEN.contains(&secret.len()) {
        true => Ok(()),
        false => Err(Error::Invalid(
            "a key or secret of a package has 32 to 1024 bytes",
        )),
    }
}
