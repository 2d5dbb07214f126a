//! `Debug` of types with secrets prints only the type.

use sealstone_primitives::aead::{Aes256Gcm, XChaCha20Poly1305};
use sealstone_primitives::dh::x25519::PrivateKey;
use sealstone_primitives::kdf;
use sealstone_primitives::kem::ml_kem_1024::DecapsulationKey;
use sealstone_primitives::mac::HmacSha3_256;
use sealstone_primitives::secret::{Secret, SecretVec};
use sealstone_primitives::sign::{ed25519, ml_dsa_65, ml_dsa_87};

#[test]
fn secrets() {
    let secret = Secret::from_array(&mut [0xab; 32]);
    assert_eq!(
        format!("{secret:?} {secret:#?}"),
        "Secret<32>(..) Secret<32>(..)"
    );
    assert_eq!(
        format!("{:?}", SecretVec::from_slice(b"swordfish")),
        "SecretVec(..)"
    );
    assert_eq!(
        format!("{:?}", kdf::extract(b"", &[b"swordfish"])),
        "Prk(Secret<32>(..))"
    );
}

#[test]
fn keys() {
    let seed = || Secret::<32>::from_array(&mut [0xab; 32]);
    let private = PrivateKey::from_seed(seed());
    assert_eq!(
        format!("{private:?}"),
        format!(
            "PrivateKey {{ scalar: Secret<32>(..), public: {:?} }}",
            private.public_key()
        )
    );
    assert_eq!(
        format!("{:?}", XChaCha20Poly1305::new(&seed())),
        "XChaCha20Poly1305(..)"
    );
    assert_eq!(format!("{:?}", Aes256Gcm::new(&seed())), "Aes256Gcm(..)");
    assert_eq!(
        format!("{:?}", HmacSha3_256::new(b"swordfish")),
        "HmacSha3_256(..)"
    );
    assert_eq!(
        format!("{:?}", DecapsulationKey::from_seed(&Secret::random())),
        "DecapsulationKey(..)"
    );
    assert_eq!(
        format!("{:?}", ed25519::SigningKey::from_seed(&seed())),
        "SigningKey(..)"
    );
    assert_eq!(
        format!("{:?}", ml_dsa_65::SigningKey::from_seed(&seed())),
        "SigningKey<ML-DSA-65>(..)"
    );
    assert_eq!(
        format!("{:?}", ml_dsa_87::SigningKey::from_seed(&seed())),
        "SigningKey<ML-DSA-87>(..)"
    );
}
