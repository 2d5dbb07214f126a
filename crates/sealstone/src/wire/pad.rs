//! `Pad(content, n)` = content ‖ 0x01 ‖ zeros (`spec/README.md`), and the length to pad to.

use crate::{Error, Result};

/// The byte that ends the content.
pub(crate) const MARK: u8 = 0x01;

/// Appends the mark and zeros until `bytes` is `len` long, which must be more than it is now.
pub(crate) fn pad(bytes: &mut Vec<u8>, len: usize) {
    debug_assert!(len > bytes.len());
    bytes.push(MARK);
    bytes.resize(len, 0);
}

/// Pads the first `content` bytes of `bytes` to the length of `bytes`.
pub(crate) fn pad_slice(bytes: &mut [u8], content: usize) {
    bytes[content] = MARK;
    bytes[content + 1..].fill(0);
}

/// The length of the content in padded bytes.
pub(crate) fn content_len(padded: &[u8]) -> Result<usize> {
    match padded.iter().rposition(|&b| b != 0) {
        Some(end) if padded[end] == MARK => Ok(end),
        _ => Err(Error::Malformed("padding")),
    }
}

/// Padmé: `len` rounded up by at most 12 %, to 1024 at least.
///
/// The result has O(log log `len`) bits of information (Nikitin et al., "Reducing Metadata Leakage
/// from Encrypted Files and Communication with PURBs", 2019).
pub(crate) fn padme(len: u64) -> u64 {
    if len < 1024 {
        return 1024;
    }
    let exponent = len.ilog2();
    let kept = exponent.ilog2() + 1;
    let mask = (1u64 << (exponent - kept)) - 1;
    len.checked_add(mask).map_or(len, |sum| sum & !mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_comes_off_again() {
        for len in 0..70 {
            for extra in 1..70 {
                let content = vec![0u8; len];
                let mut padded = content.clone();
                pad(&mut padded, len + extra);
                assert_eq!(padded.len(), len + extra);
                assert_eq!(content_len(&padded).unwrap(), len);
            }
        }
    }

    #[test]
    fn wrong_padding_is_refused() {
        for bad in [&[][..], &[0], &[0, 0, 0], &[2], &[1, 0, 3], &[7, 0, 0]] {
            assert!(content_len(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn padme_follows_the_paper() {
        // E = floor(log2 L), S = floor(log2 E) + 1, round up to a multiple of 2^(E-S).
        for (len, padded) in [
            (0, 1024),
            (1023, 1024),
            (1024, 1024),
            (1025, 1088),
            (1 << 20, 1 << 20),
            ((1 << 20) + 1, (1 << 20) + (1 << 15)),
        ] {
            assert_eq!(padme(len), padded, "{len}");
        }
        for len in (1024..5_000_000).step_by(997) {
            let padded = padme(len);
            assert!(
                padded >= len && padded - len <= len * 12 / 100,
                "{len} -> {padded}"
            );
        }
        assert_eq!(padme(u64::MAX), u64::MAX);
    }
}
