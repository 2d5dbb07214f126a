//! Skein as a password-based key derivation function (Skein 1.3, section 4.8).

use crate::parameters::Parameters;
use crate::threefish::Block;
use crate::tree::{Shape, TreeSkein};

/// Derives a key from a password: the hash, keyed with the password, of `salt` repeated
/// `repetitions` times, in the narrowest possible tree.
///
/// **For passwords, use Argon2.** This function costs an attacker time but no memory, so graphics
/// cards and ASICs run it thousands of times in parallel. The crate has it because the
/// specification has it.
///
/// ```
/// let mut key = [0; 32];
/// let salt = b"16 bytes of salt";
/// sealstone_skein::derive_key_from_password::<8>(b"password", salt, 10_000, &mut key);
/// ```
///
/// # Panics
/// If the password or the salt is empty, or `repetitions` is 0, which would leave the salt out.
pub fn derive_key_from_password<const N: usize>(
    password: &[u8],
    salt: &[u8],
    repetitions: u64,
    key: &mut [u8],
) where
    [u64; N]: Block<u64>,
{
    assert!(
        !password.is_empty() && !salt.is_empty(),
        "a derived key without a password or salt"
    );
    assert!(repetitions > 0, "a salt that is not used");
    const NARROW: Shape = Shape::new(1, 1, 255).expect("a shape that is allowed");
    let parameters = Parameters::new()
        .key(password)
        .output_bits(8 * key.len() as u64);
    let mut tree = TreeSkein::<N>::with(&parameters, NARROW);
    for _ in 0..repetitions {
        tree.update(salt);
    }
    tree.output().read(key);
}
