//! Digital signatures.

pub mod blind_rsa;
pub mod ed25519;
pub mod ml_dsa;
pub mod spki;

/// ML-DSA-65: the types of [`ml_dsa`] at security category 3.
///
/// ```
/// use sealstone_primitives::{secret::Secret, sign::ml_dsa_65::SigningKey};
///
/// let key = SigningKey::from_seed(&Secret::random());
/// let signature = key.sign(b"message", b"context")?;
/// assert!(key.verifying_key().verify(b"message", b"context", &*signature).is_ok());
/// # Ok::<(), sealstone_primitives::Error>(())
/// ```
pub mod ml_dsa_65 {
    use super::ml_dsa;

    /// The length of an encoded verifying key in bytes.
    pub const VERIFYING_KEY_LEN: usize = 1952;
    /// The length of a signature in bytes.
    pub const SIGNATURE_LEN: usize = 3309;
    /// An ML-DSA-65 signing key.
    pub type SigningKey = ml_dsa::SigningKey<ml_dsa::MlDsa65>;
    /// An ML-DSA-65 verifying key.
    pub type VerifyingKey = ml_dsa::VerifyingKey<ml_dsa::MlDsa65>;
}

/// ML-DSA-87: the types of [`ml_dsa`] at security category 5.
///
/// ```
/// use sealstone_primitives::{secret::Secret, sign::ml_dsa_87::{SigningKey, VerifyingKey}};
///
/// let key = SigningKey::from_seed(&Secret::random());
/// let signature = key.sign(b"message", b"context")?;
/// let published = VerifyingKey::from_bytes(&*key.verifying_key().to_bytes())?;
/// assert!(published.verify(b"message", b"another", &*signature).is_err());
/// # Ok::<(), sealstone_primitives::Error>(())
/// ```
pub mod ml_dsa_87 {
    use super::ml_dsa;

    /// The length of an encoded verifying key in bytes.
    pub const VERIFYING_KEY_LEN: usize = 2592;
    /// The length of a signature in bytes.
    pub const SIGNATURE_LEN: usize = 4627;
    /// An ML-DSA-87 signing key.
    pub type SigningKey = ml_dsa::SigningKey<ml_dsa::MlDsa87>;
    /// An ML-DSA-87 verifying key.
    pub type VerifyingKey = ml_dsa::VerifyingKey<ml_dsa::MlDsa87>;
}
