//! Secrets that people write down and type in again: their spelling, and base32 (RFC 4648).

use data_encoding::BASE32_NOPAD;
use zeroize::Zeroizing;

use crate::wire::text;

/// `typed` in upper case without dashes, white space and invisible characters.
pub(super) fn compact(typed: &str) -> Zeroizing<String> {
    let mut compact = Zeroizing::new(String::with_capacity(typed.len()));
    let kept = typed.chars().filter(|c| !text::is_separator(*c));
    kept.for_each(|c| compact.push(c.to_ascii_uppercase()));
    compact
}

/// The base32 digits of `bytes`.
pub(super) fn encode(bytes: &[u8]) -> Zeroizing<Vec<u8>> {
    let mut digits = Zeroizing::new(vec![0; BASE32_NOPAD.encode_len(bytes.len())]);
    BASE32_NOPAD.encode_mut(bytes, &mut digits);
    digits
}

/// `prefix`, then ASCII `digits` in groups of `size` with dashes between them.
pub(super) fn group(prefix: &str, digits: &[u8], size: usize) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(prefix.len() + 2 * digits.len()));
    text.push_str(prefix);
    for (i, digit) in digits.iter().enumerate() {
        if i > 0 && i % size == 0 {
            text.push('-');
        }
        text.push(char::from(*digit));
    }
    text
}

/// The `N` bytes of which `digits` is the one base32 text.
pub(super) fn decode<const N: usize>(digits: &str) -> Option<Zeroizing<[u8; N]>> {
    let mut bytes = Zeroizing::new([0; N]);
    if digits.len() != BASE32_NOPAD.encode_len(N) {
        return None;
    }
    BASE32_NOPAD
        .decode_mut(digits.as_bytes(), &mut bytes[..])
        .ok()
        .map(|_| bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_does_not_matter() {
        assert_eq!(*compact(" ab-c d\u{a0}\u{200b}\u{2011}\n7\t"), "ABCD7");
    }

    #[test]
    fn base32_is_that_of_rfc_4648() {
        // RFC 4648 section 10.
        assert_eq!(*encode(b"foobar"), b"MZXW6YTBOI");
        assert_eq!(*group("A-", &encode(b"foobar"), 4), "A-MZXW-6YTB-OI");
        assert_eq!(*decode::<6>("MZXW6YTBOI").unwrap(), *b"foobar");
    }

    #[test]
    fn other_lengths_digits_and_bits_after_the_end_are_refused() {
        for bad in [
            "MZXW6YTBO",
            "MZXW6YTBOI======",
            "MZXW6YTBOJ",
            "MZXW6YTBO1",
            "mzxw6ytboi",
            "MZXW6YTBÖ",
        ] {
            assert!(decode::<6>(bad).is_none(), "{bad}");
        }
    }
}
