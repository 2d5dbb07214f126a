//! Comparison in constant time.

/// Whether `a` and `b` are equal, in a time that depends on their lengths only.
///
/// ```
/// use sealstone_primitives::ct;
///
/// assert!(ct::eq(b"tag", b"tag"));
/// assert!(!ct::eq(b"tag", b"gat"));
/// ```
#[must_use]
pub fn eq(a: &[u8], b: &[u8]) -> bool {
    aws_lc_rs::constant_time::verify_slices_are_equal(a, b).is_ok()
}
