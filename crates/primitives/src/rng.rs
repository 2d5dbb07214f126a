//! Randomness from aws-lc's generator, which the operating system seeds and reseeds.

use zeroize::Zeroizing;

/// Fills `bytes` with fresh randomness.
///
/// # Panics
/// If the operating system gives no random bytes: there is no safe way to continue.
///
/// ```
/// let mut nonce = [0; 24];
/// sealstone_primitives::rng::fill(&mut nonce);
/// assert_ne!(nonce, [0; 24]);
/// ```
pub fn fill(bytes: &mut [u8]) {
    aws_lc_rs::rand::fill(bytes).expect("the operating system provides randomness");
}

/// `N` fresh random bytes, for values that are not secret; for keys use
/// [`Secret::random`](crate::secret::Secret::random).
///
/// # Panics
/// As [`fill`].
#[must_use]
pub fn array<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    fill(&mut bytes);
    bytes
}

/// A uniformly distributed number from `0` to `bound - 1`.
///
/// # Panics
/// If `bound` is 0, and as [`fill`].
///
/// ```
/// assert!(sealstone_primitives::rng::below(6) < 6);
/// ```
#[must_use]
pub fn below(bound: u32) -> u32 {
    assert!(bound > 0, "no number is below zero");
    // Lemire's method: the high half of `word * bound` is uniform once the first 2^32 mod `bound`
    // low halves are refused.
    let refused = bound.wrapping_neg() % bound;
    let mut word = Zeroizing::new([0; 4]);
    loop {
        fill(&mut *word);
        let product = u64::from(u32::from_le_bytes(*word)) * u64::from(bound);
        let (high, low) = ((product >> 32) as u32, product as u32);
        if low >= refused {
            return high;
        }
    }
}
