//! Blind RSA signatures (RFC 9474), as Privacy Pass uses them: 2048 bits, exponent 65,537,
//! `RSABSSA-SHA384-PSS-Deterministic`.
//!
//! The signer never sees the message, the client never sees the key; anybody can verify.
//!
//! ```
//! use sealstone_primitives::sign::blind_rsa::{BlindedMessage, SigningKey};
//!
//! let key = SigningKey::generate()?;
//! let (blinded, blind) = BlindedMessage::new(key.verifying_key(), b"message")?;
//! let blind_signature = key.sign(blinded.as_bytes())?;
//! let signature = blind.finalize(key.verifying_key(), b"message", &blind_signature)?;
//! assert!(key.verifying_key().verify(b"message", &signature).is_ok());
//! # Ok::<(), sealstone_primitives::Error>(())
//! ```

use std::fmt;

use zeroize::{Zeroize, Zeroizing};

use crate::ffi::bn::{Modulus, Number};
use crate::ffi::rsa::Key;
use crate::secret::SecretVec;
use crate::{Error, ct, hash, rng};

/// The length of a modulus, a message and a signature in bytes.
pub const LEN: usize = 256;
/// The length of the salt of a signature in bytes.
pub const SALT_LEN: usize = 48;

const BITS: u16 = 2048;
const EXPONENT: [u8; 3] = [1, 0, 1];
const HASH_LEN: usize = 48;

/// The bytes before the modulus in a public key (RFC 9578 section 6.5): SubjectPublicKeyInfo
/// with the identifier and parameters of RSASSA-PSS with SHA-384 and a salt of 48 bytes.
const SPKI_PREFIX: &[u8] = &[
    0x30, 0x82, 0x01, 0x52, 0x30, 0x3d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01,
    0x0a, 0x30, 0x30, 0xa0, 0x0d, 0x30, 0x0b, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04,
    0x02, 0x02, 0xa1, 0x1a, 0x30, 0x18, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01,
    0x08, 0x30, 0x0b, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x02, 0xa2, 0x03,
    0x02, 0x01, 0x30, 0x03, 0x82, 0x01, 0x0f, 0x00, 0x30, 0x82, 0x01, 0x0a, 0x02, 0x82, 0x01, 0x01,
    0x00,
];
/// The bytes after the modulus: the exponent.
const SPKI_SUFFIX: &[u8] = &[0x02, 0x03, 0x01, 0x00, 0x01];

/// The length of an encoded public key in bytes.
pub const VERIFYING_KEY_LEN: usize = SPKI_PREFIX.len() + LEN + SPKI_SUFFIX.len();

/// A signer's key.
pub struct SigningKey {
    key: Key,
    public: VerifyingKey,
}

impl SigningKey {
    /// A new random key. It takes a tenth of a second or more.
    ///
    /// # Errors
    /// If aws-lc finds no key, which happens only without memory.
    pub fn generate() -> Result<Self, Error> {
        let key = Key::generate(i32::from(BITS), &Number::from_be_bytes(&EXPONENT)?)?;
        Self::new(key)
    }

    /// The key in a PKCS #8 structure (RFC 5958).
    ///
    /// # Errors
    /// If it is not exactly that, or not a consistent key of 2048 bits with exponent 65,537.
    pub fn from_pkcs8(der: &[u8]) -> Result<Self, Error> {
        let key = Key::from_pkcs8(der)?;
        let exponent = Number::from_be_bytes(&EXPONENT)?;
        if key.bits() != u32::from(BITS) || !key.has_exponent(&exponent) {
            return Err(Error);
        }
        Self::new(key)
    }

    /// The key as a PKCS #8 structure.
    ///
    /// # Errors
    /// Only without memory.
    pub fn to_pkcs8(&self) -> Result<SecretVec, Error> {
        self.key.to_pkcs8()
    }

    fn new(key: Key) -> Result<Self, Error> {
        let mut modulus = [0; LEN];
        key.write_modulus(&mut modulus)?;
        Ok(Self {
            key,
            public: VerifyingKey::from_modulus(modulus)?,
        })
    }

    /// The public half.
    #[must_use]
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.public
    }

    /// Signs a blinded message (`BlindSign`). The result is checked before it is given out.
    ///
    /// # Errors
    /// If `blinded` is not a number below the modulus.
    pub fn sign(&self, blinded: &[u8; LEN]) -> Result<[u8; LEN], Error> {
        let mut signature = [0; LEN];
        self.key.private_operation(blinded, &mut signature)?;
        Ok(signature)
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey(..)")
    }
}

