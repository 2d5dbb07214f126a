//! Deterministic CBOR (RFC 8949 section 4.2.1): one value, one encoding, everything else refused.

use minicbor::{Decode, Encode};

use crate::{Error, Result};

/// The one encoding of `value`.
pub(crate) fn encode<T: Encode<()>>(value: &T) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    match minicbor::encode(value, &mut out) {
        Ok(()) => out,
        Err(_) => {
            unreachable!("our encoders make no errors of their own, and a Vec takes every byte")
        }
    }
}

/// The value of which `bytes` is the one encoding.
///
/// Decoding, encoding again and comparing refuses long-form integers, unsorted, repeated or unknown
/// keys, indefinite lengths and trailing bytes at once. A length field alone allocates nothing:
/// `bytes` bounds all memory.
pub(crate) fn decode<'b, T: Decode<'b, ()> + Encode<()>>(
    bytes: &'b [u8],
    what: &'static str,
) -> Result<T> {
    let value: T = minicbor::decode(bytes).map_err(|_| Error::Malformed(what))?;
    if encode(&value) == bytes {
        Ok(value)
    } else {
        Err(Error::Malformed(what))
    }
}

/// An array of at most `MOST` elements. A longer one is refused by its head: elements may take more
/// memory than their encoding does.
pub(crate) fn at_most<'b, C, T: Decode<'b, C>, const MOST: usize>(
    decoder: &mut minicbor::Decoder<'b>,
    context: &mut C,
) -> std::result::Result<Vec<T>, minicbor::decode::Error> {
    match decoder.array()? {
        Some(length) if length <= MOST as u64 => {
            (0..length).map(|_| T::decode(decoder, context)).collect()
        }
        _ => Err(minicbor::decode::Error::message("array")),
    }
}

/// Distinguishes a newer version of a map, whose field 0 alone is known, from garbage.
pub(crate) fn check_version(map: &[u8], version: u64, what: &'static str) -> Result<()> {
    let mut decoder = minicbor::Decoder::new(map);
    let found = decoder
        .map()
        .and_then(|_| decoder.u64())
        .and_then(|key| Ok((key, decoder.u64()?)));
    match found {
        Ok((0, found)) if found == version => Ok(()),
        Ok((0, _)) => Err(Error::Unsupported(what)),
        _ => Err(Error::Malformed(what)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Encode, Decode)]
    #[cbor(map)]
    struct Sample {
        #[n(0)]
        number: u64,
        #[cbor(n(1), with = "minicbor::bytes")]
        bytes: [u8; 2],
        #[n(2)]
        note: Option<String>,
    }

    const GOOD: &[u8] = &[0xa2, 0x00, 0x05, 0x01, 0x42, 0xaa, 0xbb];

    #[test]
    fn the_one_encoding_is_read() {
        let sample: Sample = decode(GOOD, "sample").unwrap();
        assert_eq!(
            sample,
            Sample {
                number: 5,
                bytes: [0xaa, 0xbb],
                note: None
            }
        );
        assert_eq!(encode(&sample), GOOD);
    }

    #[test]
    fn every_other_encoding_is_refused() {
        let bad: &[(&str, &[u8])] = &[
            (
                "trailing byte",
                &[0xa2, 0x00, 0x05, 0x01, 0x42, 0xaa, 0xbb, 0x00],
            ),
            (
                "long integer",
                &[0xa2, 0x00, 0x18, 0x05, 0x01, 0x42, 0xaa, 0xbb],
            ),
            (
                "long length",
                &[0xa2, 0x00, 0x05, 0x01, 0x58, 0x02, 0xaa, 0xbb],
            ),
            ("unsorted keys", &[0xa2, 0x01, 0x42, 0xaa, 0xbb, 0x00, 0x05]),
            (
                "repeated key",
                &[0xa3, 0x00, 0x05, 0x00, 0x05, 0x01, 0x42, 0xaa, 0xbb],
            ),
            (
                "unknown key",
                &[0xa3, 0x00, 0x05, 0x01, 0x42, 0xaa, 0xbb, 0x09, 0x00],
            ),
            ("missing key", &[0xa1, 0x00, 0x05]),
            (
                "indefinite map",
                &[0xbf, 0x00, 0x05, 0x01, 0x42, 0xaa, 0xbb, 0xff],
            ),
            (
                "explicit null",
                &[0xa3, 0x00, 0x05, 0x01, 0x42, 0xaa, 0xbb, 0x02, 0xf6],
            ),
            (
                "float",
                &[0xa2, 0x00, 0xf9, 0x45, 0x00, 0x01, 0x42, 0xaa, 0xbb],
            ),
            ("tag", &[0xa2, 0x00, 0xc1, 0x05, 0x01, 0x42, 0xaa, 0xbb]),
            (
                "wrong size",
                &[0xa2, 0x00, 0x05, 0x01, 0x43, 0xaa, 0xbb, 0xcc],
            ),
            (
                "invalid UTF-8",
                &[0xa3, 0x00, 0x05, 0x01, 0x42, 0xaa, 0xbb, 0x02, 0x61, 0xff],
            ),
            (
                "hostile length",
                &[
                    0xa2, 0x00, 0x05, 0x01, 0x5b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                ],
            ),
            ("empty", &[]),
        ];
        for (name, bytes) in bad {
            assert!(
                decode::<Sample>(bytes, "sample").is_err(),
                "{name} was taken"
            );
        }
    }

    #[test]
    fn deep_nesting_is_refused_without_a_deep_stack() {
        let mut bytes = vec![0xa1, 0x09];
        bytes.extend(std::iter::repeat_n(0x81, 1 << 20));
        assert!(decode::<Sample>(&bytes, "sample").is_err());
    }
}
