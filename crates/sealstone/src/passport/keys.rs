//! The keys of a passport, derived from its root seed (`spec/passport.md`, "Keys").

use sealstone_primitives::dh::x25519;
use sealstone_primitives::kdf;
use sealstone_primitives::kem::ml_kem_1024;
use sealstone_primitives::secret::Secret;
use sealstone_primitives::sign::ml_dsa_65;

use super::public::{Body, VERSION};
use crate::sign::SigningKeys;

/// The private keys.
pub(super) struct Keys {
    pub(super) x25519: x25519::PrivateKey,
    pub(super) ml_kem_1024: ml_kem_1024::DecapsulationKey,
    pub(super) signing: SigningKeys,
    pub(super) file_mac: Secret<32>,
    pub(super) hedge: Secret<32>,
    pub(super) package_mac: Secret<32>,
    pub(super) ml_dsa_65: ml_dsa_65::SigningKey,
}

const SALT: &[u8] = b"sealstone.passport.v1";

impl Keys {
    pub(super) fn derive(seed: &Secret<32>) -> Self {
        let prk = kdf::extract(SALT, &[seed.expose()]);
        Self {
            x25519: x25519::PrivateKey::from_seed(prk.expand_secret(&[b"x25519"])),
            ml_kem_1024: ml_kem_1024::DecapsulationKey::from_seed(
                &prk.expand_secret(&[b"ml-kem-1024"]),
            ),
            signing: SigningKeys::from_seeds(
                &prk.expand_secret(&[b"ed25519"]),
                &prk.expand_secret(&[b"ml-dsa-87"]),
            ),
            ml_dsa_65: ml_dsa_65::SigningKey::from_seed(&prk.expand_secret(&[b"ml-dsa-65"])),
            file_mac: prk.expand_secret(&[b"file-mac"]),
            hedge: prk.expand_secret(&[b"hedge"]),
            package_mac: prk.expand_secret(&[b"package-mac"]),
        }
    }

    /// The public halves as a `passport-body`.
    pub(super) fn body(&self, label: &str, created: u64) -> Body {
        let (ed25519, ml_dsa_87) = self.signing.public();
        Body {
            version: VERSION,
            x25519: *self.x25519.public_key().as_bytes(),
            ml_kem_1024: self.ml_kem_1024.encapsulation_key().to_bytes().to_vec(),
            ed25519: *ed25519.as_bytes(),
            ml_dsa_87: ml_dsa_87.to_bytes().to_vec(),
            ml_dsa_65: self.ml_dsa_65.verifying_key().to_bytes().to_vec(),
            label: label.to_owned(),
            created,
            succession: None,
        }
    }
}