/// The public half of a signer's key.
pub struct VerifyingKey {
    key: Key,
    modulus: Modulus,
    encoding: [u8; VERIFYING_KEY_LEN],
}

impl VerifyingKey {
    /// The key in a SubjectPublicKeyInfo structure as RFC 9578 section 6.5 prescribes it.
    ///
    /// # Errors
    /// If it is not exactly that, for 2048 bits and exponent 65,537.
    pub fn from_spki(der: &[u8]) -> Result<Self, Error> {
        let modulus = der
            .strip_prefix(SPKI_PREFIX)
            .and_then(|rest| rest.strip_suffix(SPKI_SUFFIX))
            .and_then(|modulus| modulus.try_into().ok())
            .ok_or(Error)?;
        Self::from_modulus(modulus)
    }

    /// The SubjectPublicKeyInfo structure.
    #[must_use]
    pub fn as_spki(&self) -> &[u8; VERIFYING_KEY_LEN] {
        &self.encoding
    }

    fn from_modulus(modulus: [u8; LEN]) -> Result<Self, Error> {
        let exponent = Number::from_be_bytes(&EXPONENT)?;
        let key = Key::public(&Number::from_be_bytes(&modulus)?, &exponent)?;
        if key.bits() != u32::from(BITS) {
            return Err(Error);
        }
        let mut encoding = [0; VERIFYING_KEY_LEN];
        encoding.copy_from_slice(&[SPKI_PREFIX, &modulus, SPKI_SUFFIX].concat());
        Ok(Self {
            key,
            modulus: Modulus::from_be_bytes(&modulus)?,
            encoding,
        })
    }

    /// Verifies an unblinded signature (RSASSA-PSS-VERIFY, RFC 8017).
    ///
    /// # Errors
    /// If it is not one of `message` under this key.
    pub fn verify(&self, message: &[u8], signature: &[u8; LEN]) -> Result<(), Error> {
        self.key
            .verify_pss_sha384(&hash::sha384(&[message]), signature)
    }
}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("VerifyingKey(..)")
    }
}

/// A message that its signer cannot read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlindedMessage([u8; LEN]);

impl BlindedMessage {
    /// Hides `message` from the signer whose key is `key` (`Blind`, RFC 9474 section 4.2).
    ///
    /// # Errors
    /// If the encoded message or the blind shares a prime with the modulus. No key of two large
    /// primes does that: the signer chose its modulus so that it can recognise messages.
    pub fn new(key: &VerifyingKey, message: &[u8]) -> Result<(Self, Blind), Error> {
        Self::hide(key, message, &rng::array(), &key.modulus.random()?)
    }

    /// As [`BlindedMessage::new`], with the salt and the factor of a test vector.
    ///
    /// # Errors
    /// As [`BlindedMessage::new`], and if `factor` is not below the modulus.
    #[cfg(feature = "hazmat")]
    pub fn new_with(
        key: &VerifyingKey,
        message: &[u8],
        salt: &[u8; SALT_LEN],
        factor: &[u8; LEN],
    ) -> Result<(Self, Blind), Error> {
        Self::hide(key, message, salt, &key.modulus.reduced(factor)?)
    }

    fn hide(
        key: &VerifyingKey,
        message: &[u8],
        salt: &[u8; SALT_LEN],
        factor: &Number,
    ) -> Result<(Self, Blind), Error> {
        let modulus = &key.modulus;
        let encoded = encode_pss(&hash::sha384(&[message]), salt);
        let number = modulus.reduced(&*encoded)?;
        // A message that shares a prime with the modulus keeps that prime whatever the factor: its
        // signer would recognise the token. One inversion of the product refuses such a message
        // and such a factor, and gives the inverse of the factor.
        let inverse_of_both = modulus.invert(&modulus.mul(&number, factor)?)?;
        let inverse = modulus.mul(&number, &inverse_of_both)?;
        let power = modulus.power(factor, &Number::from_be_bytes(&EXPONENT)?)?;
        let mut blinded = [0; LEN];
        modulus.mul(&number, &power)?.write_be_bytes(&mut blinded)?;
        Ok((Self(blinded), Blind(inverse)))
    }

