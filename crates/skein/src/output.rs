//! The output transform (Skein 1.3, section 3.5.5): a counter mode on the last chaining value.

use crate::threefish::Block;
use crate::tweak::{Tweak, Type};
use sealstone_lanes::{Scalar, Word};

/// Block `i` of the output: UBI(chain, i as 8 bytes, output).
pub(crate) fn output_block<S: Scalar, const N: usize>(cpu: S::Cpu, chain: &[S; N], i: u64) -> [S; N]
where
    [S; N]: Block<S>,
{
    let mut counter = [S::splat(cpu, 0); N];
    counter[0] = S::splat(cpu, i);
    let tweak = Tweak::new(Type::Output).advance(8).last().words();
    let cipher = counter.encrypt(cpu, chain, &tweak.map(|word| S::splat(cpu, word)));
    core::array::from_fn(|j| Word::xor(cipher[j], counter[j]))
}
