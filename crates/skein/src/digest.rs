//! The traits of RustCrypto's `digest` crate, for code that is generic over them. (Feature
//! `digest`.)

use crate::parameters::Parameters;
use crate::skein::Skein;
use crate::threefish::Block;
use core::marker::PhantomData;
use digest::array::ArraySize;
use digest::common::BlockSizeUser;
use digest::consts::{U32, U64, U128};
use digest::{FixedOutput, FixedOutputReset, HashMarker, Output, OutputSizeUser, Reset, Update};

/// Skein with a state of `N` words and a hash of `S` bytes, without further parameters.
///
/// ```
/// use digest::{Digest, consts::U32};
/// use sealstone_skein::FixedSkein;
///
/// let hash = FixedSkein::<8, U32>::digest(b"message");
/// assert_eq!(hash.len(), 32);
/// ```
#[derive(Clone)]
pub struct FixedSkein<const N: usize, S>(Skein<N>, PhantomData<S>)
where
    [u64; N]: Block<u64>;

impl<const N: usize, S: ArraySize> Default for FixedSkein<N, S>
where
    [u64; N]: Block<u64>,
{
    fn default() -> Self {
        Self(
            Skein::with(&Parameters::new().output_bits(8 * S::U64)),
            PhantomData,
        )
    }
}

impl<const N: usize, S> HashMarker for FixedSkein<N, S> where [u64; N]: Block<u64> {}

impl<const N: usize, S: ArraySize> OutputSizeUser for FixedSkein<N, S>
where
    [u64; N]: Block<u64>,
{
    type OutputSize = S;
}

macro_rules! block_size {
    ($words:literal, $bytes:ident) => {
        impl<S> BlockSizeUser for FixedSkein<$words, S> {
            type BlockSize = $bytes;
        }
    };
}
block_size!(4, U32);
block_size!(8, U64);
block_size!(16, U128);

impl<const N: usize, S> Update for FixedSkein<N, S>
where
    [u64; N]: Block<u64>,
{
    fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }
}

impl<const N: usize, S: ArraySize> FixedOutput for FixedSkein<N, S>
where
    [u64; N]: Block<u64>,
{
    fn finalize_into(self, out: &mut Output<Self>) {
        self.0.output().read(out);
    }
}

impl<const N: usize, S: ArraySize> Reset for FixedSkein<N, S>
where
    [u64; N]: Block<u64>,
{
    fn reset(&mut self) {
        *self = Self::default();
    }
}

impl<const N: usize, S: ArraySize> FixedOutputReset for FixedSkein<N, S>
where
    [u64; N]: Block<u64>,
{
    fn finalize_into_reset(&mut self, out: &mut Output<Self>) {
        core::mem::take(self).finalize_into(out);
    }
}