    /// The inverse of [`BlindedMessage::as_bytes`].
    #[must_use]
    pub fn from_bytes(bytes: [u8; LEN]) -> Self {
        Self(bytes)
    }

    /// The bytes for the signer.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; LEN] {
        &self.0
    }
}

/// The inverse of the factor that hides a message. It is used once.
pub struct Blind(Number);

impl Blind {
    /// The encoding. Keep it secret, and keep it until the signature arrives.
    ///
    /// # Panics
    /// Only without memory.
    #[must_use]
    pub fn to_bytes(&self) -> Zeroizing<[u8; LEN]> {
        let mut bytes = Zeroizing::new([0; LEN]);
        self.0
            .write_be_bytes(&mut *bytes)
            .expect("a number below the modulus");
        bytes
    }

    /// The inverse of [`Blind::to_bytes`].
    ///
    /// # Errors
    /// If it is not a number below the modulus of `key`.
    pub fn from_bytes(key: &VerifyingKey, bytes: &[u8; LEN]) -> Result<Self, Error> {
        key.modulus.reduced(bytes).map(Self)
    }

    /// Takes the blind off a signature and verifies it (`Finalize`, RFC 9474 section 4.4).
    ///
    /// # Errors
    /// If the result is not a signature of `message` under `key`.
    pub fn finalize(
        self,
        key: &VerifyingKey,
        message: &[u8],
        blind_signature: &[u8; LEN],
    ) -> Result<[u8; LEN], Error> {
        let number = key.modulus.reduced(blind_signature)?;
        let mut signature = [0; LEN];
        key.modulus
            .mul(&number, &self.0)?
            .write_be_bytes(&mut signature)?;
        // The signature will be shown and says nothing of the blind: it may be verified as public.
        let mut signature = ct::declassified(signature);
        match key.verify(message, &signature) {
            Ok(()) => Ok(signature),
            Err(error) => {
                signature.zeroize();
                Err(error)
            }
        }
    }
}

impl fmt::Debug for Blind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Blind(..)")
    }
}

/// EMSA-PSS-ENCODE to 2047 bits (RFC 8017 section 9.1.1), with MGF1 over SHA-384.
fn encode_pss(digest: &[u8; HASH_LEN], salt: &[u8; SALT_LEN]) -> Zeroizing<[u8; LEN]> {
    let hash = hash::sha384(&[&[0; 8], digest, salt]);
    let mut encoded = Zeroizing::new([0; LEN]);
    let (masked, rest) = encoded.split_at_mut(LEN - HASH_LEN - 1);
    // The data block: zeros, a one, the salt.
    let salt_at = masked.len() - SALT_LEN;
    masked[salt_at - 1] = 1;
    masked[salt_at..].copy_from_slice(salt);
    for (counter, chunk) in (0_u32..).zip(masked.chunks_mut(HASH_LEN)) {
        let mask = hash::sha384(&[&hash, &counter.to_be_bytes()]);
        chunk
            .iter_mut()
            .zip(mask)
            .for_each(|(byte, mask)| *byte ^= mask);
    }
    // The number has one bit less than the modulus.
    masked[0] &= 0x7f;
    rest[..HASH_LEN].copy_from_slice(&hash);
    rest[HASH_LEN] = 0xbc;
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `2^2048 - 1`, whose primes begin with 3, 5 and 17.
    fn of_small_primes() -> VerifyingKey {
        let spki = [SPKI_PREFIX, &[0xff; LEN], SPKI_SUFFIX].concat();
        VerifyingKey::from_spki(&spki).unwrap()
    }

    #[test]
    fn no_message_shares_a_prime_with_the_modulus() {
        let key = of_small_primes();
        let blinded: Vec<_> = (0_u8..64)
            .map(|i| BlindedMessage::new(&key, &[i]))
            .collect();
        // 40 % of all numbers share no prime with this modulus, and the same part of all factors.
        assert!(blinded.iter().any(Result::is_ok));
        for (blinded, _) in blinded.iter().flatten() {
            // Modulo 3, 5 and 17, a number is the sum of its bytes.
            let sum: u32 = blinded.as_bytes().iter().copied().map(u32::from).sum();
            for prime in [3, 5, 17] {
                assert_ne!(sum % prime, 0);
            }
        }
    }
}
