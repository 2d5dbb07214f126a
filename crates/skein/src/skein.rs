//! The hash function itself (Skein 1.3, section 3.5), without a tree.

use crate::output::Output;
use crate::parameters::Parameters;
use crate::threefish::Block;
use crate::tweak::Type;
use crate::ubi::Ubi;
use sealstone_lanes::{Portable, Scalar};

/// Skein with a state of 256 bits: for devices with little memory.
pub type Skein256 = Skein<4>;
/// Skein with a state of 512 bits: the recommended one.
pub type Skein512 = Skein<8>;
/// Skein with a state of 1024 bits, the most conservative.
pub type Skein1024 = Skein<16>;

/// A message being hashed, with a state of `N` words. Generic over the word, so that a prover can
/// run it on symbols. Wiped when dropped.
#[derive(Clone)]
pub struct Skein<const N: usize, S: Scalar = u64>
where
    [S; N]: Block<S>,
{
    cpu: S::Cpu,
    ubi: Ubi<S, N>,
    output_bits: u64,
}

impl<const N: usize> Skein<N>
where
    [u64; N]: Block<u64>,
{
    /// A hash as long as the state, without further parameters.
    pub fn new() -> Self {
        Self::with(&Parameters::new())
    }

    /// A hash with parameters.
    pub fn with(parameters: &Parameters<'_>) -> Self {
        Self::with_words(Portable, parameters)
    }
}

impl<const N: usize, S: Scalar> Skein<N, S>
where
    [S; N]: Block<S>,
{
    /// [`Skein::with`] on any words.
    pub fn with_words(cpu: S::Cpu, parameters: &Parameters<'_, S::Byte>) -> Self {
        let start = parameters.start(cpu, None);
        Self {
            cpu,
            ubi: Ubi::new(cpu, start, Type::Message),
            output_bits: parameters.bits::<N>(),
        }
    }

    /// Adds bytes to the message.
    pub fn update(&mut self, message: &[S::Byte]) {
        self.ubi.update(message);
    }

    /// [`Skein::update`] by value.
    pub fn chain(mut self, message: &[S::Byte]) -> Self {
        self.update(message);
        self
    }

    /// The hash. If its length is not a whole number of bytes, the low bits of the last byte are
    /// zero.
    pub fn finish(self) -> Vec<S::Byte> {
        self.output().into_vec()
    }

    /// The hash of the message followed by the `bits` most significant bits of `last`, 1 to 8.
    ///
    /// # Panics
    /// If `bits` is 0 or more than 8.
    pub fn finish_bits(mut self, last: S::Byte, bits: u32) -> Vec<S::Byte> {
        self.update(&[last]);
        let chain = self.ubi.finish_bits(bits);
        self.output_of(chain).into_vec()
    }

    /// The hash, which you can read in parts: for long outputs.
    pub fn output(mut self) -> Output<N, S> {
        let chain = self.ubi.finish();
        self.output_of(chain)
    }

    fn output_of(&self, chain: [S; N]) -> Output<N, S> {
        Output::with_number(self.cpu, chain, 0, self.output_bits)
    }
}

impl<const N: usize> Default for Skein<N>
where
    [u64; N]: Block<u64>,
{
    fn default() -> Self {
        Self::new()
    }
}

macro_rules! hash {
    ($skein:ident, $bytes:literal) => {
        impl $skein {
            /// The hash of a message in memory, as long as the state.
            pub fn hash(message: &[u8]) -> [u8; $bytes] {
                let mut hash = [0; $bytes];
                Self::new().chain(message).output().read(&mut hash);
                hash
            }
        }
    };
}
hash!(Skein256, 32);
hash!(Skein512, 64);
hash!(Skein1024, 128);
