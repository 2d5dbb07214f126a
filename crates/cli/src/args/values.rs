//! Values with a syntax of their own.

use std::str::FromStr;

use sealstone::KdfParams;
use zeroize::Zeroizing;

/// `sensitive`, `moderate`, `interactive` or `custom:m=256MiB,t=3,p=1`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Profile(pub(crate) KdfParams);

/// `4GiB`, `512MiB` or `65536KiB`, in KiB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MemorySize(pub(crate) u64);

/// Bytes in hexadecimal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Hex(pub(crate) Zeroizing<Vec<u8>>);

impl Profile {
    /// The name of `params`, or how to write them.
    pub(crate) fn name(params: &KdfParams) -> String {
        params.to_string()
    }
}

impl FromStr for Profile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "sensitive" => Ok(Self(KdfParams::SENSITIVE)),
            "moderate" => Ok(Self(KdfParams::MODERATE)),
            "interactive" => Ok(Self(KdfParams::INTERACTIVE)),
            _ => custom(text).map(Self),
        }
    }
}

fn custom(text: &str) -> Result<KdfParams, String> {
    const FORM: &str = "choose sensitive, moderate, interactive, or custom:m=256MiB,t=3,p=1";
    let fields: Vec<_> = text
        .strip_prefix("custom:")
        .ok_or(FORM)?
        .split(',')
        .map(|field| field.split_once('='))
        .collect();
    let [Some(("m", memory)), Some(("t", passes)), Some(("p", lanes))] = fields[..] else {
        return Err(FORM.into());
    };
    let memory = u32::try_from(memory.parse::<MemorySize>()?.0).map_err(|_| "too much memory")?;
    let number = |text: &str| text.parse::<u32>().map_err(|_| FORM);
    KdfParams::new(memory, number(passes)?, number(lanes)?).map_err(|e| e.to_string())
}

impl MemorySize {
    /// `256MiB`.
    pub(crate) fn compact(self) -> String {
        let units = [(30 - 10, "GiB"), (20 - 10, "MiB")];
        let fitting = units
            .iter()
            .find(|(shift, _)| self.0 > 0 && self.0.trailing_zeros() >= *shift);
        fitting.map_or(format!("{}KiB", self.0), |(shift, unit)| {
            format!("{}{unit}", self.0 >> shift)
        })
    }

    /// `256 MiB`.
    pub(crate) fn spaced(self) -> String {
        let text = self.compact();
        let (number, unit) = text.split_at(text.len() - 3);
        format!("{number} {unit}")
    }
}

impl FromStr for MemorySize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const FORM: &str = "a size is a whole number with KiB, MiB or GiB, as in 256MiB";
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let number: u64 = digits.trim_end().parse().map_err(|_| FORM)?;
        let shift = match &text[digits.len()..] {
            "KiB" | "K" => 0,
            "MiB" | "M" => 10,
            "GiB" | "G" => 20,
            _ => return Err(FORM.into()),
        };
        number
            .checked_mul(1 << shift)
            .map(Self)
            .ok_or_else(|| FORM.into())
    }
}

impl Hex {
    /// The bytes of digits of either case.
    pub(crate) fn decode(digits: &[u8]) -> Result<Zeroizing<Vec<u8>>, &'static str> {
        const FORM: &str = "bytes are written as an even number of hexadecimal digits";
        let digit = |digit: &u8| char::from(*digit).to_digit(16).ok_or(FORM);
        let (pairs, rest) = digits.as_chunks::<2>();
        if !rest.is_empty() {
            return Err(FORM);
        }
        // Room for all: nothing is moved, and no copy stays behind.
        let mut bytes = Zeroizing::new(Vec::with_capacity(pairs.len()));
        for [high, low] in pairs {
            bytes.push((digit(high)? << 4 | digit(low)?) as u8);
        }
        Ok(bytes)
    }

    /// Digits in lower case.
    pub(crate) fn encode(bytes: &[u8]) -> String {
        let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or_default();
        let pairs = bytes
            .iter()
            .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
        let mut text = String::with_capacity(2 * bytes.len());
        text.extend(pairs);
        text
    }
}

impl FromStr for Hex {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        Self::decode(text.as_bytes()).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_read_as_they_are_written() {
        for text in [
            "sensitive",
            "moderate",
            "interactive",
            "custom:m=7MiB,t=5,p=1",
            "custom:m=7169KiB,t=6,p=4",
            "custom:m=2GiB,t=1,p=1",
        ] {
            assert_eq!(Profile::name(&text.parse::<Profile>().unwrap().0), text);
        }
    }

    #[test]
    fn weak_or_malformed_profiles_are_refused() {
        for text in [
            "",
            "fast",
            "custom:",
            "custom:m=1MiB,t=1,p=1",
            "custom:t=3,m=256MiB,p=1",
            "custom:m=256MiB,t=3",
            "custom:m=9999999GiB,t=1,p=1",
        ] {
            assert!(text.parse::<Profile>().is_err(), "{text}");
        }
    }

    #[test]
    fn hexadecimal_digits_come_in_pairs() {
        assert_eq!(**Hex::decode(b"00fFa9").unwrap(), [0, 255, 0xa9]);
        assert!(Hex::decode(b"").unwrap().is_empty());
        assert_eq!(Hex::encode(&[0, 255, 0xa9]), "00ffa9");
        for text in ["0", "0g", " 00", "0x00", "é"] {
            assert!(text.parse::<Hex>().is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!("4GiB".parse(), Ok(MemorySize(4 << 20)));
        assert_eq!("4 MiB".parse(), Ok(MemorySize(4 << 10)));
        for text in ["", "4", "GiB", "4GB", "-1MiB", "99999999999999GiB"] {
            assert!(text.parse::<MemorySize>().is_err(), "{text}");
        }
        assert_eq!(MemorySize(1 << 20).spaced(), "1 GiB");
    }
}
