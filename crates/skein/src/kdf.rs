//! Skein as a key derivation function (Skein 1.3, section 4.7).

use crate::parameters::Parameters;
use crate::skein::Skein;
use crate::threefish::Block;

/// Derives the key named `id` from a master key and fills `key` with it.
///
/// Keys of different lengths or names are unrelated.
///
/// ```
/// let mut key = [0; 32];
/// sealstone_skein::derive_key::<8>(b"a uniformly random master key", b"header", &mut key);
/// ```
///
/// # Panics
/// If the master key or the name is empty: without a name, the key is the MAC of the empty message
/// under the master key.
pub fn derive_key<const N: usize>(master: &[u8], id: &[u8], key: &mut [u8])
where
    [u64; N]: Block<u64>,
{
    assert!(!master.is_empty(), "a derived key without a master key");
    assert!(!id.is_empty(), "a derived key without a name");
    let parameters = Parameters::new()
        .key(master)
        .key_id(id)
        .output_bits(8 * key.len() as u64);
    Skein::<N>::with(&parameters).output().read(key);
}
