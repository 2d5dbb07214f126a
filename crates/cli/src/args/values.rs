//! Values with a syntax of their own.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::builder::{PathBufValueParser, TypedValueParser};
use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use zeroize::Zeroizing;

/// Bytes in hexadecimal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Hex(pub(crate) Zeroizing<Vec<u8>>);

impl Hex {
    /// The bytes of digits of either case.
    pub(crate) fn decode(digits: &[u8]) -> Result<Zeroizing<Vec<u8>>, &'static str> {
        const FORM: &str = "bytes are written as an even number of hexadecimal digits";
        // Room for all: nothing is moved, and no copy stays behind.
        let mut bytes = Zeroizing::new(vec![0; digits.len() / 2]);
        let len = HEXLOWER_PERMISSIVE.decode_len(digits.len());
        let decoded = len.map_err(|_| FORM)?;
        HEXLOWER_PERMISSIVE
            .decode_mut(digits, &mut bytes[..decoded])
            .map_err(|_| FORM)?;
        Ok(bytes)
    }

    /// Digits in lower case.
    pub(crate) fn encode(bytes: &[u8]) -> String {
        HEXLOWER.encode(bytes)
    }
}

impl FromStr for Hex {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        Self::decode(text.as_bytes()).map(Self)
    }
}

/// Parses the name of a file that is never standard output.
pub(crate) fn file_name() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(must_be_file)
}

pub(crate) fn must_be_file(path: PathBuf) -> Result<PathBuf, &'static str> {
    match path == Path::new("-") {
        false => Ok(path),
        true => Err("this is not written to standard output: name a file (one called - is ./-)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_digits_come_in_pairs() {
        assert_eq!(**Hex::decode(b"00fFa9").unwrap(), [0, 255, 0xa9]);
        assert!(Hex::decode(b"").unwrap().is_empty());
        assert_eq!(Hex::encode(&[0, 255, 0xa9]), "00ffa9");
        for text in ["0", "0g", " 00", "0x00", "é"] {
            assert!(text.parse::<Hex>().is_err(), "{text}");
        }
    }
}
