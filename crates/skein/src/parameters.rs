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

    /// Personalisation, public key, key identifier and nonce, if they are there.
    pub(crate) fn arguments(&self) -> [Option<&'a [B]>; 4] {
        [
            self.personalization,
            self.public_key,
            self.key_id,
            self.nonce,
        ]
        .map(given)
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
        let config = configuration(self.bits::<N>(), shape).map(|byte| S::byte(cpu, byte));
        let mut chain = [S::splat(cpu, 0); N];
        for (kind, bytes) in start_strings(given(self.key), &config[..], self.arguments()) {
            chain = string(cpu, chain, kind, bytes);
        }
        chain
    }
}

/// An empty string means no argument.
fn given<B>(string: &[B]) -> Option<&[B]> {
    (!string.is_empty()).then_some(string)
}

/// The strings that are hashed before the message, in order, with their types. `arguments` are
/// personalisation, public key, key identifier and nonce. Generic over the strings, so that it
/// cannot look at them.
pub fn start_strings<A>(
    key: Option<A>,
    configuration: A,
    arguments: [Option<A>; 4],
) -> impl Iterator<Item = (Type, A)> {
    let [personalization, public_key, key_id, nonce] = arguments;
    [
        (Type::Key, key),
        (Type::Config, Some(configuration)),
        (Type::Personalization, personalization),
        (Type::PublicKey, public_key),
        (Type::KeyId, key_id),
        (Type::Nonce, nonce),
    ]
    .into_iter()
    .filter_map(|(kind, string)| Some((kind, string?)))
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
