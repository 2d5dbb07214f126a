//! B64 (C2SP, `phc-strings.md`): base64 without padding, and strict.
//!
//! It uses no lookup table: somebody who has the characters of a tag can test passwords, so they
//! are secret.

use core::fmt;

/// Writes `bytes`.
pub(super) fn write(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    for group in bytes.chunks(3) {
        let word = group
            .iter()
            .fold(0, |word, byte| word << 8 | u32::from(*byte))
            << (8 * (3 - group.len()));
        for i in 0..=group.len() {
            fmt::Write::write_char(f, character((word >> (18 - 6 * i)) as u8 & 63).into())?;
        }
    }
    Ok(())
}

/// Reads bytes to `out` and returns their number. `None` if a character is wrong, a bit is left
/// over, or `out` is too short.
pub(super) fn read(text: &str, out: &mut [u8]) -> Option<usize> {
    let len = text.len() * 3 / 4;
    let out = out.get_mut(..len)?;
    if text.len() % 4 == 1 {
        return None;
    }
    let mut wrong = 0;
    for (group, bytes) in text.as_bytes().chunks(4).zip(out.chunks_mut(3)) {
        let mut word = 0;
        for character in group {
            let value = value(*character);
            wrong |= value & !63;
            word = word << 6 | value & 63;
        }
        word <<= 6 * (4 - group.len());
        let [_, high @ ..] = word.to_be_bytes();
        bytes.copy_from_slice(&high[..bytes.len()]);
        wrong |= high[bytes.len()..]
            .iter()
            .fold(0, |rest, byte| rest | u32::from(*byte))
            << 6;
    }
    (wrong == 0).then_some(len)
}

/// All ones if `low` ≤ `x` ≤ `high`, else zero. All arguments are below 2^8.
fn within(x: u32, low: u8, high: u8) -> u32 {
    let outside = x.wrapping_sub(low.into()) | u32::from(high).wrapping_sub(x);
    (outside >> 31).wrapping_sub(1)
}

/// The character of a value below 64.
fn character(value: u8) -> u8 {
    let x = u32::from(value);
    let offset = within(x, 0, 25) & u32::from(b'A')
        | within(x, 26, 51) & u32::from(b'a' - 26)
        | within(x, 52, 61) & (u32::from(b'0').wrapping_sub(52))
        | within(x, 62, 62) & (u32::from(b'+').wrapping_sub(62))
        | within(x, 63, 63) & (u32::from(b'/').wrapping_sub(63));
    x.wrapping_add(offset) as u8
}

/// The value of a character; 64 if it has none.
fn value(character: u8) -> u32 {
    let x = u32::from(character);
    let ranges = [
        (b'A', b'Z', 0),
        (b'a', b'z', 26),
        (b'0', b'9', 52),
        (b'+', b'+', 62),
        (b'/', b'/', 63),
    ];
    let (mut value, mut found) = (0, 0);
    for (low, high, first) in ranges {
        let inside = within(x, low, high);
        value |= inside & x.wrapping_sub(low.into()).wrapping_add(first);
        found |= inside;
    }
    value | !found & 64
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Written<'a>(&'a [u8]);
    impl fmt::Display for Written<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write(f, self.0)
        }
    }

    #[test]
    fn vectors_of_rfc_4648_without_padding() {
        let vectors = [
            ("", ""),
            ("f", "Zg"),
            ("fo", "Zm8"),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg"),
            ("foobar", "Zm9vYmFy"),
        ];
        for (bytes, text) in vectors {
            assert_eq!(Written(bytes.as_bytes()).to_string(), text);
            let mut out = [0; 8];
            assert_eq!(read(text, &mut out), Some(bytes.len()));
            assert_eq!(&out[..bytes.len()], bytes.as_bytes());
        }
    }

    #[test]
    fn every_character_and_every_pair_of_the_alphabet() {
        const ALPHABET: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        for byte in 0..=255 {
            let at = ALPHABET.iter().position(|character| *character == byte);
            assert_eq!(value(byte), at.unwrap_or(64) as u32, "{byte}");
        }
        assert_eq!(core::array::from_fn(|i| character(i as u8)), *ALPHABET);
    }

    #[test]
    fn only_the_canonical_form_is_read() {
        for text in [
            "Z", "Zg=", "Zh", "Zm9", "Zm9vY", "Zm9 ", "Zm-v", "Zm_v", "Zm9v\n", "é9",
        ] {
            assert_eq!(read(text, &mut [0; 8]), None, "{text}");
        }
        assert_eq!(read("Zm9v", &mut [0; 2]), None);
    }
}
