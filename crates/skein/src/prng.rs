//! Skein as a pseudo-random number generator (Skein 1.3, section 4.9).

use crate::output::Output;
use crate::skein::Skein;
use crate::threefish::Block;
use zeroize::Zeroize;

/// A generator with a state of `N` words. It is deterministic: its output depends only on its
/// seeds. Each request replaces and overwrites the state, so that an attacker who learns the state
/// learns nothing about earlier output. Wiped when dropped.
///
/// ```
/// use sealstone_skein::Prng;
///
/// let mut prng = Prng::<8>::new(b"at least as much entropy as the output should have");
/// let mut bytes = [0; 100];
/// prng.fill(&mut bytes);
/// prng.reseed(b"more entropy");
/// ```
#[derive(Clone)]
pub struct Prng<const N: usize>
where
    [u64; N]: Block<u64>,
{
    state: [[u8; 8]; N],
}

impl<const N: usize> Prng<N>
where
    [u64; N]: Block<u64>,
{
    /// A generator with this seed.
    pub fn new(seed: &[u8]) -> Self {
        let mut prng = Self { state: [[0; 8]; N] };
        prng.reseed(seed);
        prng
    }

    /// Mixes in another seed. No seed makes the state worse than it was.
    pub fn reseed(&mut self, seed: &[u8]) {
        let hash = Skein::<N>::new()
            .chain(self.state.as_flattened())
            .chain(seed);
        hash.output().read(self.state.as_flattened_mut());
    }

    /// Fills `bytes`. One long request and several short ones give different bytes.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        let chain = self.state.map(u64::from_le_bytes);
        let mut output = Output::new(chain, u64::MAX);
        output.read(self.state.as_flattened_mut());
        output.read(bytes);
    }
}

impl<const N: usize> Drop for Prng<N>
where
    [u64; N]: Block<u64>,
{
    fn drop(&mut self) {
        self.state.zeroize();
    }
}
