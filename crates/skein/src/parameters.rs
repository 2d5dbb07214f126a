//! The arguments of a hash beside the message (Skein 1.3, section 3.5.5).

use crate::shape::Shape;
use crate::threefish::Block;
use crate::tweak::Type;
use crate::ubi::Ubi;
use sealstone_lanes::Scalar;

/// The optional arguments of Skein. An empty string means no argument.
///
/// ```
/// use sealstone_skein::{Parameters, Skein512};
///
/// let parameters = Parameters::new()
///     .key(b"a secret of 32 bytes or more, say")
///     .personalization(b"20261120 me@example.com demo");
/// let tag = Skein512::with(&parameters.output_bits(256)).chain(b"message").finish();
/// assert_eq!(tag.len(), 32);
/// ```
#[derive(Clone, Copy)]
pub struct Parameters<'a, B = u8> {
    output_bits: Option<u64>,
    pub(crate) key: &'a [B],
    personalization: &'a [B],
    public_key: &'a [B],
    key_id: &'a [B],
    nonce: &'a [B],
}

impl<B> Default for Parameters<'_, B> {
    fn default() -> Self {
        Self {
            output_bits: None,
            key: &[],
            personalization: &[],
            public_key: &[],
            key_id: &[],
            nonce: &[],
        }
    }
}

impl<'a, B> Parameters<'a, B> {
    /// No optional argument.
    pub fn new() -> Self {
        Self::default()
    }

    /// The length of the hash in bits; by default, one block. Hashes of different lengths are
    /// unrelated.
    pub fn output_bits(self, bits: u64) -> Self {
        Self {
            output_bits: Some(bits),
            ..self
        }
    }

    /// A secret key: the hash is a MAC and a pseudo-random function.
    pub fn key(self, key: &'a [B]) -> Self {
        Self { key, ..self }
    }

    /// The application and its purpose. The specification recommends `YYYYMMDD email@address
    /// application`, in UTF-8.
    pub fn personalization(self, personalization: &'a [B]) -> Self {
        Self {
            personalization,
            ..self
        }
    }

    /// The public key that verifies a signature of this hash.
    pub fn public_key(self, public_key: &'a [B]) -> Self {
        Self { public_key, ..self }
    }

    /// The name of the key that is derived, when `key` is a master key.
    pub fn key_id(self, key_id: &'a [B]) -> Self {
        Self { key_id, ..self }
    }

    /// A random string, new for every message: randomised hashing.
    pub fn nonce(self, nonce: &'a [B]) -> Self {
        Self { nonce, ..self }
    }

    /// Length of the hash for a state of `N` words.
    pub(crate) fn bits<const N: usize>(&self) -> u64 {
        self.output_bits.unwrap_or(64 * N as u64)
    }

    /// The strings that follow the configuration, in order.
    pub(crate) fn arguments(&self) -> [(Type, &'a [B]); 4] {
        [
            (Type::Personalization, self.personalization),
            (Type::PublicKey, self.public_key),
            (Type::KeyId, self.key_id),
            (Type::Nonce, self.nonce),
        ]
    }

    /// The chaining value from which the message is hashed.
    pub fn start<S: Scalar<Byte = B>, const N: usize>(
        &self,
        cpu: S::Cpu,
        shape: Option<Shape>,
    ) -> [S; N]
    where
        [S; N]: Block<S>,
        B: Copy,
    {
        let mut chain = [S::splat(cpu, 0); N];
        if !self.key.is_empty() {
            chain = string(cpu, chain, Type::Key, self.key);
        }
        let config = configuration(self.bits::<N>(), shape).map(|byte| S::byte(cpu, byte));
        chain = string(cpu, chain, Type::Config, &config);
        for (kind, argument) in self.arguments() {
            if !argument.is_empty() {
                chain = string(cpu, chain, kind, argument);
            }
        }
        chain
    }
}

fn string<S: Scalar, const N: usize>(
    cpu: S::Cpu,
    chain: [S; N],
    kind: Type,
    string: &[S::Byte],
) -> [S; N]
where
    [S; N]: Block<S>,
{
    let mut ubi = Ubi::new(cpu, chain, kind);
    ubi.update(string);
    ubi.finish()
}

/// The configuration string (table 7).
pub(crate) fn configuration(output_bits: u64, shape: Option<Shape>) -> [u8; 32] {
    let mut config = [0; 32];
    config[..4].copy_from_slice(b"SHA3");
    config[4] = 1; // version
    config[8..16].copy_from_slice(&output_bits.to_le_bytes());
    if let Some(shape) = shape {
        config[16..19].copy_from_slice(&shape.bytes());
    }
    config
}
